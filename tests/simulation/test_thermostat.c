/* Thermostats: the distributions that they sample, and their bits. Statistical bounds are such that
 * chance passes them once in 10⁹ runs. */

#include "simulating.h"

#include "random_numbers.h"
#include "simulation/exact_sum.h"
#include <stdlib.h>

static uint64_t test_seed; /* of this run */

static kith_thermostat thermostat_of(kith_thermostat_kind kind, double temperature, double time)
{
    return (kith_thermostat){kind, temperature, time, test_seed >> 1};
}

static kith_law *law_of(const char *text)
{
    kith_law *law = NULL;
    assert_ok(kith_law_parse(text, 0, NULL, &law));
    return law;
}

/* Bodies of masses 1, 2, 3, 1, …, so far apart that none feels another, with some speed. */
static kith_bodies *free_bodies(int64_t count)
{
    kith_bodies *bodies = NULL;
    assert_ok(kith_bodies_create(count, 3, KITH_VELOCITY | KITH_MASS, &bodies));
    for (int64_t i = 0; i < count; i++) {
        bodies->position[3 * i] = 1e5 * (double)(i % 100);
        bodies->position[3 * i + 1] = 1e5 * (double)(i / 100 % 100);
        bodies->position[3 * i + 2] = 1e5 * floor((double)i / 10000);
        bodies->velocity[3 * i + i % 3] = i % 2 == 0 ? 1 : -1;
        bodies->mass[i] = (double)(1 + i % 3);
    }
    return bodies;
}

/* χ² of numbers from 0 to 1 that should be uniform, in so many bins. */
enum { bins = 40 };
static double chi_square(const double *uniform, int64_t count)
{
    int64_t in[bins] = {0};
    double sum = 0;
    for (int64_t k = 0; k < count; k++)
        in[(int)fmin(bins * uniform[k], bins - 1)]++;
    for (int b = 0; b < bins; b++) {
        const double expected = (double)count / bins, off = (double)in[b] - expected;
        sum += off * off / expected;
    }
    return sum;
}

/* P(χ² > 125) of 39 degrees of freedom is 5e-11. */
static const double largest_chi_square = 125;

/* P(Γ(a) < x) of a whole a. */
static double gamma_below(int a, double x)
{
    double term = exp(-x), sum = 0;
    for (int k = 1; k <= a; k++) {
        sum += term;
        term *= x / k;
    }
    return 1 - sum;
}

static void test_langevin_gives_each_velocity_its_normal_distribution(void **state)
{
    (void)state;
    enum { count = 8000, draws = 3 * count };
    kith_context *context = cpu_context(2);
    kith_bodies *bodies = free_bodies(count);
    kith_law *law = law_of("lennard-jones");
    const kith_simulation_options options = {
        .dt = 40, /* nothing is left of the velocities before */
        .forces = {.law = law, .cutoff = 3},
        .thermostat = thermostat_of(KITH_THERMOSTAT_LANGEVIN, 0.7, 1)};
    kith_simulation *simulation = simulated(context, bodies, options);
    double *uniform = calloc(draws, sizeof *uniform);
    for (int step = 0; step < 2; step++) { /* steps have other numbers */
        assert_ok(kith_simulation_step(simulation, 1));
        assert_ok(kith_simulation_get_bodies(simulation, bodies));
        for (int64_t k = 0; k < draws; k++)
            uniform[k] =
                0.5 * erfc(-bodies->velocity[k] * sqrt(bodies->mass[k / 3] / 0.7) / sqrt(2));
        assert_true(chi_square(uniform, draws) < largest_chi_square);
        double product = 0; /* of neighbors: components, then bodies, are independent */
        for (int64_t k = 1; k < draws; k++)
            product += (uniform[k] - 0.5) * (uniform[k - 1] - 0.5);
        assert_true(fabs(product) < 6.5 * sqrt(draws) / 12);
    }
    free(uniform);
    kith_law_free(law);
    kith_simulation_free(simulation);
    kith_bodies_free(bodies);
    kith_context_free(context);
}

/* K about the center of mass, of N bodies in D dimensions, is T times Γ(D (N − 1) / 2); K of
 * successive steps is correlated by e^{-h/τ} (bussi) or e^{-2h/τ} (langevin). */
static void test_kinetic_energies_are_distributed_as_they_are_correlated(void **state)
{
    (void)state;
    enum { count = 5, samples = 2000, apart = 20, freedom = 3 * (count - 1) };
    const double temperature = 1.7;
    static const kith_thermostat_kind kinds[] = {KITH_THERMOSTAT_BUSSI, KITH_THERMOSTAT_LANGEVIN};
    kith_context *context = cpu_context(1);
    kith_law *law = law_of("lennard-jones");
    for (int kind = 0; kind < 2; kind++) {
        kith_bodies *bodies = free_bodies(count);
        const kith_simulation_options options = {
            .dt = 1e-3, /* slow enough that nobody meets anybody */
            .forces = {.law = law, .cutoff = 3},
            .thermostat = thermostat_of(kinds[kind], temperature, kind == 0 ? 1e-3 : 2e-3)};
        kith_simulation *simulation = simulated(context, bodies, options);
        double *uniform = calloc(samples, sizeof *uniform);
        double last = 0, sum = 0, product = 0;
        for (int64_t k = -1; k < (int64_t)samples * apart; k++) {
            double mass = 0, momentum[3] = {0}, twice_kinetic = 0;
            assert_ok(kith_simulation_step(simulation, k < 0 ? 40 : 1));
            assert_ok(kith_simulation_get_bodies(simulation, bodies));
            for (int64_t i = 0; i < count; i++) {
                mass += bodies->mass[i];
                for (int c = 0; c < 3; c++) {
                    const double v = bodies->velocity[3 * i + c];
                    momentum[c] += bodies->mass[i] * v;
                    twice_kinetic += bodies->mass[i] * v * v;
                }
            }
            for (int c = 0; c < 3; c++)
                twice_kinetic -= momentum[c] * momentum[c] / mass;
            const double off = twice_kinetic / 2 / temperature - freedom / 2.0;
            product += k < 0 ? 0 : last * off;
            sum += k < 0 ? 0 : off;
            last = off;
            if (k >= 0 && k % apart == 0)
                uniform[k / apart] = gamma_below(freedom / 2, twice_kinetic / 2 / temperature);
        }
        const double all = (double)samples * apart;
        const double correlation = product / (all * freedom / 2);
        assert_true(chi_square(uniform, samples) < largest_chi_square);
        /* Of numbers whose correlation falls by c a step, as of (1 − c) / (1 + c) as many. */
        const double independent = all * (1 - exp(-1)) / (1 + exp(-1));
        assert_true(fabs(sum / all) < 6.5 * sqrt(freedom / 2.0 / independent));
        assert_true(fabs(correlation - exp(-1)) < 6.5 * 3 / sqrt(all));
        free(uniform);
        kith_simulation_free(simulation);
        kith_bodies_free(bodies);
    }
    kith_law_free(law);
    kith_context_free(context);
}

/* BAOAB is exact for the positions in a harmonic well, however long the step: the energy of a
 * spring in the plane is T times an exponential number. */
static void test_langevin_fills_a_harmonic_well_exactly(void **state)
{
    (void)state;
    enum { samples = 5000, apart = 40 };
    kith_context *context = cpu_context(1);
    kith_law *law = law_of("power:-2"); /* V = r², ω² = 4 */
    kith_bodies *bodies = NULL;
    assert_ok(kith_bodies_create(2, 2, KITH_VELOCITY, &bodies));
    bodies->position[0] = 1;
    const kith_simulation_options options = {.dt = 0.5,
                                             .forces = {.law = law},
                                             .thermostat =
                                                 thermostat_of(KITH_THERMOSTAT_LANGEVIN, 0.8, 1)};
    kith_simulation *simulation = simulated(context, bodies, options);
    double *uniform = calloc(samples, sizeof *uniform), sum = 0;
    for (int k = 0; k < samples; k++) {
        assert_ok(kith_simulation_step(simulation, apart));
        assert_ok(kith_simulation_get_bodies(simulation, bodies));
        const double dx = bodies->position[2] - bodies->position[0];
        const double dy = bodies->position[3] - bodies->position[1];
        sum += (dx * dx + dy * dy) / 0.8;
        uniform[k] = gamma_below(1, (dx * dx + dy * dy) / 0.8);
    }
    assert_true(chi_square(uniform, samples) < largest_chi_square);
    assert_true(fabs(sum / samples - 1) < 6.5 / sqrt(samples));
    free(uniform);
    kith_simulation_free(simulation);
    kith_law_free(law);
    kith_bodies_free(bodies);
    kith_context_free(context);
}

/* Light and heavy atoms of a liquid, each body's mean kinetic energy by degree of freedom. The
 * bound is 6.5 standard deviations of the mean of what is independent, and an error of h². */
static void test_equipartition_among_light_and_heavy_atoms(void **state)
{
    (void)state;
    enum { count = 32, samples = 500, apart = 40 };
    static const kith_thermostat_kind kinds[] = {KITH_THERMOSTAT_BUSSI, KITH_THERMOSTAT_LANGEVIN};
    kith_context *context = cpu_context(1);
    kith_law *law = law_of("lennard-jones");
    for (int kind = 0; kind < 2; kind++) {
        kith_bodies *bodies =
            made("fcc", (kith_initial_options){
                            .count = count, .density = 0.8, .temperature = 2, .seed = test_seed});
        assert_ok(kith_bodies_add_columns(bodies, KITH_MASS));
        for (int64_t i = 0; i < count; i++)
            bodies->mass[i] = i % 2 == 0 ? 1 : 5;
        const kith_simulation_options options = {
            .dt = 0.004,
            .forces = {.law = law, .cutoff = 2.5, .shift = KITH_SHIFT_FORCE},
            .thermostat = thermostat_of(kinds[kind], 1.5, 0.1)};
        kith_simulation *simulation = simulated(context, bodies, options);
        double twice_kinetic[2] = {0};
        assert_ok(kith_simulation_step(simulation, 1000));
        for (int k = 0; k < samples; k++) {
            assert_ok(kith_simulation_step(simulation, apart));
            assert_ok(kith_simulation_get_bodies(simulation, bodies));
            for (int c = 0; c < 3; c++) {
                double center = 0;
                for (int64_t i = 0; i < count; i++)
                    center += bodies->mass[i] * bodies->velocity[3 * i + c] / (3 * count);
                for (int64_t i = 0; i < count; i++)
                    twice_kinetic[i % 2] +=
                        bodies->mass[i] * pow(bodies->velocity[3 * i + c] - center, 2);
            }
        }
        const double freedom = 1.5 * count * samples;
        for (int heavy = 0; heavy < 2; heavy++) {
            /* the motion of all, which is left out, has the part m / M of each */
            const double lost = (heavy ? 5 : 1) / (3.0 * count);
            const double temperature = twice_kinetic[heavy] / freedom / (1 - lost);
            assert_true(fabs(temperature / 1.5 - 1) < 6.5 * sqrt(2 * 4 / freedom) + 0.01);
        }
        kith_simulation_free(simulation);
        kith_bodies_free(bodies);
    }
    kith_law_free(law);
    kith_context_free(context);
}

static void test_a_bath_without_warmth_is_friction(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1);
    kith_bodies *bodies = free_bodies(7);
    kith_law *law = law_of("lennard-jones");
    for (int kind = KITH_THERMOSTAT_LANGEVIN; kind <= KITH_THERMOSTAT_BUSSI; kind++) {
        const kith_simulation_options options = {
            .dt = 0.25,
            .forces = {.law = law, .cutoff = 3},
            .thermostat = thermostat_of((kith_thermostat_kind)kind, 0, 2)};
        kith_simulation *simulation = simulated(context, bodies, options);
        const kith_diagnostics before = diagnosed(simulation);
        assert_ok(kith_simulation_step(simulation, 4));
        const kith_diagnostics after = diagnosed(simulation);
        if (kind == KITH_THERMOSTAT_LANGEVIN) {
            assert_true(fabs(after.kinetic_energy / before.kinetic_energy - exp(-1)) < 1e-14);
        } else { /* the motion of all stays */
            double mass = 0, moving = 0;
            for (int64_t i = 0; i < 7; i++)
                mass += bodies->mass[i];
            for (int c = 0; c < 3; c++) {
                moving += before.momentum[c] * before.momentum[c] / (2 * mass);
                assert_true(fabs(after.momentum[c] - before.momentum[c]) < 1e-13);
            }
            assert_true(fabs((after.kinetic_energy - moving) / (before.kinetic_energy - moving) -
                             exp(-0.5)) < 1e-14);
        }
        kith_simulation_free(simulation);
    }
    kith_law_free(law);
    kith_bodies_free(bodies);
    kith_context_free(context);
}

/* However the steps are divided among threads and calls, and after a checkpoint. */
static void test_a_thermostat_has_one_result(void **state)
{
    (void)state;
    kith_law *law = law_of("lennard-jones");
    for (int kind = KITH_THERMOSTAT_LANGEVIN; kind <= KITH_THERMOSTAT_BUSSI; kind++)
        for (int single = 0; single < 2; single++) {
            kith_bodies *atoms =
                made("fcc", (kith_initial_options){.count = 864, .density = 0.8, .temperature = 1});
            const kith_simulation_options options = {
                .dt = 0.004,
                .forces = {.law = law, .cutoff = 2.5},
                .precision = single ? KITH_F32 : KITH_F64,
                .thermostat = thermostat_of((kith_thermostat_kind)kind, 1, 0.1)};
            kith_context *one = cpu_context(1), *four = cpu_context(4);
            kith_simulation *whole = simulated(one, atoms, options);
            kith_simulation *parts = simulated(four, atoms, options);
            kith_simulation *resumed = simulated(four, atoms, options);
            kith_checkpoint checkpoint = {0};
            assert_ok(kith_simulation_step(whole, 30));
            assert_ok(kith_simulation_step(parts, 7));
            assert_ok(kith_simulation_save(parts, &checkpoint));
            assert_ok(kith_simulation_restore(resumed, &checkpoint));
            assert_ok(kith_simulation_step(parts, 23));
            assert_ok(kith_simulation_step(resumed, 23));
            kith_bodies *a = state_of(whole, atoms), *b = state_of(parts, atoms);
            kith_bodies *c = state_of(resumed, atoms);
            assert_same_state(a, b);
            assert_same_state(a, c);
            kith_checkpoint_free(&checkpoint);
            kith_bodies_free(a);
            kith_bodies_free(b);
            kith_bodies_free(c);
            kith_simulation_free(whole);
            kith_simulation_free(parts);
            kith_simulation_free(resumed);
            kith_context_free(one);
            kith_context_free(four);
            kith_bodies_free(atoms);
        }
    kith_law_free(law);
}

static void test_other_seeds_give_other_motions(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1);
    kith_bodies *bodies = free_bodies(3);
    for (int kind = KITH_THERMOSTAT_LANGEVIN; kind <= KITH_THERMOSTAT_BUSSI; kind++) {
        kith_bodies *after[2] = {NULL, NULL};
        for (int k = 0; k < 2; k++) {
            const kith_simulation_options options = {
                .dt = 0.1, .thermostat = {(kith_thermostat_kind)kind, 1, 1, (uint64_t)k}};
            kith_simulation *simulation = simulated(context, bodies, options);
            assert_ok(kith_simulation_step(simulation, 1));
            after[k] = state_of(simulation, bodies);
            kith_simulation_free(simulation);
        }
        assert_true(after[0]->velocity[0] != after[1]->velocity[0]);
        kith_bodies_free(after[0]);
        kith_bodies_free(after[1]);
    }
    kith_bodies_free(bodies);
    kith_context_free(context);
}

static void test_few_bodies_have_thermostats_too(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1);
    for (int kind = KITH_THERMOSTAT_LANGEVIN; kind <= KITH_THERMOSTAT_BUSSI; kind++)
        for (int64_t count = 0; count < 3; count++) {
            kith_bodies *bodies = free_bodies(count);
            const kith_simulation_options options = {
                .dt = 0.1, .thermostat = {(kith_thermostat_kind)kind, 1, 1, 3}};
            kith_simulation *simulation = simulated(context, bodies, options);
            assert_ok(kith_simulation_step(simulation, 10));
            kith_bodies *after = state_of(simulation, bodies);
            for (int64_t k = 0; k < 3 * count; k++)
                assert_true(isfinite(after->velocity[k]));
            kith_bodies_free(after);
            kith_simulation_free(simulation);
            kith_bodies_free(bodies);
        }
    kith_context_free(context);
}

static void refused(const kith_bodies *bodies, kith_simulation_options options, kith_status status,
                    const char *words)
{
    kith_context *context = cpu_context(1);
    kith_simulation *simulation = NULL;
    options.dt = 0.1;
    assert_fails(kith_simulation_create(context, &options, bodies, &simulation), status, words);
    kith_context_free(context);
}

static void test_wrong_thermostats_are_refused(void **state)
{
    (void)state;
    kith_thermostat thermostat = {0};
    assert_ok(kith_thermostat_parse("bussi:1e-3,2", &thermostat));
    assert_true(thermostat.kind == KITH_THERMOSTAT_BUSSI && thermostat.temperature == 1e-3 &&
                thermostat.time == 2 && thermostat.seed == 0);
    assert_ok(kith_thermostat_parse("langevin:0,2,9223372036854775807", &thermostat));
    assert_true(thermostat.kind == KITH_THERMOSTAT_LANGEVIN && thermostat.seed == INT64_MAX);
    static const char *const wrong[] = {"",
                                        "langevin",
                                        "nose:1,1",
                                        "bussi:",
                                        "bussi:1",
                                        "bussi:1,0",
                                        "bussi:,1",
                                        "bussi:-1,1",
                                        "bussi:1,1,-1",
                                        "bussi:a,1",
                                        "langevin:nan,1",
                                        "langevin:1,1,1.5",
                                        "bussi:1,1,1,1",
                                        "bussi:1,,1",
                                        "langevin:1e999,1"};
    for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++)
        assert_fails(kith_thermostat_parse(wrong[k], &thermostat), KITH_INVALID_ARGUMENT,
                     "langevin:T,TAU[,SEED] bussi:T,TAU[,SEED]");

    kith_bodies *bodies = free_bodies(3);
    const kith_thermostat good = {KITH_THERMOSTAT_BUSSI, 1, 1, 0};
    kith_simulation_options options = {.thermostat = good};
    options.thermostat.temperature = -1;
    refused(bodies, options, KITH_INVALID_ARGUMENT, "temperature -1");
    options.thermostat.temperature = (double)NAN;
    refused(bodies, options, KITH_INVALID_ARGUMENT, "temperature nan nan");
    options.thermostat = good;
    options.thermostat.time = 0;
    refused(bodies, options, KITH_INVALID_ARGUMENT, "0");
    options.thermostat = good;
    options.thermostat.kind = (kith_thermostat_kind)9;
    refused(bodies, options, KITH_INVALID_ARGUMENT, "kind 9");
    options.thermostat = good;
    options.thermostat.seed = UINT64_MAX;
    refused(bodies, options, KITH_INVALID_ARGUMENT, "seed 18446744073709551615");
    options.thermostat = good;
    options.integrator = "yoshida4";
    refused(bodies, options, KITH_INVALID_ARGUMENT, "integrator yoshida4 yoshida4");
    options.integrator = NULL;
    bodies->mass[1] = 0;
    refused(bodies, options, KITH_INVALID_ARGUMENT, "body 1");
    bodies->mass[1] = 1;

    kith_context *context = cpu_context(1);
    kith_simulation *simulation = NULL;
    options.dt = 0.1;
    assert_fails(kith_simulation_create_ensemble(context, &options, 3, bodies, &simulation),
                 KITH_UNSUPPORTED, "ensemble");
    simulation = simulated(context, bodies, options);
    assert_fails(kith_simulation_step_by(simulation, -0.1), KITH_INVALID_ARGUMENT, "-0.1");
    bodies->mass[2] = 0;
    assert_fails(kith_simulation_set_bodies(simulation, bodies), KITH_INVALID_ARGUMENT, "body 2");
    kith_simulation_free(simulation);
    kith_context_free(context);
    kith_bodies_free(bodies);
}

/* Numbers of all magnitudes, in any order, with those that cancel them: what is left is exact. */
static void test_sums_are_exact_in_any_order(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("exact sums");
    enum { count = 1000 };
    for (int k = 0; k < 200; k++) {
        double x[2 * count + 1];
        struct exact_sum sum = {0}, rest = {0};
        const double left = ldexp(random_uniform(&numbers, -1, 1), k % 2 ? -1060 : 3);
        for (int i = 0; i < count; i++)
            x[2 * i + 1] =
                -(x[2 * i] = ldexp(random_uniform(&numbers, -1, 1),
                                   (int)random_uniform(&numbers, k % 3 ? -60 : -1074, 1025)));
        x[2 * count] = left;
        for (int i = 2 * count; i > 0; i--) {
            const int other = (int)random_uniform(&numbers, 0, i + 1);
            const double kept = x[i];
            x[i] = x[other];
            x[other] = kept;
        }
        for (int i = 0; i < 2 * count + 1; i++)
            exact_sum_add(i % 3 ? &sum : &rest, x[i]);
        exact_sum_unite(&sum, &rest);
        assert_true(exact_sum_value(&sum) == left);
        exact_sum_add(&sum, k % 2 ? (double)INFINITY : (double)NAN);
        assert_true(isnan(exact_sum_value(&sum)));
    }
}

int main(void)
{
    test_seed = random_numbers_begin("thermostat").state;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_langevin_gives_each_velocity_its_normal_distribution),
        cmocka_unit_test(test_kinetic_energies_are_distributed_as_they_are_correlated),
        cmocka_unit_test(test_sums_are_exact_in_any_order),
        cmocka_unit_test(test_langevin_fills_a_harmonic_well_exactly),
        cmocka_unit_test(test_equipartition_among_light_and_heavy_atoms),
        cmocka_unit_test(test_a_bath_without_warmth_is_friction),
        cmocka_unit_test(test_a_thermostat_has_one_result),
        cmocka_unit_test(test_other_seeds_give_other_motions),
        cmocka_unit_test(test_few_bodies_have_thermostats_too),
        cmocka_unit_test(test_wrong_thermostats_are_refused),
    };
    return cmocka_run_group_tests_name("thermostat", tests, NULL, NULL);
}
