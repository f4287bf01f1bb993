#include "forces/law_sums.h"

#include <stddef.h>

void forces_law_look(const struct forces_problem *problem, struct law_view *view,
                     struct law_sums_problem *sums)
{
    law_look(problem->law, view);
    const bool of_charges = view->weight == law_weight_charge;
    const bool is_weighted = view->weight != law_weight_none || view->formula;
    *sums = (struct law_sums_problem){
        .numbers = view->numbers,
        .weighting = view->form.weighting,
        .is_central = view->is_central,
        .is_symmetric = view->is_symmetric,
        .self = problem->self,
        .target_count = problem->target_count,
        .source_count = problem->source_count,
        .softening2 = problem->softening2,
        .softening2_at = problem->softening2_at,
        .target_half_softening2 = problem->target_half_softening2,
        .source_half_softening2 = problem->source_half_softening2,
        .target_charge = problem->target_charge,
        .source_charge = problem->source_charge,
        .target_mass = problem->target_mass,
        .value = problem->potential,
        .value_rate = problem->potential_rate,
        .system_count = problem->system_count,
        .system_stride = problem->system_stride,
        .totals = problem->totals,
        .source_shift = problem->source_shift,
    };
    if (is_weighted) {
        sums->target_weight = of_charges ? problem->target_charge : forces_target_weight(problem);
        sums->source_weight = of_charges ? problem->source_charge : problem->source_mass;
    }
    for (int c = 0; c < problem->dimensions; c++) {
        sums->target_position[c] = problem->target_position[c];
        sums->source_position[c] = problem->source_position[c];
        sums->acceleration[c] = problem->acceleration[c];
        sums->target_velocity[c] = problem->target_velocity[c];
        sums->source_velocity[c] = problem->source_velocity[c];
        sums->jerk[c] = problem->jerk[c];
    }
}
