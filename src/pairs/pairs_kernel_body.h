/* The loops over candidates, for REAL; included by pairs_kernel.c. The arithmetic is that of
 * geometry.h. */

/* What a loop reads, in registers: stores of what it finds must not make it look again. */
struct loop {
    const REAL *x, *y, *z, *tx, *ty, *tz, *radius;
    const int32_t *mark;
    int64_t count;
    VREAL limit, cutoff;
};

static inline struct loop loop_over(const struct pairs_candidates *candidates)
{
    return (struct loop){
        .x = candidates->position[0],
        .y = candidates->position[1],
        .z = candidates->position[2],
        .tx = candidates->translation[0],
        .ty = candidates->translation[1],
        .tz = candidates->translation[2],
        .radius = candidates->radius,
        .mark = candidates->mark,
        .count = candidates->count,
        .limit = simd_all((REAL)candidates->limit),
        .cutoff = simd_all((REAL)candidates->cutoff),
    };
}

/* A target in all lanes. */
struct target {
    VREAL x, y, z, radius;
    OF_REAL(vindex) index;
};

SIMD_INLINE struct target target_at(const struct pairs_points *targets, int64_t position,
                                    struct variant variant)
{
    struct target target = {
        .x = simd_all(((const REAL *)targets->position[0])[position]),
        .y = simd_all(((const REAL *)targets->position[1])[position]),
        .index = targets->index[position] - (OF_REAL(vindex)){0},
    };
    if (variant.dimensions == 3)
        target.z = simd_all(((const REAL *)targets->position[2])[position]);
    if (variant.radii)
        target.radius = simd_all(((const REAL *)targets->radius)[position]);
    return target;
}

SIMD_INLINE OF_REAL(vindex) load_index(const int32_t *from)
{
    OF_REAL(vindex) index;
    memcpy(&index, from, sizeof index);
    return index;
}

/* Which of the candidates from p on are partners. */
SIMD_INLINE uint32_t partners(const struct loop *loop, const struct target *target, int64_t p,
                              struct variant variant)
{
    VREAL dx = simd_load(loop->x + p) - target->x, dy = simd_load(loop->y + p) - target->y;
    if (variant.moved) {
        dx = dx + simd_load(loop->tx + p);
        dy = dy + simd_load(loop->ty + p);
    }
    VREAL r2 = dx * dx + dy * dy;
    if (variant.dimensions == 3) {
        VREAL dz = simd_load(loop->z + p) - target->z;
        if (variant.moved)
            dz = dz + simd_load(loop->tz + p);
        r2 = r2 + dz * dz;
    }
    VREAL limit = loop->limit;
    if (variant.radii) {
        const VREAL reach = (target->radius + simd_load(loop->radius + p)) + loop->cutoff;
        limit = reach * reach;
    }
    const OF_REAL(vindex) mark = load_index(loop->mark + p);
    const uint32_t admitted = variant.half ? OF_REAL(lanes_above)(mark, target->index)
                                           : OF_REAL(lanes_differ)(mark, target->index);
    return OF_REAL(lanes_below)(r2, limit) & admitted;
}

SIMD_INLINE void count_targets(const struct pairs_candidates *candidates,
                               const struct pairs_points *targets, int64_t begin, int64_t end,
                               int64_t *counts, struct variant variant)
{
    const struct loop loop = loop_over(candidates);
    for (int64_t k = begin; k < end; k++) {
        const struct target target = target_at(targets, k, variant);
        int64_t count = 0;
        for (int64_t p = 0; p < loop.count; p += REAL_LANES)
            count += __builtin_popcount(partners(&loop, &target, p, variant));
        counts[targets->index[k]] = count;
    }
}

/* Of the candidates' values — their rows, or if NULL their numbers — those of the partners. */
SIMD_INLINE int64_t find_partners(const struct loop *loop, const struct target *target,
                                  const int32_t *values, int32_t *found, struct variant variant)
{
    int64_t count = 0;
    for (int64_t p = 0; p < loop->count; p += REAL_LANES) {
        const uint32_t mask = partners(loop, target, p, variant);
        const OF_REAL(vindex) value = values ? load_index(values + p) : (int32_t)p + lane_numbers;
        OF_REAL(lanes_store_chosen)(found + count, value, mask);
        count += __builtin_popcount(mask);
    }
    return count;
}

SIMD_INLINE void write_targets(const struct pairs_candidates *candidates,
                               const struct pairs_points *targets, int64_t begin, int64_t end,
                               const struct pairs_columns *columns, struct variant variant)
{
    const struct loop loop = loop_over(candidates);
    const int32_t *index = candidates->index;
    int32_t *row = columns->row;
    for (int64_t k = begin; k < end; k++) {
        prefetch_ahead(columns, targets->index, k);
        const struct target target = target_at(targets, k, variant);
        const int64_t count = find_partners(&loop, &target, index, row, variant);
        if (columns->sorted && count > 1)
            sort_narrow(row, count);
        write_row(columns, targets->index[k], row, count);
    }
    if (columns->streamed)
        end_streaming();
}

static void count(const struct pairs_candidates *candidates, const struct pairs_points *targets,
                  int64_t begin, int64_t end, int64_t *counts)
{
    DISPATCH(candidates, count_targets(candidates, targets, begin, end, counts, variant));
}

static void write(const struct pairs_candidates *candidates, const struct pairs_points *targets,
                  int64_t begin, int64_t end, const struct pairs_columns *columns)
{
    DISPATCH(candidates, write_targets(candidates, targets, begin, end, columns, variant));
}

static int64_t find(const struct pairs_candidates *candidates, const struct pairs_points *targets,
                    int64_t position, int32_t *found)
{
    const struct loop loop = loop_over(candidates);
    int64_t count = 0;
    DISPATCH(candidates, {
        const struct target target = target_at(targets, position, variant);
        count = find_partners(&loop, &target, NULL, found, variant);
    });
    return count;
}

/* Copies whole vectors: what is past the end is overwritten by the next run. */
SIMD_INLINE void copy_reals(REAL *restrict to, const REAL *restrict from, int64_t count)
{
    for (int64_t p = 0; p < count; p += REAL_LANES)
        simd_store(to + p, simd_load(from + p));
}

SIMD_INLINE void repeat(REAL *to, REAL value, int64_t count)
{
    for (int64_t p = 0; p < count; p += REAL_LANES)
        simd_store(to + p, simd_all(value));
}

SIMD_INLINE void gather_run(const struct pairs_points *points, const struct pairs_run *run,
                            int64_t at, const struct pairs_candidates *candidates)
{
    const int64_t begin = run->begin, count = run->end - run->begin;
    for (int32_t c = 0; c < candidates->dimensions; c++) {
        copy_reals((REAL *)candidates->position[c] + at, (const REAL *)points->position[c] + begin,
                   count);
        if (candidates->moved)
            repeat((REAL *)candidates->translation[c] + at, (REAL)run->translation[c], count);
    }
    if (candidates->radius)
        copy_reals((REAL *)candidates->radius + at, (const REAL *)points->radius + begin, count);
    const OF_REAL(vindex) factor = (run->marked ? 0 : -1) - (OF_REAL(vindex)){0};
    const OF_REAL(vindex) mark = run->mark - (OF_REAL(vindex)){0};
    for (int64_t p = 0; p < count; p += REAL_LANES) {
        const OF_REAL(vindex) index = load_index(points->index + begin + p);
        const OF_REAL(vindex) marks = (index & factor) + mark;
        memcpy(candidates->index + at + p, &index, sizeof index);
        memcpy(candidates->mark + at + p, &marks, sizeof marks);
    }
    if (candidates->shift[0])
        gather_shifts(points, run, at, candidates);
}

static void gather(const struct pairs_points *points, const struct pairs_run *runs,
                   int64_t run_count, const struct pairs_candidates *candidates)
{
    int64_t at = 0;
    for (int64_t r = 0; r < run_count; r++) {
        gather_run(points, &runs[r], at, candidates);
        at += runs[r].end - runs[r].begin;
    }
    repeat((REAL *)candidates->position[0] + at, (REAL)INFINITY, REAL_LANES);
}
