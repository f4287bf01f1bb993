/* Sums within a cutoff on a GPU. A thread collects the sources that are pairs of its target, and a
 * warp then evaluates what its threads have: of some seven candidates one is a pair, and formulas
 * would be computed for all of them otherwise. */

/* Where a target is in its search, and the pairs that it has found, at the same translation:
 * sources list[0], list[threads], … before list[end]. */
struct search {
    struct cells_walk walk;
    struct cells_run run;
    bool has_run, moved;
    int at;
    int32_t image[3];
    REAL t[3]; /* its translation */
    int first, end;
    int *list; /* of the block */
};

/* The next candidates: source search->at on. */
LAW_INLINE void next_run(struct search *search)
{
    search->has_run = cells_walk_next(&search->walk, &search->run);
    search->at = search->run.begin;
}

/* Whether the run's image is another than that of what was found. */
LAW_INLINE bool image_changes(const struct search &search)
{
    bool changes = false;
    for (int k = 0; k < 3 && SUMS_PERIODIC; k++)
        changes |= search.image[k] != search.run.image[k];
    return changes && search.has_run;
}

LAW_INLINE void take_image(const struct sums_cuda_problem &problem, struct search *search)
{
    search->moved = false;
    for (int k = 0; k < 3 && SUMS_PERIODIC; k++) {
        search->image[k] = search->run.image[k];
        search->moved |= search->image[k] != 0;
    }
    for (int c = 0; c < 3 && SUMS_PERIODIC; c++)
        search->t[c] = (REAL)pairs_translation(&problem.lattice, search->image, c);
}

LAW_INLINE struct search begin_search(const struct sums_cuda_problem &problem,
                                      const struct cells_grid *grid, const struct target &target,
                                      int *list)
{
    struct search search = {};
    search.list = list;
    search.first = search.end = (int)threadIdx.x;
    if (!target.is_there)
        return search;
    const double x[3] = {(double)target.at[0], (double)target.at[1], (double)target.at[2]};
    int64_t cell[3];
    for (int k = 0; k < 3; k++)
        cell[k] = cells_coordinate(grid, &problem.lattice, x, k);
    cells_walk_begin(&search.walk, grid, problem.begin, cell);
    next_run(&search);
    if (search.has_run)
        take_image(problem, &search);
    return search;
}

/* Tests the candidates from group on, which begins at a multiple of their number, and keeps those
 * that are pairs: all, or those from search->at to end. */
template <bool is_whole>
LAW_INLINE void look_at(const struct sums_cuda_problem &problem, const struct target &target,
                        struct search *search, int group, int end, const bool moved)
{
    REAL x[SUMS_DIMENSIONS][sums_cuda_group], d[3];
#pragma unroll
    for (int c = 0; c < SUMS_DIMENSIONS; c++)
        load4((const REAL *)problem.positions[c] + group, x[c]);
#pragma unroll
    for (int k = 0; k < sums_cuda_group; k++) {
        REAL source[3] = {};
        for (int c = 0; c < SUMS_DIMENSIONS; c++)
            source[c] = x[c][k];
        const bool is_near = vector_to(target, source, moved, search->t, d) < (REAL)problem.limit;
        search->list[search->end] = group + k;
        if (is_near && (is_whole || (group + k >= search->at && group + k < end)))
            search->end += threads;
    }
    search->at = group + sums_cuda_group;
}

LAW_INLINE bool has_room(const struct search &search)
{
    return search.end < (sums_cuda_room - sums_cuda_group + 1) * threads;
}

/* Tests the candidates of a range, as far as there is room for pairs. */
LAW_INLINE void find(const struct sums_cuda_problem &problem, const struct target &target,
                     struct search *search, const bool moved)
{
    const int end = search->run.end;
    if (has_room(*search)) /* it may begin, and end, within a group */
        look_at<false>(problem, target, search, search->at & ~(sums_cuda_group - 1), end, moved);
    while (search->at + sums_cuda_group <= end && has_room(*search))
        look_at<true>(problem, target, search, search->at, end, moved);
    if (search->at < end && search->at + sums_cuda_group > end && has_room(*search))
        look_at<false>(problem, target, search, search->at, end, moved);
}

/* Loads a pair that was found, column by column: threads side by side find those in fewer lines of
 * the cache than records. */
LAW_INLINE void load_found(const struct sums_cuda_problem &problem, const struct target &target,
                           const struct search &search, int j, struct sums_pair *pair)
{
    REAL record[fields_j] = {};
    for (int c = 0; c < SUMS_DIMENSIONS; c++)
        record[c] = __ldg((const REAL *)problem.positions[c] + j);
    const REAL *column = (const REAL *)problem.sources.records + j;
    for (int c = 0; c < SUMS_COLUMNS_J; c++)
        record[3 + c] = __ldg(column + (long long)c * problem.sources.count);
    set_pair(target, record, SUMS_PERIODIC, search.t, pair);
}

/* Evaluates what was found, and gives how many pairs that were. */
LAW_INLINE int add_found(const struct sums_cuda_problem &problem, const struct sums_constants &law,
                         const struct target &target, struct search *search, struct sums_pair *pair,
                         struct reduced<double> *total)
{
    const int self = problem.leaves_out_self && !search->moved ? target.slot : -1;
    struct reduced<REAL> batch = nothing<REAL>();
    int pairs = (search->end - search->first) / threads;
#pragma unroll 2
    for (int k = search->first; k < search->end; k += threads) {
        const int j = search->list[k];
        load_found(problem, target, *search, j, pair);
        if (j == self)
            pairs--;
        else
            add_pair(law, *pair, &batch);
    }
    search->end = search->first;
    join_all(total, batch);
    return pairs;
}

/* A warp goes on together: what it evaluates, it evaluates at the same time. */
extern "C" __global__ void __launch_bounds__(threads)
    sums_near(const __grid_constant__ struct sums_cuda_problem problem)
{
    __shared__ struct cells_grid grid;
    __shared__ int lists[sums_cuda_room * threads];
    const unsigned all = 0xffffffffu;
    if (threadIdx.x == 0)
        grid = *problem.grid;
    __syncthreads();
    const struct sums_constants law = constants_of(problem.numbers);
    struct reduced<double> total = nothing<double>();
    struct sums_pair pair;
    long long pairs = 0;
    const struct target target = begin_target(problem.targets, &pair);
    struct search search = begin_search(problem, &grid, target, lists);
    while (__any_sync(all, search.has_run)) {
        const bool moves = SUMS_PERIODIC && __any_sync(all, search.moved);
        if (search.has_run && moves)
            find(problem, target, &search, true);
        else if (search.has_run)
            find(problem, target, &search, false);
        if (search.has_run && search.at >= search.run.end)
            next_run(&search);
        const bool changes = image_changes(search);
        if (__any_sync(all, search.end >= (sums_cuda_room - sums_cuda_of_run + 1) * threads ||
                                (changes && search.end > search.first)))
            pairs += add_found(problem, law, target, &search, &pair, &total);
        if (changes)
            take_image(problem, &search);
    }
    pairs += add_found(problem, law, target, &search, &pair, &total);
    if (target.is_there)
        store(problem, target.slot, total);
    count_pairs(problem, pairs);
}
