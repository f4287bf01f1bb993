/* Runs by the solver pme on the GPU, and its memory. */

#include "gpu_testing.h"

#include "mesh/cufft.h"
#include "random_numbers.h"

static struct random_numbers numbers;
static kith_context *gpu, *cpu;
static kith_law *law;

static double uniform(double low, double high)
{
    return random_uniform(&numbers, low, high);
}

static void assert_all_near(const double *a, const double *b, int64_t count, double tolerance)
{
    for (int64_t k = 0; k < count; k++)
        if (!(fabs(a[k] - b[k]) <= tolerance))
            fail_msg("number %lld of %lld: %.17g and %.17g", (long long)k, (long long)count, a[k],
                     b[k]);
}

/* Ions of rock salt that begin to move: after some steps they are where forces by plain sums bring
 * them; and the mesh may take longer steps than the pairs. */
static void take_steps(kith_context *context, const char *solver, int32_t substeps,
                       const kith_bodies *from, kith_bodies *to, double *drift)
{
    const kith_simulation_options options = {
        .dt = 0.002,
        .precision = KITH_F64,
        .substeps = substeps,
        .forces = {.law = law, .solver = solver_named(solver), .accuracy.error = 1e-8}};
    kith_simulation *simulation = NULL;
    kith_diagnostics before, after;
    assert_ok(kith_simulation_create(context, &options, from, &simulation));
    assert_ok(kith_simulation_diagnose(simulation, &before));
    assert_ok(kith_simulation_step(simulation, 50));
    assert_ok(kith_simulation_diagnose(simulation, &after));
    assert_ok(kith_simulation_get_bodies(simulation, to));
    *drift = fabs(after.total_energy / before.total_energy - 1);
    kith_simulation_free(simulation);
}

static void test_steps_of_a_run(void **state)
{
    (void)state;
    enum { ions = 216 };
    kith_bodies *from = NULL, *by_plain_sums = NULL, *by_mesh = NULL;
    kith_bodies **const all[] = {&from, &by_plain_sums, &by_mesh};
    double drift = 0;
    for (int k = 0; k < 3; k++)
        assert_ok(kith_bodies_create(ions, 3, KITH_VELOCITY | KITH_MASS | KITH_CHARGE, all[k]));
    for (int k = 0; k < 3; k++) {
        from->cell[4 * k] = 6;
        from->periodic[k] = true;
    }
    from->has_cell = true;
    for (int64_t i = 0; i < ions; i++) {
        const int64_t at[3] = {i % 6, i / 6 % 6, i / 36};
        for (int c = 0; c < 3; c++)
            from->position[3 * i + c] = (double)at[c] + uniform(-0.1, 0.1);
        from->mass[i] = 1;
        from->charge[i] = (at[0] + at[1] + at[2]) % 2 ? -1 : 1;
    }
    take_steps(cpu, "ewald", 1, from, by_plain_sums, &drift);
    for (int32_t substeps = 1; substeps <= 3; substeps += 2) {
        take_steps(gpu, "pme", substeps, from, by_mesh, &drift);
        assert_true(drift < 1e-6);
        assert_all_near(by_mesh->position, by_plain_sums->position, 3 * ions, 1e-6);
    }
    for (int k = 0; k < 3; k++)
        kith_bodies_free(*all[k]);
}

/* 10^5 ions take less than 1 GB of the device's memory. */
static void test_memory(void **state)
{
    (void)state;
    enum { ions = 100000 };
    double(*x)[3] = calloc(ions, sizeof *x), *q = calloc(ions, sizeof *q);
    double(*forces)[3] = calloc(ions, sizeof *forces);
    size_t before = 0, after = 0, all = 0;
    assert_true(x && q && forces);
    for (int64_t i = 0; i < ions; i++) {
        for (int c = 0; c < 3; c++)
            x[i][c] = uniform(0, 1);
        q[i] = i % 2 ? 1 : -1;
    }
    const kith_cell cell = (kith_cell){{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {true, true, true}};
    const kith_particles particles = {.positions = kith_array_matrix(x, KITH_F64, ions, 3),
                                      .columns = {{"q", kith_array_vector(q, KITH_F64, ions)}}};
    const kith_forces_options options = {
        .solver = solver_named("pme"), .law = law, .cell = &cell, .accuracy = {.error = 1e-4}};
    kith_context *context = new_gpu_context(NULL);
    assert_cuda(cudaMemGetInfo(&before, &all));
    assert_ok(kith_forces_compute(context, &options, NULL, &particles,
                                  kith_array_matrix(forces, KITH_F64, ions, 3), kith_array_none()));
    assert_cuda(cudaMemGetInfo(&after, &all));
    printf("%d ions: %.3g MB of the device's memory\n", (int)ions,
           1e-6 * ((double)before - (double)after));
    assert_true((double)before - (double)after < 1e9);
    kith_context_free(context);
    free(x);
    free(q);
    free(forces);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps_of_a_run),
        cmocka_unit_test(test_memory),
    };
    if (gpu_is_absent("test_cuda_pme_steps"))
        return exit_skipped;
    if (cufft_is_there() != KITH_OK) {
        printf("test_cuda_pme_steps: skipped: %s\n", kith_error_message());
        return exit_skipped;
    }
    numbers = random_numbers_begin("test_cuda_pme_steps");
    gpu = new_gpu_context(NULL);
    cpu = new_context(NULL, 0);
    assert_ok(kith_law_parse("coulomb", 0, NULL, &law));
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    kith_law_free(law);
    kith_context_free(cpu);
    kith_context_free(gpu);
    return failed;
}
