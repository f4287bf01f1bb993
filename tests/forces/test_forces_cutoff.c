/* Forces within a cutoff: the solvers cutoff and reference against a loop over pairs and images
 * that calls kith_law_evaluate, and what the documentation promises. */

#include "testing.h"

#include "random_numbers.h"

#include <math.h>
#include <stdlib.h>

#define COUNT_OF(array) ((int64_t)(sizeof(array) / sizeof *(array)))

enum { most_points = 1100 };

static struct random_numbers numbers;
static kith_context *context;

static double uniform(double low, double high)
{
    return random_uniform(&numbers, low, high);
}

/* Particles, and a law with how it ends. */
struct setting {
    int64_t n;
    int32_t d;
    double x[3 * most_points], m[most_points], q[most_points], softening[most_points];
    bool has_softenings;
    const char *law; /* NULL: gravity */
    kith_law *made;
    kith_forces_options options;
};

/* What sums come to, and the sums of their terms' magnitudes. */
struct sums {
    double force[3 * most_points], value[most_points];
    double force_scale[most_points], value_scale[most_points];
    kith_forces_totals totals;
    double energy_scale, virial_scale;
};

static struct setting now;
static struct sums expected;
static double wide[4 * most_points], other[4 * most_points];

static void random_points(int64_t n, int32_t d)
{
    now = (struct setting){.n = n, .d = d};
    for (int64_t k = 0; k < n * d; k++)
        now.x[k] = (double)(float)uniform(-0.25, 1.25);
    for (int64_t k = 0; k < n; k++) {
        now.m[k] = (double)(float)uniform(0.5, 1.5);
        now.q[k] = (double)(float)uniform(-1, 1);
        now.softening[k] = (double)(float)uniform(0.05, 0.2);
    }
}

static void choose_law(const char *text)
{
    now.law = text;
    now.made = NULL;
    if (text)
        assert_ok(kith_law_parse(text, 0, NULL, &now.made));
    now.options.law = now.made;
}

/* Its heights are at least 0.5: 0.9 less the norm of the rest. */
static kith_cell random_cell(int32_t d)
{
    kith_cell cell = {{{0}}, {false}};
    for (int k = 0; k < d; k++) {
        for (int c = 0; c < d; c++)
            cell.vectors[k][c] = k == c ? uniform(0.9, 1.1) : uniform(-0.2, 0.2);
        cell.periodic[k] = uniform(0, 1) < 0.7;
    }
    return cell;
}

/* V and dV/dr of the pair at a distance r along x. */
static void at_distance(const kith_law *law, kith_law_pair pair, double r, double *value,
                        double *slope)
{
    double force[3];
    pair.d[0] = r;
    pair.d[1] = pair.d[2] = 0;
    assert_ok(kith_law_evaluate(law, &pair, value, force));
    *slope = force[0];
}

static void add_expected(const kith_law *law, int64_t i, const kith_law_pair *pair, double r)
{
    const kith_forces_options *options = &now.options;
    double value, force[3], there = 0, slope = 0, size = 0;
    assert_ok(kith_law_evaluate(law, pair, &value, force));
    double value_scale = fabs(value);
    if (options->shift && (r > 0 || pair->softening > 0)) {
        at_distance(law, *pair, options->cutoff, &there, &slope);
        if (options->shift == KITH_SHIFT_FORCE) {
            there += (r - options->cutoff) * slope;
            for (int c = 0; c < now.d && r > 0; c++)
                force[c] -= slope * pair->d[c] / r;
        }
        value -= there;
        value_scale += fabs(there) + options->cutoff * fabs(slope);
    }
    for (int c = 0; c < now.d; c++) {
        expected.force[i * now.d + c] += force[c];
        size += fabs(force[c]);
    }
    size += fabs(slope);
    expected.force_scale[i] += size;
    expected.value[i] += value;
    expected.value_scale[i] += value_scale;
    expected.totals.energy += 0.5 * value;
    expected.energy_scale += value_scale;
    expected.virial_scale += r * size;
    for (int k = 0; k < 9; k++)
        expected.totals.virial[k] -= 0.5 * pair->d[k / 3] * force[k % 3];
}

/* The sums by definition, without wrapping: images as far as (1.5 sqrt(D) + cutoff) / height. */
static void expect(void)
{
    static const int far = 7;
    const kith_cell *cell = now.options.cell;
    int images[3] = {0};
    kith_law *gravity = NULL;
    if (!now.made)
        assert_ok(kith_law_parse("gravity", 0, NULL, &gravity));
    memset(&expected, 0, sizeof expected);
    for (int k = 0; cell && k < now.d; k++)
        images[k] = cell->periodic[k] ? far : 0;
    for (int64_t i = 0; i < now.n; i++)
        for (int64_t j = 0; j < now.n; j++)
            for (int a = -images[0]; a <= images[0]; a++)
                for (int b = -images[1]; b <= images[1]; b++)
                    for (int c = -images[2]; c <= images[2]; c++) {
                        kith_law_pair pair = {.softening = now.options.softening,
                                              .mass_i = now.m[i],
                                              .mass_j = now.m[j],
                                              .charge_i = now.q[i],
                                              .charge_j = now.q[j]};
                        double r2 = 0;
                        if (i == j && a == 0 && b == 0 && c == 0)
                            continue;
                        for (int k = 0; k < now.d; k++) {
                            pair.d[k] = now.x[j * now.d + k] - now.x[i * now.d + k];
                            if (cell)
                                pair.d[k] += a * cell->vectors[0][k] + b * cell->vectors[1][k] +
                                             c * cell->vectors[2][k];
                            r2 += pair.d[k] * pair.d[k];
                        }
                        if (now.has_softenings)
                            pair.softening = sqrt(0.5 * (now.softening[i] * now.softening[i] +
                                                         now.softening[j] * now.softening[j]));
                        if (sqrt(r2) < now.options.cutoff)
                            add_expected(now.made ? now.made : gravity, i, &pair, sqrt(r2));
                    }
    for (int64_t i = 0; i < now.n; i++) {
        for (int c = 0; c < now.d; c++)
            expected.force[i * now.d + c] /= now.m[i];
        expected.force_scale[i] /= now.m[i];
        if (!now.law) { /* gravity's potential is divided by the mass */
            expected.value[i] /= now.m[i];
            expected.value_scale[i] /= now.m[i];
        }
    }
    kith_law_free(gravity);
}

static double *made_force(int which)
{
    return which ? other : wide;
}

/* Computes by a solver (NULL: that of a cutoff) in a precision, to wide or other. */
static kith_status compute(kith_context *with, const char *solver, bool narrow, int which)
{
    static float x[3 * most_points], m[most_points], q[most_points], e[most_points];
    static float out[4 * most_points];
    const kith_dtype dtype = narrow ? KITH_F32 : KITH_F64;
    double *to = made_force(which);
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
    kith_forces_options options = now.options;
    options.solver = solver ? solver_named(solver) : NULL;
    void *const memory = narrow ? (void *)out : to;
    const kith_status status = kith_forces_compute(
        with, &options, NULL, &particles, kith_array_matrix(memory, dtype, now.n, now.d),
        kith_array_vector((char *)memory + now.n * now.d * kith_dtype_bytes(dtype), dtype, now.n));
    for (int64_t k = 0; narrow && k < now.n * (now.d + 1); k++)
        to[k] = (double)out[k];
    return status;
}

static void assert_as_expected(const char *who, double tolerance, const kith_forces_totals *totals)
{
    for (int64_t i = 0; i < now.n; i++) {
        const double value = wide[now.n * now.d + i];
        if (!(fabs(value - expected.value[i]) <= tolerance * expected.value_scale[i]))
            fail_msg("%s, %s: value %d is %.17g, not %.17g", who, now.law, (int)i, value,
                     expected.value[i]);
        for (int c = 0; c < now.d; c++) {
            const int64_t k = i * now.d + c;
            if (!(fabs(wide[k] - expected.force[k]) <= tolerance * expected.force_scale[i]))
                fail_msg("%s, %s: acceleration %d of %d is %.17g, not %.17g", who, now.law, c,
                         (int)i, wide[k], expected.force[k]);
        }
    }
    if (!(fabs(totals->energy - expected.totals.energy) <= tolerance * expected.energy_scale))
        fail_msg("%s, %s: energy is %.17g, not %.17g", who, now.law, totals->energy,
                 expected.totals.energy);
    for (int k = 0; k < 9; k++)
        if (!(fabs(totals->virial[k] - expected.totals.virial[k]) <=
              tolerance * expected.virial_scale))
            fail_msg("%s, %s: virial %d is %.17g, not %.17g", who, now.law, k, totals->virial[k],
                     expected.totals.virial[k]);
}

static const char *const laws[] = {NULL,
                                   "coulomb",
                                   "power:2",
                                   "power:3",
                                   "power:2.5",
                                   "power:1.7",
                                   "yukawa:0.7",
                                   "lennard-jones:2,0.1",
                                   "morse:1,2,0.5",
                                   "gaussian:1",
                                   "thin-plate",
                                   "multiquadric:0.3",
                                   "distance",
                                   "distance2",
                                   "sum",
                                   "product",
                                   "expr:q_i*q_j*exp(-r/0.7)/r",
                                   "expr:(m_i*(1 + q_j) + m_j*(1 + q_i))*r",
                                   "expr:q_i*q_j*(1 - 3*dx*dx/(r2 + 0.1))/(r*r2 + 0.1)"};

/* A pair at r has an error of an ulp of the coordinates over r in its distance, which a law of
 * power p multiplies by p: softening keeps r above 0.05. In single precision a pair at the edge may
 * count or not, so that its law must end in 0. */
static void check_law(kith_context *with, const char *law, int trial)
{
    static const int64_t counts[] = {0, 1, 2, 7, 17, 31, 33};
    const bool is_central = !law || !strstr(law, "dx");
    kith_forces_totals totals = {0};
    random_points(counts[trial % COUNT_OF(counts)], 2 + trial / 2 % 2);
    choose_law(law);
    const kith_cell cell = random_cell(now.d);
    now.has_softenings = trial % 3 == 1;
    now.options.softening = now.has_softenings ? 0 : 0.1;
    now.options.cutoff = now.d == 2 ? uniform(0.1, 1.3) : uniform(0.1, 0.9);
    now.options.cell = trial % 5 == 3 ? NULL : &cell;
    now.options.shift = is_central ? (kith_shift)(int)uniform(0, 3) : KITH_SHIFT_NONE;
    now.options.totals = &totals;
    expect();
    assert_ok(compute(with, "reference", false, 0));
    assert_as_expected("reference", 1e-12, &totals);
    assert_ok(compute(with, NULL, false, 0));
    assert_as_expected("cutoff", 1e-12, &totals);
    now.options.totals = NULL; /* another loop: the force alone */
    if (is_central) {
        now.options.shift = KITH_SHIFT_FORCE;
        now.options.totals = &totals;
        expect();
        assert_ok(compute(with, NULL, true, 0));
        assert_as_expected("cutoff, single", 2e-4, &totals);
    }
    kith_law_free(now.made);
}

static kith_context *context_of_isa(const char *isa)
{
    const kith_context_options options = {.device = {KITH_CPU, 0}, .threads = 2};
    kith_context *made = NULL;
    setenv("KITH_ISA", isa, 1);
    assert_ok(kith_context_create(&options, &made));
    unsetenv("KITH_ISA");
    return made;
}

static void test_every_law_in_every_cell_is_its_sum_over_pairs(void **state)
{
    (void)state;
    int64_t count = 0;
    const kith_isa *isa = kith_isa_list(&count);
    int trial = (int)uniform(0, 1000);
    for (int64_t k = 0; k < count; k++) {
        if (!isa[k].supported)
            continue;
        kith_context *with = context_of_isa(isa[k].name);
        for (int64_t law = 0; law < COUNT_OF(laws); law++)
            check_law(with, laws[law], trial++);
        kith_context_free(with);
    }
}

/* The loops of the force alone have the bits of none other, but its numbers. */
static void test_forces_alone_are_those_with_potentials(void **state)
{
    (void)state;
    static double alone[3 * most_points];
    for (int shift = 0; shift < 3; shift++)
        for (int64_t law = 0; law < COUNT_OF(laws); law++) {
            if (laws[law] && strstr(laws[law], "dx"))
                continue;
            random_points(200, 3);
            choose_law(laws[law]);
            const kith_cell cell = random_cell(3);
            now.options.cutoff = 0.3;
            now.options.softening = 0.1;
            now.options.cell = &cell;
            now.options.shift = (kith_shift)shift;
            assert_ok(compute(context, NULL, false, 0));
            kith_particles particles = {
                .positions = kith_array_matrix(now.x, KITH_F64, now.n, 3),
                .columns = {{"m", kith_array_vector(now.m, KITH_F64, now.n)},
                            {"q", kith_array_vector(now.q, KITH_F64, now.n)}}};
            assert_ok(kith_forces_compute(context, &now.options, NULL, &particles,
                                          kith_array_matrix(alone, KITH_F64, now.n, 3),
                                          kith_array_none()));
            double scale = 0;
            for (int64_t k = 0; k < 3 * now.n; k++)
                scale = fmax(scale, fabs(wide[k]));
            for (int64_t k = 0; k < 3 * now.n; k++)
                if (!(fabs(alone[k] - wide[k]) <= 1e-10 * scale))
                    fail_msg("%s: %.17g alone, and %.17g with the potential", laws[law], alone[k],
                             wide[k]);
            kith_law_free(now.made);
        }
}

static void test_more_candidates_than_a_block_are_all_summed(void **state)
{
    (void)state;
    kith_forces_totals totals;
    random_points(1100, 2);
    choose_law("yukawa:0.5");
    now.options.cutoff = 0.5;
    now.options.softening = 0.1;
    now.options.totals = &totals;
    for (int64_t k = 0; k < 2 * now.n; k++)
        now.x[k] *= 0.2;
    const kith_cell cell = {{{0.3, 0, 0}, {0.1, 0.3, 0}}, {true, true}};
    now.options.cell = &cell;
    assert_ok(compute(context, "reference", false, 1));
    const kith_forces_totals of_reference = totals;
    assert_ok(compute(context, NULL, false, 0));
    double scale = 0;
    for (int64_t k = 0; k < 3 * now.n; k++)
        scale = fmax(scale, fabs(other[k]));
    for (int64_t k = 0; k < 3 * now.n; k++)
        assert_true(fabs(wide[k] - other[k]) <= 1e-9 * scale);
    assert_true(fabs(totals.energy - of_reference.energy) <= 1e-9 * 30 * (double)(now.n * now.n));
    kith_law_free(now.made);
}

/* Points of a cubic lattice, each a tenth of its edge away at most: none is near another. */
static void lattice_points(int side, double jitter)
{
    random_points((int64_t)side * side * side, 3);
    for (int64_t i = 0; i < now.n; i++)
        for (int c = 0; c < 3; c++)
            now.x[3 * i + c] = (double)((i / (c == 0   ? 1
                                              : c == 1 ? side
                                                       : side * side)) %
                                        side) +
                               uniform(-jitter, jitter);
}

static double energy_strained(const kith_cell *cell, const double strain[9], double step)
{
    static double kept[3 * most_points];
    kith_forces_totals totals;
    kith_cell strained = *cell;
    memcpy(kept, now.x, sizeof kept);
    for (int64_t i = 0; i < now.n + 3; i++) {
        double *v = i < now.n ? now.x + 3 * i : strained.vectors[i - now.n];
        const double x[3] = {v[0], v[1], v[2]};
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++)
                v[a] += step * strain[3 * a + b] * x[b];
    }
    now.options.cell = &strained;
    now.options.totals = &totals;
    assert_ok(compute(context, NULL, false, 0));
    memcpy(now.x, kept, sizeof kept);
    now.options.cell = cell;
    now.options.totals = NULL;
    return totals.energy;
}

/* U is smooth but for pairs that cross the cutoff: a force that ends in 0 leaves errors of second
 * order there too. */
static void test_the_virial_is_the_derivative_of_the_energy_by_strain(void **state)
{
    (void)state;
    static const char *const some[] = {"lennard-jones", "yukawa:1.5", NULL,
                                       "expr:m_i*m_j*exp(-r2)"};
    for (int64_t law = 0; law < COUNT_OF(some); law++) {
        kith_forces_totals totals;
        double strain[9], wanted = 0, scale = 0;
        lattice_points(4, 0.1);
        choose_law(some[law]);
        const kith_cell cell = {{{4, 0, 0}, {0.5, 4, 0}, {-0.3, 0.2, 4}}, {true, true, true}};
        now.options.cutoff = 1.8;
        now.options.shift = KITH_SHIFT_FORCE;
        now.options.cell = &cell;
        now.options.totals = &totals;
        assert_ok(compute(context, NULL, false, 0));
        for (int k = 0; k < 9; k++) {
            strain[k] = uniform(-1, 1);
            wanted -= totals.virial[k] * strain[k];
            scale += fabs(totals.virial[k]);
        }
        const double step = 1e-5;
        const double found =
            (energy_strained(&cell, strain, step) - energy_strained(&cell, strain, -step)) /
            (2 * step);
        assert_true(totals.volume > 63.9 && totals.volume < 64.8);
        if (!(fabs(found - wanted) <= 1e-5 * (scale + fabs(totals.energy))))
            fail_msg("%s: dU is %.12g, and the virial has %.12g", some[law], found, wanted);
        kith_law_free(now.made);
    }
}

static void test_forces_of_all_sum_to_zero(void **state)
{
    (void)state;
    lattice_points(8, 0.1);
    choose_law("lennard-jones");
    const kith_cell cell = {{{8, 0, 0}, {0, 8, 0}, {0, 0, 8}}, {true, true, true}};
    now.options.cutoff = 2.5;
    now.options.cell = &cell;
    assert_ok(compute(context, NULL, false, 0));
    for (int c = 0; c < 3; c++) {
        double sum = 0, scale = 0;
        for (int64_t i = 0; i < now.n; i++) {
            sum += now.m[i] * wide[3 * i + c];
            scale += fabs(now.m[i] * wide[3 * i + c]);
        }
        assert_true(fabs(sum) <= 1e-13 * scale);
    }
    kith_law_free(now.made);
}

static void test_the_bits_do_not_depend_on_the_threads(void **state)
{
    (void)state;
    kith_forces_totals totals[2];
    random_points(1100, 3);
    choose_law("yukawa:1");
    const kith_cell cell = random_cell(3);
    now.options.cutoff = 0.3;
    now.options.cell = &cell;
    for (int threads = 1; threads <= 7; threads += 2) {
        kith_context *with = NULL;
        const kith_context_options options = {.device = {KITH_CPU, 0}, .threads = threads};
        assert_ok(kith_context_create(&options, &with));
        now.options.totals = &totals[threads > 1];
        assert_ok(compute(with, NULL, false, threads > 1));
        if (threads > 1) {
            assert_memory_equal(wide, other, 4 * (size_t)now.n * sizeof *wide);
            assert_memory_equal(&totals[0], &totals[1], sizeof totals[0]);
        }
        kith_context_free(with);
    }
    kith_law_free(now.made);
}

/* Frenkel & Smit 2002, eqs 3.2.5 and 3.2.9. */
static void test_the_tail_of_lennard_jones_is_its_integral(void **state)
{
    (void)state;
    const double pi = 3.14159265358979323846, cutoff = 2.5, epsilon = 1.7, sigma = 1.1;
    kith_forces_totals plain, with_tail;
    lattice_points(6, 0.1);
    choose_law("lennard-jones:1.7,1.1");
    const kith_cell cell = {{{6, 0, 0}, {0, 6, 0}, {0, 0, 6}}, {true, true, true}};
    now.options.cutoff = cutoff;
    now.options.cell = &cell;
    now.options.totals = &plain;
    assert_ok(compute(context, NULL, false, 0));
    now.options.totals = &with_tail;
    now.options.tail = true;
    assert_ok(compute(context, NULL, false, 1));
    const double s3 = sigma * sigma * sigma, n = (double)now.n, density = n / 216;
    const double s = pow(sigma / cutoff, 3), s9 = s * s * s;
    const double energy = 8.0 / 3 * pi * n * density * epsilon * s3 * (s9 / 3 - s);
    const double pressure = 16.0 / 3 * pi * density * density * epsilon * s3 * (2 * s9 / 3 - s);
    assert_true(fabs(with_tail.energy - plain.energy - energy) < 1e-9 * fabs(plain.energy));
    for (int k = 0; k < 9; k++)
        assert_true(fabs(with_tail.virial[k] - plain.virial[k] -
                         (k % 4 == 0 ? pressure * 216 : 0)) < 1e-9 * fabs(energy) * 10);
    assert_memory_equal(wide, other, 4 * (size_t)now.n * sizeof *wide);
    kith_law_free(now.made);
}

static void test_one_and_two_particles_by_hand(void **state)
{
    (void)state;
    kith_forces_totals totals;
    random_points(1, 3);
    choose_law("distance");
    const kith_cell cell = {{{1, 0, 0}, {0, 9, 0}, {0, 0, 9}}, {true, false, false}};
    now.options.cutoff = 2.5; /* itself at 1 and 2, to either side */
    now.options.cell = &cell;
    now.options.totals = &totals;
    assert_ok(compute(context, NULL, false, 0));
    assert_true(wide[0] == 0 && wide[3] == 6 && totals.energy == 3 && totals.volume == 0);
    assert_true(totals.virial[0] == -3 && totals.virial[4] == 0);
    kith_law_free(now.made);

    random_points(2, 2);
    choose_law(NULL);
    const double places[] = {0, 0, 3, 4}, masses[] = {1, 2};
    memcpy(now.x, places, sizeof places);
    memcpy(now.m, masses, sizeof masses);
    now.options.cutoff = 5;
    assert_ok(compute(context, NULL, false, 0));
    assert_true(wide[0] == 0 && wide[4] == 0); /* strictly less than the cutoff */
    now.options.cutoff = 5.001;
    now.options.totals = &totals;
    assert_ok(compute(context, NULL, false, 0));
    assert_true(fabs(wide[0] - 2 * 3.0 / 125) < 1e-15 && fabs(wide[3] + 4.0 / 125) < 1e-15);
    assert_true(fabs(wide[4] + 2.0 / 5) < 1e-15 && fabs(totals.energy + 2.0 / 5) < 1e-15);
    assert_true(fabs(totals.virial[0] + 2 * 9.0 / 125) < 1e-15); /* attraction */
}

/* One call with a mistake. */
static kith_status fails_with(kith_forces_options options)
{
    now.options = options;
    return compute(context, options.solver ? kith_solver_describe(options.solver).name : NULL,
                   false, 0);
}

static void test_mistakes_are_told_in_one_sentence(void **state)
{
    (void)state;
    random_points(3, 3);
    kith_law *dipole = NULL, *jones = NULL;
    assert_ok(kith_law_parse("expr:dx/r2", 0, NULL, &dipole));
    assert_ok(kith_law_parse("lennard-jones", 0, NULL, &jones));
    const kith_cell cell = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {true, true, true}};
    const kith_cell flat = {{{1, 0, 0}, {1, 0, 0}, {0, 0, 1}}, {true, true, true}};
    const kith_solver *const cutoff = solver_named("cutoff");
    assert_fails(fails_with((kith_forces_options){.cutoff = -1}), KITH_INVALID_ARGUMENT,
                 "cutoff -1");
    assert_fails(fails_with((kith_forces_options){.cutoff = (double)NAN}), KITH_INVALID_ARGUMENT,
                 "cutoff");
    assert_fails(fails_with((kith_forces_options){.solver = cutoff}), KITH_INVALID_ARGUMENT,
                 "solver cutoff 0 cutoff");
    assert_fails(fails_with((kith_forces_options){.cell = &cell}), KITH_INVALID_ARGUMENT,
                 "cutoff 0");
    assert_fails(fails_with((kith_forces_options){.cell = &flat, .cutoff = 1}),
                 KITH_INVALID_ARGUMENT, "dependent");
    assert_fails(fails_with((kith_forces_options){.cutoff = 1, .solver = solver_named("fmm")}),
                 KITH_UNSUPPORTED, "solver fmm");
    assert_fails(fails_with((kith_forces_options){.shift = KITH_SHIFT_FORCE}),
                 KITH_INVALID_ARGUMENT, "cutoff shift 0");
    assert_fails(
        fails_with((kith_forces_options){.cutoff = 1, .shift = KITH_SHIFT_ENERGY, .law = dipole}),
        KITH_UNSUPPORTED, "distance");
    assert_fails(fails_with((kith_forces_options){.cutoff = 1, .tail = true, .law = jones}),
                 KITH_UNSUPPORTED, "periodic");
    assert_fails(fails_with((kith_forces_options){.cutoff = 1, .tail = true, .cell = &cell}),
                 KITH_UNSUPPORTED, "1/r^3");
    assert_fails(
        fails_with((kith_forces_options){
            .cutoff = 1, .tail = true, .cell = &cell, .law = jones, .shift = KITH_SHIFT_ENERGY}),
        KITH_INVALID_ARGUMENT, "tail shift");
    now.x[4] = (double)INFINITY;
    assert_fails(fails_with((kith_forces_options){.cutoff = 1}), KITH_INVALID_ARGUMENT,
                 "row 1 sources.positions inf");
    kith_law_free(dipole);
    kith_law_free(jones);
}

int main(void)
{
    const kith_context_options options = {.device = {KITH_CPU, 0}, .threads = 2};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_law_in_every_cell_is_its_sum_over_pairs),
        cmocka_unit_test(test_forces_alone_are_those_with_potentials),
        cmocka_unit_test(test_more_candidates_than_a_block_are_all_summed),
        cmocka_unit_test(test_the_virial_is_the_derivative_of_the_energy_by_strain),
        cmocka_unit_test(test_forces_of_all_sum_to_zero),
        cmocka_unit_test(test_the_bits_do_not_depend_on_the_threads),
        cmocka_unit_test(test_the_tail_of_lennard_jones_is_its_integral),
        cmocka_unit_test(test_one_and_two_particles_by_hand),
        cmocka_unit_test(test_mistakes_are_told_in_one_sentence),
    };
    numbers = random_numbers_begin("forces within a cutoff");
    if (kith_context_create(&options, &context) != KITH_OK)
        return 1;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    kith_context_free(context);
    return failed;
}
