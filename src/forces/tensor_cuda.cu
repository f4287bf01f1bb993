/* Gravity of all pairs with tensor cores: the order of its kernels (tensor_cuda.cuh). */

#include "core/status.h"
#include "device/cuda.h"
#include "forces/deliver_cuda.cuh"
#include "forces/direct_cuda.h"
#include "forces/tensor_cuda.cuh"
#include "sort/hilbert.h"
#include "sort/sort.h"

enum { threads = 256 };

/* Takes the scratch memory in pieces; with memory == NULL only counts. */
struct pieces {
    char *memory;
    int64_t bytes;
};

static void *take(struct pieces *pieces, int64_t bytes)
{
    void *piece = pieces->memory ? pieces->memory + pieces->bytes : NULL;
    pieces->bytes += (bytes + 255) / 256 * 256;
    return piece;
}

struct sorting {
    uint64_t *keys;
    uint32_t *order;
    struct morton_grid *grid;
    void *scratch;
};

static void lay_out(struct pieces *pieces, int64_t count, struct tensor_bodies *bodies,
                    struct sorting *sorting)
{
    const int64_t tiles = (count + tensor_tile - 1) / tensor_tile, padded = tiles * tensor_tile;
    take(pieces, sort_working_bytes_cuda(count)); /* the sort's own of the same scratch */
    sorting->keys = (uint64_t *)take(pieces, count * (int64_t)sizeof(uint64_t));
    sorting->order = (uint32_t *)take(pieces, count * (int64_t)sizeof(uint32_t));
    sorting->grid = (struct morton_grid *)take(pieces, sizeof(struct morton_grid));
    sorting->scratch = take(pieces, sort_scratch_bytes_cuda(count));
    bodies->count = count;
    bodies->tiles = tiles;
    bodies->order = sorting->order;
    bodies->body = (float4 *)take(pieces, padded * (int64_t)sizeof(float4));
    bodies->box = (struct tensor_box *)take(pieces, tiles * (int64_t)sizeof(struct tensor_box));
    bodies->distance = (uint4 *)take(pieces, 2 * padded * (int64_t)sizeof(uint4));
    bodies->digits = (uint2 *)take(pieces, padded * (int64_t)sizeof(uint2));
    bodies->unit = (float *)take(pieces, tiles * (int64_t)sizeof(float));
    bodies->far_sum = (unsigned long long *)take(pieces, 3 * padded * (int64_t)sizeof(uint64_t));
    bodies->near_sum = (double *)take(pieces, 3 * padded * (int64_t)sizeof(double));
}

static __global__ void __launch_bounds__(threads) make_hilbert_keys(int64_t count, uint64_t *keys)
{
    const int64_t k = (int64_t)blockIdx.x * threads + threadIdx.x;
    if (k < count)
        keys[k] = hilbert_key_3d(keys[k]);
}

static kith_status sort_bodies(kith_context *context, const struct forces_problem *problem,
                               const struct sorting *sorting)
{
    const int64_t count = problem->target_count;
    const struct sort_points points = {
        problem->dtype,
        problem->dimensions,
        count,
        {problem->target_position[0], problem->target_position[1], problem->target_position[2]}};
    KITH_TRY(sort_morton_keys_cuda(context, &points, sorting->keys, sorting->grid));
    if (problem->dimensions == 3)
        make_hilbert_keys<<<(unsigned)((count + threads - 1) / threads), threads, 0,
                            cuda_stream(context)>>>(count, sorting->keys);
    KITH_TRY(cuda_check_launch("sorting bodies along a curve"));
    return sort_keys_cuda(context, count, morton_bits(problem->dimensions), sorting->keys,
                          sorting->order, sorting->scratch);
}

static __global__ void __launch_bounds__(threads)
    deliver_sums(const struct forces_problem problem, const struct tensor_bodies bodies)
{
    const int64_t k = (int64_t)blockIdx.x * threads + threadIdx.x;
    if (k >= bodies.count)
        return;
    const double step = 1.0 / (double)bodies.unit[k / tensor_tile];
    for (int c = 0; c < 3; c++) {
        const int64_t at = tensor_sum_at(k) + c * tensor_tile;
        deliver<float>(problem, bodies.order[k], c,
                       bodies.near_sum[at] + step * (double)(long long)bodies.far_sum[at]);
    }
}

bool forces_tensor_has_device(void)
{
    int device = 0, major = 0;
    return cudaGetDevice(&device) == cudaSuccess &&
           cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) ==
               cudaSuccess &&
           major >= 8;
}

kith_status forces_tensor_cuda(kith_context *context, const struct forces_problem *problem)
{
    const int64_t count = problem->target_count;
    struct tensor_bodies bodies;
    struct sorting sorting;
    struct pieces pieces = {NULL, 0};
    void *memory = NULL;
    if (!forces_tensor_has_device())
        return kith_fail(KITH_UNSUPPORTED, "method is tensor, which needs a GPU of compute "
                                           "capability 8.0 or later; use symmetric");
    lay_out(&pieces, count, &bodies, &sorting);
    KITH_TRY(cuda_scratch(context, pieces.bytes, &memory));
    pieces = {(char *)memory, 0};
    lay_out(&pieces, count, &bodies, &sorting);
    KITH_TRY(sort_bodies(context, problem, &sorting));
    KITH_TRY(tensor_pack(context, problem, &bodies));
    KITH_TRY(tensor_near(context, problem, &bodies));
    KITH_TRY(tensor_far(context, problem, &bodies));
    deliver_sums<<<(unsigned)((count + threads - 1) / threads), threads, 0, cuda_stream(context)>>>(
        *problem, bodies);
    return cuda_check_launch("delivering forces");
}
