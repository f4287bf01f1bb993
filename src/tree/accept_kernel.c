/* tree_judge of several sources, a source a lane: the operations of tree/acceptance.h in the same
 * order; and laws that are not there, by their decay. */

#include "tree/accept_kernel.h"

#include <float.h>

#include "core/simd.h"
#include "core/simd_gather.h"
#include "core/simd_math.h"
#include "tree/expansion.h"

enum { lanes = SIMD_BYTES / sizeof(double), together = 2 };

struct source_lanes {
    vdouble r, radius, weight, size, field, potential; /* from weight on by load_weights */
    const double *side[lanes], *powers;
    const int32_t *cells;
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

SIMD_INLINE void store_verdicts(vint64 verdicts, uint8_t *to)
{
    typedef uint8_t bytes __attribute__((vector_size(lanes)));
    const bytes each = __builtin_convertvector(verdicts, bytes);
    memcpy(to, &each, sizeof each);
}

SIMD_INLINE void load_sources(const struct tree_side *target, const struct tree_side *sides,
                              const double *powers, const int32_t *cells, struct source_lanes *to)
{
    to->powers = powers;
    to->cells = cells;
    SIMD_UNROLL
    for (int lane = 0; lane < lanes; lane++)
        to->side[lane] = sides[cells[lane]].center;
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

/* The rows of powers of the sources. */
SIMD_INLINE void find_rows(const struct source_lanes *of, int32_t order, const double **row)
{
    SIMD_UNROLL
    for (int lane = 0; lane < lanes; lane++)
        row[lane] = of->powers + (int64_t)of->cells[lane] * (order + 1);
}

/* C(p, k) P_k / size^k of the sources, k = 0 … order. */
SIMD_INLINE void load_powers(const struct source_lanes *of, int32_t order, vdouble *power)
{
    const double *row[lanes];
    int32_t k = 0;
    find_rows(of, order, row);
    for (; k + 4 <= order + 1; k += 4)
        simd_gather4(power + k, row, k);
    if (k > 0 && k <= order)
        simd_gather4(power + order - 3, row, order - 3);
    else
        for (; k <= order; k++)
            power[k] = gather(row, k);
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

/* tree_error of a vector of pairs, one way: each step waits for the one before, so that those of
 * several are taken in turns. */
struct error_lanes {
    vdouble t, u, t_k, sum;
};

SIMD_INLINE struct error_lanes begin_error(vdouble size, vdouble radius, vdouble inverse,
                                           vdouble power)
{
    return (struct error_lanes){size * inverse, radius * inverse, simd_all(1.0), power};
}

SIMD_INLINE void add_power(struct error_lanes *error, vdouble power)
{
    error->t_k *= error->t;
    error->sum = error->sum * error->u + power * error->t_k;
}

/* tree_error_is_small of a source at a target with this radius and field. */
SIMD_INLINE vint64 is_small(const struct tree_rule *rule, const struct error_lanes *error,
                            vdouble weight, vdouble radius, vdouble field, vdouble potential,
                            const struct pair_lanes *pair, const struct decay_lanes *decay)
{
    const vdouble one = simd_all(1.0), r = pair->r;
    if (rule->decay) {
        vdouble u_p = one;
        for (int32_t k = 0; k < rule->order; k++)
            u_p *= error->u;
        const vdouble of_law = decay->field * error->sum + weight * decay->noise;
        return (vint64)(of_law <= rule->share * field) &
               (vint64)(of_law * r <= rule->share * potential) &
               (vint64)(decay->field * u_p * weight <= rule->coherent * weight * decay->slope);
    }
    const vdouble all = pair->factor * error->sum, to_field = rule->logarithm ? one : r;
    return (vint64)(all <= rule->share * field * (r * to_field)) &
           (vint64)(all <= rule->share * potential * to_field) &
           (vint64)(radius <= rule->angle * r);
}

/* The same of sources that act as points. */
SIMD_INLINE vint64 is_point(const struct tree_rule *rule, const struct tree_side *target,
                            const struct source_lanes *of)
{
    const vdouble r = of->r, r2 = r * r, s2 = r2 + rule->softening2;
    const double *row[lanes];
    find_rows(of, rule->order, row);
    const vdouble dipole = gather(row, 0), higher = gather(row, 1),
                  softened = gather(row, 2) * rule->softening2;
    const vdouble error = (dipole * r + higher) * s2 + softened; /* δ r⁴ s² */
    const vdouble to_field = rule->logarithm ? simd_all(1.0) : r;
    const vdouble limit = rule->share * to_field * r2 * s2;
    return (vint64)(error <= limit * r * target->field) &
           (vint64)(error <= limit * target->potential);
}

/* Of sources within theta: whether the errors both ways are small, or of a rule that is not mutual
 * the source's. */
SIMD_INLINE void find_errors(const struct tree_rule *rule, const struct tree_side *target,
                             const double *target_power, vdouble radius, const bool mutual,
                             struct source_lanes *of, const struct decay_lanes *decay,
                             vint64 *accepted)
{
    const vdouble zero = {0};
    vdouble power[together][expansion_max_order + 1];
    struct pair_lanes pair[together];
    struct error_lanes error[together], back[together];
    SIMD_UNROLL
    for (int32_t v = 0; v < together; v++) {
        load_weights(&of[v]);
        pair[v] = make_pair(of[v].radius, radius, of[v].r);
        power[v][0] = zero; /* a compiler does not see that there is an order */
        load_powers(&of[v], rule->order, power[v]);
        error[v] = begin_error(of[v].size, radius, pair[v].inverse, power[v][0]);
        back[v] = begin_error(zero + target->size, of[v].radius, pair[v].inverse,
                              zero + (mutual ? target_power[0] : 0));
    }
    for (int32_t k = 1; k <= rule->order; k++) {
        SIMD_UNROLL
        for (int32_t v = 0; v < together; v++) {
            add_power(&error[v], power[v][k]);
            if (mutual)
                add_power(&back[v], zero + target_power[k]);
        }
    }
    SIMD_UNROLL
    for (int32_t v = 0; v < together; v++) {
        accepted[v] &= is_small(rule, &error[v], of[v].weight, radius, zero + target->field,
                                zero + target->potential, &pair[v], &decay[v]);
        if (mutual)
            accepted[v] &= is_small(rule, &back[v], zero + target->weight, of[v].radius,
                                    of[v].field, of[v].potential, &pair[v], &decay[v]);
    }
}

/* Of pairs that are not far: tree_acts_as_point of the smaller cell on the larger one. */
SIMD_INLINE vint64 is_uneven(const struct tree_rule *rule, const struct tree_side *target,
                             const double *target_power, bool target_is_leaf, vint64 is_far,
                             struct source_lanes *of)
{
    const vdouble zero = {0}, of_target = zero + target->radius, one = simd_all(1.0);
    const vint64 none = {0}, is_larger = (vint64)(of->radius > of_target); /* the source */
    const vdouble radius = choose(is_larger, of_target, of->radius);
    const vdouble larger = choose(is_larger, of->radius, of_target), r = of->r - larger;
    vint64 is = ~is_far & (vint64)(2 * radius < larger) & (vint64)(radius < rule->theta * r) &
                (target_is_leaf ? ~none : is_larger);
    if (!SIMD_ANY_DOUBLE(is))
        return is;
    load_weights(of);
    const vdouble size = choose(is_larger, zero + target->size, of->size);
    const vdouble weight = choose(is_larger, zero + target->weight, of->weight);
    const vdouble u = radius / r, r2 = r * r, rest = 1 - u, second = weight * (u * u);
    const vdouble back = choose(is_larger, of->weight, zero + target->weight) * (u * u);
    const vdouble of_field = rule->share * choose(is_larger, of->field, zero + target->field) * r2;
    const vdouble of_potential =
        rule->share * choose(is_larger, of->potential, zero + target->potential) * r;
    const vdouble limit = choose((vint64)(of_field < of_potential), of_field, of_potential);
    const vdouble field_back = choose(is_larger, zero + target->field, of->field);
    const vdouble potential_back = choose(is_larger, zero + target->potential, of->potential);
    is &= (vint64)(size <= r) & (vint64)(tree_least_second * second <= limit) &
          (vint64)(back * (3 - 2 * u) <= rule->share * field_back * r2 * (rest * rest)) &
          (vint64)(back * u <= rule->share * potential_back * r * rest);
    if (!SIMD_ANY_DOUBLE(is))
        return is;
    const vdouble t = size / r;
    vdouble power[expansion_max_order + 1];
    power[0] = zero;
    load_powers(of, rule->order, power);
    vdouble error = 2.5 * second * rule->softening2 / (r2 + rule->softening2), t_k = one;
    for (int32_t k = 1; k <= rule->order; k++) {
        t_k *= t;
        error += rule->as_point[k] * choose(is_larger, zero + target_power[k], power[k]) * t_k;
    }
    return is & (vint64)(error <= limit);
}

SIMD_INLINE void accept(const struct tree_rule *rule, const struct tree_side *target,
                        const double *target_power, struct source_lanes *of, vint64 *accepted)
{
    const bool of_groups = rule->walk == tree_walk_groups;
    const vdouble zero = {0}, radius = zero + (of_groups ? 0 : target->radius);
    struct decay_lanes decay[together] = {{{0}, {0}, {0}}};
    vint64 any = {0};
    SIMD_UNROLL
    for (int32_t v = 0; v < together; v++) {
        of[v].r -= of_groups ? target->radius : 0;
        accepted[v] = (vint64)(of[v].radius + radius < rule->theta * of[v].r);
        any |= accepted[v];
    }
    if (!SIMD_ANY_DOUBLE(any))
        return;
    if (rule->decay) {
        for (int32_t v = 0; v < together; v++) {
            decay[v] = find_decay(rule->decay, of[v].r, of[v].radius + radius);
            accepted[v] &= (vint64)(decay[v].field < (double)INFINITY);
            decay[v].field *= of_radii(of[v].radius, radius);
        }
    }
    if (rule->order == 0)
        return;
    if (rule->points)
        for (int32_t v = 0; v < together; v++)
            accepted[v] &= is_point(rule, target, &of[v]);
    else if (rule->walk == tree_walk_mutual)
        find_errors(rule, target, target_power, radius, true, of, decay, accepted);
    else
        find_errors(rule, target, target_power, radius, false, of, decay, accepted);
}

SIMD_INLINE vint64 judge(const struct tree_rule *rule, const struct tree_side *target,
                         const double *target_power, bool target_is_leaf, vint64 is_far,
                         struct source_lanes *of)
{
    const vint64 far = is_far & tree_is_far;
    if (!rule->as_point)
        return far;
    return far |
           (is_uneven(rule, target, target_power, target_is_leaf, is_far, of) & tree_is_uneven);
}

void KITH_ISA_SYMBOL(tree_accept)(const struct tree_rule *rule, const struct tree_side *target,
                                  const double *target_power, bool target_is_leaf,
                                  const struct tree_side *sides, const double *powers,
                                  const int32_t *sources, int32_t count, uint8_t *verdicts)
{
    int32_t repeated[accept_lanes];
    if (count < accept_lanes) { /* lanes past the last source repeat one */
        for (int32_t k = 0; k < accept_lanes; k++)
            repeated[k] = sources[0];
        memcpy(repeated, sources, (size_t)count * sizeof *sources);
        sources = repeated;
    }
    for (int32_t first = 0; first < count; first += together * lanes) {
        struct source_lanes of[together];
        vint64 mask[together];
        SIMD_UNROLL
        for (int32_t v = 0; v < together; v++)
            load_sources(target, sides, powers, sources + first + v * lanes, &of[v]);
        accept(rule, target, target_power, of, mask);
        SIMD_UNROLL
        for (int32_t v = 0; v < together; v++)
            store_verdicts(judge(rule, target, target_power, target_is_leaf, mask[v], &of[v]),
                           verdicts + first + v * lanes);
    }
}

/* Both directions of a vector of pairs: terms of δ r² times powers of size / r. */
struct order_lanes {
    vdouble term[2][expansion_max_order + 1], u[2], limit[2];
    vint64 order; /* 0: not yet found */
};

SIMD_INLINE vdouble limit_of(double share, vdouble r, vdouble field, vdouble potential)
{
    const vdouble by_field = field * r;
    return share * r * choose((vint64)(by_field < potential), by_field, potential);
}

SIMD_INLINE void load_terms(const struct tree_rule *rule, const struct tree_orders *orders,
                            const struct tree_side *target, const double *target_power,
                            const bool mutual, struct source_lanes *of, struct order_lanes *to)
{
    const vdouble zero = {0};
    const double share = orders->part * rule->share;
    load_weights(of);
    const struct pair_lanes pair = make_pair(of->radius, zero + target->radius, of->r);
    const vdouble t = of->size * pair.inverse, back = target->size * pair.inverse;
    vdouble t_k = simd_all(1.0), back_k = t_k;
    to->term[0][0] = zero;
    load_powers(of, rule->order, to->term[0]);
    for (int32_t k = 0; k <= rule->order; k++) {
        to->term[0][k] *= t_k * pair.factor;
        if (mutual)
            to->term[1][k] = target_power[k] * (back_k * pair.factor);
        t_k *= t;
        back_k *= back;
    }
    to->u[0] = target->radius * pair.inverse;
    to->u[1] = of->radius * pair.inverse;
    to->limit[0] = limit_of(share, of->r, zero + target->field, zero + target->potential);
    to->limit[1] = limit_of(share, of->r, of->field, of->potential);
    to->order = (vint64){0};
}

/* The lanes for which order q is enough. */
SIMD_INLINE vint64 is_enough(const struct tree_orders *orders, int32_t q, const bool mutual,
                             const struct order_lanes *of)
{
    const double *ratio = orders->ratio[q];
    vdouble to = of->term[0][0], back = mutual ? of->term[1][0] : to;
    for (int32_t k = 1; k <= q; k++) {
        to = to * of->u[0] + ratio[k] * of->term[0][k];
        if (mutual)
            back = back * of->u[1] + ratio[k] * of->term[1][k];
    }
    vint64 is = (vint64)(to <= of->limit[0]) & (vint64)(of->u[0] <= orders->angle[q]);
    if (mutual)
        is &= (vint64)(back <= of->limit[1]) & (vint64)(of->u[1] <= orders->angle[q]);
    return is;
}

SIMD_INLINE void find_orders(const struct tree_rule *rule, const struct tree_orders *orders,
                             const struct tree_side *target, const double *target_power,
                             const bool mutual, struct source_lanes *of, uint8_t *found)
{
    struct order_lanes lanes_of;
    load_terms(rule, orders, target, target_power, mutual, of, &lanes_of);
    vint64 left = ~(vint64){0}; /* without an order */
    for (int32_t q = orders->least; q < rule->order && SIMD_ANY_DOUBLE(left); q += 2) {
        const vint64 is = left & is_enough(orders, q, mutual, &lanes_of);
        lanes_of.order |= is & q;
        left &= ~is;
    }
    store_verdicts(lanes_of.order | (left & rule->order), found);
}

void KITH_ISA_SYMBOL(tree_order)(const struct tree_rule *rule, const struct tree_orders *orders,
                                 const struct tree_side *target, const double *target_power,
                                 const struct tree_side *sides, const double *powers,
                                 const int32_t *sources, int32_t count, uint8_t *found)
{
    for (int32_t first = 0; first < count; first += lanes) {
        const int32_t left = count - first;
        int32_t cells[lanes]; /* lanes past the last source repeat it */
        uint8_t of_lanes[lanes];
        for (int32_t k = 0; k < lanes; k++)
            cells[k] = sources[first + (k < left ? k : left - 1)];
        struct source_lanes of;
        load_sources(target, sides, powers, cells, &of);
        if (rule->walk == tree_walk_mutual)
            find_orders(rule, orders, target, target_power, true, &of, of_lanes);
        else
            find_orders(rule, orders, target, target_power, false, &of, of_lanes);
        memcpy(found + first, of_lanes, (size_t)(left < lanes ? left : lanes));
    }
}
