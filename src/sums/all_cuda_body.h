/* Sums over all pairs on a GPU: the sources tile by tile through shared memory. */

/* The sources of a tile, but for one of them if so. */
template <bool leaves_out>
LAW_INLINE void add_tile(const struct sums_constants &law, const struct target &target,
                         const REAL *tile, int count, int left_out, struct sums_pair *pair,
                         struct reduced<double> *total)
{
    const REAL unmoved[3] = {};
    struct reduced<REAL> batch = nothing<REAL>();
#pragma unroll 4
    for (int k = 0; k < count; k++) {
        REAL record[fields_j];
#pragma unroll
        for (int field = 0; field < fields_j; field += 4)
            read4(tile + k * fields_j + field, record + field);
        set_pair(target, record, false, unmoved, pair);
        if (!leaves_out || k != left_out)
            add_pair(law, *pair, &batch);
    }
    join_all(total, batch);
}

/* Each of a part of the sources, tile by tile. A block's targets are one tile of the sources, if
 * they are among them. */
extern "C" __global__ void __launch_bounds__(threads)
    sums_all(const __grid_constant__ struct sums_cuda_problem problem)
{
    __shared__ alignas(16) REAL tile[threads * fields_j];
    const struct sums_constants law = constants_of(problem.numbers);
    const long long begin = blockIdx.y * problem.part_sources, m = problem.sources.count;
    const long long end = begin + problem.part_sources < m ? begin + problem.part_sources : m;
    struct reduced<double> total = nothing<double>();
    struct sums_pair pair;
    const struct target target = begin_target(problem.targets, &pair);
    for (long long first = begin; first < end; first += threads) {
        const int count = end - first < threads ? (int)(end - first) : threads;
        __syncthreads();
        for (int k = (int)threadIdx.x; k < count * fields_j; k += threads)
            tile[k] = record_of(problem, (int)first)[k];
        __syncthreads();
        if (problem.leaves_out_self && first == (long long)blockIdx.x * threads)
            add_tile<true>(law, target, tile, count, (int)threadIdx.x, &pair, &total);
        else
            add_tile<false>(law, target, tile, count, -1, &pair, &total);
    }
    if (target.is_there && problem.parts == 1)
        store(problem, target.slot, total);
    for (int k = 0; k < SUMS_OUTPUTS && target.is_there && problem.parts > 1; k++) {
        const long long at =
            ((long long)blockIdx.y * problem.targets.count + target.slot) * SUMS_OUTPUTS + k;
        problem.value[at] = total.value[k];
        problem.rest[at] = total.rest[k];
    }
}

/* Joins the results of all parts, in their order. */
extern "C" __global__ void __launch_bounds__(threads)
    sums_join(const __grid_constant__ struct sums_cuda_problem problem)
{
    const int slot = (int)(blockIdx.x * threads + threadIdx.x);
    struct reduced<double> total = nothing<double>();
    if (slot >= problem.targets.count)
        return;
    for (int part = 0; part < problem.parts; part++)
#pragma unroll
        for (int k = 0; k < SUMS_OUTPUTS; k++) {
            const long long at =
                ((long long)part * problem.targets.count + slot) * SUMS_OUTPUTS + k;
            join<double>(&total, k, problem.value[at], problem.rest[at]);
        }
    store(problem, slot, total);
}
