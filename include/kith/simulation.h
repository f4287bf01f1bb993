#ifndef KITH_SIMULATION_H
#define KITH_SIMULATION_H

#include "kith/bodies.h"
#include "kith/context.h"
#include "kith/ensemble.h"
#include "kith/forces.h"
#include "kith/status.h"
#include "kith/thermostat.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An integrator: a row of the table that kith_integrator_list returns. */
typedef struct kith_integrator {
    const char *name;        /* "leapfrog" */
    const char *description; /* one line with the source */
    int32_t order;           /* the global error is proportional to dt^order */
    int32_t evaluations;     /* of all forces, per step; 0: as needed */
    bool symplectic;
    bool adaptive; /* chooses the lengths of its steps: dt is the first */
    bool central;  /* body 0 is a star, about which the others move on orbits */
} kith_integrator;

/* The table of integrators; *count rows, static memory. */
KITH_API const kith_integrator *kith_integrator_list(int64_t *count);

/* Bodies under their mutual gravity or another law (kith/forces.h), advanced by a fixed step or by
 * steps that an adaptive integrator chooses. */
typedef struct kith_simulation kith_simulation;

/* What happens when the distance of two bodies falls to the sum of their radii. */
typedef enum kith_on_collision {
    KITH_ON_COLLISION_PASS = 0, /* nothing: they pass through each other */
    KITH_ON_COLLISION_MERGE,    /* the heavier takes the other's mass, momentum and volume */
    KITH_ON_COLLISION_BOUNCE,   /* hard spheres: the velocity of approach is reversed */
    KITH_ON_COLLISION_STOP      /* the simulation stops at the end of that step */
} kith_on_collision;

enum { KITH_MOST_SUBSTEPS = 1024 };

typedef struct kith_simulation_options {
    double dt; /* > 0; of an adaptive integrator its first step, of hermite-block its longest */
    const char *integrator; /* a name of the table; NULL: "leapfrog" */
    /* G (0: the bodies' (kith_units), else 1), ε, law, solver, cutoff and cell (NULL: the bodies');
     * law and solver must exist as long as the simulation. Masses and charges are the bodies',
     * positions are never wrapped, and forces are summed. ewald and pme choose their settings for
     * the initial bodies and keep them (for a slab they choose at every step); exclusions are
     * copied.
     */
    kith_forces_options forces;
    /* Skin of the neighbor list of a run with a cutoff, at most the cutoff: the list has all pairs
     * within cutoff + skin and is rebuilt when a body has moved by half the skin. 0: chosen and
     * adapted. The bits of results do not depend on it. */
    double skin;
    /* Multiple time steps of leapfrog with the solvers ewald and pme (r-RESPA: Tuckerman, Berne &
     * Martyna 1992): a step of dt evaluates the sum over waves once, and the pairs within the
     * cutoff, those of a second law too, at each of this many shorter steps. 0 and 1: at the same
     * times. At most 1024; not for a slab. */
    int32_t substeps;
    bool softening_of_bodies; /* use bodies->softening instead of ε */
    kith_dtype precision;     /* KITH_F64, or KITH_F32: state and forces in float */
    double eta;               /* of hermite-block: h = (eta …)^{1/2} (docs/physics.md); 0: 0.02 */
    /* Of the integrator whfast: "jacobi" (NULL) or "democratic-heliocentric"; "default" (NULL),
     * "lazy", "modified-kick" or "composition"; the order of the symplectic corrector, 3, 5, 7, 11
     * or 17, or 0: none. Kernels and correctors are those of Jacobi coordinates. */
    const char *coordinates;
    const char *kernel;
    int32_t corrector;
    /* Collisions need the bodies' radii. Kinds of events: kith_event_kind. */
    kith_on_collision on_collision;
    double restitution; /* of a bounce, 0 to 1: speed of separation over speed of approach */
    double encounter;   /* > 0: record pericenters of two bodies below this distance; 0: none */
    kith_thermostat thermostat; /* all zero: none */
    double escape; /* > 0: bodies farther than this from the center of mass are removed; 0: none */
} kith_simulation_options;

/* Sums over all bodies, computed in double precision with compensated sums in a fixed order. */
typedef struct kith_diagnostics {
    double kinetic_energy;   /* ½ Σ m v² */
    double potential_energy; /* ½ Σ m φ; under laws other than gravity ½ Σ_i Σ_j V(i, j) */
    double total_energy;
    double momentum[3];         /* Σ m v */
    double angular_momentum[3]; /* Σ m x × v; in 2D only the third is not 0 */
    double center_of_mass[3];   /* Σ m x / Σ m; 0 without mass */
    /* −2T / W with T and W = Σ m x·a in the frame of the center of mass; 1 in equilibrium; NaN if
     * W = 0. */
    double virial_ratio;
    /* Σ m v² / (D (N − 1)) relative to the velocity of the center of mass; NaN with fewer than two
     * bodies.
     */
    double temperature;
    /* With a cutoff, ewald or pme as in kith_forces_totals, with the tail; else 0. The pressure is
     * 0 unless the cell is periodic along all axes. */
    double virial[9];
    double pressure; /* (Σ m v² + Σ_a W_aa) / (D volume) */
} kith_diagnostics;

/* Makes a simulation; copies the bodies.
 *
 * Collisions, encounters and escapes are searched for after every step, on the paths of the bodies
 * from its start to its end: cubic Hermite curves through both. Bodies that overlap at the start of
 * a step collide, too. Several collisions in a step are resolved in the order of their times, then
 * of rows; a body that has collided in the step is tested against others at its end. A merged body
 * has the position and velocity of the center of mass of both, which conserves mass and momentum,
 * the sum of the charges, and as radius the cube root of the sum of the cubes of the radii (in 2D
 * the square root of the sum of the squares); of two equal masses the first remains. A bounce is
 * without friction: it changes the velocities along the line of centers, and displaces each body
 * accordingly for the rest of the step; in a close encounter of hybrid it ends a small step where
 * the bodies touch. Merging does not conserve energy and angular momentum.
 *
 *   options  not NULL: dt has no default
 *   bodies   any number, including 0 and 1; without velocities they start at rest
 *   simulation  [out] owned by the caller; free with kith_simulation_free, before its context
 *
 * Errors: KITH_INVALID_ARGUMENT (dt ≤ 0 or not finite; unknown integrator: the message lists the
 *         known ones; softening < 0, or missing in the bodies with softening_of_bodies; arrays in
 *         options->forces, or a sum of values; a skin < 0, without a cutoff, or of ewald and pme;
 *         substeps out of range, with another integrator or a solver without a mesh; a method that
 *         is not the solver's; bodies that are not finite or have a mass < 0, under
 *         laws other than gravity ≤ 0: the message names the row; a formula whose second
 *         derivatives, which the integrator needs, are too long; collisions without radii,
 *         restitution outside 0 to 1, encounter or escape < 0; with ias15 two bodies with mass at
 *         the same position without softening; coordinates, a corrector or a kernel that do not
 *         exist, or are given with an integrator other than whfast; with whfast or hybrid body 0
 *         without mass, or another body at its position; a thermostat's temperature < 0 or time ≤
 *         0, and with a thermostat a mass that is not > 0 or any integrator but leapfrog),
 *         KITH_UNSUPPORTED (a formula without a compiler; periodic bodies without a cutoff, ewald
 *         or pme; a solver that does not support these steps, this precision, device or ensemble;
 *         ias15 in single precision, or of an ensemble under any other law than gravity or with any
 *         other solver than direct; hermite-block in single precision, in an ensemble, under any
 *         other law than gravity, or on a GPU with any other solver than direct; whfast in single
 *         precision, on a GPU with more than 64 bodies, with a softening, with a solver other than
 *         direct, under a law other than gravity, or with collisions, encounters or escapes; hybrid
 *         in the same cases except for collisions, encounters and escapes, and also on a GPU or in
 *         an ensemble; collisions, encounters or escapes in an ensemble or on a GPU; a thermostat
 *         in an ensemble; substeps of a slab), KITH_OUT_OF_MEMORY.
 * Cost:   one evaluation of all forces; 3–7 arrays of N × D numbers, for ias15 37. */
KITH_API kith_status kith_simulation_create(kith_context *context,
                                            const kith_simulation_options *options,
                                            const kith_bodies *bodies,
                                            kith_simulation **simulation);

/* Makes a simulation of an ensemble (kith/ensemble.h): independent systems of few bodies, advanced
 * together, each in a vector lane or a thread of the device. All have the same number of bodies,
 * dimensions, time and options; each moves as it would alone, to rounding. (Internally they share
 * one unit of length and one of mass: a system smaller than the largest by 10⁴⁰, or by 10⁴ in
 * single precision, is out of range.) Every function below accepts an ensemble and acts on all its
 * systems.
 *
 * With ias15 each system takes its own steps, with the same bits as alone. Such an ensemble is
 * advanced to a common time by kith_simulation_run and _step_by, not by a number of steps; its
 * number of steps is the average over the systems.
 *
 *   systems  M ≥ 0
 *   bodies   M × N rows, system after system; N ≤ kith_most_bodies_of_system
 *
 * Errors: as kith_simulation_create, with messages that also name the system; the number of rows is
 *         not a multiple of systems, or N is too large.
 * Cost:   as M simulations; 3–7 arrays of M × N × D numbers, M rounded up to a multiple of 64. */
KITH_API kith_status kith_simulation_create_ensemble(kith_context *context,
                                                     const kith_simulation_options *options,
                                                     int64_t systems, const kith_bodies *bodies,
                                                     kith_simulation **simulation);

KITH_API void kith_simulation_free(kith_simulation *simulation);

/* Advances by a number of steps (≥ 0), of length dt or as an adaptive integrator chooses; by fewer
 * if a collision or a heartbeat stops it.
 *
 * If the context is cancelled, also within a step, it returns KITH_CANCELLED, and the simulation is
 * at the end of the last complete step.
 *
 * Cost: steps × evaluations × N² pairs; for long steps memory for another copy of the state.
 *
 * Errors: KITH_INVALID_ARGUMENT (a step of ias15 or hybrid became too short, as two bodies collide:
 *         the simulation is at the end of the step before), KITH_OUT_OF_MEMORY, KITH_CANCELLED.
 *
 * Bits: the same on every run, for every number of threads, and however the steps are split. */
KITH_API kith_status kith_simulation_step(kith_simulation *simulation, int64_t steps);

/* Advances by one step of length h instead of dt; a negative h goes backwards. An adaptive
 * integrator takes as many steps as needed, and the last ends there exactly.
 *
 * Errors: KITH_INVALID_ARGUMENT (h is not finite, or negative with a thermostat),
 *         KITH_OUT_OF_MEMORY, KITH_CANCELLED (the simulation is unchanged, with an adaptive
 *         integrator at the end of the last complete step).
 *
 * Cost: that of a step: evaluations × N² pairs. */
KITH_API kith_status kith_simulation_step_by(kith_simulation *simulation, double h);

/* Steps until the time is exactly until; the last step is shorter if dt does not divide the
 * interval. An interval within 1e-9 of a whole number of steps, or within the rounding of both
 * times, counts as whole.
 *
 * Errors: KITH_INVALID_ARGUMENT (until is not finite, before the current time, or 2^53 steps or
 *         more away), KITH_OUT_OF_MEMORY, KITH_CANCELLED (the simulation is at the end of the last
 *         complete step).
 * Cost:   that of its steps. */
KITH_API kith_status kith_simulation_run(kith_simulation *simulation, double until);

/* Takes at most `steps` steps (≥ 0) towards a time, with the bits of kith_simulation_run, which
 * takes all of them. An ensemble of ias15 takes all.
 *
 * Errors: as kith_simulation_run; KITH_INVALID_ARGUMENT (steps < 0).
 * Cost:   that of its steps. */
KITH_API kith_status kith_simulation_run_steps(kith_simulation *simulation, double until,
                                               int64_t steps);

/* The number of whole steps of length dt that kith_simulation_run takes from start to until; *rest
 * is the length of a shorter last step, or 0. Not for adaptive integrators. */
KITH_API int64_t kith_simulation_whole_steps(double start, double until, double dt, double *rest);

/* The time: that of the start plus the number of steps times dt, without accumulation of rounding
 * errors. Steps of other lengths, and of an adaptive integrator, are summed with compensation. */
KITH_API double kith_simulation_time(const kith_simulation *simulation);
KITH_API int64_t kith_simulation_steps(const kith_simulation *simulation);

/* The number of independent systems: 1 unless it is an ensemble. */
KITH_API int64_t kith_simulation_systems(const kith_simulation *simulation);

/* Copies the state into bodies: same count and dimensions as at creation; velocities are added if
 * absent; time is set. Coordinates of removed bodies are NaN. Once bodies have merged or escaped,
 * the columns of masses, charges and radii, if present, are set to the current values, 0 for
 * removed bodies. */
KITH_API kith_status kith_simulation_get_bodies(kith_simulation *simulation, kith_bodies *bodies);

/* The state at a time within the last step of ias15, from the step's polynomials (dense output).
 * The simulation does not change. Within a step the polynomials are of lower order than at its
 * ends: positions are accurate to about 10⁻¹² of an orbit, velocities to 10⁻⁹. For full accuracy
 * end a step at that time.
 *
 *   time  from the start of the last step to its end, kith_simulation_time
 *
 * Errors: KITH_INVALID_ARGUMENT (another time, count or dimensions), KITH_UNSUPPORTED (a fixed
 *         step), KITH_OUT_OF_MEMORY.
 *
 * Cost: a copy of the state. */
KITH_API kith_status kith_simulation_get_bodies_at(kith_simulation *simulation, double time,
                                                   kith_bodies *bodies);

/* kith_simulation_get_bodies for some systems of an ensemble: bodies has systems × N rows. A single
 * simulation is system 0.
 *
 * Errors: KITH_INVALID_ARGUMENT (the systems do not exist; another count or dimensions). */
KITH_API kith_status kith_simulation_get_systems(kith_simulation *simulation, int64_t first,
                                                 int64_t systems, kith_bodies *bodies);

/* Replaces the state by other bodies, of the same number as at creation: positions, velocities or
 * masses that were changed between steps. Absent columns have the defaults of creation: velocities
 * 0, masses 1. The time becomes that of the bodies; the number of steps continues.
 *
 * Errors: KITH_INVALID_ARGUMENT (another count or dimensions; bodies were removed; what
 *         kith_simulation_create refuses), KITH_OUT_OF_MEMORY, KITH_CANCELLED (the state is
 *         replaced; the next step evaluates its forces). After KITH_INVALID_ARGUMENT the simulation
 *         is unchanged.
 * Cost:   one evaluation of all forces. */
KITH_API kith_status kith_simulation_set_bodies(kith_simulation *simulation,
                                                const kith_bodies *bodies);

typedef enum kith_event_kind {
    KITH_EVENT_MERGE = 1,
    KITH_EVENT_BOUNCE,
    KITH_EVENT_STOP,      /* a collision at which the simulation stopped */
    KITH_EVENT_ENCOUNTER, /* a pericenter at less than the options' encounter */
    KITH_EVENT_ESCAPE     /* a body removed; distance and speed from the center of mass */
} kith_event_kind;

/* The name of a kind: "merge", "bounce", "stop", "encounter", "escape"; NULL for any other
 * value. */
KITH_API const char *kith_event_name(kith_event_kind kind);

typedef struct kith_event {
    kith_event_kind kind;
    int64_t step;        /* in which it happened, from 1 */
    double time;         /* within that step */
    int64_t body, other; /* rows, from 0: of a merger the remaining and the removed body, otherwise
                            the first and the second; −1: no other */
    double distance, speed; /* of one relative to the other, at that time */
    double mass, radius;    /* of body, afterwards */
} kith_event;

/* The events of all steps so far, in order, and their number. Valid until the next step. */
KITH_API const kith_event *kith_simulation_events(const kith_simulation *simulation,
                                                  int64_t *count);

/* The number of collisions so far. */
KITH_API int64_t kith_simulation_collisions(const kith_simulation *simulation);

/* The original rows of the remaining bodies, ascending, and their number. NULL if none was removed.
 * Valid until the next step. */
KITH_API const int64_t *kith_simulation_rows(const kith_simulation *simulation, int64_t *count);

/* Whether the last call that took steps ended early, at a collision. The next call continues. */
KITH_API bool kith_simulation_has_stopped(const kith_simulation *simulation);

/* A function to be called at a given interval of steps, with the simulation, which it may inspect
 * (bodies, diagnostics, events) but not advance or change. If it returns false, the call that takes
 * the steps returns KITH_CANCELLED there, and the next call continues.
 *
 *   every      > 0: called when the number of steps is a multiple of this
 *   heartbeat  NULL: none
 *
 * Errors: KITH_INVALID_ARGUMENT (every < 1). */
typedef bool kith_heartbeat(void *user, kith_simulation *simulation);
KITH_API kith_status kith_simulation_set_heartbeat(kith_simulation *simulation, int64_t every,
                                                   kith_heartbeat *heartbeat, void *user);

typedef enum kith_simulation_column {
    KITH_SIMULATION_POSITION = 0,
    KITH_SIMULATION_VELOCITY,
    KITH_SIMULATION_MASS
} kith_simulation_column;

/* A view of the state, without a copy: it is always the state after the last step.
 *
 *   column  which
 *   view    [out] N × D, or N masses, in the simulation's precision and on the context's device, of
 *           the remaining bodies (kith_simulation_rows), so that its shape may change with steps;
 *           of an ensemble M × N × D, or M × N. Strided. Read only: kith_simulation_set_bodies
 *           changes the state. Valid until kith_simulation_free; on a device, wait for the
 *           context's stream
 *
 * Errors: KITH_INVALID_ARGUMENT (the column does not exist), KITH_UNSUPPORTED (under gravity: the
 *         largest length of coordinates, softening and v·dt is not between 2^−60 and 2^120, in
 *         single precision 2^−10 and 2^20, or, for masses, the largest mass is not; the state is
 *         then kept in other units, and kith_simulation_get_bodies copies it)
 * Cost:   none. */
KITH_API kith_status kith_simulation_view(const kith_simulation *simulation,
                                          kith_simulation_column column, kith_array *view);

/* The sums over all bodies, with potentials and accelerations evaluated by the simulation's solver.
 * For an ensemble: the sums over all systems, the center of mass of all, and the virial ratio of
 * the summed T and W.
 *
 * Errors: KITH_OUT_OF_MEMORY, KITH_CANCELLED; KITH_INVALID_ARGUMENT of a formula, or deferred from
 *         a device.
 * Cost:   one evaluation of all forces in double precision, for which it waits, or none after a
 *         step by tree or fmm whose integrator ends with a kick (leapfrog, yoshida4, yoshida6,
 *         yoshida8, mclachlan4), unless bodies are watched for collisions, encounters or escapes:
 *         in double precision the bits are the same, in single precision potentials and
 *         accelerations are those of the step. 14 doubles per body, with a GPU also 11 on the host;
 *         for an ensemble at most 210 MB. */
KITH_API kith_status kith_simulation_diagnose(kith_simulation *simulation,
                                              kith_diagnostics *diagnostics);

/* Diagnostics of some systems of an ensemble, one each: diagnostics has `systems` elements.
 *
 * Errors: as kith_simulation_diagnose; KITH_INVALID_ARGUMENT (the systems do not exist).
 * Cost:   one evaluation of their forces; at most 210 MB. */
KITH_API kith_status kith_simulation_diagnose_systems(kith_simulation *simulation, int64_t first,
                                                      int64_t systems,
                                                      kith_diagnostics *diagnostics);

/* The state of a simulation that continues with the same bits.
 *
 * state is [arrays][N][D] of the remaining bodies, of an ensemble [arrays][M][N][D], in the
 * simulation's precision and the caller's units: positions, velocities, and the integrator's arrays
 * (accelerations, jerks, compensation of sums, polynomials). */
typedef struct kith_checkpoint {
    int64_t steps;
    double start_time;   /* time is start_time + (steps − start_steps)·dt */
    int64_t start_steps; /* steps done at start_time */
    int64_t evaluations; /* of all forces, so far */
    /* Of an adaptive integrator, whose time is start_time; else 0. */
    double lost_time; /* its compensation */
    double next_step, last_step, previous_time, least_step, most_step;
    int64_t body_steps; /* Σ over steps of the bodies that took it */
    int64_t collisions;
    /* Once bodies have merged or escaped, else NULL: the rows of those left, and masses, charges
     * and radii of all N, 3 × N. Freed by kith_checkpoint_free. */
    int64_t bodies;
    int64_t *rows;
    double *columns;
    int64_t arrays;
    int64_t bytes;
    void *state; /* owned by the checkpoint, free with kith_checkpoint_free */
} kith_checkpoint;

/* Saves the state in *checkpoint, and frees any earlier state in it. */
KITH_API kith_status kith_simulation_save(kith_simulation *simulation, kith_checkpoint *checkpoint);

/* Restores into a simulation made with the same options and bodies.
 * Errors: KITH_INVALID_ARGUMENT if the number of arrays or bytes does not fit. */
KITH_API kith_status kith_simulation_restore(kith_simulation *simulation,
                                             const kith_checkpoint *checkpoint);

KITH_API void kith_checkpoint_free(kith_checkpoint *checkpoint);

#ifdef __cplusplus
}
#endif

#endif
