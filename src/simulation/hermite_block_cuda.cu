/* Block steps of hermite-block on a GPU (simulation/blocks.h): four kernels a step, which read on
 * the device what the step before has found.
 *
 *   ends_kernel     the earliest end in each segment of the bodies, and how many end there
 *   list_kernel     the earliest of all, and who ends there in the order of the indices
 *   forces_kernel   accelerations and jerks of these, by parts of the bodies
 *   correct_kernel  the parts added in their order, and the targets corrected
 *
 * Compiled without contraction, so that a body is predicted the same as a target and as a source,
 * and corrected as on the CPU. */

#include <math.h>
#include <string.h>

#include "core/clock.h"
#include "core/status.h"
#include "device/cuda_state.h"
#include "device/overlap.cuh"
#include "device/warp.cuh"
#include "simulation/hermite_block_cuda.cuh"
#include "simulation/hermite_block_cuda.h"

enum {
    warp = 32,
    block_warps = block_threads / warp,
    segment_bodies = 1024,
    loads = segment_bodies / block_threads,
    corrected = 8, /* targets of a block of correct_kernel */
    adders = block_threads / corrected,
    correct_blocks_per_multiprocessor = 8
};

/* Steps that are launched before the host reads how far they went. */
enum { first_batch = 4, most_batch = 128, recorded_steps = 8 };
constexpr double seconds_of_batch = 2e-3, seconds_of_call = 50e-3;

static __device__ double end_of(const struct blocks_device &blocks, int64_t i)
{
    return i < blocks.bodies ? blocks.array[BLOCK_TIMES][0][i] + blocks.array[BLOCK_TIMES][1][i]
                             : (double)INFINITY;
}

/* The least of all threads' numbers, in all threads. */
static __device__ double least_of_block(double number, double (&shared)[block_warps])
{
    number = warp_least(number);
    if (threadIdx.x % warp == 0)
        shared[threadIdx.x / warp] = number;
    __syncthreads();
    for (int w = 0; w < block_warps; w++)
        number = fmin(number, shared[w]);
    __syncthreads();
    return number;
}

static __device__ int64_t sum_of_block(int64_t number, int64_t (&shared)[block_warps])
{
    number = warp_sum(number);
    if (threadIdx.x % warp == 0)
        shared[threadIdx.x / warp] = number;
    __syncthreads();
    int64_t sum = 0;
    for (int w = 0; w < block_warps; w++)
        sum += shared[w];
    __syncthreads();
    return sum;
}

/* First steps, of bodies that have none. */
static __global__ void __launch_bounds__(block_threads)
    begin_kernel(const __grid_constant__ struct blocks_device blocks)
{
    const int64_t i = (int64_t)blockIdx.x * block_threads + threadIdx.x;
    if (i >= blocks.bodies || blocks.array[BLOCK_TIMES][1][i] != 0)
        return;
    double a[3] = {}, j[3] = {};
#pragma unroll
    for (int c = 0; c < 3; c++) {
        if (c >= blocks.dimensions)
            break;
        blocks.array[BLOCK_START][c][i] = blocks.array[BLOCK_POSITION][c][i];
        blocks.array[BLOCK_START_VELOCITY][c][i] = blocks.array[BLOCK_VELOCITY][c][i];
        a[c] = blocks.array[BLOCK_ACCELERATION][c][i];
        j[c] = blocks.array[BLOCK_JERK][c][i];
    }
    blocks.array[BLOCK_TIMES][0][i] = 0;
    blocks.array[BLOCK_TIMES][1][i] = blocks_first_step(blocks.eta, blocks.dt, a, j);
}

static __global__ void __launch_bounds__(block_threads)
    ends_kernel(const __grid_constant__ struct blocks_device blocks)
{
    __shared__ double shared[block_warps];
    wait_for_kernel_before();
    struct blocks_control *const control = blocks.control;
    const bool goes = !control->has_ended && control->stuck == ~0ULL;
    if (blockIdx.x == 0 && threadIdx.x == 0)
        control->goes = goes;
    if (!goes)
        return;
    const int64_t first = (int64_t)blockIdx.x * segment_bodies + threadIdx.x;
    double end[loads], least = (double)INFINITY;
    for (int k = 0; k < loads; k++) {
        end[k] = end_of(blocks, first + k * block_threads);
        least = fmin(least, end[k]);
    }
    least = least_of_block(least, shared);
    int count = 0;
    for (int k = 0; k < loads; k++)
        count += __syncthreads_count(end[k] == least);
    if (threadIdx.x == 0) {
        blocks.segment_end[blockIdx.x] = least;
        blocks.segment_count[blockIdx.x] = count;
    }
}

/* What the step of a block will be, or the end of the leg. */
static __device__ void begin_step(const struct blocks_device &blocks, double end, int64_t count)
{
    struct blocks_control *const control = blocks.control;
    const double until = control->until, time = blocks.origin + end * blocks.dt;
    const bool to_end = !(time < until) && time != until;
    const double now = to_end ? until : time;
    control->previous_time = control->time;
    control->time = now;
    control->block_time = to_end ? (until - blocks.origin) / blocks.dt : end;
    control->count = to_end ? 0 : count;
    control->plan = blocks_plan_of(blocks.bodies, control->count, blocks.grid);
    control->body_steps += control->count;
    control->steps++;
    control->has_ended =
        now == until || now >= control->pause || control->steps == control->most_steps;
}

/* The bodies of a segment that end at a time, from this place of the list on. */
static __device__ void list_segment(const struct blocks_device &blocks, double end, int64_t place)
{
    __shared__ int shared[block_warps];
    const int lane = threadIdx.x % warp, w = threadIdx.x / warp;
    for (int k = 0; k < loads; k++) {
        const int64_t i = (int64_t)blockIdx.x * segment_bodies + k * block_threads + threadIdx.x;
        const bool ends = end_of(blocks, i) == end;
        const unsigned with = __ballot_sync(0xffffffff, ends);
        if (lane == 0)
            shared[w] = __popc(with);
        __syncthreads();
        int before = __popc(with & ((1u << lane) - 1)), all = 0;
        for (int other = 0; other < block_warps; other++) {
            before += other < w ? shared[other] : 0;
            all += shared[other];
        }
        if (ends)
            blocks.active[place + before] = i;
        place += all;
        __syncthreads();
    }
}

static __global__ void __launch_bounds__(block_threads)
    list_kernel(const __grid_constant__ struct blocks_device blocks)
{
    __shared__ double shared[block_warps];
    __shared__ int64_t shared_counts[block_warps];
    wait_for_kernel_before();
    const bool is_first = blockIdx.x == 0 && threadIdx.x == 0;
    if (!blocks.control->goes) {
        if (is_first)
            blocks.control->count = blocks.control->plan.items = 0;
        return;
    }
    double end = (double)INFINITY;
    for (int s = (int)threadIdx.x; s < blocks.segments; s += block_threads)
        end = fmin(end, blocks.segment_end[s]);
    end = least_of_block(end, shared);
    int64_t before = 0, count = 0;
    for (int s = (int)threadIdx.x; s < blocks.segments; s += block_threads) {
        const int64_t some = blocks.segment_end[s] == end ? blocks.segment_count[s] : 0;
        count += some;
        before += s < (int)blockIdx.x ? some : 0;
    }
    count = sum_of_block(count, shared_counts);
    before = sum_of_block(before, shared_counts);
    if (is_first)
        begin_step(blocks, end, count);
    if (blocks.segment_end[blockIdx.x] == end)
        list_segment(blocks, end, before);
}

template <bool per_body>
static __global__ void __launch_bounds__(block_threads, blocks_per_multiprocessor)
    forces_kernel(const __grid_constant__ struct blocks_device blocks)
{
    __shared__ double tile[source_columns][block_threads];
    wait_for_kernel_before();
    const int64_t items = blocks.control->plan.items;
    for (int64_t item = blockIdx.x; item < items; item += gridDim.x)
        sum_item<per_body>(blocks, item, tile);
}

/* The end of body i's step, where it has these sums; and its next step. */
static __device__ void correct_body(const struct blocks_device &blocks, int64_t i,
                                    const double (&sums)[block_values])
{
    struct blocks_control *const control = blocks.control;
    double *const times[2] = {blocks.array[BLOCK_TIMES][0] + i, blocks.array[BLOCK_TIMES][1] + i};
    const double step = *times[1], h = step * blocks.dt, time = control->block_time;
    double a[3] = {}, j[3] = {}, snap[3] = {}, crackle[3] = {};
#pragma unroll
    for (int c = 0; c < 3; c++) {
        if (c >= blocks.dimensions)
            break;
        double *const v0 = &blocks.array[BLOCK_START_VELOCITY][c][i];
        double *const a0 = &blocks.array[BLOCK_ACCELERATION][c][i];
        double *const j0 = &blocks.array[BLOCK_JERK][c][i];
        a[c] = blocks.g * sums[c];
        j[c] = blocks.g * sums[3 + c];
        const struct blocks_end end = blocks_correct(h, *v0, *a0, *j0, a[c], j[c]);
        blocks_add(end.moved, &blocks.array[BLOCK_START][c][i],
                   &blocks.array[BLOCK_LOST_POSITION][c][i]);
        blocks_add(end.kicked, v0, &blocks.array[BLOCK_LOST_VELOCITY][c][i]);
        *a0 = a[c];
        *j0 = j[c];
        blocks.array[BLOCK_SNAP][c][i] = snap[c] = end.snap;
        blocks.array[BLOCK_CRACKLE][c][i] = crackle[c] = end.crackle;
    }
    const double next = blocks_next_step(blocks.eta, blocks.dt, time, step, a, j, snap, crackle);
    *times[0] = time;
    *times[1] = next;
    /* Bits of positive numbers are in their order. */
    const unsigned long long bits = (unsigned long long)__double_as_longlong(step);
    if (bits < control->least)
        atomicMin(&control->least, bits);
    if (bits > control->most)
        atomicMax(&control->most, bits);
    if (blocks_is_stuck(next))
        atomicMin(&control->stuck, (unsigned long long)i);
}

/* A block adds the parts of some targets: the threads of one target take its parts in turn, and
 * then a thread these sums of a value. */
static __global__ void __launch_bounds__(block_threads)
    correct_kernel(const __grid_constant__ struct blocks_device blocks)
{
    __shared__ double shared[block_values][corrected][adders + 1];
    wait_for_kernel_before();
    const struct blocks_plan plan = blocks.control->plan;
    const int64_t count = blocks.control->count;
    const int own = (int)threadIdx.x % corrected, adder = (int)threadIdx.x / corrected;
    for (int64_t first = (int64_t)blockIdx.x * corrected; first < count;
         first += (int64_t)gridDim.x * corrected) {
        const int64_t slot = first + own, group = slot / plan.targets;
        double sums[block_values] = {};
        for (int part = adder; part < plan.parts && slot < count; part += adders)
            for (int k = 0; k < block_values; k++)
                sums[k] +=
                    blocks.sums[((group * plan.parts + part) * block_values + k) * plan.targets +
                                slot % plan.targets];
        for (int k = 0; k < block_values; k++)
            shared[k][own][adder] = sums[k];
        __syncthreads();
        if (adder < block_values) {
            double sum = 0;
            for (int k = 0; k < adders; k++)
                sum += shared[adder][own][k];
            shared[adder][own][adders] = sum;
        }
        __syncthreads();
        if (adder > 0 || slot >= count)
            continue;
        for (int k = 0; k < block_values; k++)
            sums[k] = shared[k][own][adders];
        correct_body(blocks, blocks.active[slot], sums);
    }
}

/* Positions and velocities at the time of the last step, of bodies in the middle of theirs too. */
static __global__ void __launch_bounds__(block_threads)
    place_kernel(const __grid_constant__ struct blocks_device blocks)
{
    const int64_t i = (int64_t)blockIdx.x * block_threads + threadIdx.x;
    if (i >= blocks.bodies)
        return;
    const double s = (blocks.control->block_time - blocks.array[BLOCK_TIMES][0][i]) * blocks.dt;
    for (int c = 0; c < blocks.dimensions; c++) {
        const double start[4] = {
            blocks.array[BLOCK_START][c][i], blocks.array[BLOCK_START_VELOCITY][c][i],
            blocks.array[BLOCK_ACCELERATION][c][i], blocks.array[BLOCK_JERK][c][i]};
        blocks_place(s, start, blocks.array[BLOCK_SNAP][c][i], blocks.array[BLOCK_CRACKLE][c][i],
                     &blocks.array[BLOCK_POSITION][c][i], &blocks.array[BLOCK_VELOCITY][c][i]);
    }
}

static struct blocks_device device_of(kith_context *context, const struct blocks_problem *problem)
{
    const struct forces_problem *forces = problem->forces;
    struct blocks_device blocks = {};
    blocks.mass = (const double *)forces->source_mass;
    blocks.half_softening2 = (const double *)forces->source_half_softening2;
    for (int array = 0; array < BLOCK_KEPT; array++)
        for (int c = 0; c < forces->dimensions; c++)
            blocks.array[array][c] = problem->array[array][c];
    blocks.bodies = forces->target_count;
    blocks.dimensions = forces->dimensions;
    blocks.g = forces->gravitational_constant;
    blocks.softening2 = forces->softening2;
    blocks.dt = problem->dt;
    blocks.eta = problem->eta;
    blocks.origin = problem->origin;
    blocks.grid = blocks_per_multiprocessor * cuda_multiprocessors(context);
    blocks.segments = (int32_t)((blocks.bodies + segment_bodies - 1) / segment_bodies);
    return blocks;
}

static kith_status take_scratch(kith_context *context, struct blocks_device *blocks)
{
    const int64_t sums = block_values * blocks_most_sums(blocks->bodies, blocks->grid);
    const int64_t numbers = sums + 2 * (int64_t)blocks->segments + blocks->bodies;
    void *memory = nullptr;
    KITH_TRY(cuda_scratch(
        context, (int64_t)sizeof(struct blocks_control) + numbers * (int64_t)sizeof(double),
        &memory));
    static_assert(sizeof(struct blocks_control) % sizeof(double) == 0, "numbers are aligned");
    blocks->control = (struct blocks_control *)memory;
    blocks->segment_end = (double *)(blocks->control + 1);
    blocks->segment_count = (int64_t *)(blocks->segment_end + blocks->segments);
    blocks->active = blocks->segment_count + blocks->segments;
    blocks->sums = (double *)(blocks->active + blocks->bodies);
    return KITH_OK;
}

static kith_status launch_step(kith_context *context, const struct blocks_device &blocks)
{
    const dim3 segments((unsigned)blocks.segments), grid((unsigned)blocks.grid);
    const dim3 correctors(
        (unsigned)(correct_blocks_per_multiprocessor * cuda_multiprocessors(context)));
    KITH_TRY(launch_overlapped(context, "starting the kernel of the ends of steps", segments,
                               block_threads, ends_kernel, blocks));
    KITH_TRY(launch_overlapped(context, "starting the kernel that lists a block", segments,
                               block_threads, list_kernel, blocks));
    KITH_TRY(launch_overlapped(
        context, "starting the kernel of forces on a block", grid, block_threads,
        blocks.half_softening2 ? forces_kernel<true> : forces_kernel<false>, blocks));
    return launch_overlapped(context, "starting the kernel that corrects a block", correctors,
                             block_threads, correct_kernel, blocks);
}

struct steps {
    kith_context *context;
    const struct blocks_device *blocks;
    void *recording; /* of recorded_steps of them, or NULL */
};

static kith_status launch_recorded_steps(void *argument)
{
    const struct steps *steps = (const struct steps *)argument;
    for (int step = 0; step < recorded_steps; step++)
        KITH_TRY(launch_step(steps->context, *steps->blocks));
    return KITH_OK;
}

/* A graph costs the host less than its kernels one by one, where many follow. */
static kith_status launch_batch(struct steps *steps, int batch)
{
    int64_t done = 0;
    if (batch >= 4 * recorded_steps && !steps->recording)
        KITH_TRY(cuda_record(steps->context, launch_recorded_steps, steps, &steps->recording));
    if (steps->recording)
        KITH_TRY(cuda_replay(steps->context, steps->recording, batch / recorded_steps, &done));
    for (int step = (int)done * recorded_steps; step < batch; step++)
        KITH_TRY(launch_step(steps->context, *steps->blocks));
    return KITH_OK;
}

/* Steps until the leg ends, or this call has taken long enough. */
static kith_status take_steps(struct steps *steps, struct blocks_control *control)
{
    kith_context *context = steps->context;
    const double start = kith_clock();
    for (int batch = first_batch;;) {
        const double begin = kith_clock();
        KITH_TRY(launch_batch(steps, batch));
        KITH_TRY(cuda_copy_out(context, control, steps->blocks->control, sizeof *control));
        if (control->has_ended || control->stuck != ~0ULL || kith_clock() - start > seconds_of_call)
            return KITH_OK;
        if (kith_clock() - begin < seconds_of_batch && batch < most_batch)
            batch *= 2;
    }
}

static double step_of_bits(unsigned long long bits)
{
    double step;
    memcpy(&step, &bits, sizeof step);
    return isinf(step) ? 0 : step;
}

static unsigned long long bits_of_step(double step)
{
    unsigned long long bits;
    memcpy(&bits, &step, sizeof bits);
    return bits;
}

kith_status hermite_block_cuda(kith_context *context, const struct radau_leg *leg,
                               struct blocks_problem *problem)
{
    struct blocks_device blocks = device_of(context, problem);
    struct blocks_control control = {};
    control.until = leg->until;
    control.pause = leg->pause;
    control.most_steps = leg->steps;
    control.time = problem->time;
    control.previous_time = problem->previous_time;
    control.least = bits_of_step(problem->least_step > 0 ? problem->least_step : (double)INFINITY);
    control.most = bits_of_step(problem->most_step);
    control.stuck = ~0ULL;
    KITH_TRY(take_scratch(context, &blocks));
    KITH_TRY(cuda_check(cudaMemcpyAsync(blocks.control, &control, sizeof control,
                                        cudaMemcpyHostToDevice, cuda_stream(context)),
                        "copying the leg of hermite-block"));
    const unsigned bodies = (unsigned)((blocks.bodies + block_threads - 1) / block_threads);
    begin_kernel<<<bodies, block_threads, 0, cuda_stream(context)>>>(blocks);
    KITH_TRY(cuda_check_launch("starting the kernel of the first steps"));
    struct steps steps = {context, &blocks, nullptr};
    const kith_status status = take_steps(&steps, &control);
    cuda_forget(context, steps.recording);
    KITH_TRY(status);
    place_kernel<<<bodies, block_threads, 0, cuda_stream(context)>>>(blocks);
    KITH_TRY(cuda_check_launch("starting the kernel that places bodies"));
    problem->time = control.time;
    problem->previous_time = control.previous_time;
    problem->steps = control.steps;
    problem->body_steps = control.body_steps;
    problem->least_step = step_of_bits(control.least);
    problem->most_step = step_of_bits(control.most);
    problem->stuck = control.stuck == ~0ULL ? -1 : (int64_t)control.stuck;
    return KITH_OK;
}
