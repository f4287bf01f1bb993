/* Forces within a cutoff of more targets than a GPU lists the pairs of at a time. */

#include "gpu_testing.h"

#include "gpu_simulating.h"

enum { side = 103, particles = side * side * side }; /* more than 2^20 */

static kith_context *gpu, *cpu;

static const kith_cell cell = {{{side, 0, 0}, {0, side, 0}, {0, 0, side}}, {true, true, true}};

/* A lattice that is disturbed, in random order. */
static struct system make_lattice(struct random_numbers *numbers, kith_dtype dtype)
{
    struct system s = system_create(dtype, particles, 3);
    const int64_t step = 736427; /* has no factor of side */
    for (int64_t i = 0; i < particles; i++) {
        const int64_t k = i * step % particles,
                      at[3] = {k % side, k / side % side, k / side / side};
        for (int c = 0; c < 3; c++)
            put(s.x, 3 * i + c, (double)at[c] + random_uniform(numbers, -0.2, 0.2));
        put(s.m, i, 1 + 0.125 * (double)(i % 5));
    }
    return s;
}

static void compute_on(kith_context *context, const struct system *targets, struct system *sources,
                       struct system *found, kith_forces_totals *totals)
{
    const kith_forces_options options = {
        .cutoff = 1.5, .cell = &cell, .softening = 0.1, .totals = targets ? NULL : totals};
    assert_ok(kith_forces_compute(context, &options, targets ? PARTICLES_OF(targets) : NULL,
                                  PARTICLES_OF(sources), found->a, found->phi));
}

static void assert_alike(const struct system *a, const struct system *b, double limit)
{
    double rms = 0, largest = 0;
    for (int64_t k = 0; k < elements(b->a); k++)
        rms = hypot(rms, get(b->a, k) / sqrt((double)elements(b->a)));
    for (int64_t k = 0; k < elements(b->a); k++)
        largest = worse_of(largest, fabs(get(a->a, k) - get(b->a, k)));
    for (int64_t k = 0; k < b->n; k++)
        largest = worse_of(largest, fabs(get(a->phi, k) - get(b->phi, k)));
    print_message("largest difference %g of %g\n", largest, rms);
    assert_true(largest <= limit * rms);
}

/* Of each other, with totals, and of targets of their own; on every run with the same bits. */
static void test_cuda_many_targets_are_the_cpus(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("many targets within a cutoff");
    for (int narrow = 0; narrow < (test_is_quick() ? 1 : 2); narrow++) {
        const kith_dtype dtype = narrow ? KITH_F32 : KITH_F64;
        const double limit = narrow ? 2e-5 : 1e-12;
        struct system s = make_lattice(&numbers, dtype), t = make_lattice(&numbers, dtype);
        struct system of_cpu = system_copy(&s), of_gpu = system_copy(&s), again = system_copy(&s);
        kith_forces_totals here = {0}, there = {0}, twice = {0};
        compute_on(cpu, NULL, &s, &of_cpu, &here);
        compute_on(gpu, NULL, &s, &of_gpu, &there);
        compute_on(gpu, NULL, &s, &again, &twice);
        assert_alike(&of_gpu, &of_cpu, limit);
        assert_same_forces(&of_gpu, &again);
        assert_memory_equal(&there, &twice, sizeof there);
        assert_near(there.energy / here.energy, 1, limit);
        for (int k = 0; k < 9; k += 4)
            assert_near(there.virial[k] / here.virial[k], 1, limit);
        compute_on(cpu, &t, &s, &of_cpu, NULL);
        compute_on(gpu, &t, &s, &of_gpu, NULL);
        assert_alike(&of_gpu, &of_cpu, limit);
        system_free(&s);
        system_free(&t);
        system_free(&of_cpu);
        system_free(&of_gpu);
        system_free(&again);
    }
}

int main(void)
{
    if (gpu_is_absent("test_cuda_cutoff_many"))
        return exit_skipped;
    gpu = new_gpu_context(NULL);
    cpu = cpu_context(0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cuda_many_targets_are_the_cpus),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    kith_context_free(gpu);
    kith_context_free(cpu);
    return failed;
}
