/* Gravity of all pairs with tensor cores: the order of its kernels (tensor_cuda.cuh). */

#include "core/arena.h"
#include "core/status.h"
#include "device/cuda.h"
#include "device/cuda_peers.h"
#include "device/overlap.cuh"
#include "device/tensor_cores_cuda.h"
#include "forces/deliver_cuda.cuh"
#include "forces/direct_cuda.h"
#include "forces/ring_gravity_cuda.cuh"
#include "forces/ring_launch_cuda.cuh"
#include "forces/tensor_cuda.cuh"
#include "sort/curve.h"

enum { threads = 256 };

/* Bits of a place on the curve, by which bodies are sorted: cells are so small that 2^16 of them
 * have a body if all are equally dense. The sort takes 8 of them a pass, and of an even number of
 * passes the result need not be copied. */
static int32_t curve_bits(int64_t count)
{
    int32_t bits = 16;
    while (count > 1) {
        count /= 2;
        bits++;
    }
    return (bits + 15) / 16 * 16;
}

/* With `rows` rows of sums. */
static void lay_out(struct arena *arena, const struct forces_problem *problem, int64_t rows,
                    struct tensor_bodies *bodies, struct sort_curve *curve)
{
    const int64_t count = problem->target_count;
    const int64_t tiles = (count + tensor_tile - 1) / tensor_tile, padded = tiles * tensor_tile;
    sort_curve_take(arena, count, curve);
    bodies->count = count;
    bodies->tiles = bodies->end = tiles;
    bodies->first = 0;
    arena_take(arena, count, sizeof *bodies->order, &bodies->order);
    arena_take(arena, padded, sizeof *bodies->body, &bodies->body);
    arena_take(arena, tiles, sizeof *bodies->box, &bodies->box);
    arena_take(arena, 2 * padded, sizeof *bodies->distance, &bodies->distance);
    arena_take(arena, padded, sizeof *bodies->digits, &bodies->digits);
    bodies->values = problem->potential ? 4 : 3;
    bodies->mass_digits = NULL;
    if (problem->potential)
        arena_take(arena, padded, sizeof *bodies->mass_digits, &bodies->mass_digits);
    arena_take(arena, tiles, sizeof *bodies->unit, &bodies->unit);
    arena_take(arena, tiles, sizeof *bodies->near, &bodies->near);
    arena_take(arena, tiles + 1, sizeof *bodies->near_before, &bodies->near_before);
    arena_take(arena, rows * tensor_levels * bodies->values * padded, sizeof *bodies->sum,
               &bodies->sum);
}

static kith_status sort_bodies(kith_context *context, const struct forces_problem *problem,
                               const struct tensor_bodies *bodies, const struct sort_curve *curve)
{
    const struct sort_points points = {
        problem->dtype,
        problem->dimensions,
        problem->target_count,
        {problem->target_position[0], problem->target_position[1], problem->target_position[2]}};
    return sort_along_curve_cuda(context, &points, curve_bits(points.count), curve, bodies->order);
}

/* rows: of sums, one after another. */
static __global__ void __launch_bounds__(threads)
    deliver_sums(const struct forces_problem problem, const struct tensor_bodies bodies,
                 int64_t rows)
{
    const int64_t k = (int64_t)blockIdx.x * threads + threadIdx.x;
    wait_for_kernel_before();
    if (k >= bodies.count || tensor_is_left(bodies))
        return;
    const int64_t length = tensor_level_length(bodies), row = tensor_levels * length;
    const struct tensor_unit unit = bodies.unit[k / tensor_tile];
    for (int c = 0; c < bodies.values; c++) {
        const unsigned long long *at = bodies.sum + tensor_sum_at(bodies, k) + c * tensor_tile;
        double sum = 0;
        for (int level = tensor_levels - 1; level >= 0; level--) {
            unsigned long long whole = 0;
            for (int64_t r = 0; r < rows; r++)
                whole += at[r * row + level * length];
            sum = sum * (double)(1 << tensor_level_bits) + (double)(long long)whole;
        }
        deliver<float>(problem, bodies.order[k], c,
                       sum / (double)(c < 3 ? unit.field : unit.potential));
    }
}

/* Takes the device's scratch memory. */
static kith_status reserve(kith_context *context, const struct forces_problem *problem,
                           int64_t rows, struct tensor_bodies *bodies, struct sort_curve *curve)
{
    struct arena arena = {NULL, 0};
    void *memory = NULL;
    lay_out(&arena, problem, rows, bodies, curve);
    KITH_TRY(cuda_scratch(context, arena.used, &memory));
    arena = {(char *)memory, 0};
    lay_out(&arena, problem, rows, bodies, curve);
    return KITH_OK;
}

/* The same, and a number on the device that the symmetric kernel's use of the memory leaves. */
static kith_status reserve_for_both(kith_context *context, const struct forces_problem *problem,
                                    struct tensor_bodies *bodies, struct sort_curve *curve)
{
    struct arena arena = {NULL, 0};
    void *memory = NULL;
    lay_out(&arena, problem, 1, bodies, curve);
    const int64_t of_ring = forces_ring_scratch_bytes_cuda(context, problem);
    if (arena.used < of_ring)
        arena_take(&arena, of_ring - arena.used, 1);
    const int64_t bytes = arena.used;
    KITH_TRY(cuda_scratch(context, bytes + (int64_t)sizeof *bodies->is_left, &memory));
    arena = {(char *)memory, 0};
    lay_out(&arena, problem, 1, bodies, curve);
    bodies->is_left = (int *)((char *)memory + bytes);
    return KITH_OK;
}

/* What the tiles first … end − 1 meet. */
static kith_status sum_tiles(kith_context *context, const struct forces_problem *problem,
                             const struct tensor_bodies *bodies, const struct sort_curve *curve)
{
    KITH_TRY(sort_bodies(context, problem, bodies, curve));
    KITH_TRY(tensor_pack(context, problem, bodies));
    KITH_TRY(tensor_near(context, problem, bodies));
    return tensor_far(context, problem, bodies);
}

/* A problem whose tiles first … end − 1 several devices share; bodies are the leader's, whose sums
 * are in the row of sums of its rank. Those of the others follow the rows of the ranks. */
struct shared_work {
    const struct forces_problem *problem;
    const struct tensor_bodies *bodies;
    const struct sort_curve *curve;
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
    struct sort_curve curve = *work->curve;
    if (part->index > 0) {
        KITH_TRY(ring_send(part, &problem));
        KITH_TRY(reserve(part->context, &problem, 1, &bodies, &curve));
    }
    bodies.first = all->first + share_begin(tiles, part->count, part->index);
    bodies.end = all->first + share_begin(tiles, part->count, part->index + 1);
    KITH_TRY(sum_tiles(part->context, &problem, &bodies, &curve));
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
    return launch_overlapped(context, "delivering forces", dim3(blocks), threads, deliver_sums,
                             *problem, *bodies, rows);
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
                            const struct sort_curve *curve)
{
    unsigned long long *all = bodies->sum;
    const int64_t row = length_of_row(bodies);
    struct shared_work work = {problem, bodies, curve, all + division->ranks * row};
    bodies->first = share_begin(bodies->tiles, division->ranks, division->rank);
    bodies->end = share_begin(bodies->tiles, division->ranks, division->rank + 1);
    bodies->sum = all + division->rank * row;
    KITH_TRY(division->peers > 0 ? cuda_share(context, false, do_part, &work)
                                 : sum_tiles(context, problem, bodies, curve));
    if (division->peers > 0)
        add_rows<<<(unsigned)((row + threads - 1) / threads), threads, 0, cuda_stream(context)>>>(
            row, division->peers, work.rows_of_others, bodies->sum);
    bodies->sum = all;
    return cuda_check_launch("adding the sums of devices");
}

kith_status forces_tensor_cuda(kith_context *context, const struct forces_problem *problem)
{
    struct tensor_bodies bodies = {};
    struct sort_curve curve;
    struct division division;
    if (!cuda_has_tensor_cores())
        return kith_fail(KITH_UNSUPPORTED, "method is tensor, which needs a GPU of compute "
                                           "capability 8.0 or later; use symmetric");
    KITH_TRY(find_division(context, problem->target_count, &division));
    if (division.is_divided)
        KITH_TRY(cuda_check_not_recording(context));
    kith_status status =
        reserve(context, problem, division.ranks + division.peers, &bodies, &curve);
    if (status == KITH_OK)
        status = sum_part(context, problem, &division, &bodies, &curve);
    if (division.is_divided)
        status = ranks_gather_on_device(context, status, bodies.sum, division.ranks,
                                        length_of_row(&bodies) * (int64_t)sizeof(uint64_t));
    KITH_TRY(status);
    return deliver_all(context, problem, &bodies, division.ranks);
}

bool forces_tensor_suits_cuda(const struct forces_problem *problem)
{
    return problem->dtype == KITH_F32 && cuda_has_tensor_cores();
}

/* Several devices or ranks: the host waits for the decision. */
static kith_status choose(kith_context *context, const struct forces_problem *problem,
                          const struct tensor_bodies *bodies, const struct sort_curve *curve,
                          int *is_left)
{
    KITH_TRY(cuda_check_not_recording(context));
    KITH_TRY(sort_bodies(context, problem, bodies, curve));
    KITH_TRY(tensor_pack(context, problem, bodies));
    KITH_TRY(cuda_check(cudaMemcpyAsync(is_left, bodies->is_left, sizeof *is_left,
                                        cudaMemcpyDeviceToHost, cuda_stream(context)),
                        "copying the choice of a method"));
    return cuda_wait(context, "choosing a method");
}

kith_status forces_tensor_or_ring_cuda(kith_context *context, const struct forces_problem *problem)
{
    struct tensor_bodies bodies = {};
    struct sort_curve curve;
    struct division division;
    int is_left = 0;
    KITH_TRY(find_division(context, problem->target_count, &division));
    kith_status status = reserve_for_both(context, problem, &bodies, &curve);
    if (!division.is_divided && division.peers == 0) {
        KITH_TRY(status);
        KITH_TRY(sum_tiles(context, problem, &bodies, &curve));
        KITH_TRY(deliver_all(context, problem, &bodies, 1));
        return forces_ring_if_needed_cuda(context, problem, bodies.is_left);
    }
    if (status == KITH_OK)
        status = choose(context, problem, &bodies, &curve, &is_left);
    /* Both methods are collective: a rank that has failed must not leave the others in one. */
    KITH_TRY(ranks_agree(context, status));
    return is_left ? forces_ring_cuda(context, problem) : forces_tensor_cuda(context, problem);
}
