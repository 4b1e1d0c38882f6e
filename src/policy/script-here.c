/* Here-documents: texts that stand on the lines behind the one that asks for them. */
#include <stdlib.h>
#include <string.h>

#include "script-internal.h"

/* Reads the delimiter's word as it is written; any quote in it makes the text literal. */
static char *read_delimiter(struct reader *r, bool *ret_literal)
{
    struct buf b = {0};

    *ret_literal = false;
    while (!ends_word(r->text[r->at])) {
        char c = r->text[r->at++];

        if (c == '\\' && r->text[r->at]) {
            *ret_literal = true;
            buf_add_char(&b, r->text[r->at++]);
        } else if (c == '\'' || c == '"') {
            const char *end = strchr(r->text + r->at, c);

            if (!end) {
                reader_fail(r, "a here-document's end that is not closed");
                break;
            }
            *ret_literal = true;
            buf_add(&b, r->text + r->at, (size_t)(end - r->text) - r->at);
            r->at = (size_t)(end - r->text) + 1;
        } else {
            buf_add_char(&b, c);
        }
    }
    return buf_take(&b);
}

void here_document_begin(struct reader *r, struct script_command *command, bool strip_tabs)
{
    struct here_document document = {.strip_tabs = strip_tabs, .text = r->found->script->texts.n};
    struct word nothing = {0};

    skip_blanks(r);
    if (r->n_pending >= HERE_DOCUMENTS_MAX) {
        reader_fail(r, "more here-documents on a line than are looked at");
        return;
    }
    document.delimiter = read_delimiter(r, &document.literal);
    if (!document.delimiter || words_add(&r->found->script->texts, strdup(""), false, false) < 0 ||
        command_add_redirect(command, REDIRECT_TEXT, &nothing) < 0) {
        free(document.delimiter);
        reader_oom(r);
        return;
    }
    command->redirects[command->n_redirects - 1].text = document.text;
    r->pending[r->n_pending++] = document;
}

/* The length of the line at p, and where its text begins. */
static const char *line_text(const char *p, bool strip_tabs, size_t *ret_len)
{
    if (strip_tabs)
        p += strspn(p, "\t");
    *ret_len = strcspn(p, "\n");
    return p;
}

static char *read_lines(struct reader *r, const struct here_document *document)
{
    struct buf b = {0};
    size_t delimiter_len = strlen(document->delimiter);

    while (r->text[r->at]) {
        size_t len;
        const char *line = line_text(r->text + r->at, document->strip_tabs, &len);

        r->at = (size_t)(line - r->text) + len;
        r->at += r->text[r->at] == '\n';
        if (len == delimiter_len && strncmp(line, document->delimiter, len) == 0)
            break;
        buf_add(&b, line, len);
        buf_add_char(&b, '\n');
    }
    return buf_take(&b);
}

/* Its substitutions run, whoever reads the text. */
static void expand_lines(struct reader *r, struct words *out, const char *text, size_t origin)
{
    struct word_build b = {.out = out, .whole = true};
    struct reader *inner = calloc(1, sizeof(*inner));

    if (!inner) {
        reader_oom(r);
        return;
    }
    inner->text = text;
    inner->origin = origin;
    inner->found = r->found;
    read_double_quoted(inner, &b, '\0');
    if (!reader_stopped(r))
        build_end_word(inner, &b);
    build_done(r, &b);
    here_documents_drop(inner);
    free(inner);
}

static void read_one(struct reader *r, const struct here_document *document)
{
    size_t origin = r->origin + r->at;
    auto_free char *text = read_lines(r, document);
    struct words expanded = {0};

    if (!text) {
        reader_oom(r);
        return;
    }
    if (document->literal) {
        if (words_add(&expanded, TAKE_PTR(text), false, false) < 0)
            reader_oom(r);
    } else {
        expand_lines(r, &expanded, text, origin);
    }
    if (expanded.n == 1) {
        struct word *place = &r->found->script->texts.v[document->text];

        free(place->text);
        *place = expanded.v[0];
        expanded.n = 0;
    }
    words_done(&expanded);
}

/* Behind the end of the line that begins them. */
void here_documents_read(struct reader *r)
{
    size_t n = r->n_pending;

    for (size_t i = 0; i < n && !reader_stopped(r); i++)
        read_one(r, &r->pending[i]);
    here_documents_drop(r);
}

void here_documents_drop(struct reader *r)
{
    for (size_t i = 0; i < r->n_pending; i++)
        free(r->pending[i].delimiter);
    r->n_pending = 0;
}
