#ifndef TREE_M2L_CUDA_CUH
#define TREE_M2L_CUDA_CUH

/* What the kernels of M2L have in common. */

#include "tree/expansion_angles.h"
#include "tree/fixed_cuda.cuh"
#include "tree/launch_cuda.cuh"
#include "tree/solve_cuda.h"

struct m2l_task {
    struct expansion_shape shape;
    int32_t target_record;
    struct tree_parts parts;
    const struct tree_lists *lists;
    const int32_t *far;
    const void *records;
    void *locals;
};

/* Where a part's coefficients go. */
template <typename real>
static __device__ inline real *sums_of(const struct m2l_task &task, const struct tree_part &part,
                                       int64_t cell, real)
{
    return part.slot < 0 ? (real *)task.locals + cell * task.shape.local
                         : (real *)task.parts.sums + part.slot * task.shape.local;
}

/* M2L by solid coefficients (tree/expansion_rotation.h), of the orders that tree_choose_cuda
 * chooses and that compile within minutes. */
static inline bool m2l_can_rotate(const struct expansion_shape &shape, kith_dtype dtype)
{
    return dtype == KITH_F64 && shape.solid > 0 && (shape.order == 12 || shape.order == 14);
}
kith_status m2l_meet_rotated(kith_context *context, cudaStream_t stream,
                             const struct m2l_task &task, const struct expansion_angles *angles);

/* M2L of a law by its bins. */
kith_status m2l_meet_law(kith_context *context, kith_dtype dtype, const struct m2l_task &task,
                         const struct expansion_bins &bins);

#endif
