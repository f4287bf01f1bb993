#include "sums/sums_reference.h"

#include <stdlib.h>

#include "core/memory.h"
#include "device/context.h"
#include "sums/reduction.h"

/* One target, and what all pairs need. */
struct walk {
    struct sums_problem *problem;
    double *values; /* of the formula's nodes */
    int64_t i;
    double x[3];       /* of i, wrapped */
    int32_t images[3]; /* to either side that may be near enough */
    struct sums_reduced reduced[KITH_SUMS_MAX_OUTPUTS];
};

static bool wrapped_point(const struct sums_problem *problem, const struct sums_side *side,
                          int64_t row, double x[3])
{
    int32_t wraps[3];
    for (int32_t c = 0; c < 3; c++)
        x[c] = c < problem->dimensions ? sums_get(side->positions, row, c) : 0;
    double sum = x[0] + x[1] + x[2];
    for (int32_t c = 3; c < problem->dimensions; c++)
        sum += sums_get(side->positions, row, c);
    if (!isfinite(sum))
        return false;
    if (problem->cutoff == 0 || problem->list.offsets)
        return true;
    if (!pairs_wrap(&problem->lattice, x, wraps))
        return false;
    for (int32_t c = 0; c < 3 && problem->dtype == KITH_F32; c++)
        x[c] = (double)(float)x[c];
    return true;
}

/* r² with an axis from the fourth on. */
static double with_axis(const struct walk *walk, int64_t j, int32_t axis, double r2)
{
    const struct sums_problem *problem = walk->problem;
    const double d = sums_get(problem->sources.positions, j, axis) -
                     sums_get(problem->targets.positions, walk->i, axis);
    return problem->dtype == KITH_F32 ? (double)((float)r2 + (float)d * (float)d) : r2 + d * d;
}

/* d and r² as geometry.h has them, in the problem's dtype. */
static double vector_to(const struct walk *walk, const double x[3], const double t[3], double d[3])
{
    const struct sums_problem *problem = walk->problem;
    double r2 = 0;
    for (int c = 0; c < 3; c++) {
        if (problem->dtype == KITH_F32) {
            d[c] = (double)(((float)x[c] - (float)walk->x[c]) + (float)t[c]);
            r2 = (double)((float)r2 + (float)d[c] * (float)d[c]);
        } else {
            d[c] = (x[c] - walk->x[c]) + t[c];
            r2 += d[c] * d[c];
        }
    }
    return r2;
}

static void evaluate(struct walk *walk, int64_t j, const double d[3], double r2)
{
    const struct sums_problem *problem = walk->problem;
    const struct sums_formulas *formulas = problem->formulas;
    double variable[formula_scope_variables] = {[formula_r] = sqrt(r2),
                                                [formula_r2] = r2,
                                                [formula_dx] = d[0],
                                                [formula_dy] = d[1],
                                                [formula_dz] = d[2]};
    for (int32_t k = 0; k < formulas->scope.column_count; k++) {
        if (formulas->uses_i[k])
            variable[formula_column_variable(k, false)] =
                sums_get(problem->targets.column[k], walk->i, 0);
        if (formulas->uses_j[k])
            variable[formula_column_variable(k, true)] = sums_get(problem->sources.column[k], j, 0);
    }
    formula_evaluate(formulas->formula, formulas->parameter, variable, &formulas->needed,
                     walk->values);
    for (int32_t k = 0; k < formulas->output_count; k++)
        if (!(r2 == 0 && formulas->diverges[k]))
            walk->reduced[k] = sums_reduced_join(
                problem->reduction, walk->reduced[k],
                sums_reduced_one(problem->reduction, walk->values[formulas->output[k]]));
}

/* A pair, if it is near enough. */
static void visit(struct walk *walk, int64_t j, const double x[3], const double t[3])
{
    struct sums_problem *problem = walk->problem;
    double d[3];
    double r2 = vector_to(walk, x, t, d);
    for (int32_t axis = 3; axis < problem->dimensions; axis++)
        r2 = with_axis(walk, j, axis, r2);
    if (problem->cutoff > 0 && !(r2 < problem->limit))
        return;
    evaluate(walk, j, d, r2);
    problem->pair_count++;
}

static void visit_images(struct walk *walk, int64_t j, const double x[3])
{
    const struct sums_problem *problem = walk->problem;
    int32_t image[3];
    for (image[0] = -walk->images[0]; image[0] <= walk->images[0]; image[0]++)
        for (image[1] = -walk->images[1]; image[1] <= walk->images[1]; image[1]++)
            for (image[2] = -walk->images[2]; image[2] <= walk->images[2]; image[2]++) {
                double t[3];
                const bool moved = image[0] != 0 || image[1] != 0 || image[2] != 0;
                if (!moved && sums_leaves_out(problem, walk->i, j))
                    continue;
                for (int c = 0; c < 3; c++)
                    t[c] = pairs_translation(&problem->lattice, image, c);
                visit(walk, j, x, t);
            }
}

/* Points of the cell are less than a cell apart along each axis. */
static void count_images(struct walk *walk)
{
    const struct sums_problem *problem = walk->problem;
    for (int k = 0; k < 3; k++)
        if (problem->lattice.periodic[k])
            walk->images[k] = (int32_t)ceil(problem->cutoff / problem->lattice.height[k]) + 1;
}

/* The pairs of a list, and the target itself. */
static kith_status visit_list(kith_context *context, struct walk *walk)
{
    const struct sums_problem *problem = walk->problem;
    const struct sums_list *list = &problem->list;
    for (int64_t p = list->offsets[walk->i]; p < list->offsets[walk->i + 1]; p++) {
        const int64_t j = sums_list_source(list, p);
        double x[3], t[3] = {0};
        KITH_TRY(kith_context_check_iteration(context, p));
        if (!wrapped_point(problem, &problem->sources, j, x))
            return sums_fail_at_row(&problem->sources, j);
        for (int c = 0; c < problem->dimensions && list->shifts; c++)
            t[c] = sums_list_translation(list, p, problem->dimensions, c);
        visit(walk, j, x, t);
    }
    if (list->includes_self)
        visit(walk, walk->i, walk->x, (const double[3]){0});
    return KITH_OK;
}

static kith_status visit_all(kith_context *context, struct walk *walk)
{
    const struct sums_problem *problem = walk->problem;
    for (int64_t j = 0; j < problem->sources.count; j++) {
        double x[3];
        KITH_TRY(kith_context_check_iteration(context, j));
        if (!wrapped_point(problem, &problem->sources, j, x))
            return sums_fail_at_row(&problem->sources, j);
        visit_images(walk, j, x);
    }
    return KITH_OK;
}

static kith_status sum_target(kith_context *context, struct walk *walk)
{
    struct sums_problem *problem = walk->problem;
    const int32_t outputs = problem->formulas->output_count;
    for (int32_t k = 0; k < outputs; k++)
        walk->reduced[k] = sums_reduced_nothing(problem->reduction);
    if (!wrapped_point(problem, &problem->targets, walk->i, walk->x))
        return sums_fail_at_row(&problem->targets, walk->i);
    KITH_TRY(problem->list.offsets ? visit_list(context, walk) : visit_all(context, walk));
    for (int32_t k = 0; k < outputs; k++)
        sums_put(problem->results, walk->i, k,
                 sums_reduced_result(problem->reduction, walk->reduced[k]));
    return KITH_OK;
}

kith_status sums_reference(kith_context *context, struct sums_problem *problem)
{
    struct walk walk = {.problem = problem};
    KITH_TRY(sums_check_columns(problem, &problem->targets));
    KITH_TRY(sums_check_columns(problem, &problem->sources));
    KITH_TRY(sums_check_distances(problem));
    KITH_TRY(kith_allocate(formula_most_nodes, sizeof(double), "formulas", &walk.values));
    count_images(&walk);
    kith_status status = KITH_OK;
    for (; walk.i < problem->targets.count && status == KITH_OK; walk.i++)
        status = sum_target(context, &walk);
    free(walk.values);
    return status;
}
