#ifndef SIMULATION_DOMAIN_H
#define SIMULATION_DOMAIN_H

/* Steps of a composition by the ranks of a job, each of which moves the bodies of its own box
 * (forces/domain.h). The state stays with the ranks; an array of the simulation is filled in, on
 * all ranks, before it is read.
 *
 * Bits: those of composition_step. */

#include "simulation/state.h"

/* Whether the next steps are taken so. All ranks answer the same. */
bool simulation_is_divided(const struct kith_simulation *simulation);

/* Collective: forces at the positions, if simulation->lacks_forces; they stay with the ranks. */
kith_status simulation_prepare_divided(struct kith_simulation *simulation);

/* Collective: steps of h; *done is how many were taken, at least one. */
kith_status simulation_step_divided(struct kith_simulation *simulation, double h, int64_t steps,
                                    int64_t *done);

/* Collective: an array has the state as it is now. */
kith_status simulation_gather(struct kith_simulation *simulation, int32_t array);

/* Collective: all of them. */
kith_status simulation_gather_all(struct kith_simulation *simulation);

/* Collective, after steps that went well or were cancelled: arrays that a rank reads alone, or
 * writes, are as the steps have left them. */
kith_status simulation_show(struct kith_simulation *simulation);

/* Collective: the same for all arrays, and the next steps begin from the arrays, which may be
 * written. */
kith_status simulation_reunite(struct kith_simulation *simulation);

/* Collective: totals, with the tail, and to the array of accelerations those at the positions; done
 * is false if they are not found so. */
kith_status simulation_diagnose_divided(struct kith_simulation *simulation,
                                        kith_forces_totals *totals, bool *done);

/* Collective: the same of copies of a slice in double precision, by boxes and a list for this time
 * alone: to the problem's totals and accelerations. Not with a tail. */
kith_status simulation_diagnose_copies(struct kith_simulation *simulation,
                                       const struct forces_problem *copies, bool *done);

/* Frees what the ranks have; the arrays stay as they are. */
void simulation_drop_domain(struct kith_simulation *simulation);

#endif
