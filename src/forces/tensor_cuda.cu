/* Gravity of all pairs with tensor cores: the order of its kernels (tensor_cuda.cuh). */

#include "core/status.h"
#include "device/cuda.h"
#include "device/cuda_peers.h"
#include "forces/deliver_cuda.cuh"
#include "forces/direct_cuda.h"
#include "forces/ring_gravity_cuda.cuh"
#include "forces/ring_launch_cuda.cuh"
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

/* With `rows` rows of sums. */
static void lay_out(struct pieces *pieces, int64_t count, int64_t rows,
                    struct tensor_bodies *bodies, struct sorting *sorting)
{
    const int64_t tiles = (count + tensor_tile - 1) / tensor_tile, padded = tiles * tensor_tile;
    take(pieces, sort_working_bytes_cuda(count)); /* the sort's own of the same scratch */
    sorting->keys = (uint64_t *)take(pieces, count * (int64_t)sizeof(uint64_t));
    sorting->order = (uint32_t *)take(pieces, count * (int64_t)sizeof(uint32_t));
    sorting->grid = (struct morton_grid *)take(pieces, sizeof(struct morton_grid));
    sorting->scratch = take(pieces, sort_scratch_bytes_cuda(count));
    bodies->count = count;
    bodies->tiles = bodies->end = tiles;
    bodies->first = 0;
    bodies->order = sorting->order;
    bodies->body = (float4 *)take(pieces, padded * (int64_t)sizeof(float4));
    bodies->box = (struct tensor_box *)take(pieces, tiles * (int64_t)sizeof(struct tensor_box));
    bodies->distance = (uint4 *)take(pieces, 2 * padded * (int64_t)sizeof(uint4));
    bodies->digits = (uint2 *)take(pieces, padded * (int64_t)sizeof(uint2));
    bodies->unit = (float *)take(pieces, tiles * (int64_t)sizeof(float));
    bodies->sum = (unsigned long long *)take(pieces, rows * tensor_levels * 3 * padded *
                                                         (int64_t)sizeof(uint64_t));
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

/* rows: of sums, one after another. */
static __global__ void __launch_bounds__(threads)
    deliver_sums(const struct forces_problem problem, const struct tensor_bodies bodies,
                 int64_t rows)
{
    const int64_t k = (int64_t)blockIdx.x * threads + threadIdx.x;
    if (k >= bodies.count)
        return;
    const int64_t length = tensor_level_length(bodies), row = tensor_levels * length;
    for (int c = 0; c < 3; c++) {
        const unsigned long long *at = bodies.sum + tensor_sum_at(k) + c * tensor_tile;
        double sum = 0;
        for (int level = tensor_levels - 1; level >= 0; level--) {
            unsigned long long whole = 0;
            for (int64_t r = 0; r < rows; r++)
                whole += at[r * row + level * length];
            sum = sum * (double)(1 << tensor_level_bits) + (double)(long long)whole;
        }
        deliver<float>(problem, bodies.order[k], c, sum / (double)bodies.unit[k / tensor_tile]);
    }
}

static bool has_tensor_cores(void)
{
    int device = 0, major = 0;
    return cudaGetDevice(&device) == cudaSuccess &&
           cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) ==
               cudaSuccess &&
           major >= 8;
}

/* Takes the device's scratch memory. */
static kith_status reserve(kith_context *context, int64_t count, int64_t rows,
                           struct tensor_bodies *bodies, struct sorting *sorting)
{
    struct pieces pieces = {NULL, 0};
    void *memory = NULL;
    lay_out(&pieces, count, rows, bodies, sorting);
    KITH_TRY(cuda_scratch(context, pieces.bytes, &memory));
    pieces = {(char *)memory, 0};
    lay_out(&pieces, count, rows, bodies, sorting);
    return KITH_OK;
}

/* What the tiles first … end − 1 meet. */
static kith_status sum_tiles(kith_context *context, const struct forces_problem *problem,
                             const struct tensor_bodies *bodies, const struct sorting *sorting)
{
    KITH_TRY(sort_bodies(context, problem, sorting));
    KITH_TRY(tensor_pack(context, problem, bodies));
    KITH_TRY(tensor_near(context, problem, bodies));
    return tensor_far(context, problem, bodies);
}

/* A problem whose tiles several devices share; bodies and rows of sums are the leader's. */
struct shared_work {
    const struct forces_problem *problem;
    const struct tensor_bodies *bodies;
    const struct sorting *sorting;
};

/* Every device sorts and packs all bodies. The sums of device k become row k. */
static kith_status do_part(const struct cuda_part *part, void *argument)
{
    const struct shared_work *work = (const struct shared_work *)argument;
    const struct tensor_bodies *all = work->bodies;
    const int64_t first = share_begin(all->tiles, part->count, part->index);
    const int64_t end = share_begin(all->tiles, part->count, part->index + 1);
    struct forces_problem problem = *work->problem;
    struct tensor_bodies bodies = *all;
    struct sorting sorting = *work->sorting;
    if (part->index > 0) {
        KITH_TRY(ring_send(part, &problem));
        KITH_TRY(reserve(part->context, problem.target_count, 1, &bodies, &sorting));
    }
    bodies.first = first;
    bodies.end = end;
    KITH_TRY(sum_tiles(part->context, &problem, &bodies, &sorting));
    if (part->index == 0)
        return KITH_OK;
    const int64_t row = tensor_levels * tensor_level_length(bodies);
    return cuda_copy_from_part(part, all->sum + part->index * row, bodies.sum,
                               row * (int64_t)sizeof(uint64_t));
}

/* From this many tiles on devices share them. Ranks of a job each do all of the work. */
enum { least_shared_tiles = 256 };

kith_status forces_tensor_cuda(kith_context *context, const struct forces_problem *problem)
{
    const bool is_large = problem->target_count > (least_shared_tiles - 1) * tensor_tile;
    struct tensor_bodies bodies = {};
    struct sorting sorting;
    int32_t peers = 0;
    if (!has_tensor_cores())
        return kith_fail(KITH_UNSUPPORTED, "method is tensor, which needs a GPU of compute "
                                           "capability 8.0 or later; use symmetric");
    if (is_large)
        KITH_TRY(cuda_count_peers(context, &peers));
    KITH_TRY(reserve(context, problem->target_count, 1 + peers, &bodies, &sorting));
    struct shared_work work = {problem, &bodies, &sorting};
    KITH_TRY(peers > 0 ? cuda_share(context, false, do_part, &work)
                       : sum_tiles(context, problem, &bodies, &sorting));
    const unsigned blocks = (unsigned)((problem->target_count + threads - 1) / threads);
    deliver_sums<<<blocks, threads, 0, cuda_stream(context)>>>(*problem, bodies, 1 + peers);
    return cuda_check_launch("delivering forces");
}
