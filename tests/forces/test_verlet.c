/* Steps within a cutoff by a Verlet list: against the reference's loop over pairs and images, and
 * bits that depend on the positions alone. */

#include "testing.h"

#include "cells/lattice.h"
#include "forces/solver.h"
#include "law/law.h"
#include "random_numbers.h"
#include "simulating.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { most = 600, padded = most + 128 };

static struct random_numbers numbers;
static kith_context *context;

static double uniform(double low, double high)
{
    return random_uniform(&numbers, low, high);
}

/* Particles near the points of a lattice of edge 1 in a cell, which is somewhat skew. */
struct scene {
    int64_t n;
    int32_t d;
    kith_dtype dtype;
    kith_cell cell;
    double cutoff, skin;
    kith_shift shift;
    const char *law;
    int64_t excluded[most][2], pairs;
    double x[3][padded], m[padded], q[padded];
    float narrow_x[3][padded], narrow_m[padded], narrow_q[padded];
};

static struct scene scene;
static double found[3][padded], expected[3][padded];

/* A mixture's law: of both columns of both particles. */
static const char mixture[] =
    "expr:4 * m_i * m_j * (pow((q_i + q_j) / (2 * r), 6) - pow((q_i + q_j) / (2 * r), 3))";

/* The numbers in single precision, too, and doubles as these are. */
static void round_scene(void)
{
    for (int64_t i = 0; i < padded; i++) {
        for (int c = 0; c < 3; c++) {
            scene.narrow_x[c][i] = (float)scene.x[c][i];
            if (scene.dtype == KITH_F32)
                scene.x[c][i] = (double)scene.narrow_x[c][i];
        }
        scene.narrow_m[i] = (float)scene.m[i];
        scene.narrow_q[i] = (float)scene.q[i];
    }
}

static void make_scene(const char *law, kith_shift shift)
{
    const int32_t d = uniform(0, 1) < 0.3 ? 2 : 3;
    int side[3] = {1, 1, 1};
    memset(&scene, 0, sizeof scene);
    for (int c = 0; c < d; c++)
        side[c] = 1 + (int)uniform(0, d == 2 ? 20 : 7.99);
    scene.d = d;
    scene.law = law;
    scene.shift = shift;
    scene.dtype = uniform(0, 1) < 0.4 ? KITH_F32 : KITH_F64;
    scene.cutoff = uniform(1.2, 2.6);
    scene.skin = uniform(0, 1) < 0.3 ? 0 : uniform(0.01, 1);
    scene.n = (int64_t)side[0] * side[1] * side[2];
    for (int k = 0; k < d; k++) {
        for (int c = 0; c < d; c++)
            scene.cell.vectors[k][c] = k == c ? side[k] + 1e-3 : side[k] * uniform(-0.03, 0.03);
        scene.cell.periodic[k] = uniform(0, 1) < 0.7;
    }
    for (int64_t i = 0; i < scene.n; i++) {
        const int64_t at[3] = {i % side[0], i / side[0] % side[1], i / side[0] / side[1]};
        double away[3];
        for (int k = 0; k < d; k++)
            away[k] = scene.cell.periodic[k] ? floor(uniform(-1, 2)) : 0;
        for (int c = 0; c < d; c++) {
            scene.x[c][i] = uniform(-0.07, 0.07);
            for (int k = 0; k < d; k++)
                scene.x[c][i] += ((double)at[k] / side[k] + away[k]) * scene.cell.vectors[k][c];
        }
        scene.m[i] = (double)(float)uniform(0.5, 2);
        scene.q[i] = (double)(float)uniform(-1, 1);
    }
    round_scene();
}

/* Pairs of neighbors, once or twice, which are brought nearer to each other than any force bears.
 */
static void exclude_some(void)
{
    scene.pairs = 0;
    for (int64_t i = 1; i < scene.n; i++) {
        if (uniform(0, 1) < 0.5)
            continue;
        const bool is_turned = uniform(0, 1) < 0.5;
        scene.excluded[scene.pairs][0] = is_turned ? i - 1 : i;
        scene.excluded[scene.pairs++][1] = is_turned ? i : i - 1;
    }
    for (int c = 0; c < scene.d && scene.pairs > 0; c++)
        scene.x[c][scene.excluded[0][0]] = scene.x[c][scene.excluded[0][1]] + (c == 0 ? 1e-3 : 0);
    round_scene();
}

/* Accelerations, and totals if not NULL, by a list that is kept in *prepared, or by the reference.
 */
static kith_status evaluate_totals(kith_context *with, const kith_law *law, bool by_reference,
                                   void **prepared, double to[3][padded],
                                   kith_forces_totals *totals)
{
    static float narrow[3][padded];
    const bool is_narrow = scene.dtype == KITH_F32 && !by_reference;
    struct pairs_lattice lattice;
    KITH_TRY(pairs_lattice_make(&scene.cell, scene.d, 1, &lattice));
    const struct kith_solver *solver =
        by_reference ? &forces_solver_reference : &forces_solver_cutoff;
    struct forces_problem problem = {
        .dtype = is_narrow ? KITH_F32 : KITH_F64,
        .dimensions = scene.d,
        .self = true,
        .target_count = scene.n,
        .source_count = scene.n,
        .gravitational_constant = 1,
        .law = law,
        .target_mass = is_narrow ? (void *)scene.narrow_m : scene.m,
        .source_mass = is_narrow ? (void *)scene.narrow_m : scene.m,
        .target_charge = is_narrow ? (void *)scene.narrow_q : scene.q,
        .source_charge = is_narrow ? (void *)scene.narrow_q : scene.q,
        .space = {.cell = &scene.cell,
                  .cutoff = scene.cutoff,
                  .shift = scene.shift,
                  .lattice = &lattice,
                  .repeats = true,
                  .totals = totals,
                  .skin = scene.skin},
    };
    if (scene.pairs > 0)
        problem.space.exclusions = kith_array_matrix(scene.excluded, KITH_I64, scene.pairs, 2);
    for (int c = 0; c < scene.d; c++) {
        problem.target_position[c] = problem.source_position[c] =
            is_narrow ? (void *)scene.narrow_x[c] : scene.x[c];
        problem.acceleration[c] = is_narrow ? (void *)narrow[c] : to[c];
    }
    KITH_TRY(forces_evaluate(with, solver, &problem, prepared));
    for (int c = 0; c < scene.d && is_narrow; c++)
        for (int64_t i = 0; i < scene.n; i++)
            to[c][i] = (double)narrow[c][i];
    return KITH_OK;
}

static kith_status evaluate(kith_context *with, const kith_law *law, bool by_reference,
                            void **prepared, double to[3][padded])
{
    return evaluate_totals(with, law, by_reference, prepared, to, NULL);
}

static void compare_totals(const kith_forces_totals *totals, const kith_forces_totals *reference,
                           double scale)
{
    const double limit = 1e-8 * scale * (double)scene.n;
    if (!(fabs(totals->energy - reference->energy) <= limit))
        fail_msg("%s, %lld in %d dimensions, shift %d: energy %.17g, not %.17g", scene.law,
                 (long long)scene.n, (int)scene.d, (int)scene.shift, totals->energy,
                 reference->energy);
    for (int k = 0; k < 9; k++)
        if (!(fabs(totals->virial[k] - reference->virial[k]) <= limit))
            fail_msg("%s, %lld in %d dimensions, shift %d: virial %d is %.17g, not %.17g",
                     scene.law, (long long)scene.n, (int)scene.d, (int)scene.shift, k,
                     totals->virial[k], reference->virial[k]);
    assert_true(totals->volume == reference->volume);
}

/* Totals are wanted of some evaluations in double precision. */
static void compare_with_reference(const kith_law *law, void **prepared)
{
    void *nothing = NULL;
    double scale = 1;
    kith_forces_totals totals, reference;
    const bool has_totals = scene.dtype == KITH_F64 && uniform(0, 1) < 0.6;
    if (uniform(0, 1) < 0.5)
        assert_ok(evaluate(context, law, false, prepared, found));
    assert_ok(evaluate_totals(context, law, false, prepared, found, has_totals ? &totals : NULL));
    assert_ok(evaluate_totals(context, law, true, &nothing, expected, &reference));
    for (int64_t i = 0; i < scene.n; i++)
        for (int c = 0; c < scene.d; c++)
            scale = fmax(scale, fabs(expected[c][i]));
    /* Forces of neighbors are some hundred; what they add up to may be much less. */
    const double limit = scene.dtype == KITH_F64 ? 1e-8 : 1e-2;
    for (int64_t i = 0; i < scene.n; i++)
        for (int c = 0; c < scene.d; c++)
            if (!(fabs(found[c][i] - expected[c][i]) <= limit * scale))
                fail_msg("%s, %lld in %d dimensions, shift %d: %.17g, not %.17g of %g", scene.law,
                         (long long)scene.n, (int)scene.d, (int)scene.shift, found[c][i],
                         expected[c][i], scale);
    if (has_totals)
        compare_totals(&totals, &reference, scale);
}

static void move_all(double by)
{
    for (int64_t i = 0; i < scene.n; i++)
        for (int c = 0; c < scene.d; c++)
            scene.x[c][i] += uniform(-by, by);
    round_scene();
}

/* Shifted, forces are continuous at the cutoff, so that rounded positions change little. */
static void test_forces_by_a_list_are_those_of_all_pairs_while_particles_move(void **state)
{
    (void)state;
    static const char *const laws[] = {"lennard-jones",   "yukawa:1", "coulomb", "morse:1,2,1",
                                       "gaussian:0.5",    "sum",      "power:3", "expr:exp(-r2)",
                                       "expr:m_i*m_j/r2", mixture};
    for (size_t k = 0; k < sizeof laws / sizeof laws[0]; k++)
        for (int turn = 0; turn < 6; turn++) {
            kith_law *law = NULL;
            void *prepared = NULL;
            assert_ok(kith_law_parse(laws[k], 0, NULL, &law));
            make_scene(laws[k], KITH_SHIFT_FORCE);
            if (scene.dtype == KITH_F64 && turn % 2 == 0)
                scene.shift = turn == 0 ? KITH_SHIFT_NONE : KITH_SHIFT_ENERGY;
            if (turn >= 3)
                exclude_some();
            for (int step = 0; step < 5; step++) {
                compare_with_reference(law, &prepared);
                move_all(0.01);
            }
            forces_forget(context, &forces_solver_cutoff, &prepared);
            kith_law_free(law);
        }
}

/* Else the loop by cells sums: then not even the forces are those of exact sums. */
static bool keeps_a_list(void)
{
    struct pairs_lattice lattice;
    assert_ok(pairs_lattice_make(&scene.cell, scene.d, 1, &lattice));
    for (int k = 0; k < scene.d; k++)
        if (lattice.periodic[k] && scene.cutoff > (scene.pairs > 0 ? 0.499 : 4) * lattice.height[k])
            return false;
    return true;
}

/* A pair so near that the forces of the next evaluation are expected to be large. */
static void meet_once(const kith_law *law, void **prepared)
{
    const double x = scene.x[0][0];
    if (scene.n < 2)
        return;
    scene.x[0][0] = scene.x[0][1] + 0.3;
    round_scene();
    assert_ok(evaluate(context, law, false, prepared, found));
    scene.x[0][0] = x;
    round_scene();
}

static void test_bits_are_those_of_the_positions_alone(void **state)
{
    (void)state;
    static double kept[3][padded];
    static const char *const laws[] = {"lennard-jones", "coulomb", "sum", "expr:exp(-r2)", mixture};
    kith_context *threads = cpu_context(3);
    for (int turn = 0; turn < 30; turn++) {
        kith_law *law = NULL;
        void *prepared = NULL, *fresh = NULL;
        assert_ok(kith_law_parse(laws[turn % 5], 0, NULL, &law));
        make_scene(laws[turn % 5], turn % 10 < 5 ? KITH_SHIFT_NONE : KITH_SHIFT_FORCE);
        if (turn % 3 == 0)
            exclude_some();
        scene.skin = uniform(0.1, 0.5);
        kith_forces_totals totals, other;
        const bool has_totals = scene.dtype == KITH_F64;
        kith_forces_totals *wanted = has_totals && turn % 2 ? &totals : NULL;
        for (int step = 0; step < 6; step++) { /* the list is kept for some of them */
            assert_ok(evaluate(context, law, false, &prepared, found));
            assert_ok(evaluate_totals(context, law, false, &prepared, found, wanted));
            move_all(0.02);
        }
        meet_once(law, &prepared);
        assert_ok(evaluate(context, law, false, &prepared, found));
        memcpy(kept, found, sizeof kept);
        wanted = has_totals ? &totals : NULL;
        assert_ok(evaluate_totals(context, law, false, &prepared, found, wanted));
        for (int c = 0; c < scene.d && keeps_a_list(); c++)
            assert_memory_equal(found[c], kept[c], (size_t)scene.n * sizeof(double));
        memcpy(kept, found, sizeof kept);
        scene.skin = turn % 2 ? uniform(0.001, 2) : 0;
        assert_ok(evaluate_totals(threads, law, false, &fresh, found, has_totals ? &other : NULL));
        for (int c = 0; c < scene.d; c++)
            assert_memory_equal(found[c], kept[c], (size_t)scene.n * sizeof(double));
        if (has_totals && keeps_a_list())
            assert_memory_equal(&totals, &other, sizeof totals);
        forces_forget(context, &forces_solver_cutoff, &prepared);
        forces_forget(threads, &forces_solver_cutoff, &fresh);
        kith_law_free(law);
    }
    kith_context_free(threads);
}

/* Forces from 1 down to those that a float does not have: the unit of sums goes along. Small ones
 * change much with the rounding of positions. Those of a particle alone, by its images, cancel. */
static void test_forces_of_any_size_are_those_of_all_pairs(void **state)
{
    (void)state;
    static const char *const laws[] = {"gaussian:0.5",   "gaussian:0.1",   "gaussian:0.08",
                                       "gaussian:0.068", "gaussian:0.064", "gaussian:0.02"};
    for (size_t k = 0; k < sizeof laws / sizeof laws[0]; k++)
        for (int turn = 0; turn < 4; turn++) {
            kith_law *law = NULL;
            void *prepared = NULL, *nothing = NULL;
            double largest = 0;
            assert_ok(kith_law_parse(laws[k], 0, NULL, &law));
            do
                make_scene(laws[k], KITH_SHIFT_NONE);
            while (scene.n == 1);
            scene.dtype = turn < 3 ? KITH_F32 : KITH_F64;
            round_scene();
            assert_ok(evaluate(context, law, false, &prepared, found));
            assert_ok(evaluate(context, law, true, &nothing, expected));
            for (int64_t i = 0; i < scene.n; i++)
                for (int c = 0; c < scene.d; c++)
                    largest = fmax(largest, fabs(expected[c][i]));
            for (int64_t i = 0; i < scene.n; i++)
                for (int c = 0; c < scene.d; c++)
                    if (!(fabs(found[c][i] - expected[c][i]) <= 1e-2 * largest + 1e-36))
                        fail_msg("%s, %lld in %d dimensions: %.17g, not %.17g of %g", scene.law,
                                 (long long)scene.n, (int)scene.d, found[c][i], expected[c][i],
                                 largest);
            forces_forget(context, &forces_solver_cutoff, &prepared);
            kith_law_free(law);
        }
}

/* Of excluded pairs and mixtures, too: no loop by cells has such sums. */
static void test_forces_of_all_sum_to_zero_exactly(void **state)
{
    (void)state;
    for (int turn = 0; turn < 20; turn++) {
        kith_law *law = NULL;
        void *prepared = NULL;
        kith_forces_totals totals;
        const char *text = turn % 2 ? mixture : "lennard-jones";
        assert_ok(kith_law_parse(text, 0, NULL, &law));
        make_scene(text, turn % 5 ? KITH_SHIFT_NONE : KITH_SHIFT_FORCE);
        scene.dtype = KITH_F64;
        if (turn % 4 < 2)
            exclude_some();
        if (!keeps_a_list())
            scene.pairs = 0;
        for (int64_t i = 0; i < scene.n; i++)
            scene.m[i] = 1;
        assert_ok(evaluate_totals(context, law, false, &prepared, found, &totals));
        for (int c = 0; c < scene.d; c++) {
            double sum = 0; /* of whole units: exact */
            for (int64_t i = 0; i < scene.n; i++)
                sum += found[c][i];
            assert_true(sum == 0);
        }
        forces_forget(context, &forces_solver_cutoff, &prepared);
        kith_law_free(law);
    }
}

/* A force of infinity is left to the solver without a list. */
static void test_forces_too_large_for_units_are_summed_all_the_same(void **state)
{
    (void)state;
    kith_law *law = NULL;
    void *prepared = NULL;
    assert_ok(kith_law_parse("lennard-jones", 0, NULL, &law));
    memset(&scene, 0, sizeof scene);
    scene.n = 3;
    scene.d = 3;
    scene.dtype = KITH_F64;
    scene.cutoff = 2.5;
    scene.x[0][1] = 1e-30;
    scene.x[0][2] = 1.5;
    scene.m[0] = scene.m[1] = scene.m[2] = 1;
    round_scene();
    assert_ok(evaluate(context, law, false, &prepared, found));
    assert_true(found[1][0] == 0 && found[2][2] == 0);
    scene.x[0][1] = 1e-13; /* 2e183 */
    assert_ok(evaluate(context, law, false, &prepared, found));
    assert_true(found[0][0] < -1e100 && found[0][0] == -found[0][1]);
    scene.x[0][1] = -1.5;
    compare_with_reference(law, &prepared);
    scene.x[0][1] = 1e30; /* farther than grids count */
    assert_ok(evaluate(context, law, false, &prepared, found));
    forces_forget(context, &forces_solver_cutoff, &prepared);
    kith_law_free(law);
}

/* A melt by simulations: of whatever skin, threads and division into calls. */
static void test_a_run_has_the_same_bits_for_every_skin(void **state)
{
    (void)state;
    kith_law *law = NULL;
    assert_ok(kith_law_parse("lennard-jones", 0, NULL, &law));
    kith_bodies *bodies = made(
        "fcc",
        (kith_initial_options){.count = 256, .density = 0.8442, .temperature = 1.44, .seed = 5});
    static const double skins[] = {0, 0.001, 0.1, 0.3, 2};
    for (int narrow = 0; narrow < 2; narrow++) {
        kith_bodies *first = NULL;
        for (size_t k = 0; k < sizeof skins / sizeof skins[0]; k++) {
            const kith_simulation_options options = {
                .dt = 0.004,
                .precision = narrow ? KITH_F32 : KITH_F64,
                .skin = skins[k],
                .forces = {.law = law, .cutoff = 2.5, .shift = KITH_SHIFT_FORCE}};
            kith_context *with = cpu_context(k % 2 ? 2 : 1);
            kith_simulation *simulation = NULL;
            kith_bodies *last = NULL;
            assert_ok(kith_bodies_create(256, 3, KITH_VELOCITY | KITH_MASS, &last));
            assert_ok(kith_simulation_create(with, &options, bodies, &simulation));
            assert_ok(kith_simulation_step(simulation, 300));
            assert_ok(kith_simulation_get_bodies(simulation, last));
            kith_simulation_free(simulation);
            kith_context_free(with);
            if (!first) {
                first = last;
                continue;
            }
            assert_memory_equal(first->position, last->position, 256 * 3 * sizeof(double));
            assert_memory_equal(first->velocity, last->velocity, 256 * 3 * sizeof(double));
            kith_bodies_free(last);
        }
        kith_bodies_free(first);
    }
    kith_simulation *none = NULL;
    kith_simulation_options wrong = {.dt = 1, .skin = -1, .forces = {.law = law, .cutoff = 2.5}};
    assert_fails(kith_simulation_create(context, &wrong, bodies, &none), KITH_INVALID_ARGUMENT,
                 "skin -1");
    wrong = (kith_simulation_options){.dt = 1, .skin = 1};
    assert_fails(kith_simulation_create(context, &wrong, bodies, &none), KITH_INVALID_ARGUMENT,
                 "cutoff skin 1 0");
    kith_bodies_free(bodies);
    kith_law_free(law);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forces_by_a_list_are_those_of_all_pairs_while_particles_move),
        cmocka_unit_test(test_bits_are_those_of_the_positions_alone),
        cmocka_unit_test(test_forces_of_any_size_are_those_of_all_pairs),
        cmocka_unit_test(test_forces_of_all_sum_to_zero_exactly),
        cmocka_unit_test(test_forces_too_large_for_units_are_summed_all_the_same),
        cmocka_unit_test(test_a_run_has_the_same_bits_for_every_skin),
    };
    numbers = random_numbers_begin("Verlet lists");
    context = cpu_context(2);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    kith_context_free(context);
    return failed;
}
