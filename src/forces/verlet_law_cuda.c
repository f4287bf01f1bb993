/* What a Verlet list on a GPU needs of a law: its columns, and the unit of forces. */

#include "forces/verlet_law_cuda.h"

#include <math.h>
#include <stdlib.h>

#include "core/memory.h"
#include "core/reals.h"
#include "device/context.h"
#include "law/law_reference.h"
#include "ranks/bodies.h"

/* The forces of a pair are at most this many units; many of them are a sum of 64 bits. */
static const double most_units = 0x1p56;

/* The largest force of a pair of these weights and charges in the outer half of the cutoff. */
static double scale_of(const struct forces_problem *problem, const struct cutoff_law *law,
                       double weight, double charge)
{
    enum { points = 16 };
    const double still[3] = {0, 0, 0};
    double largest = 0;
    for (int k = points / 2; k <= points; k++) {
        const double r = problem->space.cutoff * k / points;
        const struct law_reference_pair pair = {
            {r, 0, 0}, r * r + problem->softening2, weight, weight, charge, charge};
        const double force =
            law_reference_evaluate(&law->view, &pair, still, formula_wants_force).force[0];
        largest = fmax(largest, fabs(force));
    }
    return largest;
}

const void *verlet_column_cuda(const struct forces_problem *problem, const struct cutoff_law *law,
                               int k)
{
    if (!law->view.formula)
        return NULL;
    return k == 0 ? (law->view.uses_mass ? problem->source_mass : NULL)
                  : (law->view.uses_charge ? law->source_charge : NULL);
}

const void *verlet_weights_cuda(const struct forces_problem *problem, const struct cutoff_law *law)
{
    if (law->view.form.weighting != law_product || law->view.formula)
        return NULL;
    return law->view.weight == law_weight_charge ? law->source_charge : problem->source_mass;
}

/* Of all particles, of which a rank may have a slice; 1 without weights. */
static kith_status find_largest_weight(kith_context *context, const struct forces_problem *problem,
                                       const void *weights, double *largest)
{
    int64_t first = 0, rows = problem->target_count;
    void *copy = NULL;
    *largest = weights ? 0 : 1;
    if (!weights)
        return KITH_OK;
    if (problem->is_slice)
        ranks_rows(context, problem->target_count, &first, &rows);
    const int64_t bytes = rows * kith_dtype_bytes(problem->dtype);
    kith_status status = kith_allocate(bytes, 1, "weights", &copy);
    if (status == KITH_OK)
        status = context->services->copy_out(context, copy, weights, bytes);
    for (int64_t i = 0; i < rows && status == KITH_OK; i++)
        *largest = fmax(*largest, fabs(real_get(problem->dtype, copy, i)));
    free(copy);
    if (!problem->is_slice)
        return status;
    KITH_TRY(ranks_agree(context, status));
    ranks_maximum(context, largest, 1);
    return KITH_OK;
}

kith_status verlet_choose_unit_cuda(kith_context *context, const struct forces_problem *problem,
                                    const struct cutoff_law *law, struct verlet_cuda_step *step,
                                    bool *found)
{
    const int below = problem->dtype == KITH_F64 ? 40 : 32;
    double weight = 1, of_formula[2] = {1, 1};
    KITH_TRY(find_largest_weight(context, problem, verlet_weights_cuda(problem, law), &weight));
    for (int k = 0; k < 2; k++)
        KITH_TRY(find_largest_weight(context, problem, verlet_column_cuda(problem, law, k),
                                     &of_formula[k]));
    const double scale = scale_of(problem, law, of_formula[0], of_formula[1]) * weight * weight;
    *found = isfinite(scale) && scale > 0x1p-60 && scale < 0x1p60;
    if (!*found)
        return KITH_OK;
    step->unit = ldexp(1, ilogb(scale) - below);
    step->units_of_force = 1 / step->unit;
    step->largest_factor = most_units / problem->space.cutoff;
    return KITH_OK;
}
