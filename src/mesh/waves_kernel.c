/* The kernels of the mesh, of one instruction set and real type: spreading, gathering and
 * multiplying. */

#include "mesh/waves_kernel.h"

#include <string.h>

#include "core/real.h"
#include "core/simd_by_lane.h"
#include "core/simd_math.h"

enum { parts = ((int)splines_most_order + REAL_LANES - 1) / REAL_LANES, span = parts * REAL_LANES };

/* Splines of all points along an axis, by Horner's rule. */
SIMD_INLINE void splines(const REAL *table, int32_t terms, REAL t, VREAL to[parts])
{
    const VREAL x = simd_all(t);
    SIMD_UNROLL
    for (int part = 0; part < parts; part++)
        to[part] = simd_load(table + (terms - 1) * waves_padding + part * REAL_LANES);
    for (int32_t m = terms - 2; m >= 0; m--) {
        SIMD_UNROLL
        for (int part = 0; part < parts; part++)
            to[part] =
                simd_fma(to[part], x, simd_load(table + m * waves_padding + part * REAL_LANES));
    }
}

SIMD_INLINE void store_splines(const REAL *table, int32_t terms, REAL t, REAL *to)
{
    VREAL value[parts];
    splines(table, terms, t, value);
    SIMD_UNROLL
    for (int part = 0; part < parts; part++)
        simd_store(to + part * REAL_LANES, value[part]);
}

SIMD_INLINE int32_t wrapped(int32_t index, int32_t count)
{
    return index < count ? index : index - count;
}

/* From the beginning of a plane to the rows of a particle. */
SIMD_INLINE void find_rows(const struct waves_mesh *mesh, int64_t p, int64_t *row)
{
    for (int32_t j = 0; j < mesh->order; j++)
        row[j] = wrapped(mesh->first[1][p] + j, mesh->grid[1]) * mesh->pitch + mesh->first[2][p];
}

static void spread(const struct waves_mesh *mesh, int64_t begin, int64_t end, int32_t low,
                   int32_t high)
{
    const REAL *const *offset = (const REAL *const *)mesh->offset;
    for (int64_t p = begin; p < end; p++) {
        REAL x[span], y[span];
        VREAL z[parts];
        int64_t row[splines_most_order];
        store_splines(mesh->value, mesh->order, offset[0][p], x);
        store_splines(mesh->value, mesh->order, offset[1][p], y);
        splines(mesh->value, mesh->order, offset[2][p], z);
        const VREAL weight = simd_all(((const REAL *)mesh->weight)[p]);
        SIMD_UNROLL
        for (int part = 0; part < parts; part++)
            z[part] = z[part] * weight;
        find_rows(mesh, p, row);
        for (int32_t i = 0; i < mesh->order; i++) {
            const int32_t at = wrapped(mesh->first[0][p] + i, mesh->grid[0]);
            if (at < low || at >= high)
                continue;
            REAL *plane = (REAL *)mesh->points + at * mesh->plane;
            for (int32_t j = 0; j < mesh->order; j++) {
                const VREAL of_row = simd_all(x[i] * y[j]);
                SIMD_UNROLL
                for (int part = 0; part < parts; part++) {
                    REAL *to = plane + row[j] + part * REAL_LANES;
                    simd_store(to, simd_fma(z[part], of_row, simd_load(to)));
                }
            }
        }
    }
}

static void fold(const struct waves_mesh *mesh, int64_t plane)
{
    REAL *row = (REAL *)mesh->points + plane * mesh->plane;
    for (int32_t j = 0; j < mesh->grid[1]; j++, row += mesh->pitch)
        for (int32_t k = 0; k < waves_padding; k++)
            row[k % mesh->grid[2]] += row[mesh->grid[2] + k];
}

static void extend(const struct waves_mesh *mesh, int64_t plane)
{
    REAL *row = (REAL *)mesh->points + plane * mesh->plane;
    for (int32_t j = 0; j < mesh->grid[1]; j++, row += mesh->pitch)
        for (int32_t k = 0; k < waves_padding; k++)
            row[mesh->grid[2] + k] = row[k % mesh->grid[2]];
}

/* The four sums of a particle, to be added up over the lanes. */
SIMD_INLINE void gather_one(const struct waves_mesh *mesh, int64_t p, VREAL sums[4])
{
    const REAL *const *offset = (const REAL *const *)mesh->offset;
    const int32_t order = mesh->order;
    REAL x[2][span], y[2][span];
    VREAL z[2][parts], all[3][parts];
    int64_t row[splines_most_order];
    store_splines(mesh->value, order, offset[0][p], x[0]);
    store_splines(mesh->slope, order - 1, offset[0][p], x[1]);
    store_splines(mesh->value, order, offset[1][p], y[0]);
    store_splines(mesh->slope, order - 1, offset[1][p], y[1]);
    splines(mesh->value, order, offset[2][p], z[0]);
    splines(mesh->slope, order - 1, offset[2][p], z[1]);
    find_rows(mesh, p, row);
    memset(all, 0, sizeof all);
    for (int32_t i = 0; i < order; i++) {
        const REAL *plane = (const REAL *)mesh->points +
                            wrapped(mesh->first[0][p] + i, mesh->grid[0]) * mesh->plane;
        VREAL in_plane[parts], along_y[parts];
        memset(in_plane, 0, sizeof in_plane);
        memset(along_y, 0, sizeof along_y);
        for (int32_t j = 0; j < order; j++) {
            SIMD_UNROLL
            for (int part = 0; part < parts; part++) {
                const VREAL point = simd_load(plane + row[j] + part * REAL_LANES);
                in_plane[part] = simd_fma(point, simd_all(y[0][j]), in_plane[part]);
                along_y[part] = simd_fma(point, simd_all(y[1][j]), along_y[part]);
            }
        }
        SIMD_UNROLL
        for (int part = 0; part < parts; part++) {
            all[0][part] = simd_fma(in_plane[part], simd_all(x[0][i]), all[0][part]);
            all[1][part] = simd_fma(in_plane[part], simd_all(x[1][i]), all[1][part]);
            all[2][part] = simd_fma(along_y[part], simd_all(x[0][i]), all[2][part]);
        }
    }
    memset(sums, 0, 4 * sizeof *sums);
    SIMD_UNROLL
    for (int part = 0; part < parts; part++) {
        SIMD_UNROLL
        for (int c = 0; c < 3; c++)
            sums[c] = simd_fma(all[c][part], z[0][part], sums[c]);
        sums[3] = simd_fma(all[0][part], z[1][part], sums[3]);
    }
}

/* Four particles have as many sums as the longest vector has lanes. */
static void gather(const struct waves_mesh *mesh, int64_t begin, int64_t end, double (*sums)[4])
{
    for (int64_t p = begin; p < end; p += 4) {
        VREAL lanes_of[16];
        REAL sum[16];
        const int64_t count = end - p < 4 ? end - p : 4;
        memset(lanes_of, 0, sizeof lanes_of);
        for (int64_t k = 0; k < count; k++)
            gather_one(mesh, p + k, lanes_of + 4 * k);
        SIMD_UNROLL
        for (int k = 0; k < 16; k += REAL_LANES)
            simd_store(sum + k, simd_sum_rows(lanes_of + k));
        for (int64_t k = 0; k < 4 * count; k++)
            sums[p - begin + k / 4][k % 4] = (double)sum[k];
    }
}

/* What a wave is multiplied by, and that times b of the header. */
SIMD_INLINE void find_factors(bool is_sixth, const struct waves_row *row, vdouble k2, vdouble flat,
                              double *factor, double *bent)
{
    const vdouble fall = simd_all(row->fall), b2 = k2 * fall, bell = simd_exp(-b2);
    const vdouble scale = flat * simd_all(row->scale);
    if (is_sixth) {
        const vdouble root_pi = simd_all(1.7724538509055160273), b = simd_sqrt(b2);
        const vdouble edge = root_pi * b * simd_erfc(b), one = simd_all(1.0);
        const vdouble two = simd_all(2.0);
        simd_store(factor, scale * ((one - two * b2) * bell + two * b2 * edge));
        simd_store(bent, scale * simd_all(6.0) * fall * (bell - edge));
        return;
    }
    const vint64 is_there = k2 > 0;
    const vdouble over = simd_all(1.0) / simd_select(is_there, k2, simd_all(1.0));
    const vdouble all = simd_select(is_there, bell * over * scale, (vdouble){0});
    simd_store(factor, all);
    simd_store(bent, all * (over + fall) * simd_all(2.0));
}

SIMD_INLINE void multiply_all(bool is_sixth, const struct waves_row *row, void *waves,
                              double sums[4])
{
    enum { lanes = SIMD_BYTES / (int)sizeof(double) };
    REAL *at = waves;
    vdouble lane = {0};
    for (int k = 0; k < lanes; k++)
        lane[k] = k;
    for (int64_t first = 0; first < row->count; first += waves_chunk) {
        double factor[waves_chunk] = {0}, bent[waves_chunk] = {0};
        const int64_t left = row->count - first;
        const int64_t count = left < waves_chunk ? left : waves_chunk;
        for (int64_t l = 0; l < count; l += lanes) {
            vdouble k2 = {0};
            SIMD_UNROLL
            for (int c = 0; c < 3; c++) {
                const vdouble k = simd_fma(lane + (double)(first + l), simd_all(row->step[c]),
                                           simd_all(row->start[c]));
                k2 = simd_fma(k, k, k2);
            }
            find_factors(is_sixth, row, k2, simd_load(row->flat + first + l), factor + l, bent + l);
        }
        for (int64_t l = 0; l < count; l++, at += 2) {
            const double re = (double)at[0], im = (double)at[1], number = (double)(first + l);
            const double square = row->twice[first + l] * (re * re + im * im);
            const double of_bent = square * bent[l];
            sums[0] += square * factor[l];
            sums[1] += of_bent;
            sums[2] += of_bent * number;
            sums[3] += of_bent * number * number;
            at[0] *= (REAL)factor[l];
            at[1] *= (REAL)factor[l];
        }
    }
}

static void multiply(const struct waves_row *row, void *waves, double sums[4])
{
    multiply_all(false, row, waves, sums);
}

static void multiply_sixth(const struct waves_row *row, void *waves, double sums[4])
{
    multiply_all(true, row, waves, sums);
}

const struct waves_kernels KITH_REAL_SYMBOL(mesh_waves) = {.spread = spread,
                                                           .fold = fold,
                                                           .extend = extend,
                                                           .gather = gather,
                                                           .multiply = multiply,
                                                           .multiply_sixth = multiply_sixth};
