#ifndef FORCES_VERLET_BUILD_CUDA_H
#define FORCES_VERLET_BUILD_CUDA_H

#include "core/status.h"
#include "forces/verlet_cuda_problem.h"
#include "kith/array.h"
#include "kith/context.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Cells along the vectors, in the order `axis`: those that differ along the last are next to each
 * other. Within the search distance are the cells from reach below to reach above, of which window
 * are different ones. */
struct verlet_cuda_cells {
    int axis[3], count[3], reach[3], window[3];
    int64_t total;
    int32_t *begin; /* total + 1 */
};

/* What it takes to make a list. */
struct verlet_cuda_building {
    struct verlet_cuda_list list;
    struct verlet_cuda_cells cells;
    struct pairs_lattice lattice;
    int is_orthogonal, dimensions;
    double edge[3][3]; /* as in verlet_cuda_step */
    double search2;    /* the square of the search distance */
    const void *position[3], *weight;
    const void *column[2]; /* of a formula: weights and charges by row, or NULL */
    void *slot_column[2];  /* [out] by slot */
    void *places;          /* [out] by slot */
    void *places_by_row;   /* scratch, like the next two */
    uint64_t *keys;
    void *sort_scratch;
};

/* Sorts the particles and makes the list: order, reference, partners, lengths; the control's
 * longest is the longest row, which may be longer than there is room. Nothing waits. */
kith_status verlet_build_cuda(kith_context *context, kith_dtype dtype,
                              const struct verlet_cuda_building *building);

#ifdef __cplusplus
}
#endif

#endif
