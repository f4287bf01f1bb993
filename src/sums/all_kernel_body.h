/* All pairs, of sums_kernel_body.h: a few targets at once with each vector of sources, which is so
 * loaded once for them. */

enum { targets_at_once = 4 };

/* Some targets, what formulas see of them, and their results. */
struct group {
    struct target target[targets_at_once];
    struct sums_pair pair[targets_at_once];
    struct reduced reduced[targets_at_once];
};

/* The sources of a vector that begins with p. If is_masked, lanes of those `left` count but, where
 * leaves_out_self, that of the target. */
SIMD_INLINE void add_vector(const struct sums_constants *law,
                            const struct sums_candidates *candidates, struct group *group,
                            int64_t p, int is_masked, int64_t left)
{
    VREAL x[3], more[SUMS_MORE_AXES + 1], column[SUMS_COLUMNS_J + 1];
    for (int c = 0; c < SUMS_DIMENSIONS; c++)
        x[c] = simd_load((const REAL *)candidates->position[c] + p);
    for (int c = 0; c < SUMS_MORE_AXES; c++)
        more[c] = simd_load((const REAL *)candidates->column[SUMS_COLUMNS_J + c] + p);
    for (int c = 0; c < SUMS_COLUMNS_J; c++)
        column[c] = simd_load((const REAL *)candidates->column[c] + p);
    SIMD_UNROLL
    for (int k = 0; k < targets_at_once; k++) {
        const struct target *target = &group->target[k];
        struct sums_pair *pair = &group->pair[k];
        VMASK counts = (VMASK){0} - 1;
        VREAL d[3];
        for (int c = 0; c < SUMS_DIMENSIONS; c++)
            d[c] = x[c] - target->at[c];
        set_vector(pair, d);
        for (int c = 0; c < SUMS_MORE_AXES; c++)
            add_axis(pair, more[c] - target->more[c]);
        for (int c = 0; c < SUMS_COLUMNS_J; c++)
            pair->column[SUMS_COLUMNS_I + c] = column[c];
        if (is_masked)
            counts = first_lanes(left);
        if (is_masked && candidates->leaves_out_self)
            counts &= ~only_lane(target->slot - p);
        add_pairs(law, pair, counts, &group->reduced[k]);
    }
}

/* Adds the candidates to `count` targets from `slot` on, at most targets_at_once; returns the
 * pairs. The last target is there again in place of those that a group lacks. */
SIMD_INLINE int64_t sum_group(const struct sums_constants *law,
                              const struct sums_candidates *candidates,
                              const struct sums_targets *targets, int64_t slot, int64_t count)
{
    const int64_t begin = candidates->range->begin, end = candidates->range->end;
    int64_t first = 0, last = 0; /* the targets themselves, among the sources */
    struct group group;
    SIMD_UNROLL
    for (int k = 0; k < targets_at_once; k++)
        begin_target(targets, slot + (k < count ? k : count - 1), &group.target[k], &group.pair[k],
                     &group.reduced[k]);
    if (candidates->leaves_out_self && slot < end && slot + count > begin) {
        first = slot > begin ? slot : begin;
        last = slot + count < end ? slot + count : end;
    }
    for (int64_t p = begin; p < end; p += LANES) {
        const int64_t whole = p < last ? first : end;
        for (; p + LANES <= whole; p += LANES)
            add_vector(law, candidates, &group, p, 0, LANES);
        if (p < end)
            add_vector(law, candidates, &group, p, 1, end - p);
    }
    for (int k = 0; k < targets_at_once && k < count; k++)
        join_target(targets, slot + k, &group.reduced[k]);
    return count * (end - begin) - (last - first);
}

SIMD_INLINE int64_t sum_block(const struct sums_constants *law, REAL limit,
                              const struct sums_candidates *candidates,
                              const struct sums_targets *targets, int64_t begin, int64_t end,
                              int moved)
{
    int64_t pairs = 0;
    (void)limit, (void)moved;
    for (int64_t slot = begin; slot < end; slot += targets_at_once) {
        const int64_t left = end - slot;
        pairs += sum_group(law, candidates, targets, slot,
                           left < targets_at_once ? left : targets_at_once);
    }
    return pairs;
}
