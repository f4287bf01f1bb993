/* Memory that is not there: what needs more than is available is refused before it is written. */

#include "testing.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/memory.h"
#include "kith/kith.h"

static char root[] = "test-memory-XXXXXX";

/* A file below the root, with the folders that it lies in. */
static void put(const char *path, const char *text)
{
    char full[512];
    snprintf(full, sizeof full, "%s%s", root, path);
    for (char *slash = strchr(full, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(full, 0700);
        *slash = '/';
    }
    FILE *file = fopen(full, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static int begin(void **state)
{
    (void)state;
    strcpy(root + strlen(root) - 6, "XXXXXX");
    return mkdtemp(root) ? 0 : -1;
}

static int end(void **state)
{
    char command[64];
    (void)state;
    snprintf(command, sizeof command, "rm -r %s", root);
    return system(command);
}

static void nothing_known_is_no_limit(void **state)
{
    (void)state;
    assert_true(kith_memory_available_below(root) == INT64_MAX);
    put("/proc/meminfo", "MemTotal: 100 kB\n");
    put("/proc/self/cgroup", "\n:\n0:\nnonsense\n0::/a\n");
    assert_true(kith_memory_available_below(root) == INT64_MAX);
}

static void the_machine_has_memory_and_swap(void **state)
{
    (void)state;
    put("/proc/meminfo", "MemTotal:       2000 kB\nMemFree:  10 kB\nMemAvailable:    1000 kB\n"
                         "SwapTotal: 900 kB\nSwapFree:  24 kB\n");
    assert_int_equal(kith_memory_available_below(root), 1024 * 1024);
}

/* The narrowest group of the path counts; files that are only cached are given back. */
static void groups_of_version_2_have_limits(void **state)
{
    (void)state;
    put("/proc/meminfo", "MemAvailable: 1000000 kB\n");
    put("/proc/self/cgroup", "0::/jobs/one\n");
    put("/sys/fs/cgroup/jobs/one/memory.max", "max\n");
    put("/sys/fs/cgroup/jobs/one/memory.current", "400\n");
    put("/sys/fs/cgroup/jobs/memory.max", "5000\n");
    put("/sys/fs/cgroup/jobs/memory.current", "3000\n");
    put("/sys/fs/cgroup/jobs/memory.stat", "anon 2000\nfile 1000\ninactive_file 700\n");
    assert_int_equal(kith_memory_available_below(root), 5000 - 2300);
    put("/sys/fs/cgroup/jobs/one/memory.max", "1400\n");
    assert_int_equal(kith_memory_available_below(root), 1000);
    put("/sys/fs/cgroup/jobs/one/memory.current", "1500\n");
    assert_int_equal(kith_memory_available_below(root), 0);
}

/* In a container the top of the hierarchy is its own, and the path that of the machine. */
static void groups_of_version_1_have_limits(void **state)
{
    (void)state;
    put("/proc/self/cgroup", "9:name=memoryless:/x\n4:cpu,memory:/docker/abc\n1:cpu:/y\n0::/\n");
    put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    put("/sys/fs/cgroup/memory/memory.usage_in_bytes", "123\n");
    assert_true(kith_memory_available_below(root) > (int64_t)1 << 62);
    put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "8000\n");
    put("/sys/fs/cgroup/memory/memory.stat", "inactive_file 1\ntotal_inactive_file 23\n");
    assert_int_equal(kith_memory_available_below(root), 8000 - 100);
}

static int64_t address_space(void)
{
    long long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%lld", &pages) != 1)
        abort();
    fclose(file);
    return pages * sysconf(_SC_PAGESIZE);
}

static int64_t most_resident(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss * 1024;
}

static void limit_address_space(int64_t more)
{
    const rlim_t bytes = (rlim_t)(address_space() + more);
    const struct rlimit limit = {bytes, bytes};
    setrlimit(RLIMIT_AS, &limit);
}

/* The exit code of a child that does the work under a limit of its own. */
static int code_of_child(int (*work)(void))
{
    int status = 0;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(work());
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

enum { refused_at_once = 3, refused_after_writing = 4, not_refused = 5 };

/* Every column of the list would fit, and all of them do not. */
static int list_too_large(void)
{
    enum { n = 6000 };
    static double x[3 * n];
    kith_context *context = NULL;
    kith_pairs *pairs = NULL;
    const kith_context_options on_cpu = {.device = {KITH_CPU, 0}, .threads = 1};
    const kith_pairs_options options = {.cutoff = 10,
                                        .quantities = KITH_PAIRS_I | KITH_PAIRS_J |
                                                      KITH_PAIRS_SHIFTS | KITH_PAIRS_VECTORS |
                                                      KITH_PAIRS_DISTANCES};
    for (int k = 0; k < 3 * n; k++)
        x[k] = (k * 7919 % 1000) / 1000.0;
    if (kith_context_create(&on_cpu, &context) != KITH_OK)
        return 1;
    limit_address_space((int64_t)1000 << 20);
    const int64_t before = most_resident();
    const kith_status status =
        kith_pairs_compute(context, &options, kith_array_matrix(x, KITH_F64, n, 3), NULL, &pairs);
    if (status != KITH_OUT_OF_MEMORY || pairs ||
        !has_fields(kith_error_message(), "35994000 pairs"))
        return not_refused;
    return most_resident() - before < (int64_t)48 << 20 ? refused_at_once : refused_after_writing;
}

static void a_list_that_does_not_fit_is_refused_before_it_is_written(void **state)
{
    (void)state;
    assert_int_equal(code_of_child(list_too_large), refused_at_once);
}

static int allocations(void)
{
    void *memory = NULL;
    limit_address_space((int64_t)200 << 20);
    const int64_t available = kith_memory_available();
    if (available > (int64_t)200 << 20 || available < (int64_t)190 << 20)
        return 1;
    if (kith_allocate((int64_t)300 << 20, 1, "a table", &memory) != KITH_OUT_OF_MEMORY || memory)
        return 2;
    if (!has_fields(kith_error_message(), "table 314572800 bytes"))
        return 3;
    return kith_allocate((int64_t)100 << 20, 1, "a table", &memory) == KITH_OK ? 0 : 4;
}

static void an_allocation_is_checked_against_what_is_there(void **state)
{
    (void)state;
    assert_int_equal(code_of_child(allocations), 0);
}

/* As large as the system would hand out, and kill for: never written. */
static void what_the_machine_does_not_have_is_refused(void **state)
{
    void *memory = NULL;
    const int64_t available = kith_memory_available();
    (void)state;
    assert_true(available > 0);
    if (available < INT64_MAX / 2) {
        assert_int_equal(kith_allocate(available / 8 + available / 16, 8, "a table", &memory),
                         KITH_OUT_OF_MEMORY);
        assert_null(memory);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nothing_known_is_no_limit, begin, end),
        cmocka_unit_test_setup_teardown(the_machine_has_memory_and_swap, begin, end),
        cmocka_unit_test_setup_teardown(groups_of_version_2_have_limits, begin, end),
        cmocka_unit_test_setup_teardown(groups_of_version_1_have_limits, begin, end),
        cmocka_unit_test(a_list_that_does_not_fit_is_refused_before_it_is_written),
        cmocka_unit_test(an_allocation_is_checked_against_what_is_there),
        cmocka_unit_test(what_the_machine_does_not_have_is_refused),
    };
    return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
