#ifndef MESH_PME_CUDA_H
#define MESH_PME_CUDA_H

/* Particle–mesh Ewald on a GPU. Particles are sorted twice: along the cells of a search within the
 * cutoff, and along blocks of points of the grid at which their splines begin. No thread adds to
 * what another one does: a point of the grid gathers from the particles near it, and so do
 * particles from its points. So all bits are the same on every run.
 *
 * Pairs and mesh are computed at the same time, on two streams: the context's, and one of the mesh.
 *
 * The functions launch kernels and wait for nothing. */

#include "device/cuda.h"
#include "mesh/blocks.h"
#include "mesh/pme.h"
#include "mesh/splines.h"
#include "mesh/split.h"

/* Blocks of kernels whose parts of sums are added in one order. */
enum { pme_cuda_parts = 256 };

/* Sums: of the weights; ½ Σ w φ and Σ w² |∇φ|²; the virials of pairs and of waves, xx, yy, zz, yz,
 * xz, xy, of waves the energy first; of the positions as given; Σ w x and Σ w x_a x_b from their
 * mean; the virial of excluded pairs. */
enum {
    pme_cuda_weights,
    pme_cuda_energy,
    pme_cuda_forces,
    pme_cuda_pairs,
    pme_cuda_waves = pme_cuda_pairs + 6,
    pme_cuda_positions = pme_cuda_waves + 7,
    pme_cuda_moments = pme_cuda_positions + 3,
    pme_cuda_excluded = pme_cuda_moments + 9,
    pme_cuda_totals = pme_cuda_excluded + 6
};

/* The term of a vacuum, or of a slab in terms of coordinates along its normal (periodic.h):
 *
 *     φ_i gains factor (M·x − (T + W x²)/2 − W constant)      factor 0: a conductor, without one */
struct pme_cuda_boundary {
    double factor, constant, normal[3];
    bool is_slab;
};

/* M, T, and Σ w x_a x_b. */
struct pme_cuda_dipole {
    double dipole[3], trace, moment[3][3];
};

/* Leaves the component along a slab's normal. */
KITH_BOTH_SIDES static inline void pme_cuda_project(const struct pme_cuda_boundary *boundary,
                                                    double x[3])
{
    const double *normal = boundary->normal;
    const double along = x[0] * normal[0] + x[1] * normal[1] + x[2] * normal[2];
    for (int c = 0; c < 3 && boundary->is_slab; c++)
        x[c] = along * normal[c];
}

/* From the sums of pme_cuda_moments. */
KITH_BOTH_SIDES static inline struct pme_cuda_dipole
pme_cuda_dipole(const struct pme_cuda_boundary *boundary, const double *sums)
{
    struct pme_cuda_dipole of_all;
    of_all.trace = 0;
    for (int a = 0; a < 3; a++) {
        of_all.dipole[a] = sums[a];
        for (int b = 0; b < 3; b++)
            of_all.moment[a][b] = a == b ? sums[3 + a] : sums[6 + 3 - a - b];
        pme_cuda_project(boundary, of_all.moment[a]);
        for (int b = 0; b < 3; b++)
            of_all.trace += boundary->is_slab
                                ? of_all.moment[a][b] * boundary->normal[a] * boundary->normal[b]
                            : a == b ? of_all.moment[a][b]
                                     : 0;
    }
    pme_cuda_project(boundary, of_all.dipole);
    return of_all;
}

/* Cells along the vectors of the cell; those within the cutoff of one are at most reach away. They
 * are numbered along a path that turns at each end of a row and of a plane, so that particles that
 * follow each other are near each other. */
struct pme_cuda_cells {
    int32_t count[3], reach[3];
    int64_t total;
};

KITH_BOTH_SIDES static inline int64_t pme_cuda_cell_number(const struct pme_cuda_cells *cells,
                                                           const int at[3])
{
    const int64_t row =
        (int64_t)at[0] * cells->count[1] + (at[0] % 2 ? cells->count[1] - 1 - at[1] : at[1]);
    return row * cells->count[2] + (row % 2 ? cells->count[2] - 1 - at[2] : at[2]);
}

KITH_BOTH_SIDES static inline void pme_cuda_cell_at(const struct pme_cuda_cells *cells,
                                                    int64_t number, int at[3])
{
    const uint32_t short_number = (uint32_t)number; /* there are fewer than 2^32 */
    const uint32_t row = short_number / (uint32_t)cells->count[2];
    const int along = (int)(short_number - row * (uint32_t)cells->count[2]);
    at[0] = (int)(row / (uint32_t)cells->count[1]);
    const int across = (int)row - at[0] * cells->count[1];
    at[1] = at[0] % 2 ? cells->count[1] - 1 - across : across;
    at[2] = row % 2 ? cells->count[2] - 1 - along : along;
}

struct pme_cuda_problem {
    int64_t count;
    kith_dtype dtype, pair_dtype, mesh_dtype;
    const void *position[3], *weight; /* of the particles; weight NULL: ones */
    struct pairs_lattice lattice;
    double volume, alpha, cutoff, per_cutoff;
    double step, per_step; /* of floats in place_cuda.cuh; a power of 2, and 1 over it */
    double near; /* in units of the cutoff: what rounding of floats does to nearer pairs counts */
    bool has_near, has_far;
    struct pme_cuda_cells cells;
    int32_t order, grid[3];
    struct pme_cuda_boundary boundary;
    struct pme_delivery delivery;
    struct split split;

    /* In the memory of the device. */
    int *is_bad;           /* a position cannot be brought into the cell */
    uint64_t *keys[2];     /* of the particles: cells, blocks of the grid */
    uint32_t *order_of[2]; /* the particle of a slot */
    int32_t *begin[2];     /* the first slot of each */
    void *sort_scratch;
    void *places;           /* by slot of cells: place_cuda.cuh */
    int32_t *first;         /* by slot of blocks: where in it splines begin, 8 bits for each axis */
    void *offset[3];        /* t of splines.h */
    void *value;            /* splines, those of x times w: [count][3][splines_most_order] */
    void *tables;           /* values and slopes of splines.h, of the mesh's dtype */
    double *flat[3];        /* U²/(Σ U²)² along each axis */
    void *mesh, *influence; /* grid, and what its waves are multiplied by */
    double (*sums)[4], (*of_mesh)[4]; /* φ and ∇φ of each particle, without the mesh's, and that */
    double *parts, *parts_of_mesh, *totals;
    cudaStream_t stream; /* of the mesh */
};

/* Blocks of points of the grid. */
KITH_BOTH_SIDES static inline int64_t pme_cuda_block_count(const struct pme_cuda_problem *problem)
{
    return (int64_t)blocks_along(problem->grid[0]) * blocks_along(problem->grid[1]) *
           blocks_along(problem->grid[2]);
}

/* A particle's place in double. */
struct pme_cuda_place {
    double x[3], w;
};

#ifdef __cplusplus
extern "C" {
#endif

/* Adds `values` numbers of each of these blocks to totals. */
kith_status pme_cuda_add_parts(cudaStream_t stream, int64_t blocks, int values, const double *parts,
                               double *totals);

/* Wraps the particles, and sorts them for the mesh; what follows on either stream may begin. */
kith_status pme_cuda_arrange(kith_context *context, const struct pme_cuda_problem *problem);

/* Sorts them for pairs, and sums their weights. sums = 0 if there are no pairs. */
kith_status pme_cuda_arrange_near(kith_context *context, const struct pme_cuda_problem *problem);

/* sums = those over pairs within the cutoff (short.h). */
kith_status pme_cuda_sum_near(kith_context *context, const struct pme_cuda_problem *problem);

/* Fills in influence from flat, once for a setting. */
kith_status pme_cuda_fill_influence(kith_context *context, const struct pme_cuda_problem *problem);

/* On the stream of the mesh; the last sets of_mesh. */
kith_status pme_cuda_fill_splines(const struct pme_cuda_problem *problem);
kith_status pme_cuda_spread(const struct pme_cuda_problem *problem);
kith_status pme_cuda_multiply(const struct pme_cuda_problem *problem);
kith_status pme_cuda_gather(const struct pme_cuda_problem *problem);

/* Adds what neither part has, except for the background, to sums. */
kith_status pme_cuda_finish(kith_context *context, const struct pme_cuda_problem *problem);

/* The background, the results, and totals of them. */
kith_status pme_cuda_deliver(kith_context *context, const struct pme_cuda_problem *problem);

extern const struct pme_backend pme_cuda;

#ifdef __cplusplus
}
#endif

#endif
