/* Pairs that are left out of sums within a cutoff, at their nearest images. */

#include "testing.h"

#include "kith/law_sum.h"
#include "random_numbers.h"

#include <math.h>
#include <stdlib.h>

enum { most = 700, most_pairs = 2 * most };

static struct random_numbers numbers;
static kith_context *context;

/* Particles, some of which are so close to others that their forces would cost all digits. */
static struct {
    int64_t n, pairs;
    int d;
    double x[3 * most];
    int64_t excluded[most_pairs][2];
    kith_cell cell;
    kith_forces_options options;
} now;

static struct sums {
    double force[3 * most], value[most];
    kith_forces_totals totals;
} expected, found;

static double uniform(double low, double high)
{
    return random_uniform(&numbers, low, high);
}

static void exclude(int64_t i, int64_t j)
{
    now.excluded[now.pairs][0] = i;
    now.excluded[now.pairs++][1] = j;
}

/* Every other particle is bonded to that before, perhaps by another image; others at random. */
static void fill(int64_t n, int d, double edge, kith_dtype dtype)
{
    now.n = n;
    now.d = d;
    now.pairs = 0;
    now.cell = (kith_cell){0};
    for (int k = 0; k < d; k++) {
        for (int c = 0; c < d; c++)
            now.cell.vectors[k][c] = edge * (k == c ? 1 : uniform(-0.2, 0.2));
        now.cell.periodic[k] = uniform(0, 1) < 0.8;
    }
    for (int64_t i = 0; i < n; i++) {
        const bool is_bonded = i % 2 == 1;
        for (int c = 0; c < d; c++)
            now.x[i * d + c] = is_bonded ? now.x[(i - 1) * d + c] + uniform(-0.02, 0.02)
                                         : uniform(-0.5, 1.5) * edge;
        for (int k = 0; k < d && is_bonded; k++)
            for (int c = 0; c < d && now.cell.periodic[k]; c++)
                now.x[i * d + c] += floor(uniform(-1, 2)) * now.cell.vectors[k][c];
        if (is_bonded)
            exclude(i, i - 1);
    }
    for (int64_t k = 0; k < n / 4; k++) {
        const int64_t i = (int64_t)uniform(0, (double)n), j = (int64_t)uniform(0, (double)n);
        if (i != j)
            exclude(i, j); /* some of them twice */
    }
    for (int64_t k = 0; k < n * d && dtype == KITH_F32; k++)
        now.x[k] = (double)(float)now.x[k];
}

static bool is_excluded(int64_t i, int64_t j)
{
    for (int64_t k = 0; k < now.pairs; k++)
        if ((now.excluded[k][0] == i && now.excluded[k][1] == j) ||
            (now.excluded[k][0] == j && now.excluded[k][1] == i))
            return true;
    return false;
}

static double size2(const double d[3])
{
    return d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
}

static void add(const kith_law *law, int64_t i, const double d[3])
{
    const kith_law_pair pair = {.d = {d[0], d[1], d[2]}, .mass_i = 1, .mass_j = 1};
    const double cutoff = now.options.cutoff;
    if (!(size2(d) < cutoff * cutoff))
        return;
    const kith_law_pair last = {.d = {cutoff, 0, 0}, .mass_i = 1, .mass_j = 1};
    double value, force[3], there;
    assert_ok(kith_law_evaluate(law, &pair, &value, force));
    assert_ok(kith_law_evaluate(law, &last, &there, NULL));
    value -= now.options.shift == KITH_SHIFT_ENERGY ? there : 0;
    expected.value[i] += value;
    expected.totals.energy += value / 2;
    for (int c = 0; c < now.d; c++)
        expected.force[i * now.d + c] += force[c];
    for (int k = 0; k < 9; k++)
        expected.totals.virial[k] -= d[k / 3] * force[k % 3] / 2;
}

/* All images of a pair but the nearest, if it is excluded. */
static void add_images(const kith_law *law, int64_t i, int64_t j, bool all)
{
    enum { far = 6 };
    double nearest[3] = {INFINITY, 0, 0};
    for (int turn = all ? 1 : 0; turn < 2; turn++)
        for (int a = -far; a <= far; a++)
            for (int b = -far; b <= far; b++)
                for (int c = -far; c <= far; c++) {
                    const int image[3] = {a, b, c};
                    double d[3] = {0};
                    bool is_there = !(i == j && !a && !b && !c);
                    for (int k = 0; k < 3; k++) {
                        is_there = is_there && (image[k] == 0 || now.cell.periodic[k]);
                        for (int axis = 0; axis < now.d; axis++)
                            d[axis] += image[k] * now.cell.vectors[k][axis];
                    }
                    for (int axis = 0; axis < now.d; axis++)
                        d[axis] += now.x[j * now.d + axis] - now.x[i * now.d + axis];
                    if (is_there && turn == 0 && size2(d) < size2(nearest))
                        memcpy(nearest, d, sizeof d);
                    if (is_there && turn == 1 && (all || memcmp(nearest, d, sizeof nearest) != 0))
                        add(law, i, d);
                }
}

static void expect(const kith_law *law)
{
    memset(&expected, 0, sizeof expected);
    for (int64_t i = 0; i < now.n; i++)
        for (int64_t j = 0; j < now.n; j++)
            add_images(law, i, j, !is_excluded(i, j));
}

static kith_status compute(const char *solver, kith_dtype dtype)
{
    static float x[3 * most], force[3 * most], value[most];
    assert_ok(kith_solver_find(solver, &now.options.solver));
    now.options.cell = &now.cell;
    now.options.totals = &found.totals;
    now.options.exclusions = kith_array_matrix(now.excluded, KITH_I64, now.pairs, 2);
    const bool narrow = dtype == KITH_F32;
    for (int64_t k = 0; k < now.n * now.d; k++)
        x[k] = (float)now.x[k];
    const kith_particles all = {
        .positions = kith_array_matrix(narrow ? (void *)x : now.x, dtype, now.n, now.d)};
    const kith_status status = kith_forces_compute(
        context, &now.options, NULL, &all,
        kith_array_matrix(narrow ? (void *)force : found.force, dtype, now.n, now.d),
        kith_array_vector(narrow ? (void *)value : found.value, dtype, now.n));
    for (int64_t k = 0; k < now.n * now.d && narrow; k++)
        found.force[k] = (double)force[k];
    for (int64_t k = 0; k < now.n && narrow; k++)
        found.value[k] = (double)value[k];
    return status;
}

static void check(double tolerance)
{
    double size = 1;
    for (int64_t k = 0; k < now.n * now.d; k++)
        size = fmax(size, fabs(expected.force[k]));
    for (int64_t k = 0; k < now.n * now.d; k++)
        assert_true(fabs(found.force[k] - expected.force[k]) < tolerance * size);
    for (int64_t k = 0; k < now.n; k++)
        assert_true(fabs(found.value[k] - expected.value[k]) < tolerance * size);
    assert_true(fabs(found.totals.energy - expected.totals.energy) <
                tolerance * size * (double)now.n);
    for (int k = 0; k < 9; k++)
        assert_true(fabs(found.totals.virial[k] - expected.totals.virial[k]) <
                    tolerance * size * (double)now.n);
}

/* A bounded law, whose other pairs are of one size. Gaps of the excluded ones are 0.02. */
static void test_sums_leave_excluded_pairs_out(void **state)
{
    (void)state;
    static const struct {
        int64_t n;
        double edge, cutoff;
    } sizes[] = {{2, 1, 2.5}, {9, 1.5, 2}, {40, 2, 0.9}, {300, 4, 0.9}, {700, 5, 0.7}};
    kith_law *law = NULL;
    assert_ok(kith_law_parse("gaussian:0.5", 0, NULL, &law));
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
        for (int k = 0; k < (sizes[s].n < 100 ? 12 : 2); k++) {
            const kith_dtype dtype = k % 4 == 3 ? KITH_F32 : KITH_F64;
            fill(sizes[s].n, k % 3 == 1 ? 2 : 3, sizes[s].edge, dtype);
            now.options = (kith_forces_options){
                .law = law, .cutoff = sizes[s].cutoff, .shift = k % 2 ? KITH_SHIFT_ENERGY : 0};
            expect(law);
            assert_ok(compute("cutoff", dtype));
            check(dtype == KITH_F32 ? 1e-4 : 1e-11);
            if (dtype == KITH_F64) {
                assert_ok(compute("reference", dtype));
                check(1e-11);
            }
        }
    kith_law_free(law);
}

/* Bonds of a hundredth: the forces of those pairs would be 1e26 and leave nothing of the others. */
static void test_close_bonded_pairs_cost_no_digits(void **state)
{
    (void)state;
    kith_law *law = NULL;
    assert_ok(kith_law_parse("lennard-jones", 0, NULL, &law));
    fill(64, 3, 8, KITH_F64);
    for (int64_t i = 0; i < 64; i++)
        for (int c = 0; c < 3; c++)
            now.x[3 * i + c] = 2 * (double)(i / 2 >> (c == 0   ? 0
                                                      : c == 1 ? 2
                                                               : 4) &
                                            3) +
                               (c == 0 && i % 2 ? 0.01 : uniform(-0.001, 0.001));
    now.cell = (kith_cell){{{8, 0, 0}, {0, 8, 0}, {0, 0, 8}}, {true, true, true}};
    now.pairs = 32;
    now.options = (kith_forces_options){.law = law, .cutoff = 2.5};
    expect(law);
    assert_ok(compute("cutoff", KITH_F64));
    check(1e-13);
    kith_law_free(law);
}

/* With coulomb and a second law the pair is left out of both. */
static void test_two_laws_leave_the_same_pairs_out(void **state)
{
    (void)state;
    kith_law *coulomb = NULL, *near = NULL, *both = NULL, *beside = NULL;
    static struct sums parts[2];
    assert_ok(kith_law_parse("coulomb", 0, NULL, &coulomb));
    assert_ok(kith_law_parse("gaussian:0.5", 0, NULL, &near));
    assert_ok(kith_law_parse("coulomb", 0, NULL, &both));
    assert_ok(kith_law_parse("gaussian:0.5", 0, NULL, &beside));
    assert_ok(kith_law_add(both, beside));
    fill(30, 3, 3, KITH_F64);
    for (int k = 0; k < 3; k++)
        now.cell.periodic[k] = true;
    now.options = (kith_forces_options){.law = near, .cutoff = 1};
    assert_ok(compute("cutoff", KITH_F64));
    parts[0] = found;
    now.options = (kith_forces_options){.law = coulomb};
    assert_ok(compute("ewald", KITH_F64));
    parts[1] = found;
    now.options = (kith_forces_options){.law = both, .cutoff = 1};
    assert_ok(compute("ewald", KITH_F64));
    expected = parts[0];
    for (int k = 0; k < 90; k++)
        expected.force[k] += parts[1].force[k];
    for (int k = 0; k < 30; k++)
        expected.value[k] += parts[1].value[k];
    expected.totals.energy += parts[1].totals.energy;
    for (int k = 0; k < 9; k++)
        expected.totals.virial[k] += parts[1].totals.virial[k];
    check(1e-10);
    kith_law_free(both);
    kith_law_free(near);
    kith_law_free(coulomb);
}

static void test_mistakes_are_refused(void **state)
{
    (void)state;
    kith_law *law = NULL;
    assert_ok(kith_law_parse("gaussian:0.5", 0, NULL, &law));
    fill(8, 3, 2, KITH_F64);
    now.options = (kith_forces_options){.law = law, .cutoff = 0.8};
    now.excluded[1][1] = 8;
    for (int k = 0; k < 2; k++)
        assert_fails(compute(k ? "cutoff" : "reference", KITH_F64), KITH_INVALID_ARGUMENT,
                     "pairs row 1 8 0 7");
    now.excluded[1][1] = now.excluded[1][0];
    assert_fails(compute("cutoff", KITH_F64), KITH_INVALID_ARGUMENT, "pairs row 1 3, 0 7");
    fill(8, 3, 2, KITH_F64);
    const kith_particles all = {.positions = kith_array_matrix(now.x, KITH_F64, 8, 3)},
                         few = {.positions = kith_array_matrix(now.x, KITH_F64, 4, 3)};
    now.options.totals = NULL;
    assert_fails(kith_forces_compute(context, &now.options, &few, &all,
                                     kith_array_matrix(found.force, KITH_F64, 4, 3),
                                     kith_array_none()),
                 KITH_UNSUPPORTED, "exclusions targets");
    now.options.cutoff = 0;
    now.options.cell = NULL;
    now.options.solver = NULL;
    assert_fails(kith_forces_compute(context, &now.options, NULL, &all,
                                     kith_array_matrix(found.force, KITH_F64, 8, 3),
                                     kith_array_none()),
                 KITH_INVALID_ARGUMENT, "exclusions cutoff");
    kith_law_free(law);
}

static int begin(void **state)
{
    (void)state;
    numbers = random_numbers_begin("forces_excluded");
    return kith_context_create(&(kith_context_options){.device = {KITH_CPU, 0}, .threads = 2},
                               &context);
}

static int end(void **state)
{
    (void)state;
    kith_context_free(context);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums_leave_excluded_pairs_out),
        cmocka_unit_test(test_close_bonded_pairs_cost_no_digits),
        cmocka_unit_test(test_two_laws_leave_the_same_pairs_out),
        cmocka_unit_test(test_mistakes_are_refused),
    };
    return cmocka_run_group_tests_name("forces_excluded", tests, begin, end);
}
