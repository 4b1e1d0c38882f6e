/* What the rows about files, disks, power and processes ask of a command. */
#include <ctype.h>
#include <string.h>

#include "base/macro.h"
#include "command-options.h"
#include "risk-rules.h"

#define KINDS_OF_FILE                                                                              \
    (PATH_ACCOUNTS | PATH_KEYS | PATH_SCHEDULE | PATH_BOOT | PATH_SYSRQ | PATH_LOGS |              \
     PATH_STARTUP | PATH_NETWORK)
#define HARMLESS_PLACES (PATH_INSIDE | PATH_NOWHERE | KINDS_OF_FILE)

bool any_use(const struct judged *j)
{
    return true;
}

/* ---- deleting ----------------------------------------------------------------------------- */

static bool deletes_wildly(const struct judged *j, unsigned places)
{
    return (j->recursive || j->forced) && (j->deletes & places);
}

bool deletes_root(const struct judged *j)
{
    return deletes_wildly(j, PATH_ROOT);
}

bool deletes_home(const struct judged *j)
{
    return deletes_wildly(j, PATH_HOME);
}

bool deletes_system(const struct judged *j)
{
    return deletes_wildly(j, PATH_SYSTEM);
}

bool deletes_cwd(const struct judged *j)
{
    return deletes_wildly(j, PATH_CWD);
}

bool deletes_elsewhere(const struct judged *j)
{
    return (j->deletes & ~(unsigned)HARMLESS_PLACES) != 0;
}

bool deletes_watched(const struct judged *j)
{
    return j->deletes & (PATH_ACCOUNTS | PATH_KEYS | PATH_SCHEDULE | PATH_BOOT | PATH_LOGS);
}

bool moves_system(const struct judged *j)
{
    return j->moves & (PATH_ROOT | PATH_HOME | PATH_SYSTEM | PATH_CWD | PATH_ACCOUNTS | PATH_BOOT);
}

bool changes_system(const struct judged *j)
{
    return j->recursive && (j->changes & (PATH_ROOT | PATH_HOME | PATH_SYSTEM));
}

/* ---- disks -------------------------------------------------------------------------------- */

bool overwrites_disk(const struct judged *j)
{
    return (j->writes & PATH_DISK) ||
           ((j->deletes & PATH_DISK) && program_is(j, "shred wipe truncate"));
}

bool formats(const struct judged *j)
{
    return program_is(j, "mkfs mke2fs mkdosfs mkntfs newfs") ||
           strncmp(j->program, "mkfs.", 5) == 0;
}

bool lays_out_disk(const struct judged *j)
{
    static const struct {
        const char *programs;
        const char *words; /* one of these makes the difference */
        bool harmless;     /* it is the harmless ones that are listed */
    } rows[] = {
        {"fdisk sfdisk gdisk sgdisk parted cfdisk", "-l --list print -p --print -d --dump", true},
        {"wipefs", "-a --all -af -fa -o --offset", false},
        {"cryptsetup", "luksFormat erase luksErase reencrypt", false},
        {"zpool zfs", "destroy create labelclear rollback", false},
        {"btrfs", "delete", false},
        {"mdadm", "--create --zero-superblock --stop -C -S", false},
        {"hdparm", "--security-erase --security-erase-enhanced --trim-sector-ranges", false},
        {"nvme", "format sanitize write-zeroes", false},
        {"badblocks", "-w -n", false},
        {"mkswap pvcreate pvremove vgremove lvremove lvreduce blkdiscard", "--help", true},
    };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        bool listed = false;

        if (!program_is(j, rows[i].programs))
            continue;
        for (size_t k = 1; k < j->n; k++)
            listed |= list_has(rows[i].words, j->words[k].text, strlen(j->words[k].text));
        return listed != rows[i].harmless;
    }
    return false;
}

/* ---- writing ------------------------------------------------------------------------------ */

bool triggers_sysrq(const struct judged *j)
{
    return j->writes & PATH_SYSRQ;
}

bool writes_accounts(const struct judged *j)
{
    return (j->writes | j->changes) & PATH_ACCOUNTS;
}

bool writes_keys(const struct judged *j)
{
    return j->writes & PATH_KEYS;
}

bool writes_schedule(const struct judged *j)
{
    return j->writes & PATH_SCHEDULE;
}

bool writes_policy(const struct judged *j)
{
    return (j->writes | j->deletes | j->moves) & PATH_POLICY;
}

bool writes_boot(const struct judged *j)
{
    return j->writes & PATH_BOOT;
}

bool writes_startup(const struct judged *j)
{
    return j->writes & PATH_STARTUP;
}

bool writes_logs(const struct judged *j)
{
    return j->writes & PATH_LOGS;
}

bool writes_system(const struct judged *j)
{
    return j->writes & (PATH_SYSTEM | PATH_IN_SYSTEM);
}

bool writes_outside(const struct judged *j)
{
    return j->writes & (PATH_OUTSIDE | PATH_HOME | PATH_ROOT | PATH_CWD);
}

bool writes_unknown(const struct judged *j)
{
    return j->writes & PATH_UNKNOWN;
}

bool installs(const struct judged *j)
{
    return !has_option(j, 'd', "directory");
}

/* ---- power -------------------------------------------------------------------------------- */

bool stops_machine(const struct judged *j)
{
    if (program_is(j, "shutdown"))
        return !has_option(j, 'c', NULL) && !has_option(j, 'k', NULL) && !has_word(j, "--help") &&
               !has_word(j, "--show");
    return !has_word(j, "--help") && !has_option(j, 'w', "wtmp-only");
}

bool stops_machine_by_init(const struct judged *j)
{
    const char *level = operand(j, 0);

    if (program_is(j, "kexec"))
        return has_option(j, 'e', "exec");
    return level && strlen(level) == 1 && strchr("06", *level);
}

bool stops_machine_by_systemctl(const struct judged *j)
{
    static const char *const words[] = {"poweroff",    "reboot",    "halt",  "kexec",
                                        "soft-reboot", "emergency", "rescue"};

    for (size_t i = 0; i < ARRAY_SIZE(words); i++)
        if (operand(j, 0) && strcmp(operand(j, 0), words[i]) == 0)
            return true;
    for (size_t i = 1; i < j->n; i++)
        if (list_has("poweroff.target reboot.target halt.target runlevel0.target runlevel6.target",
                     j->words[i].text, strlen(j->words[i].text)))
            return true;
    return false;
}

bool stops_machine_by_message(const struct judged *j)
{
    static const char *const members[] = {"PowerOff", "Reboot", "Halt"};

    for (size_t i = 1; i < j->n; i++)
        for (size_t k = 0; k < ARRAY_SIZE(members); k++)
            if (strstr(j->words[i].text, members[k]))
                return true;
    return false;
}

/* ---- processes ---------------------------------------------------------------------------- */

static bool is_signal(const char *word)
{
    return word[0] == '-' && (isalpha((unsigned char)word[1]) || isdigit((unsigned char)word[1]));
}

/* kill's "-1" is a signal in front of the targets, and everything as one of them. */
bool kills_everything(const struct judged *j)
{
    bool signal = false;

    if (program_is(j, "killall5"))
        return true;
    if (program_is(j, "pkill killall"))
        return has_word(j, ".*") || has_word(j, ".") || has_word(j, "");
    for (size_t i = 1; i < j->n; i++) {
        const char *word = j->words[i].text;

        if (strcmp(word, "--") == 0 || list_has("-s -n --signal", word, strlen(word))) {
            i += word[1] != '-' || word[2];
            signal = true;
        } else if (!signal && is_signal(word)) {
            signal = true;
        } else if (strcmp(word, "-1") == 0 || strcmp(word, "1") == 0) {
            return true;
        }
    }
    return false;
}

bool kills_by_file(const struct judged *j)
{
    return has_option(j, 'k', "kill");
}

bool kills_users(const struct judged *j)
{
    if (program_is(j, "loginctl"))
        return has_word(j, "terminate-user") || has_word(j, "kill-user");
    return has_option(j, 'u', "user") || has_option(j, 'U', "uid") || has_option(j, 0, "euid");
}

static bool is_id_mode(const char *mode)
{
    size_t octal = strspn(mode, "01234567"), who = strspn(mode, "ugoa");

    if (mode[octal] == '\0')
        return octal >= 4 && mode[octal - 4] >= '2';
    return mode[who] && strchr("+=", mode[who]) && strchr(mode + who, 's');
}

/* install has its mode in an option, chmod as its first operand. */
static const char *find_mode(const struct judged *j)
{
    if (!program_is(j, "install"))
        return operand(j, 0);
    for (size_t i = 1; i + 1 < j->n; i++)
        if (strcmp(j->words[i].text, "-m") == 0)
            return j->words[i + 1].text;
    return NULL;
}

bool sets_id_bits(const struct judged *j)
{
    const char *mode = find_mode(j);

    return mode && is_id_mode(mode);
}
