/*
 * clone3() with a stack of the child's own. No libc offers that call: the child comes out of it on
 * an empty stack, so it cannot return to where it was called from. The few instructions here go on
 * to the child's main function without touching memory in between.
 */
#include "clone-linux.h"

#include <stdint.h>

#include "base/syscall-linux.h"

#ifndef SYS_clone3
#define SYS_clone3 435
#endif

/* As the kernel wants it since 5.7; an older one refuses the length. */
struct clone3_args {
    uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls;
    uint64_t set_tid, set_tid_size, cgroup;
};

typedef int child_function(void *arg);

#if defined(__x86_64__) && defined(__LP64__)

static long clone3_call(const struct clone3_args *args, child_function *child_main, void *child_arg)
{
    register long rax __asm__("rax") = SYS_clone3;
    register const struct clone3_args *rdi __asm__("rdi") = args;
    register size_t rsi __asm__("rsi") = sizeof(*args);
    register child_function *r8 __asm__("r8") = child_main;
    register void *r9 __asm__("r9") = child_arg;

    __asm__ volatile("syscall\n\t"
                     "testq %%rax, %%rax\n\t"
                     "jnz 1f\n\t"
                     "xorl %%ebp, %%ebp\n\t" /* the end of the chain of frames */
                     "movq %%r9, %%rdi\n\t"
                     "callq *%%r8\n\t"
                     "hlt\n"
                     "1:"
                     : "+r"(rax)
                     : "r"(rdi), "r"(rsi), "r"(r8), "r"(r9)
                     : "rcx", "r11", "cc", "memory");
    return rax;
}

#elif defined(__aarch64__) && defined(__LP64__)

static long clone3_call(const struct clone3_args *args, child_function *child_main, void *child_arg)
{
    register long x8 __asm__("x8") = SYS_clone3;
    register long x0 __asm__("x0") = (long)args;
    register size_t x1 __asm__("x1") = sizeof(*args);
    register child_function *x2 __asm__("x2") = child_main;
    register void *x3 __asm__("x3") = child_arg;

    __asm__ volatile("svc #0\n\t"
                     "cbnz x0, 1f\n\t"
                     "mov x29, xzr\n\t" /* the end of the chain of frames */
                     "mov x30, xzr\n\t"
                     "mov x0, x3\n\t"
                     "blr x2\n\t"
                     "brk #1\n"
                     "1:"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3)
                     : "cc", "memory");
    return x0;
}

#else

static long clone3_call(const struct clone3_args *args, child_function *child_main, void *child_arg)
{
    return -ENOSYS;
}

#endif

pid_t clone_into_cgroup(int cgroup_fd,
                        int (*child_main)(void *arg),
                        void *arg,
                        void *stack,
                        size_t stack_size,
                        int *ret_pidfd)
{
    struct clone3_args args = {
        .flags = CLONE_VM | CLONE_VFORK | CLONE_PIDFD | CLONE_INTO_CGROUP,
        .pidfd = (uint64_t)(uintptr_t)ret_pidfd,
        .exit_signal = SIGCHLD,
        .stack = (uint64_t)(uintptr_t)stack,
        .stack_size = stack_size,
        .cgroup = (uint64_t)cgroup_fd,
    };

    return (pid_t)clone3_call(&args, child_main, arg);
}
