/* Candidates in the order of their index, and rows with all that may be requested, for REAL;
 * included by pairs_kernel.c. */

SIMD_INLINE void pick(REAL *restrict to, const REAL *restrict from, const int32_t *order,
                      int64_t count)
{
    for (int64_t p = 0; p < count; p++)
        to[p] = from[order[p]];
}

static void arrange(const struct pairs_candidates *from, int64_t *keys, int32_t *order,
                    const struct pairs_candidates *to)
{
    const int64_t count = from->count;
    for (int64_t p = 0; p < count; p++)
        keys[p] = (int64_t)from->index[p] << 32 | p;
    if (count > 1)
        sort_wide(keys, count);
    for (int64_t p = 0; p < count; p++) {
        order[p] = (int32_t)(keys[p] & UINT32_MAX);
        to->index[p] = (int32_t)(keys[p] >> 32);
    }
    for (int32_t c = 0; c < from->dimensions; c++) {
        pick(to->position[c], from->position[c], order, count);
        if (from->moved)
            pick(to->translation[c], from->translation[c], order, count);
        if (from->shift[c])
            pick_index(to->shift[c], from->shift[c], order, count);
    }
    if (from->radius)
        pick(to->radius, from->radius, order, count);
    pick_index(to->mark, from->mark, order, count);
    repeat((REAL *)to->position[0] + count, (REAL)INFINITY, REAL_LANES);
}

SIMD_INLINE void store_index(int32_t *to, OF_REAL(vindex) from)
{
    memcpy(to, &from, sizeof from);
}

/* A row under construction: what has been found of each partner, one array for each number. */
struct row {
    int32_t *index, *shift[3];
    REAL *d[3], *r2;
    void *part; /* what is put together for streaming */
};

static struct row row_in(const struct pairs_columns *columns)
{
    const int64_t room = columns->room;
    char *reals = (char *)columns->row + 4 * 4 * room;
    struct row row = {.index = columns->row};
    for (int k = 0; k < 3; k++) {
        row.shift[k] = columns->row + (k + 1) * room;
        row.d[k] = (REAL *)(void *)reals + k * room;
    }
    row.r2 = row.d[2] + room;
    row.part = row.r2 + room;
    return row;
}

SIMD_INLINE void interleave(REAL *restrict to, const REAL *restrict x, const REAL *restrict y,
                            const REAL *restrict z, REAL unit, int64_t count)
{
    for (int64_t p = 0; z && p < count; p++) {
        to[3 * p] = x[p] * unit;
        to[3 * p + 1] = y[p] * unit;
        to[3 * p + 2] = z[p] * unit;
    }
    for (int64_t p = 0; !z && p < count; p++) {
        to[2 * p] = x[p] * unit;
        to[2 * p + 1] = y[p] * unit;
    }
}

SIMD_INLINE void put_lengths(const struct pairs_columns *columns, int64_t dimensions, int64_t begin,
                             const struct row *row, int64_t count)
{
    const REAL unit = (REAL)columns->unit;
    if (columns->vectors) {
        REAL *to = (REAL *)columns->vectors + begin * dimensions;
        REAL *part = columns->streamed ? row->part : to;
        interleave(part, row->d[0], row->d[1], dimensions == 3 ? row->d[2] : NULL, unit, count);
        if (columns->streamed)
            stream_part(to, part, (size_t)(count * dimensions) * sizeof *to);
    }
    if (columns->distances) {
        REAL *to = (REAL *)columns->distances + begin;
        REAL *restrict part = columns->streamed ? row->part : to;
        const REAL *restrict r2 = row->r2;
        for (int64_t p = 0; p < count; p++)
            part[p] = ROOT(r2[p]) * unit;
        if (columns->streamed)
            stream_part(to, part, (size_t)count * sizeof *to);
    }
}

/* Writes the row of i; wraps is n_i, or NULL for 0. */
SIMD_INLINE void put_row(const struct pairs_columns *columns, int32_t i, const int32_t *wraps,
                         int64_t dimensions, const struct row *row, int64_t count)
{
    const int64_t begin = columns->offsets[i];
    write_row(columns, i, row->index, count);
    if (columns->shifts)
        put_shifts(columns, dimensions, begin, wraps, row->shift, row->part, count);
    put_lengths(columns, dimensions, begin, row, count);
}

/* Brings what has been found into a row. After it are numbers that may be read. */
SIMD_INLINE void pick_row(const struct pairs_candidates *candidates,
                          const struct pairs_points *targets, int64_t position,
                          const int32_t *found, int64_t count, bool shifts, int32_t dimensions,
                          bool moved, const struct row *row)
{
    VREAL own[3] = {{0}};
    for (int32_t c = 0; c < dimensions; c++)
        own[c] = simd_all(((const REAL *)targets->position[c])[position]);
    for (int64_t p = 0; p < count; p += REAL_LANES) {
        const OF_REAL(vindex) at = load_index(found + p);
        VREAL r2 = {0};
        for (int32_t c = 0; c < dimensions; c++) {
            VREAL d = OF_REAL(lanes_at)(candidates->position[c], at) - own[c];
            if (moved)
                d = d + OF_REAL(lanes_at)(candidates->translation[c], at);
            simd_store(row->d[c] + p, d);
            r2 = c == 0 ? d * d : r2 + d * d;
            if (shifts)
                store_index(row->shift[c] + p, OF_REAL(lanes_index_at)(candidates->shift[c], at));
        }
        simd_store(row->r2 + p, r2);
        store_index(row->index + p, OF_REAL(lanes_index_at)(candidates->index, at));
    }
}

static void store(const struct pairs_candidates *candidates, const struct pairs_points *targets,
                  int64_t position, const int32_t *wraps, int32_t *found, int64_t count,
                  const struct pairs_columns *columns)
{
    const struct row row = row_in(columns);
    store_index(found + count, (OF_REAL(vindex)){0});
    if (candidates->dimensions == 3 && candidates->moved)
        pick_row(candidates, targets, position, found, count, columns->shifts, 3, true, &row);
    else if (candidates->dimensions == 3)
        pick_row(candidates, targets, position, found, count, columns->shifts, 3, false, &row);
    else
        pick_row(candidates, targets, position, found, count, columns->shifts, 2, candidates->moved,
                 &row);
    put_row(columns, targets->index[position], wraps, candidates->dimensions, &row, count);
}

static void write_whole(const struct pairs_candidates *candidates,
                        const struct pairs_points *targets, int64_t begin, int64_t end,
                        int32_t *found, const struct pairs_columns *columns)
{
    for (int64_t k = begin; k < end; k++) {
        prefetch_ahead(columns, targets->index, k);
        const int64_t count = find(candidates, targets, k, found);
        const int64_t row = targets->index[k] - targets->first;
        store(candidates, targets, k, targets->wraps ? targets->wraps + 3 * row : NULL, found,
              count, columns);
    }
    if (columns->streamed)
        end_streaming();
}
