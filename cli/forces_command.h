#ifndef CLI_FORCES_COMMAND_H
#define CLI_FORCES_COMMAND_H

#include "cli.h"
#include "cutoff_options.h"
#include "law_options.h"
#include "load.h"

/* --error, --theta and --order, of a kith_accuracy. */
extern const struct parser accuracy_parser;

struct excluded_pairs {
    int64_t (*rows)[2];
    int64_t count;
};

/* Excluded pairs, and what the solvers of periodic cells take besides. */
struct ewald_options {
    kith_ewald chosen;
    const char *exclude; /* a file of rows i,j */
    struct excluded_pairs excluded;
    kith_array exclusions; /* a view of these, or none */
};
extern const struct parser ewald_parser;

/* Reads the file of excluded pairs, if there is one, into `excluded`, whose rows are freed with
 * free(), and `exclusions`. Returns an exit code. */
int ewald_read_excluded(const char *command, struct ewald_options *options);

/* Ends the program if an option is given that the solver does not have. */
void ewald_check_unused(const struct ewald_options *options, bool has_cutoff,
                        const struct argp_state *state);

/* Whether the solver, which may be NULL, sums the images of a periodic cell. */
bool cli_has_images(const kith_solver *solver);

/* Whether it computes on the CPU alone: ewald. */
bool cli_is_of_cpu(const kith_solver *solver);

/* --coordinates, --corrector and --kernel, of kith_simulation_options. */
extern const struct parser planets_parser;

struct forces_options {
    struct common_options common;
    struct input_options input;
    struct law_options law;
    struct cutoff_options cutoff;
    struct ewald_options ewald;
    kith_forces_sum sum;
    const kith_solver *solver;
    kith_accuracy accuracy;
    kith_forces_method method;
    int32_t block, unroll;
    int64_t check; /* bodies to compare with the direct sum; 0: none */
    const char *output, *to, *targets;
};

/* Bodies in the precision of the computation: columns that particles view. */
struct forces_side {
    void *position, *mass, *charge, *softening, *epsilon, *sigma;
    kith_particles particles;
};

/* What kith forces computes with, and its results. */
struct forces_job {
    kith_bodies *sources, *targets; /* targets: NULL if they are the sources */
    int64_t all, all_targets;       /* sources and targets of all ranks */
    bool is_sliced;                 /* sources and targets are this rank's rows of them */
    struct forces_side source_side, target_side;
    void *result; /* n × (D + 1) */
    kith_solver_report report;
    kith_cell cell; /* of a solver with images; else open */
    kith_forces_totals totals;
    double seconds;
};

/* How the samples of --check differ from the direct sum. */
struct forces_check {
    int64_t samples;
    double rms, p99, max;
};

static inline const kith_bodies *forces_targets(const struct forces_job *job)
{
    return job->targets ? job->targets : job->sources;
}

/* The number of targets of all ranks. */
static inline int64_t forces_target_count(const struct forces_job *job)
{
    return job->targets ? job->all_targets : job->all;
}

/* Reads job->sources; in a job of ranks each gets its rows alone, where that is supported, and
 * those of job->targets. Returns an exit code. */
int forces_load(const char *command, const struct forces_options *options, kith_context *context,
                struct forces_job *job);

/* Column k of the results; the potential follows the accelerations. */
kith_array forces_result(const struct forces_options *options, const struct forces_job *job,
                         int64_t k);

/* Writes the results to the output: rank 0, in pieces that come from the others. Returns an exit
 * code. */
int forces_write(const char *command, const struct forces_options *options, kith_context *context,
                 const struct forces_job *job);

/* Gives a job its columns in the precision of the options, and memory for results.
 * Errors: KITH_OUT_OF_MEMORY. */
kith_status forces_take_memory(const struct forces_options *options, struct forces_job *job);

/* Computes the forces of job->sources at the targets; with --device auto on the CPU, where the
 * context is then, if its GPU does not support them. Returns an exit code. */
int forces_compute_job(const char *command, const struct forces_options *options,
                       kith_context **context, struct forces_job *job);

/* Adds sum m v^2 of the sources, in their order. Collective where they are this rank's. */
void forces_add_motion(const kith_context *context, const struct forces_job *job, double *trace);

/* Compares the accelerations of options->check targets, evenly spaced, with the direct sum in
 * double precision: relative to max(|a|, 0.1 Σ_j |a_ij|). Collective where the bodies
 * are this rank's rows. Returns an exit code. */
int forces_check_job(const char *command, const struct forces_options *options,
                     kith_context **context, const struct forces_job *job,
                     struct forces_check *check);

void forces_free_job(struct forces_job *job);

#endif
