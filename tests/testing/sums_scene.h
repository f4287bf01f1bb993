#ifndef TESTS_SUMS_SCENE_H
#define TESTS_SUMS_SCENE_H

/* Random points and formulas over their pairs, and the comparison of the kernels of sums with the
 * reference. Include testing.h before. */

#include <math.h>

enum { most_points = 1200 };

#include "sums_cloud.h"

static struct cloud cloud_a, cloud_b;
static double wide[2][4 * most_points];
static float narrow[2][4 * most_points];
static kith_context *context;

static const kith_named_formula mixed_outputs[] = {
    {"rho", "m_j * W"},
    {"shear", "dx * (h_i - h_j) * W"},
    {"repulsion", "4 * (pow(s / r, 12) + pow(s / r, 6))"},
    {"near", "r < 0.2"},
};
static const kith_named_formula mixed_lets[] = {{"hh", "(h_i + h_j) / 2"},
                                                {"W", "exp(-r2 / (hh * hh)) / (hh * hh)"}};

static const kith_law_parameter sigma[] = {{"s", 0.15}};

static inline double value_of(kith_dtype dtype, int which, int64_t k)
{
    return dtype == KITH_F32 ? (double)narrow[which][k] : wide[which][k];
}

static inline kith_array results_of(kith_dtype dtype, int which, int64_t rows, int64_t columns)
{
    void *const memory = dtype == KITH_F32 ? (void *)narrow[which] : wide[which];
    return kith_array_matrix(memory, dtype, rows, columns);
}

/* Computes with the kernels and with the reference, and compares. */
static inline void compare(kith_sums_options options, kith_dtype dtype, bool two_sets)
{
    kith_particles targets = particles_of(&cloud_a, dtype);
    kith_particles sources = particles_of(two_sets ? &cloud_b : &cloud_a, dtype);
    const int64_t n = cloud_a.count, outputs = COUNT_OF(mixed_outputs);
    int64_t pairs[2] = {-1, -1};
    options.let_count = COUNT_OF(mixed_lets);
    options.lets = options.lets ? options.lets : mixed_lets;
    options.parameter_count = 1;
    options.parameters = sigma;
    for (int which = 0; which < 2; which++) {
        options.method = which ? KITH_SUMS_REFERENCE : KITH_SUMS_AUTO;
        options.pair_count = &pairs[which];
        assert_ok(kith_sums_compute(context, &options, two_sets ? &targets : NULL, &sources,
                                    outputs, mixed_outputs, results_of(dtype, which, n, outputs)));
    }
    assert_int_equal(pairs[0], pairs[1]);
    double shear = 0.1; /* its terms have both signs and are about 1 */
    for (int64_t k = 0; k < n * outputs; k++)
        if (k % outputs == 1 && isfinite(value_of(dtype, 1, k)))
            shear = fmax(shear, fabs(value_of(dtype, 1, k)));
    for (int64_t k = 0; k < n * outputs; k++) {
        const double made = value_of(dtype, 0, k), expected = value_of(dtype, 1, k);
        const double bound =
            (dtype == KITH_F32 ? 3e-5 : 1e-12) * (fabs(expected) + (k % outputs == 1 ? shear : 0));
        if (made != expected && !(fabs(made - expected) <= bound))
            fail_msg("row %d output %d: %.17g, and the reference has %.17g", (int)(k / outputs),
                     (int)(k % outputs), made, expected);
    }
}

static inline int open_context(void **state)
{
    (void)state;
    numbers = random_numbers_begin("sums");
    return kith_context_create(&(kith_context_options){.device = {KITH_CPU, 0}}, &context) ==
                   KITH_OK
               ? 0
               : -1;
}

static inline int close_context(void **state)
{
    (void)state;
    kith_context_free(context);
    return 0;
}

#endif
