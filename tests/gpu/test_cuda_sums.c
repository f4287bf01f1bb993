/* Sums of pair functions on a GPU against the reference on the CPU. */

#include "gpu_testing.h"

#include <math.h>

enum { most_points = 40000, most_results = 4 * most_points };

#include "sums_cloud.h"

static kith_context *cpu, *gpu;

static struct cloud cloud_a, cloud_b;
static double wide[2][most_results];
static float narrow[2][most_results];

static const kith_named_formula mixed_outputs[] = {
    {"rho", "m_j * W"},
    {"shear", "dx * (h_i - h_j) * W"},
    {"repulsion", "4 * (pow(s / r, 12) + pow(s / r, 6))"},
    {"near", "r2 < 0.04"},
};
static const kith_named_formula mixed_lets[] = {{"hh", "(h_i + h_j) / 2"},
                                                {"W", "exp(-r2 / (hh * hh)) / (hh * hh)"}};
static const kith_law_parameter sigma[] = {{"s", 0.15}};
enum { outputs = 4, which_shear = 1 };

static void set_formulas(kith_sums_options *options)
{
    options->let_count = COUNT_OF(mixed_lets);
    options->lets = mixed_lets;
    options->parameter_count = 1;
    options->parameters = sigma;
}

static double value_of(kith_dtype dtype, int which, int64_t k)
{
    return dtype == KITH_F32 ? (double)narrow[which][k] : wide[which][k];
}

static kith_array results_of(kith_dtype dtype, int which, int64_t rows, int64_t columns)
{
    void *const memory = dtype == KITH_F32 ? (void *)narrow[which] : wide[which];
    return kith_array_matrix(memory, dtype, rows, columns);
}

static double relative_bound(kith_dtype dtype)
{
    return dtype == KITH_F32 ? 3e-5 : 1e-12;
}

/* The first set of results is the GPU's, the second what is expected. */
static void assert_near_results(kith_dtype dtype, kith_sums_reduction reduction, int64_t count)
{
    double shear = 0.1; /* its terms have both signs and are about 1 */
    for (int64_t k = which_shear; k < count * outputs; k += outputs)
        if (isfinite(value_of(dtype, 1, k)))
            shear = fmax(shear, fabs(value_of(dtype, 1, k)));
    for (int64_t k = 0; k < count * outputs; k++) {
        const double made = value_of(dtype, 0, k), expected = value_of(dtype, 1, k);
        double size = fabs(expected) + (k % outputs == which_shear ? shear : 0);
        if (reduction == KITH_SUMS_LOGSUMEXP)
            size += 1;
        if (made != expected && !(fabs(made - expected) <= relative_bound(dtype) * size))
            fail_msg("row %d output %d: %.17g, and the reference has %.17g", (int)(k / outputs),
                     (int)(k % outputs), made, expected);
    }
}

/* Computes on the GPU and on the CPU by a method, and compares. */
static void compare(kith_sums_options options, kith_dtype dtype, bool two_sets,
                    kith_sums_method method)
{
    kith_particles targets = particles_of(&cloud_a, dtype);
    kith_particles sources = particles_of(two_sets ? &cloud_b : &cloud_a, dtype);
    const int64_t n = cloud_a.count;
    int64_t pairs[2] = {-1, -1};
    set_formulas(&options);
    for (int which = 0; which < 2; which++) {
        options.method = which ? method : KITH_SUMS_AUTO;
        options.pair_count = &pairs[which];
        assert_ok(kith_sums_compute(which ? cpu : gpu, &options, two_sets ? &targets : NULL,
                                    &sources, outputs, mixed_outputs,
                                    results_of(dtype, which, n, outputs)));
    }
    assert_int_equal(pairs[0], pairs[1]);
    assert_near_results(dtype, options.reduction, n);
}

static void test_sums_on_a_gpu_are_the_reference_s_in_every_cell(void **state)
{
    (void)state;
    static const int64_t counts[] = {0, 1, 2, 7, 31, 64, 200, 333};
    static const double cutoffs[] = {0.07, 0.3, 0.9, 2.6};
    const int trials = test_is_quick() ? 24 : 120;
    for (int trial = 0; trial < trials; trial++) {
        const int reduction = trial % 5, dimensions = 2 + trial / 5 % 2;
        const double cutoff = cutoffs[trial % COUNT_OF(cutoffs)];
        const int64_t most = cutoff > 1 ? 31 : 333;
        int64_t count = counts[trial * 7 % COUNT_OF(counts)];
        count = count < most ? count : most;
        fill_cloud(&cloud_a, count, dimensions, 1);
        fill_cloud(&cloud_b, count + 5, dimensions, 1);
        const kith_cell cell = random_cell(dimensions, 1);
        const kith_sums_options options = {
            .cutoff = cutoff,
            .cell = trial % 11 == 4 ? NULL : &cell,
            .reduction = (kith_sums_reduction)reduction,
            .include_self = trial % 3 == 1 && trial % 7 != 0,
        };
        compare(options, (reduction + dimensions) % 2 ? KITH_F64 : KITH_F32, trial % 7 == 0,
                KITH_SUMS_REFERENCE);
    }
}

static void test_sums_on_a_gpu_are_the_reference_s_over_all_pairs(void **state)
{
    (void)state;
    for (int reduction = 0; reduction < 5; reduction++)
        for (int trial = 0; trial < 4; trial++) {
            const int dimensions = 2 + reduction % 2;
            fill_cloud(&cloud_a, trial == 3 ? 1100 : 3 + (int64_t)(90 * uniform()), dimensions, 1);
            fill_cloud(&cloud_b, 1 + (int64_t)(90 * uniform()), dimensions, 1);
            compare((kith_sums_options){.reduction = (kith_sums_reduction)reduction,
                                        .include_self = trial == 2},
                    trial == 1 ? KITH_F32 : KITH_F64, trial == 0, KITH_SUMS_REFERENCE);
        }
}

/* Many sources are shared among blocks, whose results are joined. */
static void test_few_targets_and_many_sources(void **state)
{
    (void)state;
    for (int reduction = 0; reduction < 5; reduction++) {
        fill_cloud(&cloud_a, 1 + reduction * 70, 3, 1);
        fill_cloud(&cloud_b, test_is_quick() ? 3000 : 10000 + (int64_t)(5000 * uniform()), 3, 1);
        compare((kith_sums_options){.reduction = (kith_sums_reduction)reduction},
                reduction % 2 ? KITH_F32 : KITH_F64, true, KITH_SUMS_AUTO);
    }
}

static void test_points_in_few_cells_and_far_apart_have_all_their_pairs(void **state)
{
    (void)state;
    fill_cloud(&cloud_a, 1100, 3, 0.01); /* all in one cell */
    compare((kith_sums_options){.cutoff = 0.004}, KITH_F64, false, KITH_SUMS_REFERENCE);
    fill_cloud(&cloud_a, 300, 3, 1);
    for (int64_t k = 0; k < 300; k++) /* groups whose cells share buckets */
        for (int c = 0; c < 3; c++)
            cloud_a.x[3 * k + c] += (double)(k % 10) * 7919 * (c + 1);
    compare((kith_sums_options){.cutoff = 0.3}, KITH_F64, false, KITH_SUMS_REFERENCE);
}

static void test_many_points_have_the_sums_of_the_cpu(void **state)
{
    (void)state;
    for (int trial = 0; trial < 6; trial++) {
        const kith_dtype dtype = trial % 2 ? KITH_F32 : KITH_F64;
        const int dimensions = trial < 4 ? 3 : 2;
        fill_cloud(&cloud_a, test_is_quick() ? 3000 : 39999, dimensions, 1);
        const kith_cell cell = random_cell(dimensions, 1.5);
        const kith_sums_options options = {.cutoff = dimensions == 3 ? 0.08 : 0.03,
                                           .cell = trial % 3 ? &cell : NULL};
        compare(options, dtype, false, KITH_SUMS_AUTO);
    }
}

static void test_sums_over_a_list_are_those_over_its_pairs(void **state)
{
    (void)state;
    const int trials = test_is_quick() ? 6 : 24;
    for (int trial = 0; trial < trials; trial++) {
        const kith_dtype dtype = trial % 2 ? KITH_F32 : KITH_F64;
        const int dimensions = 2 + trial % 3 % 2;
        const bool two_sets = trial % 4 == 3, is_open = trial % 5 == 2;
        kith_pairs *pairs = NULL;
        fill_cloud(&cloud_a, trial < 3 ? trial : 150, dimensions, 1);
        fill_cloud(&cloud_b, 90, dimensions, 1);
        const kith_cell cell = random_cell(dimensions, 1);
        const kith_particles targets = particles_of(&cloud_a, dtype);
        const kith_particles sources = particles_of(two_sets ? &cloud_b : &cloud_a, dtype);
        const kith_pairs_options wanted = {.cutoff = 0.4,
                                           .quantities = KITH_PAIRS_J | KITH_PAIRS_SHIFTS,
                                           .narrow = trial % 7 < 3,
                                           .queries =
                                               two_sets ? targets.positions : kith_array_none()};
        assert_ok(
            kith_pairs_compute(cpu, &wanted, sources.positions, is_open ? NULL : &cell, &pairs));
        kith_sums_options options = {.cell = is_open ? NULL : &cell,
                                     .reduction = (kith_sums_reduction)(trial % 5),
                                     .include_self = !two_sets && trial % 3 == 1,
                                     .pairs = pairs};
        compare(options, dtype, two_sets, KITH_SUMS_REFERENCE);
        options.cutoff = 0.25; /* shorter than the list's */
        compare(options, dtype, two_sets, KITH_SUMS_REFERENCE);
        kith_pairs_free(pairs);
    }
}

static void test_points_of_many_dimensions(void **state)
{
    (void)state;
    for (int32_t dimensions = 1; dimensions <= 16; dimensions += 3) {
        const kith_named_formula formulas[] = {{"f", "exp(-r2) * m_j"}, {"g", "r * m_i"}};
        const kith_dtype dtype = dimensions % 2 ? KITH_F32 : KITH_F64;
        fill_cloud(&cloud_a, 3 * 101, 3, 1);
        cloud_a.count = 3 * 101 * 3 / dimensions;
        cloud_a.count = cloud_a.count < 303 ? cloud_a.count : 303;
        cloud_a.dimensions = dimensions;
        const kith_particles particles = particles_of(&cloud_a, dtype);
        kith_sums_options options = {0};
        for (int which = 0; which < 2; which++) {
            options.method = which ? KITH_SUMS_REFERENCE : KITH_SUMS_AUTO;
            assert_ok(kith_sums_compute(which ? cpu : gpu, &options, NULL, &particles, 2, formulas,
                                        results_of(dtype, which, cloud_a.count, 2)));
        }
        for (int64_t k = 0; k < 2 * cloud_a.count; k++)
            assert_true(fabs(value_of(dtype, 0, k) - value_of(dtype, 1, k)) <=
                        relative_bound(dtype) * fabs(value_of(dtype, 1, k)));
    }
}

static void test_formulas_without_columns(void **state)
{
    (void)state;
    const kith_named_formula formulas[] = {{"pull", "dx * exp(-r2)"}, {"length", "r"}};
    for (int trial = 0; trial < 8; trial++) {
        const kith_dtype dtype = trial % 2 ? KITH_F32 : KITH_F64;
        const int dimensions = 2 + trial / 2 % 2;
        fill_cloud(&cloud_a, 500, dimensions, 1);
        const kith_cell cell = random_cell(dimensions, 1);
        const kith_particles particles = particles_of(&cloud_a, dtype);
        kith_sums_options options = {.cutoff = 0.25, .cell = trial < 4 ? &cell : NULL};
        for (int which = 0; which < 2; which++) {
            options.method = which ? KITH_SUMS_REFERENCE : KITH_SUMS_AUTO;
            assert_ok(kith_sums_compute(which ? cpu : gpu, &options, NULL, &particles, 2, formulas,
                                        results_of(dtype, which, cloud_a.count, 2)));
        }
        for (int64_t k = 0; k < 2 * cloud_a.count; k++) {
            const double length =
                value_of(dtype, 1, k | 1); /* is more than the terms of the pull */
            assert_true(fabs(value_of(dtype, 0, k) - value_of(dtype, 1, k)) <=
                        relative_bound(dtype) * length);
        }
    }
}

/* Particles and results on the device. */
struct on_device {
    kith_particles particles;
    kith_array results;
};

static struct on_device to_device(const kith_particles *particles, kith_array results, bool gaps)
{
    struct on_device there = {.particles = *particles};
    there.particles.positions = gpu_array_of(particles->positions, gaps ? 2 : 1, gaps ? 3 : 0);
    for (int c = 0; c < 2; c++)
        there.particles.columns[c].values =
            gpu_array_of(particles->columns[c].values, 1, gaps ? 1 + c : 0);
    there.results = gpu_array_like(results, gaps ? 3 : 1, gaps ? 2 : 0);
    return there;
}

static void free_on_device(struct on_device *there)
{
    cudaFree(there->particles.positions.data);
    for (int c = 0; c < 2; c++)
        cudaFree(there->particles.columns[c].values.data);
    cudaFree(there->results.data);
}

static void test_arrays_on_the_device_have_the_bits_of_arrays_in_host_memory(void **state)
{
    (void)state;
    const int trials = test_is_quick() ? 4 : 12;
    for (int trial = 0; trial < trials; trial++) {
        const kith_dtype dtype = trial % 2 ? KITH_F32 : KITH_F64;
        const kith_cell cell = random_cell(3, 1);
        kith_sums_options options = {.cutoff = trial % 3 == 2 ? 0 : 0.2,
                                     .cell = trial % 3 ? NULL : &cell,
                                     .reduction = (kith_sums_reduction)(trial % 5)};
        set_formulas(&options);
        fill_cloud(&cloud_a, 1 + (int64_t)(900 * uniform()), 3, 1);
        const int64_t n = cloud_a.count;
        const kith_particles particles = particles_of(&cloud_a, dtype);
        const kith_array on_host = results_of(dtype, 0, n, outputs);
        struct on_device there = to_device(&particles, on_host, trial > 5);
        assert_ok(
            kith_sums_compute(gpu, &options, NULL, &particles, outputs, mixed_outputs, on_host));
        for (int run = 0; run < 3; run++) { /* and every run has them */
            const kith_array fetched = results_of(dtype, 1, n, outputs);
            const size_t bytes = (size_t)(n * outputs * kith_dtype_bytes(dtype));
            assert_ok(kith_sums_compute(gpu, &options, NULL, &there.particles, outputs,
                                        mixed_outputs, there.results));
            assert_ok(kith_context_synchronize(gpu));
            gpu_transfer(there.results, fetched, false);
            assert_memory_equal(fetched.data, on_host.data, bytes);
        }
        free_on_device(&there);
    }
}

static void test_a_list_on_the_device_is_summed_there(void **state)
{
    (void)state;
    kith_pairs *pairs = NULL;
    fill_cloud(&cloud_a, 700, 3, 1);
    const kith_particles particles = particles_of(&cloud_a, KITH_F64);
    const kith_array on_host = results_of(KITH_F64, 1, 700, outputs);
    const kith_pairs_options wanted = {.cutoff = 0.2, .quantities = KITH_PAIRS_J};
    kith_sums_options options = {.cutoff = 0.2};
    set_formulas(&options);
    struct on_device there = to_device(&particles, on_host, false);
    options.method = KITH_SUMS_REFERENCE;
    assert_ok(kith_sums_compute(cpu, &options, NULL, &particles, outputs, mixed_outputs, on_host));
    assert_fails(kith_sums_compute(gpu, &options, NULL, &there.particles, outputs, mixed_outputs,
                                   there.results),
                 KITH_UNSUPPORTED, "method reference");
    options.method = KITH_SUMS_AUTO;
    assert_ok(kith_pairs_compute(gpu, &wanted, there.particles.positions, NULL, &pairs));
    options.pairs = pairs;
    assert_ok(kith_sums_compute(gpu, &options, NULL, &there.particles, outputs, mixed_outputs,
                                there.results));
    assert_ok(kith_context_synchronize(gpu));
    gpu_transfer(there.results, results_of(KITH_F64, 0, 700, outputs), false);
    assert_near_results(KITH_F64, KITH_SUMS_SUM, 700);
    assert_fails(
        kith_sums_compute(gpu, &options, NULL, &particles, outputs, mixed_outputs, on_host),
        KITH_INVALID_ARGUMENT, "pairs.offsets");

    int64_t mistake = 700; /* is no source */
    assert_cuda(cudaMemcpy(pairs->j.data, &mistake, sizeof mistake, cudaMemcpyHostToDevice));
    assert_ok(kith_sums_compute(gpu, &options, NULL, &there.particles, outputs, mixed_outputs,
                                there.results));
    assert_fails(kith_context_synchronize(gpu), KITH_INVALID_ARGUMENT, "row 0 pairs.j 700");
    kith_pairs_free(pairs);
    free_on_device(&there);
}

/* Sums over three points, on the device if so. */
static kith_status fails_with(kith_sums_options options, const char *formula,
                              const kith_particles *of, bool on_device)
{
    const kith_named_formula wanted[] = {{"f", formula}};
    double out[3];
    const kith_array results = kith_array_matrix(out, KITH_F64, 3, 1);
    if (!on_device)
        return kith_sums_compute(gpu, &options, NULL, of, 1, wanted, results);
    kith_particles there = *of;
    there.positions = gpu_array_of(of->positions, 1, 0);
    there.columns[0].values = gpu_array_of(of->columns[0].values, 1, 0);
    const kith_array to = gpu_array_like(results, 1, 0);
    kith_status status = kith_sums_compute(gpu, &options, NULL, &there, 1, wanted, to);
    if (status == KITH_OK)
        status = kith_context_synchronize(gpu);
    cudaFree(there.positions.data);
    cudaFree(there.columns[0].values.data);
    cudaFree(to.data);
    return status;
}

static void test_invalid_numbers_are_told(void **state)
{
    (void)state;
    double x[3][3] = {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}}, h[3] = {1, (double)NAN, 1};
    const kith_particles three =
        *PARTICLES(kith_array_matrix(x, KITH_F64, 3, 3), {"h", kith_array_vector(h, KITH_F64, 3)});
    const kith_cell cell = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {true, true, true}};
    const kith_sums_options none = {0}, near = {.cutoff = 1.5};
    const kith_sums_options periodic = {.cutoff = 0.5, .cell = &cell};
    for (int on_device = 0; on_device < 2; on_device++) {
        x[2][1] = 0;
        assert_fails(fails_with(none, "h_j", &three, on_device), KITH_INVALID_ARGUMENT,
                     "row 1 sources.h nan");
        assert_fails(fails_with(near, "h_i", &three, on_device), KITH_INVALID_ARGUMENT,
                     "row 1 targets.h nan");
        assert_ok(fails_with(near, "r", &three, on_device)); /* h is not used */
        x[2][1] = (double)INFINITY;
        assert_fails(fails_with(near, "r", &three, on_device), KITH_INVALID_ARGUMENT,
                     "row 2 sources.positions inf");
        assert_fails(fails_with(none, "h_j", &three, on_device), KITH_INVALID_ARGUMENT,
                     "row 2 sources.positions inf");
        x[2][1] = 1e10;
        assert_fails(fails_with(periodic, "r", &three, on_device), KITH_INVALID_ARGUMENT,
                     "row 2 sources.positions");
    }
}

static int open_contexts(void **state)
{
    (void)state;
    numbers = random_numbers_begin("sums on a GPU");
    gpu = new_gpu_context(NULL);
    return kith_context_create(&(kith_context_options){.device = {KITH_CPU, 0}}, &cpu) == KITH_OK
               ? 0
               : -1;
}

static int close_contexts(void **state)
{
    (void)state;
    kith_context_free(gpu);
    kith_context_free(cpu);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums_on_a_gpu_are_the_reference_s_in_every_cell),
        cmocka_unit_test(test_sums_on_a_gpu_are_the_reference_s_over_all_pairs),
        cmocka_unit_test(test_few_targets_and_many_sources),
        cmocka_unit_test(test_points_in_few_cells_and_far_apart_have_all_their_pairs),
        cmocka_unit_test(test_many_points_have_the_sums_of_the_cpu),
        cmocka_unit_test(test_sums_over_a_list_are_those_over_its_pairs),
        cmocka_unit_test(test_points_of_many_dimensions),
        cmocka_unit_test(test_formulas_without_columns),
        cmocka_unit_test(test_arrays_on_the_device_have_the_bits_of_arrays_in_host_memory),
        cmocka_unit_test(test_a_list_on_the_device_is_summed_there),
        cmocka_unit_test(test_invalid_numbers_are_told),
    };
    if (gpu_is_absent("test_cuda_sums"))
        return exit_skipped;
    return cmocka_run_group_tests(tests, open_contexts, close_contexts);
}
