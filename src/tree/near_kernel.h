#ifndef TREE_NEAR_KERNEL_H
#define TREE_NEAR_KERNEL_H

#include "core/isa.h"
#include "kith/array.h"
#include "tree/expansion.h"

/* The points of a leaf, and the points near to it, put together:
 *
 *     φ_i += Σ_j w_j / s,     ∇φ_i += Σ_j w_j d / s³     d = x_j − x_i, s² = |d|² + ε²
 *     φ_i += Σ_j w_j ln s,    ∇φ_i −= Σ_j w_j d / s²     by the logarithm, in 2D
 *
 * over the sources with s² > 0, where ε² is softening2 or, with columns, softening2 + their sum for
 * i and j. If the leaf is among its sources they are the first, and i = j is
 * left out. The sources are sources_padded elements, of which those after the last have a weight of
 * 0. All columns are of one precision. With `absolute` φ_i has Σ_j |∇φ_ij| added instead. */
struct tree_near {
    int64_t targets, sources_padded;
    bool self;
    bool absolute; /* not rough */
    bool rough; /* 1/s³ may be wrong by rough_error: by one softening or none, not the logarithm */
    enum expansion_law law;
    double softening2;
    const void *target[3], *source[3], *weight;
    const void *target_softening2, *source_softening2; /* both or none */
    void *potential, *gradient[3];                     /* of the targets */
};

struct tree_near_kernels {
    void (*sum)(const struct tree_near *near);
    double rough_error;
    /* Copies this many bytes of each of four columns or, softened, five; and what follows them up
     * to a whole vector, for which both have room. */
    void (*copy_columns)(void *const *to, const void *const *from, bool softened, int64_t bytes);
    int32_t lanes; /* the sources are padded to a multiple of these */
};

#define TREE_DECLARE_NEAR(isa)                                                                     \
    extern const struct tree_near_kernels tree_near_float_##isa, tree_near_double_##isa;
KITH_EACH_ISA(TREE_DECLARE_NEAR)
#undef TREE_DECLARE_NEAR

#endif
