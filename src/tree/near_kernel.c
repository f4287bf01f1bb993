/* The sums over near points, of one instruction set and real type: a source a lane, a few targets
 * at a time. */

#include "tree/near_kernel.h"

#include <string.h>

#include "core/real.h"
#include "core/simd_math.h"

/* ROUGH_IS_ESTIMATE: whether simd_rsqrt3_rough is the cube of simd_begin_rsqrt. */
#if REAL_IS_DOUBLE
#define INTEGER           int64_t
#define ROUGH_SCALE       SIMD_RSQRT3_ROUGH_SCALE_DOUBLE
#define ROUGH_IS_ESTIMATE 0
#define ROUGH_ERROR       SIMD_RSQRT3_ROUGH_ERROR_DOUBLE
#else
#define INTEGER           int32_t
#define ROUGH_SCALE       SIMD_RSQRT3_ROUGH_SCALE_FLOAT
#define ROUGH_IS_ESTIMATE 1
#define ROUGH_ERROR       SIMD_RSQRT3_ROUGH_ERROR_FLOAT
#endif

/* Targets that share what is loaded of a source: their sums are whole vectors. */
enum { wide = SIMD_BYTES == 64 ? 4 : 2 };

struct sums {
    VREAL field[3], potential;
};

/* The weights of the sources at j, without that of source i. */
SIMD_INLINE VREAL without(VREAL weight, int64_t j, int64_t i)
{
    VMASK lane = {0};
    SIMD_UNROLL
    for (int32_t k = 0; k < REAL_LANES; k++)
        lane[k] = k;
    return (VREAL)((VMASK)(lane != (VMASK){0} + (INTEGER)(i - j)) & (VMASK)weight);
}

/* What a pair adds to the absolute gradients, |factor d|, of which few digits are needed. */
SIMD_INLINE VREAL magnitude(VREAL factor, VREAL dx, VREAL dy, VREAL dz)
{
    const VREAL r2 = simd_fma(dz, dz, simd_fma(dy, dy, dx * dx));
    return simd_fabs(factor) * (r2 * simd_begin_rsqrt(r2 + S2_FLOOR));
}

/* By the logarithm: 2 φ and −∇φ. A pair with s² = 0 does not count. */
SIMD_INLINE void add_logarithm(VREAL weight, const VREAL d[3], VREAL s2, const bool absolute,
                               struct sums *sums)
{
    const VREAL counted = (VREAL)((VMASK)(s2 > (VREAL){0}) & (VMASK)weight);
    const VREAL above_0 = s2 + S2_FLOOR, factor = counted / above_0;
    sums->field[0] = simd_fma(factor, d[0], sums->field[0]);
    sums->field[1] = simd_fma(factor, d[1], sums->field[1]);
    if (absolute)
        sums->potential += magnitude(factor, d[0], d[1], d[2]);
    else
        sums->potential = simd_fma(counted, simd_log(above_0), sums->potential);
}

/* What a loop over sources is compiled for. */
struct near_loop {
    enum expansion_law law;
    bool absolute, softened, rough;
    /* Rough, and no source has s² = 0 but those of the target's leaf, where the points of one place
     * are: 1/s, too, is an estimate. */
    bool apart;
};

/* Adds the sources at j by 1/s for the targets i, i + 1, …, one after the other: then the sums of
 * all of them are in registers. */
SIMD_INLINE void add_inverse(const VREAL source[4], VREAL of_source, int64_t j,
                             const int32_t targets, const REAL at[][4], int64_t i, const bool self,
                             const struct near_loop loop, struct sums *sums)
{
    const bool estimate = loop.apart && !self;
    SIMD_UNROLL
    for (int32_t k = 0; k < targets; k++) {
        const VREAL d[3] = {source[0] - at[k][0], source[1] - at[k][1], source[2] - at[k][2]};
        VREAL s2 = simd_fma(d[0], d[0], loop.softened ? of_source + at[k][3] : of_source), factor;
        s2 = simd_fma(d[1], d[1], s2);
        s2 = simd_fma(d[2], d[2], s2);
        const VREAL weight = self ? without(source[3], j, i + k) : source[3];
        if (estimate) {
            const VREAL inverse = simd_begin_rsqrt(s2), of_potential = weight * inverse;
            sums[k].potential += of_potential;
            factor = of_potential * (inverse * inverse);
        } else {
            factor = weight * (loop.rough ? simd_rsqrt3_rough(s2) : simd_rsqrt3_scaled(s2));
        }
        for (int32_t c = 0; c < 3; c++)
            sums[k].field[c] = simd_fma(factor, d[c], sums[k].field[c]);
        if (loop.absolute)
            sums[k].potential += magnitude(factor, d[0], d[1], d[2]);
        else if (!estimate)
            sums[k].potential = simd_fma(factor, s2 - S2_FLOOR, sums[k].potential);
    }
}

/* Adds the sources at j; `targets` of them are i, i + 1, …. */
SIMD_INLINE void add_sources(const struct tree_near *near, int64_t j, const int32_t targets,
                             const REAL at[][4], int64_t i, const bool self,
                             const struct near_loop loop, struct sums *sums)
{
    const REAL *const *column = (const REAL *const *)near->source;
    const VREAL source[4] = {simd_load(column[0] + j), simd_load(column[1] + j),
                             simd_load(column[2] + j), simd_load((const REAL *)near->weight + j)};
    VREAL of_source =
        simd_all((REAL)near->softening2 + (loop.law == expansion_inverse ? S2_FLOOR : 0));
    if (loop.softened)
        of_source += simd_load((const REAL *)near->source_softening2 + j);
    if (loop.law == expansion_inverse) {
        add_inverse(source, of_source, j, targets, at, i, self, loop, sums);
        return;
    }
    SIMD_UNROLL
    for (int32_t k = 0; k < targets; k++) {
        const VREAL weight = self ? without(source[3], j, i + k) : source[3];
        const VREAL d[3] = {source[0] - at[k][0], source[1] - at[k][1], source[2] - at[k][2]};
        add_logarithm(weight, d, simd_fma(d[1], d[1], simd_fma(d[0], d[0], of_source)),
                      loop.absolute, &sums[k]);
    }
}

SIMD_INLINE void meet(const struct tree_near *near, int64_t i, const int32_t targets,
                      const struct near_loop loop)
{
    const bool inverse = loop.law == expansion_inverse;
    const REAL of_inverse = (REAL)1 / (loop.rough ? ROUGH_SCALE : (REAL)FIELD_SCALE);
    const REAL of_field = inverse ? of_inverse : -1;
    const REAL of_potential = inverse ? of_inverse : loop.absolute ? 1 : (REAL)0.5;
    REAL at[wide][4], sum[4 * wide];
    struct sums sums[wide];
    VREAL rows[4 * wide];
    memset(sums, 0, sizeof sums);
    SIMD_UNROLL
    for (int32_t k = 0; k < targets; k++) {
        for (int32_t c = 0; c < 3; c++)
            at[k][c] = ((const REAL *)near->target[c])[i + k];
        at[k][3] = loop.softened ? ((const REAL *)near->target_softening2)[i + k] : 0;
    }
    int64_t j = 0;
    for (; near->self && j < near->targets; j += REAL_LANES) {
        add_sources(near, j, targets, (const REAL(*)[4])at, i, true, loop, sums);
    }
    for (; j < near->sources_padded; j += REAL_LANES) {
        add_sources(near, j, targets, (const REAL(*)[4])at, i, false, loop, sums);
    }
    SIMD_UNROLL
    for (int32_t k = 0; k < wide; k++) {
        for (int32_t c = 0; c < 3; c++)
            rows[wide * c + k] = sums[k].field[c];
        rows[wide * 3 + k] = sums[k].potential;
    }
    SIMD_UNROLL
    for (int32_t k = 0; k < 4 * wide; k += REAL_LANES)
        simd_store(sum + k, simd_sum_rows(rows + k));
    SIMD_UNROLL
    for (int32_t c = 0; c < 4; c++) {
        REAL *const to = (REAL *)(c < 3 ? near->gradient[c] : near->potential) + i;
        SIMD_UNROLL
        for (int32_t k = 0; k < targets; k++)
            to[k] += (c < 3 ? of_field : of_potential) * sum[wide * c + k];
    }
}

SIMD_INLINE void meet_all(const struct tree_near *near, const struct near_loop loop)
{
    int64_t i = 0;
    for (; i + wide <= near->targets; i += wide)
        meet(near, i, wide, loop);
    const int64_t left = near->targets - i;
    if (left == 3)
        meet(near, i, wide > 3 ? 3 : 1, loop);
    else if (left == 2)
        meet(near, i, wide > 2 ? 2 : 1, loop);
    else if (left == 1)
        meet(near, i, 1, loop);
}

SIMD_INLINE void meet_by_law(const struct tree_near *near, const bool absolute)
{
    const enum expansion_law law = expansion_inverse;
    if (near->law == expansion_logarithm)
        meet_all(near, (struct near_loop){expansion_logarithm, .absolute = absolute});
    else if (near->source_softening2)
        meet_all(near, (struct near_loop){law, .absolute = absolute, .softened = true});
    else if (near->rough && near->self && ROUGH_IS_ESTIMATE && !absolute)
        meet_all(near, (struct near_loop){law, .rough = true, .apart = true});
    else if (near->rough && !absolute)
        meet_all(near, (struct near_loop){law, .rough = true});
    else
        meet_all(near, (struct near_loop){law, .absolute = absolute});
}

static void sum(const struct tree_near *near)
{
    if (near->absolute)
        meet_by_law(near, true);
    else
        meet_by_law(near, false);
}

SIMD_INLINE void copy(void *const *to, const void *const *from, const int32_t columns,
                      int64_t bytes)
{
    char *restrict into[5];
    const char *restrict of[5];
    SIMD_UNROLL
    for (int32_t c = 0; c < columns; c++) {
        into[c] = to[c];
        of[c] = from[c];
    }
    for (int64_t k = 0; k < bytes; k += SIMD_BYTES) {
        SIMD_UNROLL
        for (int32_t c = 0; c < columns; c++)
            memcpy(into[c] + k, of[c] + k, SIMD_BYTES);
    }
}

/* Whole vectors: most copies are of a few, which memcpy takes longer to begin than to do. */
static void copy_columns(void *const *to, const void *const *from, bool softened, int64_t bytes)
{
    if (softened)
        copy(to, from, 5, bytes);
    else
        copy(to, from, 4, bytes);
}

const struct tree_near_kernels KITH_REAL_SYMBOL(tree_near) = {
    .sum = sum, .rough_error = ROUGH_ERROR, .copy_columns = copy_columns, .lanes = REAL_LANES};
