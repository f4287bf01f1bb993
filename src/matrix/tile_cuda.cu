/* Starts the kernels of the seeds: tile_p_cuda_body.h and tile_p2_cuda_body.h. */

#include "matrix/cuda.h"
#include "matrix/grid.h"
#include "matrix/store_cuda.cuh"
#include "matrix/tile_bodies.h"

typedef void tile_kernel(const struct matrix_problem, const struct matrix_target);

static struct matrix_grid grid_of(const struct matrix_problem *problem,
                                  const struct matrix_target *to, int block)
{
    const struct matrix_grid grid = {(unsigned)((problem->columns.count + block - 1) / block),
                                     matrix_limited((to->rows + block - 1) / block)};
    return grid;
}

static size_t particle_bytes(kith_dtype dtype)
{
    return dtype == KITH_F32 ? sizeof(struct matrix_particle_float)
                             : sizeof(struct matrix_particle_double);
}

kith_status matrix_tile_p_cuda(kith_context *context, const struct matrix_task *task,
                               const struct matrix_target *to, int block)
{
#define ENTRY(kind) {matrix_tile_p_float<law_##kind>, matrix_tile_p_double<law_##kind>},
    static tile_kernel *const kernels[][2] = {LAW_EACH_BUILT_IN(ENTRY)};
#undef ENTRY
    const struct matrix_grid grid = grid_of(&task->problem, to, block);
    kernels[task->kind][task->dtype == KITH_F64]<<<
        dim3(grid.x, grid.y), block, block * particle_bytes(task->dtype), cuda_stream(context)>>>(
        task->problem, *to);
    return cuda_check_launch("filling the matrix by tiles of p threads");
}

kith_status matrix_tile_p2_cuda(kith_context *context, const struct matrix_task *task,
                                const struct matrix_target *to, int block)
{
#define ENTRY(kind) {matrix_tile_p2_float<law_##kind>, matrix_tile_p2_double<law_##kind>},
    static tile_kernel *const kernels[][2] = {LAW_EACH_BUILT_IN(ENTRY)};
#undef ENTRY
    const struct matrix_grid grid = grid_of(&task->problem, to, block);
    kernels[task->kind]
           [task->dtype ==
            KITH_F64]<<<dim3(grid.x, grid.y), dim3(block, block),
                        2 * block * particle_bytes(task->dtype), cuda_stream(context)>>>(
               task->problem, *to);
    return cuda_check_launch("filling the matrix by tiles of p x p threads");
}
