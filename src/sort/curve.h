#ifndef SORT_CURVE_H
#define SORT_CURVE_H

#include "core/arena.h"
#include "sort/sort.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The order of points along a space-filling curve, Hilbert's in three dimensions and Morton's in
 * two, on a GPU: pieces of it are tiles of points that are near to each other. */

/* The memory that this takes, which others may use afterwards. */
struct sort_curve {
    uint64_t *keys;
    struct morton_grid *grid;
    void *scratch;
};

/* Of the context's scratch memory (cuda_scratch), of whose first bytes the sort takes its own: the
 * first that is taken. */
void sort_curve_take(struct arena *arena, int64_t count, struct sort_curve *curve);

/* bits: of the keys, the highest, at most morton_bits; fewer make larger cells, in which points
 * keep their order, and each 8 of them are a pass over all points. Nothing waits.
 *
 *   order  [out] count: the number of the point at each place */
kith_status sort_along_curve_cuda(kith_context *context, const struct sort_points *points,
                                  int32_t bits, const struct sort_curve *curve, uint32_t *order);

#ifdef __cplusplus
}
#endif

#endif
