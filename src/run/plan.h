#ifndef RUN_PLAN_H
#define RUN_PLAN_H

#include "io/run_file.h"
#include "kith/run.h"
#include "simulation/radau.h"

/* What a run is to do, worked out before anything is computed or written. */
struct run_plan {
    struct run_parameters parameters;
    double start;      /* the bodies' time */
    bool is_adaptive;  /* the integrator chooses its steps: these are not known */
    int64_t whole_end; /* steps done when only the shorter last one is missing */
    int64_t end;       /* steps done at until */
    double rest;       /* length of the shorter last step; 0: none */
    int64_t frames;    /* about this many */
};

/* The state of a run; the time before the last step counts only if the plan is adaptive. */
struct run_moment {
    int64_t step;
    double time, previous_time;
};

/* Checks the options and plans a run from its start.
 *
 * Errors: KITH_INVALID_ARGUMENT. */
kith_status run_plan_start(const kith_run_options *options, const kith_bodies *bodies,
                           struct run_plan *plan);

/* Likewise, from the past of its output, which the options and bodies must agree with.
 *
 *   bodies  NULL: the past's; then options that are zero are the past's too. Else the rows that the
 *           past has here, of `all` */
kith_status run_plan_resume(const kith_run_options *options, const kith_bodies *bodies, int64_t all,
                            const struct run_past *past, struct run_plan *plan);

/* Whether all is done. */
bool run_plan_is_over(const struct run_plan *plan, const struct run_moment *now);

/* How many steps there are, as far as is known. */
int64_t run_plan_steps(const struct run_plan *plan, const struct run_moment *now);

/* Whether a frame of the state as it is is due: after every K-th step or at every T, and at the
 * end. */
bool run_plan_has_frame(const struct run_plan *plan, const struct run_moment *now);

/* Whether there is a frame number k (from 0) within the last step, before its end; *time is its
 * time. */
bool run_plan_frame_within(const struct run_plan *plan, const struct run_moment *now, int64_t k,
                           double *time);

/* Whether a record of the pressure is due: at the start and after every K-th step. */
bool run_plan_has_pressure(const struct run_plan *plan, const struct run_moment *now);

/* The next stop after a step: at the next frame or pressure, or before the shorter last step. */
int64_t run_plan_next_stop(const struct run_plan *plan, int64_t step);

/* The same for an integrator that chooses its steps. */
struct radau_leg run_plan_next_leg(const struct run_plan *plan, const struct run_moment *now);

/* The options of the plan's simulation; forces are those given, with what they leave open.
 * Errors: KITH_INVALID_ARGUMENT (the past's solver is not one of the table). */
kith_status run_plan_simulation(const struct run_plan *plan, const kith_forces_options *forces,
                                const kith_law *law, kith_simulation_options *options);

#endif
