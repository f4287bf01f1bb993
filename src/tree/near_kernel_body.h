/* The sums over near points for one precision: a source a lane, a few targets at a time. Included
 * by near_kernel.c for each, with REAL, VREAL, INT, VINT, NAME(name), S2_FLOOR, FIELD_SCALE
 * and ROUGH_SCALE. */

enum {
    NAME(lanes) = SIMD_BYTES / sizeof(REAL),
    /* Targets that share what is loaded of a source: their sums are whole vectors. */
    NAME(wide) = NAME(lanes) > 8 ? NAME(lanes) / 4 : 2
};

struct NAME(sums) {
    VREAL field[3], potential;
};

/* The weights of the sources at j, without that of source i. */
SIMD_INLINE VREAL NAME(without)(VREAL weight, int64_t j, int64_t i)
{
    VINT lane = {0};
    SIMD_UNROLL
    for (int32_t k = 0; k < NAME(lanes); k++)
        lane[k] = k;
    return (VREAL)((VINT)(lane != (VINT){0} + (INT)(i - j)) & (VINT)weight);
}

/* What a pair adds to the absolute gradients: |factor d|. */
SIMD_INLINE VREAL NAME(absolute)(VREAL factor, VREAL dx, VREAL dy, VREAL dz)
{
    const VREAL r2 = simd_fma(dz, dz, simd_fma(dy, dy, dx * dx));
    return simd_fabs(factor) * (r2 * simd_rsqrt(r2 + S2_FLOOR));
}

/* By the logarithm: 2 φ and −∇φ. A pair with s² = 0 does not count. */
SIMD_INLINE void NAME(add_logarithm)(VREAL weight, const VREAL d[3], VREAL s2, const bool absolute,
                                     struct NAME(sums) * sums)
{
    const VREAL counted = (VREAL)((VINT)(s2 > (VREAL){0}) & (VINT)weight);
    const VREAL above_0 = s2 + S2_FLOOR, factor = counted / above_0;
    sums->field[0] = simd_fma(factor, d[0], sums->field[0]);
    sums->field[1] = simd_fma(factor, d[1], sums->field[1]);
    if (absolute)
        sums->potential += NAME(absolute)(factor, d[0], d[1], d[2]);
    else
        sums->potential = simd_fma(counted, simd_log(above_0), sums->potential);
}

/* Adds the sources at j; `targets` of them are i, i + 1, …. */
SIMD_INLINE void NAME(add_sources)(const struct tree_near *near, int64_t j, const int32_t targets,
                                   const REAL at[][4], int64_t i, const bool self,
                                   const enum expansion_law law, const bool softened,
                                   const bool rough, const bool absolute, struct NAME(sums) * sums)
{
    const REAL *const *source = (const REAL *const *)near->source;
    const VREAL x = simd_load(source[0] + j), y = simd_load(source[1] + j),
                z = simd_load(source[2] + j), all = simd_load((const REAL *)near->weight + j);
    VREAL of_source = simd_all((REAL)near->softening2 + (law == expansion_inverse ? S2_FLOOR : 0));
    if (softened)
        of_source += simd_load((const REAL *)near->source_softening2 + j);
    SIMD_UNROLL
    for (int32_t k = 0; k < targets; k++) {
        const VREAL weight = self ? NAME(without)(all, j, i + k) : all;
        const VREAL softening2 = softened ? of_source + at[k][3] : of_source;
        const VREAL dx = x - at[k][0], dy = y - at[k][1], dz = z - at[k][2];
        if (law == expansion_logarithm) {
            const VREAL d[3] = {dx, dy, dz};
            NAME(add_logarithm)
            (weight, d, simd_fma(dy, dy, simd_fma(dx, dx, softening2)), absolute, &sums[k]);
            continue;
        }
        const VREAL s2 = simd_fma(dz, dz, simd_fma(dy, dy, simd_fma(dx, dx, softening2)));
        const VREAL factor = weight * (rough ? simd_rsqrt3_rough(s2) : simd_rsqrt3_scaled(s2));
        sums[k].field[0] = simd_fma(factor, dx, sums[k].field[0]);
        sums[k].field[1] = simd_fma(factor, dy, sums[k].field[1]);
        sums[k].field[2] = simd_fma(factor, dz, sums[k].field[2]);
        if (absolute)
            sums[k].potential += NAME(absolute)(factor, dx, dy, dz);
        else
            sums[k].potential = simd_fma(factor, s2 - S2_FLOOR, sums[k].potential);
    }
}

SIMD_INLINE void NAME(meet)(const struct tree_near *near, int64_t i, const int32_t targets,
                            const enum expansion_law law, const bool softened, const bool rough,
                            const bool absolute)
{
    const bool inverse = law == expansion_inverse;
    const REAL of_inverse = (REAL)1 / (rough ? ROUGH_SCALE : FIELD_SCALE);
    const REAL of_field = inverse ? of_inverse : -1;
    const REAL of_potential = inverse ? of_inverse : absolute ? 1 : (REAL)0.5;
    REAL at[NAME(wide)][4], sum[4 * NAME(wide)];
    struct NAME(sums) sums[NAME(wide)];
    VREAL rows[4 * NAME(wide)];
    memset(sums, 0, sizeof sums);
    SIMD_UNROLL
    for (int32_t k = 0; k < targets; k++) {
        for (int32_t c = 0; c < 3; c++)
            at[k][c] = ((const REAL *)near->target[c])[i + k];
        at[k][3] = softened ? ((const REAL *)near->target_softening2)[i + k] : 0;
    }
    int64_t j = 0;
    for (; near->self && j < near->targets; j += NAME(lanes)) {
        NAME(add_sources)
        (near, j, targets, (const REAL(*)[4])at, i, true, law, softened, rough, absolute, sums);
    }
    for (; j < near->sources_padded; j += NAME(lanes)) {
        NAME(add_sources)
        (near, j, targets, (const REAL(*)[4])at, i, false, law, softened, rough, absolute, sums);
    }
    memcpy(rows, sums, sizeof rows);
    SIMD_UNROLL
    for (int32_t k = 0; k < 4 * NAME(wide); k += NAME(lanes))
        simd_store(sum + k, simd_sum_rows(rows + k));
    SIMD_UNROLL
    for (int32_t k = 0; k < targets; k++) {
        for (int32_t c = 0; c < 3; c++)
            ((REAL *)near->gradient[c])[i + k] += of_field * sum[4 * k + c];
        ((REAL *)near->potential)[i + k] += of_potential * sum[4 * k + 3];
    }
}

SIMD_INLINE void NAME(meet_all)(const struct tree_near *near, const enum expansion_law law,
                                const bool softened, const bool rough, const bool absolute)
{
    int64_t i = 0;
    for (; i + NAME(wide) <= near->targets; i += NAME(wide))
        NAME(meet)(near, i, NAME(wide), law, softened, rough, absolute);
    for (; i + 2 <= near->targets; i += 2)
        NAME(meet)(near, i, 2, law, softened, rough, absolute);
    if (i < near->targets)
        NAME(meet)(near, i, 1, law, softened, rough, absolute);
}

SIMD_INLINE void NAME(meet_by_law)(const struct tree_near *near, const bool absolute)
{
    if (near->law == expansion_logarithm)
        NAME(meet_all)(near, expansion_logarithm, false, false, absolute);
    else if (near->source_softening2)
        NAME(meet_all)(near, expansion_inverse, true, false, absolute);
    else if (near->rough && !absolute)
        NAME(meet_all)(near, expansion_inverse, false, true, false);
    else
        NAME(meet_all)(near, expansion_inverse, false, false, absolute);
}

static void NAME(near)(const struct tree_near *near)
{
    if (near->absolute)
        NAME(meet_by_law)(near, true);
    else
        NAME(meet_by_law)(near, false);
}
