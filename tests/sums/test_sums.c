/* Sums of pair functions: the compiled kernels against the reference, and what the documentation
 * promises of both. */

#include "testing.h"

#include "random_numbers.h"

#include <math.h>

#define COUNT_OF(array) ((int64_t)(sizeof(array) / sizeof *(array)))

enum { most_points = 1200 };

static struct random_numbers numbers;

static double uniform(void)
{
    return random_uniform(&numbers, 0, 1);
}

/* Points with masses and a column h, in double and in float. */
struct cloud {
    int64_t count;
    int32_t dimensions;
    double x[3 * most_points], m[most_points], h[most_points];
    float x_narrow[3 * most_points], m_narrow[most_points], h_narrow[most_points];
};

static void fill_cloud(struct cloud *cloud, int64_t count, int32_t dimensions, double size)
{
    cloud->count = count;
    cloud->dimensions = dimensions;
    for (int64_t k = 0; k < count * dimensions; k++)
        cloud->x[k] = (double)(cloud->x_narrow[k] = (float)(size * (1.5 * uniform() - 0.25)));
    for (int64_t k = 0; k < count; k++) {
        cloud->m[k] = (double)(cloud->m_narrow[k] = (float)(0.5 + uniform()));
        cloud->h[k] = (double)(cloud->h_narrow[k] = (float)(0.5 + uniform()));
    }
    if (count > 5) /* two at one place */
        for (int32_t c = 0; c < dimensions; c++)
            cloud->x[4 * dimensions + c] =
                (double)(cloud->x_narrow[4 * dimensions + c] = cloud->x_narrow[dimensions + c]);
}

static kith_particles particles_of(struct cloud *cloud, kith_dtype dtype)
{
    const bool narrow = dtype == KITH_F32;
    void *const x = narrow ? (void *)cloud->x_narrow : cloud->x;
    void *const m = narrow ? (void *)cloud->m_narrow : cloud->m;
    void *const h = narrow ? (void *)cloud->h_narrow : cloud->h;
    return (kith_particles){.positions =
                                kith_array_matrix(x, dtype, cloud->count, cloud->dimensions),
                            .columns = {{"h", kith_array_vector(h, dtype, cloud->count)},
                                        {"m", kith_array_vector(m, dtype, cloud->count)}}};
}

static struct cloud cloud_a, cloud_b;
static double wide[2][4 * most_points];
static float narrow[2][4 * most_points];
static kith_context *context;

static const kith_named_formula mixed_outputs[] = {
    {"rho", "m_j * W"},
    {"shear", "dx * (h_i - h_j) * W"},
    {"repulsion", "4 * (pow(s / r, 12) + pow(s / r, 6))"},
    {"near", "r < 0.2"},
};
static const kith_named_formula mixed_lets[] = {{"hh", "(h_i + h_j) / 2"},
                                                {"W", "exp(-r2 / (hh * hh)) / (hh * hh)"}};

/* The same names without functions that take long: sums of these in planes have another kernel. */
static const kith_named_formula plain_lets[] = {{"hh", "(h_i + h_j) / 2"},
                                                {"W", "fmax(2 - r / hh, 0.5) / (hh * hh)"}};
static const kith_law_parameter sigma[] = {{"s", 0.15}};

static double value_of(kith_dtype dtype, int which, int64_t k)
{
    return dtype == KITH_F32 ? (double)narrow[which][k] : wide[which][k];
}

static kith_array results_of(kith_dtype dtype, int which, int64_t rows, int64_t columns)
{
    void *const memory = dtype == KITH_F32 ? (void *)narrow[which] : wide[which];
    return kith_array_matrix(memory, dtype, rows, columns);
}

/* Computes with the kernels and with the reference, and compares. */
static void compare(kith_sums_options options, kith_dtype dtype, bool two_sets)
{
    kith_particles targets = particles_of(&cloud_a, dtype);
    kith_particles sources = particles_of(two_sets ? &cloud_b : &cloud_a, dtype);
    const int64_t n = cloud_a.count, outputs = COUNT_OF(mixed_outputs);
    int64_t pairs[2] = {-1, -1};
    options.let_count = COUNT_OF(mixed_lets);
    options.lets = options.lets ? options.lets : mixed_lets;
    options.parameter_count = 1;
    options.parameters = sigma;
    for (int which = 0; which < 2; which++) {
        options.method = which ? KITH_SUMS_REFERENCE : KITH_SUMS_AUTO;
        options.pair_count = &pairs[which];
        assert_ok(kith_sums_compute(context, &options, two_sets ? &targets : NULL, &sources,
                                    outputs, mixed_outputs, results_of(dtype, which, n, outputs)));
    }
    assert_int_equal(pairs[0], pairs[1]);
    double shear = 0.1; /* its terms have both signs and are about 1 */
    for (int64_t k = 0; k < n * outputs; k++)
        if (k % outputs == 1 && isfinite(value_of(dtype, 1, k)))
            shear = fmax(shear, fabs(value_of(dtype, 1, k)));
    for (int64_t k = 0; k < n * outputs; k++) {
        const double made = value_of(dtype, 0, k), expected = value_of(dtype, 1, k);
        const double bound =
            (dtype == KITH_F32 ? 3e-5 : 1e-12) * (fabs(expected) + (k % outputs == 1 ? shear : 0));
        if (made != expected && !(fabs(made - expected) <= bound))
            fail_msg("row %d output %d: %.17g, and the reference has %.17g", (int)(k / outputs),
                     (int)(k % outputs), made, expected);
    }
}

static kith_cell random_cell(int32_t dimensions, double size)
{
    kith_cell cell = {{{0}}, {false}};
    for (int k = 0; k < dimensions; k++) {
        for (int c = 0; c < dimensions; c++)
            cell.vectors[k][c] = size * (0.6 * (uniform() - 0.5) + (k == c ? 1 : 0));
        cell.periodic[k] = uniform() < 0.7;
    }
    return cell;
}

static void test_kernels_agree_with_the_reference_in_every_cell(void **state)
{
    (void)state;
    static const int64_t counts[] = {0, 1, 2, 7, 31, 64, 200, 333};
    static const double cutoffs[] = {0.07, 0.3, 0.9, 2.6};
    for (int trial = 0; trial < 60; trial++) {
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
        compare(options, (reduction + dimensions) % 2 ? KITH_F64 : KITH_F32, trial % 7 == 0);
    }
}

static void test_kernels_agree_with_the_reference_over_all_pairs(void **state)
{
    (void)state;
    for (int reduction = 0; reduction < 5; reduction++)
        for (int trial = 0; trial < 4; trial++) {
            const int dimensions = 2 + reduction % 2;
            fill_cloud(&cloud_a, trial == 3 ? 1100 : 3 + (int64_t)(90 * uniform()), dimensions, 1);
            fill_cloud(&cloud_b, 1 + (int64_t)(90 * uniform()), dimensions, 1);
            compare((kith_sums_options){.reduction = (kith_sums_reduction)reduction,
                                        .include_self = trial == 2},
                    trial == 1 ? KITH_F32 : KITH_F64, trial == 0);
        }
}

static void test_points_in_few_cells_and_far_apart_have_all_their_pairs(void **state)
{
    (void)state;
    fill_cloud(&cloud_a, 1100, 3, 0.01); /* more than one block of candidates, in one cell */
    compare((kith_sums_options){.cutoff = 0.004}, KITH_F64, false);
    fill_cloud(&cloud_a, 300, 3, 1);
    for (int64_t k = 0; k < 300; k++) /* groups whose cells share buckets */
        for (int c = 0; c < 3; c++)
            cloud_a.x[3 * k + c] += (double)(k % 10) * 7919 * (c + 1);
    compare((kith_sums_options){.cutoff = 0.3}, KITH_F64, false);
}

static void test_planes_in_single_precision_agree_with_the_reference(void **state)
{
    (void)state;
    static const int64_t counts[] = {0, 1, 2, 17, 64, 333};
    static const double cutoffs[] = {0.05, 0.2, 0.9, 2.6};
    for (int trial = 0; trial < 48; trial++) {
        const double cutoff = cutoffs[trial % COUNT_OF(cutoffs)];
        const int64_t count = counts[trial * 5 % COUNT_OF(counts)];
        fill_cloud(&cloud_a, cutoff > 1 && count > 31 ? 31 : count, 2, 1);
        fill_cloud(&cloud_b, cloud_a.count + 5, 2, 1);
        const kith_cell cell = random_cell(2, 1);
        compare((kith_sums_options){.cutoff = cutoff,
                                    .cell = trial % 5 == 0 ? NULL : &cell,
                                    .lets = plain_lets,
                                    .reduction = (kith_sums_reduction)(trial % 5),
                                    .include_self = trial % 3 == 1 && trial % 7 != 0},
                KITH_F32, trial % 7 == 0);
    }
    fill_cloud(&cloud_a, 1150, 2, 0.01); /* more than one block of candidates, in one cell */
    compare((kith_sums_options){.cutoff = 0.003, .lets = plain_lets}, KITH_F32, false);
    fill_cloud(&cloud_a, 300, 2, 0.5);
    for (int64_t k = 0; k < 300; k++) /* groups whose cells share buckets */
        for (int c = 0; c < 2; c++)
            cloud_a.x_narrow[2 * k + c] += (float)(k % 10) * 61 * (float)(c + 1);
    compare((kith_sums_options){.cutoff = 0.3, .lets = plain_lets}, KITH_F32, false);
}

static kith_pairs *list_pairs(kith_dtype dtype, const kith_cell *cell, double cutoff, bool two_sets,
                              bool narrow_list)
{
    kith_pairs *pairs = NULL;
    const kith_particles targets = particles_of(&cloud_a, dtype);
    const kith_particles sources = particles_of(two_sets ? &cloud_b : &cloud_a, dtype);
    const kith_pairs_options options = {.cutoff = cutoff,
                                        .quantities = KITH_PAIRS_J | KITH_PAIRS_SHIFTS,
                                        .narrow = narrow_list,
                                        .queries =
                                            two_sets ? targets.positions : kith_array_none()};
    assert_ok(kith_pairs_compute(context, &options, sources.positions, cell, &pairs));
    return pairs;
}

static void test_sums_over_a_list_are_those_over_its_pairs(void **state)
{
    (void)state;
    for (int trial = 0; trial < 24; trial++) {
        const kith_dtype dtype = trial % 2 ? KITH_F32 : KITH_F64;
        const int dimensions = 2 + trial % 3 % 2;
        const bool two_sets = trial % 4 == 3, is_open = trial % 5 == 2;
        fill_cloud(&cloud_a, trial < 3 ? trial : 150, dimensions, 1);
        fill_cloud(&cloud_b, 90, dimensions, 1);
        const kith_cell cell = random_cell(dimensions, 1);
        kith_pairs *pairs = list_pairs(dtype, is_open ? NULL : &cell, 0.4, two_sets, trial % 7 < 3);
        int64_t count = 0;
        kith_sums_options options = {.cell = is_open ? NULL : &cell,
                                     .reduction = (kith_sums_reduction)(trial % 5),
                                     .include_self = !two_sets && trial % 3 == 1,
                                     .pairs = pairs};
        compare(options, dtype, two_sets); /* the kernel and the reference */
        options.pair_count = &count;
        const kith_particles of = particles_of(two_sets ? &cloud_b : &cloud_a, dtype);
        const kith_particles at = particles_of(&cloud_a, dtype);
        assert_ok(kith_sums_compute(context, &options, &at, &of, 1,
                                    (kith_named_formula[]){{"n", "1"}},
                                    results_of(dtype, 0, cloud_a.count, 1)));
        assert_int_equal(count, pairs->count + (options.include_self ? cloud_a.count : 0));
        options.cutoff = 0.25; /* shorter than the list's */
        compare(options, dtype, two_sets);
        kith_pairs_free(pairs);
    }
}

static void test_a_list_is_evaluated_at_the_positions_of_now(void **state)
{
    (void)state;
    double x[2][2] = {{0.5, 0}, {5.5, 0}}, out[2];
    const kith_cell cell = {{{6, 0, 0}, {0, 50, 0}}, {true, false}};
    const kith_array positions = kith_array_matrix(x, KITH_F64, 2, 2);
    const kith_pairs_options wanted = {.cutoff = 2, .quantities = KITH_PAIRS_J | KITH_PAIRS_SHIFTS};
    kith_pairs *pairs = NULL;
    assert_ok(kith_pairs_compute(context, &wanted, positions, &cell, &pairs));
    x[0][0] = -0.5; /* out of the cell, and the list does not know */
    kith_sums_options options = {.cell = &cell, .pairs = pairs};
    const kith_named_formula outputs[] = {{"f", "dx"}};
    const kith_array to = kith_array_matrix(out, KITH_F64, 2, 1);
    assert_ok(kith_sums_compute(context, &options, NULL, POINTS(positions), 1, outputs, to));
    assert_true(out[0] == 0 && out[1] == 0);
    x[1][0] = 5.25;
    assert_ok(kith_sums_compute(context, &options, NULL, POINTS(positions), 1, outputs, to));
    assert_true(out[0] == -0.25 && out[1] == 0.25);

    int64_t j[2] = {1, 2}, offsets[3] = {0, 1, 2};
    int32_t shifts[4] = {0};
    kith_pairs own = {.row_count = 2, .count = 2};
    options.pairs = &own;
    const struct {
        kith_array j, shifts;
        const char *words;
    } mistakes[] = {
        {kith_array_none(), kith_array_none(), "KITH_PAIRS_J"},
        {kith_array_vector(j, KITH_I64, 2), kith_array_none(), "KITH_PAIRS_SHIFTS"},
        {kith_array_vector(j, KITH_I64, 1), kith_array_none(), "pairs.j 2"},
        {kith_array_vector(j, KITH_F64, 2), kith_array_none(), "pairs.j float64"},
        {kith_array_vector(j, KITH_I64, 2), kith_array_matrix(shifts, KITH_I32, 2, 2),
         "pairs.j[1] 2 0 1"},
    };
    own.offsets = kith_array_vector(offsets, KITH_I64, 3);
    for (int k = 0; k < COUNT_OF(mistakes); k++) {
        own.j = mistakes[k].j;
        own.shifts = mistakes[k].shifts;
        assert_fails(kith_sums_compute(context, &options, NULL, POINTS(positions), 1, outputs, to),
                     KITH_INVALID_ARGUMENT, mistakes[k].words);
    }
    offsets[1] = 3;
    assert_fails(kith_sums_compute(context, &options, NULL, POINTS(positions), 1, outputs, to),
                 KITH_INVALID_ARGUMENT, "pairs.offsets 0 2");
    kith_pairs_free(pairs);
}

/* Sums of columns, with all lengths times a power of two. */
static void sum_in_unit(kith_dtype dtype, kith_cell cell, int exponent, int which)
{
    static const kith_named_formula outputs[] = {{"n", "1"}, {"h", "h_j"}};
    static struct cloud scaled;
    scaled = cloud_a;
    for (int64_t i = 0; i < 3 * scaled.count; i++) {
        scaled.x[i] = ldexp(scaled.x[i], exponent);
        scaled.x_narrow[i] = ldexpf(scaled.x_narrow[i], exponent);
    }
    for (int k = 0; k < 9; k++)
        cell.vectors[k / 3][k % 3] = ldexp(cell.vectors[k / 3][k % 3], exponent);
    const kith_sums_options options = {.cutoff = ldexp(0.25, exponent), .cell = &cell};
    const kith_particles particles = particles_of(&scaled, dtype);
    assert_ok(kith_sums_compute(context, &options, NULL, &particles, 2, outputs,
                                results_of(dtype, which, scaled.count, 2)));
}

static void test_pairs_do_not_depend_on_the_unit_of_length(void **state)
{
    (void)state;
    for (int trial = 0; trial < 6; trial++) {
        const kith_dtype dtype = trial % 2 ? KITH_F32 : KITH_F64;
        const int most = dtype == KITH_F32 ? 45 : 490;
        fill_cloud(&cloud_a, 700, 3, 1);
        kith_cell cell = random_cell(3, 1);
        for (int k = 0; k < 3; k++)
            cell.periodic[k] = trial < 4;
        sum_in_unit(dtype, cell, 0, 0);
        for (int sign = -1; sign <= 1; sign += 2) {
            sum_in_unit(dtype, cell, sign * most, 1);
            for (int64_t k = 0; k < 1400; k++)
                assert_true(value_of(dtype, 0, k) == value_of(dtype, 1, k));
        }
    }
}

static void test_two_particles_by_hand(void **state)
{
    (void)state;
    double x[2][2] = {{0, 0}, {3, 4}}, c[2] = {2, 5}, out[2][2];
    const kith_named_formula outputs[] = {{"a", "c_j * r + c_i"}, {"b", "dx - dy + dz"}};
    const kith_particles two =
        *PARTICLES(kith_array_matrix(x, KITH_F64, 2, 2), {"c", kith_array_vector(c, KITH_F64, 2)});
    const kith_array to = kith_array_matrix(out, KITH_F64, 2, 2);
    assert_ok(kith_sums_compute(context, NULL, NULL, &two, 2, outputs, to));
    assert_true(out[0][0] == 27 && out[1][0] == 15 && out[0][1] == -1 && out[1][1] == 1);
    const kith_cell cell = {{{6, 0, 0}, {0, 50, 0}},
                            {true, false}}; /* an image at distance 5 too */
    const kith_sums_options near = {.cutoff = 5.5, .cell = &cell};
    assert_ok(kith_sums_compute(context, &near, NULL, &two, 2, outputs, to));
    assert_true(out[0][0] == 54 && out[1][0] == 30 && out[0][1] == -8 && out[1][1] == 8);
    const kith_sums_options self = {.cutoff = 6.5, .cell = &cell}; /* and images of itself at 6 */
    assert_ok(kith_sums_compute(context, &self, NULL, &two, 2, outputs, to));
    assert_true(out[0][0] == 54 + 2 * (2 * 6 + 2) && out[1][0] == 30 + 2 * (5 * 6 + 5));
}

static void test_reductions_without_neighbors_are_neutral(void **state)
{
    (void)state;
    static const double expected[] = {0, (double)INFINITY, -(double)INFINITY, 0, -(double)INFINITY};
    double x[2][3] = {{0, 0, 0}, {9, 0, 0}}, out[2] = {7, 7};
    for (int reduction = 0; reduction < 5; reduction++)
        for (int method = 0; method < 2; method++)
            for (int64_t count = 1; count <= 2; count++) {
                const kith_sums_options options = {.cutoff = 1,
                                                   .reduction = (kith_sums_reduction)reduction,
                                                   .method = (kith_sums_method)method};
                assert_ok(kith_sums_compute(context, &options, NULL,
                                            POINTS(kith_array_matrix(x, KITH_F64, count, 3)), 1,
                                            (kith_named_formula[]){{"f", "1 + r"}},
                                            kith_array_matrix(out, KITH_F64, count, 1)));
                for (int64_t k = 0; k < count; k++)
                    assert_true(out[k] == expected[reduction]);
            }
}

static void test_logsumexp_does_not_overflow(void **state)
{
    (void)state;
    double x[3][2] = {{0, 0}, {1, 0}, {2, 0}}, out[3];
    const kith_sums_options options = {.reduction = KITH_SUMS_LOGSUMEXP};
    assert_ok(kith_sums_compute(
        context, &options, NULL, POINTS(kith_array_matrix(x, KITH_F64, 3, 2)), 1,
        (kith_named_formula[]){{"f", "5000 * r"}}, kith_array_matrix(out, KITH_F64, 3, 1)));
    assert_true(out[0] == 10000 && fabs(out[1] - (5000 + log(2))) < 1e-12 * 5000);
}

static void test_nan_of_a_pair_is_the_result(void **state)
{
    (void)state;
    double x[3][2] = {{0, 0}, {1, 0}, {3, 0}}, out[3];
    for (int reduction = 0; reduction < 5; reduction++) {
        const kith_sums_options options = {.reduction = (kith_sums_reduction)reduction};
        assert_ok(kith_sums_compute(context, &options, NULL,
                                    POINTS(kith_array_matrix(x, KITH_F64, 3, 2)), 1,
                                    (kith_named_formula[]){{"f", "sqrt(1.5 - r)"}},
                                    kith_array_matrix(out, KITH_F64, 3, 1)));
        if (reduction == KITH_SUMS_COUNT)
            assert_true(out[0] == 2 && out[2] == 2);
        else
            assert_true(isnan(out[0]) && isnan(out[1]) && isnan(out[2]));
    }
}

static void test_the_bits_do_not_depend_on_the_threads(void **state)
{
    (void)state;
    for (int turn = 0; turn < 3; turn++) {
        const int32_t dimensions = turn == 2 ? 2 : 3;
        const kith_dtype dtype = turn == 2 ? KITH_F32 : KITH_F64;
        fill_cloud(&cloud_a, 1200, dimensions, 1);
        const kith_particles particles = particles_of(&cloud_a, dtype);
        const kith_cell cell = random_cell(dimensions, 1);
        for (int threads = 1; threads <= 7; threads += 2) {
            kith_context *other = NULL;
            const int which = threads > 1;
            const kith_context_options with = {.device = {KITH_CPU, 0}, .threads = threads};
            const kith_sums_options options = {.cutoff = turn == 1 ? 0 : 0.2,
                                               .cell = turn == 1 ? NULL : &cell,
                                               .let_count = COUNT_OF(mixed_lets),
                                               .lets = turn == 2 ? plain_lets : mixed_lets,
                                               .parameter_count = 1,
                                               .parameters = sigma};
            assert_ok(kith_context_create(&with, &other));
            assert_ok(kith_sums_compute(other, &options, NULL, &particles, 4, mixed_outputs,
                                        results_of(dtype, which, 1200, 4)));
            kith_context_free(other);
            if (which)
                assert_memory_equal(turn == 2 ? (void *)narrow[0] : wide[0],
                                    turn == 2 ? (void *)narrow[1] : wide[1],
                                    1200 * 4 * (size_t)kith_dtype_bytes(dtype));
        }
    }
}

/* One call with a mistake. */
static kith_status fails_with(kith_sums_options options, const char *formula, kith_particles *of)
{
    double out[3];
    return kith_sums_compute(context, &options, NULL, of, 1, (kith_named_formula[]){{"f", formula}},
                             kith_array_matrix(out, KITH_F64, 3, 1));
}

static void test_mistakes_are_told_in_one_sentence(void **state)
{
    (void)state;
    double x[3][3] = {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}}, h[3] = {1, (double)NAN, 1};
    kith_particles three =
        *PARTICLES(kith_array_matrix(x, KITH_F64, 3, 3), {"h", kith_array_vector(h, KITH_F64, 3)});
    const kith_cell cell = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {true, true, true}};
    const kith_cell flat = {{{1, 0, 0}, {1, 0, 0}, {0, 0, 1}}, {true, true, true}};
    const kith_sums_options none = {0}, near = {.cutoff = 1};
    assert_fails(fails_with((kith_sums_options){.cutoff = -1}, "r", &three), KITH_INVALID_ARGUMENT,
                 "cutoff -1");
    assert_fails(fails_with((kith_sums_options){.cell = &cell}, "r", &three), KITH_INVALID_ARGUMENT,
                 "cutoff 0");
    assert_fails(fails_with((kith_sums_options){.cutoff = 1, .cell = &flat}, "r", &three),
                 KITH_INVALID_ARGUMENT, "dependent");
    assert_fails(fails_with((kith_sums_options){.cutoff = 1e-300}, "r", &three),
                 KITH_INVALID_ARGUMENT, "float64");
    assert_fails(fails_with(none, "w_j", &three), KITH_INVALID_ARGUMENT, "character 1 'w_j'");
    assert_fails(fails_with(none, "w_j", &three), KITH_INVALID_ARGUMENT, "columns h");
    assert_fails(fails_with(none, "2 * (r", &three), KITH_INVALID_ARGUMENT, "missing");
    assert_fails(fails_with(none, "h_j", &three), KITH_INVALID_ARGUMENT, "row 1 sources.h nan");
    assert_fails(fails_with(near, "h_i", &three), KITH_INVALID_ARGUMENT, "row 1 targets.h nan");
    assert_ok(fails_with(none, "m_i + q_j", &three)); /* h is not used */
    kith_sums_options let = {.let_count = 1};
    let.lets = (kith_named_formula[]){{"h_i", "1"}};
    assert_fails(fails_with(let, "r", &three), KITH_INVALID_ARGUMENT, "'h_i'");
    let.lets = (kith_named_formula[]){{"W", "r +"}};
    assert_fails(fails_with(let, "r", &three), KITH_INVALID_ARGUMENT, "let W: formula");
    kith_sums_options with = {.parameter_count = 1};
    with.parameters = (kith_law_parameter[]){{"a", (double)NAN}};
    assert_fails(fails_with(with, "a", &three), KITH_INVALID_ARGUMENT, "a nan");
    x[2][1] = (double)INFINITY;
    assert_fails(fails_with(near, "r", &three), KITH_INVALID_ARGUMENT,
                 "row 2 sources.positions inf");
    x[2][1] = 0;
    double out[4];
    const kith_named_formula twice[] = {{"f", "r"}, {"f", "r2"}};
    assert_fails(kith_sums_compute(context, NULL, NULL, &three, 2, twice,
                                   kith_array_matrix(out, KITH_F64, 3, 2)),
                 KITH_INVALID_ARGUMENT, "f");
    assert_fails(kith_sums_compute(context, NULL, NULL, &three, 0, twice,
                                   kith_array_matrix(out, KITH_F64, 3, 1)),
                 KITH_INVALID_ARGUMENT, "output_count 0");
    assert_fails(kith_sums_compute(context, NULL, NULL, &three, 1, twice,
                                   kith_array_matrix(out, KITH_F64, 2, 1)),
                 KITH_INVALID_ARGUMENT, "results");
    kith_particles targets = *POINTS(kith_array_matrix(out, KITH_F64, 1, 3));
    out[0] = out[1] = out[2] = 0;
    assert_fails(kith_sums_compute(context, NULL, &targets, &three, 1,
                                   (kith_named_formula[]){{"f", "h_i"}},
                                   kith_array_matrix(out + 3, KITH_F64, 1, 1)),
                 KITH_INVALID_ARGUMENT, "targets formula h_i");
}

static int open_context(void **state)
{
    (void)state;
    numbers = random_numbers_begin("sums");
    return kith_context_create(&(kith_context_options){.device = {KITH_CPU, 0}}, &context) ==
                   KITH_OK
               ? 0
               : -1;
}

static int close_context(void **state)
{
    (void)state;
    kith_context_free(context);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kernels_agree_with_the_reference_in_every_cell),
        cmocka_unit_test(test_kernels_agree_with_the_reference_over_all_pairs),
        cmocka_unit_test(test_planes_in_single_precision_agree_with_the_reference),
        cmocka_unit_test(test_points_in_few_cells_and_far_apart_have_all_their_pairs),
        cmocka_unit_test(test_sums_over_a_list_are_those_over_its_pairs),
        cmocka_unit_test(test_a_list_is_evaluated_at_the_positions_of_now),
        cmocka_unit_test(test_pairs_do_not_depend_on_the_unit_of_length),
        cmocka_unit_test(test_two_particles_by_hand),
        cmocka_unit_test(test_reductions_without_neighbors_are_neutral),
        cmocka_unit_test(test_logsumexp_does_not_overflow),
        cmocka_unit_test(test_nan_of_a_pair_is_the_result),
        cmocka_unit_test(test_the_bits_do_not_depend_on_the_threads),
        cmocka_unit_test(test_mistakes_are_told_in_one_sentence),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
