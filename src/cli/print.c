/* Whole texts on standard output. */
#include "print.h"

#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/io-util.h"
#include "tools/result-json.h"

int print_text(const char *data, size_t len, struct rein_error **reterr)
{
    int r = io_write_all(STDOUT_FILENO, data, len);

    if (r < 0)
        return rein_fail(reterr, r, "internal", "write", "standard output: %s", strerror(-r));
    return 0;
}

int print_json_line(json_t *take_value, struct rein_error **reterr)
{
    size_t len;
    auto_free char *line = json_line_take(take_value, &len);

    return line ? print_text(line, len, reterr) : rein_oom(reterr);
}

void print_error_json(const struct rein_error *error)
{
    size_t len;
    auto_free char *line = json_line_take(error_json(error), &len);

    if (line)
        (void)io_write_all(STDOUT_FILENO, line, len);
}
