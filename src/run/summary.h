#ifndef RUN_SUMMARY_H
#define RUN_SUMMARY_H

#include "kith/run.h"
#include "run/plan.h"

/* The results of a run for a system. */
struct system_record {
    double first_energy, last_energy;
    double largest_energy_error; /* max |E − E_0| over the frames */
    double first_momentum[3], last_momentum[3];
    double momentum_scale; /* Σ m |v| at the start */
};

/* And about itself. */
struct run_record {
    int64_t systems;
    struct system_record *system;
    bool has_frames;
    double stepping_seconds;
    int64_t steps_resumed, evaluations_resumed;
};

/* Makes an empty record, which is freed with run_record_free. */
kith_status run_record_begin(int64_t systems, struct run_record *record);
void run_record_free(struct run_record *record);

/* Records a frame: bodies with velocities, their masses or NULL, and diagnostics of each system.
 *
 *   of_slice  the context, if each rank has a slice of the bodies: then collective; else NULL */
void run_record_frame(struct run_record *record, const kith_context *of_slice,
                      const kith_bodies *bodies, const double *mass,
                      const kith_diagnostics *diagnostics);

/* Takes down what the frames before a resume were. */
void run_record_past(struct run_record *record, const kith_context *of_slice,
                     const struct run_past *past);

/*   bodies  of a system */
kith_run_summary run_summarize(const struct run_record *record, const struct run_plan *plan,
                               const kith_context *context, const kith_simulation *simulation,
                               int64_t bodies);

#endif
