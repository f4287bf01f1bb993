#ifndef RUN_RUNNING_H
#define RUN_RUNNING_H

#include "io/output_lock.h"
#include "kith/run.h"
#include "run/output.h"
#include "run/pace.h"
#include "run/plan.h"
#include "run/summary.h"
#include "simulation/frame.h"

/* What a step leaves to be written: its frame is being copied from the device, its checkpoint is
 * here.
 */
struct pending {
    int64_t step;
    bool frame, checkpoint, is_last;
    double saving_seconds;
};

/* A run as it goes on: kith_run's. */
struct run {
    kith_context *context;
    const kith_run_options *options;
    struct run_plan plan;
    struct run_past past; /* empty unless the run was resumed */
    kith_law *law;        /* of a resumed run, if the options have none; else NULL */
    kith_simulation *simulation;
    struct frame frame;
    kith_bodies rows;    /* the start, all bodies or a slice, in memory of the caller or of: */
    kith_bodies *united; /* all bodies, if the caller gave this rank's and they are not sliced */
    kith_bodies *now;    /* the state, for frames; of this rank, if it has a slice */
    struct output_lock lock;
    struct run_output output;
    int64_t frames;     /* written, those before a resume included */
    int64_t first_row;  /* of `now`, among all bodies */
    const double *mass; /* the bodies' or NULL */
    kith_checkpoint checkpoint;
    struct pace pace;
    int64_t most_steps; /* before between_steps is called again; 0: any number */
    bool late_is_told;
    kith_diagnostics *diagnostics; /* of each system */
    struct run_record record;
    struct pending pending;
};

/* Checks the options, and the output before hours of computing; makes the simulation at its start,
 * or as the past of the output has left it. Collective. */
kith_status run_begin(struct run *run, const kith_bodies *bodies);
kith_status run_begin_again(struct run *run, const kith_bodies *bodies);

#endif
