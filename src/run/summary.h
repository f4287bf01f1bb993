#ifndef RUN_SUMMARY_H
#define RUN_SUMMARY_H

#include "kith/run.h"
#include "run/plan.h"

/* What a run finds out about itself as it goes. */
struct run_record {
    kith_diagnostics first, last;
    double largest_energy_error; /* max |E − E_0| over the frames */
    double momentum_scale;       /* Σ m |v| at the start */
    double stepping_seconds;
    int64_t steps_resumed;
};

/* Σ m |v|. */
double run_momentum_scale(const kith_bodies *bodies, const double *mass);

kith_run_summary run_summarize(const struct run_record *record, const struct run_plan *plan,
                               const kith_context *context, const kith_simulation *simulation,
                               int64_t bodies);

#endif
