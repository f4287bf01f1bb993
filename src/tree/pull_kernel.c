/* tree_add_pull of several sources, a source a lane: the operations of tree/pull.h in the same
 * order. Only the sums are of one source after the other. */

#include "tree/pull_kernel.h"

#include "core/simd.h"
#include "core/simd_gather.h"
#include "core/simd_math.h"

enum { lanes = SIMD_BYTES / sizeof(double) };

/* What each source of a vector adds. */
struct pulls {
    double vector[3][lanes], magnitude[lanes], potential[lanes];
};

/* Lanes past the last source repeat it. A source with s² = 0 adds 0. */
SIMD_INLINE void find_pulls(const struct tree_side *target, const struct tree_side *sides,
                            const double *net, const int32_t *sources, int64_t count,
                            double softening2, enum expansion_law law, bool is_near,
                            struct pulls *pulls)
{
    const double *side[lanes];
    vdouble of[8], weight = {0}, d[3], zero = {0};
    SIMD_UNROLL
    for (int lane = 0; lane < lanes; lane++) {
        const int64_t cell = sources[lane < count ? lane : count - 1];
        side[lane] = sides[cell].center;
        weight[lane] = net[cell];
    }
    simd_gather4(of, side, 0);
    simd_gather4(of + 4, side, 4);
    for (int c = 0; c < 3; c++)
        d[c] = of[c] - target->center[c];
    vdouble r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
    if (is_near)
        r2 += of[3] * of[3];
    const vdouble s2 = r2 + softening2, s = SIMD_SQRT_DOUBLE(s2);
    vdouble power = s2;
    if (law == expansion_inverse)
        power *= s;
    const vdouble factor = weight / power;
    vdouble r = s, potential = of[4];
    if (softening2 > 0)
        r = SIMD_SQRT_DOUBLE(r2);
    if (law == expansion_inverse)
        potential /= s;
    simd_store(pulls->magnitude, simd_unless_equal(s2, zero, of[4] / power * r));
    simd_store(pulls->potential, simd_unless_equal(s2, zero, potential));
    for (int c = 0; c < 3 && !is_near; c++)
        simd_store(pulls->vector[c], simd_unless_equal(s2, zero, factor * d[c]));
}

void KITH_ISA_SYMBOL(tree_pull)(const struct tree_side *target, const struct tree_side *sides,
                                const double *net, const int32_t *sources, int64_t count,
                                double softening2, enum expansion_law law, bool is_near,
                                struct tree_pull *pull)
{
    struct tree_pull sum = *pull;
    struct pulls pulls;
    for (int64_t first = 0; first < count; first += lanes) {
        const int64_t left = count - first, used = left < lanes ? left : lanes;
        find_pulls(target, sides, net, sources + first, left, softening2, law, is_near, &pulls);
        for (int64_t k = 0; k < used; k++) {
            sum.magnitude += pulls.magnitude[k];
            sum.potential += pulls.potential[k];
            sum.near += is_near ? pulls.magnitude[k] : 0;
            for (int c = 0; c < 3 && !is_near; c++)
                sum.vector[c] += pulls.vector[c][k];
        }
    }
    *pull = sum;
}
