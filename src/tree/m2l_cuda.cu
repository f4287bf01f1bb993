/* M2L on a GPU: a warp per target cell, a source a lane. Up to some order each basis has a kernel
 * whose coefficients are all in registers; one for all orders serves the others. */

#include "tree/m2l_kernels_cuda.cuh"

enum { threads = m2l_threads };

/* A warp a cell with several parts, a coefficient a lane. */
template <typename real>
static __global__ void __launch_bounds__(threads) add_parts(const struct m2l_task task)
{
    const int32_t k = (int32_t)(blockIdx.x * (threads / 32) + threadIdx.x / 32);
    if (k >= task.parts.end - task.parts.first)
        return;
    const struct tree_part_sums of = task.parts.of_cell[k];
    if (of.parts == 0)
        return;
    real *local = (real *)task.locals +
                  ((int64_t)task.target_record + task.parts.first + k) * task.shape.local;
    const real *sums = (const real *)task.parts.sums + of.first * task.shape.local;
    for (int32_t j = threadIdx.x % 32; j < task.shape.count; j += 32) {
        real sum = 0;
#pragma unroll 8
        for (int32_t part = 0; part < of.parts; part++)
            sum += sums[(int64_t)part * task.shape.local + j];
        local[j] += sum;
    }
}

template <expansion_basis basis, int order>
static bool launch_fixed(cudaStream_t stream, kith_dtype dtype, const struct m2l_task &task)
{
    const unsigned blocks = blocks_for(task.parts.most, threads / 32);
    const struct radial_of_powers powers = {};
    if (task.shape.basis != basis || task.shape.order != order)
        return false;
    if (dtype == KITH_F64)
        m2l_fixed<fixed<basis, order>, double><<<blocks, threads, 0, stream>>>(task, powers);
    else
        m2l_fixed<fixed<basis, order>, float><<<blocks, threads, 0, stream>>>(task, powers);
    return true;
}

/* bins: of expansion_series, else NULL */
static kith_status meet(kith_context *context, cudaStream_t stream, kith_dtype dtype,
                        const struct m2l_task &task, const struct expansion_bins *bins,
                        const struct expansion_angles *angles)
{
    const struct radial_of_powers powers = {};
    if (bins)
        return m2l_meet_law(context, dtype, task, *bins);
    const bool is_fixed = launch_fixed<expansion_harmonic, 4>(stream, dtype, task) ||
                          launch_fixed<expansion_harmonic, 5>(stream, dtype, task) ||
                          launch_fixed<expansion_harmonic, 6>(stream, dtype, task) ||
                          launch_fixed<expansion_harmonic, 8>(stream, dtype, task) ||
                          launch_fixed<expansion_full, 4>(stream, dtype, task) ||
                          launch_fixed<expansion_full, 5>(stream, dtype, task) ||
                          launch_fixed<expansion_full, 6>(stream, dtype, task);
    if (is_fixed)
        return cuda_check_launch("meeting far cells of a tree");
    if (m2l_can_rotate(task.shape, dtype))
        return m2l_meet_rotated(context, stream, task, angles);
    return launch_m2l_any(stream, dtype, task, powers);
}

kith_status tree_m2l_cuda(kith_context *context, const struct tree_expansions_cuda *expansions,
                          const struct tree_batch *batch, const struct tree_aside *aside,
                          struct tree_parts_memory *memory)
{
    const cudaStream_t stream = aside ? aside->stream : cuda_stream(context);
    struct m2l_task task = {expansion_shape_of(&expansions->expansion),
                            expansions->target_record,
                            batch->parts[tree_list_far],
                            batch->lists,
                            batch->far,
                            expansions->records,
                            expansions->locals};
    if (batch->far_count == 0)
        return KITH_OK;
    KITH_TRY(tree_reserve_sums_cuda(context, task.shape.local * kith_dtype_bytes(expansions->dtype),
                                    memory, &task.parts));
    if (aside)
        KITH_TRY(tree_fork_cuda(context, aside));
    KITH_TRY(meet(context, stream, expansions->dtype, task, expansions->expansion.bins,
                  (const struct expansion_angles *)expansions->angles));
    if (task.parts.slots == 0)
        return KITH_OK;
    const unsigned blocks = blocks_for(batch->end - batch->first, threads / 32);
    if (expansions->dtype == KITH_F64)
        add_parts<double><<<blocks, threads, 0, stream>>>(task);
    else
        add_parts<float><<<blocks, threads, 0, stream>>>(task);
    return cuda_check_launch("meeting far cells of a tree");
}
