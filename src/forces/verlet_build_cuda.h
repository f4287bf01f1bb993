#ifndef FORCES_VERLET_BUILD_CUDA_H
#define FORCES_VERLET_BUILD_CUDA_H

#include "core/status.h"
#include "forces/excluded_cuda.h"
#include "forces/verlet_cuda_problem.h"
#include "forces/verlet_rows.h"
#include "forces/verlet_slabs.h"
#include "kith/array.h"
#include "kith/context.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The inputs of a list. */
struct verlet_cuda_building {
    struct verlet_cuda_list list;
    struct verlet_cuda_cells cells; /* of the slab */
    struct verlet_slab slab;        /* of the layers across the layer_axis'th axis of cells */
    int layer_axis;
    struct pairs_lattice lattice;
    int is_orthogonal, dimensions, open; /* bit k: axis k is */
    int shift[3];      /* cells are along the 2^-shift'th part of an open axis around the origin */
    double edge[3][3]; /* as in verlet_cuda_step */
    double search2;    /* the square of the search distance */
    bool is_wide;      /* there are more cells than within reach, along each periodic axis */
    /* By row, or if is_by_slot from the first own slot on; NULL: zeros, ones. */
    const void *vector[verlet_vectors][3], *mass, *weight;
    int is_by_slot;
    int64_t first_row;                 /* of the own particles, before they were sorted */
    struct verlet_cuda_state from, to; /* before and after sorting; velocities' w is the weight */
    struct excluded_cuda excluded;     /* of pairs with one image within the search distance */
    const void *column[2];             /* of a formula: weights and charges by row, or NULL */
    void *slot_column[2];              /* [out] by slot */
    void *places;                      /* [out] by slot */
    void *points;        /* positions within the cell by slot, in float: scratch, too */
    void *places_before; /* in the order before; scratch, like the next three */
    uint64_t *keys;
    uint32_t *sorted; /* the slot before of a slot */
    void *sort_scratch;
};

/* Fills in the state `from` in its order, or by row, from first_row on, if it has none yet. Nothing
 * waits. */
kith_status verlet_load_cuda(kith_context *context, kith_dtype dtype, bool is_first,
                             const struct verlet_cuda_building *building);

/* The largest components of positions along open axes, of the state `from`, rounded upwards. Waits
 * for the device. */
kith_status verlet_find_farthest_cuda(kith_context *context, kith_dtype dtype,
                                      const struct verlet_cuda_building *building,
                                      const struct pairs_lattice *lattice, float farthest[3]);

/* Adds to in_layer[layer], for all layers, the own particles of the state `from` in it. Nothing
 * waits. */
kith_status verlet_count_layers_cuda(kith_context *context, kith_dtype dtype,
                                     const struct verlet_cuda_building *building,
                                     unsigned *in_layer);

/* Own particles of a device as slabs divide them. */
struct verlet_parcels {
    struct verlet_slabs slabs;
    struct verlet_cuda_list list;        /* the slots they are in */
    struct verlet_cuda_state kept, sent; /* [out] its own, from slot first_kept on, and others' */
    long long first_kept;
    int begin[verlet_most_devices]; /* of each other device's in `sent` */
    unsigned *taken;                /* of each device; zeros before */
};

/* Divides those of the state `from` up. Nothing waits. */
kith_status verlet_divide_cuda(kith_context *context, kith_dtype dtype,
                               const struct verlet_cuda_building *building,
                               const struct verlet_parcels *parcels);

/* Sorts the own particles along cells: the state `to`, reference and places. Nothing waits. */
kith_status verlet_sort_cuda(kith_context *context, kith_dtype dtype,
                             const struct verlet_cuda_building *building);

/* Makes the list, of own particles that are sorted and ghosts whose reference is there in the order
 * of their device: partners and lengths of own slots. Its control's longest is the longest of these
 * rows, which may be longer than there is room. Nothing waits. */
kith_status verlet_list_cuda(kith_context *context, kith_dtype dtype,
                             const struct verlet_cuda_building *building);

#ifdef __cplusplus
}
#endif

#endif
