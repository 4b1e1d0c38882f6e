/*
 * An audit trail of arbitrary files: no crash, only the errors that are promised, and a trail that
 * is whole stays whole when a line is appended. Between NUL bytes stand the head, the file that was
 * put aside, and the newest one.
 */
#include <errno.h>
#include <ftw.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/macro.h"
#include "policy/audit.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char state_dir[] = "/tmp/rein-fuzz-audit-XXXXXX";

static void require(int condition)
{
    if (!condition)
        abort();
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    return remove(path);
}

static void remove_all(void)
{
    (void)nftw(state_dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static const char *path_of(const char *name)
{
    static char path[256];

    (void)snprintf(path, sizeof(path), "%s/audit%s%s", state_dir, *name ? "/" : "", name);
    return path;
}

static void begin(void)
{
    static int is_made;

    if (!is_made) {
        require(mkdtemp(state_dir) != NULL);
        require(atexit(remove_all) == 0);
        require(mkdir(path_of(""), 0700) == 0);
        is_made = 1;
    }
    for (unsigned n = 2; n <= 3; n++) {
        char name[32];

        (void)snprintf(name, sizeof(name), "audit.%u.jsonl", n);
        (void)unlink(path_of(name));
    }
}

/* An empty one is not there. */
static void lay(const char *name, const char *text, size_t size)
{
    FILE *file;

    (void)unlink(path_of(name));
    if (size == 0)
        return;
    file = fopen(path_of(name), "we");
    require(file && fwrite(text, 1, size, file) == size && fclose(file) == 0);
}

static void lay_all(const char *text, size_t size)
{
    static const char *const names[] = {"head", "audit.1.jsonl", "audit.jsonl"};

    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        const char *nul = memchr(text, '\0', size);
        size_t n = nul && i < ARRAY_SIZE(names) - 1 ? (size_t)(nul - text) : size;

        lay(names[i], text, n);
        text += MIN(n + 1, size);
        size -= MIN(n + 1, size);
    }
}

static struct audit_report verify(void)
{
    struct audit_report report;

    require(audit_verify(state_dir, &report, NULL) == 0);
    require(!report.what || report.file[0]);
    return report;
}

static int count_line(void *to, json_t *line)
{
    *(uint64_t *)to += line != NULL;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct audit_limits limits = {.file_bytes = 400, .files = 3};
    json_t *fields = json_pack("{s:s}", "event", "x");
    struct audit_report before;
    struct audit_report after;
    uint64_t n = 0;

    begin();
    lay_all((const char *)data, size);
    before = verify();
    require(audit_append(state_dir, fields, &limits, NULL) == 0);
    after = verify();
    if (!before.what)
        require(!after.what && after.lines >= before.lines);
    require(audit_read(state_dir, count_line, &n, NULL) == 0);
    require(n > 0 && n + 1 >= after.lines);
    json_decref(fields);
    return 0;
}
