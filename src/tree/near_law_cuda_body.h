/* Sums over near points by any law on a GPU, for one precision (law/for_each_real_cuda.h): a target
 * a lane, as in tree/near_tiles_cuda.cuh. */

struct alignas(16) NAME(four) {
    REAL x, y, z, w;
};

LAW_INLINE struct NAME(law_pair)
    NAME(make_near_pair)(const struct NAME(four) & p, const struct NAME(four) & q, REAL softening2)
{
    struct NAME(law_pair) pair;
    pair.d[0] = q.x - p.x;
    pair.d[1] = q.y - p.y;
    pair.d[2] = q.z - p.z;
    pair.s2 = softening2;
    for (int c = 0; c < 3; c++)
        pair.s2 = law_fma(pair.d[c], pair.d[c], pair.s2);
    pair.w_i = pair.w_j = pair.q_i = pair.q_j = (REAL)1;
    return pair;
}

/* sum −= w f d and w u. */
LAW_INLINE void NAME(add_near_pair)(const struct law_form form,
                                    const struct NAME(law_constants) * law,
                                    const struct NAME(four) & p, const struct NAME(four) & q,
                                    REAL weight, REAL softening2, REAL sum[4])
{
    const struct NAME(law_pair) pair = NAME(make_near_pair)(p, q, softening2);
    const REAL value = NAME(law_value)(form, law, &pair);
    const REAL factor = NAME(law_factor)(form, law, &pair) * weight;
    for (int c = 0; c < 3; c++)
        sum[c] = law_fma(-factor, pair.d[c], sum[c]);
    sum[3] = law_fma(weight, value, sum[3]);
}

/* Every stride-th source of a tile from one on; `itself` does not count. */
LAW_INLINE void NAME(sum_tile)(const struct law_form form, const struct NAME(law_constants) * law,
                               const struct NAME(four) & p, const struct NAME(four) * tile,
                               int32_t begin, int32_t count, int32_t stride, int32_t itself,
                               REAL softening2, REAL sum[4])
{
#pragma unroll 4
    for (int32_t j = begin; j < count; j += stride)
        NAME(add_near_pair)
    (form, law, p, tile[j], j == itself ? (REAL)0 : tile[j].w, softening2, sum);
}

/* All sources of a part, on the target of each lane; those of the next tile are in flight while
 * this one's are summed. Every tile has sums of its own, so that long ones lose no digits. */
LAW_INLINE void NAME(sum_near)(const struct law_form form, const struct tree_near_law_cuda *task,
                               struct tiles tiles, const struct seats &seats, int lane,
                               struct NAME(four) * tile, REAL total[4])
{
    const struct NAME(law_constants) law = NAME(law_load)(&task->numbers);
    const struct NAME(four) *const source = (const struct NAME(four) *)task->source;
    const struct NAME(four) p = ((const struct NAME(four) *)task->target)[seats.target];
    const REAL softening2 = (REAL)task->softening2;
    int32_t first = 0, next = 0;
    int32_t count = next_tile(&tiles, task->sources, lane, &first);
    struct NAME(four) held = {0, 0, 0, 0};
    if (lane < count)
        held = source[first + lane];
    while (count > 0) {
        __syncwarp(); /* the tile before is read */
        tile[lane] = held;
        __syncwarp();
        const int32_t next_count = next_tile(&tiles, task->sources, lane, &next);
        if (lane < next_count)
            held = source[next + lane];
        const int64_t at = task->self ? seats.target - first : -1;
        const int32_t itself = at >= 0 && at < count ? (int32_t)at : -1;
        REAL sum[4] = {0, 0, 0, 0};
        if (seats.ways == 1 && !__any_sync(0xffffffffu, itself >= 0)) /* the most often */
            NAME(sum_tile)(form, &law, p, tile, 0, count, 1, -1, softening2, sum);
        else
            NAME(sum_tile)
        (form, &law, p, tile, seats.way, count, seats.ways, itself, softening2, sum);
        for (int c = 0; c < 4; c++)
            total[c] += sum[c];
        first = next;
        count = next_count;
    }
}

LAW_INLINE void NAME(meet_near)(const struct law_form form, const struct tree_near_law_cuda *task)
{
    __shared__ struct NAME(four) of_warps[near_warps][32];
    const int64_t index = (int64_t)blockIdx.x * near_warps + threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    if (index >= (int64_t)*task->part_count)
        return;
    const struct tree_part part = task->part[index];
    const struct octree_cell cell = task->targets[part.cell];
    for (int32_t begin = 32 * (int32_t)blockIdx.y; begin < cell.count; begin += 32 * near_chunks) {
        const struct seats seats = take_seats(cell, begin, lane);
        struct tiles tiles;
        REAL total[4] = {0, 0, 0, 0};
        begin_tiles(&tiles, task->near + task->lists[part.cell].near + part.first, part.count);
        NAME(sum_near)(form, task, tiles, seats, lane, of_warps[threadIdx.x / 32], total);
        if (part.slot < 0)
            add_result(seats, total, (struct NAME(four) *)task->results);
        else
            put_result(seats, total, (struct NAME(four) *)task->sums + part.slot - cell.first);
    }
}

/* sum −= w f d, and + |w f d|. */
LAW_INLINE void NAME(add_sample_pair)(const struct law_form form,
                                      const struct NAME(law_constants) * law,
                                      const struct NAME(four) & p, const struct NAME(four) & q,
                                      REAL softening2, REAL sum[4])
{
    const struct NAME(law_pair) pair = NAME(make_near_pair)(p, q, softening2);
    const REAL factor = NAME(law_factor)(form, law, &pair) * q.w;
    REAL r2 = (REAL)0;
    for (int c = 0; c < 3; c++) {
        sum[c] = law_fma(-factor, pair.d[c], sum[c]);
        r2 = law_fma(pair.d[c], pair.d[c], r2);
    }
    sum[3] = law_fma(law_fabs(factor), law_sqrt(r2), sum[3]);
}

LAW_INLINE void NAME(sum_samples)(const struct law_form form,
                                  const struct tree_samples_law_cuda *task)
{
    const struct NAME(law_constants) law = NAME(law_load)(&task->numbers);
    const struct NAME(four) *target = (const struct NAME(four) *)task->target;
    struct NAME(four) at[tree_samples_of_block];
    REAL sum[tree_samples_of_block][4] = {};
    for (int k = 0; k < tree_samples_of_block; k++) {
        const int64_t sample = tree_samples_of_block * (int64_t)blockIdx.y + k;
        at[k] = target[task->place[sample < task->samples ? sample : 0]];
    }
    for (int64_t j = (int64_t)blockIdx.x * near_threads + threadIdx.x; j < task->sources;
         j += (int64_t)gridDim.x * near_threads) {
        const struct NAME(four) q = ((const struct NAME(four) *)task->source)[j];
        for (int k = 0; k < tree_samples_of_block; k++) /* at itself d is 0 */
            NAME(add_sample_pair)(form, &law, at[k], q, (REAL)task->softening2, sum[k]);
    }
    for (int k = 0; k < tree_samples_of_block; k++)
        for (int c = 0; c < 4; c++) {
            const double all = sum_of_block((double)sum[k][c]);
            const int64_t sample = tree_samples_of_block * (int64_t)blockIdx.y + k;
            if (threadIdx.x == 0)
                task->sums[4 * ((int64_t)blockIdx.x * tree_samples + sample) + c] = all;
        }
}

#ifdef LAW_CUSTOM_BODY
extern "C" __global__ void __launch_bounds__(near_threads)
    NAME(tree_near_custom)(const struct tree_near_law_cuda task)
{
    NAME(meet_near)({law_custom, law_unweighted}, &task);
}

extern "C" __global__ void __launch_bounds__(near_threads)
    NAME(tree_samples_custom)(const struct tree_samples_law_cuda task)
{
    NAME(sum_samples)({law_custom, law_unweighted}, &task);
}
#else
template <enum law_kind kind>
static __global__ void __launch_bounds__(near_threads)
    NAME(tree_near)(const struct tree_near_law_cuda task)
{
    NAME(meet_near)({kind, law_unweighted}, &task);
}

template <enum law_kind kind>
static __global__ void __launch_bounds__(near_threads)
    NAME(tree_samples)(const struct tree_samples_law_cuda task)
{
    NAME(sum_samples)({kind, law_unweighted}, &task);
}
#endif
