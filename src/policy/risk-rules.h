/* The rules by which one simple command is judged: one table, risk-rules.c. */
#ifndef REIN_POLICY_RISK_RULES_H
#define REIN_POLICY_RISK_RULES_H

#include "judged.h"
#include "risk.h"

struct risk_rule {
    const char *id;
    enum risk_level level;
    bool dangerous, forbidden, opaque;
    const char *reason;
    const char *programs; /* names by blanks; NULL: any */
    bool (*holds)(const struct judged *j);
};

/* NULL behind the last one. Rows without holds are about a request as a whole; risk.c finds them
 * by id. */
const struct risk_rule *risk_rule_at(size_t row);
const struct risk_rule *risk_rule_find(const char *id);
bool risk_rule_holds(const struct risk_rule *rule, const struct judged *j);

/* ---- risk-tests.c: what the rows ask ---- */
#define DOWNLOADERS                                                                                \
    "curl wget wget2 aria2c axel fetch http https httpie xh lynx links nc ncat netcat socat ftp "  \
    "tftp ssh scp"
#define SQL_CLIENTS                                                                                \
    "mysql mariadb psql sqlite3 sqlite sqlcmd duckdb clickhouse-client clickhouse usql pgcli "     \
    "mycli litecli cockroach isql snowsql"
#define SHELLS "sh bash dash zsh ksh ash mksh rbash yash posh fish csh tcsh"
#define INTERPRETERS                                                                               \
    SHELLS " python python2 python3 pypy pypy3 perl ruby node nodejs bun deno php lua luajit "     \
           "osascript rscript julia elixir expect tclsh pwsh powershell at batch"

bool any_use(const struct judged *j); /* but for --help and --version */
bool deletes_root(const struct judged *j);
bool deletes_home(const struct judged *j);
bool deletes_system(const struct judged *j);
bool deletes_cwd(const struct judged *j);
bool deletes_elsewhere(const struct judged *j);
bool deletes_watched(const struct judged *j);
bool overwrites_disk(const struct judged *j);
bool formats(const struct judged *j);
bool changes_system(const struct judged *j);
bool triggers_sysrq(const struct judged *j);
bool moves_system(const struct judged *j);
bool stops_machine(const struct judged *j);
bool stops_machine_by_init(const struct judged *j);
bool stops_machine_by_systemctl(const struct judged *j);
bool stops_machine_by_message(const struct judged *j);
bool drops_by_sql(const struct judged *j);
bool drops_by_option(const struct judged *j);
bool lays_out_disk(const struct judged *j);
bool transfers(const struct judged *j);
bool installs(const struct judged *j);
bool runs_download(const struct judged *j);
bool runs_download_by_name(const struct judged *j);
bool writes_accounts(const struct judged *j);
bool writes_keys(const struct judged *j);
bool writes_schedule(const struct judged *j);
bool writes_policy(const struct judged *j);
bool writes_boot(const struct judged *j);
bool writes_startup(const struct judged *j);
bool writes_logs(const struct judged *j);
bool writes_system(const struct judged *j);
bool writes_outside(const struct judged *j);
bool writes_unknown(const struct judged *j);
bool talks_to_network(const struct judged *j);
bool opens_connection(const struct judged *j);
bool kills_everything(const struct judged *j);
bool kills_users(const struct judged *j);
bool kills_by_file(const struct judged *j);
bool sets_id_bits(const struct judged *j);
bool opens_host(const struct judged *j);
bool enters_host(const struct judged *j);
bool flushes_firewall(const struct judged *j);
bool edits_crontab(const struct judged *j);
bool answers_itself(const struct judged *j);
bool wipes_history(const struct judged *j);
bool switches_service(const struct judged *j);
bool cleans_work_tree(const struct judged *j);
bool discards_work(const struct judged *j);
bool pushes(const struct judged *j);
bool pushes_by_force(const struct judged *j);
bool installs_packages(const struct judged *j);
bool publishes(const struct judged *j);
bool destroys_by_tool(const struct judged *j);
bool removes_containers(const struct judged *j);
bool flushes_store(const struct judged *j);
bool code_forks(const struct judged *j);
bool code_deletes(const struct judged *j);
bool code_runs(const struct judged *j);
bool is_code(const struct judged *j);
bool is_unknown_program(const struct judged *j);
bool is_unknown_script(const struct judged *j);
bool is_unread_input(const struct judged *j);
bool is_remote(const struct judged *j);

#endif
