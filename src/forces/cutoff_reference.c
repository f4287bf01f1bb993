#include "forces/cutoff.h"

#include <math.h>

#include "cells/geometry.h"
#include "device/context.h"
#include "forces/excluded.h"
#include "forces/forces_reference.h"
#include "law/law_reference.h"

/* One target, and what all pairs need. */
struct walk {
    const struct forces_problem *problem;
    const struct cutoff_law *law;
    struct excluded excluded;
    double limit;
    int32_t images[3]; /* to either side that may be near enough */
    int64_t i;
    double x[3]; /* of i, wrapped */
    double force[3], value;
    kith_forces_totals totals;
};

static double element(const void *column, int64_t i, double otherwise)
{
    return column ? ((const double *)column)[i] : otherwise;
}

static bool wrapped(const struct walk *walk, const void *const position[3], int64_t i, double x[3])
{
    int32_t wraps[3];
    for (int c = 0; c < 3; c++)
        x[c] = element(position[c], i, 0);
    return pairs_wrap(walk->problem->space.lattice, x, wraps);
}

/* The value and the force of a pair, shifted by what they are at the cutoff (kith/forces.h). */
static struct law_reference_result shifted(const struct walk *walk, struct law_reference_pair pair,
                                           double r2)
{
    const unsigned wants = formula_wants_value | formula_wants_force;
    const struct law_view *view = &walk->law->view;
    const struct forces_space *space = &walk->problem->space;
    const double still[3] = {0}, r = sqrt(r2), cutoff = space->cutoff;
    struct law_reference_result result = law_reference_evaluate(view, &pair, still, wants);
    if (space->shift == KITH_SHIFT_NONE || (pair.s2 == 0 && view->numbers.diverges))
        return result;
    struct law_reference_pair last = pair;
    last.s2 = (pair.s2 - r2) + cutoff * cutoff;
    last.d[0] = cutoff; /* the law is one of r alone */
    last.d[1] = last.d[2] = 0;
    const struct law_reference_result there = law_reference_evaluate(view, &last, still, wants);
    result.value -= there.value;
    if (space->shift == KITH_SHIFT_ENERGY)
        return result;
    const double slope = there.force[0];
    result.value -= (r - cutoff) * slope;
    for (int c = 0; c < 3 && r > 0; c++)
        result.force[c] -= slope * pair.d[c] / r;
    return result;
}

static void add_pair(struct walk *walk, int64_t j, const double d[3], double r2)
{
    const struct forces_problem *problem = walk->problem;
    const struct cutoff_law *law = walk->law;
    struct law_reference_pair pair = {.d = {d[0], d[1], d[2]},
                                      .s2 = r2 + problem->softening2 +
                                            element(problem->target_half_softening2, walk->i, 0) +
                                            element(problem->source_half_softening2, j, 0),
                                      .m_i = element(law->target_weight, walk->i, 1),
                                      .m_j = element(problem->source_mass, j, 1),
                                      .q_i = element(law->target_charge, walk->i, 1),
                                      .q_j = element(law->source_charge, j, 1)};
    const struct law_reference_result of_pair = shifted(walk, pair, r2);
    const double half = 0.5 * element(law->total_weight, walk->i, 1);
    walk->value += of_pair.value;
    walk->totals.energy += half * of_pair.value;
    for (int c = 0; c < 3; c++)
        walk->force[c] += of_pair.force[c];
    for (int k = 0; k < 9; k++)
        walk->totals.virial[k] -= half * d[k / 3] * of_pair.force[k % 3];
}

static void visit_images(struct walk *walk, int64_t j, const double x[3])
{
    const struct pairs_lattice *lattice = walk->problem->space.lattice;
    int32_t image[3];
    for (image[0] = -walk->images[0]; image[0] <= walk->images[0]; image[0]++)
        for (image[1] = -walk->images[1]; image[1] <= walk->images[1]; image[1]++)
            for (image[2] = -walk->images[2]; image[2] <= walk->images[2]; image[2]++) {
                double d[3];
                if (walk->problem->self && walk->i == j && !image[0] && !image[1] && !image[2])
                    continue;
                if (excluded_has(&walk->excluded, walk->i, j, image))
                    continue;
                for (int c = 0; c < 3; c++)
                    d[c] = (x[c] - walk->x[c]) + pairs_translation(lattice, image, c);
                const double r2 = (d[0] * d[0] + d[1] * d[1]) + d[2] * d[2];
                if (r2 < walk->limit)
                    add_pair(walk, j, d, r2);
            }
}

static kith_status sum_target(kith_context *context, struct walk *walk)
{
    const struct forces_problem *problem = walk->problem;
    walk->force[0] = walk->force[1] = walk->force[2] = walk->value = 0;
    bool is_near = wrapped(walk, problem->target_position, walk->i, walk->x);
    for (int64_t j = 0; j < problem->source_count && is_near; j++) {
        double x[3];
        KITH_TRY(kith_context_check_iteration(context, j));
        is_near = wrapped(walk, problem->source_position, j, x);
        if (is_near)
            visit_images(walk, j, x);
    }
    if (!is_near)
        return kith_fail(KITH_INVALID_ARGUMENT, "a position is more than 2^30 cells away; give "
                                                "positions near the cell");
    const double mass = element(walk->law->target_mass, walk->i, 1);
    for (int c = 0; c < 3; c++)
        forces_store(problem, problem->acceleration[c], walk->i, walk->force[c] / mass);
    forces_store(problem, problem->potential, walk->i, walk->value);
    return KITH_OK;
}

static kith_status sum(kith_context *context, struct walk *walk)
{
    const struct forces_space *space = &walk->problem->space;
    walk->limit = pairs_limit_double(space->cutoff);
    /* Points of the cell are less than a cell apart along each axis. */
    for (int k = 0; k < 3; k++)
        if (space->lattice->periodic[k])
            walk->images[k] = (int32_t)ceil(space->cutoff / space->lattice->height[k]) + 1;
    for (; walk->i < walk->problem->target_count; walk->i++)
        KITH_TRY(sum_target(context, walk));
    walk->totals.volume = space->volume;
    if (space->totals)
        *space->totals = walk->totals;
    return KITH_OK;
}

kith_status forces_cutoff_reference(kith_context *context, const struct forces_problem *problem)
{
    struct cutoff_law law = {0};
    struct walk walk = {.problem = problem, .law = &law};
    kith_status status = cutoff_take_law(problem, &law);
    if (status == KITH_OK)
        status = excluded_find(problem, NULL, &walk.excluded);
    if (status == KITH_OK)
        status = sum(context, &walk);
    if (status == KITH_OK && problem->space.tail)
        status = cutoff_add_tail(context, problem, &law);
    excluded_free(&walk.excluded);
    cutoff_drop_law(&law);
    return status;
}
