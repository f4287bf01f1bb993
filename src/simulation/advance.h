#ifndef SIMULATION_ADVANCE_H
#define SIMULATION_ADVANCE_H

#include "forces/problem.h"

/* Stages, each v += kick·h·a(x), then x += drift·h·v. */
struct composition_stage {
    double kick, drift;
};
struct composition {
    int32_t stage_count;
    const struct composition_stage *stages;
};

/* Whether forces are evaluated before stage k: it has a kick, and positions have changed since the
 * last time. has_forces: those at the start of a step are there. */
static inline bool composition_evaluates(const struct composition *composition, bool has_forces,
                                         int32_t k)
{
    const struct composition_stage *stages = composition->stages;
    if (stages[k].kick == 0)
        return false;
    for (int32_t before = k - 1; before >= 0; before--)
        if (stages[before].drift != 0 || stages[before].kick != 0)
            return stages[before].drift != 0;
    return !has_forces;
}

/* What a step is: stages, or that of runge_kutta.c or hermite.c. */
enum advance_method { advance_composition, advance_runge_kutta, advance_hermite };

/* Whole steps of an integrator, for backends that do many steps in one call faster than kick by
 * kick: with the state in registers, in one launch, or as a recorded graph.
 *
 * forces says which forces, its targets the sources, with the vectors of one system or of many
 * (forces/problem.h); positions and accelerations are those here. velocity and position are read
 * and written. If keeps_acceleration, acceleration holds the forces at the positions, before and
 * after; else it is scratch.
 *
 * Bits: a step's do not depend on how many steps are done in one call. */
struct advance_problem {
    struct forces_problem forces;
    void *position[3], *velocity[3], *acceleration[3];
    /* What of positions and velocities did not fit into them (Kahan 1965): read and written. */
    void *lost_position[3], *lost_velocity[3];
    void *jerk[3]; /* as acceleration, before and after: only Hermite's */
    enum advance_method method;
    struct composition composition; /* only a composition's */
    bool keeps_acceleration;
    double h; /* a step's length, of any sign */
    int64_t steps;
    /* Of accelerations and jerks within the kernels, and of forces' G: a power of two, and its
     * inverse. advance_aimed sets 1. */
    double unit, inverse_unit;
};

#endif
