/* Whole steps of small systems in one call of the backend, against kick by kick and drift by drift
 * through its combine and forces. */

#include "laid_out.h"

#include "forces/backend.h"
#include "simulation/advance.h"
#include "simulation/backend.h"
#include "simulation/integrator.h"

enum { max_bodies = 70 };

enum softening { none, common, of_bodies, softening_count };

static void soften(struct laid_out *made, enum softening softening)
{
    if (softening == common)
        made->problem.softening2 = 0.01;
    if (softening == of_bodies)
        laid_out_soften_by_bodies(made);
}

/* The k-th integrator that is a composition; NULL past the last. */
static const struct integrator_method *composition_at(int64_t k)
{
    int64_t count = 0;
    const kith_integrator *list = kith_integrator_list(&count);
    for (int64_t row = 0; row < count; row++) {
        const struct integrator_method *method = NULL;
        assert_ok(integrator_find(list[row].name, &method));
        if (method->composition.stage_count > 0 && k-- == 0)
            return method;
    }
    return NULL;
}

static const struct integrator_method *leapfrog(void)
{
    const struct integrator_method *method = NULL;
    assert_ok(integrator_find("leapfrog", &method));
    return method;
}

/* Begins with a kick by forces that it evaluates itself. */
static const struct integrator_method *symplectic_euler(void)
{
    const struct integrator_method *method = NULL;
    assert_ok(integrator_find("symplectic-euler", &method));
    return method;
}

/* Forces at the positions, for integrators that keep them. */
static void evaluate(kith_context *context, struct laid_out *made)
{
    struct forces_problem problem = made->problem;
    problem.potential = NULL;
    memset(problem.jerk, 0, sizeof problem.jerk);
    assert_ok(forces_backend_of(context)->evaluate(context, &problem));
}

static void step_generally(kith_context *context, struct laid_out *made,
                           const struct integrator_method *method, double h)
{
    const int64_t count = laid_out_column_count(&made->problem);
    bool fits = method->kept > ACCELERATION;
    for (int32_t k = 0; k < method->composition.stage_count; k++) {
        const struct composition_stage stage = method->composition.stages[k];
        const double kick[] = {1, stage.kick * h}, drift[] = {1, stage.drift * h};
        if (stage.kick != 0 && !fits)
            evaluate(context, made);
        fits = stage.drift == 0 && (fits || stage.kick != 0);
        for (int64_t c = 0; c < made->problem.dimensions; c++) {
            void *x = laid_out_column(made, X + c).data, *v = laid_out_column(made, V + c).data;
            const void *to_v[] = {v, laid_out_column(made, A + c).data}, *to_x[] = {x, v};
            const kith_dtype dtype = made->problem.dtype;
            if (stage.kick != 0)
                assert_ok(context->services->combine(context, dtype, count, 2, kick, to_v, v));
            if (stage.drift != 0)
                assert_ok(context->services->combine(context, dtype, count, 2, drift, to_x, x));
        }
    }
}

/* What did not fit into positions and velocities: columns of zeros at first. */
struct lost {
    double *columns;
    int64_t count; /* of a column */
};

static struct lost nothing_lost(const struct laid_out *made)
{
    const int64_t count = laid_out_column_count(&made->problem);
    const struct lost lost = {calloc((size_t)(6 * count + 1), sizeof(double)), count};
    assert_non_null(lost.columns);
    return lost;
}

/* How many steps the backend has done. */
static int64_t advance_on(kith_context *context, struct laid_out *made, const struct lost *lost,
                          const struct integrator_method *method, double h, int64_t steps)
{
    struct advance_problem problem = {
        .forces = made->problem,
        .composition = method->composition,
        .keeps_acceleration = method->kept > ACCELERATION,
        .h = h,
        .steps = steps,
    };
    problem.forces.potential = NULL;
    for (int32_t c = 0; c < made->problem.dimensions; c++) {
        problem.position[c] = laid_out_column(made, X + c).data;
        problem.velocity[c] = laid_out_column(made, V + c).data;
        problem.acceleration[c] = laid_out_column(made, A + c).data;
        problem.lost_position[c] = lost->columns + c * lost->count;
        problem.lost_velocity[c] = lost->columns + (3 + c) * lost->count;
        problem.forces.target_position[c] = problem.forces.source_position[c] = NULL;
        problem.forces.acceleration[c] = problem.forces.jerk[c] = NULL;
    }
    int64_t done = -1;
    assert_ok(simulation_backend_of(context)->advance(context, &problem, &done));
    return done;
}

/* The same from a start with nothing lost. */
static int64_t advance(kith_context *context, struct laid_out *made,
                       const struct integrator_method *method, double h, int64_t steps)
{
    const struct lost lost = nothing_lost(made);
    const int64_t done = advance_on(context, made, &lost, method, h, steps);
    free(lost.columns);
    return done;
}

/* Bounds on the relative difference of positions and velocities, and of accelerations, which close
 * pairs blow up. */
static double bound_of_motion(kith_dtype dtype)
{
    return dtype == KITH_F64 ? 1e-13 : 1e-5;
}

static double bound_of_acceleration(kith_dtype dtype)
{
    return dtype == KITH_F64 ? 1e-11 : 1e-3;
}

/* One system is, in up to eight vectors; an ensemble always. */
static bool is_advanced(const kith_context *context, const struct laid_out *made)
{
    const char *isa = kith_context_isa(context);
    const int64_t bytes = strcmp(isa, "v4") == 0 ? 64 : strcmp(isa, "v3") == 0 ? 32 : 16;
    return made->problem.system_count > 0 ||
           made->problem.target_count <= 8 * bytes / kith_dtype_bytes(made->problem.dtype);
}

/* Advances a copy, and each of its systems generally. */
static void compare(kith_context *context, const struct laid_out *start,
                    const struct integrator_method *method, double h, int64_t steps)
{
    const kith_dtype dtype = start->problem.dtype;
    const int32_t dimensions = start->problem.dimensions;
    struct laid_out advanced = laid_out_clone(start);
    evaluate(context, &advanced);
    if (!is_advanced(context, start))
        steps = 0;
    assert_int_equal(advance(context, &advanced, method, h, steps > 0 ? steps : 1), steps);
    for (int64_t s = 0; s < laid_out_systems(start); s++) {
        struct laid_out expected = laid_out_copy(start, s, dtype, 0);
        evaluate(context, &expected);
        for (int64_t step = 0; step < steps; step++)
            step_generally(context, &expected, method, h);
        for (int64_t k = X; k <= V; k += V - X)
            assert_less(laid_out_difference(&advanced, s, &expected, k, dimensions),
                        bound_of_motion(dtype));
        if (method->kept > ACCELERATION)
            assert_less(laid_out_difference(&advanced, s, &expected, A, dimensions),
                        bound_of_acceleration(dtype));
        laid_out_free(&expected);
    }
    laid_out_free(&advanced);
}

typedef void per_isa_test(kith_context *context, struct random_numbers *random, kith_dtype dtype);

static void for_each_isa(per_isa_test *test, struct random_numbers *random)
{
    for (int64_t k = 0; isa_at(k); k++) {
        if (!isa_at(k)->supported)
            continue;
        kith_context *context = new_context(isa_at(k)->name, 2);
        for (kith_dtype dtype = KITH_F64; dtype <= KITH_F32; dtype++)
            test(context, random, dtype);
        kith_context_free(context);
    }
}

/* Steps forwards and backwards, with each kind of softening, in 2D and 3D. */
static void compare_all(kith_context *context, struct random_numbers *random, kith_dtype dtype,
                        int64_t n, int64_t systems, const struct integrator_method *method)
{
    for (int32_t dimensions = 2; dimensions <= 3; dimensions++)
        for (enum softening softening = none; softening < softening_count; softening++) {
            struct laid_out start = laid_out_create(dtype, n, systems, dimensions);
            laid_out_fill(&start, random);
            soften(&start, softening);
            compare(context, &start, method, softening == none ? 1e-5 : -1e-3, 3);
            laid_out_free(&start);
        }
}

static void compare_numbers_of_bodies(kith_context *context, struct random_numbers *random,
                                      kith_dtype dtype)
{
    for (int64_t n = 1; n <= 64; n++)
        compare_all(context, random, dtype, n, 0, n % 2 ? leapfrog() : composition_at(n / 2 % 10));
}

static void test_steps_of_every_number_of_bodies_agree_with_the_general_path(void **state)
{
    for_each_isa(compare_numbers_of_bodies, *state);
}

static void compare_integrators(kith_context *context, struct random_numbers *random,
                                kith_dtype dtype)
{
    static const int64_t sizes[] = {1, 2, 3, 6, 9, 18};
    for (int64_t k = 0; composition_at(k); k++)
        for (size_t size = 0; size < sizeof sizes / sizeof sizes[0]; size++)
            compare_all(context, random, dtype, sizes[size], 0, composition_at(k));
}

static void test_steps_of_every_composition_agree_with_the_general_path(void **state)
{
    assert_non_null(composition_at(9));
    assert_null(composition_at(10));
    for_each_isa(compare_integrators, *state);
}

static void compare_ensembles(kith_context *context, struct random_numbers *random,
                              kith_dtype dtype)
{
    static const int64_t sizes[][2] = {{1, 3}, {2, 8}, {3, 7}, {6, 1}, {6, 100}, {9, 9}, {64, 2}};
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++)
        compare_all(context, random, dtype, sizes[k][0], sizes[k][1], leapfrog());
    for (int64_t k = 0; composition_at(k); k++)
        compare_all(context, random, dtype, 5, 9, composition_at(k));
}

static void test_steps_of_ensembles_agree_with_the_general_path(void **state)
{
    for_each_isa(compare_ensembles, *state);
}

/* A third of the bodies without mass. */
static void compare_massless(kith_context *context, struct random_numbers *random, kith_dtype dtype)
{
    for (int64_t n = 1; n <= 34; n += 3)
        for (int64_t systems = 0; systems <= 2; systems += 2) {
            struct laid_out start = laid_out_create(dtype, n, systems, 3);
            laid_out_fill(&start, random);
            for (int64_t i = 0; i < n; i += 3)
                for (int64_t s = 0; s < laid_out_systems(&start); s++)
                    laid_out_put(&start, MASS, i, s, 0);
            compare(context, &start, leapfrog(), 1e-5, 4);
            laid_out_free(&start);
        }
}

static void test_bodies_without_mass_only_follow(void **state)
{
    for_each_isa(compare_massless, *state);
}

/* Bodies at few places, in steps of length 0 and in one that moves them off only at its end. */
static void compare_coincident(kith_context *context, struct random_numbers *random,
                               kith_dtype dtype)
{
    for (int64_t n = 2; n <= 40; n++)
        for (int64_t systems = 0; systems <= 3; systems += 3) {
            struct laid_out start = laid_out_create(dtype, n, systems, 3);
            laid_out_fill(&start, random);
            for (int64_t i = 0; i < n; i++)
                for (int64_t s = 0; s < laid_out_systems(&start); s++)
                    for (int64_t c = X; c < X + 3; c++)
                        laid_out_put(&start, c, i, s, floor(random_uniform(random, 0, 2)));
            compare(context, &start, leapfrog(), 0, 3);
            compare(context, &start, symplectic_euler(), 1e-3, 1);
            laid_out_free(&start);
        }
}

static void test_coincident_bodies_leave_each_other_alone(void **state)
{
    for_each_isa(compare_coincident, *state);
}

/* The lanes without a body are at the origin: a body that is all but there would throw them out of
 * the range of numbers, if they could move, and them the others after them. */
static void advance_at_origin(kith_context *context, struct random_numbers *random,
                              kith_dtype dtype)
{
    for (int64_t n = 1; n <= 64; n++) {
        struct laid_out made = laid_out_create(dtype, n, 0, 3);
        laid_out_fill(&made, random);
        for (int64_t c = X; c < X + 3; c++)
            laid_out_put(&made, c, 0, 0, dtype == KITH_F64 ? 1e-90 : 1e-12);
        assert_int_equal(advance(context, &made, symplectic_euler(), 1, 5),
                         is_advanced(context, &made) ? 5 : 0);
        for (int64_t c = X; c < X + 3; c++)
            for (int64_t i = 0; i < n; i++)
                assert_true(isfinite(laid_out_get(&made, c, i, 0)));
        laid_out_free(&made);
    }
}

static void test_the_lanes_without_a_body_move_nothing(void **state)
{
    for_each_isa(advance_at_origin, *state);
}

static void assert_same_bits(const struct laid_out *a, const struct laid_out *b, int64_t columns)
{
    const int64_t bytes =
        columns * laid_out_column_count(&a->problem) * kith_dtype_bytes(a->problem.dtype);
    assert_memory_equal(a->memory, b->memory, (size_t)bytes);
}

/* The columns up to the accelerations, and nothing written past the last body. */
static void compare_parts(kith_context *context, struct random_numbers *random, kith_dtype dtype)
{
    static const int64_t sizes[] = {1, 2, 6, 9, 13, 20, 64};
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++)
        for (int64_t systems = 0; systems <= 11; systems += 11)
            for (int64_t row = 0; composition_at(row); row++) {
                const struct integrator_method *method = composition_at(row);
                struct laid_out whole = laid_out_create(dtype, sizes[k], systems, 3);
                laid_out_fill(&whole, random);
                evaluate(context, &whole);
                struct laid_out parts = laid_out_clone(&whole);
                const int64_t done = is_advanced(context, &whole) ? 1 : 0;
                assert_int_equal(advance(context, &whole, method, 1e-3, 7), 7 * done);
                const struct lost lost = nothing_lost(&parts);
                assert_int_equal(advance_on(context, &parts, &lost, method, 1e-3, 3), 3 * done);
                for (int step = 0; step < 4; step++)
                    assert_int_equal(advance_on(context, &parts, &lost, method, 1e-3, 1), done);
                assert_same_bits(&whole, &parts, method->kept > ACCELERATION ? A + 3 : A);
                if (systems == 0)
                    for (int64_t column = X; column < V + 3; column++)
                        for (int64_t i = sizes[k]; i < kith_padded(sizes[k]); i++)
                            assert_true(get(laid_out_column(&whole, column), i) == 0);
                free(lost.columns);
                laid_out_free(&whole);
                laid_out_free(&parts);
            }
}

static void test_the_bits_do_not_depend_on_how_steps_are_split(void **state)
{
    for_each_isa(compare_parts, *state);
}

static void test_the_bits_of_ensembles_are_the_same_for_every_number_of_threads(void **state)
{
    static const int32_t threads[] = {2, 3, 7, 16};
    for (kith_dtype dtype = KITH_F64; dtype <= KITH_F32; dtype++) {
        struct laid_out start = laid_out_create(dtype, 6, 999, 3);
        laid_out_fill(&start, *state);
        kith_context *context = new_context(NULL, 1);
        evaluate(context, &start);
        struct laid_out by_one = laid_out_clone(&start);
        assert_int_equal(advance(context, &by_one, leapfrog(), 1e-3, 20), 20);
        kith_context_free(context);
        for (size_t t = 0; t < sizeof threads / sizeof threads[0]; t++) {
            struct laid_out by_many = laid_out_clone(&start);
            context = new_context(NULL, threads[t]);
            assert_int_equal(advance(context, &by_many, leapfrog(), 1e-3, 20), 20);
            assert_same_bits(&by_many, &by_one, A + 3);
            kith_context_free(context);
            laid_out_free(&by_many);
        }
        laid_out_free(&by_one);
        laid_out_free(&start);
    }
}

static void compare_alone(kith_context *context, struct random_numbers *random, kith_dtype dtype)
{
    struct laid_out ensemble = laid_out_create(dtype, 6, 35, 3);
    laid_out_fill(&ensemble, random);
    evaluate(context, &ensemble);
    struct laid_out advanced = laid_out_clone(&ensemble);
    assert_int_equal(advance(context, &advanced, leapfrog(), 1e-3, 20), 20);
    for (int64_t s = 0; s < 35; s++) {
        struct laid_out alone = laid_out_copy(&ensemble, s, dtype, 1);
        assert_int_equal(advance(context, &alone, leapfrog(), 1e-3, 20), 20);
        for (int64_t k = X; k < A + 3; k++)
            for (int64_t i = 0; i < 6; i++)
                assert_true(laid_out_get(&alone, k, i, 0) == laid_out_get(&advanced, k, i, s));
        laid_out_free(&alone);
    }
    laid_out_free(&advanced);
    laid_out_free(&ensemble);
}

static void test_a_system_alone_has_the_bits_that_it_has_among_others(void **state)
{
    for_each_isa(compare_alone, *state);
}

static void test_what_the_kernels_are_not_made_for_is_left_to_the_general_path(void **state)
{
    kith_context *context = new_context(NULL, 1);
    for (kith_dtype dtype = KITH_F64; dtype <= KITH_F32; dtype++)
        for (int64_t n = 64; n <= max_bodies; n++) {
            struct laid_out made = laid_out_create(dtype, n, 0, 3);
            laid_out_fill(&made, *state);
            const int64_t done = n == 64 && is_advanced(context, &made) ? 5 : 0;
            assert_int_equal(advance(context, &made, leapfrog(), 1e-3, 5), done);
            made.problem.gravitational_constant = dtype == KITH_F64 ? 1e-290 : 1e-25;
            assert_int_equal(advance(context, &made, leapfrog(), 1e-3, 5), 0);
            made.problem.gravitational_constant = 0;
            assert_int_equal(advance(context, &made, leapfrog(), 1e-3, 5), done);
            laid_out_free(&made);
        }
    kith_context_free(context);
}

/* A simulation in other units of length, time and mass is the same one, to the bit where the units
 * are powers of two. */
static void test_the_unit_of_length_changes_no_bit(void **state)
{
    (void)state;
    for (int exponent = -50; exponent <= 50; exponent += 100)
        for (int64_t n = 6; n <= 26; n += 10)
            for (kith_dtype dtype = KITH_F64; dtype <= KITH_F32; dtype++) {
                const double length = ldexp(1, exponent), mass = ldexp(1, -exponent);
                kith_context *context = new_context(NULL, 1);
                const kith_initial_options recipe = {.count = n};
                kith_bodies *bodies = NULL, *other = NULL;
                assert_ok(kith_initial_make("plummer", &recipe, &bodies));
                assert_ok(kith_initial_make("plummer", &recipe, &other));
                for (int64_t k = 0; k < 3 * n; k++) {
                    other->position[k] *= length;
                    other->velocity[k] *= length;
                }
                for (int64_t i = 0; i < n; i++)
                    other->mass[i] *= mass;

                kith_simulation_options options = {
                    .dt = 1e-3, .forces.softening = 0.1, .precision = dtype};
                kith_simulation *simulation = NULL, *scaled = NULL;
                assert_ok(kith_simulation_create(context, &options, bodies, &simulation));
                options.forces.softening *= length;
                options.forces.gravitational_constant = length * length * length / mass;
                assert_ok(kith_simulation_create(context, &options, other, &scaled));
                assert_ok(kith_simulation_step(simulation, 100));
                assert_ok(kith_simulation_step(scaled, 100));
                assert_ok(kith_simulation_get_bodies(simulation, bodies));
                assert_ok(kith_simulation_get_bodies(scaled, other));
                for (int64_t k = 0; k < 3 * n; k++) {
                    assert_true(other->position[k] == bodies->position[k] * length);
                    assert_true(other->velocity[k] == bodies->velocity[k] * length);
                }
                kith_simulation_free(simulation);
                kith_simulation_free(scaled);
                kith_bodies_free(bodies);
                kith_bodies_free(other);
                kith_context_free(context);
            }
}

int main(void)
{
    struct random_numbers random = random_numbers_begin("advance");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_steps_of_every_number_of_bodies_agree_with_the_general_path,
                                  &random),
        cmocka_unit_test_prestate(test_steps_of_every_composition_agree_with_the_general_path,
                                  &random),
        cmocka_unit_test_prestate(test_steps_of_ensembles_agree_with_the_general_path, &random),
        cmocka_unit_test_prestate(test_bodies_without_mass_only_follow, &random),
        cmocka_unit_test_prestate(test_coincident_bodies_leave_each_other_alone, &random),
        cmocka_unit_test_prestate(test_the_lanes_without_a_body_move_nothing, &random),
        cmocka_unit_test_prestate(test_the_bits_do_not_depend_on_how_steps_are_split, &random),
        cmocka_unit_test_prestate(
            test_the_bits_of_ensembles_are_the_same_for_every_number_of_threads, &random),
        cmocka_unit_test_prestate(test_a_system_alone_has_the_bits_that_it_has_among_others,
                                  &random),
        cmocka_unit_test_prestate(
            test_what_the_kernels_are_not_made_for_is_left_to_the_general_path, &random),
        cmocka_unit_test(test_the_unit_of_length_changes_no_bit),
    };
    return cmocka_run_group_tests_name("advance", tests, NULL, NULL);
}
