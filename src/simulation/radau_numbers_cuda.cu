/* The arithmetic of ias15's steps on a GPU, a number of a body in each thread, or a body where all
 * its components count.
 *
 * Compiled without contraction: a product that is part of an exact sum must be rounded once. */

#include "core/status.h"
#include "device/cuda_state.h"
#include "device/overlap.cuh"
#include "device/warp.cuh"
#include "simulation/radau_arithmetic.h"
#include "simulation/radau_numbers.h"

enum { block_threads = 256, warp = 32 };

/* What the threads find: the bits of numbers ≥ 0, which are in their order; those of NaN are
 * larger. */
struct found_bits {
    unsigned long long change, scale, time2;
};

/* The arrays from number i of component c on. */
static __device__ void place_arrays(const struct radau_numbers &numbers, int32_t c, int64_t i,
                                    double *(&array)[RADAU_ARRAYS])
{
#pragma unroll
    for (int a = 0; a < RADAU_ARRAYS; a++)
        array[a] = numbers.array[a] + c * numbers.stride + i;
}

static __device__ int64_t body_of_thread()
{
    return (int64_t)blockIdx.x * block_threads + threadIdx.x;
}

/* Of a number ≥ 0, which may be −0. */
static __device__ unsigned long long bits_of(double number)
{
    return (unsigned long long)__double_as_longlong(fabs(number));
}

static __global__ void __launch_bounds__(block_threads)
    guess_kernel(const __grid_constant__ struct radau_numbers numbers, double q)
{
    wait_for_kernel_before();
    const int64_t i = body_of_thread();
    if (i >= numbers.bodies)
        return;
    double *array[RADAU_ARRAYS];
    place_arrays(numbers, (int32_t)blockIdx.y, i, array);
    const struct attempt at = {array, 1, 1, 1, 1};
    guess_terms(&at, q);
}

template <int n>
static __global__ void __launch_bounds__(block_threads)
    pass_kernel(const __grid_constant__ struct radau_numbers numbers, double h,
                struct found_bits *bits)
{
    wait_for_kernel_before();
    const int64_t i = body_of_thread();
    struct found found = {0, 0};
    if (i < numbers.bodies) {
        double *array[RADAU_ARRAYS];
        place_arrays(numbers, (int32_t)blockIdx.y, i, array);
        const struct attempt at = {array, 1, 1, 1, 1};
        pass_node(&at, n, h, &found);
    }
    if (n < radau_terms)
        return;
    const unsigned long long change = warp_largest(bits_of(found.change));
    const unsigned long long scale = warp_largest(bits_of(found.scale));
    if (threadIdx.x % warp == 0) {
        atomicMax(&bits->change, change);
        atomicMax(&bits->scale, scale);
    }
}

static __global__ void __launch_bounds__(block_threads)
    time2_kernel(const __grid_constant__ struct radau_numbers numbers, double h, double scale,
                 struct found_bits *bits)
{
    wait_for_kernel_before();
    const int64_t i = body_of_thread();
    double time2 = (double)INFINITY;
    if (i < numbers.bodies) {
        double *array[RADAU_ARRAYS];
        place_arrays(numbers, 0, i, array);
        const struct attempt at = {array, numbers.stride, numbers.dimensions, 1, 1};
        time2 = times2_of(&at, 0, h, scale);
    }
    const unsigned long long least = warp_least(bits_of(time2));
    if (threadIdx.x % warp == 0)
        atomicMin(&bits->time2, least);
}

static __global__ void __launch_bounds__(block_threads)
    finish_kernel(const __grid_constant__ struct radau_numbers numbers, double h, bool continued)
{
    wait_for_kernel_before();
    const int64_t i = body_of_thread();
    if (i >= numbers.bodies)
        return;
    double *array[RADAU_ARRAYS];
    place_arrays(numbers, (int32_t)blockIdx.y, i, array);
    const struct attempt at = {array, 1, 1, 1, 1};
    finish_step(&at, h, continued);
}

/* A thread for each body, in each of these components. */
static dim3 grid_of(const struct radau_numbers *numbers, int32_t components)
{
    const int64_t blocks = (numbers->bodies + block_threads - 1) / block_threads;
    return dim3((unsigned)(blocks > 0 ? blocks : 1), (unsigned)components);
}

static kith_status guess(kith_context *context, const struct radau_numbers *numbers, double q)
{
    return launch_overlapped(context, "starting the kernel of guesses of ias15",
                             grid_of(numbers, numbers->dimensions), block_threads, guess_kernel,
                             *numbers, q);
}

static kith_status finish(kith_context *context, const struct radau_numbers *numbers, double h,
                          bool continued)
{
    return launch_overlapped(context, "starting the kernel of the ends of steps of ias15",
                             grid_of(numbers, numbers->dimensions), block_threads, finish_kernel,
                             *numbers, h, continued);
}

/* Memory for what threads find, filled with a byte. */
static kith_status begin_finding(kith_context *context, int byte, struct found_bits **bits)
{
    KITH_TRY(cuda_scratch(context, sizeof **bits, (void **)bits));
    return cuda_check(cudaMemsetAsync(*bits, byte, sizeof **bits, cuda_stream(context)),
                      "clearing what ias15 finds");
}

static double number_of(unsigned long long bits)
{
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

static kith_status pass(kith_context *context, const struct radau_numbers *numbers, int32_t n,
                        double h, double *change, double *scale)
{
    typedef void kernel(const struct radau_numbers, double, struct found_bits *);
    static kernel *const kernels[] = {pass_kernel<0>, pass_kernel<1>, pass_kernel<2>,
                                      pass_kernel<3>, pass_kernel<4>, pass_kernel<5>,
                                      pass_kernel<6>, pass_kernel<7>};
    struct found_bits *bits = nullptr, found = {};
    if (n == radau_terms)
        KITH_TRY(begin_finding(context, 0, &bits));
    KITH_TRY(launch_overlapped(context, "starting the kernel of a node of ias15",
                               grid_of(numbers, numbers->dimensions), block_threads, kernels[n],
                               *numbers, h, bits));
    if (n < radau_terms)
        return KITH_OK;
    KITH_TRY(cuda_copy_out(context, &found, bits, sizeof found));
    *change = number_of(found.change);
    *scale = number_of(found.scale);
    return KITH_OK;
}

static kith_status time2(kith_context *context, const struct radau_numbers *numbers, double h,
                         double scale, double *time2)
{
    struct found_bits *bits = nullptr, found = {};
    KITH_TRY(begin_finding(context, 0xff, &bits));
    KITH_TRY(launch_overlapped(context, "starting the kernel of the next step of ias15",
                               grid_of(numbers, 1), block_threads, time2_kernel, *numbers, h, scale,
                               bits));
    KITH_TRY(cuda_copy_out(context, &found, bits, sizeof found));
    const double least = number_of(found.time2);
    *time2 = isnan(least) ? (double)INFINITY : least;
    return KITH_OK;
}

const struct radau_numbers_backend radau_numbers_cuda = {guess, pass, time2, finish};
