#ifndef MESH_SHORT_KERNEL_H
#define MESH_SHORT_KERNEL_H

#include "core/isa.h"
#include "kith/array.h"
#include "mesh/split.h"

/* Candidates of a kernel call; arrays have room for short_padding more. */
enum { short_most_candidates = 2048, short_padding = 32 };

/* Candidates near some targets, and the targets, in units of the cutoff from a point near them:
 * columns, and records of x, y, z and w. Floats have other records with what rounding has taken
 * from x, y and z, and a zero: without them the force of two particles that are much nearer to
 * each other than the cutoff would be off by far more than its own rounding. They are read where
 * r² of any pair of a vector is less than near2. */
struct short_block {
    int64_t count, targets;
    const void *position[3], *records, *target_records;
    const float *rests, *target_rests;
    double near2;
    double repulsion;      /* of sum_sixth: of 1/r¹², in units of the cutoff */
    const int32_t *number; /* 0, 1, 2, … */
    int32_t *found;        /* scratch */
};

/* The sums of a target: Σ w erfc(α r)/r, Σ w g d, and Σ w g d_a d_b for (a, b) = xx, yy, zz, yz,
 * xz, xy; g is −1/r d/dr of the first. Candidates at r = 0, and those whose r² is at most the floor
 * of core/floors.h, whose 1/r³ may overflow, count with −α f(0). Those of sum_sixth are of (1 −
 * P)/r⁶ − repulsion/r¹² in the place of erfc(α r)/r (split.h). */
enum { short_potential, short_gradient, short_virial = 4, short_sums = 10 };

typedef void short_sum(const struct split *split, const struct short_block *block, double *sums);

/* (x − origin) scale of count particles from `first` of columns x, y, z and w, from slot `at` of
 * columns, records and rests on. */
typedef void short_fill(double *const *from, int64_t first, int64_t count, const double origin[3],
                        double scale, int64_t at, void *const position[3], void *records,
                        float *rests);

struct short_kernels {
    short_sum *sum, *sum_sixth;
    short_fill *fill;
};

#define SHORT_DECLARE(isa)                                                                         \
    extern const struct short_kernels mesh_short_float_##isa, mesh_short_double_##isa;
KITH_EACH_ISA(SHORT_DECLARE)
#undef SHORT_DECLARE

#endif
