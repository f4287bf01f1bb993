#ifndef SIMULATION_INTEGRATOR_H
#define SIMULATION_INTEGRATOR_H

#include "simulation/advance.h"
#include "simulation/state.h"

/* How an integrator goes one step. */
struct integrator_method {
    /* From t to t + h; h may be negative. */
    kith_status (*step)(struct kith_simulation *simulation, double h);

    int32_t arrays;  /* needed in all, positions and velocities included */
    int32_t kept;    /* of them, the first this many are the state from which a step starts */
    bool has_jerk;   /* that at the start is one of them */
    bool has_blocks; /* a step is one of some bodies, which adapt counts */

    /* Of an integrator that chooses the lengths of its steps, which has these instead of step; else
     * NULL. check (of a slice collective) refuses what it cannot do, begin forgets the past after
     * bodies were filled in, adapt takes the steps of a leg. */
    kith_status (*check)(const struct kith_simulation *simulation, const kith_bodies *bodies);
    void (*begin)(struct kith_simulation *simulation);
    kith_status (*adapt)(struct kith_simulation *simulation, const struct radau_leg *leg);

    /* Of an integrator that keeps its state in other coordinates, which has these instead of step;
     * else NULL. prepare makes that state from positions and velocities, take does steps of h, and
     * finish makes positions and velocities again. One with adapt may have prepare, too. */
    kith_status (*prepare)(struct kith_simulation *simulation);
    kith_status (*take)(struct kith_simulation *simulation, double h, int64_t steps);
    kith_status (*finish)(struct kith_simulation *simulation);

    const struct integrator_method *for_systems; /* of an ensemble, instead; NULL: the same */

    enum advance_method advance;
    struct composition composition; /* without stages: none */
};

/* The row of the table with this name; NULL selects "leapfrog".
 * Errors: KITH_INVALID_ARGUMENT, the message lists the names. */
kith_status integrator_find(const char *name, const struct integrator_method **method);

/* Evaluations of all forces in a step; 0: as many as it takes. */
int32_t integrator_evaluations(const struct integrator_method *method);

/* The steps of a leg; of an integrator with a fixed step, as many steps. */
kith_status simulation_take_leg(struct kith_simulation *simulation, const struct radau_leg *leg);

/* The steps that a call takes at least if that is much faster: enough that memory is not the limit.
 */
int64_t simulation_fewest_steps(const struct kith_simulation *simulation);

/* Steps of h by the backend's advance: *done is steps, or 0 if it has none for this. */
kith_status simulation_advance(struct kith_simulation *simulation, double h, int64_t steps,
                               int64_t *done);

/* Fills in what the method keeps besides positions and velocities. */
kith_status integrator_prepare(struct kith_simulation *simulation);

/* The stages of a composition's step from this one on; has_forces: this one needs no new ones. */
kith_status composition_finish_step(struct kith_simulation *simulation, double h, int32_t first,
                                    bool has_forces);

/* Refuses what ias15 cannot do of one system. */
kith_status ias15_check(const struct kith_simulation *simulation, const kith_bodies *bodies);

/* Of whfast: what is kept, made from positions and velocities; and a step of h, from what is kept
 * or, if h is not dt, from positions and velocities, which are made immediately. check refuses what
 * neither whfast nor `name` supports. */
kith_status whfast_prepare(struct kith_simulation *simulation);
kith_status whfast_step_bodies(struct kith_simulation *simulation, double h);
kith_status whfast_check(const struct kith_simulation *simulation, const kith_bodies *bodies,
                         const char *name);

/* The options of whfast. Errors: KITH_INVALID_ARGUMENT. */
kith_status whfast_choose(const kith_simulation_options *options, struct whfast_choice *choice);

/* The symplectic integrators: composition.c. */
extern const struct integrator_method symplectic_euler_method, leapfrog_method, leapfrog_dkd_method,
    ruth3_method, forest_ruth_method, yoshida4_method, yoshida6_method, yoshida8_method,
    mclachlan4_method, pefrl_method;

extern const struct integrator_method rk4_method;           /* runge_kutta.c */
extern const struct integrator_method hermite4_method;      /* hermite.c */
extern const struct integrator_method hermite_block_method; /* hermite_block.c */
extern const struct integrator_method ias15_method;         /* ias15.c */
extern const struct integrator_method ias15_systems_method; /* ias15_systems.c */
extern const struct integrator_method whfast_method;        /* whfast.c */
extern const struct integrator_method hybrid_method;        /* hybrid.c */

#endif
