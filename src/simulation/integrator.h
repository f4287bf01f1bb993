#ifndef SIMULATION_INTEGRATOR_H
#define SIMULATION_INTEGRATOR_H

#include "simulation/advance.h"
#include "simulation/state.h"

/* How an integrator goes one step. */
struct integrator_method {
    /* From t to t + h; h may be negative. */
    kith_status (*step)(struct kith_simulation *simulation, double h);

    int32_t arrays; /* needed in all, positions and velocities included */
    int32_t kept;   /* of them, the first so many are the state from which a step starts */

    enum advance_method advance;
    int32_t stage_count; /* of a composition */
    const struct composition_stage *stages;
};

/* The row of the table with this name; NULL stands for "leapfrog".
 * Errors: KITH_INVALID_ARGUMENT, the message lists the names. */
kith_status integrator_find(const char *name, const struct integrator_method **method);

/* So many steps of h by the backend's advance: *done is steps, or 0 if it has none for this. */
kith_status simulation_advance(struct kith_simulation *simulation, double h, int64_t steps,
                               int64_t *done);

/* Fills in what the method keeps besides positions and velocities. */
kith_status integrator_prepare(struct kith_simulation *simulation);

/* The symplectic integrators: composition.c. */
extern const struct integrator_method symplectic_euler_method, leapfrog_method, leapfrog_dkd_method,
    ruth3_method, forest_ruth_method, yoshida4_method, yoshida6_method, yoshida8_method,
    mclachlan4_method, pefrl_method;

extern const struct integrator_method rk4_method;      /* runge_kutta.c */
extern const struct integrator_method hermite4_method; /* hermite.c */

#endif
