/* Sums on a GPU over the pairs of a list that the caller keeps. */

/* The pairs of a target's row; −1 if a list is not one of these targets and sources. */
LAW_INLINE int source_of(const struct sums_cuda_problem &problem, long long pair)
{
    const struct sums_cuda_list &list = problem.list;
    const long long j =
        list.is_narrow ? ((const int *)list.j)[pair] : ((const long long *)list.j)[pair];
    if (j >= 0 && j < problem.sources.count)
        return (int)j;
    atomicMax(list.bad_pair, ~(unsigned long long)pair);
    return -1;
}

LAW_INLINE void take_translation(const struct sums_cuda_problem &problem, long long pair, REAL t[3])
{
    int32_t image[3] = {0, 0, 0};
    for (int c = 0; c < SUMS_DIMENSIONS; c++)
        image[c] = problem.list.shifts[pair * SUMS_DIMENSIONS + c];
    for (int c = 0; c < 3; c++)
        t[c] = (REAL)pairs_translation(&problem.lattice, image, c);
}

LAW_INLINE int add_listed(const struct sums_cuda_problem &problem, const struct sums_constants &law,
                          const struct target &target, int j, const REAL t[3],
                          struct sums_pair *pair, struct reduced<REAL> *batch)
{
    load_pair(problem, target, j, SUMS_PERIODIC, t, pair);
    if (!(pair->s2 < (REAL)problem.limit))
        return 0;
    add_pair(law, *pair, batch);
    return 1;
}

LAW_INLINE long long add_row(const struct sums_cuda_problem &problem,
                             const struct sums_constants &law, const struct target &target,
                             struct sums_pair *pair, struct reduced<double> *total)
{
    const struct sums_cuda_list &list = problem.list;
    const long long begin = list.offsets[target.slot], end = list.offsets[target.slot + 1];
    long long pairs = 0;
    REAL t[3] = {};
    if (begin < 0 || end < begin || end > list.count) {
        atomicMax(list.bad_row, ~(unsigned long long)target.slot);
        return 0;
    }
    for (long long first = begin; first < end; first += sums_cuda_room) {
        struct reduced<REAL> batch = nothing<REAL>();
        for (long long p = first; p < end && p < first + sums_cuda_room; p++) {
            const int j = source_of(problem, p);
            if (SUMS_PERIODIC && list.shifts)
                take_translation(problem, p, t);
            if (j >= 0)
                pairs += add_listed(problem, law, target, j, t, pair, &batch);
        }
        join_all(total, batch);
    }
    return pairs;
}

extern "C" __global__ void __launch_bounds__(threads)
    sums_listed(const __grid_constant__ struct sums_cuda_problem problem)
{
    const struct sums_constants law = constants_of(problem.numbers);
    const REAL home[3] = {};
    struct reduced<double> total = nothing<double>();
    struct sums_pair pair;
    long long pairs = 0;
    const struct target target = begin_target(problem.targets, &pair);
    if (target.is_there) {
        pairs = add_row(problem, law, target, &pair, &total);
        if (problem.list.includes_self) {
            struct reduced<REAL> batch = nothing<REAL>();
            pairs += add_listed(problem, law, target, target.slot, home, &pair, &batch);
            join_all(&total, batch);
        }
        store(problem, target.slot, total);
    }
    count_pairs(problem, pairs);
}
