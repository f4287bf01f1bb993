/* Runs within a cutoff: crystals that melt in their periodic cells. */

#include "testing.h"

#include "running.h"

/* Lennard-Jones atoms near the triple point (Verlet 1967), in their cell. */
static kith_bodies *atoms(int64_t count, double temperature)
{
    return made("fcc",
                (kith_initial_options){
                    .count = count, .density = 0.8442, .temperature = temperature, .seed = 3});
}

static kith_run_options atom_options(const kith_law *law, double until, const char *output)
{
    kith_run_options options = run_options(0.002, until, 50, output);
    options.simulation.forces.law = law;
    options.simulation.forces.cutoff = 2.5;
    options.simulation.forces.shift = KITH_SHIFT_FORCE;
    return options;
}

static kith_law *lennard_jones(void)
{
    kith_law *law = NULL;
    assert_ok(kith_law_parse("lennard-jones", 0, NULL, &law));
    return law;
}

/* The melting itself is in the first half. */
static void test_a_melt_keeps_energy_and_momentum(void **state)
{
    (void)state;
    kith_bodies *bodies = atoms(500, 1.44);
    kith_law *law = lennard_jones();
    const kith_run_summary summary = run(atom_options(law, 2, in_files("melt.h5")), bodies);
    assert_string_equal(summary.solver, "cutoff");
    assert_true(fabs(summary.energy_final - summary.energy_initial) < 1e-3 * 500);
    assert_true(summary.momentum_error < 1e-9);
    kith_law_free(law);
    kith_bodies_free(bodies);
}

/* The values of an observable that has one component. */
static double *values_of(const char *path, const char *name, int64_t *frames)
{
    kith_trajectory *trajectory = NULL;
    int64_t components = 0;
    double *values = NULL;
    assert_ok(kith_trajectory_open(path, &trajectory));
    assert_ok(kith_trajectory_observable(trajectory, name, &components, &values, NULL));
    assert_int_equal(components, 1);
    *frames = kith_trajectory_frames(trajectory);
    kith_trajectory_close(trajectory);
    return values;
}

/* Once it has melted: the slope of a straight line through the energies, of least squares, an atom
 * and 1000 steps, in units of the mean temperature. */
static double drift_of(int64_t count, kith_shift shift)
{
    enum { every = 20, steps = 6000, melted = 1000 };
    kith_bodies *bodies = atoms(count, 1.44);
    kith_law *law = lennard_jones();
    kith_run_options options = atom_options(law, steps * 0.002, in_files("drift.h5"));
    options.every = every;
    options.simulation.forces.shift = shift;
    run(options, bodies);
    int64_t frames = 0;
    double *energy = values_of(in_files("drift.h5"), "total_energy", &frames);
    double *temperature = values_of(in_files("drift.h5"), "temperature", &frames);
    assert_int_equal(frames, steps / every + 1);
    const int64_t first = melted / every, n = frames - first;
    double sum_xy = 0, sum_xx = 0, mean_temperature = 0;
    for (int64_t k = 0; k < n; k++) {
        const double x = (double)k - (double)(n - 1) / 2;
        sum_xy += x * (energy[first + k] - energy[first]);
        sum_xx += x * x;
        mean_temperature += temperature[first + k] / (double)n;
    }
    assert_true(mean_temperature > 0.5 && mean_temperature < 0.9);
    free(energy);
    free(temperature);
    kith_law_free(law);
    kith_bodies_free(bodies);
    return sum_xy / sum_xx * 1000 / every / (double)count / mean_temperature;
}

/* Five seeds had 1e-7 to 1e-6; without a shift the energy jumps as pairs cross the cutoff. */
static void test_the_energy_of_a_liquid_does_not_drift(void **state)
{
    (void)state;
    assert_true(fabs(drift_of(2048, KITH_SHIFT_FORCE)) < 3e-6);
    assert_true(fabs(drift_of(500, KITH_SHIFT_NONE)) > 1e-4);
}

static void test_a_run_in_a_cell_resumes_bit_for_bit(void **state)
{
    (void)state;
    kith_bodies *bodies = atoms(108, 1);
    kith_law *law = lennard_jones();
    run(atom_options(law, 1, in_files("whole.h5")), bodies);
    run(atom_options(law, 0.3, in_files("pieces.h5")), bodies);
    kith_run_options rest = {.output = in_files("pieces.h5"), .until = 1, .resume = true};
    run(rest, NULL); /* law, cutoff, shift and cell are the file's */
    kith_bodies *last[2] = {NULL, NULL};
    const char *const names[2] = {"whole.h5", "pieces.h5"};
    for (int k = 0; k < 2; k++) {
        const kith_read_options of_last = {.frame = -1};
        assert_ok(kith_bodies_read(in_files(names[k]), &of_last, &last[k]));
        assert_true(last[k]->has_cell && last[k]->periodic[0] && last[k]->periodic[2]);
        assert_true(last[k]->cell[0] == bodies->cell[0]);
    }
    assert_memory_equal(last[0]->position, last[1]->position, 108 * 3 * sizeof(double));
    assert_memory_equal(last[0]->velocity, last[1]->velocity, 108 * 3 * sizeof(double));
    rest.until = 2;
    rest.simulation.forces.cutoff = 2;
    run_fails(rest, NULL, KITH_INVALID_ARGUMENT, "cutoff 2");
    kith_bodies_free(last[0]);
    kith_bodies_free(last[1]);
    kith_law_free(law);
    kith_bodies_free(bodies);
}

/* Diatomic molecules: pairs of rows whose atoms do not feel each other, whatever the threads. */
static void test_a_run_with_excluded_pairs_resumes_bit_for_bit(void **state)
{
    (void)state;
    enum { count = 256 };
    static int64_t pairs[count / 2][2];
    kith_bodies *bodies = atoms(count, 1);
    kith_law *law = lennard_jones();
    for (int64_t k = 0; k < count / 2; k++) { /* an atom within another */
        pairs[k][0] = 2 * k;
        pairs[k][1] = 2 * k + 1;
        for (int c = 0; c < 3; c++)
            bodies->position[6 * k + 3 + c] = bodies->position[6 * k + c] + (c == 0 ? 0.01 : 0);
        memcpy(bodies->velocity + 6 * k + 3, bodies->velocity + 6 * k, 3 * sizeof(double));
    }
    kith_run_options options = atom_options(law, 1, in_files("whole.h5"));
    options.simulation.forces.exclusions = kith_array_matrix(pairs, KITH_I64, count / 2, 2);
    const kith_run_summary summary = run(options, bodies);
    assert_true(fabs(summary.energy_final - summary.energy_initial) < 1e-3 * count);
    assert_true(summary.momentum_error < 1e-9);
    options.output = in_files("pieces.h5");
    options.until = 0.3;
    kith_context *context = cpu_context(3);
    assert_ok(kith_run(context, &options, bodies, NULL));
    kith_context_free(context);
    run((kith_run_options){.output = in_files("pieces.h5"), .until = 1, .resume = true}, NULL);
    assert_same_files(in_files("whole.h5"), in_files("pieces.h5"), "start_steps");
    options.until = 2;
    options.resume = true;
    options.simulation.forces.exclusions = kith_array_none();
    run_fails(options, bodies, KITH_INVALID_ARGUMENT, "excluded pairs 0 128");
    kith_law_free(law);
    kith_bodies_free(bodies);
}

/* ε and σ of each body are those of the file, which a run that goes on takes. */
static void test_a_run_of_a_mixture_resumes_bit_for_bit(void **state)
{
    (void)state;
    enum { count = 108 };
    kith_bodies *bodies = atoms(count, 1);
    kith_law *law = lennard_jones();
    assert_ok(kith_bodies_add_columns(bodies, KITH_EPSILON | KITH_SIGMA));
    for (int i = 0; i < count; i++) {
        bodies->epsilon[i] = i % 3 ? 1 : 0.5;
        bodies->sigma[i] = i % 3 ? 1 : 0.88;
    }
    const kith_run_summary summary = run(atom_options(law, 1, in_files("whole.h5")), bodies);
    assert_true(fabs(summary.energy_final - summary.energy_initial) < 1e-3 * count);
    run(atom_options(law, 0.3, in_files("pieces.h5")), bodies);
    run((kith_run_options){.output = in_files("pieces.h5"), .until = 1, .resume = true}, NULL);
    kith_bodies *last[2] = {NULL, NULL};
    const char *const names[2] = {"whole.h5", "pieces.h5"};
    for (int k = 0; k < 2; k++)
        assert_ok(
            kith_bodies_read(in_files(names[k]), &(kith_read_options){.frame = -1}, &last[k]));
    assert_memory_equal(last[0]->position, last[1]->position, count * 3 * sizeof(double));
    assert_memory_equal(last[0]->epsilon, bodies->epsilon, count * sizeof(double));
    assert_memory_equal(last[1]->sigma, bodies->sigma, count * sizeof(double));

    /* The energy is that of the forces' call, and another than that of equal atoms. */
    kith_context *context = cpu_context(1);
    const double edge = bodies->cell[0];
    const kith_cell cell = {{{edge, 0, 0}, {0, edge, 0}, {0, 0, edge}}, {true, true, true}};
    kith_forces_totals totals;
    const kith_forces_options forces = {
        .law = law, .cutoff = 2.5, .cell = &cell, .shift = KITH_SHIFT_FORCE, .totals = &totals};
    double potential[count], kinetic = 0;
    const kith_particles all = {kith_array_matrix(last[0]->position, KITH_F64, count, 3),
                                {{"epsilon", kith_array_vector(bodies->epsilon, KITH_F64, count)},
                                 {"sigma", kith_array_vector(bodies->sigma, KITH_F64, count)}}};
    assert_ok(kith_forces_compute(context, &forces, NULL, &all, kith_array_none(),
                                  kith_array_vector(potential, KITH_F64, count)));
    for (int k = 0; k < 3 * count; k++)
        kinetic += last[0]->velocity[k] * last[0]->velocity[k] / 2;
    assert_true(fabs(totals.energy + kinetic - summary.energy_final) < 1e-9 * count);
    kith_context_free(context);

    bodies->sigma[5] = 0.9;
    kith_run_options rest = atom_options(law, 2, in_files("pieces.h5"));
    rest.resume = true;
    run_fails(rest, bodies, KITH_INVALID_ARGUMENT, "sigma");
    rest = atom_options(law, 2, in_files("other.h5"));
    rest.simulation.escape = 9;
    rest.simulation.forces.cutoff = 0;
    for (int k = 0; k < 3; k++)
        bodies->periodic[k] = false;
    rest.simulation.forces.shift = KITH_SHIFT_NONE;
    run_fails(rest, bodies, KITH_UNSUPPORTED, "collisions encounters escapes");
    kith_bodies_free(last[0]);
    kith_bodies_free(last[1]);
    kith_law_free(law);
    kith_bodies_free(bodies);
}

/* Written and read, with the softened names beside them. */
static void test_files_keep_epsilon_and_sigma(void **state)
{
    (void)state;
    kith_bodies *bodies = atoms(32, 1);
    assert_ok(kith_bodies_add_columns(bodies, KITH_EPSILON | KITH_SIGMA));
    for (int i = 0; i < 32; i++) {
        bodies->epsilon[i] = 0.1 * i;
        bodies->sigma[i] = 1 / (1.0 + i);
    }
    static const char *const names[] = {"mixture.csv", "mixture.xyz", "mixture.h5"};
    for (int k = 0; k < 3; k++) {
        kith_bodies *read = NULL;
        assert_ok(kith_bodies_write(bodies, in_files(names[k]), NULL));
        assert_ok(kith_bodies_read(in_files(names[k]), NULL, &read));
        assert_memory_equal(read->epsilon, bodies->epsilon, 32 * sizeof(double));
        assert_memory_equal(read->sigma, bodies->sigma, 32 * sizeof(double));
        kith_bodies_free(read);
    }
    bodies->sigma[7] = -1;
    assert_fails(kith_bodies_check(bodies), KITH_INVALID_ARGUMENT, "sigma 7 -1");
    kith_bodies_free(bodies);
}

static void test_a_run_with_a_thermostat_resumes_bit_for_bit(void **state)
{
    (void)state;
    kith_bodies *bodies = atoms(108, 1);
    kith_law *law = lennard_jones();
    for (int kind = KITH_THERMOSTAT_LANGEVIN; kind <= KITH_THERMOSTAT_BUSSI; kind++) {
        kith_run_options options = atom_options(law, 0.5, in_files("whole.h5"));
        options.simulation.thermostat =
            (kith_thermostat){(kith_thermostat_kind)kind, 0.7, 1.0 / 3, 5};
        assert_true(run(options, bodies).thermostat == (kith_thermostat_kind)kind);
        options.until = 0.2;
        options.output = in_files("pieces.h5");
        run(options, bodies);
        kith_run_options rest = {.output = in_files("pieces.h5"), .until = 0.5, .resume = true};
        run(rest, NULL); /* the thermostat is the file's */
        kith_bodies *last[2] = {NULL, NULL};
        const char *const names[2] = {"whole.h5", "pieces.h5"};
        for (int k = 0; k < 2; k++) {
            const kith_read_options of_last = {.frame = -1};
            assert_ok(kith_bodies_read(in_files(names[k]), &of_last, &last[k]));
        }
        assert_memory_equal(last[0]->velocity, last[1]->velocity, 108 * 3 * sizeof(double));
        rest.until = 0.6;
        rest.simulation.thermostat =
            (kith_thermostat){(kith_thermostat_kind)kind, 0.75, 1.0 / 3, 5};
        run_fails(rest, NULL, KITH_INVALID_ARGUMENT, "0.75 0.3333333333333333 5");
        kith_bodies_free(last[0]);
        kith_bodies_free(last[1]);
    }
    kith_law_free(law);
    kith_bodies_free(bodies);
}

/* Against kith_forces_compute and the frame's velocities. */
static void test_frames_have_temperature_virial_and_pressure(void **state)
{
    (void)state;
    enum { count = 108 };
    kith_bodies *bodies = atoms(count, 1);
    kith_law *law = lennard_jones();
    kith_run_options options = atom_options(law, 0.2, in_files("observed.h5"));
    options.simulation.forces.shift = KITH_SHIFT_NONE;
    options.simulation.forces.tail = true;
    run(options, bodies);

    kith_bodies *last = NULL;
    assert_ok(kith_bodies_read(in_files("observed.h5"), &(kith_read_options){.frame = -1}, &last));
    kith_context *context = cpu_context(2);
    const double edge = bodies->cell[0];
    const kith_cell cell = {{{edge, 0, 0}, {0, edge, 0}, {0, 0, edge}}, {true, true, true}};
    kith_forces_totals totals;
    const kith_forces_options forces = {
        .law = law, .cutoff = 2.5, .cell = &cell, .tail = true, .totals = &totals};
    double *potential = calloc(count, sizeof *potential);
    assert_ok(kith_forces_compute(
        context, &forces, NULL, POINTS(kith_array_matrix(last->position, KITH_F64, count, 3)),
        kith_array_none(), kith_array_vector(potential, KITH_F64, count)));
    double twice_kinetic = 0;
    for (int k = 0; k < 3 * count; k++)
        twice_kinetic += last->velocity[k] * last->velocity[k];
    const double trace = totals.virial[0] + totals.virial[4] + totals.virial[8];
    const struct {
        const char *name;
        int64_t components;
        const double expected[9];
    } observed[] = {
        {"temperature", 1, {twice_kinetic / (3 * (count - 1))}},
        {"pressure", 1, {(twice_kinetic + trace) / (3 * totals.volume)}},
        {"potential_energy", 1, {totals.energy}},
        {"virial",
         9,
         {totals.virial[0], totals.virial[1], totals.virial[2], totals.virial[3], totals.virial[4],
          totals.virial[5], totals.virial[6], totals.virial[7], totals.virial[8]}}};
    kith_trajectory *trajectory = NULL;
    assert_ok(kith_trajectory_open(in_files("observed.h5"), &trajectory));
    const int64_t frames = kith_trajectory_frames(trajectory);
    for (size_t k = 0; k < sizeof observed / sizeof observed[0]; k++) {
        int64_t components = 0;
        double *values = NULL;
        assert_ok(
            kith_trajectory_observable(trajectory, observed[k].name, &components, &values, NULL));
        assert_int_equal(components, observed[k].components);
        for (int64_t c = 0; c < components; c++)
            assert_true(fabs(values[(frames - 1) * components + c] - observed[k].expected[c]) <
                        1e-9 * count);
        free(values);
    }
    kith_trajectory_close(trajectory);

    /* Resumed, they go on; a run of all pairs has neither virial nor pressure. */
    kith_run_options rest = {.output = in_files("observed.h5"), .until = 0.4, .resume = true};
    run(rest, NULL);
    options = run_options(0.002, 0.01, 1, in_files("all.h5"));
    kith_bodies *few = made("six", (kith_initial_options){0});
    run(options, few);
    for (int k = 0; k < 2; k++) {
        int64_t components = 0;
        double *values = NULL;
        assert_ok(kith_trajectory_open(in_files(k == 0 ? "observed.h5" : "all.h5"), &trajectory));
        assert_ok(
            kith_trajectory_observable(trajectory, "temperature", &components, &values, NULL));
        assert_true(values[0] > 0 && isfinite(values[kith_trajectory_frames(trajectory) - 1]));
        free(values);
        const kith_status status =
            kith_trajectory_observable(trajectory, "pressure", &components, &values, NULL);
        assert_true((status == KITH_OK) == (k == 0));
        free(values);
        kith_trajectory_close(trajectory);
    }
    free(potential);
    kith_context_free(context);
    kith_bodies_free(few);
    kith_bodies_free(last);
    kith_law_free(law);
    kith_bodies_free(bodies);
}

/* Of every frame and of some, by threads, in either precision: evaluations with energies are others
 * then. */
static void test_energies_do_not_depend_on_how_often_they_are_wanted(void **state)
{
    (void)state;
    static const char *const names[] = {"potential_energy", "pressure", "virial"};
    kith_bodies *bodies = atoms(256, 1);
    kith_law *law = lennard_jones();
    for (int narrow = 0; narrow < 2; narrow++) {
        kith_run_options options = atom_options(law, 0.1, in_files("each.h5"));
        options.simulation.precision = narrow ? KITH_F32 : KITH_F64;
        options.every = 1;
        run(options, bodies);
        options.output = in_files("some.h5");
        options.every = 5;
        options.simulation.skin = 0.1;
        kith_context *context = cpu_context(3);
        assert_ok(kith_run(context, &options, bodies, NULL));
        kith_context_free(context);
        for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
            kith_trajectory *trajectory[2] = {NULL, NULL};
            double *values[2] = {NULL, NULL};
            int64_t components = 0;
            for (int file = 0; file < 2; file++) {
                assert_ok(kith_trajectory_open(in_files(file ? "some.h5" : "each.h5"),
                                               &trajectory[file]));
                assert_ok(kith_trajectory_observable(trajectory[file], names[k], &components,
                                                     &values[file], NULL));
            }
            const int64_t frames = kith_trajectory_frames(trajectory[1]);
            assert_int_equal(frames, 11);
            for (int64_t frame = 0; frame < frames; frame++)
                assert_memory_equal(values[0] + 5 * frame * components,
                                    values[1] + frame * components,
                                    (size_t)components * sizeof(double));
            for (int file = 0; file < 2; file++) {
                kith_trajectory_close(trajectory[file]);
                free(values[file]);
            }
        }
    }
    kith_law_free(law);
    kith_bodies_free(bodies);
}

/* The tail is a constant of the energy, and no force. */
static void test_a_tail_adds_a_constant_to_the_energy(void **state)
{
    (void)state;
    kith_bodies *bodies = atoms(108, 1);
    kith_law *law = lennard_jones();
    kith_run_options options = atom_options(law, 0.1, NULL);
    options.simulation.forces.shift = KITH_SHIFT_NONE;
    const kith_run_summary plain = run(options, bodies);
    options.simulation.forces.tail = true;
    const kith_run_summary with_tail = run(options, bodies);
    const double s3 = 1 / (2.5 * 2.5 * 2.5);
    const double tail = 8.0 / 3 * pi * 108 * 0.8442 * (s3 * s3 * s3 / 3 - s3);
    assert_true(fabs(with_tail.energy_initial - plain.energy_initial - tail) < 1e-6);
    assert_true(fabs(with_tail.energy_final - plain.energy_final - tail) < 1e-6);
    kith_law_free(law);
    kith_bodies_free(bodies);
}

static void test_crystals_have_their_density_temperature_and_neighbors(void **state)
{
    (void)state;
    static const struct {
        const char *kind;
        int64_t count;
        double nearest; /* in edges of the cubic cell */
        int neighbors, basis;
    } crystals[] = {{"fcc", 500, 0.70710678118654752, 12, 4},
                    {"bcc", 250, 0.86602540378443865, 8, 2},
                    {"nacl", 512, 0.5, 6, 8}};
    kith_context *context = cpu_context(1);
    for (size_t k = 0; k < sizeof crystals / sizeof crystals[0]; k++) {
        kith_bodies *bodies = made(
            crystals[k].kind,
            (kith_initial_options){.count = crystals[k].count, .density = 0.8, .temperature = 1.5});
        const double volume = bodies->cell[0] * bodies->cell[4] * bodies->cell[8];
        assert_true(fabs((double)bodies->count / volume - 0.8) < 1e-12);
        double twice_kinetic = 0, momentum = 0, charge = 0;
        for (int64_t i = 0; i < 3 * bodies->count; i++) {
            twice_kinetic += bodies->velocity[i] * bodies->velocity[i];
            momentum += bodies->velocity[i];
        }
        for (int64_t i = 0; i < bodies->count && bodies->charge; i++)
            charge += bodies->charge[i];
        assert_true(fabs(twice_kinetic / (3 * (double)(bodies->count - 1)) - 1.5) < 1e-12);
        assert_true(fabs(momentum) < 1e-10 && charge == 0);
        double *count = calloc((size_t)bodies->count, sizeof *count);
        const kith_cell cell = {
            {{bodies->cell[0], 0, 0}, {0, bodies->cell[4], 0}, {0, 0, bodies->cell[8]}},
            {true, true, true}};
        kith_law *law = NULL;
        assert_ok(kith_law_parse("power:0", 0, NULL, &law)); /* 1 per pair */
        const double edge = cbrt(crystals[k].basis / 0.8);
        const kith_forces_options options = {.law = law,
                                             .cutoff = 1.05 * crystals[k].nearest * edge,
                                             .cell = &cell,
                                             .sum = KITH_FORCES_SUM_VALUE};
        assert_ok(kith_forces_compute(
            context, &options, NULL,
            POINTS(kith_array_matrix(bodies->position, KITH_F64, bodies->count, 3)),
            kith_array_none(), kith_array_vector(count, KITH_F64, bodies->count)));
        for (int64_t i = 0; i < bodies->count; i++)
            assert_true(count[i] == crystals[k].neighbors);
        kith_law_free(law);
        free(count);
        kith_bodies_free(bodies);
    }
    kith_context_free(context);
    kith_bodies *none = NULL;
    const kith_initial_options five = {.count = 5}, cold = {.temperature = -1};
    assert_fails(kith_initial_make("fcc", &five, &none), KITH_INVALID_ARGUMENT, "4 32");
    assert_fails(kith_initial_make("fcc", &cold, &none), KITH_INVALID_ARGUMENT, "temperature -1");
    assert_fails(kith_initial_make("plummer", &(kith_initial_options){.density = 1}, &none),
                 KITH_INVALID_ARGUMENT, "density");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_melt_keeps_energy_and_momentum),
        cmocka_unit_test(test_the_energy_of_a_liquid_does_not_drift),
        cmocka_unit_test(test_a_run_in_a_cell_resumes_bit_for_bit),
        cmocka_unit_test(test_a_run_with_excluded_pairs_resumes_bit_for_bit),
        cmocka_unit_test(test_a_run_of_a_mixture_resumes_bit_for_bit),
        cmocka_unit_test(test_files_keep_epsilon_and_sigma),
        cmocka_unit_test(test_a_run_with_a_thermostat_resumes_bit_for_bit),
        cmocka_unit_test(test_frames_have_temperature_virial_and_pressure),
        cmocka_unit_test(test_energies_do_not_depend_on_how_often_they_are_wanted),
        cmocka_unit_test(test_a_tail_adds_a_constant_to_the_energy),
        cmocka_unit_test(test_crystals_have_their_density_temperature_and_neighbors),
    };
    return cmocka_run_group_tests_name("run_cutoff", tests, make_files_directory,
                                       remove_files_directory);
}
