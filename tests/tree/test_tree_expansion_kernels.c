/* Kernels of expansions (tree/expansion.h) against the reference: random calls of every operator,
 * lists of any length; symmetries. */

#include "expansion_operators.h"
#include "tree/expansion_rotation.h"

enum { first_source = 4, most_cells = 48, most_bodies = 90 };

/* The same problem for the reference and for the operators under test. */
struct problem {
    struct expansion expansion;
    bool single;
    int32_t length, local_length;
    void *multipoles[2], *locals[2], *x[2][4], *field[2][4]; /* [0]: double */
};

static double random_real(struct random_numbers *random, bool single, double low, double high)
{
    const double x = random_uniform(random, low, high);
    return single ? (double)(float)x : x;
}

/* Fills both arrays with the same numbers. */
static void fill(struct random_numbers *random, const struct problem *problem, void *const array[2],
                 int64_t begin, int64_t count, double low, double high)
{
    for (int64_t k = begin; k < begin + count; k++) {
        const double x = random_real(random, problem->single, low, high);
        set_real(false, array[0], k, x);
        set_real(problem->single, array[1], k, x);
    }
}

static struct expansion_angles angles;
static struct expansion_tables solid_tables;

/* What the operators under test get: with tables for M2L where they use them. */
static struct expansion expansion_under_test(const struct problem *problem)
{
    struct expansion expansion = problem->expansion;
    if (expansion.has_solid)
        expansion.tables = &solid_tables;
    return expansion;
}

/* Bodies and cells about the origin, and source cells along x. */
static struct problem make_problem(struct random_numbers *random, bool single,
                                   enum expansion_basis basis, enum expansion_law law)
{
    const bool has_solid = basis == expansion_harmonic && random_uniform(random, 0, 1) < 0.7;
    const int32_t most = basis == expansion_full ? 9
                         : single                ? 12
                         : has_solid             ? expansion_max_order
                                                 : expansion_max_full;
    struct problem problem = {.expansion = {basis, 1 + (int32_t)random_uniform(random, 0, most),
                                            basis ? 0.01 : 0, law, NULL, NULL, has_solid, &angles},
                              .single = single};
    problem.length = expansion_record_length(&problem.expansion);
    problem.local_length = expansion_local_length(&problem.expansion);
    for (int32_t k = 0; k < 2; k++) {
        const bool real = k == 1 && single;
        problem.multipoles[k] = new_reals(real, (int64_t)most_cells * problem.length);
        problem.locals[k] = new_reals(real, (int64_t)most_cells * problem.local_length);
        for (int32_t column = 0; column < 4; column++) {
            problem.x[k][column] = new_reals(real, most_bodies);
            problem.field[k][column] = new_reals(real, most_bodies);
        }
    }
    const bool plane = basis == expansion_plane;
    for (int64_t cell = 0; cell < most_cells; cell++) {
        for (int32_t k = 0; k < 4; k++) {
            const double corner = k == 0 && cell >= first_source ? 4 * (double)cell : 0;
            const double wide = plane && k == 2 ? 0 : 0.5;
            fill(random, &problem, problem.multipoles, cell * problem.length + k, 1, corner - wide,
                 corner + wide);
        }
        const double size = exp2(floor(random_uniform(random, -1, 1)));
        set_real(false, problem.multipoles[0], cell * problem.length + 3, size);
        set_real(single, problem.multipoles[1], cell * problem.length + 3, size);
    }
    for (int32_t column = 0; column < 4; column++) {
        void *const both[2] = {problem.x[0][column], problem.x[1][column]};
        const double wide = plane && column == 2 ? 0 : 0.5;
        fill(random, &problem, both, 0, most_bodies, -wide, wide);
    }
    return problem;
}

static void free_problem(struct problem *problem)
{
    for (int32_t k = 0; k < 2; k++) {
        free(problem->multipoles[k]);
        free(problem->locals[k]);
        for (int32_t column = 0; column < 4; column++) {
            free(problem->x[k][column]);
            free(problem->field[k][column]);
        }
    }
}

static void assert_close(const struct problem *problem, void *const array[2], int64_t begin,
                         int64_t count, double tolerance, const char *what)
{
    double largest = 0;
    for (int64_t k = begin; k < begin + count; k++)
        largest = fmax(largest, fabs(real_at(false, array[0], k)));
    for (int64_t k = begin; k < begin + count; k++) {
        const double expected = real_at(false, array[0], k);
        const double error = fabs(real_at(problem->single, array[1], k) - expected);
        if (!(error <= tolerance * largest))
            fail_msg("%s, basis %d, order %d: element %lld is %.17g, expected %.17g", what,
                     problem->expansion.basis, problem->expansion.order, (long long)(k - begin),
                     real_at(problem->single, array[1], k), expected);
    }
}

static int64_t random_count(struct random_numbers *random, int64_t most)
{
    return (int64_t)random_uniform(random, 0, (double)most + 1);
}

static struct expansion_bodies bodies_of(const struct problem *problem, int32_t k)
{
    const bool plane = problem->expansion.basis == expansion_plane;
    return (struct expansion_bodies){
        {problem->x[k][0], problem->x[k][1], plane ? NULL : problem->x[k][2]}, problem->x[k][3]};
}

static struct expansion_field field_of(const struct problem *problem, int32_t k)
{
    const bool plane = problem->expansion.basis == expansion_plane;
    return (struct expansion_field){
        problem->field[k][3],
        {problem->field[k][0], problem->field[k][1], plane ? NULL : problem->field[k][2]}};
}

/* Coefficients as charges within the size have them: at most 1 / n!. */
static void fill_multipole(struct random_numbers *random, const struct problem *problem,
                           int64_t cell)
{
    const int32_t order = problem->expansion.order;
    const int64_t begin = cell * problem->length + expansion_header;
    for (int32_t c = 0; c <= expansion_max_c(problem->expansion.basis, order); c++)
        for (int32_t b = 0; b <= order - c; b++)
            for (int32_t a = 0; a <= order - c - b; a++) {
                const double most = 1 / tgamma(a + b + c + 1);
                fill(random, problem, problem->multipoles, begin + expansion_row(order, b, c) + a,
                     1, a + b + c == 0 ? 0.5 : -most, most);
            }
}

/* Fills the multipoles from bodies, shifts them up, over and down, and compares after each. */
static void compare_operators(const struct operators *operators, struct random_numbers *random,
                              enum expansion_basis basis, enum expansion_law law)
{
    struct problem problem = make_problem(random, operators->single, basis, law);
    const struct expansion *expansion = &problem.expansion;
    const struct expansion under_test = expansion_under_test(&problem);
    const struct expansion_operators *tables[2] = {&expansion_reference, operators->table};
    const double tolerance = operators->single ? 2e-5 : 1e-13;
    const int64_t children = random_count(random, 20), sources = random_count(random, 40);
    const int64_t count = random_count(random, 60), first = random_count(random, 20);
    int32_t list[40];
    for (int64_t k = 0; k < sources; k++)
        list[k] = first_source + (int32_t)random_count(random, most_cells - first_source - 1);

    for (int64_t cell = 2; cell < most_cells; cell++)
        fill_multipole(random, &problem, cell);
    for (int32_t k = 0; k < 2; k++) {
        const struct expansion_bodies bodies = bodies_of(&problem, k);
        tables[k]->p2m(expansion, &bodies, first, count, problem.multipoles[k], 0);
        tables[k]->m2m(expansion, problem.multipoles[k], 1, 2, children < 2 ? children : 2);
    }
    assert_close(&problem, problem.multipoles, expansion_header, expansion_count(expansion),
                 tolerance, "P2M");
    assert_close(&problem, problem.multipoles, problem.length + expansion_header,
                 expansion_count(expansion), tolerance, "M2M");

    int32_t counts[expansion_max_order + 1] = {0};
    const bool has_orders = under_test.tables && random_uniform(random, 0, 1) < 0.7;
    for (int64_t k = 0; k < sources; k++)
        counts[random_count(random, expansion->order)]++;
    void *powers[2] = {new_reals(false, most_cells * (expansion->order + 1)),
                       new_reals(operators->single, most_cells * (expansion->order + 1))};
    tables[1]->powers(expansion, problem.multipoles[1], 0, most_cells, powers[1]);
    for (int32_t k = 0; k < 2; k++) {
        const struct expansion_bodies bodies = bodies_of(&problem, k);
        const struct expansion_field field = field_of(&problem, k);
        if (has_orders)
            tables[k]->m2l_by_orders(k == 1 ? &under_test : expansion, problem.multipoles[k],
                                     problem.locals[k], 0, list, counts);
        else
            tables[k]->m2l(k == 1 ? &under_test : expansion, problem.multipoles[k],
                           problem.locals[k], 0, list, sources);
        tables[k]->m2p(expansion, problem.multipoles[k], list, sources / 4, &bodies, first, count,
                       &field);
    }
    assert_close(&problem, problem.locals, 0, expansion_count(expansion), tolerance, "M2L");
    for (int32_t column = 0; column < 4; column++)
        assert_close(&problem, (void *[2]){problem.field[0][column], problem.field[1][column]}, 0,
                     most_bodies, 10 * tolerance, "M2P");

    for (int32_t k = 0; k < 2; k++) {
        const struct expansion_bodies bodies = bodies_of(&problem, k);
        const struct expansion_field field = field_of(&problem, k);
        tables[k]->l2l(expansion, problem.multipoles[k], problem.locals[k], 0, 1,
                       children < 3 ? children : 3);
        tables[k]->l2p(expansion, problem.multipoles[k], problem.locals[k], 0, &bodies, first,
                       count, &field);
    }
    const int64_t halves[] = {count / 2, count - count / 2};
    for (int32_t k = 0; k < 2 && law == expansion_inverse && expansion->order > 1; k++) {
        const struct expansion_bodies from = bodies_of(&problem, k);
        struct expansion_part parts[2];
        for (int64_t i = 0; i < most_bodies; i++) /* so that they do not cancel */
            set_real(k == 1 && operators->single, problem.x[k][3], i,
                     fabs(real_at(k == 1 && operators->single, problem.x[k][3], i)));
        for (int32_t part = 0; part < 2; part++) {
            const int64_t at = (first + part * halves[0]) * (k == 1 && operators->single ? 4 : 8);
            parts[part] =
                (struct expansion_part){{{NULL}, (const char *)from.charge + at}, halves[part]};
            for (int32_t axis = 0; axis < 3 && from.x[axis]; axis++)
                parts[part].bodies.x[axis] = (const char *)from.x[axis] + at;
        }
        tables[k]->p2l(expansion, problem.multipoles[k], problem.locals[k], most_cells - 1, parts,
                       2);
    }
    assert_close(&problem, problem.locals, (most_cells - 1) * problem.local_length,
                 expansion_count(expansion), tolerance, "P2L");
    for (int64_t child = 1; child < 4; child++)
        assert_close(&problem, problem.locals, child * problem.local_length,
                     expansion_count(expansion), 10 * tolerance, "L2L");
    for (int32_t column = 0; column < 4; column++)
        assert_close(&problem, (void *[2]){problem.field[0][column], problem.field[1][column]}, 0,
                     most_bodies, 10 * tolerance, "L2P");

    for (int32_t k = 0; k < 2; k++)
        tables[k]->powers(expansion, problem.multipoles[k], 1, 1 + sources, powers[k]);
    for (int64_t k = 0; k < (1 + sources) * (expansion->order + 1); k++)
        assert_close(&problem, powers, k, 1, operators->single ? 1e-3 : 1e-11, "powers");
    free(powers[0]);
    free(powers[1]);
    free_problem(&problem);
}

static void check_operators(const struct operators *operators, struct random_numbers *random)
{
    for (int32_t turn = 0; turn < 12; turn++)
        for (int32_t b = 0; b < 4; b++)
            compare_operators(operators, random, bases[b], laws[b]);
}

static void test_kernels_agree_with_the_reference(void **state)
{
    (void)state;
    for_each_operators(check_operators, __func__);
}

/* Two cells' fields at each other's bodies: the sum of forces is rounding. */
static void check_momentum(const struct operators *operators, struct random_numbers *random)
{
    for (int32_t b = 0; b < 4; b++)
        for (int32_t turn = 0; turn < 10; turn++) {
            struct problem problem = make_problem(random, operators->single, bases[b], laws[b]);
            const struct expansion under_test = expansion_under_test(&problem);
            const struct expansion *expansion = &under_test;
            const struct expansion_bodies bodies = bodies_of(&problem, 1);
            const struct expansion_field field = field_of(&problem, 1);
            const bool single = operators->single;
            for (int64_t k = most_bodies / 2; k < most_bodies; k++)
                set_real(single, problem.x[1][0], k, real_at(single, problem.x[1][0], k) + 4);
            set_real(single, problem.multipoles[1], problem.length, 4);
            for (int32_t cell = 0; cell < 2; cell++)
                operators->table->p2m(expansion, &bodies, cell * most_bodies / 2, most_bodies / 2,
                                      problem.multipoles[1], cell);
            double powers[2 * (expansion_max_order + 1)];
            int32_t counts[expansion_max_order + 1] = {0};
            counts[random_count(random, expansion->order)] = 1;
            operators->table->powers(expansion, problem.multipoles[1], 0, 2, powers);
            for (int32_t cell = 0; cell < 2; cell++) {
                const int32_t other = 1 - cell;
                if (expansion->tables)
                    operators->table->m2l_by_orders(expansion, problem.multipoles[1],
                                                    problem.locals[1], cell, &other, counts);
                else
                    operators->table->m2l(expansion, problem.multipoles[1], problem.locals[1], cell,
                                          &other, 1);
                operators->table->l2p(expansion, problem.multipoles[1], problem.locals[1], cell,
                                      &bodies, cell * most_bodies / 2, most_bodies / 2, &field);
            }
            double sum[3] = {0}, absolute = 0;
            for (int32_t axis = 0; axis < 3; axis++)
                for (int64_t k = 0; k < most_bodies; k++) {
                    const double force = real_at(single, problem.x[1][3], k) *
                                         real_at(single, problem.field[1][axis], k);
                    sum[axis] += force;
                    absolute += fabs(force);
                }
            const double residual = fabs(sum[0]) + fabs(sum[1]) + fabs(sum[2]);
            if (!(residual <= (single ? 2e-6 : 1e-14) * absolute))
                fail_msg("basis %d, order %d: %g of %g", bases[b], expansion->order, residual,
                         absolute);
            free_problem(&problem);
        }
}

static void test_momentum_is_conserved_to_rounding(void **state)
{
    (void)state;
    for_each_operators(check_momentum, __func__);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kernels_agree_with_the_reference),
        cmocka_unit_test(test_momentum_is_conserved_to_rounding),
    };
    expansion_make_angles(expansion_max_order, &angles);
    expansion_make_tables(&angles, &solid_tables);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
