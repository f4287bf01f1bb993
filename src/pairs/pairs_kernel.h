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
    const int32_t *wraps;    /* n of each row from `first` on, three by three; or NULL */
    int64_t first;
};

/* Neighboring cells whose points come one after the other, at one image. */
struct pairs_run {
    int32_t begin, end; /* positions */
    int32_t image[3];
    bool moved;            /* not all of the image is 0 */
    int32_t mark;          /* for pairs_candidates: added to the index, or */
    bool marked;           /* in place of it */
    double translation[3]; /* rounded to the dtype as it is used */
};

/* All that the targets of a cell are compared with, from the runs, one after the other: every
 * target searches the same ones. After the last one are some that are infinitely far. A candidate
 * is admitted if its mark differs from the target's index, or in half lists if it is greater. */
struct pairs_candidates {
    int64_t count;
    int32_t dimensions;
    bool moved; /* some have a translation */
    bool half;
    double limit;         /* of r² */
    double cutoff;        /* with radii */
    void *position[3];    /* the problem's dtype */
    void *translation[3]; /* only if moved */
    void *radius;         /* NULL without */
    int32_t *index;       /* row in the caller's array */
    int32_t *mark;
    int32_t *shift[3]; /* T − n_j; NULL if not needed */
};

/* Elements that the arrays of candidates have past the end. */
enum { pairs_candidates_behind = 64 };

/* Gathers the candidates of some runs; count, limits and arrays are there. */
typedef void pairs_gather_kernel(const struct pairs_points *points, const struct pairs_run *runs,
                                 int64_t run_count, const struct pairs_candidates *candidates);

/* Puts candidates into the order of their index, and those of one index in that of their coming.
 * There is room for pairs_sorting_room(count) keys and count numbers; `to` has arrays of its own.
 */
typedef void pairs_arrange_kernel(const struct pairs_candidates *from, int64_t *keys,
                                  int32_t *order, const struct pairs_candidates *to);

/* Writes, for the targets at the positions begin … end − 1, counts[index of the target]. */
typedef void pairs_count_kernel(const struct pairs_candidates *candidates,
                                const struct pairs_points *targets, int64_t begin, int64_t end,
                                int64_t *counts);

/* Where partners go: row i from offsets[i] on. i and j are int64 or, if narrow, int32; what is not
 * requested is NULL. */
struct pairs_columns {
    const int64_t *offsets;
    int64_t target_count; /* of the system: how far to look ahead */
    void *i, *j;
    bool narrow, sorted;
    bool streamed; /* past the caches: the list is larger than they are */
    int32_t *row;  /* room for pairs_sorting_room(candidates + 64) */

    /* For whole rows, which have all that may be requested, and are never sorted. */
    int32_t *shifts;
    void *vectors, *distances; /* the problem's dtype */
    int64_t room;              /* the row's: candidates + 64, pairs_bytes_of_row for each */
    int64_t bytes_of_shift, bytes_of_real;
    double unit; /* of the positions, in that of what is written */
};

/* Writes the rows of these targets. */
typedef void pairs_write_kernel(const struct pairs_candidates *candidates,
                                const struct pairs_points *targets, int64_t begin, int64_t end,
                                const struct pairs_columns *columns);

/* Finds the partners of the target at a position, by their number among the candidates, and returns
 * how many there are. */
typedef int64_t pairs_find_kernel(const struct pairs_candidates *candidates,
                                  const struct pairs_points *targets, int64_t position,
                                  int32_t *found);

enum { pairs_bytes_of_row = 4 * 4 + 7 * 8 };

/* Writes the row of the target at a position: the candidates that have been found, in their order.
 * wraps is n_i, or NULL for 0. */
typedef void pairs_store_kernel(const struct pairs_candidates *candidates,
                                const struct pairs_points *targets, int64_t position,
                                const int32_t *wraps, int32_t *found, int64_t count,
                                const struct pairs_columns *columns);

/* The same for all candidates that are near enough, of these targets. */
typedef void pairs_write_whole_kernel(const struct pairs_candidates *candidates,
                                      const struct pairs_points *targets, int64_t begin,
                                      int64_t end, int32_t *found,
                                      const struct pairs_columns *columns);

/* Sorts keys ≥ 0, ascending. There is room up to pairs_sorting_room(count) elements. */
typedef void pairs_sort_wide(int64_t *keys, int64_t count);
typedef void pairs_sort_narrow(int32_t *keys, int64_t count);

enum { pairs_least_sorted = 16 };

/* The power of two from 16 on that is not below count. */
static inline int64_t pairs_sorting_room(int64_t count)
{
    int64_t room = pairs_least_sorted;
    while (room < count)
        room *= 2;
    return room;
}

/* The kernels of an instruction set and real type. */
struct pairs_kernels {
    pairs_gather_kernel *gather;
    pairs_arrange_kernel *arrange;
    pairs_count_kernel *count;
    pairs_write_kernel *write;
    pairs_find_kernel *find;
    pairs_store_kernel *store;
    pairs_write_whole_kernel *write_whole;
    pairs_sort_wide *sort_wide;
    pairs_sort_narrow *sort_narrow;
};

#define PAIRS_DECLARE_KERNELS(isa)                                                                 \
    extern const struct pairs_kernels pairs_kernels_double_##isa, pairs_kernels_float_##isa;
KITH_EACH_ISA(PAIRS_DECLARE_KERNELS)
#undef PAIRS_DECLARE_KERNELS

#endif
