#include "kith/run.h"

#include <math.h>
#include <stdlib.h>

#include "core/clock.h"
#include "core/context.h"
#include "core/memory.h"
#include "run/pace.h"
#include "run/plan.h"
#include "run/summary.h"

/* A large ensemble goes faster by several steps at a time than by one: its systems are then longer
 * in the cache. */
enum { ensemble_steps = 16 };

struct run {
    kith_context *context;
    struct run_plan plan;
    struct run_past past; /* empty unless the run was resumed */
    kith_simulation *simulation;
    kith_bodies *now;      /* the state, for frames */
    struct run_file *file; /* NULL without an output */
    kith_checkpoint checkpoint;
    struct pace pace;
    kith_diagnostics *diagnostics; /* of each system */
    struct run_record record;
};

static kith_status publish(struct run *run, bool last)
{
    if (!run->file)
        return KITH_OK;
    const double start = kith_clock();
    KITH_TRY(kith_simulation_save(run->simulation, &run->checkpoint));
    KITH_TRY(run_file_publish(run->file, &run->checkpoint, last));
    const double now = kith_clock();
    pace_published(&run->pace, now, now - start);
    return KITH_OK;
}

/* An overflow, or a close encounter that dt does not resolve. */
static kith_status check_state(const struct run *run, int64_t step)
{
    const struct run_parameters *parameters = &run->plan.parameters;
    const int64_t systems = parameters->systems;
    const kith_status status = parameters->is_ensemble ? kith_ensemble_check(run->now, systems)
                                                       : kith_bodies_check(run->now);
    if (status == KITH_OK)
        return KITH_OK;
    return kith_fail_within(
        KITH_INVALID_ARGUMENT,
        "the run failed by step %lld; give a smaller dt or a softening: ", (long long)step);
}

static kith_status check_energies(const struct run *run, int64_t step)
{
    for (int64_t s = 0; s < run->plan.parameters.systems; s++) {
        const double energy = run->diagnostics[s].total_energy;
        if (isfinite(energy))
            continue;
        kith_fail_message("the energy is %g at step %lld; give a smaller dt or a softening", energy,
                          (long long)step);
        if (run->plan.parameters.is_ensemble)
            return kith_fail_within(KITH_INVALID_ARGUMENT, "system %lld (from 0): ", (long long)s);
        return KITH_INVALID_ARGUMENT;
    }
    return KITH_OK;
}

static kith_status add_frame(struct run *run, int64_t step, const double *mass)
{
    const int64_t systems = run->plan.parameters.systems;
    KITH_TRY(kith_simulation_get_bodies(run->simulation, run->now));
    if (step == run->plan.end)
        run->now->time = run->plan.parameters.until;
    KITH_TRY(check_state(run, step));
    KITH_TRY(kith_simulation_diagnose_systems(run->simulation, 0, systems, run->diagnostics));
    KITH_TRY(check_energies(run, step));
    if (run->file)
        KITH_TRY(run_file_add(run->file, step, run->now, run->diagnostics));
    run_record_frame(&run->record, run->now, mass, run->diagnostics);
    return KITH_OK;
}

/* Steps towards the next frame, for as long as one should not look up. */
static kith_status advance(struct run *run, int64_t step)
{
    const struct run_plan *plan = &run->plan;
    const double start = kith_clock();
    kith_status status = KITH_OK;
    if (step == plan->whole_end) {
        status = kith_simulation_step_by(run->simulation, plan->rest);
    } else {
        const int64_t most = run_plan_next_stop(plan, step) - step;
        status = kith_simulation_step(run->simulation, pace_steps(&run->pace, most));
    }
    if (status == KITH_OK)
        status = kith_context_synchronize(run->context);
    const double seconds = kith_clock() - start;
    run->record.stepping_seconds += seconds;
    pace_took(&run->pace, kith_simulation_steps(run->simulation) - step, seconds);
    return status;
}

static kith_status look_up(struct run *run, int64_t step)
{
    const double now = kith_clock();
    if (pace_reports(&run->pace, now))
        kith_context_report(run->context, step, run->plan.end);
    if (pace_publishes(&run->pace, now))
        return publish(run, false);
    return KITH_OK;
}

static kith_status go(struct run *run, const double *mass)
{
    for (;;) {
        const int64_t step = kith_simulation_steps(run->simulation);
        if (run_plan_has_frame(&run->plan, step))
            KITH_TRY(add_frame(run, step, mass));
        if (step == run->plan.end)
            break;
        KITH_TRY(look_up(run, step));
        KITH_TRY(advance(run, step));
    }
    kith_context_report(run->context, run->plan.end, run->plan.end);
    return KITH_OK;
}

/* A run that was stopped leaves a checkpoint, one that failed what was there before. */
static kith_status finish(struct run *run, kith_status status)
{
    if (status == KITH_CANCELLED && run->record.has_frames) {
        KITH_TRY(publish(run, true));
        return kith_fail(KITH_CANCELLED, "cancelled at step %lld of %lld",
                         (long long)kith_simulation_steps(run->simulation),
                         (long long)run->plan.end);
    }
    return status == KITH_OK ? publish(run, true) : status;
}

static kith_status make_simulation(struct run *run, const kith_bodies *bodies)
{
    const kith_simulation_options options = run_plan_simulation(&run->plan);
    const struct run_parameters *parameters = &run->plan.parameters;
    if (parameters->is_ensemble)
        KITH_TRY(kith_simulation_create_ensemble(run->context, &options, parameters->systems,
                                                 bodies, &run->simulation));
    else
        KITH_TRY(kith_simulation_create(run->context, &options, bodies, &run->simulation));
    KITH_TRY(kith_allocate(parameters->systems, sizeof *run->diagnostics, "diagnostics",
                           &run->diagnostics));
    KITH_TRY(run_record_begin(parameters->systems, &run->record));
    return kith_bodies_create(bodies->count, bodies->dimensions, KITH_VELOCITY, &run->now);
}

static struct run_origin origin_of(const kith_run_options *options)
{
    return (struct run_origin){.arguments = options->arguments,
                               .input = options->input,
                               .units = {options->units[0], options->units[1], options->units[2]},
                               .seed = options->seed_given ? &options->seed : NULL,
                               .inputs = options->inputs};
}

/* Checks the options, and the output before hours of computing. */
static kith_status begin(struct run *run, const kith_run_options *options,
                         const kith_bodies *bodies)
{
    const struct run_origin origin = origin_of(options);
    if (!bodies)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         options->resume ? "%s: no such file to resume from, and there are no "
                                           "bodies to start from; give either"
                                         : "%s: there are no bodies to start from; give them",
                         options->output ? options->output : "no output");
    KITH_TRY(run_plan_start(options, bodies, &run->plan));
    if (options->output)
        KITH_TRY(run_file_create(options->output, &run->plan.parameters, &origin, bodies,
                                 run->plan.frames, &run->file));
    return make_simulation(run, bodies);
}

static kith_status begin_again(struct run *run, const kith_run_options *options,
                               const kith_bodies *bodies)
{
    const struct run_origin origin = origin_of(options);
    const struct run_past *past = &run->past;
    KITH_TRY(run_past_read(options->output, &run->past));
    KITH_TRY(run_plan_resume(options, bodies, past, &run->plan));
    KITH_TRY(run_file_resume(options->output, &run->plan.parameters, &origin, past,
                             run->plan.frames, &run->file));
    KITH_TRY(make_simulation(run, bodies ? bodies : past->start));
    KITH_TRY(kith_simulation_restore(run->simulation, &past->checkpoint));
    run_record_past(&run->record, past);
    return KITH_OK;
}

static kith_status run_all(struct run *run, const kith_run_options *options,
                           const kith_bodies *bodies, kith_run_summary *summary)
{
    if (options->resume && !options->output)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "resume needs an output; give the file to go on from");
    KITH_TRY(kith_context_check_cancelled(run->context));
    if (options->resume && run_file_exists(options->output))
        KITH_TRY(begin_again(run, options, bodies));
    else
        KITH_TRY(begin(run, options, bodies));

    const bool is_ensemble = run->plan.parameters.is_ensemble;
    pace_begin(&run->pace, options->checkpoint_seconds, is_ensemble ? ensemble_steps : 1,
               kith_clock());
    const kith_status status = finish(run, go(run, bodies ? bodies->mass : NULL));
    const int64_t systems = run->record.systems;
    if (summary && run->record.has_frames)
        *summary = run_summarize(&run->record, &run->plan, run->context, run->simulation,
                                 systems > 0 ? run->now->count / systems : 0);
    return status;
}

kith_status kith_run(kith_context *context, const kith_run_options *options,
                     const kith_bodies *bodies, kith_run_summary *summary)
{
    struct run run = {.context = context};
    if (summary)
        *summary = (kith_run_summary){0};
    const kith_status status = run_all(&run, options, bodies, summary);
    run_file_close(run.file);
    kith_simulation_free(run.simulation);
    kith_bodies_free(run.now);
    free(run.diagnostics);
    run_record_free(&run.record);
    kith_checkpoint_free(&run.checkpoint);
    run_past_free(&run.past);
    return status;
}
