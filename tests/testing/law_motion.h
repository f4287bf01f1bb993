#ifndef TESTS_LAW_MOTION_H
#define TESTS_LAW_MOTION_H

/* Forces by laws where the jerk is wanted, and in many small systems, against the reference: for
 * the tests of both backends. */

#include "laid_out.h"

#include "law_forces.h"

enum law_softening { unsoftened, common_softening, softening_of_bodies, softening_kinds };

static inline void soften(struct laid_out *made, enum law_softening softening)
{
    made->problem.softening2 = softening == common_softening ? 0.01 : 0;
    if (softening == softening_of_bodies)
        laid_out_soften_by_bodies(made);
}

/* The first, the last, and some between. */
static inline int64_t next_looked_at(const struct laid_out *made, int64_t s)
{
    const int64_t last = laid_out_systems(made) - 1;
    return s == last ? last + 1 : s + 17 < last ? s + 17 : last;
}

/* How much of a value that rounding of distances near 1 can change: a value that passes through 0
 * (thin-plate at 1, Lennard-Jones at σ) has few digits there, by its force. */
static inline double condition_of_value(const struct laid_out *expected)
{
    const double value = laid_out_norm(expected, PHI, 1);
    const double force = laid_out_norm(expected, A, expected->problem.dimensions);
    return value > 0 ? 1 + force / value : 1;
}

/* Steep laws raise the rounding of distances to their powers. */
static inline void assert_agrees_with_reference(const struct laid_out *made)
{
    const double bound = made->problem.dtype == KITH_F64 ? 2e-13 : 1e-4;
    const int32_t dimensions = made->problem.dimensions;
    for (int64_t s = 0; s < laid_out_systems(made); s = next_looked_at(made, s)) {
        struct laid_out expected = laid_out_copy(made, s, KITH_F64, 0);
        laid_out_solve(&expected);
        const double of_force = laid_out_difference(made, s, &expected, A, dimensions);
        const double of_value =
            made->problem.potential ? laid_out_difference(made, s, &expected, PHI, 1) : 0;
        const double of_jerk = made->problem.jerk[0]
                                   ? laid_out_difference(made, s, &expected, JERK_OF, dimensions)
                                   : 0;
        const double bound_of_value =
            made->problem.potential ? bound * condition_of_value(&expected) : bound;
        if (!(of_force < bound && of_value < bound_of_value && of_jerk < 10 * bound))
            fail_msg("%s, %lld bodies in %dD, %s: force, value and jerk of system %lld are off by "
                     "%g, %g, %g",
                     kith_law_text(made->problem.law), (long long)made->problem.target_count,
                     (int)dimensions, made->problem.dtype == KITH_F64 ? "double" : "float",
                     (long long)s, of_force, of_value, of_jerk);
        laid_out_free(&expected);
    }
}

static inline void compute_and_compare(kith_context *context, struct laid_out *made)
{
    memset(laid_out_column(made, A).data, 0xff,
           (size_t)(COLUMNS - A) * (size_t)laid_out_column_count(&made->problem) *
               (size_t)kith_dtype_bytes(made->problem.dtype));
    laid_out_compute(context, made);
    assert_agrees_with_reference(made);
}

/* With jerk and potential, with the jerk; of ensembles also with the potential, with neither. */
static inline void compare(kith_context *context, struct laid_out *made)
{
    const struct forces_problem wanted = made->problem;
    struct forces_problem *problem = &made->problem;
    compute_and_compare(context, made);
    problem->potential = NULL;
    compute_and_compare(context, made);
    if (problem->system_count > 0) {
        memset(problem->jerk, 0, sizeof problem->jerk);
        compute_and_compare(context, made);
        problem->potential = wanted.potential;
        compute_and_compare(context, made);
    }
    *problem = wanted;
}

/* One system of n bodies, or an ensemble, softened so, or in every way. */
static inline void compare_random(kith_context *context, struct random_numbers *random,
                                  const kith_law *law, kith_dtype dtype, int64_t n, int64_t systems,
                                  enum law_softening wanted)
{
    struct laid_out made =
        laid_out_create(dtype, n, systems, random_uniform(random, 0, 1) < 0.5 ? 2 : 3);
    laid_out_obey(&made, law);
    laid_out_fill(&made, random);
    for (enum law_softening softening = unsoftened; softening < softening_kinds; softening++) {
        soften(&made, softening);
        if (wanted == softening_kinds || wanted == softening)
            compare(context, &made);
    }
    laid_out_free(&made);
}

/* Bodies at few places. */
static inline void compare_coincident(kith_context *context, struct random_numbers *random,
                                      const char *text, kith_dtype dtype, int64_t systems)
{
    kith_law *law = new_law(text);
    struct laid_out made = laid_out_create(dtype, 20, systems, 3);
    laid_out_obey(&made, law);
    laid_out_fill(&made, random);
    for (int64_t s = 0; s < laid_out_systems(&made); s++)
        for (int64_t i = 0; i < 20; i++)
            for (int64_t c = X; c < X + 3; c++)
                laid_out_put(&made, c, i, s, floor(random_uniform(random, 0, 2)));
    compare(context, &made);
    laid_out_free(&made);
    kith_law_free(law);
}

#endif
