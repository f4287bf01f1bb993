/* Every allocation of every public function fails, one at a time and from one on: the function says
 * so or does without, leaves no block behind, and what it made before can be freed. */

#include "testing.h"

#include <stdlib.h>
#include <unistd.h>

#include "memory_faults.h"
#include "scenarios.h"

static const kith_context_options one_thread = {.device = {KITH_CPU, 0}, .threads = 1};
static char folder[] = "/tmp/kith-memory-XXXXXX";

static int make_folder(void **state)
{
    (void)state;
    setenv("KITH_TUNING", "off", 1);
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder); /* fails if anything is left */
}

/* False when the n-th allocation was not reached. */
static bool fail_allocation(const struct scenario *scenario, int64_t n, bool lasting,
                            uint64_t expected)
{
    uint64_t digest = 0;
    const int64_t before = memory_blocks();
    memory_faults_begin(n, lasting);
    const kith_status status = scenario_run(scenario, &one_thread, folder, &digest);
    const int64_t asked = memory_faults_end(), after = memory_blocks();
    const char *how = lasting ? " and all after it" : "";
    if (status != KITH_OK && status != KITH_OUT_OF_MEMORY)
        fail_msg("%s, allocation %lld%s: %s: %s", scenario->name, (long long)n, how,
                 kith_status_name(status), kith_error_message());
    if (status == KITH_OUT_OF_MEMORY && !*kith_error_message())
        fail_msg("%s, allocation %lld%s: no message", scenario->name, (long long)n, how);
    if (status == KITH_OK && digest != expected)
        fail_msg("%s, allocation %lld%s: another result", scenario->name, (long long)n, how);
    if (after != before)
        fail_msg("%s, allocation %lld%s: %lld blocks are left", scenario->name, (long long)n, how,
                 (long long)(after - before));
    return n > 0 && asked >= n;
}

static void fail_each_allocation(const struct scenario *scenarios)
{
    for (const struct scenario *scenario = scenarios; scenario->name; scenario++) {
        uint64_t expected = 0;
        assert_ok(
            scenario_run(scenario, &one_thread, folder, &expected)); /* HDF5 and the like wake up */
        assert_false(fail_allocation(scenario, 0, false, expected));
        int64_t n = 1;
        while (fail_allocation(scenario, n, false, expected) &&
               fail_allocation(scenario, n, true, expected))
            n++;
        print_message("%-28s %lld allocations\n", scenario->name, (long long)n - 1);
        assert_true(n > 1);
    }
}

static void test_computing_without_memory_fails_cleanly(void **state)
{
    (void)state;
    fail_each_allocation(scenarios_of_computing);
}

static void test_files_without_memory_fail_cleanly(void **state)
{
    (void)state;
    fail_each_allocation(scenarios_of_files);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_computing_without_memory_fails_cleanly),
        cmocka_unit_test(test_files_without_memory_fail_cleanly),
    };
    return cmocka_run_group_tests_name("memory_faults", tests, make_folder, remove_folder);
}
