/* The solver pme: a requested error, as users call it. */

#include "testing.h"

#include <math.h>
#include <stdlib.h>

#include "mesh/pme.h"
#include "random_numbers.h"

enum { most = 1024 };

static kith_context *context;

static int open_context(void **state)
{
    (void)state;
    return kith_context_create(&(kith_context_options){.device = {KITH_CPU, 0}, .threads = 2},
                               &context);
}

static int close_context(void **state)
{
    (void)state;
    kith_context_free(context);
    return 0;
}

struct system {
    int64_t count;
    double x[most][3], q[most], m[most];
    kith_cell cell;
    kith_forces_options options;
    double a[most][3], potential[most];
    kith_forces_totals totals;
    kith_solver_report report;
};

static kith_status compute(struct system *system, const char *solver, const char *law_text)
{
    kith_law *law = NULL;
    const int64_t n = system->count;
    const kith_particles particles = {
        .positions = kith_array_matrix(system->x, KITH_F64, n, 3),
        .columns = {{"m", kith_array_vector(system->m, KITH_F64, n)},
                    {"q", kith_array_vector(system->q, KITH_F64, n)}}};
    if (law_text)
        assert_ok(kith_law_parse(law_text, 0, NULL, &law));
    system->options.law = law;
    system->options.cell = &system->cell;
    system->options.totals = &system->totals;
    system->options.report = &system->report;
    system->options.solver = solver_named(solver);
    const kith_status status = kith_forces_compute(
        context, &system->options, NULL, &particles, kith_array_matrix(system->a, KITH_F64, n, 3),
        kith_array_vector(system->potential, KITH_F64, n));
    kith_law_free(law);
    return status;
}

enum kind { gas, jittered_crystal, cluster, dilute, net_charged, masses, slab, kind_count };

/* A cell skewed by up to 30 degrees, and particles of a kind in it. */
static void fill(struct system *system, struct random_numbers *numbers, int64_t n, enum kind kind)
{
    *system = (struct system){.count = n};
    double(*vectors)[3] = system->cell.vectors;
    for (int k = 0; k < 3; k++) {
        for (int c = 0; c < 3; c++)
            vectors[k][c] = k == c ? random_uniform(numbers, 1, 3) : 0;
        for (int c = 0; c < k; c++)
            vectors[k][c] = vectors[c][c] * random_uniform(numbers, -0.5, 0.5);
        system->cell.periodic[k] = kind != slab || k < 2;
    }
    const int64_t side = (int64_t)ceil(cbrt((double)n));
    for (int64_t i = 0; i < n; i++) {
        const int64_t place[3] = {i % side, i / side % side, i / side / side};
        double f[3];
        for (int c = 0; c < 3; c++) {
            f[c] = random_uniform(numbers, 0, 1);
            if (kind == jittered_crystal)
                f[c] = ((double)place[c] + 0.3 * f[c]) / (double)side;
            if (kind == cluster)
                f[c] = 0.5 + 0.05 * (f[c] + random_uniform(numbers, -1, 1));
        }
        for (int c = 0; c < 3; c++)
            system->x[i][c] = f[0] * vectors[0][c] + f[1] * vectors[1][c] + f[2] * vectors[2][c];
        system->q[i] = (place[0] + place[1] + place[2]) % 2 ? 1 : -1;
        if (kind == net_charged || kind == masses)
            system->q[i] = random_uniform(numbers, 0.5, 1.5);
        system->m[i] = 1;
        if (kind == dilute)
            for (int c = 0; c < 3; c++)
                system->x[i][c] *= 1e3;
    }
    for (int k = 0; kind == dilute && k < 9; k++)
        vectors[k / 3][k % 3] *= 1e3;
}

static double rms(const struct system *a, const struct system *minus)
{
    double sum = 0;
    for (int64_t i = 0; i < a->count; i++)
        for (int c = 0; c < 3; c++)
            sum += pow(a->a[i][c] - (minus ? minus->a[i][c] : 0), 2);
    return sqrt(sum / (double)a->count);
}

static struct system one, other;

static void test_energy_and_virial_are_those_of_the_plain_sum(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin(__func__);
    for (enum kind kind = gas; kind < kind_count; kind++) {
        fill(&one, &numbers, 200, kind);
        one.options.ewald.boundary = kind == gas ? KITH_BOUNDARY_VACUUM : KITH_BOUNDARY_TIN_FOIL;
        other = one;
        assert_ok(compute(&one, "ewald", "coulomb"));
        other.options.accuracy.error = 1e-8;
        assert_ok(compute(&other, "pme", "coulomb"));
        double scale = 0;
        for (int64_t i = 0; i < one.count; i++)
            scale += fabs(one.potential[i]);
        for (int64_t i = 0; i < one.count; i++)
            assert_true(fabs(one.potential[i] - other.potential[i]) < 1e-5 * scale);
        assert_true(fabs(one.totals.energy - other.totals.energy) < 1e-5 * scale);
        for (int k = 0; k < 9; k++)
            assert_true(fabs(one.totals.virial[k] - other.totals.virial[k]) < 1e-5 * scale);
    }
}

static void test_an_absolute_error_is_in_the_unit_of_forces(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin(__func__);
    fill(&one, &numbers, 300, gas);
    assert_ok(compute(&one, "ewald", "coulomb"));
    other = one;
    other.options.ewald.absolute_error = 1e-3;
    assert_ok(compute(&other, "pme", "coulomb"));
    assert_true(rms(&other, &one) <= 1e-3 && rms(&other, &one) > 1e-5);
}

/* Nearly all of the rms force is theirs: in single precision their distance is not just a
 * difference of rounded positions. */
static void test_the_error_holds_for_a_close_pair(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin(__func__);
    fill(&one, &numbers, 500, gas);
    for (int c = 0; c < 3; c++)
        one.x[499][c] = one.x[498][c] + random_uniform(&numbers, 1e-4, 2e-4);
    assert_ok(compute(&one, "ewald", "coulomb"));
    other = one;
    other.options.accuracy.error = 2e-5;
    other.options.cutoff = 1; /* with a shorter one, which is enough here, roundings are less */
    assert_ok(compute(&other, "pme", "coulomb"));
    assert_true(rms(&other, &one) <= 2e-5 * rms(&one, NULL));
}

/* Sheets of particles along the longest vector are in phase in waves that are not the longest ones:
 * their aliases add up. */
static void test_the_error_holds_on_a_lattice(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin(__func__);
    static const double errors[] = {1e-4, 3e-7, 2e-10};
    for (int k = 0; k < 3; k++) {
        enum { side = 6 };
        one = (struct system){.count = side * side * side};
        const double length[3] = {6, 0.5, 0.5};
        for (int c = 0; c < 3; c++) {
            one.cell.vectors[c][c] = length[c];
            one.cell.periodic[c] = true;
        }
        for (int64_t i = 0; i < one.count; i++) {
            const int64_t at[3] = {i % side, i / side % side, i / side / side};
            for (int c = 0; c < 3; c++)
                one.x[i][c] =
                    length[c] / side * ((double)at[c] + 0.02 * random_uniform(&numbers, 0, 1));
            one.q[i] = random_uniform(&numbers, 0.5, 1.5);
            one.m[i] = 1;
        }
        other = one;
        one.options.accuracy.error = 1e-12;
        assert_ok(compute(&one, "ewald", "coulomb"));
        other.options.accuracy.error = errors[k];
        assert_ok(compute(&other, "pme", "coulomb"));
        assert_true(rms(&other, &one) <= errors[k] * rms(&one, NULL));
    }
}

static void test_threads_do_not_change_a_bit(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin(__func__);
    static const double errors[] = {1e-4, 1e-8}; /* in single and in double precision */
    for (int k = 0; k < 2; k++) {
        kith_context *several = context;
        fill(&one, &numbers, 1000, gas);
        one.options.accuracy.error = errors[k];
        other = one;
        assert_ok(compute(&one, "pme", "coulomb"));
        assert_ok(kith_context_create(
            &(kith_context_options){.device = {KITH_CPU, 0}, .threads = 1}, &context));
        assert_ok(compute(&other, "pme", "coulomb"));
        kith_context_free(context);
        context = several;
        assert_memory_equal(one.a, other.a, sizeof one.a);
        assert_memory_equal(one.potential, other.potential, sizeof one.potential);
        assert_memory_equal(&one.totals, &other.totals, sizeof one.totals);
    }
}

static void test_few_particles_are_fine(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin(__func__);
    for (int64_t n = 0; n <= 2; n++) {
        fill(&one, &numbers, n, gas);
        assert_ok(compute(&one, "pme", "coulomb"));
        other = one;
        assert_ok(compute(&other, "ewald", "coulomb"));
        assert_true(fabs(one.totals.energy - other.totals.energy) < 1e-2);
    }
    one.q[0] = one.q[1] = 0;
    assert_ok(compute(&one, "pme", "coulomb"));
    assert_true(one.potential[0] == 0 && one.a[1][2] == 0);
}

static void test_settings_are_taken_and_bad_ones_refused(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin(__func__);
    fill(&one, &numbers, 100, gas);
    one.options.cutoff = 0.7;
    one.options.accuracy.order = 6;
    one.options.ewald.grid[0] = one.options.ewald.grid[1] = one.options.ewald.grid[2] = 32;
    assert_ok(compute(&one, "pme", "coulomb"));
    assert_true(one.report.cutoff == 0.7 && one.report.order == 6 && one.report.grid[1] == 32);
    assert_true(one.report.prepare_seconds > 0);
    one.options.ewald.grid[2] = 5;
    assert_fails(compute(&one, "pme", "coulomb"), KITH_INVALID_ARGUMENT, "grid 5 order 6");
    one.options.ewald.grid[2] = 0;
    assert_fails(compute(&one, "pme", "coulomb"), KITH_INVALID_ARGUMENT, "grid 32 32 0");
    one.options.ewald.grid[2] = 32;
    one.options.accuracy.order = 9;
    assert_fails(compute(&one, "pme", "coulomb"), KITH_INVALID_ARGUMENT, "4 8");
    one.options.accuracy.order = 0;
    one.options.accuracy.error = 1e-15;
    assert_fails(compute(&one, "pme", "coulomb"), KITH_INVALID_ARGUMENT, "1e-11");
}

static void test_without_the_library_a_sentence_says_so(void **state)
{
    (void)state;
    one = (struct system){0};
    for (int k = 0; k < 3; k++)
        one.cell.vectors[k][k] = one.cell.periodic[k] = true;
    assert_fails(compute(&one, "pme", "coulomb"), KITH_UNSUPPORTED, "FFTW");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_energy_and_virial_are_those_of_the_plain_sum),
        cmocka_unit_test(test_an_absolute_error_is_in_the_unit_of_forces),
        cmocka_unit_test(test_the_error_holds_for_a_close_pair),
        cmocka_unit_test(test_the_error_holds_on_a_lattice),
        cmocka_unit_test(test_threads_do_not_change_a_bit),
        cmocka_unit_test(test_few_particles_are_fine),
        cmocka_unit_test(test_settings_are_taken_and_bad_ones_refused),
    };
    const struct CMUnitTest without[] = {
        cmocka_unit_test(test_without_the_library_a_sentence_says_so)};
    return pme_is_there() ? cmocka_run_group_tests(tests, open_context, close_context)
                          : cmocka_run_group_tests(without, open_context, close_context);
}
