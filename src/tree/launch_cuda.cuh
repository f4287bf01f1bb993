#ifndef TREE_LAUNCH_CUDA_CUH
#define TREE_LAUNCH_CUDA_CUH

/* Which instance of a kernel runs: by precision, and by the room that a thread has for the
 * coefficients of an expansion. */

#include <type_traits>

#include "device/cuda.h"
#include "tree/expansion_cuda.cuh"

enum { small_room = 100, middle_room = 320, large_room = 820 };

/* Coefficients that a thread keeps: derivatives of orders up to order + more. */
static inline int32_t room_for(const struct expansion_shape &shape, int32_t more)
{
    const int32_t order = shape.order + more;
    return shape.basis == expansion_harmonic ? expansion_row(order, 0, 3)
                                             : expansion_count_below(shape.basis, order + 1);
}

/* launch(real, room) with values whose types carry the constants. */
template <typename real, typename function>
static kith_status with_room(int32_t needed, function launch)
{
    if (needed <= small_room)
        return launch(real(), std::integral_constant<int, small_room>());
    if (needed <= middle_room)
        return launch(real(), std::integral_constant<int, middle_room>());
    return launch(real(), std::integral_constant<int, large_room>());
}

template <typename function>
static kith_status with_real_and_room(kith_dtype dtype, int32_t needed, function launch)
{
    return dtype == KITH_F64 ? with_room<double>(needed, launch) : with_room<float>(needed, launch);
}

static inline unsigned blocks_for(int64_t items, int of_block)
{
    return (unsigned)((items + of_block - 1) / of_block);
}

/* The same in all lanes that differ by offsets below `lanes`. */
template <typename real> static __device__ inline real sum_of_lanes(real x, int lanes)
{
    for (int offset = lanes / 2; offset > 0; offset /= 2)
        x += __shfl_xor_sync(0xffffffffu, x, offset);
    return x;
}

#endif
