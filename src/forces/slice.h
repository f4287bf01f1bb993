#ifndef FORCES_SLICE_H
#define FORCES_SLICE_H

/* Problems of which each rank of a job has a slice: columns of the bodies from ranks_first(N) on,
 * instead of all N (forces/problem.h, is_slice). On the CPU trees take slices, direct sums, where
 * each pair is evaluated once or by tiles of sources (forces/one_sided_slices.h), and sums within a
 * cutoff that are computed once (forces/cutoff_slices.h). On a GPU trees by gravity take slices,
 * and steps within a cutoff, where ranks have slabs (forces/verlet_share_cuda.h). For other sums
 * the columns of all bodies are sent to all ranks, and the results of a rank's own bodies are kept.
 * Bits: those of one process, except for trees on GPUs. */

#include "core/status.h"
#include "forces/problem.h"
#include "forces/solver.h"
#include "kith/forces.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { forces_wide_scalars = 9, forces_wide_outputs = 2 };

/* Memory of the columns of all bodies, which are NULL until they are needed. */
struct forces_wide {
    void *position, *target_position, *velocity, *acceleration, *jerk, *scalar[forces_wide_scalars];
    int64_t (*excluded)[2]; /* pairs */
    int64_t excluded_count;
};

/* Whether the bodies of a job are worth dividing: enough for every rank; on GPUs, where trees are
 * faster if each has all of them, those that do not fit into the smallest memory. On GPUs
 * collective. */
bool forces_can_be_sliced(const kith_context *context, kith_dtype dtype, int64_t all);

/* Whether a solver is one of those by trees, which on GPUs take slices, of bodies that are sources
 * and targets, by gravity. */
bool forces_solver_is_tree(const kith_solver *solver);

/* Whether a solver takes a problem of slices as it is. */
bool forces_takes_slices(const kith_context *context, const kith_solver *solver,
                         const struct forces_problem *own);

/* Collective: in a problem whose columns are of this rank's bodies, those of all in their place; of
 * outputs there is memory. Valid until the next call.
 * Errors: KITH_OUT_OF_MEMORY, those of ranks_agree. */
kith_status forces_widen(kith_context *context, const struct forces_problem *own,
                         struct forces_wide *wide, struct forces_problem *all);

/* The outputs of this rank's bodies, from those of all. */
kith_status forces_keep_own(kith_context *context, const struct forces_problem *all,
                            const struct forces_problem *own);

void forces_wide_free(kith_context *context, struct forces_wide *wide);

/* Collective: kith_forces_compute of this rank's rows of `all` sources, in arrays of the host, on
 * each other or, unless NULL, on its rows of `all_targets` targets; acceleration and potential have
 * as many rows. Errors: also those of ranks_agree. */
kith_status forces_compute_slice(kith_context *context, const kith_forces_options *options,
                                 const kith_particles *targets, int64_t all_targets,
                                 const kith_particles *sources, int64_t all,
                                 kith_array acceleration, kith_array potential);

#ifdef __cplusplus
}
#endif

#endif
