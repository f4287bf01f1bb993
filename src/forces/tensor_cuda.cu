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
    bodies->near = (unsigned long long *)take(pieces, tiles * (int64_t)sizeof(unsigned long long));
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
    if (k >= bodies.count || tensor_is_left(bodies))
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

/* The same, and a number on the device that the symmetric kernel's use of the memory leaves. */
static kith_status reserve_for_both(kith_context *context, int64_t count,
                                    struct tensor_bodies *bodies, struct sorting *sorting)
{
    struct pieces pieces = {NULL, 0};
    void *memory = NULL;
    lay_out(&pieces, count, 1, bodies, sorting);
    const int64_t of_ring = (forces_ring_scratch_bytes_cuda(context, count) + 255) / 256 * 256;
    const int64_t bytes = pieces.bytes > of_ring ? pieces.bytes : of_ring;
    KITH_TRY(cuda_scratch(context, bytes + (int64_t)sizeof *bodies->is_left, &memory));
    pieces = {(char *)memory, 0};
    lay_out(&pieces, count, 1, bodies, sorting);
    bodies->is_left = (int *)((char *)memory + bytes);
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

/* A problem whose tiles first … end − 1 several devices share; bodies are the leader's, whose sums
 * are in the row of sums of its rank. Those of the others follow the rows of the ranks. */
struct shared_work {
    const struct forces_problem *problem;
    const struct tensor_bodies *bodies;
    const struct sorting *sorting;
    unsigned long long *rows_of_others;
};

static int64_t length_of_row(const struct tensor_bodies *bodies)
{
    return tensor_levels * tensor_level_length(*bodies);
}

/* Every device sorts and packs all bodies. */
static kith_status do_part(const struct cuda_part *part, void *argument)
{
    const struct shared_work *work = (const struct shared_work *)argument;
    const struct tensor_bodies *all = work->bodies;
    const int64_t tiles = all->end - all->first, row = length_of_row(all);
    struct forces_problem problem = *work->problem;
    struct tensor_bodies bodies = *all;
    struct sorting sorting = *work->sorting;
    if (part->index > 0) {
        KITH_TRY(ring_send(part, &problem));
        KITH_TRY(reserve(part->context, problem.target_count, 1, &bodies, &sorting));
    }
    bodies.first = all->first + share_begin(tiles, part->count, part->index);
    bodies.end = all->first + share_begin(tiles, part->count, part->index + 1);
    KITH_TRY(sum_tiles(part->context, &problem, &bodies, &sorting));
    if (part->index == 0)
        return KITH_OK;
    return cuda_copy_from_part(part, work->rows_of_others + (part->index - 1) * row, bodies.sum,
                               row * (int64_t)sizeof(uint64_t));
}

static __global__ void __launch_bounds__(threads)
    add_rows(int64_t length, int32_t rows, const unsigned long long *from, unsigned long long *to)
{
    const int64_t k = (int64_t)blockIdx.x * threads + threadIdx.x;
    for (int32_t row = 0; k < length && row < rows; row++)
        to[k] += from[row * length + k];
}

static kith_status deliver_all(kith_context *context, const struct forces_problem *problem,
                               const struct tensor_bodies *bodies, int64_t rows)
{
    const unsigned blocks = (unsigned)((problem->target_count + threads - 1) / threads);
    deliver_sums<<<blocks, threads, 0, cuda_stream(context)>>>(*problem, *bodies, rows);
    return cuda_check_launch("delivering forces");
}

/* The ranks of a job divide the tiles, and the devices of a rank its part of them. */
struct division {
    int32_t rank, ranks, peers;
    bool is_divided; /* among ranks */
};

/* From this many tiles on. */
enum { least_shared_tiles = 256 };

static kith_status find_division(kith_context *context, int64_t count, struct division *division)
{
    *division = {0, 1, 0, false};
    if (count <= (least_shared_tiles - 1) * tensor_tile)
        return KITH_OK;
    division->is_divided = ranks_device_share(context, &division->rank, &division->ranks);
    return cuda_count_peers(context, &division->peers);
}

/* The sums of this rank, in its row. */
static kith_status sum_part(kith_context *context, const struct forces_problem *problem,
                            const struct division *division, struct tensor_bodies *bodies,
                            const struct sorting *sorting)
{
    unsigned long long *all = bodies->sum;
    const int64_t row = length_of_row(bodies);
    struct shared_work work = {problem, bodies, sorting, all + division->ranks * row};
    bodies->first = share_begin(bodies->tiles, division->ranks, division->rank);
    bodies->end = share_begin(bodies->tiles, division->ranks, division->rank + 1);
    bodies->sum = all + division->rank * row;
    KITH_TRY(division->peers > 0 ? cuda_share(context, false, do_part, &work)
                                 : sum_tiles(context, problem, bodies, sorting));
    if (division->peers > 0)
        add_rows<<<(unsigned)((row + threads - 1) / threads), threads, 0, cuda_stream(context)>>>(
            row, division->peers, work.rows_of_others, bodies->sum);
    bodies->sum = all;
    return cuda_check_launch("adding the sums of devices");
}

kith_status forces_tensor_cuda(kith_context *context, const struct forces_problem *problem)
{
    struct tensor_bodies bodies = {};
    struct sorting sorting;
    struct division division;
    if (!has_tensor_cores())
        return kith_fail(KITH_UNSUPPORTED, "method is tensor, which needs a GPU of compute "
                                           "capability 8.0 or later; use symmetric");
    KITH_TRY(find_division(context, problem->target_count, &division));
    if (division.is_divided)
        KITH_TRY(cuda_check_not_recording(context));
    kith_status status =
        reserve(context, problem->target_count, division.ranks + division.peers, &bodies, &sorting);
    if (status == KITH_OK)
        status = sum_part(context, problem, &division, &bodies, &sorting);
    if (division.is_divided)
        status = ranks_gather_on_device(context, status, bodies.sum, division.ranks,
                                        length_of_row(&bodies) * (int64_t)sizeof(uint64_t));
    KITH_TRY(status);
    return deliver_all(context, problem, &bodies, division.ranks);
}

bool forces_tensor_suits_cuda(const struct forces_problem *problem)
{
    return problem->dtype == KITH_F32 && !problem->potential && has_tensor_cores();
}

/* Several devices or ranks: the host waits for the decision. */
static kith_status choose_and_share(kith_context *context, const struct forces_problem *problem,
                                    struct tensor_bodies *bodies, const struct sorting *sorting)
{
    int is_left = 0;
    KITH_TRY(cuda_check_not_recording(context));
    KITH_TRY(sort_bodies(context, problem, sorting));
    KITH_TRY(tensor_pack(context, problem, bodies));
    KITH_TRY(cuda_check(cudaMemcpyAsync(&is_left, bodies->is_left, sizeof is_left,
                                        cudaMemcpyDeviceToHost, cuda_stream(context)),
                        "copying the choice of a method"));
    KITH_TRY(cuda_wait(context, "choosing a method"));
    return is_left ? forces_ring_cuda(context, problem) : forces_tensor_cuda(context, problem);
}

kith_status forces_tensor_or_ring_cuda(kith_context *context, const struct forces_problem *problem)
{
    struct tensor_bodies bodies = {};
    struct sorting sorting;
    struct division division;
    KITH_TRY(find_division(context, problem->target_count, &division));
    KITH_TRY(reserve_for_both(context, problem->target_count, &bodies, &sorting));
    if (division.is_divided || division.peers > 0)
        return choose_and_share(context, problem, &bodies, &sorting);
    KITH_TRY(sum_tiles(context, problem, &bodies, &sorting));
    KITH_TRY(deliver_all(context, problem, &bodies, 1));
    return forces_ring_if_needed_cuda(context, problem, bodies.is_left);
}
