/* The short-range sums of targets over candidates in one precision. Included by short_kernel.c for
 * each, with REAL, VREAL, VINDEX, VMASK, LANES and NAME(name). */

/* The numbers of the candidates within the cutoff. */
SIMD_INLINE int64_t NAME(find)(const struct short_block *block, const VREAL at[3])
{
    const REAL *x_of = block->position[0], *y_of = block->position[1], *z_of = block->position[2];
    const VREAL limit = simd_all((REAL)1);
    const int32_t *numbers = block->number;
    int32_t *found = block->found;
    int64_t count = 0;
    for (int64_t p = 0; p < block->count; p += LANES) {
        VINDEX number;
        memcpy(&number, numbers + p, sizeof number);
        const VREAL x = simd_load(x_of + p) - at[0], y = simd_load(y_of + p) - at[1],
                    z = simd_load(z_of + p) - at[2];
        uint32_t mask = NAME(lanes_below)(simd_fma(z, z, simd_fma(y, y, x * x)), limit);
        if (block->count - p < LANES)
            mask &= (1U << (block->count - p)) - 1;
        NAME(lanes_store_chosen)(found + count, number, mask);
        count += __builtin_popcount(mask);
    }
    return count;
}

/* Vectors of candidates that share the loop over the coefficients; reals of a record. */
enum { NAME(wide) = 2, NAME(has_rest) = sizeof(REAL) < 8 };
enum { NAME(record) = NAME(has_rest) ? 8 : 4 };

SIMD_INLINE void NAME(add_found)(const REAL *value, const REAL *factor, int32_t terms,
                                 const struct short_block *block, const VREAL at[3],
                                 const VREAL rest[3], int64_t first, int64_t count,
                                 VREAL sums[short_sums])
{
    VREAL field[NAME(wide)][4], d[NAME(wide)][3], z[NAME(wide)], root[NAME(wide)];
    VREAL smooth[NAME(wide)], slope[NAME(wide)];
    SIMD_UNROLL
    for (int v = 0; v < NAME(wide); v++) {
        const REAL *from[LANES];
        SIMD_UNROLL
        for (int lane = 0; lane < LANES; lane++)
            from[lane] = (const REAL *)block->records +
                         NAME(record) * (int64_t)block->found[first + v * LANES + lane];
        simd_gather4(field[v], from, 0);
        SIMD_UNROLL
        for (int c = 0; c < 3; c++)
            d[v][c] = field[v][c] - at[c];
        if (NAME(has_rest)) {
            VREAL rests[4];
            simd_gather4(rests, from, 4);
            SIMD_UNROLL
            for (int c = 0; c < 3; c++)
                d[v][c] = d[v][c] + (rests[c] - rest[c]);
        }
        VREAL r2 = simd_fma(d[v][2], d[v][2], simd_fma(d[v][1], d[v][1], d[v][0] * d[v][0]));
        VMASK lane_number = {0};
        for (int lane = 0; lane < LANES; lane++)
            lane_number[lane] = lane;
        const int64_t left = count - first - v * LANES;
        const VMASK counts = lane_number < (VMASK){0} + (int32_t)(left < LANES ? left : LANES);
        field[v][3] = (VREAL)((VMASK)field[v][3] & counts);
        r2 = simd_select(counts, r2, simd_all((REAL)1));
        z[v] = simd_fma(r2, simd_all((REAL)2), simd_all((REAL)-1));
        root[v] = (VREAL)((VMASK)simd_rsqrt_of_subnormal(r2) & (VMASK)(r2 > (VREAL){0}));
        smooth[v] = simd_all(value[terms - 1]);
        slope[v] = simd_all(factor[terms - 1]);
    }
    SIMD_KEEP_LOOP
    for (int32_t k = terms - 2; k >= 0; k--) {
        const VREAL of_value = simd_all(value[k]), of_factor = simd_all(factor[k]);
        SIMD_UNROLL
        for (int v = 0; v < NAME(wide); v++) {
            smooth[v] = simd_fma(smooth[v], z[v], of_value);
            slope[v] = simd_fma(slope[v], z[v], of_factor);
        }
    }
    SIMD_UNROLL
    for (int v = 0; v < NAME(wide); v++) {
        const VREAL w = field[v][3], cube = root[v] * root[v] * root[v];
        const VREAL pull = w * (cube - slope[v]);
        sums[short_potential] = simd_fma(w, root[v] - smooth[v], sums[short_potential]);
        VREAL along[3];
        SIMD_UNROLL
        for (int c = 0; c < 3; c++) {
            along[c] = pull * d[v][c];
            sums[short_gradient + c] = sums[short_gradient + c] + along[c];
            sums[short_virial + c] = simd_fma(along[c], d[v][c], sums[short_virial + c]);
        }
        SIMD_UNROLL
        for (int c = 0; c < 3; c++)
            sums[short_virial + 3 + c] =
                simd_fma(along[(c + 1) % 3], d[v][(c + 2) % 3], sums[short_virial + 3 + c]);
    }
}

SIMD_INLINE double NAME(sum_of_lanes)(VREAL x)
{
    double lane[LANES];
    SIMD_UNROLL
    for (int k = 0; k < LANES; k++)
        lane[k] = (double)x[k];
    SIMD_UNROLL
    for (int half = LANES / 2; half > 0; half /= 2) {
        SIMD_UNROLL
        for (int k = 0; k < half; k++)
            lane[k] += lane[k + half];
    }
    return lane[0];
}

static void NAME(sum)(const struct split *split, const struct short_block *block, double *to)
{
    REAL value[split_most_terms], factor[split_most_terms];
    for (int32_t k = 0; k < split->terms; k++) {
        value[k] = (REAL)split->value[k];
        factor[k] = (REAL)split->factor[k];
    }
    for (int64_t i = 0; i < block->targets; i++, to += short_sums) {
        const REAL *target = (const REAL *)block->target_records + NAME(record) * i;
        VREAL at[3], rest[3], sums[short_sums];
        memset(sums, 0, sizeof sums);
        for (int c = 0; c < 3; c++) {
            at[c] = simd_all(target[c]);
            rest[c] = simd_all(NAME(has_rest) ? target[4 + c] : 0);
        }
        const int64_t count = NAME(find)(block, at);
        memset(block->found + count, 0, NAME(wide) * LANES * sizeof *block->found);
        for (int64_t first = 0; first < count; first += (int64_t)NAME(wide) * LANES)
            NAME(add_found)(value, factor, split->terms, block, at, rest, first, count, sums);
        for (int k = 0; k < short_sums; k++)
            to[k] += NAME(sum_of_lanes)(sums[k]);
    }
}

static void NAME(fill)(double *const *from, int64_t first, int64_t count, const double origin[3],
                       double scale, int64_t at, void *const position[3], void *records)
{
    REAL *restrict record = (REAL *)records + NAME(record) * at;
    for (int64_t k = 0; k < count; k++, record += NAME(record)) {
        SIMD_UNROLL
        for (int c = 0; c < 3; c++) {
            const double x = (from[c][first + k] - origin[c]) * scale;
            const REAL rounded = (REAL)x;
            ((REAL *)position[c])[at + k] = record[c] = rounded;
            if (NAME(has_rest))
                record[4 + c] = (REAL)(x - (double)rounded);
        }
        record[3] = (REAL)from[3][first + k];
        if (NAME(has_rest))
            record[7] = 0;
    }
}
