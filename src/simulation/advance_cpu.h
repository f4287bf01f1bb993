#ifndef SIMULATION_ADVANCE_CPU_H
#define SIMULATION_ADVANCE_CPU_H

#include "kith/context.h"
#include "simulation/advance.h"

/* advance of simulation/backend.h for systems of few bodies: all steps of a
 * system by one thread, with the state in registers or the first-level cache. One system sits with
 * a body in each lane of the vectors; the systems of an ensemble a system in each lane.
 *
 * Nothing is done (*done = 0) for more than 64 bodies, or one system that takes more than eight
 * vectors: the general path is as fast there. Nor for a G that far from the scale of the lengths
 * that G·mass might leave the precision's range, nor for compositions of very many stages. */
kith_status advance_cpu(kith_context *context, const struct advance_problem *problem,
                        int64_t *done);

#endif
