#ifndef PAIRS_KD_KERNEL_H
#define PAIRS_KD_KERNEL_H

#include "core/isa.h"
#include "pairs/kd_tree.h"

/* The loops over a k-d tree. With s = 1/unit, in the problem's dtype, each operation rounded, in
 * the one order below, none fused:
 *
 *     d_c = (x_jc − x_ic) · s,   r² = ((d_0² + d_1²) + d_2²) + …   < limit
 *
 * For a box around points j, the same with the least |x_jc − x_ic| that they can have gives a lower
 * bound of all these r², rounded as they are: rounding never changes which of two numbers is the
 * larger. So a box is passed over if its r² is not below the limit, and no pair is missed. */

/* Targets of a leaf and points of another that are to be compared. */
struct pairs_kd_meeting {
    const struct pairs_kd_tree *targets, *points;
    int64_t target_leaf, leaf;
    double scale;        /* s */
    const void *limits;  /* of the r² of each target of the leaf, width of them */
    double cutoff;       /* with radii, in units: limits are (r_i + r_j + cutoff)² then */
    bool half, two_sets; /* j > i only; i = j counts */
    bool everything;     /* without testing the box */
    int64_t room;        /* of a target in `found` and `squares` */
    int32_t *found;      /* the rows of the partners of each target, */
    void *squares;       /* and their r²; NULL: not needed */
    int64_t *counts;     /* of each target: how many were and are found */
};

/* Adds the partners that the targets of a leaf have in another. There is room for width more of
 * each, and 64 elements past the end. */
typedef void pairs_kd_meet(const struct pairs_kd_meeting *meeting);

/* The leaves that may have partners nearer than a limit of a leaf of targets, or with radii than
 * (largest radius + largest radius + cutoff)², and how many they are. `leaves` has room for all. */
typedef int64_t pairs_kd_leaves(const struct pairs_kd_tree *targets, int64_t target_leaf,
                                const struct pairs_kd_tree *points, double scale, double limit,
                                double cutoff, int32_t *leaves);

/* The lower bound of r² between the targets of a leaf and the points of a node. */
typedef double pairs_kd_gap(const struct pairs_kd_tree *targets, int64_t target_leaf,
                            const struct pairs_kd_tree *points, int64_t node, double scale);

/* The kernels of an instruction set and real type. */
struct pairs_kd_kernels {
    pairs_kd_meet *meet;
    pairs_kd_leaves *leaves;
    pairs_kd_gap *gap;
};

#define PAIRS_DECLARE_KD_KERNELS(isa)                                                              \
    extern const struct pairs_kd_kernels pairs_kd_kernels_double_##isa,                            \
        pairs_kd_kernels_float_##isa;
KITH_EACH_ISA(PAIRS_DECLARE_KD_KERNELS)
#undef PAIRS_DECLARE_KD_KERNELS

#endif
