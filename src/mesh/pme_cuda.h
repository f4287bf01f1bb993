#ifndef MESH_PME_CUDA_H
#define MESH_PME_CUDA_H

/* Particle–mesh Ewald on a GPU. Particles are sorted twice: along the cells of a search within the
 * cutoff, and along the points of the grid at which their splines begin. No thread adds to what
 * another one does: a point of the grid gathers from the particles near it, and so do particles
 * from its points. So all bits are the same on every run.
 *
 * The functions launch kernels and wait for nothing. */

#include "device/cuda.h"
#include "mesh/pme.h"
#include "mesh/splines.h"
#include "mesh/split.h"

/* Blocks of kernels whose parts of sums are added in one order. */
enum { pme_cuda_parts = 256 };

/* Sums: of the weights; ½ Σ w φ and Σ w² |∇φ|²; the virials of pairs and of waves, xx, yy, zz, yz,
 * xz, xy, of waves the energy first. */
enum {
    pme_cuda_weights,
    pme_cuda_energy,
    pme_cuda_forces,
    pme_cuda_pairs,
    pme_cuda_waves = pme_cuda_pairs + 6,
    pme_cuda_totals = pme_cuda_waves + 7
};

/* Cells along the vectors of the cell; those within the cutoff of one are at most reach away, and
 * `pieces` of them follow each other along the last vector. */
struct pme_cuda_cells {
    int32_t count[3], reach[3], pieces;
    int64_t total;
};

struct pme_cuda_problem {
    int64_t count;
    kith_dtype dtype, pair_dtype, mesh_dtype;
    const void *position[3], *weight; /* of the particles; weight NULL: ones */
    struct pairs_lattice lattice;
    double volume, alpha, cutoff;
    double limit2; /* of distances in float, beyond the cutoff by what rounding does */
    bool has_near, has_far;
    struct pme_cuda_cells cells;
    int32_t order, grid[3];
    struct pme_delivery delivery;
    struct split split;

    /* In the memory of the device. */
    int *is_bad;           /* a position cannot be brought into the cell */
    uint64_t *keys[2];     /* of the particles: cells, points of the grid */
    uint32_t *order_of[2]; /* the particle of a slot */
    int32_t *begin[2];     /* the first slot of each */
    void *sort_scratch;
    void *points, *places;  /* by slot of cells: x, y, z, w in float; and in double */
    int32_t *first;         /* by slot of the grid: the point along its last axis */
    void *offset[3];        /* t of splines.h */
    void *value;            /* splines, those of x times w: [count][3][splines_most_order] */
    void *tables;           /* values and slopes of splines.h, of the mesh's dtype */
    double *flat[3];        /* U²/(Σ U²)² along each axis */
    void *mesh, *influence; /* grid, and what its waves are multiplied by */
    double (*sums)[4];      /* φ and ∇φ of each particle */
    double *parts, *totals;
};

/* A particle's place in double. */
struct pme_cuda_place {
    double x[3], w;
};

#ifdef __cplusplus
extern "C" {
#endif

/* Adds `values` numbers of each of these blocks to totals. */
kith_status pme_cuda_add_parts(kith_context *context, int64_t blocks, int values,
                               const double *parts, double *totals);

/* Wraps and sorts the particles, and sums their weights. */
kith_status pme_cuda_arrange(kith_context *context, const struct pme_cuda_problem *problem);

/* sums = those over pairs within the cutoff (short.h). */
kith_status pme_cuda_sum_near(kith_context *context, const struct pme_cuda_problem *problem);

/* Fills in influence from flat, once for a setting. */
kith_status pme_cuda_fill_influence(kith_context *context, const struct pme_cuda_problem *problem);
kith_status pme_cuda_spread(kith_context *context, const struct pme_cuda_problem *problem);
kith_status pme_cuda_multiply(kith_context *context, const struct pme_cuda_problem *problem);
/* Adds to sums, or sets them if there are no pairs. */
kith_status pme_cuda_gather(kith_context *context, const struct pme_cuda_problem *problem);

/* The background, the results, and totals of them. */
kith_status pme_cuda_deliver(kith_context *context, const struct pme_cuda_problem *problem);

extern const struct pme_backend pme_cuda;

#ifdef __cplusplus
}
#endif

#endif
