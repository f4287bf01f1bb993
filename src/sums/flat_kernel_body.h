/* Sums within a cutoff on a plane, of formulas that take little time: part of
 * sums_kernel_body.h. The candidates of a cell that are near to one of its targets are copied side
 * by side, columns and all, and each target evaluates all of them: some two thirds are its pairs,
 * and to evaluate the others takes less time than to choose. */

/* What the targets of a block span, of whose neighborhood candidates are taken. */
struct box {
    VREAL low[SUMS_DIMENSIONS], high[SUMS_DIMENSIONS], scale;
};

SIMD_INLINE struct box box_of(const struct sums_targets *targets, int64_t begin, int64_t end,
                              double scale)
{
    struct box box;
    SIMD_UNROLL
    for (int c = 0; c < SUMS_DIMENSIONS; c++) {
        const REAL *x = (const REAL *)targets->position[c];
        REAL low = x[begin], high = x[begin];
        for (int64_t slot = begin + 1; slot < end; slot++) {
            low = x[slot] < low ? x[slot] : low;
            high = x[slot] > high ? x[slot] : high;
        }
        box.low[c] = law_all(low);
        box.high[c] = law_all(high);
    }
    box.scale = law_all((REAL)scale);
    return box;
}

/* The lanes of candidates from p on that are near the box, those before `left` only. */
SIMD_INLINE uint32_t near_box(const struct sums_candidates *candidates, int64_t p, int64_t left,
                              const struct box *box, const VREAL t[SUMS_DIMENSIONS], int moved)
{
    VREAL r2 = law_all((REAL)0);
    SIMD_UNROLL
    for (int c = 0; c < SUMS_DIMENSIONS; c++) {
        const VREAL x = simd_load((const REAL *)candidates->position[c] + p);
        const VREAL below = moved ? (box->low[c] - x) - t[c] : box->low[c] - x;
        const VREAL above = moved ? (x - box->high[c]) + t[c] : x - box->high[c];
        const VREAL outside = simd_greatest(simd_greatest(below, above), law_all((REAL)0));
        const VREAL d = outside * box->scale;
        r2 = law_fma(d, d, r2);
    }
    const uint32_t those = left < LANES ? (1U << left) - 1 : (uint32_t)((1ULL << LANES) - 1);
    const uint32_t near = OF_REAL(lanes_below)(r2, law_all((REAL)1)) & those;
#if defined(__AVX512F__)
    return near;
#else
    return near ? those : 0; /* without an instruction that moves the chosen lanes together */
#endif
}

SIMD_INLINE void copy_lanes(void *room, int64_t count, const void *column, int64_t p, uint32_t mask)
{
    const VREAL x = simd_load((const REAL *)column + p);
#if defined(__AVX512F__)
    OF_REAL(lanes_store_reals)((REAL *)room + count, x, mask);
#else
    (void)mask;
    simd_store((REAL *)room + count, x);
#endif
}

/* Those of a range to the block, whose first `count` candidates are there. */
SIMD_INLINE int64_t copy_range(const struct sums_candidates *candidates,
                               const struct sums_range *range, const struct box *box, int moved,
                               int64_t count, int64_t *selves)
{
    struct sums_room *room = candidates->room;
    VREAL t[SUMS_DIMENSIONS];
    SIMD_UNROLL
    for (int c = 0; c < SUMS_DIMENSIONS; c++)
        t[c] = law_all(moved ? (REAL)range->translation[c] : (REAL)0);
    for (int64_t p = range->begin; p < range->end; p += LANES) {
        const uint32_t mask = near_box(candidates, p, range->end - p, box, t, moved);
        SIMD_UNROLL
        for (int c = 0; c < SUMS_DIMENSIONS; c++) {
            copy_lanes(room->field[c], count, candidates->position[c], p, mask);
            if (moved)
                simd_store((REAL *)(void *)room->translation[c] + count, t[c]);
        }
        SIMD_UNROLL
        for (int c = 0; c < SUMS_COLUMNS_J; c++)
            copy_lanes(room->field[sums_field_of_column(SUMS_DIMENSIONS, c)], count,
                       candidates->column[c], p, mask);
        if (*selves >= p && *selves < p + LANES) {
            *selves = -1 - (count + __builtin_popcount(mask & ((1U << (*selves - p)) - 1)));
        }
        count += __builtin_popcount(mask);
    }
    return count;
}

/* The candidates near the box, and after them some that are far away, for whole vectors. */
SIMD_INLINE int64_t copy_block(const struct sums_candidates *candidates, const struct box *box,
                               int moved, struct selves *selves)
{
    const VREAL away = law_all((REAL)INFINITY);
    int64_t count = 0, seen = 0;
    const int64_t place = selves->place;
    for (int64_t k = 0; k < candidates->range_count; k++) {
        const struct sums_range *range = &candidates->range[k];
        const int64_t here = range->end - range->begin;
        int64_t self = selves->begin < selves->end && place >= seen && place < seen + here
                           ? selves->begin
                           : INT64_MAX;
        count = copy_range(candidates, range, box, moved, count, &self);
        if (self < 0)
            selves->place = -1 - self;
        seen += here;
    }
    simd_store((REAL *)(void *)candidates->room->field[0] + count, away);
    return count;
}

/* Adds those of the candidates that are pairs of a target; `pairs` is their number in each lane. */
SIMD_INLINE void add_candidates(const struct sums_constants *law, REAL limit,
                                const struct sums_room *room, int64_t count,
                                const struct target *target, int moved, struct sums_pair *pair,
                                struct reduced *reduced, VMASK *pairs)
{
    for (int64_t p = 0; p < count; p += LANES) {
        VREAL d[3];
        for (int c = 0; c < SUMS_DIMENSIONS; c++) {
            d[c] = simd_load((const REAL *)(const void *)room->field[c] + p) - target->at[c];
            if (moved)
                d[c] = d[c] + simd_load((const REAL *)(const void *)room->translation[c] + p);
        }
        set_vector(pair, d);
        for (int c = 0; c < SUMS_COLUMNS_J; c++)
            pair->column[SUMS_COLUMNS_I + c] = simd_load(
                (const REAL *)(const void *)room->field[sums_field_of_column(SUMS_DIMENSIONS, c)] +
                p);
        const VMASK counts = (VMASK)(pair->s2 < law_all(limit));
        *pairs -= counts;
        add_pairs(law, pair, counts, reduced);
    }
}

SIMD_INLINE int64_t sum_block(const struct sums_constants *law, REAL limit,
                              const struct sums_candidates *candidates,
                              const struct sums_targets *targets, int64_t begin, int64_t end,
                              int moved)
{
    const struct box box = box_of(targets, begin, end, candidates->scale);
    struct selves selves = find_selves(candidates, begin, end, moved);
    const int64_t count = copy_block(candidates, &box, moved, &selves);
    REAL *first = (REAL *)(void *)candidates->room->field[0];
    VMASK pairs = {0};
    for (int64_t slot = begin; slot < end; slot++) {
        const int has_self = slot >= selves.begin && slot < selves.end;
        REAL *self = has_self ? &first[selves.place + slot - selves.begin] : &first[count];
        const REAL kept = *self;
        struct reduced reduced;
        struct sums_pair pair;
        struct target target;
        *self = (REAL)INFINITY;
        begin_target(targets, slot, &target, &pair, &reduced);
        add_candidates(law, limit, candidates->room, count, &target, moved, &pair, &reduced,
                       &pairs);
        join_target(targets, slot, &reduced);
        *self = kept;
    }
    return count_lanes(pairs);
}
