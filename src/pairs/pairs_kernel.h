#ifndef PAIRS_KERNEL_H
#define PAIRS_KERNEL_H

#include "core/isa.h"
#include "pairs/problem.h"

/* Points in the order of their cells, as the kernels see them. Arrays may be read one vector beyond
 * the last point. */
struct pairs_points {
    const void *position[3]; /* the problem's dtype; wrapped, in units */
    const void *radius;      /* or NULL */
    const int32_t *index;    /* row in the caller's array */
};

/* Which points of a run may be partners of i. */
enum pairs_admission {
    pairs_admit_others, /* j ≠ i, and T = 0 */
    pairs_admit_all,
    pairs_admit_after /* j > i, or j ≥ i */
};

/* Neighbouring cells whose points come one after the other, at one image. */
struct pairs_run {
    int32_t begin, end; /* positions */
    enum pairs_admission admission;
    bool equal_too; /* pairs_admit_after: j = i is admitted */
    int32_t image[3];
    double translation[3]; /* rounded to the dtype */
};

/* What a target is compared with. */
struct pairs_scan {
    const struct pairs_points *points;
    const struct pairs_run *runs;
    int64_t run_count;
    int32_t dimensions;
    double limit;  /* of r² */
    double cutoff; /* with radii */
};

/* Hits of a target: room for all that the runs have and a vector more. places and ends may be
 * NULL. */
struct pairs_hits {
    int32_t *index; /* j, in the order of the runs */
    int32_t *place; /* position */
    int64_t *ends;  /* hits up to the end of each run */
    int64_t count;
};

/* Writes, for the targets at the positions begin … end − 1, counts[index of the target]. */
typedef void pairs_count_kernel(const struct pairs_scan *scan, const struct pairs_points *targets,
                                int64_t begin, int64_t end, int64_t *counts);

/* Finds the partners of the target at a position. */
typedef void pairs_find_kernel(const struct pairs_scan *scan, const struct pairs_points *targets,
                               int64_t position, struct pairs_hits *hits);

/* Sorts keys ≥ 0, ascending. There is room up to pairs_sorting_room(count) elements. */
typedef void pairs_sort_narrow(int32_t *keys, int64_t count);
typedef void pairs_sort_wide(int64_t *keys, int64_t count);

enum { pairs_least_sorted = 16 };

/* The power of two from 16 on that is not below count. */
static inline int64_t pairs_sorting_room(int64_t count)
{
    int64_t room = pairs_least_sorted;
    while (room < count)
        room *= 2;
    return room;
}

/* The kernels of an instruction set; [0] for double, [1] for float, as kith_dtype. */
struct pairs_kernels {
    pairs_count_kernel *count[2];
    pairs_find_kernel *find[2];
    pairs_sort_narrow *sort_narrow;
    pairs_sort_wide *sort_wide;
};

#define PAIRS_DECLARE_KERNELS(isa) extern const struct pairs_kernels pairs_kernels_##isa;
KITH_EACH_ISA(PAIRS_DECLARE_KERNELS)
#undef PAIRS_DECLARE_KERNELS

#endif
