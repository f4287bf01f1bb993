#ifndef SIMULATION_STATE_H
#define SIMULATION_STATE_H

#include "cells/geometry.h"
#include "core/memory.h"
#include "device/context.h"
#include "forces/law_choice.h"
#include "forces/problem.h"
#include "forces/scale.h"
#include "kith/simulation.h"
#include "simulation/images.h"
#include "simulation/radau.h"
#include "simulation/recording.h"
#include "simulation/whfast.h"

struct hybrid_step;
struct integrator_method;
struct massive;
struct simulation_domain;
struct simulation_slice;
struct watch;

/* The arrays of a simulation, a vector a body in each. An integrator has the first two and as many
 * more as it requests; it may use those after VELOCITY freely, but for ACCELERATION and JERK where
 * they are evaluated. LOST_POSITION and LOST_VELOCITY are the compensation of positions and
 * velocities: simulation_accumulate. */
enum {
    POSITION,
    VELOCITY,
    LOST_POSITION,
    LOST_VELOCITY,
    ACCELERATION,
    JERK,
    MAX_ARRAYS = RADAU_ARRAYS
};

/* Of a single simulation an array is [D][stride] numbers in the backend's memory, stride =
 * kith_padded(N). Of an ensemble it is [D][N][M'], M' = kith_padded(M), stride = N·M'
 * (forces/problem.h). What lies after the N-th or M-th element of positions and velocities is
 * zero, always: forces may be evaluated there too.
 *
 * With gravity lengths are divided by units.length, which is 1 if their range allows, and masses by
 * units.mass, so that the largest is between 1 and 2 (forces/scale.h); both are the same for all
 * systems, and times are not divided. So velocities, accelerations and jerks are divided by
 * units.length too. With another law, or a solver that is periodic, both units are 1. */
struct kith_simulation {
    kith_context *context;
    const struct integrator_method *method;
    kith_dtype dtype;
    int32_t dimensions;
    bool is_ensemble;
    bool is_looked_at; /* by the heartbeat, now */
    int64_t systems;   /* M; 1 unless an ensemble */
    int64_t count;     /* N, bodies of a system; of a slice those of this rank */
    int64_t stride;
    double dt;
    double softening;
    double eta;               /* of hermite-block; 0: its default */
    bool softening_of_bodies; /* instead of it */
    int32_t substeps;         /* of the pairs that are summed one by one: substeps.h */
    struct whfast_choice whfast;
    double *planets; /* memory for its kernels, of planet_numbers numbers, or NULL */
    int64_t planet_numbers;
    int64_t last_with_mass;     /* the last body with mass, of one system; −1: none */
    struct hybrid_step *hybrid; /* memory for its steps, or NULL */
    struct massive *massive;    /* the sources, if most bodies have no mass, or NULL (massive.h) */

    kith_thermostat thermostat;
    struct law_choice law;
    kith_law *mixed; /* of the bodies' ε and σ (forces/mixing.h), in its place; or NULL */
    const kith_solver *solver;
    struct simulation_slice *slice;   /* simulation/slice.h; NULL: the arrays have all bodies */
    struct simulation_domain *domain; /* the state over ranks (simulation/domain.h), or NULL */
    bool is_viewed; /* the caller has views of the arrays, which show the last step */
    /* The state is gathered when all ranks ask for it together, not after every call. */
    bool stays_divided;
    bool is_fused;  /* whole steps may be left to the backend: direct, with the usual method, and no
                       thermostat */
    void *prepared; /* by the solver, for the bodies as they are; NULL: nothing */
    struct forces_space space;    /* in the caller's unit of length */
    kith_ewald ewald;             /* of the space, whose exclusions are owned */
    kith_cell cell;               /* of it */
    struct pairs_lattice lattice; /* of the problem's */
    struct forces_units units;
    struct forces_problem problem; /* complete but for the vectors */
    void *memory[MAX_ARRAYS];
    void *vector[MAX_ARRAYS][3];           /* the components in memory; NULL for the third in 2D */
    void *mass, *half_softening2, *charge; /* NULL if they are not used */
    void *weight;     /* √ε, where the law is mixed: charges are then σ; or NULL */
    void *kept;       /* keep.h: positions, velocities and what else a step starts from; or NULL */
    void *potential;  /* those that the last accelerations came with; NULL: none are kept */
    void *shown_mass; /* as the caller has them, if shows_masses; of its own, so that views last */
    bool shows_masses;
    bool potentials_are_free;
    bool has_potentials; /* ACCELERATION and potential are those of the bodies as they are now */
    bool
        lacks_forces; /* what the method keeps besides positions and velocities is to be computed */
    bool lacks_bodies; /* positions and velocities are to be computed from what the method keeps */
    int64_t sampled_step; /* diagnostics are expected after this many steps */

    double start_time;
    int64_t steps, start_steps, evaluations;
    struct radau_clock clock; /* of an integrator that chooses its steps; start_time is its time */
    struct simulation_recording recording;
    int64_t body_steps;  /* Σ over steps of the bodies that took it, of all systems */
    struct watch *watch; /* watch.h; NULL: no body collides or is removed */
    kith_heartbeat *heartbeat;
    void *heartbeat_user;
    int64_t heartbeat_every;
};

/* The number of steps, at most this many, until the heartbeat is due; calls it if it is due
 * (heartbeat.c).
 * Errors: KITH_CANCELLED (it stops). */
int64_t heartbeat_steps(const struct kith_simulation *simulation, int64_t steps);
kith_status heartbeat_call(struct kith_simulation *simulation);

/* Systems first … first + count − 1. */
struct system_range {
    int64_t first, count;
};

static inline struct system_range simulation_all(const struct kith_simulation *simulation)
{
    return (struct system_range){0, simulation->systems};
}

/* How this many systems lie in memory: body i of system s is number i·step + s of `numbers`. */
struct system_layout {
    int64_t step, numbers;
};

static inline struct system_layout simulation_layout(const struct kith_simulation *simulation,
                                                     int64_t systems)
{
    const int64_t step = simulation->is_ensemble ? kith_padded(systems) : 1;
    return (struct system_layout){step, simulation->count * step};
}

/* Allocates the arrays and fills in masses, softening, positions and velocities. The simulation's
 * fields up to the law are set; its memory is freed with simulation_release, also after a failure.
 */
kith_status simulation_load(struct kith_simulation *simulation, const kith_bodies *bodies);

/* Fills in those of other bodies, as many; refill keeps the unit of length. */
kith_status simulation_fill(struct kith_simulation *simulation, const kith_bodies *bodies);
kith_status simulation_refill(struct kith_simulation *simulation, const kith_bodies *bodies);
void simulation_release(struct kith_simulation *simulation);

/* Whether the solver can do the steps and the diagnostics; forces are the options it was chosen by,
 * whose advise is called (forces/advice.h). Errors: KITH_UNSUPPORTED. */
kith_status simulation_check_solver(const struct kith_simulation *simulation,
                                    const kith_forces_options *forces);

/* Potentials may be kept with accelerations from now on, if diagnostics may take the solver's
 * (forces/solver.h) and a step ends with the forces at its last positions: diagnostics there
 * need no forces of their own. */
kith_status simulation_allocate_potentials(struct kith_simulation *simulation);

/* vector[acceleration] = the forces at vector[position]. */
kith_status simulation_evaluate(struct kith_simulation *simulation, int32_t position,
                                int32_t acceleration);

/* ACCELERATION = the forces at POSITION, which a step ends with. Potentials are kept if they are
 * free, or if diagnostics are expected at the end of the step. */
kith_status simulation_evaluate_last(struct kith_simulation *simulation, bool is_sampled);

/* What an evaluation of the last forces with potentials finds, or would find, in the simulation's
 * precision: the accelerations elsewhere, the potentials where they are kept. */
kith_status simulation_evaluate_potentials(struct kith_simulation *simulation,
                                           void *const acceleration[3]);

/* Accelerations and jerks at the positions and velocities. */
kith_status simulation_evaluate_with_jerk(struct kith_simulation *simulation);

/* vector[out] = Σ_k factor[k]·vector[in[k]], k ascending, terms ≤ 4. */
kith_status simulation_combine(struct kith_simulation *simulation, int32_t terms,
                               const double *factor, const int32_t *in, int32_t out);

/* vector[array] += Σ_k factor[k]·vector[in[k]], k ascending, terms ≤ 4, for POSITION or VELOCITY.
 * The sum is compensated: what does not fit is kept and added the next time (Kahan 1965), so that
 * the errors of many small steps do not add up. */
kith_status simulation_accumulate(struct kith_simulation *simulation, int32_t terms,
                                  const double *factor, const int32_t *in, int32_t array);

/* vector[array] = 0, of doubles; a failure on a GPU is reported by the next call that waits. */
void simulation_clear(struct kith_simulation *simulation, int32_t array);

/* Doubles in the layout of all systems to the backend's memory. */
kith_status simulation_write(struct kith_simulation *simulation, const double *from, void *to);

/* An array as doubles on the host in the caller's units, [systems][N][D]: out of some systems, and
 * in to all. */
kith_status simulation_read_vectors(struct kith_simulation *simulation, struct system_range range,
                                    int32_t array, double *rows);
kith_status simulation_write_vectors(struct kith_simulation *simulation, int32_t array,
                                     const double *rows);

/* Errors: KITH_INVALID_ARGUMENT unless the simulation has these systems. */
kith_status simulation_check_range(const struct kith_simulation *simulation,
                                   struct system_range range);

#endif
