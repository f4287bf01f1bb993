#include "simulating.h"

#include <stdlib.h>

#include "random_numbers.h"

static const char *const precisions[] = {[KITH_F64] = "double", [KITH_F32] = "float"};

/* M × N random bodies, a massless one now and then. */
static kith_bodies *random_ensemble(struct random_numbers *numbers, int64_t systems, int64_t count,
                                    int32_t dimensions, unsigned columns)
{
    kith_bodies *all = NULL;
    assert_ok(kith_bodies_create(systems * count, dimensions, columns, &all));
    for (int64_t k = 0; k < all->count * dimensions; k++) {
        all->position[k] = random_uniform(numbers, -1, 1);
        if (all->velocity)
            all->velocity[k] = random_uniform(numbers, -1, 1);
    }
    for (int64_t i = 0; i < all->count; i++) {
        if (all->mass)
            all->mass[i] = fmax(0, random_uniform(numbers, -0.1, 1));
        if (all->softening)
            all->softening[i] = random_uniform(numbers, 0.1, 0.3);
    }
    all->time = random_uniform(numbers, -5, 5);
    return all;
}

static kith_simulation *ensemble_of(kith_context *context, const kith_bodies *all, int64_t systems,
                                    kith_simulation_options options)
{
    kith_simulation *simulation = NULL;
    assert_ok(kith_simulation_create_ensemble(context, &options, systems, all, &simulation));
    return simulation;
}

static void assert_near(double found, double expected, double tolerance, const char *what)
{
    if (!(fabs(found - expected) <= tolerance))
        fail_msg("%s: %.17g is not within %g of %.17g", what, found, tolerance, expected);
}

static void assert_near_states(const kith_bodies *found, const kith_bodies *expected,
                               double tolerance, const char *what)
{
    assert_int_equal(found->count, expected->count);
    assert_true(found->time == expected->time);
    for (int64_t k = 0; k < found->count * found->dimensions; k++) {
        assert_near(found->position[k], expected->position[k], tolerance, what);
        assert_near(found->velocity[k], expected->velocity[k], tolerance, what);
    }
}

/* Energies are sums of terms of one sign: their rounding errors grow with the sums. */
static void assert_near_diagnostics(const kith_diagnostics *found, const kith_diagnostics *expected,
                                    double tolerance)
{
    const double kinetic = expected->kinetic_energy;
    const double potential = expected->potential_energy;
    assert_near(found->kinetic_energy, kinetic, tolerance * fmax(1, fabs(kinetic)),
                "kinetic energy");
    assert_near(found->potential_energy, potential, tolerance * fmax(1, fabs(potential)),
                "potential energy");
    assert_near(found->total_energy, expected->total_energy,
                tolerance * fmax(1, fabs(kinetic) + fabs(potential)), "total energy");
    for (int k = 0; k < 3; k++) {
        assert_near(found->momentum[k], expected->momentum[k], tolerance, "momentum");
        assert_near(found->angular_momentum[k], expected->angular_momentum[k], tolerance,
                    "angular momentum");
        assert_near(found->center_of_mass[k], expected->center_of_mass[k], tolerance, "center");
    }
    assert_true(isnan(found->virial_ratio) == isnan(expected->virial_ratio));
    if (!isnan(found->virial_ratio))
        assert_near(found->virial_ratio, expected->virial_ratio,
                    100 * tolerance * (1 + fabs(expected->virial_ratio)), "virial ratio");
}

/* Runs an ensemble, and each of its systems alone. */
static void assert_equals_its_systems_alone(kith_context *context, const kith_bodies *all,
                                            int64_t systems, kith_simulation_options options)
{
    char what[128];
    snprintf(what, sizeof what, "%s, %s, %lld systems of %lld bodies in %dD", options.integrator,
             precisions[options.precision], (long long)systems, (long long)(all->count / systems),
             (int)all->dimensions);
    const double tolerance = options.precision == KITH_F64 ? 1e-12 : 1e-5;
    const double until = all->time + 20.5 * options.dt;
    kith_simulation *ensemble = ensemble_of(context, all, systems, options);
    assert_int_equal(kith_simulation_systems(ensemble), systems);
    assert_ok(kith_simulation_run(ensemble, until));
    assert_true(kith_simulation_time(ensemble) == until);
    kith_bodies *state = state_of(ensemble, all);
    kith_diagnostics *each = calloc((size_t)systems, sizeof *each);
    assert_ok(kith_simulation_diagnose_systems(ensemble, 0, systems, each));

    for (int64_t s = 0; s < systems; s++) {
        const kith_bodies one = kith_ensemble_system(all, systems, s);
        kith_simulation *alone = simulated(context, &one, options);
        assert_ok(kith_simulation_run(alone, until));
        kith_bodies *expected = state_of(alone, &one);
        const kith_bodies found = kith_ensemble_system(state, systems, s);
        const kith_diagnostics diagnostics = diagnosed(alone);
        assert_near_states(&found, expected, tolerance, what);
        assert_near_diagnostics(&each[s], &diagnostics, (double)one.count * tolerance);
        kith_bodies_free(expected);
        kith_simulation_free(alone);
    }
    free(each);
    kith_bodies_free(state);
    kith_simulation_free(ensemble);
}

static void test_each_system_moves_as_if_it_were_alone(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("ensemble");
    kith_context *context = cpu_context(1);
    int64_t integrators = 0;
    const kith_integrator *list = kith_integrator_list(&integrators);
    static const int64_t systems[] = {1, 2, 3, 7, 8, 31, 64, 65, 130};
    for (int64_t k = 0; k < 4 * integrators; k++) {
        if (list[k / 4].adaptive || list[k / 4].central)
            continue; /* for one system; test_whfast.c */
        const int64_t count = (int64_t)random_uniform(&numbers, 1, 9);
        const unsigned columns = (k % 3 ? KITH_VELOCITY | KITH_MASS : 0) | KITH_SOFTENING;
        kith_bodies *all =
            random_ensemble(&numbers, systems[k % 9], count, k % 4 < 2 ? 3 : 2, columns);
        const kith_simulation_options options = {
            .dt = 1e-3,
            .integrator = list[k / 4].name,
            .forces.gravitational_constant = random_uniform(&numbers, 0.1, 2),
            .forces.softening = k % 5 ? random_uniform(&numbers, 0.1, 0.2) : 0,
            .softening_of_bodies = k % 5 == 0,
            .precision = k % 2 ? KITH_F32 : KITH_F64};
        assert_equals_its_systems_alone(context, all, systems[k % 9], options);
        kith_bodies_free(all);
    }
    kith_context_free(context);
}

static void test_systems_of_the_most_bodies_move_as_if_they_were_alone(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("largest systems");
    kith_context *context = cpu_context(1);
    kith_bodies *all =
        random_ensemble(&numbers, 5, kith_most_bodies_of_system, 3, KITH_VELOCITY | KITH_MASS);
    kith_simulation_options options = {
        .dt = 1e-4, .integrator = "leapfrog", .forces.softening = 0.2};
    assert_equals_its_systems_alone(context, all, 5, options);
    options.integrator = "hermite4";
    assert_equals_its_systems_alone(context, all, 5, options);
    kith_bodies_free(all);
    kith_context_free(context);
}

/* Units are common: the largest system must not take the digits of the others. */
static void assert_keeps_digits(struct random_numbers *numbers, kith_dtype precision, double small)
{
    const double scales[] = {small, 1, 100 * small};
    kith_context *context = cpu_context(1);
    kith_bodies *all = random_ensemble(numbers, 3, 3, 3, KITH_MASS);
    for (int64_t i = 0; i < 9; i++) {
        const double scale = scales[i / 3];
        all->mass[i] = (all->mass[i] + 0.1) * scale * scale * scale;
        for (int64_t k = 3 * i; k < 3 * i + 3; k++)
            all->position[k] *= scale;
    }
    const kith_simulation_options options = {.dt = 1e-3, .precision = precision};
    kith_simulation *ensemble = ensemble_of(context, all, 3, options);
    assert_ok(kith_simulation_step(ensemble, 20));
    kith_bodies *found = state_of(ensemble, all);
    for (int64_t s = 0; s < 3; s++) {
        const kith_bodies one = kith_ensemble_system(all, 3, s);
        const kith_bodies found_one = kith_ensemble_system(found, 3, s);
        kith_simulation *alone = simulated(context, &one, options);
        assert_ok(kith_simulation_step(alone, 20));
        kith_bodies *expected = state_of(alone, &one);
        const double tolerance = precision == KITH_F64 ? 1e-11 : 1e-4;
        assert_near_states(&found_one, expected, tolerance * scales[s], precisions[precision]);
        kith_bodies_free(expected);
        kith_simulation_free(alone);
    }
    kith_bodies_free(found);
    kith_simulation_free(ensemble);
    kith_bodies_free(all);
    kith_context_free(context);
}

static void test_systems_of_very_different_size_keep_their_digits(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("scales");
    assert_keeps_digits(&numbers, KITH_F64, 1e-40);
    assert_keeps_digits(&numbers, KITH_F32, 1e-4);
}

static void test_the_bits_do_not_depend_on_threads_or_on_how_steps_are_split(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("bits");
    kith_bodies *all = random_ensemble(&numbers, 301, 6, 3, KITH_VELOCITY | KITH_MASS);
    static const char *const names[] = {"leapfrog", "yoshida6", "pefrl", "rk4", "hermite4"};
    for (int k = 0; k < 10; k++) {
        const kith_simulation_options options = {.dt = 1e-3,
                                                 .integrator = names[k / 2],
                                                 .forces.softening = 0.1,
                                                 .precision = k % 2 ? KITH_F32 : KITH_F64};
        static const int32_t threads[] = {1, 2, 3, 7};
        kith_bodies *first = NULL;
        for (int t = 0; t < 4; t++) {
            kith_context *context = cpu_context(threads[t]);
            kith_simulation *simulation = ensemble_of(context, all, 301, options);
            for (int64_t steps = 0; t > 0 && steps < t; steps++)
                assert_ok(kith_simulation_step(simulation, steps));
            assert_ok(kith_simulation_run(simulation, all->time + 0.0155));
            kith_bodies *found = state_of(simulation, all);
            if (first)
                assert_same_state(found, first);
            kith_bodies_free(first);
            first = found;
            kith_simulation_free(simulation);
            kith_context_free(context);
        }
        kith_bodies_free(first);
    }
    kith_bodies_free(all);
}

static void test_a_restored_ensemble_goes_on_with_the_same_bits(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("checkpoint");
    kith_context *context = cpu_context(1);
    int64_t integrators = 0;
    const kith_integrator *list = kith_integrator_list(&integrators);
    for (int64_t k = 0; k < 2 * integrators; k++) {
        if (list[k / 2].adaptive || list[k / 2].central)
            continue;
        kith_bodies *all = random_ensemble(&numbers, 67, 3, k % 3 ? 3 : 2, KITH_VELOCITY);
        const kith_simulation_options options = {.dt = 1e-3,
                                                 .integrator = list[k / 2].name,
                                                 .forces.softening = 0.1,
                                                 .precision = k % 2 ? KITH_F32 : KITH_F64};
        kith_simulation *first = ensemble_of(context, all, 67, options);
        kith_simulation *second = ensemble_of(context, all, 67, options);
        kith_checkpoint checkpoint = {0};
        assert_ok(kith_simulation_run(first, all->time + 0.0123));
        assert_ok(kith_simulation_save(first, &checkpoint));
        assert_ok(kith_simulation_restore(second, &checkpoint));
        assert_ok(kith_simulation_run(first, all->time + 0.02));
        assert_ok(kith_simulation_run(second, all->time + 0.02));
        kith_bodies *a = state_of(first, all), *b = state_of(second, all);
        assert_same_state(a, b);
        kith_bodies_free(a);
        kith_bodies_free(b);
        kith_checkpoint_free(&checkpoint);
        kith_simulation_free(first);
        kith_simulation_free(second);
        kith_bodies_free(all);
    }
    kith_context_free(context);
}

static void test_a_checkpoint_of_other_systems_is_refused(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("other checkpoint");
    kith_context *context = cpu_context(1);
    kith_bodies *all = random_ensemble(&numbers, 6, 2, 3, 0);
    kith_bodies *fewer = random_ensemble(&numbers, 5, 2, 3, 0);
    kith_simulation *first = ensemble_of(context, all, 6, (kith_simulation_options){.dt = 1});
    kith_simulation *second = ensemble_of(context, fewer, 5, (kith_simulation_options){.dt = 1});
    kith_checkpoint checkpoint = {0};
    assert_ok(kith_simulation_save(first, &checkpoint));
    assert_fails(kith_simulation_restore(second, &checkpoint), KITH_INVALID_ARGUMENT, "bytes");
    kith_checkpoint_free(&checkpoint);
    kith_simulation_free(first);
    kith_simulation_free(second);
    kith_bodies_free(all);
    kith_bodies_free(fewer);
    kith_context_free(context);
}

static void test_some_systems_are_rows_of_all(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("ranges");
    kith_context *context = cpu_context(1);
    kith_bodies *all = random_ensemble(&numbers, 150, 4, 2, KITH_VELOCITY | KITH_MASS);
    for (int k = 0; k < 2; k++) {
        const kith_simulation_options options = {.dt = 1e-3, .precision = k ? KITH_F32 : KITH_F64};
        kith_simulation *simulation = ensemble_of(context, all, 150, options);
        kith_bodies *state_of_all = state_of(simulation, all);
        kith_diagnostics each[150], some[150];
        assert_ok(kith_simulation_diagnose_systems(simulation, 0, 150, each));
        static const int64_t ranges[][2] = {{0, 1}, {149, 1}, {17, 70}, {150, 0}, {0, 150}};
        for (int r = 0; r < 5; r++) {
            const int64_t first = ranges[r][0], systems = ranges[r][1];
            kith_bodies *found = NULL;
            assert_ok(kith_bodies_create(4 * systems, 2, KITH_VELOCITY, &found));
            assert_ok(kith_simulation_get_systems(simulation, first, systems, found));
            kith_bodies expected = kith_ensemble_system(state_of_all, 150, first);
            expected.count = found->count;
            assert_same_state(found, &expected);
            assert_ok(kith_simulation_diagnose_systems(simulation, first, systems, some));
            if (systems > 0)
                assert_memory_equal(some, each + first, (size_t)systems * sizeof *some);
            kith_bodies_free(found);
        }
        kith_bodies_free(state_of_all);
        kith_simulation_free(simulation);
    }
    kith_bodies_free(all);
    kith_context_free(context);
}

static void test_diagnostics_of_all_are_the_sums_over_systems(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("sums");
    kith_context *context = cpu_context(1);
    kith_bodies *all = random_ensemble(&numbers, 70, 5, 3, KITH_VELOCITY | KITH_MASS);
    kith_simulation *simulation = ensemble_of(context, all, 70, (kith_simulation_options){.dt = 1});
    kith_diagnostics each[70];
    assert_ok(kith_simulation_diagnose_systems(simulation, 0, 70, each));
    double energy = 0, momentum = 0, spin = 0;
    for (int s = 0; s < 70; s++) {
        energy += each[s].total_energy;
        momentum += each[s].momentum[1];
        spin += each[s].angular_momentum[2];
    }
    const kith_diagnostics sum = diagnosed(simulation);
    assert_near(sum.total_energy, energy, 1e-12 * fabs(energy), "energy");
    assert_near(sum.momentum[1], momentum, 1e-12, "momentum");
    assert_near(sum.angular_momentum[2], spin, 1e-12, "angular momentum");
    kith_simulation_free(simulation);
    kith_bodies_free(all);
    kith_context_free(context);
}

/* More systems than are diagnosed at a time; each is a body that moves at a speed of its own. */
static void test_half_a_million_systems_are_diagnosed_in_pieces(void **state)
{
    (void)state;
    const int64_t systems = 540000;
    kith_context *context = cpu_context(1);
    kith_bodies *all = NULL;
    assert_ok(kith_bodies_create(2 * systems, 2, KITH_VELOCITY, &all));
    for (int64_t s = 0; s < systems; s++) {
        all->position[4 * s] = 1;
        all->velocity[4 * s] = (double)s;
    }
    kith_simulation *simulation =
        ensemble_of(context, all, systems, (kith_simulation_options){.dt = 1e-9});
    kith_diagnostics *each = calloc((size_t)systems, sizeof *each);
    assert_ok(kith_simulation_diagnose_systems(simulation, 0, systems, each));
    for (int64_t s = 0; s < systems; s++)
        if (each[s].momentum[0] != (double)s || each[s].potential_energy != -1)
            fail_msg("system %lld has momentum %g and potential energy %g", (long long)s,
                     each[s].momentum[0], each[s].potential_energy);
    free(each);
    kith_simulation_free(simulation);
    kith_bodies_free(all);
    kith_context_free(context);
}

static void test_no_systems_no_bodies_and_one_body_are_ensembles_too(void **state)
{
    (void)state;
    static const int64_t shapes[][2] = {{0, 0}, {5, 0}, {1, 0}, {1, 1}, {3, 1}};
    kith_context *context = cpu_context(1);
    int64_t integrators = 0;
    const kith_integrator *list = kith_integrator_list(&integrators);
    for (int k = 0; k < 5; k++)
        for (int64_t i = 0; i < integrators; i++) {
            if (list[i].adaptive || list[i].central)
                continue;
            kith_bodies *all = NULL;
            const int64_t systems = shapes[k][0], count = shapes[k][1];
            assert_ok(kith_bodies_create(systems * count, 3, KITH_VELOCITY, &all));
            for (int64_t s = 0; count && s < systems; s++)
                all->velocity[3 * s + 1] = 2;
            kith_simulation *simulation =
                ensemble_of(context, all, systems,
                            (kith_simulation_options){.dt = 0.5, .integrator = list[i].name});
            assert_ok(kith_simulation_step(simulation, 4));
            kith_bodies *found = state_of(simulation, all);
            for (int64_t s = 0; count && s < systems; s++)
                assert_near(found->position[3 * s + 1], 4, 1e-13, list[i].name);
            kith_checkpoint checkpoint = {0};
            assert_ok(kith_simulation_save(simulation, &checkpoint));
            assert_ok(kith_simulation_restore(simulation, &checkpoint));
            kith_checkpoint_free(&checkpoint);
            assert_true(diagnosed(simulation).kinetic_energy == 2 * (double)(systems * count));
            kith_bodies_free(found);
            kith_simulation_free(simulation);
            kith_bodies_free(all);
        }
    kith_context_free(context);
}

static void refused(const kith_bodies *all, int64_t systems, kith_simulation_options options,
                    const char *words)
{
    kith_context *context = cpu_context(1);
    kith_simulation *simulation = NULL;
    assert_fails(kith_simulation_create_ensemble(context, &options, systems, all, &simulation),
                 KITH_INVALID_ARGUMENT, words);
    assert_null(simulation);
    kith_context_free(context);
}

static void test_errors_name_the_system_and_its_body(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("errors");
    const kith_simulation_options good = {.dt = 1};
    kith_bodies *all = random_ensemble(&numbers, 4, 3, 3, KITH_VELOCITY | KITH_MASS);
    refused(all, 5, good, "12 5");
    refused(all, -1, good, "systems -1");
    refused(all, 0, good, "12 0");
    refused(all, 4, (kith_simulation_options){.dt = 1, .softening_of_bodies = true}, "softening");
    refused(all, 4, (kith_simulation_options){0}, "dt 0");
    refused(NULL, 4, good, "bodies NULL");
    all->mass[7] = -2;
    refused(all, 4, good, "system 2 body 1 -2");
    all->velocity[11 * 3 + 1] = NAN;
    refused(all, 4, good, "system 3 body 2");
    kith_bodies_free(all);
    all = random_ensemble(&numbers, 2, kith_most_bodies_of_system + 1, 2, 0);
    refused(all, 2, good, "65 64");
    kith_bodies_free(all);
}

static void test_ranges_and_rooms_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("ranges refused");
    kith_context *context = cpu_context(1);
    kith_bodies *all = random_ensemble(&numbers, 4, 3, 3, 0);
    kith_simulation *simulation = ensemble_of(context, all, 4, (kith_simulation_options){.dt = 1});
    kith_diagnostics each[4];
    assert_fails(kith_simulation_diagnose_systems(simulation, 4, 1, each), KITH_INVALID_ARGUMENT,
                 "simulation 1 system 4 4");
    assert_fails(kith_simulation_diagnose_systems(simulation, -1, 1, each), KITH_INVALID_ARGUMENT,
                 "simulation 4");
    assert_fails(kith_simulation_get_systems(simulation, 1, INT64_MAX, all), KITH_INVALID_ARGUMENT,
                 "simulation 4");
    assert_fails(kith_simulation_get_systems(simulation, 1, 2, all), KITH_INVALID_ARGUMENT,
                 "simulation 12 3 6 3");
    kith_simulation_free(simulation);
    kith_bodies_free(all);
    kith_context_free(context);
}

static void test_join_puts_systems_one_after_the_other_and_fills_in_what_lacks(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("join");
    kith_bodies *first = random_ensemble(&numbers, 1, 2, 2, KITH_MASS);
    kith_bodies *second = random_ensemble(&numbers, 1, 2, 2, KITH_VELOCITY | KITH_ID | KITH_NAME);
    second->time = first->time;
    second->id[0] = 77;
    strcpy(second->name[1], "Pluto");
    const kith_bodies *const each[] = {first, second};
    kith_bodies *all = NULL;
    assert_ok(kith_ensemble_join(2, each, &all));
    assert_int_equal(all->count, 4);
    assert_memory_equal(all->position, first->position, 4 * sizeof(double));
    assert_memory_equal(all->position + 4, second->position, 4 * sizeof(double));
    assert_memory_equal(all->velocity + 4, second->velocity, 4 * sizeof(double));
    assert_true(all->velocity[0] == 0 && all->velocity[3] == 0);
    assert_true(all->mass[1] == first->mass[1] && all->mass[2] == 1);
    assert_true(all->id[0] == 0 && all->id[1] == 1 && all->id[2] == 77);
    assert_string_equal(all->name[3], "Pluto");
    assert_string_equal(all->name[0], "");
    assert_true(all->time == first->time && !all->charge && !all->softening);
    kith_bodies_free(all);

    assert_ok(kith_ensemble_join(0, NULL, &all));
    assert_int_equal(all->count, 0);
    kith_bodies_free(all);
    kith_bodies_free(first);
    kith_bodies_free(second);
}

static void test_join_keeps_the_mass_of_systems_of_one_body(void **state)
{
    (void)state;
    kith_bodies *each[2], *all = NULL;
    for (int s = 0; s < 2; s++) {
        assert_ok(kith_bodies_create(1, 3, KITH_VELOCITY | KITH_MASS, &each[s]));
        each[s]->mass[0] = 3 + s;
    }
    assert_ok(kith_ensemble_join(2, (const kith_bodies *const *)each, &all));
    assert_true(all->mass[0] == 3 && all->mass[1] == 4);
    for (int s = 0; s < 2; s++)
        kith_bodies_free(each[s]);
    kith_bodies_free(all);
}

static void test_join_refuses_systems_that_do_not_match_by_name(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("join refused");
    kith_bodies *first = random_ensemble(&numbers, 1, 2, 2, 0);
    kith_bodies *more = random_ensemble(&numbers, 1, 3, 2, 0);
    kith_bodies *deep = random_ensemble(&numbers, 1, 2, 3, 0);
    kith_bodies *later = random_ensemble(&numbers, 1, 2, 2, 0);
    kith_bodies *soft = random_ensemble(&numbers, 1, 2, 2, KITH_SOFTENING);
    more->time = deep->time = soft->time = first->time;
    later->time = first->time + 1;
    const struct {
        const kith_bodies *other;
        const char *words;
    } cases[] = {
        {more, "system 2 3 0 2"}, {deep, "system 2 3"}, {later, "system 2"}, {soft, "system 2 0"}};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        const kith_bodies *const each[] = {first, first, cases[k].other};
        kith_bodies *all = first;
        assert_fails(kith_ensemble_join(3, each, &all), KITH_INVALID_ARGUMENT, cases[k].words);
        assert_null(all);
    }
    kith_bodies_free(first);
    kith_bodies_free(more);
    kith_bodies_free(deep);
    kith_bodies_free(later);
    kith_bodies_free(soft);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_system_moves_as_if_it_were_alone),
        cmocka_unit_test(test_systems_of_the_most_bodies_move_as_if_they_were_alone),
        cmocka_unit_test(test_systems_of_very_different_size_keep_their_digits),
        cmocka_unit_test(test_the_bits_do_not_depend_on_threads_or_on_how_steps_are_split),
        cmocka_unit_test(test_a_restored_ensemble_goes_on_with_the_same_bits),
        cmocka_unit_test(test_a_checkpoint_of_other_systems_is_refused),
        cmocka_unit_test(test_some_systems_are_rows_of_all),
        cmocka_unit_test(test_diagnostics_of_all_are_the_sums_over_systems),
        cmocka_unit_test(test_half_a_million_systems_are_diagnosed_in_pieces),
        cmocka_unit_test(test_no_systems_no_bodies_and_one_body_are_ensembles_too),
        cmocka_unit_test(test_errors_name_the_system_and_its_body),
        cmocka_unit_test(test_ranges_and_rooms_that_do_not_fit_are_refused),
        cmocka_unit_test(test_join_puts_systems_one_after_the_other_and_fills_in_what_lacks),
        cmocka_unit_test(test_join_keeps_the_mass_of_systems_of_one_body),
        cmocka_unit_test(test_join_refuses_systems_that_do_not_match_by_name),
    };
    return cmocka_run_group_tests_name("ensemble", tests, NULL, NULL);
}
