/* The error of a solution on a GPU, from a few targets. */

#include "tree/estimate.h"

#include "device/cuda_state.h"
#include "device/overlap.cuh"
#include "tree/near_cuda.cuh"
#include "tree/near_law_cuda.h"
#include "tree/near_tiles_cuda.cuh"
#include "tree/solve_cuda.h"

enum {
    threads = near_threads,
    samples_of_thread = tree_samples_of_block,
    groups_of_inverse = tree_samples_of_inverse / samples_of_thread
};
static_assert((int)tree_samples % (int)samples_of_thread == 0, "all blocks have samples");
static_assert((int)tree_samples_of_inverse % (int)samples_of_thread == 0,
              "all blocks have samples");
static_assert((int)tree_samples <= (int)threads, "a thread compares each sample");
static_assert((int)tree_samples_of_inverse >= (int)tree_strata, "each stratum has a sample");

enum { place_threads = 512 };

/* Blocks of a group, so that a thread sums few sources. */
enum { most_parts = 128, sources_of_thread = 32 };

/* What the samples are: a target, and how many it stands for. */
struct sample_places {
    int32_t place[tree_samples];
    double part[tree_samples];
};

template <typename real> struct sample_task {
    int64_t sources, targets, samples;
    real softening2;
    const real4_of<real> *source, *target, *results;
    const struct sample_places *at;
    struct tree_sample_sum *sums; /* of a part all samples */
    int32_t parts;
    double *error;
};

/* How many targets of the stratum a cell has, if it is a leaf. */
static __device__ inline int32_t count_in(const struct octree_cell &cell, int32_t stratum)
{
    return cell.children == 0 && cell.level + 1 == stratum ? cell.count : 0;
}

static __device__ inline void make_sampling(const struct octree_cell *cell, int32_t cells,
                                            int32_t samples, struct tree_sampling *sampling)
{
    __shared__ unsigned count[tree_strata];
    for (int k = (int)threadIdx.x; k < tree_strata; k += place_threads)
        count[k] = 0;
    __syncthreads();
    for (int32_t k = (int32_t)threadIdx.x; k < cells; k += place_threads)
        if (cell[k].children == 0)
            atomicAdd(&count[cell[k].level + 1], (unsigned)cell[k].count);
    __syncthreads();
    if (threadIdx.x == 0) {
        unsigned long long targets[tree_strata];
        for (int k = 0; k < tree_strata; k++)
            targets[k] = count[k];
        tree_make_sampling(targets, samples, sampling);
    }
    __syncthreads();
}

/* The target of a sample, of which there is a block each: of those of its stratum at equal steps in
 * the order of the cells, of which each thread has a range. */
static __global__ void __launch_bounds__(place_threads)
    place_samples(const struct octree_cell *cell, int32_t cells, struct sample_places *places)
{
    __shared__ struct tree_sampling sampling;
    __shared__ int64_t of_thread[place_threads];
    const int32_t sample = (int32_t)blockIdx.x;
    make_sampling(cell, cells, (int32_t)gridDim.x, &sampling);
    if (sample >= sampling.samples)
        return;
    const int32_t stratum = tree_stratum_of(&sampling, sample);
    const int64_t wanted = tree_sample(sample - sampling.first_of[stratum],
                                       sampling.samples_of[stratum], sampling.targets_of[stratum]);
    const int32_t each = (cells + place_threads - 1) / place_threads;
    const int32_t first = (int32_t)threadIdx.x * each;
    const int32_t end = first + each < cells ? first + each : cells;
    int64_t own = 0, before = 0;
    for (int32_t k = first; k < end; k++)
        own += count_in(cell[k], stratum);
    of_thread[threadIdx.x] = own;
    __syncthreads();
    for (int t = 0; t < (int)threadIdx.x; t++)
        before += of_thread[t];
    if (wanted < before || wanted >= before + own)
        return;
    int32_t k = first;
    for (; wanted >= before + count_in(cell[k], stratum); k++)
        before += count_in(cell[k], stratum);
    places->place[sample] = cell[k].first + (int32_t)(wanted - before);
    places->part[sample] = tree_part(&sampling, sample);
}

/* A part of the sources, on four samples. */
template <enum expansion_law law, typename real>
static __global__ void __launch_bounds__(threads) sum_samples(const struct sample_task<real> task)
{
    real4_of<real> at[samples_of_thread];
    real sum[samples_of_thread][4];
    for (int k = 0; k < samples_of_thread; k++) {
        const int64_t sample = samples_of_thread * (int64_t)blockIdx.y + k;
        const int64_t there = sample < task.samples ? sample : 0;
        at[k] = task.target[task.at->place[there]];
        for (int c = 0; c < 4; c++)
            sum[k][c] = 0;
    }
    for (int64_t j = (int64_t)blockIdx.x * threads + threadIdx.x; j < task.sources;
         j += (int64_t)gridDim.x * threads) {
        const real4_of<real> source = task.source[j];
#pragma unroll
        for (int k = 0; k < samples_of_thread; k++)
            add_pair<law, true>(at[k], source, source.w, task.softening2, sum[k]);
    }
    for (int k = 0; k < samples_of_thread; k++) {
        const int32_t sample = samples_of_thread * (int32_t)blockIdx.y + k;
        struct tree_sample_sum of_block;
        for (int c = 0; c < 3; c++)
            of_block.gradient[c] = sum_of_block((double)sum[k][c]);
        of_block.magnitude = sum_of_block((double)sum[k][3]);
        if (threadIdx.x == 0)
            task.sums[(int64_t)blockIdx.x * tree_samples + sample] = of_block;
    }
}

/* A thread a sample. */
template <typename real>
static __global__ void __launch_bounds__(threads) compare(const struct sample_task<real> task)
{
    const int k = (int)threadIdx.x;
    double error2 = 0;
    wait_for_kernel_before();
    if (k < task.samples) {
        const real4_of<real> result = task.results[task.at->place[k]];
        const double found[3] = {(double)result.x, (double)result.y, (double)result.z};
        double exact[3] = {0, 0, 0}, magnitude = 0;
#pragma unroll 8
        for (int32_t part = 0; part < task.parts; part++) {
            const struct tree_sample_sum *sum = &task.sums[(int64_t)part * tree_samples + k];
            for (int c = 0; c < 3; c++)
                exact[c] += sum->gradient[c];
            magnitude += sum->magnitude;
        }
        error2 =
            task.at->part[k] * tree_error2(sizeof(real) == sizeof(double) ? KITH_F64 : KITH_F32,
                                           found, exact, 0.1 * magnitude);
    }
    error2 = sum_of_block(error2);
    if (k == 0)
        *task.error = tree_estimate(error2, task.targets);
}

template <typename real>
static kith_status sum_samples_by_law(kith_context *context, const struct tree_problem *problem,
                                      const struct sample_task<real> &task)
{
    struct tree_samples_law_cuda of_law = {};
    of_law.softening2 = problem->softening2;
    of_law.sources = task.sources;
    of_law.samples = task.samples;
    of_law.target = task.target;
    of_law.source = task.source;
    of_law.place = task.at->place;
    of_law.sums = task.sums->gradient;
    return tree_sum_samples_law_cuda(context, problem->pair_law, problem->dtype, &of_law,
                                     task.parts);
}

/* Memory of the state's samples. */
struct sample_memory {
    double error;
    struct sample_places at;
    alignas(32) struct tree_sample_sum sums[]; /* of a part all samples; points may follow */
};

template <typename real>
static struct sample_task<real> task_of(const struct tree_problem *problem,
                                        const struct tree_state_cuda *state) {
    const struct octree_cuda *targets = state->target_tree, *sources = &state->sources;
    struct sample_memory *memory = (struct sample_memory *)state->samples.memory.memory;
    struct sample_task<real> task = {
    };
    task.sources = sources->count;
    task.targets = targets->count;
    const int64_t samples = tree_samples_for(problem->law);
    task.samples = targets->count < samples ? targets->count : samples;
    task.softening2 = (real)problem->softening2;
    task.source = (const real4_of<real> *)sources->point;
    task.target = (const real4_of<real> *)targets->point;
    task.results = (const real4_of<real> *)state->results.memory;
    task.at = &memory->at;
    task.error = &memory->error;
    task.sums = memory->sums;
    task.parts = state->samples.parts;
    return task;
}

static int32_t
parts_for(const struct tree_state_cuda *state)
{
    const int64_t needed = state->sources.count / (threads * sources_of_thread) + 1;
    return (int32_t)(needed < most_parts ? needed : (int64_t)most_parts);
}

kith_status tree_reserve_samples_cuda(kith_context *context, struct tree_state_cuda *state)
{
    const int64_t of_part = tree_samples * (int64_t)sizeof(struct tree_sample_sum);
    const int64_t of_points = tree_samples * (int64_t)sizeof(real4_of<double>);
    return tree_reserve_cuda(
        context, (int64_t)sizeof(struct sample_memory) + parts_for(state) * of_part + of_points,
        "samples of a tree", &state->samples.memory);
}

template <typename real>
static kith_status launch_sums(cudaStream_t stream, const struct tree_problem *problem,
                               const struct sample_task<real> &task)
{
    const dim3 grid((unsigned)task.parts, groups_of_inverse);
    if (problem->law == expansion_inverse)
        sum_samples<expansion_inverse><<<grid, threads, 0, stream>>>(task);
    else
        sum_samples<expansion_logarithm><<<grid, threads, 0, stream>>>(task);
    return cuda_check_launch("estimating the error of a tree");
}

template <typename real>
static kith_status start_sums(kith_context *context, cudaStream_t stream,
                              const struct tree_problem *problem, struct tree_state_cuda *state)
{
    state->samples.parts = parts_for(state);
    const struct sample_task<real> task = task_of<real>(problem, state);
    const struct octree_cuda *targets = state->target_tree;
    place_samples<<<(unsigned)tree_samples_for(problem->law), place_threads, 0, stream>>>(
        targets->cell, targets->cell_count,
        &((struct sample_memory *)state->samples.memory.memory)->at);
    KITH_TRY(cuda_check_launch("estimating the error of a tree"));
    return problem->law == expansion_series ? sum_samples_by_law(context, problem, task)
                                            : launch_sums(stream, problem, task);
}

static kith_status start_sums_of(kith_context *context, cudaStream_t stream,
                                 const struct tree_problem *problem, struct tree_state_cuda *state)
{
    return problem->dtype == KITH_F64 ? start_sums<double>(context, stream, problem, state)
                                      : start_sums<float>(context, stream, problem, state);
}

kith_status tree_sum_samples_cuda(kith_context *context, cudaStream_t stream,
                                  const struct tree_problem *problem, struct tree_state_cuda *state)
{
    return problem->law == expansion_series ? KITH_OK
                                            : start_sums_of(context, stream, problem, state);
}

kith_status tree_estimate_cuda(kith_context *context, const struct tree_problem *problem,
                               struct tree_state_cuda *state)
{
    const cudaStream_t stream = cuda_stream(context);
    if (problem->target_count == 0 || problem->source_count == 0)
        return KITH_OK;
    if (state->samples.parts == 0) {
        KITH_TRY(tree_reserve_samples_cuda(context, state));
        KITH_TRY(start_sums_of(context, stream, problem, state));
    }
    const char what[] = "estimating the error of a tree";
    if (problem->dtype == KITH_F64)
        KITH_TRY(launch_overlapped(context, what, dim3(1), threads, compare<double>,
                                   task_of<double>(problem, state)));
    else
        KITH_TRY(launch_overlapped(context, what, dim3(1), threads, compare<float>,
                                   task_of<float>(problem, state)));
    return cuda_copy_out(context, &state->report.error_estimated,
                         &((struct sample_memory *)state->samples.memory.memory)->error,
                         sizeof(double));
}

/* The points follow the sums of the parts, which are added on the host. */
template <typename real>
static kith_status sum_samples_at(kith_context *context, const struct tree_problem *problem,
                                  struct tree_state_cuda *state, int64_t samples,
                                  const void *points, struct tree_sample_sum *sums)
{
    struct sample_task<real> task = task_of<real>(problem, state);
    task.parts = parts_for(state);
    real4_of<real> *there = (real4_of<real> *)(task.sums + (int64_t)task.parts * tree_samples);
    struct sample_places places = {};
    for (int32_t k = 0; k < (int32_t)samples; k++)
        places.place[k] = k;
    task.target = there;
    task.targets = task.samples = samples;
    KITH_TRY(cuda_copy_in(context, (void *)task.at, &places, sizeof places));
    KITH_TRY(cuda_copy_in(context, there, points, samples * (int64_t)sizeof *there));
    KITH_TRY(launch_sums(cuda_stream(context), problem, task));
    for (int32_t part = 0; part < task.parts; part++) {
        struct tree_sample_sum of_part[tree_samples];
        KITH_TRY(cuda_copy_out(context, of_part, task.sums + (int64_t)part * tree_samples,
                               sizeof of_part));
        for (int64_t k = 0; k < samples; k++) {
            for (int c = 0; c < 3; c++)
                sums[k].gradient[c] += of_part[k].gradient[c];
            sums[k].magnitude += of_part[k].magnitude;
        }
    }
    return KITH_OK;
}

kith_status tree_sum_samples_at_cuda(kith_context *context, const struct tree_problem *problem,
                                     struct tree_state_cuda *state, int64_t samples,
                                     const void *points, struct tree_sample_sum *sums)
{
    KITH_TRY(tree_reserve_samples_cuda(context, state));
    return problem->dtype == KITH_F64
               ? sum_samples_at<double>(context, problem, state, samples, points, sums)
               : sum_samples_at<float>(context, problem, state, samples, points, sums);
}
