/* Far cells by laws that are neither 1/s nor ln s, on a GPU. */

#include "tree/m2l_kernels_cuda.cuh"
#include "tree/m2p_cuda.cuh"

template <int order>
static bool meet_fixed(cudaStream_t stream, kith_dtype dtype, const struct m2l_task &task,
                       const struct radial_of_bins &of_law)
{
    const unsigned blocks = blocks_for(task.parts.most, m2l_threads / 32);
    if (task.shape.basis != expansion_full || task.shape.order != order)
        return false;
    if (dtype == KITH_F64)
        m2l_fixed<fixed<expansion_full, order>, double>
            <<<blocks, m2l_threads, 0, stream>>>(task, of_law);
    else
        m2l_fixed<fixed<expansion_full, order>, float>
            <<<blocks, m2l_threads, 0, stream>>>(task, of_law);
    return true;
}

kith_status m2l_meet_law(kith_context *context, kith_dtype dtype, const struct m2l_task &task,
                         const struct expansion_bins &bins)
{
    const cudaStream_t stream = cuda_stream(context);
    const struct radial_of_bins of_law = {bins};
    if (meet_fixed<4>(stream, dtype, task, of_law) || meet_fixed<6>(stream, dtype, task, of_law))
        return cuda_check_launch("meeting far cells of a tree");
    return launch_m2l_any(stream, dtype, task, of_law);
}

kith_status tree_m2p_by_law_cuda(kith_context *context, const struct tree_points_cuda *points,
                                 const struct tree_batch *batch)
{
    const struct radial_of_bins of_law = {*points->expansions->expansion.bins};
    return launch_m2p(cuda_stream(context), points, batch, of_law);
}
