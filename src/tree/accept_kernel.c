/* tree_accepts of several sources, a source a lane: the operations of tree/acceptance.h in the same
 * order; and laws that are not there, by their decay. */

#include "tree/accept_kernel.h"

#include <float.h>

#include "core/simd.h"
#include "core/simd_gather.h"
#include "core/simd_math.h"
#include "tree/expansion.h"

enum { lanes = SIMD_BYTES / sizeof(double) };

struct source_lanes {
    vdouble r, radius, weight, size, field, potential; /* from weight on by load_weights */
    const double *side[lanes], *power_at[lanes];
};

/* What stands for 1/r² in the estimate of the error, and in the field of a cell's weight. */
struct decay_lanes {
    vdouble field, slope, noise;
};

/* Element k of what is at each lane's address. */
SIMD_INLINE vdouble gather(const double *const *at, int32_t k)
{
    vdouble x = {0};
    SIMD_UNROLL
    for (int lane = 0; lane < lanes; lane++)
        x[lane] = at[lane][k];
    return x;
}

/* a where the mask is set, else b. */
SIMD_INLINE vdouble choose(vint64 mask, vdouble a, vdouble b)
{
    return (vdouble)((mask & (vint64)a) | (~mask & (vint64)b));
}

/* Lane k of a mask as accepted[k]. */
SIMD_INLINE void store_mask(vint64 mask, bool *accepted)
{
    typedef int8_t bytes __attribute__((vector_size(lanes)));
    const bytes each = __builtin_convertvector(mask, bytes) & 1;
    memcpy(accepted, &each, sizeof each);
}

/* Lanes past the last source repeat it. */
SIMD_INLINE void load_sources(const struct tree_rule *rule, const struct tree_side *target,
                              const struct tree_side *sides, const double *powers,
                              const int32_t *sources, int32_t count, struct source_lanes *to)
{
    const int32_t terms = rule->order > 0 ? rule->order + 1 : 0;
    SIMD_UNROLL
    for (int lane = 0; lane < lanes; lane++) {
        const int64_t cell = sources[lane < count ? lane : count - 1];
        to->side[lane] = sides[cell].center;
        to->power_at[lane] = powers + cell * terms;
    }
    vdouble of[4];
    simd_gather4(of, to->side, 0);
    const vdouble x = target->center[0] - of[0], y = target->center[1] - of[1],
                  z = target->center[2] - of[2];
    to->radius = of[3];
    to->r = SIMD_SQRT_DOUBLE(x * x + y * y + z * z);
}

SIMD_INLINE void load_weights(struct source_lanes *of)
{
    vdouble column[4];
    simd_gather4(column, of->side, 4);
    of->weight = column[0];
    of->size = column[1];
    of->field = column[2];
    of->potential = column[3];
}

/* C(p, k) P_k / size^k of the sources, k = 0 … order. */
SIMD_INLINE void load_powers(const struct source_lanes *of, int32_t order, vdouble *power)
{
    int32_t k = 0;
    for (; k + 4 <= order + 1; k += 4)
        simd_gather4(power + k, of->power_at, k);
    for (; k <= order; k++)
        power[k] = gather(of->power_at, k);
}

/* What both radii have to do with the error. */
SIMD_INLINE vdouble of_radii(vdouble radius, vdouble other)
{
    const vdouble both = radius + other, larger = choose((vint64)(radius > other), radius, other);
    return choose((vint64)(both > 0), 8 * larger / both, (vdouble){0});
}

/* tree_make_pair */
struct pair_lanes {
    vdouble r, inverse, factor;
};

SIMD_INLINE struct pair_lanes make_pair(vdouble radius, vdouble other, vdouble r)
{
    const vdouble one = simd_all(1.0), zero = {0};
    const vdouble both = radius + other, larger = choose((vint64)(radius > other), radius, other);
    const vdouble rest = 2 * (r - both);
    const vint64 is_slow = (vint64)(r > rest);
    const vdouble factor =
        8 * larger * choose(is_slow, r, one) / (both * choose(is_slow, rest, one));
    return (struct pair_lanes){r, 1 / r, choose((vint64)(both > 0), factor, zero)};
}

/* Of radii that are together `both`; outside of the bins nothing is accepted. */
SIMD_INLINE struct decay_lanes find_decay(const struct tree_decay *decay, vdouble r, vdouble both)
{
    double field[lanes], slope[lanes], noise[lanes];
    const vdouble length = r * decay->per_unit, column = both / r * (double)tree_decay_scale;
    const vint64 number = (vint64)(length * length) >> (DBL_MANT_DIG - 1 - expansion_bin_bits);
    SIMD_UNROLL
    for (int lane = 0; lane < lanes; lane++) {
        const int64_t bin = number[lane] - decay->first;
        const bool is_inside = r[lane] > 0 && bin >= 0 && bin < decay->count;
        const struct tree_decay_row *row = &decay->rows[is_inside ? bin : 0];
        const bool is_known = is_inside && column[lane] < tree_decay_angles;
        field[lane] = is_known ? row->field[(int)column[lane]] : (double)INFINITY;
        slope[lane] = row->slope;
        noise[lane] = row->noise;
    }
    return (struct decay_lanes){simd_load(field), simd_load(slope), simd_load(noise)};
}

/* tree_error_is_small: of a source with these powers at a target with this radius and field. */
SIMD_INLINE vint64 is_small(const struct tree_rule *rule, vdouble size, const vdouble *power,
                            vdouble weight, vdouble radius, vdouble field, vdouble potential,
                            const struct pair_lanes *pair, const struct decay_lanes *decay)
{
    const vdouble t = size * pair->inverse, u = radius * pair->inverse, r = pair->r;
    const vdouble one = simd_all(1.0);
    vdouble sum = power[0], t_k = one;
    for (int32_t k = 1; k <= rule->order; k++) {
        t_k *= t;
        sum = sum * u + power[k] * t_k;
    }
    if (decay) {
        vdouble u_p = one;
        for (int32_t k = 0; k < rule->order; k++)
            u_p *= u;
        const vdouble of_law = decay->field * sum + weight * decay->noise;
        return (vint64)(of_law <= rule->share * field) &
               (vint64)(of_law * r <= rule->share * potential) &
               (vint64)(decay->field * u_p * weight <= rule->coherent * weight * decay->slope);
    }
    const vdouble error = pair->factor * sum, to_field = rule->logarithm ? one : r;
    return (vint64)(error <= rule->share * field * (r * to_field)) &
           (vint64)(error <= rule->share * potential * to_field) &
           (vint64)(radius <= rule->angle * r);
}

/* The same of sources that act as points. */
SIMD_INLINE vint64 is_point(const struct tree_rule *rule, const struct tree_side *target,
                            const struct source_lanes *of)
{
    const vdouble r = of->r, r2 = r * r, s2 = r2 + rule->softening2;
    const vdouble dipole = gather(of->power_at, 0), higher = gather(of->power_at, 1),
                  softened = gather(of->power_at, 2) * rule->softening2;
    const vdouble error = (dipole * r + higher) * s2 + softened; /* δ r⁴ s² */
    const vdouble to_field = rule->logarithm ? simd_all(1.0) : r;
    const vdouble limit = rule->share * to_field * r2 * s2;
    return (vint64)(error <= limit * r * target->field) &
           (vint64)(error <= limit * target->potential);
}

SIMD_INLINE vint64 accept(const struct tree_rule *rule, const struct tree_side *target,
                          const double *target_power, struct source_lanes *of)
{
    const bool of_groups = rule->walk == tree_walk_groups;
    const vdouble zero = {0}, radius = zero + (of_groups ? 0 : target->radius);
    of->r -= of_groups ? target->radius : 0;
    vint64 accepted = (vint64)(of->radius + radius < rule->theta * of->r);
    if (!SIMD_ANY_DOUBLE(accepted))
        return accepted;
    struct decay_lanes decay = {{0}, {0}, {0}};
    const struct decay_lanes *const by_decay = rule->decay ? &decay : NULL;
    if (by_decay) {
        decay = find_decay(rule->decay, of->r, of->radius + radius);
        accepted &= (vint64)(decay.field < (double)INFINITY);
        decay.field *= of_radii(of->radius, radius);
    }
    if (rule->order == 0)
        return accepted;
    if (rule->points)
        return accepted & is_point(rule, target, of);
    load_weights(of);
    const struct pair_lanes pair = make_pair(of->radius, radius, of->r);
    vdouble power[expansion_max_order + 1];
    power[0] = zero; /* a compiler does not see that there is an order */
    load_powers(of, rule->order, power);
    accepted &= is_small(rule, of->size, power, of->weight, radius, zero + target->field,
                         zero + target->potential, &pair, by_decay);
    if (rule->walk != tree_walk_mutual || !SIMD_ANY_DOUBLE(accepted))
        return accepted;
    for (int32_t k = 0; k <= rule->order; k++)
        power[k] = zero + target_power[k];
    return accepted & is_small(rule, zero + target->size, power, zero + target->weight, of->radius,
                               of->field, of->potential, &pair, by_decay);
}

void KITH_ISA_SYMBOL(tree_accept)(const struct tree_rule *rule, const struct tree_side *target,
                                  const double *target_power, const struct tree_side *sides,
                                  const double *powers, const int32_t *sources, int32_t count,
                                  bool *accepted)
{
    for (int32_t first = 0; first < count; first += lanes) {
        struct source_lanes of;
        load_sources(rule, target, sides, powers, sources + first, count - first, &of);
        store_mask(accept(rule, target, target_power, &of), accepted + first);
    }
}
