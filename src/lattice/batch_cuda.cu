/* Batches on a GPU: launches of batch_cuda.cuh. */

#include "lattice/batch_cuda.cuh"

#include "lattice/cuda_methods.h"

kith_status collisions_batch_on_cuda(kith_context *context,
                                     const struct collisions_batch_problem *problem,
                                     const unsigned char *hydrophobic, int64_t most_beads)
{
    const int multiprocessors = cuda_multiprocessors(context);
    const int64_t all = problem->conformations;
    const unsigned slots = batch_slots(most_beads);
    const int64_t of_tables =
        slots > batch_shared_slots
            ? (int64_t)batch_blocks(multiprocessors, all, slots) * 2 * slots * 4
            : 0;
    const int64_t of_left = (all + 64) * (int64_t)sizeof(unsigned);
    if (all > UINT32_MAX)
        return kith_fail(KITH_UNSUPPORTED, "beads has %lld conformations; give at most %lld a call",
                         (long long)all, (long long)UINT32_MAX);
    char *memory = NULL;
    KITH_TRY(cuda_scratch(context, of_tables + of_left, (void **)&memory));
    unsigned *left = (unsigned *)(memory + of_tables);
    const struct batch batch = {*problem, hydrophobic, left, left + 64,
                                of_tables > 0 ? memory : NULL};
    count_batch(cuda_stream(context), multiprocessors, batch, most_beads);
    return cuda_check_launch("counting a batch of conformations");
}
