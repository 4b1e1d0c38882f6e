/*
 * The question at the terminal. It shows what would run, byte for byte with control characters
 * spelled out, so that a command cannot rewrite the question about itself.
 */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <poll.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/io-util.h"
#include "base/macro.h"
#include "base/time-util.h"
#include "gate.h"
#include "visible.h"

#define ANSWER_SIZE 64
#define TRIES 3
#define QUESTION "Run it? [y]es, [N]o, [a]lways for exactly this: "

/* ---- the question ------------------------------------------------------------------------- */

static bool is_plain(const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "%+,-./:=@_";

    return word[0] != '\0' && word[strspn(word, plain)] == '\0';
}

/* As a shell would have to be given it. */
static void add_word(struct buf *b, const char *word)
{
    auto_buf struct buf quoted = {0};

    for (const char *c = word; *c; c++) {
        if (*c == '\'')
            buf_add_str(&quoted, "'\\''");
        else
            buf_add_char(&quoted, *c);
    }
    buf_add_char(b, ' ');
    buf_add_str(b, is_plain(word) ? "" : "'");
    visible_add(b, quoted.data ? quoted.data : "");
    buf_add_str(b, is_plain(word) ? "" : "'");
}

static void add_words(struct buf *b, const char *title, const json_t *words)
{
    size_t i;
    json_t *word;

    if (!json_is_array(words) || json_array_size(words) == 0)
        return;
    buf_add_format(b, "  %-8s", title);
    json_array_foreach(words, i, word) add_word(b, json_string_value(word));
    buf_add_char(b, '\n');
}

/* Of several lines each stands on its own. */
static void add_lines(struct buf *b, const char *title, const char *lines)
{
    for (; lines && *lines; title = "") {
        size_t len = strcspn(lines, "\n");
        auto_free char *line = strndup(lines, len);

        buf_add_format(b, "  %-8s ", title);
        visible_add(b, line ? line : "");
        buf_add_char(b, '\n');
        lines += len + (lines[len] == '\n');
    }
}

static void add_env(struct buf *b, json_t *env)
{
    const char *name;
    json_t *value;

    json_object_foreach(env, name, value)
    {
        auto_buf struct buf line = {0};

        buf_add_format(&line, "%s%s%s", name, json_is_string(value) ? "=" : " (the caller's)",
                       json_is_string(value) ? json_string_value(value) : "");
        add_lines(b, "with", line.data);
    }
}

static const char *text_of(const json_t *request, const char *key)
{
    const char *text = json_string_value(json_object_get(request, key));

    return text ? text : "";
}

static void add_question(struct buf *b, const json_t *request)
{
    size_t i;
    json_t *reason;

    buf_add_format(b, "rein: %s needs an approval: %s\n", text_of(request, "tool"),
                   text_of(request, "risk"));
    add_words(b, "runs", json_object_get(request, "command"));
    add_lines(b, "runs", text_of(request, "script"));
    add_lines(b, "code in", text_of(request, "language"));
    add_lines(b, "file", text_of(request, "file"));
    add_lines(b, "runs", text_of(request, "code"));
    add_words(b, "args", json_object_get(request, "args"));
    add_lines(b, "in", text_of(request, "cwd"));
    add_env(b, json_object_get(request, "env"));
    add_lines(b, "sandbox", text_of(request, "sandbox"));
    json_array_foreach(json_object_get(request, "reasons"), i, reason)
    {
        add_lines(b, "why", json_string_value(reason));
    }
}

/* ---- the answer --------------------------------------------------------------------------- */

/* Waits for a line. 1, 0 for a caller that has had enough, -ETIMEDOUT. */
static int wait_for_line(int fd, int stop_fd, int64_t until_ns)
{
    struct pollfd fds[] = {{.fd = fd, .events = POLLIN}, {.fd = stop_fd, .events = POLLIN}};

    for (;;) {
        int n = poll(fds, ARRAY_SIZE(fds), time_left_ms(until_ns));

        if (n == 0)
            return -ETIMEDOUT;
        if (n > 0)
            return fds[1].revents == 0;
        if (errno != EINTR)
            return -errno;
    }
}

/* -EAGAIN for a line that is no answer. */
static int parse_answer(const char *line)
{
    static const struct {
        const char *word;
        int answer;
    } words[] = {{"y", GATE_ANSWER_ONCE}, {"yes", GATE_ANSWER_ONCE},      {"n", GATE_ANSWER_NO},
                 {"no", GATE_ANSWER_NO},  {"a", GATE_ANSWER_ALWAYS},      {"", GATE_ANSWER_NO},
                 {"Y", GATE_ANSWER_ONCE}, {"always", GATE_ANSWER_ALWAYS}, {"N", GATE_ANSWER_NO}};

    for (size_t i = 0; i < ARRAY_SIZE(words); i++)
        if (strcmp(line, words[i].word) == 0)
            return words[i].answer;
    return -EAGAIN;
}

static int read_answer(int fd)
{
    char line[ANSWER_SIZE];
    ssize_t n = io_read(fd, line, sizeof(line) - 1);

    if (n <= 0) {
        (void)io_write_all(fd, "\n", 1);
        return GATE_ANSWER_NO;
    }
    line[n] = '\0';
    line[strcspn(line, "\r\n")] = '\0';
    return parse_answer(line);
}

static int ask_until(int fd, int stop_fd, const struct buf *question)
{
    int64_t until_ns = time_add_ns(time_mono_ns(), APPROVAL_SECONDS * NSEC_PER_SEC);

    (void)tcflush(fd, TCIFLUSH); /* who typed it has not seen the question */
    if (io_write_all(fd, question->data, question->len) < 0)
        return -EIO;
    for (int i = 0; i < TRIES; i++) {
        int r = io_write_all(fd, QUESTION, strlen(QUESTION));

        if (r == 0)
            r = wait_for_line(fd, stop_fd, until_ns);
        if (r == 1)
            r = read_answer(fd);
        if (r != -EAGAIN)
            return r;
    }
    return GATE_ANSWER_NO;
}

/* Somebody is there when a person types into what the questions are written to. */
static int ask_on_terminal(void *userdata, const char *text)
{
    const int *stop_fd = userdata;
    auto_buf struct buf question = {0};
    auto_close int fd = -EBADF;
    json_t *request;

    if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO))
        return -ENOTTY;
    fd = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    request = json_loads(text, 0, NULL);
    add_question(&question, request);
    json_decref(request);
    if (buf_error(&question) < 0)
        return -ENOMEM;
    return ask_until(fd, *stop_fd, &question);
}

struct gate_asker terminal_asker(const int *stop_fd)
{
    union {
        const int *borrowed;
        void *userdata;
    } fd = {.borrowed = stop_fd};

    return (struct gate_asker){.ask = ask_on_terminal, .userdata = fd.userdata};
}
