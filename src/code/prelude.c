/* Writes preludes. */
#include "prelude.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/io-util.h"

#define FOLDER ".prelude"
#define READ_CHUNK 65536

extern const unsigned char rein_prelude_default[];
extern const size_t rein_prelude_default_size;
extern const unsigned char rein_prelude_runner[];
extern const size_t rein_prelude_runner_size;

const struct prelude prelude_python = {
    .name = FOLDER "/sitecustomize.py",
    .builtin = rein_prelude_default,
    .builtin_size = &rein_prelude_default_size,
    .runner = rein_prelude_runner,
    .runner_size = &rein_prelude_runner_size,
    .runs = FOLDER "/prelude.py",
};

static int read_file(const char *file, struct buf *ret, struct rein_error **reterr)
{
    auto_close int fd = open(file, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -errno : 1;

    while (n > 0 && ret->len <= PRELUDE_SIZE_MAX) {
        if (buf_reserve(ret, READ_CHUNK) < 0)
            return rein_oom(reterr);
        n = io_read(fd, ret->data + ret->len, READ_CHUNK);
        ret->len += n > 0 ? (size_t)n : 0;
    }
    if (n < 0)
        return rein_fail(reterr, (int)n, "bad_request", "prelude",
                         "cannot read the prelude '%s': %s", file, strerror((int)-n));
    if (ret->len > PRELUDE_SIZE_MAX)
        return rein_fail(reterr, -E2BIG, "limit_exceeded", "prelude",
                         "the prelude '%s' has more than %d MiB", file,
                         (int)(PRELUDE_SIZE_MAX / MIB));
    return 0;
}

static int add(struct script *script,
               const char *name,
               const unsigned char *text,
               size_t size,
               struct rein_error **reterr)
{
    return script_add_file(script, name, (const char *)text, size, reterr);
}

static int write_user_s(struct script *script,
                        const struct prelude *prelude,
                        const char *file,
                        struct rein_error **reterr)
{
    auto_buf struct buf text = {0};
    int r = read_file(file, &text, reterr);

    if (r == 0)
        r = add(script, prelude->runs, (const unsigned char *)text.data, text.len, reterr);
    return r < 0 ? r : add(script, prelude->name, prelude->runner, *prelude->runner_size, reterr);
}

int prelude_write(struct script *script,
                  const struct prelude *prelude,
                  const char *file,
                  char **ret_dir,
                  struct rein_error **reterr)
{
    int r = file[0] ? write_user_s(script, prelude, file, reterr)
                    : add(script, prelude->name, prelude->builtin, *prelude->builtin_size, reterr);

    if (r < 0)
        return r;
    return asprintf(ret_dir, "%s/" FOLDER, script->dir) < 0 ? rein_oom(reterr) : 0;
}
