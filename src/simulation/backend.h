#ifndef SIMULATION_BACKEND_H
#define SIMULATION_BACKEND_H

#include "forces/cutoff.h"
#include "simulation/advance.h"

struct blocks_problem;
struct radau_leg;
struct radau_numbers_backend;
struct radau_system;
struct radau_systems;
struct whfast_problem;

#ifdef __cplusplus
extern "C" {
#endif

/* Bodies of which a thermostat changes the velocities: columns in the memory of the device. */
struct thermostat_bodies {
    kith_dtype dtype;
    int32_t dimensions;
    int64_t count, first; /* and the number of the first */
    const void *mass;
    void *velocity[3];
};

/* What a thermostat does on a device with memory of its own; sums are added in one order. */
struct thermostat_backend {
    /* v = keep v + kick/√m times normal numbers. */
    kith_status (*stir)(kith_context *context, const struct thermostat_bodies *bodies,
                        const struct cutoff_noise *noise);
    /* The velocity of the center of mass, and twice the kinetic energy of the motion about it. */
    kith_status (*measure)(kith_context *context, const struct thermostat_bodies *bodies,
                           double center[3], double *twice_kinetic);
    /* v = center + factor (v − center). */
    kith_status (*rescale)(kith_context *context, const struct thermostat_bodies *bodies,
                           const double center[3], double factor);
};

/* The functions of a device for simulations beyond device/services.h, whose contract applies. */
struct simulation_backend {
    /* Many steps of a simulation in one call: see simulation/advance.h. *done is problem->steps,
     * or 0 if for this problem there is nothing better than combine and forces; which of the two
     * does not depend on the number of steps or their length. */
    kith_status (*advance)(kith_context *context, const struct advance_problem *problem,
                           int64_t *done);

    /* The steps of whfast (simulation/whfast.h), of systems that whfast_cuda.h describes; NULL: the
     * kernels of a CPU. */
    kith_status (*whfast)(kith_context *context, const struct whfast_problem *problem);

    /* A leg of an ensemble of ias15 (simulation/radau.h), of at least one body and one system; what
     * each system did is in system, on the host. NULL: the kernels of a CPU. */
    kith_status (*radau)(kith_context *context, const struct radau_systems *problem,
                         struct radau_system *system);

    /* The arithmetic of ias15's steps of one system (simulation/radau_numbers.h). NULL: the kernels
     * of a CPU. */
    const struct radau_numbers_backend *radau_numbers;

    /* A leg of hermite-block (simulation/blocks.h), or the first of its steps; positions and
     * velocities are then those at the new time. NULL: the CPU's, on the host.
     * Errors: never KITH_CANCELLED; a call takes some milliseconds. */
    kith_status (*blocks)(kith_context *context, const struct radau_leg *leg,
                          struct blocks_problem *problem);
    const struct thermostat_backend *thermostat; /* NULL: the host's */

    /* to[k] = from[body[k]], of count ≥ 1 numbers. */
    kith_status (*pick)(kith_context *context, kith_dtype dtype, int64_t count, const int64_t *body,
                        const void *from, void *to);

    /* to[body[k]] = from[k], of count numbers, and 0 in the others of all. */
    kith_status (*place)(kith_context *context, int64_t all, int64_t count, const int64_t *body,
                         const double *from, double *to);
};

/* The context's. */
const struct simulation_backend *simulation_backend_of(const kith_context *context);

#ifdef __cplusplus
}
#endif

#endif
