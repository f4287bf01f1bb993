/* The short-range sums of targets over candidates, of one instruction set and real type. */

#include "mesh/short_kernel.h"

#include <string.h>

#include "core/real.h"
#include "core/simd_gather.h"
#include "core/simd_math.h"
#include "pairs/lanes.h"

/* The numbers of the candidates within the cutoff. */
SIMD_INLINE int64_t find(const struct short_block *block, const VREAL at[3])
{
    const REAL *x_of = block->position[0], *y_of = block->position[1], *z_of = block->position[2];
    const VREAL limit = simd_all((REAL)1);
    const int32_t *numbers = block->number;
    int32_t *found = block->found;
    int64_t count = 0;
    for (int64_t p = 0; p < block->count; p += REAL_LANES) {
        OF_REAL(vindex) number;
        memcpy(&number, numbers + p, sizeof number);
        const VREAL x = simd_load(x_of + p) - at[0], y = simd_load(y_of + p) - at[1],
                    z = simd_load(z_of + p) - at[2];
        uint32_t mask = OF_REAL(lanes_below)(simd_fma(z, z, simd_fma(y, y, x * x)), limit);
        if (block->count - p < REAL_LANES)
            mask &= (1U << (block->count - p)) - 1;
        OF_REAL(lanes_store_chosen)(found + count, number, mask);
        count += __builtin_popcount(mask);
    }
    return count;
}

/* Vectors of candidates that share the loop over the coefficients; reals of a record. */
enum { wide = 2, has_rest = sizeof(REAL) < 8, record_reals = 4 };

/* d without what rounding took, of the pairs of a mask. */
static __attribute__((noinline)) void add_rests(const struct short_block *block, int64_t target,
                                                int64_t first, uint64_t mask, VREAL d[wide][3])
{
    const float *rest = block->target_rests + record_reals * target;
    for (; mask; mask &= mask - 1) {
        const int64_t k = __builtin_ctzll(mask);
        const float *from = block->rests + record_reals * (int64_t)block->found[first + k];
        for (int c = 0; c < 3; c++)
            d[k / REAL_LANES][c][k % REAL_LANES] += (REAL)(from[c] - rest[c]);
    }
}

SIMD_INLINE void add_found(bool is_sixth, const REAL *value, const REAL *factor, int32_t terms,
                           const struct short_block *block, const VREAL at[3], int64_t target,
                           int64_t first, int64_t count, VREAL sums[short_sums])
{
    VREAL field[wide][4], d[wide][3], r2[wide], z[wide], root[wide];
    VREAL smooth[wide][2], slope[wide][2];
    const VREAL near2 = simd_all((REAL)block->near2);
    uint64_t is_near = 0;
    SIMD_UNROLL
    for (int v = 0; v < wide; v++) {
        const REAL *from[REAL_LANES];
        SIMD_UNROLL
        for (int lane = 0; lane < REAL_LANES; lane++)
            from[lane] = (const REAL *)block->records +
                         record_reals * (int64_t)block->found[first + v * REAL_LANES + lane];
        simd_gather4(field[v], from, 0);
        SIMD_UNROLL
        for (int c = 0; c < 3; c++)
            d[v][c] = field[v][c] - at[c];
        r2[v] = simd_fma(d[v][2], d[v][2], simd_fma(d[v][1], d[v][1], d[v][0] * d[v][0]));
        is_near |= (uint64_t)OF_REAL(lanes_below)(r2[v], near2) << v * REAL_LANES;
    }
    if (count - first < wide * REAL_LANES)
        is_near &= (1ULL << (count - first)) - 1;
    if (is_near && has_rest) {
        add_rests(block, target, first, is_near, d);
        for (int v = 0; v < wide; v++)
            r2[v] = simd_fma(d[v][2], d[v][2], simd_fma(d[v][1], d[v][1], d[v][0] * d[v][0]));
    }
    SIMD_UNROLL
    for (int v = 0; v < wide; v++) {
        VMASK lane_number = {0};
        for (int lane = 0; lane < REAL_LANES; lane++)
            lane_number[lane] = lane;
        const int64_t left = count - first - v * REAL_LANES;
        const VMASK counts =
            lane_number < (VMASK){0} + (int32_t)(left < REAL_LANES ? left : REAL_LANES);
        field[v][3] = (VREAL)((VMASK)field[v][3] & counts);
        r2[v] = simd_select(counts, r2[v], simd_all((REAL)1));
        z[v] = simd_fma(r2[v], simd_all((REAL)2), simd_all((REAL)-1));
        root[v] = (VREAL)((VMASK)simd_rsqrt_of_subnormal(r2[v]) &
                          (VMASK)(r2[v] > simd_all((REAL)S2_FLOOR)));
        SIMD_UNROLL
        for (int odd = 0; odd < 2; odd++) {
            smooth[v][odd] = simd_all(value[terms - 2 + odd]);
            slope[v][odd] = simd_all(factor[terms - 2 + odd]);
        }
    }
    /* Even and odd powers by themselves: twice as many sums that do not wait for each other. */
    SIMD_KEEP_LOOP
    for (int32_t k = terms - 4; k >= 0; k -= 2) {
        SIMD_UNROLL
        for (int odd = 0; odd < 2; odd++) {
            const VREAL of_value = simd_all(value[k + odd]), of_factor = simd_all(factor[k + odd]);
            SIMD_UNROLL
            for (int v = 0; v < wide; v++) {
                smooth[v][odd] = simd_fma(smooth[v][odd], z[v] * z[v], of_value);
                slope[v][odd] = simd_fma(slope[v][odd], z[v] * z[v], of_factor);
            }
        }
    }
    SIMD_UNROLL
    for (int v = 0; v < wide; v++) {
        const VREAL w = field[v][3], square = root[v] * root[v];
        const VREAL of_value = simd_fma(smooth[v][1], z[v], smooth[v][0]);
        const VREAL of_slope = simd_fma(slope[v][1], z[v], slope[v][0]);
        VREAL near = root[v], steep = square * root[v];
        if (is_sixth) {
            const VREAL sixth = square * square * square;
            const VREAL twelfth = sixth * sixth * simd_all((REAL)block->repulsion);
            near = sixth - twelfth;
            steep = square * (simd_all((REAL)6) * sixth - simd_all((REAL)12) * twelfth);
        }
        const VREAL pull = w * (steep - of_slope);
        sums[short_potential] = simd_fma(w, near - of_value, sums[short_potential]);
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

/* The sums of a target, in whole vectors. */
enum { rows = ((int)short_sums + REAL_LANES - 1) / REAL_LANES * REAL_LANES };

SIMD_INLINE void add_all(bool is_sixth, const struct split *split, const struct short_block *block,
                         double *to)
{
    REAL value[split_most_terms], factor[split_most_terms];
    const int32_t terms = (split->terms + 1) / 2 * 2; /* those past the last are 0 */
    for (int32_t k = 0; k < terms; k++) {
        value[k] = (REAL)split->value[k];
        factor[k] = (REAL)split->factor[k];
    }
    for (int64_t i = 0; i < block->targets; i++, to += short_sums) {
        const REAL *target = (const REAL *)block->target_records + record_reals * i;
        VREAL at[3], sums[rows];
        REAL sum[rows];
        SIMD_UNROLL
        for (int k = 0; k < rows; k++)
            sums[k] = (VREAL){0};
        for (int c = 0; c < 3; c++)
            at[c] = simd_all(target[c]);
        const int64_t count = find(block, at);
        memset(block->found + count, 0, wide * REAL_LANES * sizeof *block->found);
        for (int64_t first = 0; first < count; first += (int64_t)wide * REAL_LANES)
            add_found(is_sixth, value, factor, terms, block, at, i, first, count, sums);
        SIMD_UNROLL
        for (int k = 0; k < rows; k += REAL_LANES)
            simd_store(sum + k, simd_sum_rows(sums + k));
        for (int k = 0; k < short_sums; k++)
            to[k] += (double)sum[k];
    }
}

static void sum(const struct split *split, const struct short_block *block, double *to)
{
    add_all(false, split, block, to);
}

static void sum_sixth(const struct split *split, const struct short_block *block, double *to)
{
    add_all(true, split, block, to);
}

/* What rounding took from positions. */
static void fill_rests(double *const *from, int64_t first, int64_t count, const double origin[3],
                       double scale, int64_t at, void *const position[3], float *rests)
{
    float *restrict rest = rests + record_reals * at;
    for (int c = 0; c < 3; c++) {
        const double *restrict x = from[c] + first;
        const REAL *restrict rounded = (REAL *)position[c] + at;
        for (int64_t k = 0; k < count; k++)
            rest[record_reals * k + c] = (float)((x[k] - origin[c]) * scale - (double)rounded[k]);
    }
    for (int64_t k = 0; k < count; k++)
        rest[record_reals * k + 3] = 0;
}

static void fill(double *const *from, int64_t first, int64_t count, const double origin[3],
                 double scale, int64_t at, void *const position[3], void *records, float *rests)
{
    REAL *restrict record = (REAL *)records + record_reals * at;
    for (int c = 0; c < 3; c++) {
        const double *restrict x = from[c] + first;
        REAL *restrict to = (REAL *)position[c] + at;
        const double middle = origin[c];
        for (int64_t k = 0; k < count; k++)
            to[k] = (REAL)((x[k] - middle) * scale);
    }
    const double *restrict w = from[3] + first;
    const REAL *restrict rounded_x = (REAL *)position[0] + at,
                         *restrict rounded_y = (REAL *)position[1] + at,
                         *restrict rounded_z = (REAL *)position[2] + at;
    for (int64_t k = 0; k < count; k++) {
        record[4 * k] = rounded_x[k];
        record[4 * k + 1] = rounded_y[k];
        record[4 * k + 2] = rounded_z[k];
        record[4 * k + 3] = (REAL)w[k];
    }
    if (has_rest)
        fill_rests(from, first, count, origin, scale, at, position, rests);
}

const struct short_kernels KITH_REAL_SYMBOL(mesh_short) = {sum, sum_sixth, fill};
