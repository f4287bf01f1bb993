/* Sums over the pairs within a cutoff or of a list, for one set of formulas: part of
 * sums_kernel_body.h, as all_kernel_body.h is for all pairs. */

#if !SUMS_LISTED

/* Within a cutoff, a block of candidates is first brought to single precision, in units of a
 * distance a little more than the cutoff and relative to one of the targets: all pairs, and few
 * others, are nearer than 1 there. Those are then judged with the arithmetic of cells/geometry.h.
 */

SIMD_INLINE void store_narrow(float *to, VREAL x)
{
#if SUMS_IN_FLOAT
    memcpy(to, &x, sizeof x);
#else
    typedef float half __attribute__((vector_size(SIMD_BYTES / 2)));
    const half narrow = __builtin_convertvector(x, half);
    memcpy(to, &narrow, sizeof narrow);
#endif
}

SIMD_INLINE VINDEX numbers_from(int64_t first)
{
    VINDEX number;
    for (int lane = 0; lane < LANES; lane++)
        number[lane] = (int32_t)first + lane;
    return number;
}

/* A range to the block, whose first `count` candidates are there. */
SIMD_INLINE void gather_range(const struct sums_candidates *candidates,
                              const struct sums_range *range, const VREAL origin[3], int moved,
                              int64_t count)
{
    struct sums_room *room = candidates->room;
    const VREAL scale = law_all((REAL)candidates->scale);
    for (int64_t p = range->begin; p < range->end; p += LANES, count += LANES) {
        const VINDEX number = numbers_from(p);
        memcpy(room->number + count, &number, sizeof number);
        for (int c = 0; c < SUMS_DIMENSIONS; c++) {
            VREAL d = simd_load((const REAL *)candidates->position[c] + p) - origin[c];
            if (moved) {
                const VREAL t = law_all((REAL)range->translation[c]);
                memcpy((REAL *)(void *)room->translation[c] + count, &t, sizeof t);
                d = d + t;
            }
            store_narrow(room->position[c] + count, d * scale);
        }
    }
}

/* All candidates, and after them a vector of some that are far away. */
SIMD_INLINE int64_t gather_block(const struct sums_candidates *candidates, const VREAL origin[3],
                                 int moved)
{
    const vfloat away = simd_all(INFINITY);
    int64_t count = 0;
    for (int64_t k = 0; k < candidates->range_count; k++) {
        const struct sums_range *range = &candidates->range[k];
        gather_range(candidates, range, origin, moved, count);
        count += range->end - range->begin;
    }
    memcpy(candidates->room->position[0] + count, &away, sizeof away);
    return count;
}

/* The translations of candidates from p on, of those that are chosen, after `count` found ones. */
SIMD_INLINE void choose_translations(struct sums_room *room, int64_t p, uint32_t mask,
                                     int64_t count)
{
    for (int c = 0; c < SUMS_DIMENSIONS; c++) {
        const REAL *from = (const REAL *)(const void *)room->translation[c] + p;
        REAL *to = (REAL *)(void *)room->shift[c] + count;
        SIMD_UNROLL
        for (int first = 0; first < LANES_FLOAT; first += LANES) {
            const uint32_t chosen = mask >> first & (uint32_t)((1ULL << LANES) - 1);
            OF_REAL(lanes_store_reals)(to, simd_load(from + first), chosen);
            to += __builtin_popcount(chosen);
        }
    }
}

/* Finds the candidates that may be pairs of a target. */
SIMD_INLINE int64_t find(struct sums_room *room, int64_t count, const vfloat at[3], int moved)
{
    const vfloat one = simd_all(1.0F);
    int32_t *found = room->found;
    int64_t found_count = 0;
    for (int64_t p = 0; p < count; p += LANES_FLOAT) {
        vindex_float number;
        memcpy(&number, room->number + p, sizeof number);
        const vfloat x = simd_load(room->position[0] + p) - at[0];
        vfloat r2 = x * x;
        for (int c = 1; c < SUMS_DIMENSIONS; c++) {
            const vfloat d = simd_load(room->position[c] + p) - at[c];
            r2 = simd_fma(d, d, r2);
        }
        const uint32_t mask = lanes_below_float(r2, one);
        lanes_store_chosen_float(found + found_count, number, mask);
        if (moved)
            choose_translations(room, p, mask, found_count);
        found_count += __builtin_popcount(mask);
    }
    memset(found + found_count, 0, LANES * sizeof *found); /* the last vector reads these */
    for (int c = 0; c < SUMS_DIMENSIONS && moved; c++)
        memset((REAL *)(void *)room->shift[c] + found_count, 0, LANES * sizeof(REAL));
    return found_count;
}

#endif

/* The fields of the records whose numbers are given. */
SIMD_INLINE void gather_fields(const void *records, const int32_t *found, VREAL *field)
{
    const int32_t fields = sums_fields_of_record(SUMS_DIMENSIONS, SUMS_COLUMNS_J + SUMS_MORE_AXES);
    const REAL *from[LANES];
    SIMD_UNROLL
    for (int lane = 0; lane < LANES; lane++)
        from[lane] = (const REAL *)records + (int64_t)found[lane] * fields;
    SIMD_UNROLL
    for (int32_t first = 0; first < fields; first += 4)
        simd_gather4(field + first, from, first);
}

/* Adds those of the found candidates that are pairs; `pairs` is their number in each lane. */
SIMD_INLINE void add_found(const struct sums_constants *law, REAL limit,
                           const struct sums_candidates *candidates, int64_t count,
                           const struct target *target, int moved, struct sums_pair *pair,
                           struct reduced *reduced, VMASK *pairs)
{
    const struct sums_room *room = candidates->room;
    for (int64_t p = 0; p < count; p += LANES) {
        VREAL field[sums_most_columns + 4], d[3];
        gather_fields(candidates->records, room->found + p, field);
        for (int c = 0; c < SUMS_DIMENSIONS; c++) {
            d[c] = field[c] - target->at[c];
            if (moved)
                d[c] = d[c] + simd_load((const REAL *)(const void *)room->shift[c] + p);
        }
        set_vector(pair, d);
        for (int c = 0; c < SUMS_MORE_AXES; c++) {
            const VREAL x = field[sums_field_of_column(SUMS_DIMENSIONS, SUMS_COLUMNS_J + c)];
            add_axis(pair, x - target->more[c]);
        }
        for (int c = 0; c < SUMS_COLUMNS_J; c++)
            pair->column[SUMS_COLUMNS_I + c] = field[sums_field_of_column(SUMS_DIMENSIONS, c)];
        const VMASK counts = first_lanes(count - p) & (VMASK)(pair->s2 < law_all(limit));
        *pairs -= counts;
        add_pairs(law, pair, counts, reduced);
    }
}

#if SUMS_LISTED

/* A target's pairs of a list from begin to end, or its pair with itself, as if they were found. */
SIMD_INLINE int64_t take_listed(const struct sums_candidates *candidates, int64_t begin,
                                int64_t end, int moved)
{
    struct sums_room *room = candidates->room;
    for (int64_t p = begin; p < end; p++)
        room->found[p - begin] = (int32_t)sums_list_source(candidates->list, p);
    memset(room->found + (end - begin), 0, LANES * sizeof *room->found);
    for (int c = 0; c < SUMS_DIMENSIONS && moved; c++) {
        REAL *to = (REAL *)(void *)room->shift[c];
        for (int64_t p = begin; p < end; p++)
            to[p - begin] = (REAL)sums_list_translation(candidates->list, p, SUMS_DIMENSIONS, c);
    }
    return end - begin;
}

SIMD_INLINE int64_t take_self(const struct sums_candidates *candidates, int64_t slot, int moved)
{
    struct sums_room *room = candidates->room;
    memset(room->found, 0, (LANES + 1) * sizeof *room->found);
    room->found[0] = (int32_t)slot;
    for (int c = 0; c < SUMS_DIMENSIONS && moved; c++)
        ((REAL *)(void *)room->shift[c])[0] = 0;
    return 1;
}

SIMD_INLINE int64_t sum_block(const struct sums_constants *law, REAL limit,
                              const struct sums_candidates *candidates,
                              const struct sums_targets *targets, int64_t begin, int64_t end,
                              int moved)
{
    const struct sums_list *list = candidates->list;
    VMASK pairs = {0};
    for (int64_t slot = begin; slot < end; slot++) {
        const int64_t *row = &list->offsets[slot - list->first];
        struct reduced reduced;
        struct sums_pair pair;
        struct target target;
        begin_target(targets, slot, &target, &pair, &reduced);
        for (int64_t p = row[0]; p < row[1]; p += sums_most_candidates) {
            const int64_t left = row[1] - p;
            const int64_t count =
                take_listed(candidates, p,
                            p + (left < sums_most_candidates ? left : sums_most_candidates), moved);
            add_found(law, limit, candidates, count, &target, moved, &pair, &reduced, &pairs);
        }
        if (list->includes_self)
            add_found(law, limit, candidates, take_self(candidates, slot, moved), &target, moved,
                      &pair, &reduced, &pairs);
        join_target(targets, slot, &reduced);
    }
    return count_lanes(pairs);
}

#else

/* Finds the candidates of a target, but for itself. */
SIMD_INLINE int64_t find_others(struct sums_room *room, int64_t count, const vfloat at[3],
                                const struct selves *selves, int64_t slot, int moved)
{
    if (slot < selves->begin || slot >= selves->end)
        return find(room, count, at, moved);
    float *self = &room->position[0][selves->place + slot - selves->begin];
    const float kept = *self;
    *self = INFINITY;
    const int64_t found = find(room, count, at, moved);
    *self = kept;
    return found;
}

SIMD_INLINE int64_t sum_block(const struct sums_constants *law, REAL limit,
                              const struct sums_candidates *candidates,
                              const struct sums_targets *targets, int64_t begin, int64_t end,
                              int moved)
{
    const struct selves selves = find_selves(candidates, begin, end, moved);
    const REAL scale = (REAL)candidates->scale;
    VMASK pairs = {0};
    VREAL origin[3];
    for (int c = 0; c < SUMS_DIMENSIONS; c++)
        origin[c] = law_all(((const REAL *)targets->position[c])[begin]);
    const int64_t count = gather_block(candidates, origin, moved);
    for (int64_t slot = begin; slot < end; slot++) {
        struct reduced reduced;
        struct sums_pair pair;
        struct target target;
        vfloat at[3];
        begin_target(targets, slot, &target, &pair, &reduced);
        for (int c = 0; c < SUMS_DIMENSIONS; c++)
            at[c] = simd_all((float)((target.at[c][0] - origin[c][0]) * scale));
        const int64_t found = find_others(candidates->room, count, at, &selves, slot, moved);
        add_found(law, limit, candidates, found, &target, moved, &pair, &reduced, &pairs);
        join_target(targets, slot, &reduced);
    }
    return count_lanes(pairs);
}

#endif
