/* Steps of ias15 of an ensemble on a GPU: a body in each thread, or two where a system has more
 * than 32, and a system in a part of a warp, with steps of its own. The steps are those of the
 * CPU's kernels (radau_step.h).
 *
 * Compiled without contraction: a product that is part of an exact sum must be rounded once. */

#include "core/floors.h"
#include "core/status.h"
#include "device/cuda_state.h"
#include "simulation/radau_cuda.h"
#include "simulation/radau_step.h"

enum { block_threads = 128, warp = 32, most_slots = 2 };

/* A problem as the kernel sees it. */
struct radau_device {
    const double *mass, *half_softening2; /* NULL: softening2 / 2 of all */
    double softening2, g;
    double *array[RADAU_KEPT][3];
    double *next_step, *last_step;
    int64_t systems, stride;
    int32_t dimensions, bodies;
    double start, until, dt;
    struct radau_system *system;
};

/* What a thread has of its system: bodies thread, thread + threads, ….  */
struct radau_thread {
    struct attempt at;
    double *array[RADAU_ARRAYS];
    double mass[most_slots], half_softening2[most_slots], g[most_slots];
    int64_t evaluations;
    double memory[RADAU_ARRAYS * 3 * most_slots];
};

SIMD_INLINE void add_source(const struct radau_thread *thread, int32_t slot, const double *x,
                            const double *low, double mass, double half_softening2,
                            const double *at, const double *lost, double *sum)
{
    const int32_t vectors = (int32_t)thread->at.vectors;
    double d[3], s2 = (thread->half_softening2[slot] + S2_FLOOR_DOUBLE) + half_softening2;
    for (int32_t c = 0; c < thread->at.dimensions; c++) {
        d[c] = (x[c] - at[c * vectors + slot]) + (low[c] - lost[c * vectors + slot]);
        s2 = fma(d[c], d[c], s2);
    }
    const double factor = mass * simd_rsqrt3_scaled(s2);
    for (int32_t c = 0; c < thread->at.dimensions; c++)
        sum[c] = fma(factor, d[c], sum[c]);
}

/* All bodies are sources: one without mass adds 0, and so does a body to itself. */
SIMD_OUTLINE bool evaluate_threads(void *argument, int32_t position, int32_t lost,
                                   int32_t acceleration)
{
    struct radau_thread *thread = (struct radau_thread *)argument;
    const struct attempt *at = &thread->at;
    const int32_t vectors = (int32_t)at->vectors;
    const double *x = thread->array[position], *low = thread->array[lost];
    double sum[most_slots][3] = {};
    for (int32_t from = 0; from < vectors; from++)
        for (int32_t lane = 0; lane < at->threads; lane++) {
            double source[3] = {}, source_low[3] = {};
            for (int32_t c = 0; c < at->dimensions; c++) {
                source[c] = radau_of_thread(at, x[c * vectors + from], lane);
                source_low[c] = radau_of_thread(at, low[c * vectors + from], lane);
            }
            const double mass = radau_of_thread(at, thread->mass[from], lane);
            const double softening = radau_of_thread(at, thread->half_softening2[from], lane);
            for (int32_t slot = 0; slot < vectors; slot++)
                add_source(thread, slot, source, source_low, mass, softening, x, low, sum[slot]);
        }
    for (int32_t slot = 0; slot < vectors; slot++)
        for (int32_t c = 0; c < at->dimensions; c++)
            thread->array[acceleration][c * vectors + slot] = thread->g[slot] * sum[slot][c];
    thread->evaluations++;
    return true;
}

/* Body of a slot, and its element in the arrays. */
SIMD_INLINE int32_t body_of(const struct radau_thread &thread, int32_t slot)
{
    return slot * thread.at.threads + (int32_t)(threadIdx.x % (unsigned)thread.at.threads);
}

SIMD_INLINE bool has_body(const struct radau_device &problem, const struct radau_thread &thread,
                          int64_t s, int32_t slot)
{
    return s < problem.systems && body_of(thread, slot) < problem.bodies;
}

SIMD_INLINE void load_thread(const struct radau_device &problem, int64_t s,
                             struct radau_thread &thread)
{
    const int32_t vectors = (int32_t)thread.at.vectors;
    thread.evaluations = 0;
    for (int32_t array = 0; array < RADAU_ARRAYS; array++)
        thread.array[array] = thread.memory + array * 3 * vectors;
    for (int32_t slot = 0; slot < vectors; slot++) {
        const bool has = has_body(problem, thread, s, slot);
        const int64_t at = body_of(thread, slot) * problem.stride + s;
        thread.mass[slot] = has ? problem.mass[at] : 0;
        thread.g[slot] = has ? problem.g : 0;
        thread.half_softening2[slot] = !has                      ? 0
                                       : problem.half_softening2 ? problem.half_softening2[at]
                                                                 : problem.softening2 / 2;
        for (int32_t array = 0; array < RADAU_ARRAYS; array++)
            for (int32_t c = 0; c < 3; c++)
                thread.array[array][c * vectors + slot] =
                    has && array < RADAU_KEPT && c < problem.dimensions
                        ? problem.array[array][c][at]
                        : 0;
    }
}

SIMD_INLINE void store_thread(const struct radau_device &problem, int64_t s,
                              const struct radau_thread &thread)
{
    const int32_t vectors = (int32_t)thread.at.vectors;
    for (int32_t slot = 0; slot < vectors; slot++)
        if (has_body(problem, thread, s, slot))
            for (int32_t array = 0; array < RADAU_KEPT; array++)
                for (int32_t c = 0; c < problem.dimensions; c++)
                    problem.array[array][c][body_of(thread, slot) * problem.stride + s] =
                        thread.array[array][c * vectors + slot];
}

/* The threads of a system after the last have no steps to take. */
static __global__ void __launch_bounds__(block_threads)
    systems_kernel(const __grid_constant__ struct radau_device problem, int32_t threads,
                   int32_t vectors)
{
    const int64_t s = ((int64_t)blockIdx.x * block_threads + threadIdx.x) / threads;
    const bool is_there = s < problem.systems;
    struct radau_thread thread;
    thread.at.array = thread.array;
    thread.at.vectors = vectors;
    thread.at.dimensions = problem.dimensions;
    thread.at.in_all = (int64_t)problem.dimensions * vectors;
    thread.at.threads = threads;
    load_thread(problem, s, thread);

    struct radau_problem counted = {};
    struct radau_clock clock = {};
    const struct radau_leg leg = {INT64_MAX, problem.until, (double)INFINITY};
    const double next = is_there ? problem.next_step[s] : 0;
    clock.time = is_there ? problem.start : problem.until;
    clock.next_step = next > 0 ? next : problem.dt;
    clock.last_step = is_there ? problem.last_step[s] : 0;
    const enum radau_end end =
        take_leg(&thread.at, &leg, &clock, &counted, evaluate_threads, &thread);
    if (is_there && threadIdx.x % (unsigned)threads == 0) {
        problem.next_step[s] = clock.next_step;
        problem.last_step[s] = clock.last_step;
        problem.system[s].clock = clock;
        problem.system[s].end = end;
        problem.system[s].steps = counted.steps;
        problem.system[s].evaluations = thread.evaluations;
    }
    store_thread(problem, s, thread);
}

static struct radau_device device_of(const struct radau_systems *problem)
{
    const struct forces_problem *forces = problem->forces;
    struct radau_device device = {};
    device.mass = (const double *)forces->source_mass;
    device.half_softening2 = (const double *)forces->source_half_softening2;
    device.softening2 = forces->softening2;
    device.g = forces->gravitational_constant;
    for (int32_t array = 0; array < RADAU_KEPT; array++)
        for (int32_t c = 0; c < forces->dimensions; c++)
            device.array[array][c] = problem->array[array][c];
    device.next_step = problem->next_step;
    device.last_step = problem->last_step;
    device.systems = forces->system_count;
    device.stride = forces->system_stride;
    device.dimensions = forces->dimensions;
    device.bodies = (int32_t)forces->target_count;
    device.start = problem->start;
    device.until = problem->until;
    device.dt = problem->dt;
    return device;
}

kith_status radau_cuda(kith_context *context, const struct radau_systems *problem,
                       struct radau_system *system)
{
    struct radau_device device = device_of(problem);
    const size_t bytes = (size_t)device.systems * sizeof *system;
    void *memory = nullptr;
    KITH_TRY(cuda_scratch(context, (int64_t)bytes, &memory));
    device.system = (struct radau_system *)memory;
    int32_t threads = 2;
    while (threads < device.bodies && threads < warp)
        threads *= 2;
    const int64_t in_block = block_threads / threads;
    const unsigned blocks = (unsigned)((device.systems + in_block - 1) / in_block);
    systems_kernel<<<blocks, block_threads, 0, cuda_stream(context)>>>(
        device, threads, device.bodies > warp ? 2 : 1);
    KITH_TRY(cuda_check_launch("starting the kernel of the steps of ias15"));
    return cuda_copy_out(context, system, memory, (int64_t)bytes);
}
