#ifndef SIMULATION_BACKEND_H
#define SIMULATION_BACKEND_H

#include "simulation/advance.h"

struct whfast_problem;

#ifdef __cplusplus
extern "C" {
#endif

/* What simulations need of a device beyond device/services.h, whose contract holds here too. */
struct simulation_backend {
    /* Many steps of a simulation in one call: see simulation/advance.h. *done is problem->steps,
     * or 0 if for this problem there is nothing better than combine and forces; which of the two
     * does not depend on the number of steps or their length. */
    kith_status (*advance)(kith_context *context, const struct advance_problem *problem,
                           int64_t *done);

    /* The steps of whfast (simulation/whfast.h), of at most kith_most_bodies_of_system bodies in
     * each system; NULL: the kernels of a CPU. */
    kith_status (*whfast)(kith_context *context, const struct whfast_problem *problem);
};

/* The context's. */
const struct simulation_backend *simulation_backend_of(const kith_context *context);

#ifdef __cplusplus
}
#endif

#endif
