/*
 * Linked into every program of a build with sanitizers. What they find goes to files that the
 * suite's runner looks for: a report on some child's standard error, or an exit status that a test
 * takes for the command's own, would be lost. Set here and not by environment, since rein starts
 * programs with an environment of the caller's choice.
 */
#define VISIBLE __attribute__((visibility("default"), used, no_sanitize("address", "undefined")))

#define LOG "log_path=" REIN_SANITIZER_LOG

VISIBLE const char *__asan_default_options(void);
VISIBLE const char *__ubsan_default_options(void);

const char *__asan_default_options(void)
{
    return LOG ":strict_string_checks=1:detect_stack_use_after_return=1:exitcode=99";
}

const char *__ubsan_default_options(void)
{
    return LOG ":print_stacktrace=1:halt_on_error=1:exitcode=99";
}
