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

/* Estimates of errors by these laws: of a Gaussian law, say, one body of a thousand has all of the
 * error of a sparse halo, and may not be sampled. Of a hundred estimates one may be too low, and
 * three more by chance: one more alone failed with one of 50 seeds. */
struct law_estimates {
    int all, low;
};

static inline void count_estimate(struct law_estimates *estimates, const char *what,
                                  struct errors errors, double estimated, kith_dtype dtype)
{
    const double rounding = dtype == KITH_F64 ? 1e-13 : 1e-6;
    estimates->all++;
    estimates->low += estimated < errors.rms / 3 - rounding;
    if (estimated < errors.rms / 3 - rounding)
        printf("%s: the error is %g, but estimated %g\n", what, errors.rms, estimated);
    if (!(estimated <= 100 * errors.rms + 12 * rounding))
        fail_msg("%s: the error is %g, but estimated %g", what, errors.rms, estimated);
}

static inline void check_estimates(const struct law_estimates *estimates)
{
    assert_true(estimates->all > 0);
    if (100 * estimates->low > 300 + estimates->all)
        fail_msg("%d of %d estimates are below a third of the error", estimates->low,
                 estimates->all);
}

/* What a device checks: several errors of one problem of the scene, by fmm and by groups in turns.
 */
struct law_checks {
    void (*check)(void *user, const struct pair_law *law, const char *name, kith_dtype dtype,
                  double softening, const double errors[], int count, int groups);
    void *user;
    struct tree_scene *scene;
    struct random_numbers *numbers;
    int64_t points;
};

static inline void check_in(const struct law_checks *checks, const char *scene, int32_t dimensions,
                            int k, kith_dtype dtype, double softening, double error, int groups)
{
    scene_fill(checks->scene, checks->numbers, scene, dimensions, checks->points);
    checks->check(checks->user, &laws[k], dimensions == 2 ? "the plane" : scene, dtype, softening,
                  &error, 1, groups);
}

/* Smaller errors are not kept within the length of a law, where high orders lose digits. */
static inline void check_every_law(const struct law_checks *checks, int32_t step)
{
    static const double errors[] = {1e-2, 1e-4, 1e-6};
    for (int32_t kind = 0; kind < scene_kinds; kind += step) {
        scene_fill(checks->scene, checks->numbers, scene_names[kind], 3, checks->points);
        for (int k = 0; k < law_count; k++)
            checks->check(checks->user, &laws[k], scene_names[kind], KITH_F64, 0, errors, 3,
                          (kind + k) % 2);
    }
}

/* In single precision, in the plane, and with softenings from less than a leaf to all of the
 * points. */
static inline void check_other_settings(const struct law_checks *checks)
{
    static const double softenings[] = {0.001, 0.1, 10};
    for (int k = 0; k < law_count; k++) {
        check_in(checks, "cube", 3, k, KITH_F32, 0, k % 2 ? 1e-3 : 1e-4, k % 2);
        check_in(checks, "plummer", 3, k, KITH_F64, softenings[k % 3], 1e-6, k % 2);
        check_in(checks, "charges", 2, k, KITH_F64, k % 2 ? 0 : 0.03, 1e-6, k % 2);
        check_in(checks, "charges", 2, k, KITH_F32, k % 2 ? 0 : 0.03, 1e-4, 0);
    }
}

/* Counts about a leaf, which has 16 points. */
static inline void check_few_points(const struct law_checks *checks)
{
    static const int64_t counts[] = {0, 1, 2, 15, 16, 17};
    for (size_t n = 0; n < sizeof counts / sizeof *counts; n++) {
        const struct pair_law *law = &laws[n % law_count];
        scene_fill(checks->scene, checks->numbers, "cube", 3, counts[n]);
        checks->check(checks->user, law, "few points", KITH_F64, 0, &(double){1e-6}, 1, 0);
        checks->check(checks->user, law, "few points", KITH_F32, 0, &(double){1e-5}, 1, 1);
    }
}

/* Targets of their own in targets, and the scene as sources. */
static inline struct tree_problem problem_of_others(const struct tree_scene *scene,
                                                    const struct tree_scene *targets, int k,
                                                    kith_law **law)
{
    struct tree_problem problem = problem_by(scene, laws[k].text, KITH_F64, 0, law);
    problem.self = false;
    problem.target_count = targets->count;
    for (int c = 0; c < 3; c++)
        problem.target_position[c] = targets->x[c];
    return problem;
}

#endif
