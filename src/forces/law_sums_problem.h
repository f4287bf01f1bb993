#ifndef FORCES_LAW_SUMS_PROBLEM_H
#define FORCES_LAW_SUMS_PROBLEM_H

#include "law/law_kinds.h"

/* Sums over pairs by any law: the columns of a forces_problem whose law is not NULL,
 * as kernels see them. Host code, CUDA and what is compiled at run time read this.
 *
 *     acceleration_i = Σ_j F_ij / m_i,   value_i = Σ_j V(i, j),   jerk_i = Σ_j (dF_ij/dt) / m_i,
 *     value_rate_i = Σ_j F_ij · (v_j − v_i)
 *
 * over all j, without j = i if self. Columns are floats or doubles in a backend's memory, on the
 * CPU readable and written up to kith_padded(count). */
struct law_sums_problem {
    struct law_numbers numbers;
    enum law_weighting weighting;
    int is_central;
    int is_symmetric; /* V(j, i) is V(i, j): forces are equal and opposite */
    int self;         /* the targets are the sources */
    long long target_count, source_count;
    double softening2;
    const double *softening2_at; /* on a GPU, for jerks: ε² if not NULL */
    const void *target_half_softening2, *source_half_softening2; /* both or none */
    const void *target_position[3], *source_position[3];         /* NULL in 2D: zeros */
    const void *target_weight, *source_weight; /* NULL: ones; of a custom law the masses */
    const void *target_charge, *source_charge; /* of a custom law; NULL: ones */
    const void *target_mass;
    void *acceleration[3], *value; /* NULL if not requested */

    /* Where forces change with the motion, and where there are many systems (forces/problem.h). */
    const void *target_velocity[3], *source_velocity[3];
    void *jerk[3], *value_rate;
    long long system_count, system_stride;

    double *totals; /* as in forces/problem.h */
    long long source_shift;
};

/* Maximum number of bodies of a system in an ensemble, kith_most_bodies_of_system: beyond, threads
 * and vectors have enough to do within one system. */
enum { systems_most_bodies = 64 };

/* What a kernel sums. */
enum law_sums { law_sums_force, law_sums_value, law_sums_both };

/* What the kernels of jerks and of many systems compute for each pair besides the force; constants
 * once inlined. */
struct law_pull_outputs {
    int rate, value, value_rate;
};

/* Values of a target where rates are requested: the force, its rate, the rate of V. */
enum { law_jerk_values = 7 };

/* Values of a target: the force, then V. */
enum { law_sums_values = 4 };

/* The weighting that kernels are compiled for, by kind of law. w_i is factored out of the sum over
 * j; laws without weights get ones, which are never read. */
#define LAW_SUMS_WEIGHTING(kind)                                                                   \
    ((kind) != law_constant && (kind) != law_custom && LAW_MAY_BE_PRODUCT(kind) ? law_product      \
                                                                                : law_unweighted)

#endif
