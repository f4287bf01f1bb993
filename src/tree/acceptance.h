#ifndef TREE_ACCEPTANCE_H
#define TREE_ACCEPTANCE_H

/* Which cells interact through their expansions, and which cell of two that do not is split: the
 * same on every device.
 *
 * What source cell A of weight M_A contributes to the points of target cell B, at the distance r of
 * their centers, is wrong by about (Dehnen 2014, Comput. Astrophys. Cosmol. 1, 1, §3.2)
 *
 *     δ_{A→B} = 8 max(ρ_A, ρ_B) / (ρ_A + ρ_B) · Σ_{k ≤ p} C(p, k) P_{A,k} ρ_B^{p−k} / r^{p+2}
 *
 * in the acceleration: ρ are the radii, P_{A,k} the multipole powers of A. Where the orders that
 * are left out fall slowly, u = (ρ_A + ρ_B) / r > ½, it is 1 / (2 − 2u) times as much. It is
 * accepted if
 *
 *     ρ_A + ρ_B < θ r,   δ ≤ share · F_B,   δ r ≤ share · Φ_B,   ρ_B ≤ angle · r
 *
 * By the logarithm the field is r times as wrong, and less: derivative n + 1 of ln r is n + 1 times
 * smaller than r times that of 1/r. F_B and Φ_B are the smallest scales of the field and the
 * potential in B (tree/solve.h). Cells act on each other if both directions are accepted, so that
 * momentum is conserved.
 *
 * What B's expansion leaves out of the field of A's weight has one sign for many cells on one side
 * of a thin B, and adds up however small each is. By 1/s it is Σ_{n ≥ p} (n + 1) (−u)^n M_A / r² at
 * the point of B that is farthest from A, u = ρ_B / r, and relative to A's field there, M_A / (r +
 * ρ_B)², u^p (p + 1 + p u); by the logarithm less. The angle is the u at which this is the most
 * that a target may have (tree/accuracy.c).
 *
 * Of any other law (tree/law_bins.h) r^{−p − 2} is T_{p+1} / r^{p + 2}, with the orders that are
 * left out in place of the factor 1 / (2 − 2u), and instead of the angle the part k = 0 of δ is at
 * most coherent · M_A |dV/dr|.
 *
 * Where cells act as points at their centers (`points`, of groups on the CPU), what is left out is
 * known from the multipoles up to order 4,
 *
 *     δ_{A→B} = 2 P_{A,1} / r³ + (Q_A + 5/2 M_A ρ_A² ε² / s²) / r⁴     s² = r² + ε²
 *     Q_A = Σ_{2 ≤ k ≤ 4} (k + 1) P_{A,k} (θ / ρ_A)^{k − 2}
 *
 * with the part of a softened potential that is not harmonic, and r from A's center to B's sphere.
 * Q_A is larger where P_{A,2} is an unusually large part of M_A ρ_A² (tree/solve_cpu.c).
 *
 * A leaf of a sparse halo is larger than the cells of a core that it is near to, and its expansion
 * does not converge for them. What is left out if a cell A acts as a point on the bodies of a
 * leaf B, more than twice as large, and they act on A's expansion up to degree 2 (lists 3 and 4 of
 * Carrier, Greengard & Rokhlin 1988, SIAM J. Sci. Stat. Comput. 9, 669), is, with r from A's center
 * to B's sphere and u = ρ_A / r,
 *
 *     δ_{A→B} = Σ_{1 ≤ k ≤ p} (k + 1) P_{A,k} / r^{k+2} + 5/2 M_A u² ε² / (s² r²),   at least
 *               0.15 M_A u² / r²: P_{A,2} of a cell that is round is small by chance
 *     δ_{B→A} = M_B u² (3 − 2u) / ((1 − u) r)²,   and of the potential M_B u³ / ((1 − u) r)
 *
 * This conserves momentum where weights have one sign: the force of a point on B's bodies and
 * theirs on A's, whose center is that of mass, are equal to rounding. */

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/both_sides.h"
#include "tree/expansion.h"

enum tree_walk {
    tree_walk_mutual,  /* expansions about both cells; the targets are the sources */
    tree_walk_one_way, /* expansions about both cells */
    tree_walk_groups   /* expansions about the source, evaluated at the target's points */
};

/* Of a law and an order, by bins of (r per_unit)² as in tree/expansion.h: for angles up to u = 0.1,
 * 0.2, …, 0.8 the field in place of 1 / r², |dV/dr|, and the error of the bin's series in that. */
enum { tree_decay_angles = 8, tree_decay_scale = 10 };

struct tree_decay_row {
    double field[tree_decay_angles], slope, noise;
};

struct tree_decay {
    int64_t first; /* number of the first bin */
    int32_t count;
    double per_unit;
    const struct tree_decay_row *rows;
};

struct tree_rule {
    enum tree_walk walk;
    int32_t order;     /* p; with 0 only the radii count; of points 2 */
    bool points;       /* the powers are 2 P_1, Q and 5/2 M ρ² */
    double softening2; /* of points */
    bool logarithm;    /* the potential is ln s, not 1/s */
    double theta;
    double share;
    double angle;                   /* of the target's expansion */
    double coherent;                /* in its place, of a law with a decay */
    const struct tree_decay *decay; /* of a law that is neither */
    /* (k + 1) / C(p, k) for k = 0 … p, where cells act on larger leaves as points, of
     * tree_walk_mutual; else NULL. */
    const double *as_point;
};

/* What decides about a cell, a cache line. */
struct tree_side {
    double center[3], radius;
    double weight;    /* Σ |weight| */
    double size;      /* the unit of length of its powers */
    double field;     /* F */
    double potential; /* Φ */
};

/* Of P_k / size^k of a cell, k = 0 … p, what the estimate takes: C(p, k) P_k / size^k. Cells that
 * are symmetric, as those of a lattice, have no P_k of some degrees; the degrees above them, which
 * the target's expansion lowers, and those past p have not. Therefore P_k, k ≥ 2, is at least
 * P_{k+1} over the radius, and P_p at least P_{p−1} times it. P_1 is 0 about a center of mass. */
KITH_BOTH_SIDES static inline void tree_find_estimates(int32_t order, const double *binomial,
                                                       const struct tree_side *side, double *power)
{
    const double step = side->radius / side->size;
    if (power[order] < power[order - 1] * step)
        power[order] = power[order - 1] * step;
    for (int32_t k = order - 1; k >= 2; k--)
        if (step > 0 && power[k] * step < power[k + 1])
            power[k] = power[k + 1] / step;
    for (int32_t k = 0; k <= order; k++)
        power[k] *= binomial[k];
}

/* What both directions of a pair have in common, with ρ_A + ρ_B < r. */
struct tree_pair {
    double r, inverse; /* 1 / r */
    double factor;     /* of the sum in δ, with that of slowly falling orders */
};

KITH_BOTH_SIDES static inline struct tree_pair tree_make_pair(double radius, double other, double r)
{
    const double both = radius + other, larger = radius > other ? radius : other;
    const double rest = 2 * (r - both);
    const bool is_slow = r > rest;
    struct tree_pair pair;
    pair.r = r;
    pair.inverse = 1 / r;
    pair.factor =
        both > 0 ? 8 * larger * (is_slow ? r : 1.0) / (both * (is_slow ? rest : 1.0)) : 0.0;
    return pair;
}

/* δ · r²; power[k] = C(p, k) P_k / size^k of the source, and radius the target's. */
KITH_BOTH_SIDES static inline double tree_error(int32_t order, const struct tree_side *source,
                                                const double *power, double radius,
                                                const struct tree_pair *pair)
{
    const double t = source->size * pair->inverse, u = radius * pair->inverse;
    double sum = power[0], t_k = 1;
    for (int32_t k = 1; k <= order; k++) {
        t_k *= t;
        sum = sum * u + power[k] * t_k;
    }
    return pair->factor * sum;
}

KITH_BOTH_SIDES static inline bool tree_error_is_small(const struct tree_rule *rule,
                                                       const struct tree_side *target,
                                                       const struct tree_side *source,
                                                       const double *power, double radius,
                                                       const struct tree_pair *pair)
{
    const double r = pair->r, to_field = rule->logarithm ? 1 : r;
    const double error = tree_error(rule->order, source, power, radius, pair);
    return error <= rule->share * target->field * (r * to_field) &&
           error <= rule->share * target->potential * to_field && radius <= rule->angle * r;
}

/* What stands for 1/r² in the estimate of the error, and in the field of a cell's weight. */
struct tree_decay_at {
    double field, slope, noise;
};

/* At the distance r, of radii that are together `both`; outside of the bins, where nothing is
 * accepted, the field is infinite. */
KITH_BOTH_SIDES static inline struct tree_decay_at tree_find_decay(const struct tree_decay *decay,
                                                                   double r, double both)
{
    const double length = r * decay->per_unit, column = both / r * (double)tree_decay_scale;
    const int64_t bin = expansion_bin_of(length * length) - decay->first;
    const bool is_inside = r > 0 && bin >= 0 && bin < decay->count;
    const struct tree_decay_row *row = &decay->rows[is_inside ? bin : 0];
    const bool is_known = is_inside && column < tree_decay_angles;
    const struct tree_decay_at at = {is_known ? row->field[(int)column] : (double)INFINITY,
                                     row->slope, row->noise};
    return at;
}

/* tree_error_is_small of a law with bins; decay->field times what both radii do to the error. */
KITH_BOTH_SIDES static inline bool
tree_error_of_law_is_small(const struct tree_rule *rule, const struct tree_side *target,
                           const struct tree_side *source, const double *power, double radius,
                           double r, const struct tree_decay_at *decay)
{
    const double inverse = 1 / r, t = source->size * inverse, u = radius * inverse;
    double sum = power[0], t_k = 1, u_p = 1;
    for (int32_t k = 1; k <= rule->order; k++) {
        t_k *= t;
        u_p *= u;
        sum = sum * u + power[k] * t_k;
    }
    const double error = decay->field * sum + source->weight * decay->noise;
    return error <= rule->share * target->field && error * r <= rule->share * target->potential &&
           decay->field * u_p * source->weight <= rule->coherent * source->weight * decay->slope;
}

/* tree_accepts of a law with bins, of a source at the distance r whose radius and the target's are
 * together less than θ r. */
KITH_BOTH_SIDES static inline bool
tree_accepts_by_law(const struct tree_rule *rule, const struct tree_side *target,
                    const double *target_power, const struct tree_side *source,
                    const double *source_power, double radius, double r)
{
    const double both = source->radius + radius;
    const double larger = source->radius > radius ? source->radius : radius;
    struct tree_decay_at decay = tree_find_decay(rule->decay, r, both);
    if (!(decay.field < (double)INFINITY))
        return false;
    if (rule->order == 0)
        return true;
    decay.field *= both > 0 ? 8 * larger / both : 0.0;
    if (!tree_error_of_law_is_small(rule, target, source, source_power, radius, r, &decay))
        return false;
    return rule->walk != tree_walk_mutual ||
           tree_error_of_law_is_small(rule, source, target, target_power, source->radius, r,
                                      &decay);
}

KITH_BOTH_SIDES static inline double tree_distance(const struct tree_side *a,
                                                   const struct tree_side *b)
{
    const double x = a->center[0] - b->center[0], y = a->center[1] - b->center[1],
                 z = a->center[2] - b->center[2];
    return sqrt(x * x + y * y + z * z);
}

/* The powers are not read with order 0. */
KITH_BOTH_SIDES static inline bool
tree_accepts(const struct tree_rule *rule, const struct tree_side *target,
             const double *target_power, const struct tree_side *source, const double *source_power)
{
    const bool of_groups = rule->walk == tree_walk_groups;
    const double r = tree_distance(target, source) - (of_groups ? target->radius : 0);
    const double radius = of_groups ? 0 : target->radius;
    if (!(source->radius + radius < rule->theta * r))
        return false;
    if (rule->decay)
        return tree_accepts_by_law(rule, target, target_power, source, source_power, radius, r);
    if (rule->order == 0)
        return true;
    const struct tree_pair pair = tree_make_pair(source->radius, radius, r);
    if (!tree_error_is_small(rule, target, source, source_power, radius, &pair))
        return false;
    return rule->walk != tree_walk_mutual ||
           tree_error_is_small(rule, source, target, target_power, source->radius, &pair);
}

/* The orders p, p − 2, … ≥ least that M2L of a pair may have in place of the rule's p. A lower one
 * is taken if its δ, of the same powers, is at most `part` of the bound of a pair, and the
 * target's angle is small enough for it. As both directions have the same order, momentum is
 * conserved. */
struct tree_orders {
    int32_t least;
    double part;
    double angle[expansion_max_order + 1];                          /* at [q] of order q */
    double ratio[expansion_max_order + 1][expansion_max_order + 1]; /* [q][k]: C(q, k) / C(p, k) */
};

/* Of order q, whose terms are those of δ r² times powers of size / r. */
static inline bool tree_order_is_enough(const struct tree_rule *rule,
                                        const struct tree_orders *orders, int32_t q,
                                        const struct tree_side *target, const double *term,
                                        const struct tree_pair *pair)
{
    const double r = pair->r, u = target->radius * pair->inverse, field = target->field * r;
    const double limit = field < target->potential ? field : target->potential;
    double sum = term[0];
    for (int32_t k = 1; k <= q; k++)
        sum = sum * u + orders->ratio[q][k] * term[k];
    return sum <= orders->part * rule->share * r * limit && u <= orders->angle[q];
}

/* The order of a pair that is accepted by 1/s. */
static inline int32_t tree_find_order(const struct tree_rule *rule,
                                      const struct tree_orders *orders,
                                      const struct tree_side *target, const double *target_power,
                                      const struct tree_side *source, const double *source_power)
{
    const int32_t p = rule->order;
    const bool mutual = rule->walk == tree_walk_mutual;
    const struct tree_pair pair =
        tree_make_pair(source->radius, target->radius, tree_distance(target, source));
    double term[2][expansion_max_order + 1], t = source->size * pair.inverse, t_k = 1;
    double back = target->size * pair.inverse, back_k = 1;
    for (int32_t k = 0; k <= p; k++) {
        term[0][k] = source_power[k] * (t_k * pair.factor);
        term[1][k] = mutual ? target_power[k] * (back_k * pair.factor) : 0;
        t_k *= t;
        back_k *= back;
    }
    for (int32_t q = orders->least; q < p; q += 2)
        if (tree_order_is_enough(rule, orders, q, target, term[0], &pair) &&
            (!mutual || tree_order_is_enough(rule, orders, q, source, term[1], &pair)))
            return q;
    return p;
}

/* What is decided about a pair. Of one that is uneven the larger cell, if it is a leaf, interacts
 * body by body with the smaller one as a whole. */
enum tree_verdict { tree_is_open, tree_is_far, tree_is_uneven };

/* 3 P_2 / (M ρ²) of a cell that acts as a point, at least. */
#define tree_least_second 0.15

/* Of cells that are not far from each other; powers of the smaller one. */
KITH_BOTH_SIDES static inline bool tree_acts_as_point(const struct tree_rule *rule,
                                                      const struct tree_side *larger,
                                                      const struct tree_side *smaller,
                                                      const double *power)
{
    const double r = tree_distance(larger, smaller) - larger->radius, radius = smaller->radius;
    if (!(2 * radius < larger->radius && radius < rule->theta * r && smaller->size <= r))
        return false;
    const double u = radius / r, r2 = r * r, rest = 1 - u;
    const double of_field = rule->share * larger->field * r2;
    const double of_potential = rule->share * larger->potential * r;
    const double limit = of_field < of_potential ? of_field : of_potential; /* of δ r² */
    const double second = smaller->weight * (u * u), back = larger->weight * (u * u);
    if (!(tree_least_second * second <= limit &&
          back * (3 - 2 * u) <= rule->share * smaller->field * r2 * (rest * rest) &&
          back * u <= rule->share * smaller->potential * r * rest))
        return false;
    const double t = smaller->size / r;
    double error = 2.5 * second * rule->softening2 / (r2 + rule->softening2), t_k = 1;
    for (int32_t k = 1; k <= rule->order; k++) {
        t_k *= t;
        error += rule->as_point[k] * power[k] * t_k;
    }
    return error <= limit;
}

KITH_BOTH_SIDES static inline enum tree_verdict
tree_judge(const struct tree_rule *rule, const struct tree_side *target, const double *target_power,
           const struct tree_side *source, const double *source_power)
{
    if (tree_accepts(rule, target, target_power, source, source_power))
        return tree_is_far;
    if (!rule->as_point)
        return tree_is_open;
    const bool acts = target->radius > source->radius
                          ? tree_acts_as_point(rule, target, source, source_power)
                          : tree_acts_as_point(rule, source, target, target_power);
    return acts ? tree_is_uneven : tree_is_open;
}

/* Of two cells of one tree that are both to be split, whether the source is split first: the larger
 * one, of equal ones the first in the tree, by their numbers. Both sides of a pair get the same
 * answer. */
KITH_BOTH_SIDES static inline bool tree_splits_source(const struct tree_side *target,
                                                      int64_t target_cell,
                                                      const struct tree_side *source,
                                                      int64_t source_cell)
{
    return (source->radius > target->radius) |
           ((source->radius == target->radius) & (source_cell <= target_cell));
}

/* Whether the source is split of a pair that is not far, of cells with this many children. Without
 * branches, which would be mispredicted. */
KITH_BOTH_SIDES static inline bool tree_is_split(const struct tree_side *target,
                                                 int64_t target_cell, int32_t target_children,
                                                 const struct tree_side *source,
                                                 int64_t source_cell, int32_t source_children)
{
    return (source_children > 0) &
           ((target_children == 0) | tree_splits_source(target, target_cell, source, source_cell));
}

/* Where a pair goes, of cells with this many children: the source may act as a point on the
 * target's bodies, or with its bodies on the target's expansion. */
enum tree_place {
    tree_far,
    tree_near_leaves,
    tree_split_source,
    tree_left_to_children,
    tree_point,
    tree_bodies
};

KITH_BOTH_SIDES static inline enum tree_place
tree_place_pair(const struct tree_side *target, int64_t target_cell, int32_t target_children,
                const struct tree_side *source, int64_t source_cell, int32_t source_children,
                enum tree_verdict verdict)
{
    if (verdict == tree_is_far)
        return tree_far;
    if (verdict == tree_is_uneven && target->radius > source->radius && target_children == 0)
        return tree_point;
    if (verdict == tree_is_uneven && target->radius < source->radius && source_children == 0)
        return tree_bodies;
    if (tree_is_split(target, target_cell, target_children, source, source_cell, source_children))
        return tree_split_source;
    return target_children == 0 ? tree_near_leaves : tree_left_to_children;
}

#endif
