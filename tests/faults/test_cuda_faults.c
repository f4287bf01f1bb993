/* Everything that kith takes of a GPU, and every copy and kernel, fails: one at a time, and for
 * what is taken from one on. The call says so or does without, nothing is left behind, and the next
 * call with the same context is right. */

#include "../ranks/jobs.h"

#include "gpu_testing.h"

#include <ftw.h>
#include <unistd.h>

#include "device/context.h"
#include "device_faults.h"
#include "ranks/ranks.h"
#include "scenarios.h"

static char folder[] = "/tmp/kith-device-XXXXXX";

/* A fault, for messages. */
struct fault {
    const char *scenario;
    enum device_fault kind;
    int64_t n;
    bool lasting;
};

static int failures;

/* Reports it, and continues with the next fault. */
static void fail_at(const struct fault *fault, const char *what)
{
    print_error("ERROR: %s, %s %lld%s: %s\n", fault->scenario,
                fault->kind == device_fault_taking ? "taking" : "work", (long long)fault->n,
                fault->lasting ? " and all after it" : "", what);
    failures++;
}

static void check_status(const struct fault *fault, kith_status status)
{
    char what[512];
    snprintf(what, sizeof what, "%s: '%.400s'", kith_status_name(status), kith_error_message());
    if (status != KITH_OK && (status != KITH_OUT_OF_MEMORY || !*kith_error_message()))
        fail_at(fault, what);
}

static kith_status run_scenario(const struct scenario *scenario, kith_context *context,
                                uint64_t *digest)
{
    struct call call = {.context = context, .folder = folder, .digest = 0xcbf29ce484222325u};
    const kith_status status = scenario->run(&call);
    *digest = call.digest;
    return status;
}

/* In a context of its own; false when the n-th call was not reached. */
static bool fail_call(const struct scenario *scenario, const struct fault *fault, uint64_t expected)
{
    uint64_t digest = 0;
    const int64_t before = device_objects();
    kith_context *context = new_gpu_context(NULL);
    device_faults_begin(fault->kind, fault->n, fault->lasting);
    kith_status status = run_scenario(scenario, context, &digest);
    const int64_t asked = device_faults_end();
    check_status(fault, status);
    if (status == KITH_OK && digest != expected)
        fail_at(fault, "another result");

    status = run_scenario(scenario, context, &digest);
    if (status != KITH_OK)
        fail_at(fault, kith_error_message());
    if (digest != expected)
        fail_at(fault, "another result of the next call");
    kith_context_free(context);
    if (device_objects() != before)
        fail_at(fault, "something is left behind");
    return fault->n > 0 && asked >= fault->n;
}

/* Returns how many calls there were to fail. For the sanitizers every fortieth does. */
static int64_t fail_each_call(const struct scenario *scenario, enum device_fault kind,
                              uint64_t expected)
{
    const int64_t step = test_is_quick() ? 40 : 1;
    int64_t n = 1;
    for (bool more = true; more; n += step) {
        struct fault fault = {scenario->name, kind, n, false};
        more = fail_call(scenario, &fault, expected);
        fault.lasting = true;
        if (more && kind == device_fault_taking)
            fail_call(scenario, &fault, expected);
    }
    return n - step - 1;
}

static void fail_each_scenario(const struct scenario *scenario)
{
    failures = 0;
    for (; scenario->name; scenario++) {
        uint64_t expected = 0;
        kith_context *context = new_gpu_context(NULL);
        const kith_status status = run_scenario(scenario, context, &expected);
        kith_context_free(context);
        if (status != KITH_OK) {
            fail_at(&(struct fault){.scenario = scenario->name}, kith_error_message());
            continue;
        }
        const int64_t taken = fail_each_call(scenario, device_fault_taking, expected);
        const int64_t worked = fail_each_call(scenario, device_fault_work, expected);
        print_message("%-28s %lld taken, %lld copies and kernels\n", scenario->name,
                      (long long)taken, (long long)worked);
    }
    assert_int_equal(failures, 0);
}

static void test_a_context_that_lacks_something_is_refused(void **state)
{
    (void)state;
    const kith_context_options options = {.device = {KITH_CUDA, 0}};
    const int64_t before = device_objects();
    int64_t n = 1;
    failures = 0;
    for (bool more = true; more; n++)
        for (int lasting = 0; lasting < 2; lasting++) {
            const struct fault fault = {"context", device_fault_taking, n, lasting};
            kith_context *context = NULL;
            device_faults_begin(fault.kind, fault.n, fault.lasting);
            const kith_status status = kith_context_create(&options, &context);
            more = device_faults_end() >= n;
            check_status(&fault, status);
            assert_true((context == NULL) == (status != KITH_OK));
            assert_true((status == KITH_OK) == !more);
            kith_context_free(context);
            assert_int_equal(device_objects(), before);
        }
    assert_int_equal(failures, 0);
    assert_true(n > 3); /* a stream, a pool, page-locked memory */
}

static void test_computing_on_a_gpu_that_lacks_something_fails_cleanly(void **state)
{
    (void)state;
    fail_each_scenario(scenarios_of_computing);
}

static void test_files_and_simulations_on_such_a_gpu_fail_cleanly(void **state)
{
    (void)state;
    fail_each_scenario(scenarios_of_files);
}

static void test_arrays_on_such_a_gpu_and_many_bodies_fail_cleanly(void **state)
{
    (void)state;
    fail_each_scenario(scenarios_on_device);
}

/* The last of two ranks, of which taking number n fails. */
struct failing_rank {
    struct forces_rank forces;
    int64_t n;
    bool is_reached, knows; /* of a failure, when the call returns */
};

static kith_status compute_and_fail(void *argument, kith_context *context)
{
    struct failing_rank *rank = argument;
    const bool fails = context->ranks->rank == 1;
    if (fails)
        device_faults_begin(device_fault_taking, rank->n, false);
    else
        device_faults_spare();
    const kith_status status = compute_forces(&rank->forces, context);
    if (fails)
        rank->is_reached = device_faults_end() >= rank->n;
    rank->knows = context->ranks->failure_is_known;
    return status;
}

/* Fails each taking of a call, and returns how many failures the other rank heard of only when the
 * failing one ended. */
static int64_t fail_rank(const struct system *system, kith_forces_method method)
{
    int64_t untold = 0;
    bool more = true;
    for (int64_t n = 1; more; n++) {
        struct failing_rank ranks[2] = {0};
        for (int k = 0; k < 2; k++) {
            ranks[k].forces = (struct forces_rank){.system = system,
                                                   .options = {.softening = 0.01, .method = method},
                                                   .without_potential = true};
            ranks[k].forces.result = malloc(bytes_of(&ranks[k].forces));
            ranks[k].n = n;
        }
        do_ranks(2, compute_and_fail, ranks, sizeof ranks[0]);
        more = ranks[1].is_reached;
        if (ranks[1].forces.status != KITH_OK) {
            assert_int_equal(ranks[1].forces.status, KITH_OUT_OF_MEMORY);
            assert_int_not_equal(ranks[0].forces.status, KITH_OK);
            untold += ranks[1].knows ? 0 : 1;
        }
        for (int k = 0; k < 2; k++)
            free(ranks[k].forces.result);
    }
    return untold;
}

/* Before the kernels all is one method's and another's. */
static void test_ranks_hear_of_one_whose_gpu_lacks_memory(void **state)
{
    (void)state;
    struct random_numbers random = random_numbers_begin("cuda_faults");
    struct system system = system_random(&random, KITH_F32, 262145, 3);
    assert_int_equal(fail_rank(&system, KITH_FORCES_AUTO),
                     fail_rank(&system, KITH_FORCES_SYMMETRIC));
    system_free(&system);
}

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *place)
{
    (void)info, (void)type, (void)place;
    return remove(path);
}

/* A word chooses tests by their name, with * and ?. */
int main(int count, char **words)
{
    if (count > 1)
        cmocka_set_test_filter(words[1]);
    if (gpu_is_absent("cuda_faults"))
        return exit_skipped;
    if (!mkdtemp(folder))
        return 1;
    setenv("KITH_TUNING", "off", 1);
    setenv("XDG_CACHE_HOME", folder, 1); /* compiled formulas */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_context_that_lacks_something_is_refused),
        cmocka_unit_test(test_computing_on_a_gpu_that_lacks_something_fails_cleanly),
        cmocka_unit_test(test_files_and_simulations_on_such_a_gpu_fail_cleanly),
        cmocka_unit_test(test_arrays_on_such_a_gpu_and_many_bodies_fail_cleanly),
        cmocka_unit_test(test_ranks_hear_of_one_whose_gpu_lacks_memory),
    };
    const int failed = cmocka_run_group_tests_name("cuda_faults", tests, NULL, NULL);
    nftw(folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
    return failed;
}
