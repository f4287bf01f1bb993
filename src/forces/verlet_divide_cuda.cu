/* Particles of a Verlet list that several devices share: counted by layers of cells, and divided
 * among the devices that have these. */

#include "forces/verlet_build_cuda.cuh"

template <typename real>
static __global__ void count_layers(const struct verlet_cuda_building building, unsigned *in_layer)
{
    const int64_t slot = building.list.first + own_number();
    if (slot >= building.list.end)
        return;
    const int layer = layer_of(
        building, place_of<real>(building, ((const typename verlet_types<real>::vector *)
                                                building.from.vector[verlet_position])[slot]));
    const unsigned same = __match_any_sync(__activemask(), layer);
    if ((int)threadIdx.x % warp == __ffs((int)same) - 1)
        atomicAdd(&in_layer[layer], (unsigned)__popc(same));
}

/* The number of a thread among all that keep their particle. */
static __device__ int64_t number_kept(bool is_kept, unsigned *taken)
{
    __shared__ unsigned before[threads / warp], first;
    const unsigned kept = __ballot_sync(everyone, is_kept);
    const int lane = (int)threadIdx.x % warp, own = (int)threadIdx.x / warp;
    if (lane == 0)
        before[own] = (unsigned)__popc(kept);
    __syncthreads();
    if (threadIdx.x == 0) {
        unsigned all = 0;
        for (int k = 0; k < threads / warp; k++) {
            const unsigned of_warp = before[k];
            before[k] = all;
            all += of_warp;
        }
        first = atomicAdd(taken, all);
    }
    __syncthreads();
    return (int64_t)first + before[own] + __popc(kept & ((1U << lane) - 1));
}

/* To their device's particles, one after another, in an order that is different from run to run, of
 * which the bits of forces do not depend. */
template <typename real>
static __global__ void divide(const struct verlet_cuda_building building,
                              const struct verlet_parcels parcels)
{
    using vector = typename verlet_types<real>::vector;
    const int64_t slot = parcels.list.first + own_number();
    const bool is_there = slot < parcels.list.end;
    int device = -1;
    if (is_there) {
        const vector position = ((const vector *)building.from.vector[verlet_position])[slot];
        device = verlet_device_of_layer(&parcels.slabs,
                                        layer_of(building, place_of<real>(building, position)));
    }
    const bool is_kept = device == parcels.list.device;
    const int64_t kept = number_kept(is_kept, &parcels.taken[parcels.list.device]);
    if (!is_there)
        return;
    const struct verlet_cuda_state &to = is_kept ? parcels.kept : parcels.sent;
    const int64_t at = is_kept
                           ? parcels.first_kept + kept
                           : parcels.begin[device] + (int64_t)atomicAdd(&parcels.taken[device], 1U);
    for (int k = 0; k < verlet_vectors; k++)
        ((vector *)to.vector[k])[at] = ((const vector *)building.from.vector[k])[slot];
    to.order[at] = building.from.order[slot];
}

kith_status verlet_count_layers_cuda(kith_context *context, kith_dtype dtype,
                                     const struct verlet_cuda_building *building,
                                     unsigned *in_layer)
{
    const unsigned blocks = blocks_for(count_own(*building));
    const cudaStream_t stream = cuda_stream(context);
    if (blocks == 0)
        return KITH_OK;
    if (dtype == KITH_F64)
        count_layers<double><<<blocks, threads, 0, stream>>>(*building, in_layer);
    else
        count_layers<float><<<blocks, threads, 0, stream>>>(*building, in_layer);
    return cuda_check_launch("counting particles");
}

kith_status verlet_divide_cuda(kith_context *context, kith_dtype dtype,
                               const struct verlet_cuda_building *building,
                               const struct verlet_parcels *parcels)
{
    const unsigned blocks = blocks_for(parcels->list.end - parcels->list.first);
    const cudaStream_t stream = cuda_stream(context);
    if (blocks == 0)
        return KITH_OK;
    if (dtype == KITH_F64)
        divide<double><<<blocks, threads, 0, stream>>>(*building, *parcels);
    else
        divide<float><<<blocks, threads, 0, stream>>>(*building, *parcels);
    return cuda_check_launch("dividing particles among devices");
}
