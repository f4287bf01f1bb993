#ifndef KITH_RUN_H
#define KITH_RUN_H

#include "kith/simulation.h"
#include "kith/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kith_run_options {
    kith_simulation_options simulation;
    double until;  /* ≥ the bodies' time */
    int64_t every; /* steps between frames; 0: about 1000 frames in all */
    /* Instead a frame at every multiple of this time after the start; 0: no. A fixed step must
     * divide it. Frames of ias15 do not change its steps: a step back from the end of the one that
     * contains the time gives the state there. In ensembles, or with collisions, encounters or
     * escapes, ias15 ends a step there. */
    double every_time;
    /* Record temperature, pressure and virial at this interval of steps, and at the start, in
     * /parameters/kith/pressure/{step,time,temperature,pressure,virial}; 0: in frames only. With a
     * cutoff or periodic images, and steps of a fixed length. */
    int64_t pressure_every;
    /* Frames have positions within the periodic cell, and the image of each body,
     * particles/trajectory/image: x = position + image · cell, to rounding. kith's readers give x.
     * Otherwise frames have x. */
    bool wrap;
    const char *output;        /* an H5MD file; NULL: nothing is written */
    double checkpoint_seconds; /* of wall time between checkpoints; 0: 10 */
    /* Called once, with the interval between checkpoints in seconds, if it is more than 1.5 times
     * the requested one because steps or checkpoints take long; or NULL. */
    void (*late)(void *late_user, double seconds);
    void *late_user;
    /* Called between two steps, at the start and at the end, in the thread that steps; it may wait.
     * Returns the maximum number of steps before the next call; 0: any number. Or NULL. */
    int64_t (*between_steps)(void *between_user, kith_simulation *simulation);
    void *between_user;
    bool resume;                  /* continue from output's checkpoint */
    const char *const *arguments; /* recorded in the file: the command line, NULL-ended; or NULL */
    const char *input;            /* recorded in the file: the bodies' file; or NULL */
    const char
        *units[3];    /* likewise: names of the units of length, time, mass; NULL: the bodies' */
    uint64_t seed;    /* likewise: of the random numbers that made the bodies */
    bool seed_given;  /* else −1 is recorded */
    bool is_ensemble; /* the bodies are those of an ensemble (kith/ensemble.h) */
    int64_t systems;  /* number of systems, M */
    const char *const *inputs; /* recorded: each system's file, M of them; or NULL. The seed of
                                  an ensemble is system 0's, and one more for each next */
    kith_bodies *last; /* filled in with the final state, the same number of bodies; or NULL */
    /* With several ranks (kith/ranks.h): the number N of the bodies of all of them, if each gives
     * its own alone. Those of rank k of P begin at row N/P·k + (N mod P)·k/P, in whole numbers. All
     * ranks then have the same columns. 0: every rank gives all bodies. Not with last. */
    int64_t bodies_of_all;
} kith_run_options;

typedef struct kith_run_summary {
    int64_t systems;       /* 1 unless an ensemble */
    int64_t bodies, steps; /* of each system */
    int64_t evaluations;   /* of all forces in this call */
    double dt, time;
    double dt_min, dt_max; /* dt, or those of an adaptive integrator that were not shortened for a
                              frame or until */
    int64_t body_steps;    /* Σ over steps of the bodies that took it, of all systems */
    int64_t collisions;    /* mergers, bounces and stops */
    int64_t bodies_final;  /* of each system: those that have not merged or escaped */
    bool has_stopped;      /* at a collision, before until */
    double energy_initial, energy_final; /* summed over systems */
    /* Each the largest of any system; systems of an ensemble without energy are left out. */
    double relative_energy_error;     /* |E − E_0| / |E_0| at the end; NaN if E_0 is 0 in all */
    double max_relative_energy_error; /* over the frames */
    double momentum_error; /* |P − P_0| / Σ m |v| at the start, or |P − P_0| if that is 0 */
    double interactions_per_second; /* M × N² × evaluations / seconds, of this call: those of all
                                     * pairs, also where the solver evaluates fewer */
    double system_steps_per_second; /* M × steps / seconds, of this call */
    double gflops;                  /* 20 flop per interaction */
    double seconds;                 /* of stepping in this call, without files and diagnostics */
    kith_device device;
    kith_dtype precision;
    char integrator[KITH_NAME_BYTES], solver[KITH_NAME_BYTES];
    kith_thermostat_kind thermostat; /* with one the energy is not conserved */
    int64_t steps_resumed;           /* steps before the checkpoint */
    bool interrupted;
} kith_run_summary;

/* Runs a simulation from bodies to a finished file: frames, observables, checkpoints.
 *
 * The first frame is the start, the last is at until. By default an adaptive integrator has a frame
 * at the first step that reaches each thousandth of the time. Frames go to a hidden working file
 * next to the output. Every checkpoint_seconds of wall time (the first time after one second, or at
 * the start if less is requested; between two steps, and in at most 5 % of the time) a copy of it
 * with a checkpoint replaces output by a rename: output is at all times absent, an older file, or a
 * complete H5MD file that can be opened and resumed, also after kill -9 or a loss of power. A run
 * that is cancelled after its first frame writes a checkpoint of the last complete step, then
 * returns KITH_CANCELLED with the summary filled in; before the first frame output is unchanged. A
 * run that is stopped by a collision has a last frame after that step.
 *
 * Events (kith_event) are recorded in /parameters/kith/events. Frames have a row for every body of
 * the start, with NaN coordinates once a body has merged or escaped; kith_trajectory_read returns
 * the masses and radii at that time.
 *
 * Output is locked during the run: another run that would write to it fails immediately, with a
 * message that names the process. The lock of a killed run is released.
 *
 * With resume the run continues from output with the same bits as an uninterrupted run, also to a
 * later until. If output does not exist, the run starts from the bodies. Any other difference from
 * the run that wrote output (bodies, dt, integrator, softening, G, law, solver and its settings,
 * precision, every) is an error.
 *
 * The units of the bodies and the G of the run are recorded in output and returned with its frames.
 *
 *   context  where to compute
 *   options  not NULL
 *   bodies   the start; NULL with resume: that of the file
 *   summary  [out] or NULL
 *
 * An ensemble is written as one trajectory of M × N bodies, system after system, with the system of
 * each body in particles/trajectory/system, and an axis of systems in every observable. A system
 * that fails (a number that is not finite) ends the run; the message names it.
 *
 * Errors: KITH_INVALID_ARGUMENT, KITH_IO_ERROR, KITH_BAD_FORMAT, KITH_UNSUPPORTED (no HDF5),
 *         KITH_OUT_OF_MEMORY, KITH_CANCELLED. */
KITH_API kith_status kith_run(kith_context *context, const kith_run_options *options,
                              const kith_bodies *bodies, kith_run_summary *summary);

#ifdef __cplusplus
}
#endif

#endif
