#include "kith/run.h"

#include <math.h>
#include <stddef.h>

#include "core/clock.h"
#include "core/context.h"
#include "run/pace.h"
#include "run/plan.h"
#include "run/summary.h"

struct run {
    kith_context *context;
    struct run_plan plan;
    struct run_past past; /* empty unless the run was resumed */
    kith_simulation *simulation;
    kith_bodies *now;      /* the state, for frames */
    struct run_file *file; /* NULL without an output */
    kith_checkpoint checkpoint;
    struct pace pace;
    struct run_record record;
    bool has_frames;
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

static void record_frame(struct run *run, const kith_diagnostics *diagnostics, const double *mass)
{
    struct run_record *record = &run->record;
    if (!run->has_frames) {
        record->first = *diagnostics;
        record->momentum_scale = run_momentum_scale(run->now, mass);
    }
    record->last = *diagnostics;
    record->largest_energy_error = fmax(
        record->largest_energy_error, fabs(diagnostics->total_energy - record->first.total_energy));
    run->has_frames = true;
}

static kith_status add_frame(struct run *run, int64_t step, const double *mass)
{
    kith_diagnostics diagnostics;
    KITH_TRY(kith_simulation_get_bodies(run->simulation, run->now));
    if (step == run->plan.end)
        run->now->time = run->plan.parameters.until;
    if (kith_bodies_check(run->now) != KITH_OK)
        return kith_fail_within(
            KITH_INVALID_ARGUMENT,
            "the run failed by step %lld; give a smaller dt or a softening: ", (long long)step);
    KITH_TRY(kith_simulation_diagnose(run->simulation, &diagnostics));
    if (!isfinite(diagnostics.total_energy))
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "the energy is %g at step %lld; give a smaller dt or a softening",
                         diagnostics.total_energy, (long long)step);
    if (run->file)
        KITH_TRY(run_file_add(run->file, step, run->now, &diagnostics));
    record_frame(run, &diagnostics, mass);
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
    if (status == KITH_CANCELLED && run->has_frames) {
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
    KITH_TRY(kith_simulation_create(run->context, &options, bodies, &run->simulation));
    return kith_bodies_create(bodies->count, bodies->dimensions, KITH_VELOCITY, &run->now);
}

static struct run_origin origin_of(const kith_run_options *options)
{
    return (struct run_origin){.arguments = options->arguments,
                               .input = options->input,
                               .units = {options->units[0], options->units[1], options->units[2]},
                               .seed = options->seed_given ? &options->seed : NULL};
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
    run->has_frames = true;
    run->record = (struct run_record){
        .first = past->first,
        .last = past->last,
        .largest_energy_error = past->largest_energy_error,
        .momentum_scale = run_momentum_scale(past->start, past->start->mass),
        .steps_resumed = past->checkpoint.steps,
    };
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

    pace_begin(&run->pace, options->checkpoint_seconds, kith_clock());
    const kith_status status = finish(run, go(run, bodies ? bodies->mass : NULL));
    if (summary && run->has_frames)
        *summary =
            run_summarize(&run->record, &run->plan, run->context, run->simulation, run->now->count);
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
    kith_checkpoint_free(&run.checkpoint);
    run_past_free(&run.past);
    return status;
}
