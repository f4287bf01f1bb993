/* All pairs, of sums_kernel_body.h: a few targets at once with each vector of sources, which is so
 * loaded once for them. */

enum { targets_at_once = 4 };

/* Some targets, what formulas see of them, and their results. */
struct group {
    struct target target[targets_at_once];
    struct sums_pair pair[targets_at_once];
    struct reduced reduced[targets_at_once];
};

/* The sources of a vector that begins with p and `count` targets. Lanes of those `left` count but,
 * where leaves_out_self, that of the target. */
SIMD_INLINE void add_vector(const struct sums_constants *law,
                            const struct sums_candidates *candidates, struct group *group,
                            int count, int64_t p, int64_t left, int leaves_out_self)
{
    VREAL x[3], more[SUMS_MORE_AXES + 1], column[SUMS_COLUMNS_J + 1];
    for (int c = 0; c < SUMS_DIMENSIONS; c++)
        x[c] = simd_load((const REAL *)candidates->position[c] + p);
    for (int c = 0; c < SUMS_MORE_AXES; c++)
        more[c] = simd_load((const REAL *)candidates->column[SUMS_COLUMNS_J + c] + p);
    for (int c = 0; c < SUMS_COLUMNS_J; c++)
        column[c] = simd_load((const REAL *)candidates->column[c] + p);
    SIMD_UNROLL
    for (int k = 0; k < count; k++) {
        const struct target *target = &group->target[k];
        struct sums_pair *pair = &group->pair[k];
        VMASK counts = left >= LANES ? (VMASK){0} - 1 : first_lanes(left);
        VREAL d[3];
        for (int c = 0; c < SUMS_DIMENSIONS; c++)
            d[c] = x[c] - target->at[c];
        set_vector(pair, d);
        for (int c = 0; c < SUMS_MORE_AXES; c++)
            add_axis(pair, more[c] - target->more[c]);
        for (int c = 0; c < SUMS_COLUMNS_J; c++)
            pair->column[SUMS_COLUMNS_I + c] = column[c];
        if (leaves_out_self)
            counts &= ~only_lane(target->slot - p);
        add_pairs(law, pair, counts, &group->reduced[k]);
    }
}

/* Every source from begin to end. */
SIMD_INLINE void add_range(const struct sums_constants *law,
                           const struct sums_candidates *candidates, struct group *group, int count,
                           int64_t begin, int64_t end, int leaves_out_self)
{
    int64_t p = begin;
    for (; p + LANES <= end; p += LANES)
        add_vector(law, candidates, group, count, p, LANES, leaves_out_self);
    if (p < end)
        add_vector(law, candidates, group, count, p, end - p, leaves_out_self);
}

/* Adds the candidates to the targets from `slot` on, which are among the sources from there on if
 * leaves_out_self; returns the pairs. */
SIMD_INLINE int64_t sum_group(const struct sums_constants *law,
                              const struct sums_candidates *candidates,
                              const struct sums_targets *targets, int64_t slot, int count)
{
    const int64_t begin = candidates->range->begin, end = candidates->range->end;
    int64_t first = end, last = end, pairs = count * (end - begin);
    struct group group;
    SIMD_UNROLL
    for (int k = 0; k < count; k++)
        begin_target(targets, slot + k, &group.target[k], &group.pair[k], &group.reduced[k]);
    if (candidates->leaves_out_self && slot < end && slot + count > begin) {
        first = slot > begin ? slot : begin;
        last = slot + count < end ? slot + count : end;
        pairs -= last - first;
    }
    add_range(law, candidates, &group, count, begin, first, 0);
    if (first < last) {
        add_range(law, candidates, &group, count, first, last, 1);
        add_range(law, candidates, &group, count, last, end, 0);
    }
    SIMD_UNROLL
    for (int k = 0; k < count; k++)
        join_target(targets, slot + k, &group.reduced[k]);
    return pairs;
}

SIMD_INLINE int64_t sum_block(const struct sums_constants *law, REAL limit,
                              const struct sums_candidates *candidates,
                              const struct sums_targets *targets, int64_t begin, int64_t end,
                              int moved)
{
    int64_t pairs = 0, slot = begin;
    (void)limit, (void)moved;
    for (; slot + targets_at_once <= end; slot += targets_at_once)
        pairs += sum_group(law, candidates, targets, slot, targets_at_once);
    for (; slot < end; slot++)
        pairs += sum_group(law, candidates, targets, slot, 1);
    return pairs;
}
