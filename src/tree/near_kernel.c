/* The sums over near points, of one instruction set and real type: a source a lane, a few targets
 * at a time. */

#include "tree/near_kernel.h"

#include <string.h>

#include "core/real.h"
#include "core/simd_math.h"

#if REAL_IS_DOUBLE
#define INTEGER     int64_t
#define ROUGH_SCALE SIMD_RSQRT3_ROUGH_SCALE_DOUBLE
#define ROUGH_ERROR SIMD_RSQRT3_ROUGH_ERROR_DOUBLE
#else
#define INTEGER     int32_t
#define ROUGH_SCALE SIMD_RSQRT3_ROUGH_SCALE_FLOAT
#define ROUGH_ERROR SIMD_RSQRT3_ROUGH_ERROR_FLOAT
#endif

/* Targets that share what is loaded of a source: their sums are whole vectors. */
enum { wide = REAL_LANES > 8 ? REAL_LANES / 4 : 2 };

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

/* What a pair adds to the absolute gradients: |factor d|. */
SIMD_INLINE VREAL magnitude(VREAL factor, VREAL dx, VREAL dy, VREAL dz)
{
    const VREAL r2 = simd_fma(dz, dz, simd_fma(dy, dy, dx * dx));
    return simd_fabs(factor) * (r2 * simd_rsqrt(r2 + S2_FLOOR));
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

/* Adds the sources at j; `targets` of them are i, i + 1, …. */
SIMD_INLINE void add_sources(const struct tree_near *near, int64_t j, const int32_t targets,
                             const REAL at[][4], int64_t i, const bool self,
                             const enum expansion_law law, const bool softened, const bool rough,
                             const bool absolute, struct sums *sums)
{
    const REAL *const *source = (const REAL *const *)near->source;
    const VREAL x = simd_load(source[0] + j), y = simd_load(source[1] + j),
                z = simd_load(source[2] + j), all = simd_load((const REAL *)near->weight + j);
    VREAL of_source = simd_all((REAL)near->softening2 + (law == expansion_inverse ? S2_FLOOR : 0));
    if (softened)
        of_source += simd_load((const REAL *)near->source_softening2 + j);
    SIMD_UNROLL
    for (int32_t k = 0; k < targets; k++) {
        const VREAL weight = self ? without(all, j, i + k) : all;
        const VREAL softening2 = softened ? of_source + at[k][3] : of_source;
        const VREAL dx = x - at[k][0], dy = y - at[k][1], dz = z - at[k][2];
        if (law == expansion_logarithm) {
            const VREAL d[3] = {dx, dy, dz};
            add_logarithm(weight, d, simd_fma(dy, dy, simd_fma(dx, dx, softening2)), absolute,
                          &sums[k]);
            continue;
        }
        const VREAL s2 = simd_fma(dz, dz, simd_fma(dy, dy, simd_fma(dx, dx, softening2)));
        const VREAL factor = weight * (rough ? simd_rsqrt3_rough(s2) : simd_rsqrt3_scaled(s2));
        sums[k].field[0] = simd_fma(factor, dx, sums[k].field[0]);
        sums[k].field[1] = simd_fma(factor, dy, sums[k].field[1]);
        sums[k].field[2] = simd_fma(factor, dz, sums[k].field[2]);
        if (absolute)
            sums[k].potential += magnitude(factor, dx, dy, dz);
        else
            sums[k].potential = simd_fma(factor, s2 - S2_FLOOR, sums[k].potential);
    }
}

SIMD_INLINE void meet(const struct tree_near *near, int64_t i, const int32_t targets,
                      const enum expansion_law law, const bool softened, const bool rough,
                      const bool absolute)
{
    const bool inverse = law == expansion_inverse;
    const REAL of_inverse = (REAL)1 / (rough ? ROUGH_SCALE : (REAL)FIELD_SCALE);
    const REAL of_field = inverse ? of_inverse : -1;
    const REAL of_potential = inverse ? of_inverse : absolute ? 1 : (REAL)0.5;
    REAL at[wide][4], sum[4 * wide];
    struct sums sums[wide];
    VREAL rows[4 * wide];
    memset(sums, 0, sizeof sums);
    SIMD_UNROLL
    for (int32_t k = 0; k < targets; k++) {
        for (int32_t c = 0; c < 3; c++)
            at[k][c] = ((const REAL *)near->target[c])[i + k];
        at[k][3] = softened ? ((const REAL *)near->target_softening2)[i + k] : 0;
    }
    int64_t j = 0;
    for (; near->self && j < near->targets; j += REAL_LANES) {
        add_sources(near, j, targets, (const REAL(*)[4])at, i, true, law, softened, rough, absolute,
                    sums);
    }
    for (; j < near->sources_padded; j += REAL_LANES) {
        add_sources(near, j, targets, (const REAL(*)[4])at, i, false, law, softened, rough,
                    absolute, sums);
    }
    memcpy(rows, sums, sizeof rows);
    SIMD_UNROLL
    for (int32_t k = 0; k < 4 * wide; k += REAL_LANES)
        simd_store(sum + k, simd_sum_rows(rows + k));
    SIMD_UNROLL
    for (int32_t k = 0; k < targets; k++) {
        for (int32_t c = 0; c < 3; c++)
            ((REAL *)near->gradient[c])[i + k] += of_field * sum[4 * k + c];
        ((REAL *)near->potential)[i + k] += of_potential * sum[4 * k + 3];
    }
}

SIMD_INLINE void meet_all(const struct tree_near *near, const enum expansion_law law,
                          const bool softened, const bool rough, const bool absolute)
{
    int64_t i = 0;
    for (; i + wide <= near->targets; i += wide)
        meet(near, i, wide, law, softened, rough, absolute);
    for (; i + 2 <= near->targets; i += 2)
        meet(near, i, 2, law, softened, rough, absolute);
    if (i < near->targets)
        meet(near, i, 1, law, softened, rough, absolute);
}

SIMD_INLINE void meet_by_law(const struct tree_near *near, const bool absolute)
{
    if (near->law == expansion_logarithm)
        meet_all(near, expansion_logarithm, false, false, absolute);
    else if (near->source_softening2)
        meet_all(near, expansion_inverse, true, false, absolute);
    else if (near->rough && !absolute)
        meet_all(near, expansion_inverse, false, true, false);
    else
        meet_all(near, expansion_inverse, false, false, absolute);
}

static void sum(const struct tree_near *near)
{
    if (near->absolute)
        meet_by_law(near, true);
    else
        meet_by_law(near, false);
}

/* A vector at a time, the last of them up to the end: most copies are of a few vectors, which
 * memcpy takes longer to begin than to do. */
static void copy_columns(void *const *to, const void *const *from, int32_t columns, int64_t bytes)
{
    const int64_t last = bytes - SIMD_BYTES;
    for (int32_t c = 0; c < columns; c++) {
        char *const restrict into = to[c];
        const char *const restrict of = from[c];
        if (last < 0) {
            memcpy(into, of, (size_t)bytes);
            continue;
        }
        for (int64_t k = 0; k < last; k += SIMD_BYTES)
            memcpy(into + k, of + k, SIMD_BYTES);
        memcpy(into + last, of + last, SIMD_BYTES);
    }
}

const struct tree_near_kernels KITH_REAL_SYMBOL(tree_near) = {
    .sum = sum, .rough_error = ROUGH_ERROR, .copy_columns = copy_columns, .lanes = REAL_LANES};
