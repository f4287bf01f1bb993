/* The law of a problem with a cutoff, what it is at the cutoff and beyond. */

#include <math.h>
#include <stddef.h>

#include "core/reals.h"
#include "forces/cutoff.h"
#include "forces/space.h"
#include "law/law_reference.h"
#include "ranks/bodies.h"

/* V and dV/dr of weights 1 at a distance r, softened. */
static struct law_reference_result at_distance(const struct forces_problem *problem,
                                               const struct cutoff_law *law, double r)
{
    const struct law_reference_pair pair = {
        .d = {r, 0, 0}, .s2 = r * r + problem->softening2, .m_i = 1, .m_j = 1, .q_i = 1, .q_j = 1};
    const double still[3] = {0};
    return law_reference_evaluate(&law->view, &pair, still,
                                  formula_wants_value | formula_wants_force);
}

struct weights {
    const void *of_bodies;
    kith_dtype dtype;
    int64_t count;
};

static void add_weights(void *argument, void *state)
{
    const struct weights *weights = argument;
    double *total = state;
    for (int64_t i = 0; i < weights->count; i++)
        *total += real_get(weights->dtype, weights->of_bodies, i);
}

/* In the order of the bodies, of which a rank may have a slice. */
static double add_all_weights(const kith_context *context, const struct forces_problem *problem,
                              const void *of_bodies)
{
    struct weights weights = {of_bodies, problem->dtype, problem->source_count};
    int64_t first = 0;
    double total = 0;
    if (!problem->is_slice) {
        add_weights(&weights, &total);
        return total;
    }
    ranks_rows(context, problem->source_count, &first, &weights.count);
    ranks_in_turn(context, add_weights, &weights, &total, sizeof total);
    return total;
}

/* Σ_i Σ_j of the weights of V: a law of r alone has none, others are products. */
static kith_status sum_weights(const kith_context *context, const struct forces_problem *problem,
                               const struct cutoff_law *law, double *sum)
{
    const struct law_view *view = &law->view;
    const void *weights =
        view->weight == law_weight_charge ? law->source_charge : problem->source_mass;
    *sum = (double)problem->target_count * (double)problem->source_count;
    if (view->weight == law_weight_none && !view->uses_mass && !view->uses_charge)
        return KITH_OK;
    if (view->form.weighting != law_product || !weights)
        return view->form.weighting == law_product
                   ? KITH_OK
                   : kith_fail(
                         KITH_UNSUPPORTED,
                         "tail is set, but the law is not a product of columns; leave it out");
    const double total = add_all_weights(context, problem, weights);
    *sum = total * total;
    return KITH_OK;
}

/* Whether r³ V falls with r, by a factor of 2 in three decades at least. */
static bool converges(const struct forces_problem *problem, const struct cutoff_law *law)
{
    const double near = 1e3 * problem->space.cutoff, far = 1e6 * problem->space.cutoff;
    const double of_near = at_distance(problem, law, near).value * near * near * near;
    const double of_far = at_distance(problem, law, far).value * far * far * far;
    return isfinite(of_far) && fabs(of_far) <= 0.5 * fabs(of_near);
}

/* ∫ V r² dr and ∫ V' r³ dr from the cutoff on, with r = R / t: Gauss's rule of four points in each
 * of many intervals of t. */
static void integrate(const struct forces_problem *problem, const struct cutoff_law *law,
                      double *of_value, double *of_slope)
{
    static const double point[] = {0.33998104358485626480, 0.86113631159405257522};
    static const double weight[] = {0.65214515486254614263, 0.34785484513745385737};
    enum { intervals = 4096 };
    const double cutoff = problem->space.cutoff, half = 0.5 / intervals;
    *of_value = *of_slope = 0;
    for (int k = 0; k < 4 * intervals; k++) {
        const int interval = k / 4, which = k / 2 % 2;
        const double t = half * (2 * interval + 1 + (k % 2 ? point[which] : -point[which]));
        const double r = cutoff / t, measure = half * weight[which] * cutoff / (t * t);
        const struct law_reference_result there = at_distance(problem, law, r);
        *of_value += measure * there.value * r * r;
        *of_slope += measure * there.force[0] * r * r * r;
    }
}

kith_status cutoff_add_tail(const kith_context *context, const struct forces_problem *problem,
                            const struct cutoff_law *law)
{
    const double pi = 3.14159265358979323846, volume = problem->space.volume;
    kith_forces_totals *totals = problem->space.totals;
    double pairs = 0, of_value = 0, of_slope = 0;
    if (!totals)
        return KITH_OK;
    KITH_TRY(sum_weights(context, problem, law, &pairs));
    integrate(problem, law, &of_value, &of_slope);
    totals->energy += 2 * pi * pairs / volume * of_value;
    for (int k = 0; k < 3; k++)
        totals->virial[4 * k] -= 2 * pi * pairs / (3 * volume) * of_slope;
    return KITH_OK;
}

static kith_status check_tail(const struct forces_problem *problem, const struct cutoff_law *law)
{
    if (problem->dimensions != 3 || !(problem->space.volume > 0))
        return kith_fail(
            KITH_UNSUPPORTED,
            "tail is set, but the cell is not periodic along three axes; give such a cell or "
            "leave tail out");
    if (problem->source_half_softening2 || !law->view.is_central || law->view.formula ||
        law->view.form.weighting == law_sum)
        return kith_fail(
            KITH_UNSUPPORTED,
            "tail is set, but this law has no tail: only built-in laws without softening columns "
            "have one; leave it out");
    if (!converges(problem, law))
        return kith_fail(KITH_UNSUPPORTED,
                         "tail is set, but the law does not fall faster than 1/r^3, so that its "
                         "integral diverges; leave it out");
    return KITH_OK;
}

kith_status cutoff_take_law(const struct forces_problem *problem, struct cutoff_law *law)
{
    law->target_charge = problem->target_charge;
    law->source_charge = problem->source_charge;
    law->target_mass = problem->target_mass;
    law->target_weight = forces_target_weight(problem);
    law->total_weight = NULL;
    if (problem->law) {
        law_look(problem->law, &law->view);
    } else {
        const kith_law_parameter strength = {"k", -problem->gravitational_constant};
        if (!law->made)
            KITH_TRY(kith_law_parse("coulomb", 1, &strength, &law->made));
        law_look(law->made, &law->view);
        law->source_charge = problem->source_mass;
        law->total_weight = problem->self ? problem->source_mass : NULL; /* totals are of these */
        law->target_charge = law->target_mass = law->target_weight = NULL;
    }
    if (problem->space.shift && !law->view.is_central)
        return kith_fail(
            KITH_UNSUPPORTED,
            "shift is given, but the law %.60s depends on more than the distance; leave the shift "
            "out",
            kith_law_text(problem->law));
    if (problem->space.totals && !problem->self)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "totals are given, but the targets are not the sources; leave them out");
    if (problem->space.tail)
        KITH_TRY(check_tail(problem, law));
    law->slope_at_cutoff = at_distance(problem, law, problem->space.cutoff).force[0];
    return KITH_OK;
}

void cutoff_drop_law(struct cutoff_law *law)
{
    kith_law_free(law->made);
    law->made = NULL;
}
