#ifndef PAIRS_SMALL_KERNEL_H
#define PAIRS_SMALL_KERNEL_H

#include "core/isa.h"
#include "pairs/pairs_kernel.h"

/* Small systems, every target against every point: in the order of their rows, so that nothing is
 * sorted, and each pair at its nearest image, because no other is within the cutoff (small_cpu.c
 * ensures that).
 *
 * Points are screened in float, whose vectors are twice as long as double's and which is near
 * enough to the truth for all but a few pairs: those at the cutoff, between `inside` and
 * `outside`, are judged by the arithmetic of geometry.h. */

/* The points of a system, or its targets. */
struct pairs_small_set {
    int64_t first, count; /* rows of the caller's array */
    void *position[3];    /* the problem's dtype, wrapped, in units */
    float *near[3]; /* from the middle of the system; pairs_small_behind far ones at the end */
    int32_t *wraps; /* n of each row, three by three; NULL if not needed */
};

enum { pairs_small_behind = 16 };

struct pairs_small_system {
    kith_dtype dtype;
    int32_t dimensions;
    bool periodic; /* along some axis */
    bool half;
    bool two_sets;
    const struct pairs_lattice *lattice; /* a box: periodic vectors along the axes */
    double period[3];                    /* ≥ 0, in the dtype; INFINITY along open axes */
    double limit;                        /* of r² */
    float inside, outside;               /* of r² in float */
    struct pairs_small_set points, targets;
};

/* Lowest and highest coordinates. */
struct pairs_small_bounds {
    double low[3], high[3];
};

/* Wraps the rows of an array into the box, and extends the bounds. False if a number is not finite
 * or too far away. */
typedef bool pairs_small_wrap_kernel(kith_array rows, double per_unit,
                                     const struct pairs_lattice *box,
                                     const struct pairs_small_set *set,
                                     struct pairs_small_bounds *bounds);

/* Writes set->near from its positions. */
typedef void pairs_small_center_kernel(const struct pairs_small_set *set, int32_t dimensions,
                                       const double middle[3]);

/* Finds the partners of the targets begin … end − 1, by number in the system, one row after the
 * other: counts[k − begin] of target k. There is room for that many and a vector; found may be
 * NULL. Returns how many there are. */
typedef int64_t pairs_small_find_kernel(const struct pairs_small_system *system, int64_t begin,
                                        int64_t end, int32_t *found, int64_t *counts);

/* Writes the rows of these targets, which have been found. */
typedef void pairs_small_write_kernel(const struct pairs_small_system *system, int64_t begin,
                                      int64_t end, const int32_t *found,
                                      const struct pairs_columns *columns);

/* The kernels of an instruction set and real type. */
struct pairs_small_kernels {
    pairs_small_wrap_kernel *wrap;
    pairs_small_center_kernel *center;
    pairs_small_find_kernel *find;
    pairs_small_write_kernel *write;
};

#define PAIRS_DECLARE_SMALL_KERNELS(isa)                                                           \
    extern const struct pairs_small_kernels pairs_small_double_##isa, pairs_small_float_##isa;
KITH_EACH_ISA(PAIRS_DECLARE_SMALL_KERNELS)
#undef PAIRS_DECLARE_SMALL_KERNELS

#endif
