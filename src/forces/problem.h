#ifndef FORCES_PROBLEM_H
#define FORCES_PROBLEM_H

#include "kith/forces.h"

struct kith_law;
struct pairs_lattice;

/* Where the CUDA backend puts acceleration and potential: the caller's arrays, whose units only the
 * device knows (forces/pack_cuda.cu). Element i of a component is i strides after its pointer. */
struct forces_delivery {
    const struct forces_measured *measured; /* there; NULL: the results go to columns */
    int64_t acceleration_stride, potential_stride;
    double g_fraction; /* times 2^g_exponent is G */
    int32_t g_exponent;
};

/* Which kernel, of those that a backend has; all zero: the fastest. */
struct forces_way {
    kith_forces_method method;
    int32_t block, unroll; /* of tiles; 0: the default of kith/forces.h */
    /* For split on a GPU, for accelerations alone with one softening; 0: the default. Targets
     * of a thread: 1, 2, 4 or 8; threads that share the sources of a target: 32, 64, 128 or 256. */
    int32_t bodies, threads;
};

/* Of a solver that is periodic: the pairs that it sums one by one, and what is left, which changes
 * more slowly as particles move. */
enum forces_part { forces_all, forces_near, forces_far };

/* A periodic cell, pairs within a cutoff, or both, in the problem's unit of length: the caller's
 * for a solver that is periodic. */
struct forces_space {
    const kith_cell *cell; /* in the caller's unit; NULL: open space */
    double cutoff;         /* 0: all pairs; of a solver that is periodic: chosen */
    double absolute_error; /* as in ewald, over |G| */
    enum forces_part part;
    const kith_ewald *ewald;
    kith_array exclusions;      /* of the caller, whose shape has been checked; of a slice those */
    bool has_exclusions;        /* with a row of this rank's, and whether any rank has some */
    kith_forces_totals *totals; /* NULL: not requested */
    /* Of solvers with a cutoff. */
    kith_shift shift;
    bool tail;
    const struct pairs_lattice *lattice; /* NULL: no cutoff */
    double volume;                       /* as of kith_forces_totals */
    bool repeats; /* the problem is solved repeatedly as particles move, so that a list pays off */
    double skin;  /* of that list, in the problem's unit; 0: chosen */
};

/* All-pairs forces as a backend sees them: structures of arrays in the backend's memory, one dtype.
 *
 *     d = x_j − x_i,  s² = |d|² + ε²,  ε² = softening2, or half_softening2_i + half_softening2_j
 *     a_i = G Σ_j m_j d / s³,   φ_i = −G Σ_j m_j / s,
 *     jerk_i = G Σ_j m_j [u / s³ − 3 (d·u) d / s⁵],  u = v_j − v_i
 *
 * over the pairs with s² > 0 and, if self, i ≠ j. Arrays may be read (and outputs written) up to
 * kith_padded(count) elements; those past count are finite and otherwise without meaning.
 *
 * With system_count > 0 there are this many independent systems of target_count bodies each, and
 * self is true: body i of system s is element i·system_stride + s, with system_stride =
 * kith_padded(system_count). Of one system, body i is element i.
 *
 * With a law other than gravity there are
 *
 *     a_i = Σ_j F_ij / m_i,  φ_i = Σ_j V(i, j),  jerk_i = Σ_j (dF_ij/dt) / m_i,  m_i = target_mass
 *     potential_rate_i = Σ_j F_ij · u
 *
 * instead (kith/law.h), G is 1, and the units are the law's: nothing is scaled.
 *
 * In 2D the third component's pointers are NULL. Magnitudes are such that s⁶ neither overflows nor
 * vanishes: forces.c scales its input by a power of two to ensure that. */
struct forces_problem {
    kith_dtype dtype; /* KITH_F64 or KITH_F32 */
    int32_t dimensions;
    bool self; /* the targets are the sources */
    /* The columns have only this rank's rows of all that are counted, from ranks_first on
     * (forces/slice.h). */
    bool is_slice;
    bool accumulate; /* results are added to what the outputs hold; not with a delivery */
    int64_t target_count, source_count;
    int64_t system_count, system_stride; /* 0, 0: one system */
    double gravitational_constant;
    double softening2;
    /* If not NULL, ε² is read from here, in the backend's memory, and softening2 is 0. */
    const double *softening2_at;

    const struct kith_law *law;                /* NULL: gravity */
    const void *target_mass;                   /* only with a law; */
    const void *target_charge, *source_charge; /* NULL: ones */

    const void *target_position[3];
    const void *source_position[3];
    const void *source_mass;
    /* The weights of the law instead of target_mass if source_mass is not a mass (mixing.h);
     * target_mass then only divides. NULL: the masses. */
    const void *target_weight;
    const void *target_half_softening2; /* both or neither; then softening2 is 0 */
    const void *source_half_softening2;
    const void *target_velocity[3]; /* only with jerk and rate; NULL: zeros, with a law */
    const void *source_velocity[3];

    void *acceleration[3]; /* outputs: NULL if not requested */
    void *potential;
    void *jerk[3];        /* without a law only together with acceleration */
    void *potential_rate; /* only with a law and one system */
    /* Of one-sided sums on the CPU that go on from one tile of sources to the next
     * (forces/one_sided_slices.c), not NULL: the sums so far, a column of kith_padded(target_count)
     * for each value of the kernel. A kernel adds the sources, or, if there are none, writes the
     * results. source_shift: if self, the first source among all, less the first target. */
    double *totals;
    int64_t source_shift;
    struct forces_delivery delivery;
    struct forces_way way;
    struct forces_space space;
    kith_accuracy accuracy;
    kith_solver_report *report; /* NULL: not requested */
};

/* The weights of the targets, of a law of masses. */
static inline const void *forces_target_weight(const struct forces_problem *problem)
{
    return problem->target_weight ? problem->target_weight : problem->target_mass;
}

/* What a kernel of gravity computes for each body: each value includes those before it. */
enum forces_outputs { forces_acceleration, forces_potential, forces_jerk };

static inline enum forces_outputs forces_outputs_of(const struct forces_problem *problem)
{
    return problem->jerk[0]     ? forces_jerk
           : problem->potential ? forces_potential
                                : forces_acceleration;
}

#endif
