/* The supervisor's program as something to execute: nobody can change it, and jobs run where memory
 * files may not be executed, too. */
#include "job-test.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include "base/syscall-linux.h"
#include "job/image.h"
#include "job/job.h"

extern const unsigned char rein_supervisor_image[];
extern const size_t rein_supervisor_image_size;

static void check_contents(int fd)
{
    auto_free char *bytes = malloc(rein_supervisor_image_size + 1);

    assert_int_equal(pread(fd, bytes, rein_supervisor_image_size + 1, 0),
                     rein_supervisor_image_size);
    assert_memory_equal(bytes, rein_supervisor_image, rein_supervisor_image_size);
    assert_memory_equal(bytes, "\177ELF", 4);
    assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
}

static void test_memory_file_is_sealed(void **state)
{
    auto_close int fd = image_open(temp_dir, 0);
    char path[64];
    auto_close int again = -EBADF;

    assert_true(fd >= 0);
    check_contents(fd);
    assert_int_equal(pwrite(fd, "x", 1, 0), -1);
    assert_int_equal(ftruncate(fd, 0), -1);
    assert_ptr_equal(mmap(NULL, 4096, PROT_WRITE, MAP_SHARED, fd, 0), MAP_FAILED);
    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    again = open(path, O_WRONLY | O_CLOEXEC);
    if (again >= 0)
        assert_int_equal(pwrite(again, "x", 1, 0), -1);
    check_contents(fd);
}

static void test_file_without_a_name(void **state)
{
    auto_close int fd = image_open(temp_dir, WIRE_NO_MEMFD_EXEC);
    struct stat st;

    assert_true(fd >= 0);
    check_contents(fd);
    assert_int_equal(fstat(fd, &st), 0);
    assert_int_equal(st.st_nlink, 0);
    assert_int_equal(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDONLY);
}

/* The store may not be there yet: then it is another directory. */
static void test_file_where_the_store_is_not_there(void **state)
{
    auto_close int fd = image_open("/nonexistent/state", WIRE_NO_MEMFD_EXEC);

    assert_true(fd >= 0);
    check_contents(fd);
}

static void test_jobs_without_memory_files_that_can_be_executed(void **state)
{
    context->test_fallbacks = WIRE_NO_MEMFD_EXEC;
    for (int i = 0; i < 3; i++) {
        struct rein_spec spec = SCRIPT("echo text; exit 3");
        rein_job *job = start(&spec);
        auto_result result = finish(job);

        check_end(&result, REIN_REASON_EXIT, 3);
        check_output(job, "text\n");
        end_job(job);
    }
}

/* A build that is not for tests does not look. */
static void test_no_hooks_in_an_ordinary_build(void **state)
{
    (void)setenv("REIN_TEST_FALLBACKS", "no-memfd-exec,no-punch,no-proc-children", 1);
    assert_int_equal(image_test_fallbacks(), 0);
    (void)unsetenv("REIN_TEST_FALLBACKS");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        job_test(test_memory_file_is_sealed),
        job_test(test_file_without_a_name),
        job_test(test_file_where_the_store_is_not_there),
        job_test(test_jobs_without_memory_files_that_can_be_executed),
        job_test(test_no_hooks_in_an_ordinary_build),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
