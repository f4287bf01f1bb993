#ifndef FORCES_ARGUMENTS_H
#define FORCES_ARGUMENTS_H

#include <float.h>
#include <math.h>

#include "core/bad_row.h"
#include "forces/charges.h"
#include "forces/problem.h"
#include "kith/forces.h"
#include "particles/columns.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The arguments of kith_forces_compute and kith_forces_derivative, with the options' defaults
 * filled in. */
struct forces_arguments {
    struct particles_side sources, targets; /* targets without positions are the sources */
    kith_array acceleration, potential;

    /* Of kith_forces_derivative; none of kith_forces_compute. */
    kith_array target_directions, source_directions;
    kith_array acceleration_derivative, potential_derivative;
    const kith_law *law_of_unit_mass; /* −m_j/s, by which kernels derive gravity; else NULL */

    /* A law other than gravity, or NULL. Then masses divide forces. Columns that the law does
     * not use are absent. */
    const kith_law *law;
    bool uses_charges;
    bool mixes; /* the columns epsilon and sigma are the weights and charges (mixing.h) */

    double gravitational_constant, softening;
    const kith_solver *solver;
    struct forces_way way;
    struct forces_space space; /* but for the lattice */
    kith_accuracy accuracy;
    kith_solver_report *report;
    const kith_forces_options *options; /* as the caller gave them */
    kith_context *context;              /* whose threads check the numbers and copy them */
    /* Sources and targets of all ranks, of which the arrays have this rank's (forces/slice.h); 0 */
    int64_t all, all_targets;

    /* Largest magnitudes of coordinates and softenings, and of masses: from forces_check_numbers.
     */
    double largest_length, largest_mass;
};

static inline int64_t forces_target_count(const struct forces_arguments *arguments)
{
    return kith_array_is_none(arguments->targets.positions) ? arguments->sources.positions.shape[0]
                                                            : arguments->targets.positions.shape[0];
}

static inline bool forces_is_derivative(const struct forces_arguments *arguments)
{
    return !kith_array_is_none(arguments->target_directions) ||
           !kith_array_is_none(arguments->source_directions);
}

/* The charges of the targets are the sources' column. */
static inline bool forces_shares_charges(const struct forces_arguments *arguments)
{
    return kith_array_is_none(arguments->targets.positions) &&
           kith_array_is_none(
               arguments->targets.column[arguments->mixes ? particles_sigma : particles_q]);
}

/* The masses that divide forces must be more than 0: the minimum allowed. */
static inline double forces_least_mass(const struct forces_arguments *arguments, bool of_targets)
{
    const bool divide = of_targets || kith_array_is_none(arguments->targets.positions);
    const bool accelerates = !kith_array_is_none(arguments->acceleration) ||
                             !kith_array_is_none(arguments->acceleration_derivative);
    if (!arguments->law || !divide || !accelerates)
        return -(double)INFINITY;
    return arguments->sources.positions.dtype == KITH_F64 ? DBL_MIN : (double)FLT_MIN;
}

/* The valid numbers of an array: the minimum, the largest magnitude, and the words of the message;
 * far: of one whose magnitude is larger. */
struct forces_rule {
    double least, most;
    const char *what, *far;
};

static inline struct forces_rule forces_rule_of_vectors(void)
{
    const struct forces_rule rule = {-(double)INFINITY, (double)INFINITY, "finite numbers", ""};
    return rule;
}

/* Squares of all distances are finite: laws have no units of their own as gravity does (scale.h).
 */
static inline struct forces_rule forces_rule_of_positions(const struct forces_arguments *arguments)
{
    const kith_dtype dtype = arguments->sources.positions.dtype;
    const kith_cell *cell = arguments->space.cell;
    const bool wraps = cell && (cell->periodic[0] || cell->periodic[1] || cell->periodic[2]);
    struct forces_rule rule = forces_rule_of_vectors();
    if (arguments->law && arguments->space.cutoff == 0 && !wraps) {
        rule.most = kith_largest_coordinate(dtype);
        rule.far = kith_remedy_of_far(dtype);
    }
    return rule;
}

static inline const char *forces_remedy(struct forces_rule rule, double value)
{
    return isfinite(value) && fabs(value) > rule.most ? rule.far : rule.what;
}

static inline struct forces_rule forces_rule_of_column(const struct forces_arguments *arguments,
                                                       bool of_targets, int column)
{
    struct forces_rule rule = forces_rule_of_vectors();
    const double least = forces_least_mass(arguments, of_targets);
    rule.least = particles_columns[column].least;
    rule.what = particles_columns[column].what;
    if (column == particles_m && least > 0) {
        rule.least = least;
        rule.what = "masses greater than 0, by which forces are divided";
    }
    if (column == particles_q) {
        const kith_dtype dtype = arguments->sources.positions.dtype;
        rule.most = forces_largest_charge(arguments->solver, arguments->law, dtype);
        rule.far = forces_remedy_of_charge(dtype);
    }
    return rule;
}

/* Whether all arrays are on a device: forces_check_arguments has checked that they are on the same
 * one. */
static inline bool forces_on_device(const struct forces_arguments *arguments)
{
    return arguments->sources.positions.device.kind != KITH_CPU;
}

/* Checks the arguments for a context, except for the numbers in the arrays.
 * Errors: those of kith_forces_compute. */
kith_status forces_check_arguments(const struct forces_arguments *arguments);

/* Checks the numbers of arrays on the host, and fills in the largest magnitudes.
 * Errors: KITH_INVALID_ARGUMENT (the message names the row), KITH_CANCELLED. */
kith_status forces_check_numbers(struct forces_arguments *arguments);

#ifdef __cplusplus
}
#endif

#endif
