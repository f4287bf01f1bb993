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

/* To their device's particles, one after another, in an order that is different from run to run, of
 * which the bits of forces do not depend. */
template <typename real>
static __global__ void divide(const struct verlet_cuda_building building,
                              const struct verlet_parcels parcels)
{
    using vector = typename verlet_types<real>::vector;
    const int64_t slot = parcels.list.first + own_number();
    if (slot >= parcels.list.end)
        return;
    const vector position = ((const vector *)building.from.vector[verlet_position])[slot];
    const int device = verlet_device_of_layer(
        &parcels.slabs, layer_of(building, place_of<real>(building, position)));
    const unsigned same = __match_any_sync(__activemask(), device);
    const int lane = (int)threadIdx.x % warp, first = __ffs((int)same) - 1;
    unsigned taken = 0;
    if (lane == first)
        taken = atomicAdd(&parcels.taken[device], (unsigned)__popc(same));
    taken = __shfl_sync(same, taken, first) + (unsigned)__popc(same & ((1U << lane) - 1));
    const bool is_kept = device == parcels.list.device;
    const struct verlet_cuda_state &to = is_kept ? parcels.kept : parcels.sent;
    const int64_t at =
        is_kept ? parcels.first_kept + taken : (int64_t)parcels.begin[device] + taken;
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
