#ifndef FORCES_VERLET_BUILD_CUDA_H
#define FORCES_VERLET_BUILD_CUDA_H

#include "core/status.h"
#include "forces/excluded_cuda.h"
#include "forces/verlet_cuda_problem.h"
#include "forces/verlet_rows.h"
#include "kith/array.h"
#include "kith/context.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The inputs of a list. */
struct verlet_cuda_building {
    struct verlet_cuda_list list;
    struct verlet_cuda_cells cells;
    struct pairs_lattice lattice;
    int is_orthogonal, dimensions, open; /* bit k: axis k is */
    int shift[3];      /* cells are along the 2^-shift'th part of an open axis around the origin */
    double edge[3][3]; /* as in verlet_cuda_step */
    double search2;    /* the square of the search distance */
    bool is_wide;      /* there are more cells than within reach, along each periodic axis */
    const void *position[3], *velocity[3], *mass, *weight; /* by row; NULL: zeros, ones */
    struct verlet_cuda_state from, to;                     /* before and after sorting */
    struct excluded_cuda excluded; /* of pairs with one image within the search distance */
    const void *column[2];         /* of a formula: weights and charges by row, or NULL */
    void *slot_column[2];          /* [out] by slot */
    void *places;                  /* [out] by slot */
    void *points;                  /* positions within the cell by slot, in float: scratch, too */
    void *places_before;           /* in the order before; scratch, like the next three */
    uint64_t *keys;
    uint32_t *sorted; /* the slot before of a slot */
    void *sort_scratch;
};

/* Fills in the state `from` in its order, or by row if it has none yet. Nothing waits. */
kith_status verlet_load_cuda(kith_context *context, kith_dtype dtype, bool is_first,
                             const struct verlet_cuda_building *building);

/* The largest components of positions along open axes, of the state `from`, rounded upwards. Waits
 * for the device. */
kith_status verlet_find_farthest_cuda(kith_context *context, kith_dtype dtype,
                                      const struct verlet_cuda_building *building,
                                      const struct pairs_lattice *lattice, float farthest[3]);

/* Sorts the particles and makes the list: the state `to`, reference, and of the device's slots
 * partners and lengths; its control's longest is the longest of these rows, which may be longer
 * than there is room. Nothing waits. */
kith_status verlet_build_cuda(kith_context *context, kith_dtype dtype,
                              const struct verlet_cuda_building *building);

#ifdef __cplusplus
}
#endif

#endif
