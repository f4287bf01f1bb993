#ifndef TESTS_TREE_ERRORS_H
#define TESTS_TREE_ERRORS_H

/* How wrong a tree's results are, against direct sums. */

#include "testing.h"

#include "tree/tree.h"
#include "tree_scene.h"

static inline struct tree_problem problem_of(const struct tree_scene *of, kith_dtype dtype,
                                             double softening)
{
    struct tree_problem problem = {.dtype = dtype,
                                   .dimensions = of->dimensions,
                                   .self = true,
                                   .target_count = of->count,
                                   .source_count = of->count,
                                   .weight = dtype == KITH_F64 ? (const void *)of->weight
                                                               : (const void *)of->weight_float,
                                   .softening2 = softening * softening};
    for (int32_t c = 0; c < of->dimensions; c++)
        problem.source_position[c] = problem.target_position[c] =
            dtype == KITH_F64 ? (const void *)of->x[c] : (const void *)of->x_float[c];
    return problem;
}

static inline double at(kith_dtype dtype, const void *column, int64_t k)
{
    return dtype == KITH_F64 ? ((const double *)column)[k] : (double)((const float *)column)[k];
}

/* Sums over all sources at a target: the field, its magnitudes, and those of the potential. */
struct direct_sum {
    double field[3], magnitude, potential, potential_magnitude;
};

static inline struct direct_sum sum_directly(const struct tree_problem *problem, int64_t i)
{
    struct direct_sum sum = {{0}, 0, 0, 0};
    for (int64_t j = 0; j < problem->source_count; j++) {
        double d[3] = {0}, r2 = 0;
        for (int32_t c = 0; c < problem->dimensions; c++) {
            d[c] = at(problem->dtype, problem->source_position[c], j) -
                   at(problem->dtype, problem->target_position[c], i);
            r2 += d[c] * d[c];
        }
        const double of_pair = problem->source_half_softening2
                                   ? at(problem->dtype, problem->source_half_softening2, j) +
                                         at(problem->dtype, problem->target_half_softening2, i)
                                   : 0;
        const double s = sqrt(r2 + problem->softening2 + of_pair);
        if (s == 0 || (problem->self && i == j))
            continue;
        const double weight = at(problem->dtype, problem->weight, j);
        const bool inverse = problem->law == expansion_inverse;
        const double of_field = inverse ? weight / (s * s * s) : -weight / (s * s);
        for (int c = 0; c < 3; c++)
            sum.field[c] += of_field * d[c];
        sum.magnitude += fabs(of_field) * sqrt(r2);
        sum.potential += inverse ? weight / s : weight * log(s);
        sum.potential_magnitude += fabs(weight) * (inverse ? 1 / s : fmax(1, fabs(log(s))));
    }
    return sum;
}

/* Of every target, in the targets' order. They are computed once for all the requests that are
 * compared with them; a sample would not do, as few bodies have most of the error. */
static inline const struct direct_sum *sum_all_directly(const struct tree_problem *problem)
{
    static struct direct_sum sums[scene_most];
    assert_true(problem->target_count <= scene_most);
    for (int64_t i = 0; i < problem->target_count; i++)
        sums[i] = sum_directly(problem, i);
    return sums;
}

static inline double length(const double v[3])
{
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

/* What a tree gave, in the targets' order. */
struct tree_results {
    double gradient[scene_most][3], potential[scene_most];
};

struct errors {
    double rms, potential_rms, greatest;
    double of_99_percent;     /* 99 of 100 bodies have at most this error */
    double momentum;          /* |Σ w ∇φ| / Σ |w ∇φ| */
    double momentum_of_pulls; /* the same relative to the sum over pairs, the scale of rounding */
};

static inline int compare_errors(const void *first, const void *second)
{
    const double a = *(const double *)first, b = *(const double *)second;
    return (a > b) - (a < b);
}

/* Fields below this are 0: contributions below 1e-38 are, in single precision. */
static inline double least_scale(kith_dtype dtype)
{
    return dtype == KITH_F32 ? 1e-30 : 0;
}

static inline struct errors errors_of(const struct tree_problem *problem,
                                      const struct direct_sum *exact,
                                      const struct tree_results *results)
{
    static double sorted[scene_most];
    struct errors errors = {0};
    double momentum[3] = {0}, all = 0, pulls = 0;
    for (int64_t i = 0; i < problem->target_count; i++) {
        const double *field = results->gradient[i];
        double wrong[3] = {0};
        for (int32_t c = 0; c < problem->dimensions; c++)
            momentum[c] += at(problem->dtype, problem->weight, i) * field[c];
        all += fabs(at(problem->dtype, problem->weight, i)) * length(field);
        const struct direct_sum sum = exact[i];
        pulls += fabs(at(problem->dtype, problem->weight, i)) * sum.magnitude;
        for (int c = 0; c < 3; c++)
            wrong[c] = field[c] - sum.field[c];
        const double least = least_scale(problem->dtype);
        const double scale = fmax(length(sum.field), 0.1 * sum.magnitude);
        const double error = scale > least ? length(wrong) / scale : length(wrong);
        const double of_potential = results->potential[i] - sum.potential;
        sorted[i] = error;
        errors.rms += error * error;
        errors.greatest = worse_of(errors.greatest, error);
        errors.potential_rms += of_potential * of_potential /
                                fmax(pow(fmax(sum.potential_magnitude, least), 2), 1e-300);
    }
    qsort(sorted, (size_t)problem->target_count, sizeof *sorted, compare_errors);
    errors.of_99_percent = problem->target_count > 0 ? sorted[problem->target_count * 99 / 100] : 0;
    const double count = (double)problem->target_count;
    errors.rms = sqrt(errors.rms / count);
    errors.potential_rms = sqrt(errors.potential_rms / count);
    errors.momentum = all > 0 ? length(momentum) / all : 0;
    errors.momentum_of_pulls = pulls > 0 ? length(momentum) / pulls : 0;
    return errors;
}

static inline void check_kept(const char *name, struct errors errors, double error)
{
    if (!(errors.rms <= error && errors.potential_rms <= error &&
          errors.of_99_percent <= 4 * error && errors.greatest <= 30 * error))
        fail_msg("%s: requested %g: rms %g, of the potential %g, of 99 %% %g, greatest %g", name,
                 error, errors.rms, errors.potential_rms, errors.of_99_percent, errors.greatest);
}

/* The estimate lies between a third of the error and a hundred times it, but for rounding, which is
 * twelve times as large in the estimate as in the errors of the samples. */
static inline void check_estimated(const char *name, struct errors errors, double estimated,
                                   kith_dtype dtype)
{
    const double rounding = dtype == KITH_F64 ? 1e-14 : 1e-6;
    if (!(estimated >= errors.rms / 3 - rounding && estimated <= 100 * errors.rms + 12 * rounding))
        fail_msg("%s: the error is %g, but estimated %g", name, errors.rms, estimated);
}

#endif
