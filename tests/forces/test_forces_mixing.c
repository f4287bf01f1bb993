/* Lennard-Jones mixtures: ε and σ of each particle, mixed by Lorentz and Berthelot, against a loop
 * over pairs and images. */

#include "testing.h"

#include "random_numbers.h"

#include <math.h>

enum { most = 70, most_images = 3 };

static struct random_numbers numbers;

static struct {
    int64_t n;
    int32_t d;
    double x[3 * most], m[most], epsilon[most], sigma[most];
    float narrow[6 * most];
} now;

static kith_context *context_of(int32_t threads)
{
    kith_context *context = NULL;
    assert_ok(kith_context_create(
        &(kith_context_options){.device = {KITH_CPU, 0}, .threads = threads}, &context));
    return context;
}

static double uniform(double low, double high)
{
    return random_uniform(&numbers, low, high);
}

/* Points of a lattice that are displaced, no two nearer than 0.7. */
static void random_mixture(int64_t n, int32_t d)
{
    now.n = n;
    now.d = d;
    for (int64_t i = 0; i < n; i++) {
        const int64_t place[3] = {i % 5, i / 5 % 5, i / 25};
        const int64_t of_plane[3] = {i % 9, i / 9, 0};
        for (int32_t c = 0; c < d; c++)
            now.x[i * d + c] = (double)(float)((double)(d == 3 ? place : of_plane)[c] * 1.2 +
                                               uniform(-0.25, 0.25));
        now.m[i] = (double)(float)uniform(0.5, 3);
        now.epsilon[i] = i % 11 == 3 ? 0 : (double)(float)uniform(0.2, 2);
        now.sigma[i] = i % 13 == 5 ? 0 : (double)(float)uniform(0.6, 1.1);
    }
}

static void add_pair(int64_t i, int64_t j, const double d[3], double *force, double *value,
                     double *scale)
{
    const double r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
    const double epsilon = sqrt(now.epsilon[i] * now.epsilon[j]);
    const double s6 = pow((now.sigma[i] + now.sigma[j]) / 2, 6) / pow(r2, 3);
    const double factor = -4 * epsilon * (12 * s6 * s6 - 6 * s6) / r2 / now.m[i];
    *value += 4 * epsilon * (s6 * s6 - s6);
    for (int c = 0; c < 3; c++) {
        force[c] += factor * d[c];
        scale[0] += 4 * epsilon * (12 * s6 * s6 + 6 * s6) / r2 / now.m[i] * fabs(d[c]);
    }
    scale[1] += 4 * epsilon * (s6 * s6 + s6);
}

/* Largest difference from the sums by definition, over the sums of the terms' magnitudes. */
static double worst_error(double cutoff, const double box[3], const double *got)
{
    double worst = 0;
    for (int64_t i = 0; i < now.n; i++) {
        double force[3] = {0}, value = 0, scale[2] = {0};
        for (int64_t j = 0; j < now.n; j++)
            for (int k = 0; k < most_images * most_images * most_images; k++) {
                const int image[3] = {k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1};
                double d[3] = {0}, r2 = 0;
                bool is_there = i != j || k != 13;
                for (int c = 0; c < 3; c++) {
                    is_there = is_there && (box[c] > 0 || image[c] == 0);
                    if (c < now.d)
                        d[c] = now.x[j * now.d + c] - now.x[i * now.d + c] + image[c] * box[c];
                    r2 += d[c] * d[c];
                }
                if (is_there && (cutoff == 0 || r2 < cutoff * cutoff))
                    add_pair(i, j, d, force, &value, scale);
            }
        for (int32_t c = 0; c < now.d; c++)
            if (scale[0] > 0)
                worst = worse_of(worst, fabs(got[i * now.d + c] - force[c]) / scale[0]);
        if (scale[1] > 0)
            worst = worse_of(worst, fabs(got[now.n * now.d + i] - value) / scale[1]);
    }
    return worst;
}

static kith_particles particles(kith_dtype dtype)
{
    const double *const columns[] = {now.x, now.m, now.epsilon, now.sigma};
    static const char *const names[] = {NULL, "m", "epsilon", "sigma"};
    kith_particles made = {0};
    int64_t at = 0;
    for (int k = 0; k < 4; k++) {
        const int64_t count = k == 0 ? now.n * now.d : now.n;
        void *values = (void *)columns[k];
        for (int64_t i = 0; dtype == KITH_F32 && i < count; i++)
            now.narrow[at + i] = (float)columns[k][i];
        if (dtype == KITH_F32)
            values = now.narrow + at;
        at += count;
        if (k == 0)
            made.positions = kith_array_matrix(values, dtype, now.n, now.d);
        else
            made.columns[k - 1] =
                (kith_particle_column){names[k], kith_array_vector(values, dtype, now.n)};
    }
    return made;
}

static kith_law *lennard_jones(const char *text)
{
    kith_law *law = NULL;
    assert_ok(kith_law_parse(text, 0, NULL, &law));
    return law;
}

static void check(const kith_forces_options *options, kith_dtype dtype, const double box[3],
                  double least)
{
    double result[4 * most] = {0};
    float narrow[4 * most] = {0};
    void *to = dtype == KITH_F64 ? (void *)result : (void *)narrow;
    const int64_t bytes = kith_dtype_bytes(dtype);
    const kith_particles all = particles(dtype);
    kith_context *context = context_of(2);
    assert_ok(kith_forces_compute(
        context, options, NULL, &all, kith_array_matrix(to, dtype, now.n, now.d),
        kith_array_vector((char *)to + now.n * now.d * bytes, dtype, now.n)));
    for (int k = 0; dtype == KITH_F32 && k < 4 * most; k++)
        result[k] = (double)narrow[k];
    assert_true(worst_error(options->cutoff, box, result) < least);
    kith_context_free(context);
}

static void test_pairs_have_mean_lengths_and_geometric_depths(void **state)
{
    (void)state;
    kith_law *law = lennard_jones("lennard-jones");
    static const int64_t sizes[] = {0, 1, 2, 33, 64, most};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        for (int32_t d = 2; d <= 3; d++) {
            random_mixture(sizes[k], d);
            kith_cell cell = {{{0}}, {false}};
            const double open[3] = {0};
            double box[3] = {0};
            for (int c = 0; c < d; c++) {
                cell.vectors[c][c] = box[c] = d == 3 ? 6 : 10.8;
                cell.periodic[c] = true;
            }
            kith_forces_options options = {.law = law};
            check(&options, KITH_F64, open, 1e-13);
            check(&options, KITH_F32, open, 1e-5);
            options.solver = solver_named("reference");
            check(&options, KITH_F64, open, 1e-13);
            options = (kith_forces_options){.law = law, .cutoff = 2.3};
            check(&options, KITH_F64, open, 1e-13);
            options.cell = &cell;
            check(&options, KITH_F64, box, 1e-13);
            check(&options, KITH_F32, box, 1e-5);
            options.solver = solver_named("reference");
            check(&options, KITH_F64, box, 1e-13);
        }
    kith_law_free(law);
}

static void fails(const kith_forces_options *options, const kith_particles *targets,
                  const kith_particles *sources, const char *fields)
{
    double potential[most];
    kith_context *context = context_of(1);
    assert_int_equal(kith_forces_compute(context, options, targets, sources, kith_array_none(),
                                         kith_array_vector(potential, KITH_F64, now.n)),
                     KITH_INVALID_ARGUMENT);
    assert_true(has_fields(kith_error_message(), fields));
    kith_context_free(context);
}

static void test_mistakes_are_named(void **state)
{
    (void)state;
    random_mixture(10, 3);
    kith_law *law = lennard_jones("lennard-jones"), *other = lennard_jones("lennard-jones:2,1");
    kith_forces_options options = {.law = law};
    kith_particles all = particles(KITH_F64), part = all;
    part.columns[2] = (kith_particle_column){0};
    fails(&options, NULL, &part, "epsilon sigma");
    double elsewhere[30] = {0};
    kith_particles targets = part;
    targets.positions = kith_array_matrix(elsewhere, KITH_F64, 10, 3);
    fails(&options, &targets, &all, "epsilon sigma targets");
    options.law = other;
    fails(&options, NULL, &all, "lennard-jones:2,1");
    options.law = law;
    now.epsilon[4] = -1;
    fails(&options, NULL, &all, "4 sources.epsilon -1");
    options.law = NULL; /* gravity has no such columns */
    double potential[10];
    kith_context *context = context_of(1);
    assert_ok(kith_forces_compute(context, &options, NULL, &all, kith_array_none(),
                                  kith_array_vector(potential, KITH_F64, 10)));
    kith_context_free(context);
    kith_law_free(law);
    kith_law_free(other);
}

int main(void)
{
    numbers = random_numbers_begin("test_forces_mixing");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pairs_have_mean_lengths_and_geometric_depths),
        cmocka_unit_test(test_mistakes_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
