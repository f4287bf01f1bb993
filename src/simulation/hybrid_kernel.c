/* The kernels of hybrid for one instruction set: hybrid.h has the method. */

#include "simulation/hybrid.h"

#include "core/floors.h"
#include "simulation/whfast_kepler.h"

enum { lanes = whfast_lanes };
_Static_assert(hybrid_lanes % lanes == 0, "columns end in the middle of a vector");

static void drift(struct hybrid_planets *planets, double h)
{
    for (int64_t i = 0; i < planets->count; i += lanes) {
        vdouble q[3], v[3], lost_q[3] = {{0}}, lost_v[3] = {{0}};
        SIMD_UNROLL
        for (int32_t c = 0; c < 3; c++) {
            q[c] = simd_load_double(planets->q[c] + i);
            v[c] = simd_load_double(planets->v[c] + i);
        }
        whfast_kepler(simd_load_double(planets->mu + i), simd_all(h), q, v, lost_q, lost_v);
        SIMD_UNROLL
        for (int32_t c = 0; c < 3; c++) {
            simd_store(planets->q[c] + i, q[c]);
            simd_store(planets->v[c] + i, v[c]);
        }
    }
}

static void pull(const struct hybrid_planets *planets, int64_t i, double acceleration[3])
{
    vdouble x[3], sum[3] = {{0}};
    SIMD_UNROLL
    for (int32_t c = 0; c < 3; c++)
        x[c] = simd_all(planets->q[c][i]);
    for (int64_t j = 0; j < planets->sources; j += lanes) {
        vdouble d[3], s2 = simd_all(S2_FLOOR_DOUBLE);
        SIMD_UNROLL
        for (int32_t c = 0; c < 3; c++) {
            d[c] = simd_load_double(planets->source_q[c] + j) - x[c];
            s2 = simd_fma(d[c], d[c], s2);
        }
        const vdouble factor = simd_load_double(planets->source_gm + j) * simd_rsqrt3_scaled(s2) *
                               simd_all(1 / SIMD_RSQRT3_SCALE_DOUBLE);
        SIMD_UNROLL
        for (int32_t c = 0; c < 3; c++)
            sum[c] = simd_fma(factor, d[c], sum[c]);
    }
    for (int32_t c = 0; c < 3; c++) {
        acceleration[c] = 0;
        for (int32_t k = 0; k < lanes; k++)
            acceleration[c] += sum[c][k];
    }
}

/* With d and u the relative position and velocity of a pair, d² has its minimum at −d·u / u², in a
 * time of half if |d·u| ≤ half u²; before that the distance at half counts, as if the planets moved
 * towards each other. Multiplied by u², there is no quotient. */
SIMD_INLINE vint64 are_close(const struct hybrid_planets *planets, int64_t i, int64_t j,
                             vdouble half)
{
    vdouble d2 = {0}, u2 = {0}, du = {0};
    SIMD_UNROLL
    for (int32_t c = 0; c < 3; c++) {
        const vdouble d = simd_load_double(planets->q[c] + j) - simd_all(planets->q[c][i]);
        const vdouble u = simd_load_double(planets->v[c] + j) - simd_all(planets->v[c][i]);
        d2 = simd_fma(d, d, d2);
        u2 = simd_fma(u, u, u2);
        du = simd_fma(d, u, du);
    }
    const vdouble own = simd_all(planets->reach[i]), other = simd_load_double(planets->reach + j);
    const vint64 is_other = own < other;
    const vdouble reach = (vdouble)(((vint64)other & is_other) | ((vint64)own & ~is_other));
    const vdouble reach2 = reach * reach, way = (vdouble)((vint64)du & INT64_MAX);
    const vint64 in_time = way <= half * u2;
    const vint64 passes = simd_fma(d2, u2, -(du * du)) < reach2 * u2;
    const vint64 arrives = simd_fma(half, simd_fma(half, u2, -(way + way)), d2) < reach2;
    return (reach2 > 0) & ((d2 < reach2) | (in_time & passes) | (~in_time & arrives));
}

static int64_t find(const struct hybrid_planets *planets, double half, int64_t i, int32_t *found)
{
    const bool is_first_without_mass = planets->source[i] < i;
    const int64_t begin = is_first_without_mass ? 0 : i / lanes * lanes;
    int64_t count = 0;
    for (int64_t first = begin; first < planets->count; first += lanes) {
        const vint64 close = are_close(planets, i, first, simd_all(half));
        if (!SIMD_ANY_DOUBLE(close))
            continue;
        for (int32_t k = 0; k < lanes; k++)
            if (close[k] && first + k < planets->count &&
                (first + k > i || planets->source[first + k] < 0))
                found[count++] = (int32_t)(first + k);
    }
    return count;
}

const struct hybrid_kernels KITH_ISA_SYMBOL(hybrid) = {.drift = drift, .pull = pull, .find = find};
