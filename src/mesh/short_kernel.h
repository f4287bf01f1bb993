#ifndef MESH_SHORT_KERNEL_H
#define MESH_SHORT_KERNEL_H

#include "core/isa.h"
#include "kith/array.h"
#include "mesh/split.h"

/* Candidates of a kernel at once; arrays have room for short_padding more. */
enum { short_most_candidates = 2048, short_padding = 32 };

/* Candidates near some targets, and the targets, in units of the cutoff from a point near them:
 * columns, and the same as records of x, y, z and w. */
struct short_block {
    int64_t count, targets;
    const void *position[3], *records;
    const int32_t *number; /* 0, 1, 2, … */
    const void *target[3];
    int32_t *found; /* scratch */
};

/* What is added up of a target: Σ w erfc(α r)/r, Σ w g d, and Σ w g d_a d_b for (a, b) = xx, yy,
 * zz, yz, xz, xy; g is −1/r d/dr of the first. Candidates at r = 0 count with −α f(0). */
enum { short_potential, short_gradient, short_virial = 4, short_sums = 10 };

typedef void short_kernel(const struct split *split, const struct short_block *block, double *sums);

struct short_kernels {
    short_kernel *in_double, *in_float;
};

#define SHORT_DECLARE(isa) extern const struct short_kernels mesh_short_##isa;
KITH_EACH_ISA(SHORT_DECLARE)
#undef SHORT_DECLARE

#endif
