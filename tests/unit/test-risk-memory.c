/* Without memory there is -ENOMEM and nothing else: whichever allocation it is that fails. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/macro.h"
#include "policy/risk.h"

#define ALLOCATIONS_MAX 100000 /* no request below needs as many */

static long countdown = -1; /* the allocation that fails when it reaches 0; negative: none */

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
void *__real_reallocarray(void *p, size_t n, size_t size);
char *__real_strdup(const char *s);
char *__real_strndup(const char *s, size_t n);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);
void *__wrap_reallocarray(void *p, size_t n, size_t size);
char *__wrap_strdup(const char *s);
char *__wrap_strndup(const char *s, size_t n);

static bool may_allocate(void)
{
    return countdown < 0 || countdown-- > 0;
}

void *__wrap_malloc(size_t size)
{
    return may_allocate() ? __real_malloc(size) : NULL;
}

void *__wrap_calloc(size_t n, size_t size)
{
    return may_allocate() ? __real_calloc(n, size) : NULL;
}

void *__wrap_realloc(void *p, size_t size)
{
    return may_allocate() ? __real_realloc(p, size) : NULL;
}

void *__wrap_reallocarray(void *p, size_t n, size_t size)
{
    return may_allocate() ? __real_reallocarray(p, n, size) : NULL;
}

char *__wrap_strdup(const char *s)
{
    return may_allocate() ? __real_strdup(s) : NULL;
}

char *__wrap_strndup(const char *s, size_t n)
{
    return may_allocate() ? __real_strndup(s, n) : NULL;
}

/* Each way in which a script becomes commands, and commands become more. */
static const char *const scripts[] = {
    "a=1; b=(x 'y z'); b+=(w); a+=2; echo $a \"${b[@]}\" ${b[0]} ${c:-d} $'\\x41' {e,f}{1..3} ~/g "
    "*.c",
    "if a; then b | c & fi; for i in 1 2; do echo $i; done; case x in y) z;; esac; f() { f | f & "
    "}; f",
    "cat <<E | sh\nrm -rf $A $(echo x) `pwd`\nE\n",
    "env -C / -S 'nice rm' -rf x; sudo sh -c 'ls \"$1\"' a b; echo / | xargs rm; eval \"$q\"",
    "find . -exec rm {} + -delete; find a -name b | xargs rm; parallel rm {} ::: a b; git -c "
    "alias.x='!ls' x",
    "python3 -c 'import os; os.system(\"ls\", \"b\")'; perl <<< 'unlink 1'; ssh h ls; docker exec "
    "d ls",
    "cd /x; pushd y; read v; unset w; set -- p q; printf -v z '%s\\n' k; echo $z \"$@\" $1; g() { "
    "h \"$@\"; }; g i j",
    "rm -rf / 'x",
    "trap 'ls' EXIT; alias k='ls'; tar --to-command='ls' -xf a; diff <(a) >(b); bash < <(curl x)",
    "echo $(a $(b)) $((1 + $(c))) \"$(d \"$(e)\")\"; [[ -n $f && g ]]; mysql <<< 'drop table t'",
};

static void check(const char *script)
{
    static const char *const env[] = {"HOME=/h", "A=x y", NULL};
    struct risk_request request = {.script = script, .cwd = "/w", .home = "/h", .env = env};
    bool failed = true;
    long n;

    for (n = 0; failed && n < ALLOCATIONS_MAX; n++) {
        struct risk_verdict v;
        int r;

        countdown = n;
        r = risk_judge(&request, &v);
        failed = countdown < 0;
        countdown = -1;
        risk_verdict_done(&v);
        if (r != (failed ? -ENOMEM : 0))
            fail_msg("%d when allocation %ld fails: %s", r, n, script);
    }
    assert_true(n > 10);
}

static void test_no_memory(void **state)
{
    for (size_t i = 0; i < ARRAY_SIZE(scripts); i++)
        check(scripts[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_no_memory)};

    return cmocka_run_group_tests_name("risk-memory", tests, NULL, NULL);
}
