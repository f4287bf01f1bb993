#ifndef TREE_SOLVE_CUDA_H
#define TREE_SOLVE_CUDA_H

/* The stages of tree_solve_cuda, and its memory. All arrays are in the device's memory; nothing of
 * these functions waits for it. */

#include "device/cuda.h"
#include "device/cuda_meeting.h"
#include "tree/law_bins_cuda.h"
#include "tree/tree.h"
#include "tree/walk_cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Expansions of higher orders that are not harmonic would need too much memory per thread. */
enum { tree_most_full_order_cuda = 14 };

/* A second stream, on which work goes that the context's stream does not wait for until the join,
 * and whose kernels come first: chains of short ones, while long ones fill the device. The
 * functions after each other: make, fork, work on the stream, join. */
struct tree_aside {
    cudaStream_t stream;
    cudaEvent_t forked, joined;
};
kith_status tree_fork_cuda(kith_context *context, const struct tree_aside *aside);
kith_status tree_join_cuda(kith_context *context, const struct tree_aside *aside);

/* The direct sum at a sample of tree/estimate.h: ∇φ and Σ_j |∇φ_ij|. */
struct tree_sample_sum {
    double gradient[3], magnitude;
};

/* The direct sums at all samples. */
struct tree_samples_cuda {
    struct tree_memory memory;
    int32_t parts; /* of the sources, which each have sums of their own; 0: not yet summed */
};

/* Of a rank that has a part of the points: its own tree, and after it what it needs of other
 * ranks' trees (tree/slices_cuda.c): cells, their net weights, and points. */
struct tree_joined_cuda {
    struct octree_cuda tree; /* a view */
    struct tree_memory cells, net_weights, points;
    struct tree_memory order; /* uint32_t: which row of the slice is where along the curve */
};

/* Results of a rank's slice: ∇φ and φ of row order[k] are the four numbers of results[k]. */
struct tree_home_cuda {
    int64_t count;
    const void *results;
    const uint32_t *order;
};

struct tree_state_cuda;

/* How a device takes part in a tree that all devices of a context share, each with a thread. */
struct tree_share_cuda {
    struct cuda_meeting *meeting;
    const struct cuda_part *part;
    struct tree_state_cuda *first, *others; /* the states of the parts */
    bool is_direct;                         /* kernels use the memory of the other devices */
    bool has_all;                           /* the ranges of the devices are all targets */
};

struct tree_state_cuda {
    struct octree_cuda sources, targets; /* targets only if they are not the sources */
    struct tree_report report;
    struct tree_counts counts;
    const struct octree_cuda *target_tree; /* in whose order the results are */

    /* Of several devices that solve one problem this one has the results of the targets in the
     * range, which the caller sets; else they are all. */
    bool is_shared;
    struct octree_range range;
    const struct tree_share_cuda *share; /* NULL: this device builds the tree alone */
    bool has_delivered; /* the results are with those of the first device that shares the tree */
    struct tree_memory results; /* of each target ∇φ and φ, four numbers of the problem's dtype */
    bool finds_places;          /* the caller wants them */
    struct tree_memory places; /* uint32_t; target i has result places[i] */
    struct tree_memory records, locals, powers, source_sides, target_sides, angles;
    struct tree_walker_cuda walker;
    struct tree_aside aside;
    const struct tree_law_bins *bins; /* of expansion_series, the context's */
    struct tree_samples_cuda samples;
    struct tree_joined_cuda joined;
};

/* Records as those of struct tree_expansions. */
struct tree_expansions_cuda {
    struct expansion expansion;
    kith_dtype dtype;
    int32_t target_record;
    struct octree_range range; /* of the targets whose expansions are evaluated */
    void *records, *locals;    /* locals NULL: none */
    double *power;
    const void *angles;       /* struct expansion_angles */
    const kith_law *pair_law; /* of expansion_series */
};

/* What adds to the results at points. */
struct tree_points_cuda {
    const struct octree_cuda *targets, *sources;
    bool self; /* targets are the first of the sources */
    const struct tree_expansions_cuda *expansions;
    void *results;
    /* Results of the leaves from this point on go there once their expansions are added. */
    void *finished;
    int32_t first_finished;
};

/* What one call has. */
struct tree_run_cuda {
    const struct tree_problem *problem;
    const struct tree_request *request;
    struct tree_state_cuda *state;
    struct tree_sides_cuda targets, sources;
    struct tree_side *target_side, *source_side;
    struct tree_expansions_cuda expansions;
    struct tree_points_cuda points;
    bool has_far; /* local expansions of some cells are not 0 */
};

/* Of a tree that is to be joined by cells of others: sides and multipoles of its own cells; the
 * scales, with all cells by which they are found; and the sums, with all cells and points. The
 * caller has put the others' after its own in state->joined, source_sides, and for the sums
 * records and powers. The sources of run->problem are the targets. */
kith_status tree_begin_joined_cuda(kith_context *context, struct tree_run_cuda *run);
kith_status tree_scale_joined_cuda(kith_context *context, struct tree_run_cuda *run);
kith_status tree_sum_joined_cuda(kith_context *context, struct tree_run_cuda *run);

struct tree_essential; /* tree/essential_ranks.h */

/* Collective: multipoles of the far cells of other ranks, into the state's records, and points of
 * near ones, into those of the joined tree behind the own ones, at essential->tree.cell[k].first.
 * Errors: KITH_OUT_OF_MEMORY, KITH_UNSUPPORTED (2^31 points), those of ranks_agree. */
kith_status tree_fetch_slices_cuda(kith_context *context, struct tree_essential *essential,
                                   int64_t record_bytes, struct tree_state_cuda *state);

/* Collective: the error of the results of all ranks, of which this one has a part of the points as
 * the problem `own`, and copies of its cells. Errors: those of ranks_agree. */
kith_status tree_estimate_slices_cuda(kith_context *context, const struct tree_problem *own,
                                      const struct tree_essential *essential,
                                      struct tree_state_cuda *state, double *error);

/* Collective: as tree_solve_cpu over ranks, each of which has a slice of the bodies in its device's
 * memory (problem->is_slice), which are sources and targets, by 1/s or the logarithm: the results
 * of the slice are *home, in memory of the state, until its next call, and the report in the state.
 *
 * Errors: as of tree_solve_cuda, those of ranks_agree.
 * Cost:   the memory of a rank is that of its part of the bodies, and of what it needs of others.
 * Bits:   the same on every run with as many ranks. */
kith_status tree_solve_slices_cuda(kith_context *context, const struct tree_problem *problem,
                                   const struct tree_request *request,
                                   struct tree_state_cuda *state, struct tree_home_cuda *home);

/* The heads of the records of a tree's cells, the first of which is record `first`. */
kith_status tree_write_heads_cuda(cudaStream_t stream, const struct octree_cuda *tree,
                                  const struct tree_side *side,
                                  const struct tree_expansions_cuda *expansions, int32_t first);

/* The multipoles of all sources, from the leaves to the root, and their powers. */
kith_status tree_expand_cuda(cudaStream_t stream, const struct octree_cuda *sources,
                             const struct tree_side *side,
                             const struct tree_expansions_cuda *expansions);

/* The powers of laws of expansion_series, for tree_expand_cuda. */
kith_status tree_find_tensor_powers_cuda(cudaStream_t stream, int32_t cells,
                                         const struct tree_side *side,
                                         const struct tree_expansions_cuda *expansions);

/* Adds the far sources' multipoles to the local expansions of the target cells of a batch. Forks to
 * the stream aside, unless NULL, as for laws of expansion_series. */
kith_status tree_m2l_cuda(kith_context *context, const struct tree_expansions_cuda *expansions,
                          const struct tree_batch *batch, const struct tree_aside *aside,
                          struct tree_parts_memory *memory);

/* Adds local expansions to those of the children, from the root to the leaves. */
kith_status tree_l2l_cuda(kith_context *context, cudaStream_t stream,
                          const struct octree_cuda *targets,
                          const struct tree_expansions_cuda *expansions);

/* Adds the local expansions of the leaves. */
kith_status tree_l2p_cuda(kith_context *context, const struct tree_points_cuda *points);

/* place[i] = k of point i, which is in place k of the tree. */
kith_status tree_find_places_cuda(cudaStream_t stream, const struct octree_cuda *tree,
                                  uint32_t *place);

/* columns[c][k] = number c of row k, of four. */
kith_status tree_split_rows_cuda(cudaStream_t stream, kith_dtype dtype, int64_t count,
                                 const void *rows, void *const columns[4]);

/* Copies blocks of `count` rows of a number of bytes, a multiple of 4, from one array to another:
 * rows from + i to rows to + i. */
struct tree_rows {
    int64_t from, to, count;
};
kith_status tree_copy_rows_cuda(cudaStream_t stream, int64_t count, const struct tree_rows *blocks,
                                int64_t row_bytes, const void *from, void *to);

/* rows[order[k]] = result k, four numbers each. */
kith_status tree_order_results_cuda(cudaStream_t stream, const struct octree_cuda *tree,
                                    const void *results, void *rows);

/* Adds, at every point, the far sources of those of its leaf and its ancestors that are of a batch.
 */
kith_status tree_m2p_cuda(kith_context *context, const struct tree_points_cuda *points,
                          const struct tree_batch *batch);

/* Adds the near sources of the leaves of a batch, point by point. */
kith_status tree_near_cuda(kith_context *context, const struct tree_points_cuda *points,
                           const struct tree_batch *batch, struct tree_parts_memory *memory);

/* The direct sums at a few targets (tree/estimate.h), once the trees are built and there is memory
 * for them. By a law of expansion_series nothing: tree_estimate_cuda then makes them. */
kith_status tree_reserve_samples_cuda(kith_context *context, struct tree_state_cuda *state);
kith_status tree_sum_samples_cuda(kith_context *context, cudaStream_t stream,
                                  const struct tree_problem *problem,
                                  struct tree_state_cuda *state);

/* The error of the last call's results, by the sums at the samples, into its report. Waits for the
 * device. */
kith_status tree_estimate_cuda(kith_context *context, const struct tree_problem *problem,
                               struct tree_state_cuda *state);

/* Adds the direct sums of the state's sources at up to tree_samples points, x, y, z and one more
 * number of the problem's dtype each, in the host's memory, as the sums are. Not of
 * expansion_series. Waits for the device. */
kith_status tree_sum_samples_at_cuda(kith_context *context, const struct tree_problem *problem,
                                     struct tree_state_cuda *state, int64_t samples,
                                     const void *points, struct tree_sample_sum *sums);

/* KITH_UNSUPPORTED if the context's stream is being captured: trees wait for the device. */
kith_status tree_check_stream_cuda(kith_context *context);

/* As tree_solve_cpu, of columns in the device's memory.
 *
 *   state  zeroed before the first call; free with tree_free_cuda, after an error too
 *
 * Waits for the device twice. The caller estimates the error, if it is requested, once it has all
 * results.
 *
 * Errors: as of tree_solve_cpu, with law_compile_cuda; KITH_UNSUPPORTED (an order above
 *         tree_most_full_order_cuda with softening, or of expansion_series; a stream that is being
 *         captured).
 * Bits:   the same on every run. */
kith_status tree_solve_cuda(kith_context *context, const struct tree_problem *problem,
                            const struct tree_request *request, struct tree_state_cuda *state);

/* tree_solve_cuda in two parts: the trees, for which the softening is not needed, and what follows.
 *
 *   also, more  as of octree_finish_cuda */
kith_status tree_build_cuda(kith_context *context, const struct tree_problem *problem, int32_t leaf,
                            const struct cuda_reading *also, int more,
                            struct tree_state_cuda *state);
kith_status tree_sum_cuda(kith_context *context, const struct tree_problem *problem,
                          const struct tree_request *request, struct tree_state_cuda *state);
void tree_free_cuda(kith_context *context, struct tree_state_cuda *state);

#ifdef __cplusplus
}
#endif

#endif
