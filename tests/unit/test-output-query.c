/* Parts of an output: last lines, pages, matches, from logs that the test makes up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "fake-log.h"
#include "tools/log-walk.h"
#include "tools/output-query.h"

#define STEPS 9 /* sizes of what one read gives, from 1 on */

/* One query, and what it gave. */
struct asked {
    struct fake_log log;
    struct rein_result result;
    struct output_query query;
    struct result_text shown;
    uint64_t matches;
};

static struct result_source source_of(struct asked *a)
{
    return (struct result_source){.read_at = fake_read_at, .keep = fake_keep, .userdata = &a->log};
}

static void ask(struct asked *a, const struct part *parts, size_t n, size_t step)
{
    struct result_source source = source_of(a);

    a->log = (struct fake_log){.parts = parts, .n_parts = n, .step = step};
    a->result.output_bytes = 0;
    a->result.log_file = strdup("/log");
    fake_measure(&a->log, &a->result);
    assert_int_equal(
        output_query_read(&source, &a->query, &a->result, &a->shown, &a->matches, NULL), 0);
}

static void asked_done(struct asked *a)
{
    result_text_done(&a->shown);
    rein_result_done(&a->result);
}

static void set_grep(struct asked *a, const char *pattern)
{
    struct regex *re = NULL;

    assert_int_equal(regex_new(pattern, &re, NULL), 0);
    a->query.grep = re;
}

static void grep_done(struct asked *a)
{
    regex_free((struct regex *)(uintptr_t)a->query.grep);
}

/* ---- last lines --------------------------------------------------------------------------- */

static void test_where_last_lines_begin(void **state)
{
    static const struct part parts[] = {PART(REIN_STREAM_OUTPUT, "a\nbb\n\nccc")};
    static const uint64_t begins[] = {9, 6, 5, 2, 0, 0};

    for (size_t step = 1; step < STEPS; step++) {
        for (size_t lines = 0; lines < ARRAY_SIZE(begins); lines++) {
            struct asked a = {.log = {.parts = parts, .n_parts = 1, .step = step}};
            struct result_source source = source_of(&a);
            uint64_t begin;

            fake_measure(&a.log, &a.result);
            assert_int_equal(log_find_last_lines(&source, &a.result, lines, &begin), 0);
            assert_int_equal(begin, begins[lines]);
        }
    }
}

/* What is before the last chunk is not read. */
static void test_last_lines_of_a_large_log(void **state)
{
    size_t size = 64 * LOG_CHUNK;
    char *bytes = malloc(size);
    struct part parts[] = {{.bytes = bytes, .size = size}};
    struct asked a = {.log = {.parts = parts, .n_parts = 1, .step = SIZE_MAX}};
    struct result_source source = source_of(&a);
    uint64_t begin;

    for (size_t i = 0; i < size; i++)
        bytes[i] = i % 10 == 9 ? '\n' : 'x';
    fake_measure(&a.log, &a.result);
    assert_int_equal(log_find_last_lines(&source, &a.result, 3, &begin), 0);
    assert_int_equal(begin, size / 10 * 10 - 20);
    assert_int_equal(a.log.reads, 1);
    free(bytes);
}

static void test_last_lines_across_the_gap(void **state)
{
    static const struct part parts[] = {PART(REIN_STREAM_OUTPUT, "1\n2\n"), LOST((size_t)1 << 40),
                                        PART(REIN_STREAM_OUTPUT, "8\n9\n")};
    struct asked a = {.query = {.lines = 3, .view = {.limit = 1000}}};

    ask(&a, parts, 3, 3);
    assert_string_equal(a.shown.streams[0].text,
                        "2\n[… 1,099,511,627,776 bytes omitted; kept output: /log …]\n8\n9\n");
    assert_int_equal(a.shown.omitted_bytes, (uint64_t)1 << 40);
    assert_int_equal(a.shown.omitted_at, 4);
    assert_true(a.log.reads < 20); /* the gap is stepped over */
    asked_done(&a);
}

static void test_the_end_of_last_lines_is_kept(void **state)
{
    char bytes[3000];
    struct part parts[] = {{.bytes = bytes, .size = sizeof(bytes)}};
    struct asked a = {.query = {.lines = 150, .view = {.limit = 300}}};
    const char *shown;

    for (size_t i = 0; i < 300; i++)
        memcpy(bytes + i * 10, "some line\n", 10);
    bytes[sizeof(bytes) - 2] = '!';
    ask(&a, parts, 1, SIZE_MAX);
    shown = a.shown.streams[0].text;
    assert_true(a.shown.streams[0].len <= 300);
    assert_int_equal(strncmp(shown, "[… ", 5), 0);
    assert_int_equal(a.shown.omitted_at, 1500);
    assert_int_equal(a.shown.omitted_bytes + strlen(strchr(shown, '\n') + 1), 1500);
    assert_int_equal(shown[a.shown.streams[0].len - 2], '!');
    asked_done(&a);
}

/* Of a line beyond all bounds only its end is read. */
static void test_one_endless_line(void **state)
{
    size_t size = (size_t)32 << 20;
    char *bytes = malloc(size);
    struct part parts[] = {{.bytes = bytes, .size = size}};
    struct asked a = {.query = {.lines = 1, .view = {.limit = 1000}}};
    const char *shown;

    memset(bytes, 'x', size);
    ask(&a, parts, 1, SIZE_MAX);
    shown = strchr(a.shown.streams[0].text, '\n') + 1;
    assert_int_equal(a.shown.omitted_bytes + strlen(shown), size);
    assert_int_equal(a.shown.omitted_at, 0);
    assert_int_equal(a.shown.cursor, size);
    asked_done(&a);
    free(bytes);
}

static void test_unfinished_character_of_a_running_job(void **state)
{
    static const struct part parts[] = {PART(REIN_STREAM_OUTPUT, "ab\xe2\x80")};
    struct asked running = {.query = {.lines = 5, .view = {.encoding = TEXT_ENC_UTF8}},
                            .result = {.running = 1}};
    struct asked ended = {.query = {.lines = 5, .view = {.encoding = TEXT_ENC_UTF8}}};

    ask(&running, parts, 1, SIZE_MAX);
    assert_string_equal(running.shown.streams[0].text, "ab");
    assert_int_equal(running.shown.cursor, 2);
    ask(&ended, parts, 1, SIZE_MAX);
    assert_string_equal(ended.shown.streams[0].text, "ab\xef\xbf\xbd");
    assert_int_equal(ended.shown.cursor, 4);
    asked_done(&running);
    asked_done(&ended);
}

/* In a split job the one that is unfinished is before what the other stream wrote since. */
static void test_unfinished_character_of_one_stream(void **state)
{
    static const struct part parts[] = {PART(REIN_STREAM_STDERR, "e"),
                                        PART(REIN_STREAM_STDOUT, "o\xe2"),
                                        PART(REIN_STREAM_STDERR, "err\n")};
    struct asked a = {.query = {.lines = 5}, .result = {.running = 1}};

    ask(&a, parts, 3, SIZE_MAX);
    assert_int_equal(a.shown.n_streams, 2);
    assert_string_equal(a.shown.streams[0].text, "o");
    assert_int_equal(a.shown.cursor, 2);
    asked_done(&a);
}

/* ---- pages -------------------------------------------------------------------------------- */

/* Reads page after page, and gives the texts put together. */
static void read_pages(
    const struct part *parts, size_t n, size_t step, size_t limit, int render, struct buf ret[2])
{
    uint64_t since = 0;

    for (int i = 0; i < 1000; i++) {
        struct asked a = {.query = {.has_since = true,
                                    .since = since,
                                    .view = {.limit = limit, .render = render}}};
        size_t len = 0;

        ask(&a, parts, n, step);
        for (size_t k = 0; k < a.shown.n_streams; k++) {
            buf_add(&ret[k], a.shown.streams[k].text, a.shown.streams[k].len);
            len += a.shown.streams[k].len;
        }
        assert_true(len <= MAX(limit, (size_t)4 * a.shown.n_streams));
        assert_true(a.shown.cursor >= since);
        if (a.shown.cursor == since) {
            assert_int_equal(since, a.result.output_bytes);
            asked_done(&a);
            return;
        }
        since = a.shown.cursor;
        asked_done(&a);
    }
    fail_msg("no end");
}

static void test_pages_join(void **state)
{
    static const char all[] = "one\ntwo \xe4\xbd\xa0\xe5\xa5\xbd three\n\nfour\nfive";
    static const struct part parts[] = {{.bytes = all, .size = sizeof(all) - 1}};

    for (size_t step = 1; step < STEPS; step++) {
        for (size_t limit = 1; limit < sizeof(all) + 3; limit++) {
            struct buf got[2] = {0};

            read_pages(parts, 1, step, limit, TEXT_CLEAN, got);
            assert_string_equal(got[0].data, all);
            buf_done(&got[0]);
        }
    }
}

static void test_pages_end_at_line_ends(void **state)
{
    static const struct part parts[] = {PART(REIN_STREAM_OUTPUT, "1234\n5678\n9")};
    struct asked a = {.query = {.has_since = true, .view = {.limit = 8}}};

    ask(&a, parts, 1, SIZE_MAX);
    assert_string_equal(a.shown.streams[0].text, "1234\n");
    assert_int_equal(a.shown.cursor, 5);
    assert_int_equal(a.shown.omitted_bytes, 0);
    asked_done(&a);
}

static void test_pages_of_two_streams(void **state)
{
    static const struct part parts[] = {
        PART(REIN_STREAM_STDOUT, "o1\no2\n"), PART(REIN_STREAM_STDERR, "e1\n"),
        PART(REIN_STREAM_STDOUT, "o3"),       PART(REIN_STREAM_STDERR, "e2\ne3 is long\n"),
        PART(REIN_STREAM_STDOUT, "\no4\n"),   PART(REIN_STREAM_STDERR, "e4\n"),
    };

    for (size_t step = 1; step < STEPS; step++) {
        for (size_t limit = 2; limit < 60; limit++) {
            struct buf got[2] = {0};

            read_pages(parts, ARRAY_SIZE(parts), step, limit, TEXT_PLAIN, got);
            assert_string_equal(got[0].data, "o1\no2\no3\no4\n");
            assert_string_equal(got[1].data, "e1\ne2\ne3 is long\ne4\n");
            buf_done(&got[0]);
            buf_done(&got[1]);
        }
    }
}

/* What one stream has begun and not finished does not keep the other from being read. */
static void test_pages_get_on_beside_an_unfinished_stream(void **state)
{
    static const struct part parts[] = {PART(REIN_STREAM_STDERR, "\xe4"),
                                        PART(REIN_STREAM_STDOUT, "out\n")};
    static const struct part at_the_end[] = {PART(REIN_STREAM_STDOUT, "out\n"),
                                             PART(REIN_STREAM_STDERR, "e\xe4\xbd")};
    struct asked a = {.query = {.has_since = true, .view = {.limit = 100}},
                      .result = {.running = 1}};
    struct asked last = a;

    ask(&a, parts, 2, SIZE_MAX);
    assert_string_equal(a.shown.streams[0].text, "out\n");
    assert_int_equal(a.shown.cursor, 5);
    ask(&last, at_the_end, 2, SIZE_MAX);
    assert_string_equal(last.shown.streams[1].text, "e");
    assert_int_equal(last.shown.cursor, 5);
    asked_done(&a);
    asked_done(&last);
}

static void test_page_with_a_gap(void **state)
{
    static const struct part parts[] = {PART(REIN_STREAM_OUTPUT, "head"), LOST(1000),
                                        PART(REIN_STREAM_OUTPUT, "tail\n")};
    struct asked a = {.query = {.has_since = true, .since = 1, .view = {.limit = 200}}};
    struct asked after = {.query = {.has_since = true, .since = 500, .view = {.limit = 200}}};
    struct asked before = {.query = {.has_since = true, .view = {.limit = 3}}};

    ask(&a, parts, 3, 3);
    assert_string_equal(a.shown.streams[0].text,
                        "ead\n[… 1,000 bytes omitted; kept output: /log …]\ntail\n");
    assert_int_equal(a.shown.omitted_bytes, 1000);
    assert_int_equal(a.shown.omitted_at, 4);
    assert_int_equal(a.shown.cursor, 1009);
    ask(&after, parts, 3, 3);
    assert_int_equal(after.shown.omitted_bytes, 504);
    assert_int_equal(after.shown.omitted_at, 500);
    ask(&before, parts, 3, 3);
    assert_string_equal(before.shown.streams[0].text, "hea");
    assert_int_equal(before.shown.omitted_bytes, 0);
    asked_done(&a);
    asked_done(&after);
    asked_done(&before);
}

/* ---- matches ------------------------------------------------------------------------------ */

static const struct part words[] = {
    PART(REIN_STREAM_OUTPUT, "apple\n\x1b[1mplum\x1b[0m\npear\n"),
    PART(REIN_STREAM_OUTPUT, "10%\rpeach\napricot"),
};

static void check_matches(struct output_query query,
                          const char *pattern,
                          int running,
                          const char *expected,
                          uint64_t cursor)
{
    for (size_t step = 1; step < STEPS; step++) {
        struct asked a = {.query = query, .result = {.running = running}};

        set_grep(&a, pattern);
        ask(&a, words, ARRAY_SIZE(words), step);
        assert_string_equal(a.shown.streams[0].text, expected);
        assert_int_equal(a.shown.cursor, cursor);
        grep_done(&a);
        asked_done(&a);
    }
}

static void test_matches(void **state)
{
    uint64_t all = words[0].size + words[1].size;
    uint64_t last = all - strlen("apricot");
    struct output_query query = {.view = {.limit = 1000}};

    check_matches(query, "^p", 0, "plum\npear\npeach\n", all);
    check_matches(query, "ap", 0, "apple\napricot", all);
    query.lines = 2;
    check_matches(query, "^p", 0, "pear\npeach\n", all);
    query.lines = 0;
    query.has_since = true;
    query.since = 6;
    check_matches(query, "^[ap]", 0, "plum\npear\npeach\napricot", all);
    check_matches(query, "^[ap]", 1, "plum\npear\npeach\n", last); /* it may go on */
    query.view.limit = 11; /* a page ends before the line for which there is no room */
    check_matches(query, "^[ap]", 0, "plum\npear\n", words[0].size);
}

static void test_matches_within_a_limit(void **state)
{
    struct asked a = {.query = {.lines = 10, .view = {.limit = 12}}};

    set_grep(&a, "^p");
    ask(&a, words, ARRAY_SIZE(words), SIZE_MAX);
    assert_string_equal(a.shown.streams[0].text, "pear\npeach\n");
    assert_int_equal(a.matches, 2);
    assert_true(a.shown.omitted_bytes > 0);
    assert_true(a.shown.omitted_at >= 6 && a.shown.omitted_at < words[0].size);
    grep_done(&a);
    asked_done(&a);
}

static void test_no_match(void **state)
{
    struct asked a = {.query = {.lines = 10}};

    set_grep(&a, "nothing");
    ask(&a, words, ARRAY_SIZE(words), SIZE_MAX);
    assert_int_equal(a.matches, 0);
    assert_string_equal(a.shown.streams[0].text, "");
    grep_done(&a);
    asked_done(&a);
}

static const struct part two_streams[] = {
    PART(REIN_STREAM_STDOUT, "a 0\na 1"),
    PART(REIN_STREAM_STDERR, "a 2\n"),
    PART(REIN_STREAM_STDOUT, "\nb\n"),
    PART(REIN_STREAM_STDERR, "a 3\na 4\n"),
};

static void test_matches_of_two_streams(void **state)
{
    struct asked a = {.query = {.lines = 2}};

    set_grep(&a, "^a");
    ask(&a, two_streams, ARRAY_SIZE(two_streams), SIZE_MAX);
    assert_string_equal(a.shown.streams[0].text, "a 0\na 1\n");
    assert_string_equal(a.shown.streams[1].text, "a 3\na 4\n");
    assert_int_equal(a.matches, 4);
    grep_done(&a);
    asked_done(&a);
}

static void test_matches_beside_an_unfinished_stream(void **state)
{
    static const struct part parts[] = {PART(REIN_STREAM_STDERR, "prompt: "),
                                        PART(REIN_STREAM_STDOUT, "a 1\na 2\na 3\n")};
    struct asked a = {.query = {.has_since = true, .view = {.limit = 16}},
                      .result = {.running = 1}};

    set_grep(&a, "^a");
    ask(&a, parts, 2, SIZE_MAX);
    assert_string_equal(a.shown.streams[0].text, "a 1\na 2\n");
    assert_int_equal(a.shown.cursor, 16);
    grep_done(&a);
    asked_done(&a);
}

/* Page after page, each match once. */
static void test_pages_of_matches_of_two_streams(void **state)
{
    for (size_t limit = 2; limit < 30; limit += 2) {
        struct buf got[2] = {0};
        uint64_t since = 0;

        for (;;) {
            struct asked a = {.query = {.has_since = true,
                                        .since = since,
                                        .view = {.limit = limit, .render = TEXT_PLAIN}}};
            uint64_t before = since;

            set_grep(&a, "^a");
            ask(&a, two_streams, ARRAY_SIZE(two_streams), SIZE_MAX);
            for (size_t k = 0; k < 2; k++)
                buf_add(&got[k], a.shown.streams[k].text, a.shown.streams[k].len);
            since = a.shown.cursor;
            grep_done(&a);
            asked_done(&a);
            if (since == before)
                break;
        }
        if (limit >= 8) { /* shorter ones cut the lines */
            assert_string_equal(got[0].data, "a 0\na 1\n");
            assert_string_equal(got[1].data, "a 2\na 3\na 4\n");
        }
        buf_done(&got[0]);
        buf_done(&got[1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_where_last_lines_begin),
        cmocka_unit_test(test_last_lines_of_a_large_log),
        cmocka_unit_test(test_last_lines_across_the_gap),
        cmocka_unit_test(test_the_end_of_last_lines_is_kept),
        cmocka_unit_test(test_one_endless_line),
        cmocka_unit_test(test_unfinished_character_of_a_running_job),
        cmocka_unit_test(test_unfinished_character_of_one_stream),
        cmocka_unit_test(test_pages_join),
        cmocka_unit_test(test_pages_end_at_line_ends),
        cmocka_unit_test(test_pages_of_two_streams),
        cmocka_unit_test(test_pages_get_on_beside_an_unfinished_stream),
        cmocka_unit_test(test_page_with_a_gap),
        cmocka_unit_test(test_matches),
        cmocka_unit_test(test_matches_within_a_limit),
        cmocka_unit_test(test_no_match),
        cmocka_unit_test(test_matches_of_two_streams),
        cmocka_unit_test(test_matches_beside_an_unfinished_stream),
        cmocka_unit_test(test_pages_of_matches_of_two_streams),
    };

    return cmocka_run_group_tests_name("output-query", tests, NULL, NULL);
}
