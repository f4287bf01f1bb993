#ifndef SIMULATION_STATE_H
#define SIMULATION_STATE_H

#include "core/context.h"
#include "forces/problem.h"
#include "forces/scale.h"
#include "kith/simulation.h"

struct integrator_method;

/* The arrays of a simulation, a vector a body in each. An integrator has the first two and as many
 * more as it asks for; it may use those behind ACCELERATION as it likes. */
enum { POSITION, VELOCITY, ACCELERATION, JERK, MAX_ARRAYS = 7 };

/* An array is [D][stride] numbers in the backend's memory, stride = kith_padded(N). What lies
 * behind the N-th element of positions and velocities is zero, always: forces may be evaluated
 * there too.
 *
 * Lengths are divided by units.length and masses by units.mass (forces/scale.h); times are not. So
 * velocities, accelerations and jerks are divided by units.length too. */
struct kith_simulation {
    kith_context *context;
    const struct integrator_method *method;
    kith_dtype dtype;
    int32_t dimensions;
    int64_t count, stride;
    double dt;

    struct forces_units units;
    struct forces_problem problem; /* complete but for the vectors */
    void *memory[MAX_ARRAYS];
    void *vector[MAX_ARRAYS][3]; /* the components in memory; NULL for the third in 2D */
    void *mass, *half_softening2;

    double start_time;
    int64_t steps, start_steps, evaluations;
};

/* Allocates the arrays and fills in masses, softening, positions and velocities. The simulation's
 * fields up to dt are set; its memory goes with simulation_release, also after a failure. */
kith_status simulation_load(struct kith_simulation *simulation,
                            const kith_simulation_options *options, const kith_bodies *bodies);
void simulation_release(struct kith_simulation *simulation);

/* vector[acceleration] = the forces at vector[position]. */
kith_status simulation_evaluate(struct kith_simulation *simulation, int32_t position,
                                int32_t acceleration);

/* Accelerations and jerks at the positions and velocities. */
kith_status simulation_evaluate_with_jerk(struct kith_simulation *simulation);

/* vector[out] = Σ_k factor[k]·vector[in[k]], k ascending, terms ≤ 4. */
kith_status simulation_combine(struct kith_simulation *simulation, int32_t terms,
                               const double *factor, const int32_t *in, int32_t out);

/* N numbers of the simulation's precision in the backend's memory (a component, the masses), as
 * they are, to doubles on the host. */
kith_status simulation_read(struct kith_simulation *simulation, const void *from, double *to);

/* An array as N × D doubles on the host in the caller's units, out and in. */
kith_status simulation_read_vectors(struct kith_simulation *simulation, int32_t array,
                                    double *rows);
kith_status simulation_write_vectors(struct kith_simulation *simulation, int32_t array,
                                     const double *rows);

#endif
