#ifndef PAIRS_VERLET_H
#define PAIRS_VERLET_H

#include "core/status.h"
#include "pairs/arguments.h"

/* What kith_pairs_update does with the numbers of arrays, in the memory where they are. */
struct pairs_verlet {
    /* Copies an array to where it has no gaps. */
    kith_status (*copy)(kith_context *context, kith_array from, void *to);

    /* Whether a row of `now` is farther than `most` from where it was `then`, a copy, or is not a
     * number. Waits for the device. */
    kith_status (*has_moved)(kith_context *context, kith_array now, void *then, double most,
                             bool *moved);

    /* Brings the vectors and distances of a kept list, which has j and shifts, up to date:
     *
     *     d = (x_j − x_i) + ((S_0 · vectors[0] + S_1 · vectors[1]) + S_2 · vectors[2])
     *
     * in double precision, each operation rounded, none fused; periodic vectors only. */
    kith_status (*refresh)(const struct pairs_arguments *arguments, kith_pairs *pairs);
};

#ifdef __cplusplus
extern "C" {
#endif

extern const struct pairs_verlet pairs_verlet_cpu, pairs_verlet_cuda;

#ifdef __cplusplus
}
#endif

/* Offsets of the systems that the targets belong to; none if there is one system. */
static inline kith_array pairs_target_offsets(const struct pairs_arguments *arguments)
{
    return kith_array_is_none(arguments->options.queries) ? arguments->options.system_offsets
                                                          : arguments->options.query_system_offsets;
}

#endif
