/* The solvers ewald and pme keep the error that is requested on random systems, and pme does not
 * waste it: cells whose vectors are as near as 30 degrees to each other, charges spread out and
 * clustered, neutral and not. KITH_TEST_LONG tries 1000 systems of up to 10^5 particles;
 * KITH_TEST_CASE one of those of the seed alone. */

#include "testing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mesh/pme.h"
#include "random_numbers.h"

static const double pi_over_6 = 0.52359877559829887;

static kith_context *context;

/* Where the particles are, and what their charges are. */
enum place {
    evenly,
    in_a_crystal,
    on_a_lattice,
    in_a_cluster,
    in_clusters,
    in_pairs,
    on_a_line,
    on_a_sheet,
    places
};
static const char *const place_names[places] = {"gas",      "crystal", "lattice", "cluster",
                                                "clusters", "pairs",   "line",    "sheet"};
enum charges { alternating, unequal, of_one_sign, masses, charge_kinds };
static const char *const charge_names[charge_kinds] = {"neutral", "unequal", "one sign", "masses"};

struct system {
    int64_t n;
    enum place place;
    enum charges charges;
    bool is_slab;
    double jitter; /* of a lattice, in its spacings */
    double (*x)[3], *q;
    kith_cell cell;
    double error; /* that is requested */
};

/* Vectors of lengths that differ up to tenfold, at angles of at least 30 degrees. */
static void make_cell(struct random_numbers *numbers, struct system *system)
{
    double(*v)[3] = system->cell.vectors, length[3];
    const bool is_skew = random_uniform(numbers, 0, 1) < 0.7;
    for (int k = 0; k < 3; k++)
        length[k] = pow(10, random_uniform(numbers, -0.5, 0.5));
    const double angle =
        is_skew ? random_uniform(numbers, pi_over_6, 5 * pi_over_6) : 3 * pi_over_6;
    const double up = is_skew && !system->is_slab
                          ? random_uniform(numbers, pi_over_6, 3 * pi_over_6)
                          : 3 * pi_over_6;
    const double around = random_uniform(numbers, 0, 12 * pi_over_6);
    v[0][0] = length[0];
    v[1][0] = length[1] * cos(angle);
    v[1][1] = length[1] * sin(angle);
    v[2][0] = length[2] * cos(up) * cos(around);
    v[2][1] = length[2] * cos(up) * sin(around);
    v[2][2] = length[2] * sin(up);
    for (int k = 0; k < 3; k++)
        system->cell.periodic[k] = k < 2 || !system->is_slab;
}

/* A place in the cell, in its vectors. */
static void place(struct random_numbers *numbers, const struct system *system, int64_t i,
                  double f[3])
{
    const int64_t side = (int64_t)ceil(cbrt((double)system->n) - 1e-9);
    const int64_t at[3] = {i % side, i / side % side, i / side / side};
    const int64_t clusters = 1 + system->n / 50;
    struct random_numbers of_cluster = {(uint64_t)(i % clusters) * 77 + 1};
    for (int c = 0; c < 3; c++) {
        const double any = random_uniform(numbers, 0, 1);
        const double near = random_uniform(numbers, -1, 1) + random_uniform(numbers, -1, 1);
        f[c] = any;
        switch (system->place) {
        case in_a_crystal:
            f[c] = ((double)at[c] + 0.3 * any) / (double)side;
            break;
        case on_a_lattice:
            f[c] = ((double)at[c] + system->jitter * any) / (double)side;
            break;
        case in_a_cluster:
            f[c] = 0.5 + 0.05 * near;
            break;
        case in_clusters:
            f[c] = random_uniform(&of_cluster, 0, 1) + 0.03 * near;
            break;
        case on_a_line:
            f[c] = c == 0 ? any : 0.5 + 0.01 * near;
            break;
        case on_a_sheet:
            f[c] = c == 2 ? 0.5 + 0.01 * near : any;
            break;
        default:
            break;
        }
    }
}

static void make_charges(struct random_numbers *numbers, struct system *system)
{
    const int64_t side = (int64_t)ceil(cbrt((double)system->n) - 1e-9);
    /* On a lattice every second sheet, row or site. */
    const int64_t kind = (int64_t)random_uniform(numbers, 0, 3);
    for (int64_t i = 0; i < system->n; i++) {
        const int64_t at[3] = {i % side, i / side % side, i / side / side};
        const int64_t number = system->place != on_a_lattice ? i
                               : kind == 0                   ? at[0]
                               : kind == 1                   ? at[0] + at[1]
                                                             : at[0] + at[1] + at[2];
        const double sign = number % 2 ? 1 : -1;
        system->q[i] = system->charges == alternating ? sign
                       : system->charges == unequal ? sign * pow(10, random_uniform(numbers, -2, 0))
                                                    : random_uniform(numbers, 0.5, 1.5);
    }
}

static void make(struct random_numbers *numbers, double most, struct system *system)
{
    *system = (struct system){.n = (int64_t)pow(2, random_uniform(numbers, 1, log2(most))),
                              .place = (enum place)random_uniform(numbers, 0, places),
                              .charges = (enum charges)random_uniform(numbers, 0, charge_kinds),
                              .is_slab = random_uniform(numbers, 0, 1) < 0.15,
                              .error = pow(10, random_uniform(numbers, -10, -2))};
    const int64_t side = (int64_t)cbrt((double)system->n + 0.5);
    if (system->place == on_a_lattice) /* complete: its waves are in phase */
        system->n = side * side * side > 1 ? side * side * side : 8;
    system->jitter = pow(10, random_uniform(numbers, -3, -0.5));
    system->x = calloc((size_t)system->n, sizeof *system->x);
    system->q = calloc((size_t)system->n, sizeof *system->q);
    make_cell(numbers, system);
    for (int64_t i = 0; i < system->n; i++) {
        double f[3], *x = system->x[i];
        place(numbers, system, i, f);
        for (int c = 0; c < 3; c++)
            for (int k = 0; k < 3; k++)
                x[c] += f[k] * system->cell.vectors[k][c];
    }
    /* Dipoles much shorter than their distances. */
    const double size = 0.05 / cbrt((double)system->n);
    for (int64_t i = 1; i < system->n && system->place == in_pairs; i += 2)
        for (int c = 0; c < 3; c++)
            system->x[i][c] = system->x[i - 1][c] + size * random_uniform(numbers, -1, 1);
    make_charges(numbers, system);
}

static void forces(const struct system *system, const char *solver, double error, double *a,
                   kith_solver_report *report)
{
    kith_law *law = NULL;
    const kith_particles particles = {
        .positions = kith_array_matrix(system->x, KITH_F64, system->n, 3),
        .columns = {{system->charges == masses ? "m" : "q",
                     kith_array_vector(system->q, KITH_F64, system->n)}}};
    if (system->charges != masses)
        assert_ok(kith_law_parse("coulomb", 0, NULL, &law));
    const kith_forces_options options = {.law = law,
                                         .cell = &system->cell,
                                         .solver = solver_named(solver),
                                         .report = report,
                                         .accuracy = {.error = error}};
    assert_ok(kith_forces_compute(context, &options, NULL, &particles,
                                  kith_array_matrix(a, KITH_F64, system->n, 3), kith_array_none()));
    kith_law_free(law);
}

/* By the definition of kith/solver.h; accelerations of gravity are forces over the masses. */
static double error_of(const struct system *system, const double *a, const double *exact)
{
    double squares = 0, of_forces = 0, of_errors = 0, low = 0, high = 0;
    const double(*v)[3] = system->cell.vectors;
    const double area = fabs(v[0][0] * v[1][1] - v[0][1] * v[1][0]);
    const double n = (double)system->n;
    for (int64_t i = 0; i < system->n; i++) {
        const double q = system->q[i], weight = system->charges == masses ? q : 1;
        squares += q * q;
        low = i == 0 || system->x[i][2] < low ? system->x[i][2] : low;
        high = i == 0 || system->x[i][2] > high ? system->x[i][2] : high;
        for (int c = 0; c < 3; c++) {
            of_forces += pow(weight * exact[3 * i + c], 2);
            of_errors += pow(weight * (a[3 * i + c] - exact[3 * i + c]), 2);
        }
    }
    const double height = system->is_slab ? high - low + sqrt(area / n) : v[2][2];
    const double least = 0.1 * squares / n * pow(n / (area * height), 2.0 / 3);
    return sqrt(of_errors / n) / fmax(sqrt(of_forces / n), least);
}

enum { most_of_plain_sums = 4096 };

/* The error over the requested one. */
static double ratio_of(const struct system *system, const char *solver, kith_solver_report *report)
{
    double *a = calloc((size_t)system->n, 3 * sizeof *a);
    double *exact = calloc((size_t)system->n, 3 * sizeof *exact);
    if (system->n <= most_of_plain_sums)
        forces(system, "ewald", 1e-12, exact, NULL);
    else
        forces(system, "pme", 1e-11, exact, NULL);
    forces(system, solver, system->error, a, report);
    const double error = error_of(system, a, exact);
    free(a);
    free(exact);
    return error / system->error;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print_case(int k, const struct system *system, const char *solver, double ratio,
                       const kith_solver_report *report)
{
    printf("KITH_TEST_CASE=%d: %s, %s, %s%s, %lld particles: %.3g times the error of %.3g, "
           "estimated %.3g (cutoff %.3g, alpha %.3g, grid %d x %d x %d, order %d)\n",
           k, solver, place_names[system->place], charge_names[system->charges],
           system->is_slab ? ", slab" : "", (long long)system->n, ratio, system->error,
           report->error_estimated / system->error, report->cutoff, report->alpha,
           (int)report->grid[0], (int)report->grid[1], (int)report->grid[2], (int)report->order);
    fflush(stdout);
}

/* Returns how many systems have larger errors. */
static int check_systems(const char *solver, double least_median)
{
    const bool is_long = getenv("KITH_TEST_LONG") != NULL;
    const char *only = getenv("KITH_TEST_CASE");
    const int count = is_long ? 1000 : 60;
    const struct random_numbers seed = random_numbers_begin(solver);
    double *ratio = calloc((size_t)count, sizeof *ratio);
    int failed = 0, found = 0;
    for (int k = 0; k < count; k++) {
        struct random_numbers numbers = {seed.state + 1000003 * (uint64_t)k};
        kith_solver_report report;
        struct system system;
        if (only && k != atoi(only))
            continue;
        make(&numbers, is_long ? 1e5 : 2048, &system);
        if (strcmp(solver, "pme") == 0 || system.n <= most_of_plain_sums) {
            ratio[found++] = ratio_of(&system, solver, &report);
            const bool is_larger = !(ratio[found - 1] <= 1);
            if (is_larger || only)
                print_case(k, &system, solver, ratio[found - 1], &report);
            failed += is_larger;
        }
        free(system.x);
        free(system.q);
    }
    qsort(ratio, (size_t)found, sizeof *ratio, compare);
    if (found > 0)
        printf("%s, %d systems: error over the requested one at most %.3g, median %.3g, 5th "
               "percentile %.3g\n",
               solver, found, ratio[found - 1], ratio[found / 2], ratio[found / 20]);
    const bool wastes = !only && ratio[found / 2] < least_median;
    free(ratio);
    assert_false(wastes);
    return failed;
}

static void test_errors_of_pme_are_what_is_asked_for(void **state)
{
    (void)state;
    assert_int_equal(check_systems("pme", 1.0 / 20), 0);
}

static void test_errors_of_ewald_are_at_most_what_is_asked_for(void **state)
{
    (void)state;
    assert_int_equal(check_systems("ewald", 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_errors_of_ewald_are_at_most_what_is_asked_for),
        cmocka_unit_test(test_errors_of_pme_are_what_is_asked_for)};
    const struct CMUnitTest without[] = {
        cmocka_unit_test(test_errors_of_ewald_are_at_most_what_is_asked_for)};
    const kith_context_options one = {.device = {KITH_CPU, 0}, .threads = 1};
    assert_ok(kith_context_create(&one, &context));
    const int failed = pme_is_there() ? cmocka_run_group_tests(tests, NULL, NULL)
                                      : cmocka_run_group_tests(without, NULL, NULL);
    kith_context_free(context);
    return failed;
}
