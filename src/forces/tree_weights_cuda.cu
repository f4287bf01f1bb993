/* The weights of trees on a GPU in a unit: two passes over them. */

#include "forces/tree_weights_cuda.cuh"

#include "device/cuda.h"
#include "device/cuda_state.h"
#include "device/warp.cuh"
#include "forces/scale.h"

enum { threads = 256, blocks_per_multiprocessor = 4 };

/* Before the column. */
struct scale {
    double unit;
    unsigned long long largest; /* the bits of a number that is not negative grow with it */
    char padding[240];          /* the column is aligned to 256 bytes */
};

template <typename real>
static __global__ void __launch_bounds__(threads)
    find_largest(int64_t count, const real *weight, struct scale *scale)
{
    const int64_t step = (int64_t)gridDim.x * threads;
    double largest = 0;
    for (int64_t i = (int64_t)blockIdx.x * threads + threadIdx.x; i < count; i += step)
        largest = fmax(largest, fabs((double)weight[i]));
    largest = warp_largest(largest);
    if (threadIdx.x % 32 == 0)
        atomicMax(&scale->largest, (unsigned long long)__double_as_longlong(largest));
}

template <typename real>
static __global__ void __launch_bounds__(threads)
    scale_weights(int64_t count, const real *weight, real *scaled, struct scale *scale)
{
    const int64_t step = (int64_t)gridDim.x * threads;
    const double largest = __longlong_as_double((long long)scale->largest);
    const int exponent = forces_packed_mass_exponent(largest);
    const double factor = ldexp(1.0, -exponent);
    for (int64_t i = (int64_t)blockIdx.x * threads + threadIdx.x; i < count; i += step)
        scaled[i] = (real)(factor * (double)weight[i]);
    if (blockIdx.x == 0 && threadIdx.x == 0)
        scale->unit = ldexp(1.0, exponent);
}

template <typename real>
static kith_status scale_by(kith_context *context, int64_t count, const void *weight,
                            struct scale *scale)
{
    const int64_t most = (int64_t)blocks_per_multiprocessor * cuda_multiprocessors(context);
    const int64_t needed = 1 + count / threads;
    const unsigned blocks = (unsigned)(needed < most ? needed : most);
    const cudaStream_t stream = cuda_stream(context);
    find_largest<real><<<blocks, threads, 0, stream>>>(count, (const real *)weight, scale);
    scale_weights<real>
        <<<blocks, threads, 0, stream>>>(count, (const real *)weight, (real *)(scale + 1), scale);
    return cuda_check_launch("scaling the weights of a tree");
}

kith_status forces_scale_tree_weights_cuda(kith_context *context, struct tree_problem *problem,
                                           struct tree_memory *memory, const double **unit)
{
    const int64_t count = problem->source_count, real = kith_dtype_bytes(problem->dtype);
    const void *weight = problem->weight;
    KITH_TRY(tree_reserve_cuda(context, (int64_t)sizeof(struct scale) + count * real,
                               "weights of a tree", memory));
    struct scale *scale = (struct scale *)memory->memory;
    KITH_TRY(cuda_check(cudaMemsetAsync(scale, 0, sizeof *scale, cuda_stream(context)),
                        "clearing memory"));
    problem->weight = scale + 1;
    *unit = &scale->unit;
    return problem->dtype == KITH_F64 ? scale_by<double>(context, count, weight, scale)
                                      : scale_by<float>(context, count, weight, scale);
}
