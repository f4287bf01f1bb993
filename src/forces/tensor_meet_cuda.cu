/* The kernel of gravity with tensor cores (tensor_cuda.cuh). */

#include "core/status.h"
#include "forces/tensor_far_cuda.cuh"
#include "forces/tensor_near_cuda.cuh"

/* Each block has far and near pairs of tiles, and of the blocks of a multiprocessor some begin with
 * these and some with those: tensor cores and roots work while the multiply pipes do. */
template <bool potential>
static __global__ void __launch_bounds__(shape<potential>::threads,
                                         shape<potential>::blocks_per_multiprocessor)
    meet_kernel(const __grid_constant__ struct forces_problem problem,
                const __grid_constant__ struct tensor_bodies bodies)
{
    __shared__ struct shared<potential> shared;
    if (tensor_is_left(bodies))
        return;
    const unsigned block = blockIdx.x + gridDim.x * blockIdx.y;
    const bool begins_near = __popc(block) % 2;
#pragma unroll 1
    for (int turn = 0; turn < 2; turn++)
        if ((turn == 0) == begins_near)
            meet_near_share<potential>(problem, bodies, block, (int64_t)gridDim.x * gridDim.y,
                                       shared.sources[threadIdx.x / 32]);
        else
            meet_far_share<potential>(problem, bodies, shared);
}

kith_status tensor_meet(kith_context *context, const struct forces_problem *problem,
                        const struct tensor_bodies *bodies)
{
    const int64_t partners = bodies->tiles / 2;
    if (bodies->end == bodies->first)
        return KITH_OK;
    const int lists = (int)((partners + list_length - 1) / list_length);
    const int shares = max(lists, tile_shares(bodies->tiles, partners));
    const dim3 grid((unsigned)(bodies->end - bodies->first), (unsigned)shares);
    if (problem->potential)
        meet_kernel<true>
            <<<grid, shape<true>::threads, 0, cuda_stream(context)>>>(*problem, *bodies);
    else
        meet_kernel<false>
            <<<grid, shape<false>::threads, 0, cuda_stream(context)>>>(*problem, *bodies);
    return cuda_check_launch("starting the kernel of forces on tensor cores");
}
