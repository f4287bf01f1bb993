/* The rounding mode and the treatment of denormal numbers are the caller's: kith neither relies on
 * them nor changes them, and all its threads compute with them. */

#include "forces_system.h"

#include <fenv.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "core/float_environment.h"
#include "device/context.h"
#include "device/threads.h"

static const int roundings[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
enum { rounding_count = 4 };

/* The bits of MXCSR or FPCR that say what to do, without those that say what happened; and those
 * that make zeros of denormal numbers. */
#if defined(__x86_64__)
static const uint64_t control_bits = 0xffc0, flush_bits = 0x8040;
#elif defined(__aarch64__)
static const uint64_t control_bits = UINT64_MAX, flush_bits = UINT64_C(1) << 24;
#else
static const uint64_t control_bits = 0, flush_bits = 0;
#endif

/* Computes as somebody would who has chosen this environment. */
static void enter(int k, bool flushes)
{
    assert_int_equal(fesetround(roundings[k]), 0);
    if (flushes)
        float_environment_take_over(float_environment_of_thread() | flush_bits);
}

static void leave(void)
{
    fesetenv(FE_DFL_ENV);
}

struct tally {
    atomic_llong upward, other_threads;
    pthread_t caller;
};

static void look(void *argument, int64_t k)
{
    struct tally *tally = argument;
    volatile double one = 1, tiny = 0x1p-80;
    (void)k;
    for (volatile int turn = 0; turn < 2000; turn++)
        ;
    if (one + tiny > 1)
        atomic_fetch_add(&tally->upward, 1);
    if (!pthread_equal(pthread_self(), tally->caller))
        atomic_fetch_add(&tally->other_threads, 1);
}

static void test_all_threads_round_as_the_caller_does(void **state)
{
    enum { tasks = 3000, most_turns = 200 };
    (void)state;
    kith_context *context = new_context(NULL, 4);
    struct tally tally = {.caller = pthread_self()};
    assert_ok(
        kith_for_each(context, 4, tasks, look, &tally)); /* the threads are there from now on */
    assert_int_equal(atomic_load(&tally.upward), 0);
    atomic_store(&tally.other_threads, 0);
    int64_t expected = 0;
    enter(1, false);
    for (int turn = 0; turn < most_turns && atomic_load(&tally.other_threads) == 0; turn++) {
        assert_ok(kith_for_each(context, 4, tasks, look, &tally));
        expected += tasks;
    }
    leave();
    assert_int_equal(atomic_load(&tally.upward), expected);
    atomic_store(&tally.upward, 0);
    for (int turn = 0; turn < 5; turn++)
        assert_ok(kith_for_each(context, 4, tasks, look, &tally));
    assert_int_equal(atomic_load(&tally.upward), 0);
    kith_context_free(context);
}

static void list_pairs(kith_context *context, const struct system *s, kith_pairs_method method,
                       int64_t *count)
{
    const kith_cell cell = {{{3, 0, 0}, {0.5, 3, 0}, {0, 0, 3}}, {true, true, true}};
    const kith_pairs_options options = {.cutoff = 0.7, .quantities = 31, .method = method};
    kith_pairs *pairs = NULL;
    assert_ok(kith_pairs_compute(context, &options, s->x, &cell, &pairs));
    *count = pairs->count;
    kith_pairs_free(pairs);
}

static void multiply(kith_context *context, const struct system *s)
{
    kith_sparse *sparse = NULL;
    assert_ok(kith_sparse_create_dense(context, NULL, s->x, &sparse));
    const kith_array x = new_vector(s->dtype, s->dimensions), y = new_vector(s->dtype, s->n);
    assert_ok(kith_sparse_multiply(sparse, KITH_SPARSE_AS_IS, 1, x, 0, y));
    kith_sparse_free(sparse);
    free(x.data);
    free(y.data);
}

static void run(kith_context *context)
{
    kith_bodies *bodies = NULL;
    kith_run_summary summary;
    const kith_initial_options plummer = {.count = 20, .seed = 3};
    kith_run_options options = {.simulation = {.dt = 0x1p-7, .forces.softening = 0.1},
                                .until = 0.125};
    if (kith_build_has_hdf5())
        options.output = "float-environment.h5";
    assert_ok(kith_initial_make("plummer", &plummer, &bodies));
    assert_ok(kith_run(context, &options, bodies, &summary));
    kith_bodies_free(bodies);
    if (options.output)
        assert_int_equal(unlink(options.output), 0);
}

/* Every capability, with results that are those of the reference. */
static void use(kith_context *context, kith_dtype dtype)
{
    struct random_numbers random = {5};
    struct system s = system_random(&random, dtype, 300, 3), exact = system_create(dtype, 300, 3);
    kith_forces_options options = {.softening = 0.01};
    int64_t by_cells = 0, by_all = 0;
    system_compute(context, &options, &s);
    options.solver = solver_named("reference");
    assert_ok(kith_forces_compute(context, &options, NULL, PARTICLES(s.x, {"m", s.m}), exact.a,
                                  exact.phi));
    assert_less(relative_difference(s.a, exact.a), dtype == KITH_F32 ? 4e-6 : 1e-12);
    list_pairs(context, &s, KITH_PAIRS_CELLS, &by_cells);
    list_pairs(context, &s, KITH_PAIRS_BRUTE_FORCE, &by_all);
    assert_int_equal(by_cells, by_all);
    const kith_array matrix = new_matrix(dtype, 300, 300);
    const kith_particles rows = {.positions = s.x, .columns = {{"m", s.m}}};
    const kith_matrix_options softened = {.softening = 0.1};
    assert_ok(kith_matrix_compute(context, NULL, &softened, &rows, NULL, matrix));
    multiply(context, &s);
    run(context);
    free(matrix.data);
    system_free(&s);
    system_free(&exact);
}

static void test_the_environment_is_left_as_it_was_and_any_will_do(void **state)
{
    (void)state;
    for (int k = 0; k < rounding_count; k++)
        for (int flushes = 0; flushes < 2; flushes++) {
            kith_context *context = new_context(NULL, 3);
            enter(k, flushes != 0);
            const uint64_t before = float_environment_of_thread() & control_bits;
            use(context, flushes ? KITH_F32 : KITH_F64);
            const uint64_t after = float_environment_of_thread() & control_bits;
            const int rounding = fegetround();
            leave();
            assert_int_equal(after, before);
            assert_int_equal(rounding, roundings[k]);
            kith_context_free(context);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_threads_round_as_the_caller_does),
        cmocka_unit_test(test_the_environment_is_left_as_it_was_and_any_will_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
