/* Forces within a cutoff, and runs of them, on the GPU: against the CPU's, and what the
 * documentation promises of their bits. */

#include "gpu_testing.h"

#include "gpu_simulating.h"

#define COUNT_OF(array) ((int64_t)(sizeof(array) / sizeof *(array)))

enum { most_points = 2000 };

static struct random_numbers numbers;
static kith_context *gpu, *cpu;

/* Particles, a law, and what both devices make of them. */
struct sums {
    double acceleration[3 * most_points], potential[most_points];
    kith_forces_totals totals;
};
static struct setting {
    int64_t n;
    int32_t d;
    double x[3 * most_points], m[most_points], q[most_points], softening[most_points];
    bool has_softenings, is_mixture;
} now;
static struct sums of_gpu, of_cpu, terms_of_cpu;

static double uniform(double low, double high)
{
    return random_uniform(&numbers, low, high);
}

/* Particles that keep a distance from each other, in about the unit cube, some of them cells away
 * where there is a cell. */
static void random_points(int64_t n, int32_t d, const kith_cell *cell)
{
    now = (struct setting){.n = n, .d = d};
    for (int64_t k = 0; k < n; k++) {
        double *x = now.x + k * d;
        place_apart(&numbers, k, n, d, x);
        for (int c = 0; c < d; c++)
            x[c] = 0.45 * x[c] + 0.5;
        for (int a = 0; cell && a < d; a++)
            if (cell->periodic[a] && uniform(0, 1) < 0.3)
                for (int c = 0; c < d; c++)
                    x[c] += cell->vectors[a][c];
        for (int c = 0; c < d; c++)
            x[c] = (double)(float)x[c];
        now.m[k] = (double)(float)uniform(0.5, 1.5);
        now.q[k] = (double)(float)uniform(-1, 1);
        now.softening[k] = (double)(float)uniform(0.05, 0.2);
    }
}

static kith_cell random_cell(int32_t d)
{
    kith_cell cell = {{{0}}, {false}};
    for (int k = 0; k < d; k++) {
        for (int c = 0; c < d; c++)
            cell.vectors[k][c] = (double)(float)(k == c ? uniform(1, 1.1) : uniform(-0.2, 0.2));
        cell.periodic[k] = uniform(0, 1) < 0.7;
    }
    return cell;
}

static kith_status compute(kith_context *context, const kith_forces_options *options, bool narrow,
                           bool wants_values, struct sums *to)
{
    static float x[3 * most_points], m[most_points], q[most_points], e[most_points];
    static float a[3 * most_points], phi[most_points];
    static float narrow_epsilon[most_points], narrow_sigma[most_points];
    static double epsilon[most_points], sigma[most_points];
    const kith_dtype dtype = narrow ? KITH_F32 : KITH_F64;
    for (int64_t k = 0; k < now.n * now.d; k++)
        x[k] = (float)now.x[k];
    for (int64_t k = 0; k < now.n; k++) {
        m[k] = (float)now.m[k];
        q[k] = (float)now.q[k];
        e[k] = (float)now.softening[k];
    }
    kith_particles particles = {
        .positions = kith_array_matrix(narrow ? (void *)x : now.x, dtype, now.n, now.d),
        .columns = {{"m", kith_array_vector(narrow ? (void *)m : now.m, dtype, now.n)},
                    {"q", kith_array_vector(narrow ? (void *)q : now.q, dtype, now.n)}}};
    if (now.has_softenings)
        particles.columns[2] = (kith_particle_column){
            "softening", kith_array_vector(narrow ? (void *)e : now.softening, dtype, now.n)};
    for (int64_t k = 0; k < now.n; k++) { /* of a mixture */
        epsilon[k] = now.m[k];
        sigma[k] = 0.1 + 0.02 * now.q[k];
        narrow_epsilon[k] = (float)epsilon[k];
        narrow_sigma[k] = (float)sigma[k];
    }
    if (now.is_mixture) {
        particles.columns[2] = (kith_particle_column){
            "epsilon", kith_array_vector(narrow ? (void *)narrow_epsilon : epsilon, dtype, now.n)};
        particles.columns[3] = (kith_particle_column){
            "sigma", kith_array_vector(narrow ? (void *)narrow_sigma : sigma, dtype, now.n)};
    }
    kith_forces_options with = *options;
    memset(to, 0, sizeof *to);
    with.totals = wants_values ? &to->totals : NULL;
    kith_array potential = kith_array_none();
    if (wants_values)
        potential = kith_array_vector(narrow ? (void *)phi : to->potential, dtype, now.n);
    const kith_status status = kith_forces_compute(
        context, &with, NULL, &particles,
        kith_array_matrix(narrow ? (void *)a : to->acceleration, dtype, now.n, now.d), potential);
    for (int64_t k = 0; narrow && k < now.n * now.d; k++)
        to->acceleration[k] = (double)a[k];
    for (int64_t k = 0; narrow && wants_values && k < now.n; k++)
        to->potential[k] = (double)phi[k];
    return status;
}

static double largest_of(const double *x, int64_t count)
{
    double largest = 0;
    for (int64_t k = 0; k < count; k++)
        largest = fmax(largest, fabs(x[k]));
    return largest;
}

static void assert_all_near(const char *what, const double *a, const double *b, int64_t count,
                            double scale, double tolerance)
{
    for (int64_t k = 0; k < count; k++)
        if (!(fabs(a[k] - b[k]) <= tolerance * scale))
            fail_msg("%s, number %lld of %lld: %.17g and %.17g, of %g", what, (long long)k,
                     (long long)count, a[k], b[k], scale);
}

static void compare_forces(const kith_forces_options *options, bool narrow)
{
    const double tolerance = narrow ? 2e-5 : 1e-12;
    kith_forces_options unshifted = *options;
    unshifted.shift = KITH_SHIFT_NONE;
    for (int values = 0; values < 2; values++) {
        assert_ok(compute(cpu, options, narrow, values, &of_cpu));
        assert_ok(compute(gpu, options, narrow, values, &of_gpu));
        assert_ok(compute(cpu, &unshifted, narrow, values, &terms_of_cpu));
        const int64_t n = now.n;
        /* Terms cancel: of images that pull to all sides, and of a law with what it is shifted by,
         * which is at most its value here. */
        const double least = 0.1;
        const double largest = fmax(fmax(largest_of(of_cpu.acceleration, n * now.d),
                                         largest_of(terms_of_cpu.acceleration, n * now.d)),
                                    least);
        assert_all_near("acceleration", of_gpu.acceleration, of_cpu.acceleration, n * now.d,
                        largest, tolerance);
        if (!values)
            continue;
        const double value = fmax(
            fmax(largest_of(of_cpu.potential, n), largest_of(terms_of_cpu.potential, n)), least);
        assert_all_near("potential", of_gpu.potential, of_cpu.potential, n, value, tolerance);
        assert_all_near("energy", &of_gpu.totals.energy, &of_cpu.totals.energy, 1,
                        fmax(value * (double)n, fabs(of_cpu.totals.energy)), tolerance);
        assert_all_near("virial", of_gpu.totals.virial, of_cpu.totals.virial, 9,
                        2 * largest * (double)n, tolerance);
        assert_near(of_gpu.totals.volume, of_cpu.totals.volume, 0);
    }
}

static const char *const laws[] = {NULL,
                                   "coulomb",
                                   "yukawa:0.4",
                                   "lennard-jones:1,0.1",
                                   "morse:1,3,0.2",
                                   "gaussian:0.3",
                                   "power:4",
                                   "multiquadric:0.5",
                                   "expr:q_i * q_j * exp(-r2) + m_i * m_j / r",
                                   "expr:dx * dx * dy + q_i * r"};

static void test_cuda_forces_within_a_cutoff_are_the_cpus(void **state)
{
    static const int64_t counts[] = {0, 1, 2, 3, 31, 200, 777, 2000};
    (void)state;
    for (int turn = 0; turn < (test_is_quick() ? 12 : 80); turn++) {
        const int32_t d = uniform(0, 1) < 0.3 ? 2 : 3;
        const kith_cell cell = random_cell(d);
        const char *text = laws[(int)uniform(0, COUNT_OF(laws))];
        kith_law *law = NULL;
        if (text)
            assert_ok(kith_law_parse(text, 0, NULL, &law));
        random_points(counts[(int)uniform(0, COUNT_OF(counts))], d,
                      uniform(0, 1) < 0.8 ? &cell : NULL);
        now.has_softenings = uniform(0, 1) < 0.2;
        kith_forces_options options = {.law = law, .cutoff = uniform(0.05, 0.6)};
        options.cell = uniform(0, 1) < 0.8 ? &cell : NULL;
        options.softening = now.has_softenings || uniform(0, 1) < 0.5 ? 0 : 0.1;
        options.gravitational_constant = text ? 0 : 1.5;
        if (!text || strncmp(text, "expr:dx", 7) != 0)
            options.shift = (kith_shift)(int)uniform(0, 3);
        const bool narrow = uniform(0, 1) < 0.5;
        print_message("turn %d: %s, n %lld, d %d, cutoff %g, shift %d, %s\n", turn,
                      text ? text : "gravity", (long long)now.n, (int)d, options.cutoff,
                      (int)options.shift, narrow ? "single" : "double");
        compare_forces(&options, narrow);
        kith_law_free(law);
    }
}

/* Neighbors in the order of rows, and others, some of them twice; a cutoff longer than the cell
 * takes the other images of an excluded pair. */
static void test_cuda_excluded_pairs_are_the_cpus(void **state)
{
    static int64_t pairs[2 * most_points][2];
    static const int64_t counts[] = {2, 3, 40, 700, 2000};
    (void)state;
    for (int turn = 0; turn < (test_is_quick() ? 6 : 40); turn++) {
        const int32_t d = turn % 3 == 0 ? 2 : 3;
        const kith_cell cell = random_cell(d);
        const int64_t n = counts[turn % COUNT_OF(counts)];
        int64_t count = 0;
        kith_law *law = NULL;
        assert_ok(
            kith_law_parse(turn % 2 ? "yukawa:0.4" : "expr:exp(-r2) * m_i * m_j", 0, NULL, &law));
        random_points(n, d, &cell);
        for (int64_t i = 1; i < n; i++) {
            pairs[count][0] = i;
            pairs[count++][1] = i - 1;
            const int64_t j = (int64_t)uniform(0, (double)n);
            if (j == i || uniform(0, 1) < 0.5)
                continue;
            pairs[count][0] = i;
            pairs[count++][1] = j;
        }
        const kith_forces_options options = {
            .law = law,
            .cutoff = n < 100 ? uniform(0.3, 2.3) : uniform(0.1, 0.6),
            .cell = turn % 4 == 3 ? NULL : &cell,
            .exclusions = kith_array_matrix(pairs, KITH_I64, count, 2)};
        print_message("turn %d: n %lld, d %d, cutoff %g, %lld pairs\n", turn, (long long)n, (int)d,
                      options.cutoff, (long long)count);
        compare_forces(&options, turn % 5 == 4);
        kith_law_free(law);
    }
}

static void test_cuda_a_cutoff_may_be_longer_than_the_cell(void **state)
{
    const kith_cell cell = {{{1, 0.1, 0}, {0, 0.9, 0.1}, {0.2, 0, 1.1}}, {true, true, true}};
    kith_law *law = NULL;
    (void)state;
    assert_ok(kith_law_parse("yukawa:0.4", 0, NULL, &law));
    for (int64_t n = 1; n < 40; n += 13) {
        random_points(n, 3, &cell);
        const kith_forces_options options = {.law = law, .cutoff = 2.3, .cell = &cell};
        compare_forces(&options, false);
    }
    kith_law_free(law);
}

static void test_cuda_mixtures_are_the_cpus(void **state)
{
    const kith_cell cell = {{{1, 0, 0}, {0.2, 1, 0}, {0, 0, 1}}, {true, true, true}};
    kith_law *law = NULL;
    (void)state;
    assert_ok(kith_law_parse("lennard-jones", 0, NULL, &law));
    for (int k = 0; k < 4; k++) {
        random_points(400, 3, &cell);
        now.is_mixture = true;
        kith_forces_options options = {.law = law, .cutoff = 0.4, .cell = &cell};
        options.shift = k < 3 ? (kith_shift)k : KITH_SHIFT_NONE;
        compare_forces(&options, k % 2);
    }
    kith_law_free(law);
}

static void test_cuda_tails_are_the_cpus(void **state)
{
    static const char *const with_tail[] = {"lennard-jones:1,0.1", "yukawa:0.4"};
    const kith_cell cell = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {true, true, true}};
    (void)state;
    for (int64_t k = 0; k < COUNT_OF(with_tail); k++) {
        kith_law *law = NULL;
        assert_ok(kith_law_parse(with_tail[k], 0, NULL, &law));
        random_points(300, 3, &cell);
        const kith_forces_options options = {
            .law = law, .cutoff = 0.3, .cell = &cell, .tail = true};
        compare_forces(&options, false);
        kith_law_free(law);
    }
}

static void test_cuda_forces_within_a_cutoff_have_the_same_bits(void **state)
{
    static struct sums first;
    const kith_cell cell = random_cell(3);
    (void)state;
    for (int narrow = 0; narrow < 2; narrow++) {
        random_points(1500, 3, &cell);
        const kith_forces_options options = {.cutoff = 0.25, .cell = &cell};
        assert_ok(compute(gpu, &options, narrow, true, &first));
        for (int turn = 0; turn < 3; turn++) {
            assert_ok(compute(gpu, &options, narrow, true, &of_gpu));
            assert_memory_equal(&first, &of_gpu, sizeof first);
        }
    }
}

static void test_cuda_a_cutoff_refuses_what_it_cannot(void **state)
{
    int64_t pairs[2][2] = {{0, 1}, {1, 20}};
    const kith_cell cell = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {true, true, true}};
    kith_forces_options options = {.cutoff = 0.25, .cell = &cell};
    (void)state;
    random_points(20, 3, &cell);
    options.exclusions = kith_array_matrix(pairs, KITH_I64, 2, 2);
    assert_fails(compute(gpu, &options, false, false, &of_gpu), KITH_INVALID_ARGUMENT, "row 1 20");
    options.exclusions = kith_array_none();
    now.x[7] = (double)NAN;
    assert_fails(compute(gpu, &options, false, false, &of_gpu), KITH_INVALID_ARGUMENT, "2");
    now.x[7] = 1e300;
    assert_fails(compute(gpu, &options, false, false, &of_gpu), KITH_INVALID_ARGUMENT, "row 2");
}

/* A crystal of m³ cells of 4, a little disordered, with velocities. */
static kith_bodies *melt(int32_t m, double density, bool is_tilted)
{
    static const double base[4][3] = {{0, 0, 0}, {0.5, 0.5, 0}, {0.5, 0, 0.5}, {0, 0.5, 0.5}};
    const double edge = cbrt(4 / density);
    kith_bodies *bodies = NULL;
    assert_ok(kith_bodies_create((int64_t)4 * m * m * m, 3, KITH_VELOCITY | KITH_MASS | KITH_CHARGE,
                                 &bodies));
    for (int64_t i = 0; i < bodies->count; i++) {
        const int64_t place[3] = {i / 4 % m, i / 4 / m % m, i / 4 / m / m};
        for (int c = 0; c < 3; c++) {
            bodies->position[3 * i + c] =
                edge * ((double)place[c] + base[i % 4][c] + uniform(-0.03, 0.03));
            bodies->velocity[3 * i + c] = uniform(-2, 2);
        }
        if (is_tilted)
            bodies->position[3 * i] += 0.2 * bodies->position[3 * i + 1];
        bodies->mass[i] = uniform(0.8, 1.2);
        bodies->charge[i] = i % 2 ? 1 : -1;
    }
    bodies->has_cell = true;
    for (int k = 0; k < 3; k++) {
        bodies->cell[4 * k] = edge * m;
        bodies->periodic[k] = true;
    }
    if (is_tilted)
        bodies->cell[3] = 0.2 * edge * m;
    return bodies;
}

struct running {
    const char *law, *integrator;
    kith_dtype precision;
    double skin, dt, cutoff;
    kith_thermostat thermostat;
    kith_shift shift;
    int64_t steps, at_once;
    kith_array exclusions; /* data NULL: none */
};

/* The bodies at the end of a run. */
static kith_bodies *run(kith_context *context, const struct running *running,
                        const kith_bodies *bodies, double *energy_change)
{
    kith_law *law = NULL;
    kith_simulation *simulation = NULL;
    kith_bodies *end = NULL;
    kith_diagnostics before, after;
    assert_ok(kith_law_parse(running->law, 0, NULL, &law));
    const kith_simulation_options options = {.dt = running->dt,
                                             .integrator = running->integrator,
                                             .precision = running->precision,
                                             .skin = running->skin,
                                             .thermostat = running->thermostat,
                                             .forces = {.law = law,
                                                        .cutoff = running->cutoff,
                                                        .shift = running->shift,
                                                        .exclusions = running->exclusions}};
    assert_ok(kith_simulation_create(context, &options, bodies, &simulation));
    assert_ok(kith_simulation_diagnose(simulation, &before));
    for (int64_t done = 0; done < running->steps; done += running->at_once)
        assert_ok(kith_simulation_step(simulation, running->at_once));
    assert_ok(kith_simulation_diagnose(simulation, &after));
    assert_ok(kith_bodies_create(bodies->count, bodies->dimensions,
                                 KITH_VELOCITY | KITH_MASS | KITH_CHARGE, &end));
    assert_ok(kith_simulation_get_bodies(simulation, end));
    memcpy(end->mass, bodies->mass, (size_t)bodies->count * sizeof *end->mass);
    if (energy_change)
        *energy_change = after.total_energy - before.total_energy;
    kith_simulation_free(simulation);
    kith_law_free(law);
    return end;
}

static void assert_same_bodies(const kith_bodies *a, const kith_bodies *b)
{
    const size_t bytes = (size_t)(a->count * a->dimensions) * sizeof(double);
    assert_memory_equal(a->position, b->position, bytes);
    assert_memory_equal(a->velocity, b->velocity, bytes);
}

static const struct running usual = {.law = "lennard-jones",
                                     .precision = KITH_F64,
                                     .dt = 0.004,
                                     .cutoff = 2.5,
                                     .steps = 60,
                                     .at_once = 60};

static void compare_run(const struct running *running, const kith_bodies *bodies, double tolerance)
{
    const int64_t numbers_of = bodies->count * bodies->dimensions;
    kith_bodies *a = run(gpu, running, bodies, NULL), *b = run(cpu, running, bodies, NULL);
    print_message("%s, %s, skin %g\n", running->law,
                  running->integrator ? running->integrator : "leapfrog", running->skin);
    assert_all_near("position", a->position, b->position, numbers_of, 1, tolerance);
    assert_all_near("velocity", a->velocity, b->velocity, numbers_of, 1, 10 * tolerance);
    kith_bodies_free(a);
    kith_bodies_free(b);
}

static void test_cuda_runs_within_a_cutoff_are_the_cpus(void **state)
{
    static const char *const of_runs[] = {"lennard-jones", "yukawa:1", "morse:1,2,1.1",
                                          "expr:exp(-2 * r) * q_i * q_j"};
    (void)state;
    for (int tilted = test_is_quick() ? 1 : 0; tilted < 2; tilted++) {
        kith_bodies *bodies = melt(4, 0.8442, tilted);
        for (int64_t k = 0; k < COUNT_OF(of_runs); k++) {
            struct running running = usual;
            running.law = of_runs[k];
            running.steps = running.at_once = 20;
            running.shift = k < 3 ? KITH_SHIFT_FORCE : KITH_SHIFT_NONE;
            compare_run(&running, bodies, 1e-9);
            running.precision = KITH_F32;
            compare_run(&running, bodies, 2e-4);
        }
        kith_bodies_free(bodies);
    }
}

static void test_cuda_other_runs_within_a_cutoff_are_the_cpus(void **state)
{
    struct running running = usual;
    kith_bodies *bodies = melt(4, 0.8442, false);
    (void)state;
    running.steps = running.at_once = 10;
    running.integrator = "yoshida4";
    compare_run(&running, bodies, 1e-9);
    running.integrator = NULL;
    bodies->periodic[1] = false;
    compare_run(&running, bodies, 1e-9);
    bodies->periodic[1] = true;
    running.cutoff = 4; /* longer than half of the cell */
    compare_run(&running, bodies, 1e-9);
    kith_bodies_free(bodies);
}

/* The list on either device, and in a small cell the sums at each step from the start. */
static void test_cuda_runs_with_excluded_pairs_are_the_cpus(void **state)
{
    static int64_t pairs[most_points][2];
    struct running running = usual;
    (void)state;
    for (int32_t m = 3; m < 6; m += 2) {
        kith_bodies *bodies = melt(m, 0.8442, m == 5);
        for (int64_t k = 0; k < bodies->count / 4; k++) { /* of each cell of four */
            pairs[k][0] = 4 * k;
            pairs[k][1] = 4 * k + 2;
            for (int c = 0; c < 3; c++)
                bodies->position[3 * (4 * k + 2) + c] =
                    bodies->position[3 * 4 * k + c] + (c == 0 ? 0.01 : 0);
        }
        running.exclusions = kith_array_matrix(pairs, KITH_I64, bodies->count / 4, 2);
        running.law = "gaussian:0.8";
        compare_run(&running, bodies, 1e-8);
        kith_bodies_free(bodies);
    }
}

static void test_cuda_runs_of_mixtures_are_the_cpus(void **state)
{
    kith_bodies *bodies = NULL, *like = melt(3, 0.8442, false);
    struct running running = usual;
    (void)state;
    assert_ok(kith_bodies_create(like->count, 3,
                                 KITH_VELOCITY | KITH_MASS | KITH_EPSILON | KITH_SIGMA, &bodies));
    const size_t bytes = (size_t)(3 * like->count) * sizeof(double);
    memcpy(bodies->position, like->position, bytes);
    memcpy(bodies->velocity, like->velocity, bytes);
    memcpy(bodies->mass, like->mass, bytes / 3);
    memcpy(bodies->cell, like->cell, sizeof bodies->cell);
    memcpy(bodies->periodic, like->periodic, sizeof bodies->periodic);
    bodies->has_cell = true;
    for (int64_t i = 0; i < bodies->count; i++) {
        bodies->epsilon[i] = uniform(0.5, 1.5);
        bodies->sigma[i] = uniform(0.8, 1);
    }
    running.steps = running.at_once = 10;
    running.cutoff = 2;
    compare_run(&running, bodies, 1e-9);
    kith_bodies_free(bodies);
    kith_bodies_free(like);
}

static void test_cuda_thermostats_are_the_cpus(void **state)
{
    kith_bodies *bodies = melt(4, 0.8442, false);
    struct running running = usual;
    (void)state;
    running.steps = running.at_once = 15;
    running.thermostat = (kith_thermostat){
        .kind = KITH_THERMOSTAT_LANGEVIN, .temperature = 1.2, .time = 0.3, .seed = 5};
    compare_run(&running, bodies, 1e-9);
    running.law = "expr:exp(-2 * r)"; /* without a list */
    compare_run(&running, bodies, 1e-9);
    running.thermostat.kind = KITH_THERMOSTAT_BUSSI;
    compare_run(&running, bodies, 1e-9);
    running.law = "lennard-jones";
    compare_run(&running, bodies, 1e-9);
    running.cutoff = 0; /* all pairs */
    for (int k = 0; k < 3; k++)
        bodies->periodic[k] = false;
    compare_run(&running, bodies, 1e-9);
    running.thermostat.kind = KITH_THERMOSTAT_LANGEVIN;
    running.precision = KITH_F32;
    compare_run(&running, bodies, 2e-3);
    kith_bodies_free(bodies);
}

static void test_cuda_bits_of_a_run_depend_on_no_list(void **state)
{
    static const double skins[] = {0.05, 0.3, 0.45};
    (void)state;
    for (int tilted = test_is_quick() ? 1 : 0; tilted < 2; tilted++)
        for (int narrow = 0; narrow < 2; narrow++) {
            struct running running = usual;
            running.precision = narrow ? KITH_F32 : KITH_F64;
            running.cutoff = 2.2;
            if (tilted)
                running.thermostat = (kith_thermostat){
                    .kind = KITH_THERMOSTAT_LANGEVIN, .temperature = 1.2, .time = 0.3, .seed = 5};
            kith_bodies *bodies = melt(5, 0.8442, tilted);
            kith_bodies *first = run(gpu, &running, bodies, NULL);
            for (int64_t k = 0; k < COUNT_OF(skins); k++) {
                running.skin = skins[k];
                running.at_once = k == 0 ? 1 : k == 1 ? 7 : 60;
                running.steps = k == 1 ? 63 : 60;
                kith_bodies *again = NULL;
                if (k == 1) { /* 63 steps, by skins 0.3 and 0 */
                    again = run(gpu, &running, bodies, NULL);
                    running.skin = 0;
                    running.at_once = 63;
                    kith_bodies *long_one = run(gpu, &running, bodies, NULL);
                    assert_same_bodies(again, long_one);
                    kith_bodies_free(long_one);
                } else {
                    again = run(gpu, &running, bodies, NULL);
                    assert_same_bodies(again, first);
                }
                kith_bodies_free(again);
            }
            kith_bodies_free(first);
            kith_bodies_free(bodies);
        }
}

/* A melt that is open along some axes, in one place or another. */
static kith_bodies *open_melt(int32_t m, int open, bool is_tilted, const double at[3])
{
    kith_bodies *bodies = melt(m, 0.8442, is_tilted);
    for (int k = 0; k < 3; k++)
        bodies->periodic[k] = !(open >> k & 1);
    for (int64_t i = 0; i < bodies->count; i++)
        for (int c = 0; c < 3; c++)
            bodies->position[3 * i + c] += at[c];
    return bodies;
}

/* Rows 0 and 1, which are alone along z at first, cross the ends of frames of 64, 128 and 256 cells
 * of the cutoff's power of two, outwards or inwards. */
static void send_two_away(kith_bodies *bodies, double z, double velocity)
{
    for (int i = 0; i < 2; i++) {
        double *x = bodies->position + (int64_t)3 * i, *v = bodies->velocity + (int64_t)3 * i;
        x[2] = i == 0 ? z : -1.1 * z;
        v[0] = v[1] = 0;
        v[2] = i == 0 ? velocity : -velocity;
    }
}

static void test_cuda_runs_in_open_cells_are_the_cpus(void **state)
{
    static const double places[][3] = {{0, 0, 0}, {-3, -2, -4}, {20, -31, 55}, {300, 0, -200}};
    (void)state;
    for (int turn = 0; turn < (test_is_quick() ? 4 : 14); turn++) {
        struct running running = usual;
        const int open = 1 + turn % 7;
        kith_bodies *bodies = open_melt(4, open, turn % 3 == 1, places[turn % 4]);
        print_message("open %d, at %g\n", open, places[turn % 4][0]);
        running.law = turn % 5 == 4 ? "expr:exp(-2 * r) * q_i * q_j" : "lennard-jones";
        running.shift = turn % 5 == 4 ? KITH_SHIFT_NONE : KITH_SHIFT_FORCE;
        running.steps = running.at_once = 20;
        if (turn % 4 == 2)
            running.thermostat = (kith_thermostat){
                .kind = KITH_THERMOSTAT_LANGEVIN, .temperature = 1.2, .time = 0.3, .seed = 5};
        if (turn % 5 == 4)
            running.thermostat = (kith_thermostat){0};
        compare_run(&running, bodies, turn % 4 == 3 ? 1e-8 : 1e-9);
        running.precision = KITH_F32;
        compare_run(&running, bodies, turn % 4 < 2 ? 2e-4 : 5e-2);
        kith_bodies_free(bodies);
    }
}

static void test_cuda_particles_may_leave_and_enter_an_open_frame(void **state)
{
    static const double velocities[] = {80, -80, 900, -3e4, 3e5};
    const double nowhere[3] = {0, 0, 0};
    (void)state;
    for (int64_t k = 0; k < COUNT_OF(velocities); k += test_is_quick() ? 4 : 1) {
        struct running running = usual;
        const double v = velocities[k];
        kith_bodies *bodies = open_melt(4, 4, false, nowhere);
        send_two_away(bodies, v > 0 ? 100 : 100 - v * usual.dt * 50, v);
        kith_bodies *first = run(gpu, &running, bodies, NULL);
        compare_run(&running, bodies, fabs(v) < 100 ? 1e-9 : 1e-6);
        running.skin = 0.1;
        running.at_once = 1;
        kith_bodies *again = run(gpu, &running, bodies, NULL);
        assert_same_bodies(again, first);
        kith_bodies_free(again);
        running.skin = 0.4;
        running.at_once = 20;
        again = run(gpu, &running, bodies, NULL);
        assert_same_bodies(again, first);
        kith_bodies_free(again);
        running.precision = KITH_F32;
        compare_run(&running, bodies, fabs(v) < 1e4 ? 1e-2 : 0.5); /* then too far for a list */
        kith_bodies_free(first);
        kith_bodies_free(bodies);
    }
}

static void test_cuda_a_run_refuses_forces_out_of_range(void **state)
{
    kith_bodies *bodies = melt(3, 0.5, false);
    kith_simulation *simulation = NULL;
    kith_law *law = NULL;
    (void)state;
    assert_ok(kith_law_parse("lennard-jones", 0, NULL, &law));
    const kith_simulation_options options = {.dt = 0.001, .forces = {.law = law, .cutoff = 2}};
    for (int c = 0; c < 3; c++)
        bodies->position[3 + c] = bodies->position[c] + 0.1;
    assert_fails(kith_simulation_create(gpu, &options, bodies, &simulation), KITH_INVALID_ARGUMENT,
                 "dt CPU");
    kith_law_free(law);
    kith_bodies_free(bodies);
}

/* The drift that is required is that of an equilibrium; here it begins. */
static void test_cuda_a_melt_keeps_its_energy_and_momentum(void **state)
{
    struct running running = usual;
    double change = 0;
    (void)state;
    running.dt = 0.002;
    running.shift = KITH_SHIFT_FORCE;
    running.steps = 200;
    running.at_once = 200;
    kith_bodies *bodies = melt(6, 0.8442, false);
    kith_bodies *warm = run(gpu, &running, bodies, NULL);
    warm->has_cell = true;
    memcpy(warm->cell, bodies->cell, sizeof warm->cell);
    memcpy(warm->periodic, bodies->periodic, sizeof warm->periodic);
    running.steps = running.at_once = test_is_quick() ? 50 : 1000;
    kith_bodies *end = run(gpu, &running, warm, &change);
    print_message("energy changed by %g a particle\n", change / (double)bodies->count);
    assert_true(fabs(change) <= 1e-4 * (double)bodies->count);
    for (int c = 0; c < 3; c++) {
        double momentum = 0;
        for (int64_t i = 0; i < end->count; i++)
            momentum += end->mass[i] * (end->velocity[3 * i + c] - warm->velocity[3 * i + c]);
        assert_near(momentum, 0, 1e-9);
    }
    kith_bodies_free(end);
    kith_bodies_free(warm);
    kith_bodies_free(bodies);
}

/* Particles that none is near: a step is some 50 units in the last place of a position. */
static void test_cuda_many_small_steps_add_up_in_single_precision(void **state)
{
    kith_bodies *bodies = melt(3, 1e-4, false);
    struct running running = usual;
    (void)state;
    running.precision = KITH_F32;
    running.dt = 1e-4;
    running.steps = 20000;
    running.at_once = 2500;
    kith_bodies *end = run(gpu, &running, bodies, NULL);
    for (int64_t k = 0; k < 3 * bodies->count; k++) {
        const double way = 2 * (double)(float)bodies->velocity[k];
        assert_near(end->position[k], (double)(float)bodies->position[k] + way, 2e-5);
    }
    kith_bodies_free(end);
    kith_bodies_free(bodies);
}

static void test_cuda_runs_of_few_particles(void **state)
{
    (void)state;
    for (int64_t n = 0; n < 4; n++) {
        kith_bodies *bodies = melt(3, 0.5, false);
        struct running running = usual;
        const int64_t all = bodies->count;
        bodies->count = n;
        running.steps = running.at_once = 10;
        running.cutoff = 2;
        compare_run(&running, bodies, 1e-10);
        bodies->count = all;
        kith_bodies_free(bodies);
    }
}

int main(void)
{
    if (gpu_is_absent("test_cuda_cutoff"))
        return exit_skipped;
    numbers = random_numbers_begin("test_cuda_cutoff");
    gpu = new_gpu_context(NULL);
    cpu = cpu_context(0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cuda_forces_within_a_cutoff_are_the_cpus),
        cmocka_unit_test(test_cuda_excluded_pairs_are_the_cpus),
        cmocka_unit_test(test_cuda_a_cutoff_may_be_longer_than_the_cell),
        cmocka_unit_test(test_cuda_mixtures_are_the_cpus),
        cmocka_unit_test(test_cuda_tails_are_the_cpus),
        cmocka_unit_test(test_cuda_forces_within_a_cutoff_have_the_same_bits),
        cmocka_unit_test(test_cuda_a_cutoff_refuses_what_it_cannot),
        cmocka_unit_test(test_cuda_runs_of_few_particles),
        cmocka_unit_test(test_cuda_many_small_steps_add_up_in_single_precision),
        cmocka_unit_test(test_cuda_runs_within_a_cutoff_are_the_cpus),
        cmocka_unit_test(test_cuda_other_runs_within_a_cutoff_are_the_cpus),
        cmocka_unit_test(test_cuda_runs_in_open_cells_are_the_cpus),
        cmocka_unit_test(test_cuda_particles_may_leave_and_enter_an_open_frame),
        cmocka_unit_test(test_cuda_runs_with_excluded_pairs_are_the_cpus),
        cmocka_unit_test(test_cuda_runs_of_mixtures_are_the_cpus),
        cmocka_unit_test(test_cuda_thermostats_are_the_cpus),
        cmocka_unit_test(test_cuda_bits_of_a_run_depend_on_no_list),
        cmocka_unit_test(test_cuda_a_run_refuses_forces_out_of_range),
        cmocka_unit_test(test_cuda_a_melt_keeps_its_energy_and_momentum),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    kith_context_free(gpu);
    kith_context_free(cpu);
    return failed;
}
