#ifndef TESTS_TREE_LAWS_H
#define TESTS_TREE_LAWS_H

/* Laws other than 1/s and ln s, and their direct sums. */

#include "tree_errors.h"

struct pair_law {
    const char *text;
    double (*value)(double s), (*factor)(double s); /* V and V'/s */
};

static inline double yukawa(double s)
{
    return exp(-s / 0.5) / s;
}

static inline double yukawa_factor(double s)
{
    return -yukawa(s) * (1 / s + 2) / s;
}

static inline double inverse_square(double s)
{
    return 1 / (s * s);
}

static inline double inverse_square_factor(double s)
{
    return -2 / (s * s * s * s);
}

static inline double inverse_root(double s)
{
    return 1 / sqrt(s);
}

static inline double inverse_root_factor(double s)
{
    return -0.5 * pow(s, -2.5);
}

static inline double gaussian(double s)
{
    return exp(-s * s / (2 * 0.7 * 0.7));
}

static inline double gaussian_factor(double s)
{
    return -gaussian(s) / (0.7 * 0.7);
}

static inline double multiquadric(double s)
{
    return sqrt(s * s + 0.01);
}

static inline double multiquadric_factor(double s)
{
    return 1 / sqrt(s * s + 0.01);
}

static inline double inverse(double s)
{
    return 1 / s;
}

static inline double inverse_factor(double s)
{
    return -1 / (s * s * s);
}

static const struct pair_law laws[] = {
    {"yukawa:0.5", yukawa, yukawa_factor},
    {"power:2", inverse_square, inverse_square_factor},
    {"power:0.5", inverse_root, inverse_root_factor},
    {"gaussian:0.7", gaussian, gaussian_factor},
    {"multiquadric:0.1", multiquadric, multiquadric_factor},
};
enum { law_count = sizeof laws / sizeof laws[0] };

static inline struct tree_problem problem_by(const struct tree_scene *of, const char *text,
                                             kith_dtype dtype, double softening, kith_law **law)
{
    struct tree_problem problem = problem_of(of, dtype, softening);
    assert_ok(kith_law_parse(text, 0, NULL, law));
    problem.law = expansion_series;
    problem.pair_law = *law;
    return problem;
}

static inline const struct direct_sum *sum_by(const struct tree_problem *problem,
                                              const struct pair_law *law)
{
    static struct direct_sum sums[scene_most];
    for (int64_t i = 0; i < problem->target_count; i++) {
        struct direct_sum sum = {{0}, 0, 0, 0};
        for (int64_t j = 0; j < problem->source_count; j++) {
            double d[3] = {0}, r2 = 0;
            for (int32_t c = 0; c < problem->dimensions; c++) {
                d[c] = at(problem->dtype, problem->source_position[c], j) -
                       at(problem->dtype, problem->target_position[c], i);
                r2 += d[c] * d[c];
            }
            const double s = sqrt(r2 + problem->softening2);
            if ((problem->self && i == j) || (s == 0 && !isfinite(law->value(0))))
                continue;
            const double weight = at(problem->dtype, problem->weight, j);
            const double value = weight * law->value(s);
            const double factor = s > 0 ? weight * law->factor(s) : 0;
            for (int c = 0; c < 3; c++)
                sum.field[c] -= factor * d[c];
            sum.magnitude += fabs(factor) * sqrt(r2);
            sum.potential += value;
            sum.potential_magnitude += fabs(value);
        }
        sums[i] = sum;
    }
    return sums;
}

#endif
