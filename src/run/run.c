#include "kith/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/arguments.h"
#include "core/clock.h"
#include "device/context.h"
#include "io/bodies.h"
#include "ranks/ranks.h"
#include "run/running.h"
#include "simulation/domain.h"
#include "simulation/integrator.h"
#include "simulation/keep.h"

/* Between checks whether the run is to stop: too short for a person to wait, long enough that what
 * a call costs before and after its steps is little. A view shows some pictures in this time. */
static const double check_seconds = 0.05, check_seconds_of_a_view = 0.01;

/* An overflow, or a close encounter that dt does not resolve. */
static kith_status check_state(const struct run *run, int64_t step)
{
    const struct run_parameters *parameters = &run->plan.parameters;
    const int64_t systems = parameters->systems;
    const kith_status status = parameters->is_ensemble ? kith_ensemble_check(run->now, systems)
                               : kith_simulation_rows(run->simulation, NULL)
                                   ? bodies_check_left(run->now)
                                   : bodies_check_rows(run->now, run->first_row);
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
        const char *what = isnan(energy) ? "NaN" : "infinite";
        if (step == 0)
            kith_fail_message("the energy is %s at the start; give bodies in other units, or a "
                              "smaller dt",
                              what);
        else
            kith_fail_message("the energy is %s at step %lld; give a smaller dt or a softening",
                              what, (long long)step);
        if (run->plan.parameters.is_ensemble)
            return kith_fail_within(KITH_INVALID_ARGUMENT, "system %lld (from 0): ", (long long)s);
        return KITH_INVALID_ARGUMENT;
    }
    return KITH_OK;
}

static struct run_moment moment_of(const struct run *run)
{
    return (struct run_moment){kith_simulation_steps(run->simulation),
                               kith_simulation_time(run->simulation),
                               run->simulation->clock.previous_time};
}

static kith_status add_pressure(struct run *run, const struct run_moment *now)
{
    kith_diagnostics found;
    KITH_TRY(kith_simulation_diagnose(run->simulation, &found));
    struct run_pressure row = {.step = now->step,
                               .time = now->time,
                               .temperature = found.temperature,
                               .pressure = found.pressure};
    memcpy(row.virial, found.virial, sizeof row.virial);
    return run->output.file ? run_file_add_pressure(run->output.file, &row) : KITH_OK;
}

/* All that a checkpoint is made of is with the first rank, which makes it alone, or of a slice with
 * its rank. */
static kith_status gather_state(struct run *run)
{
    if (run->simulation->lacks_forces)
        KITH_TRY(integrator_prepare(run->simulation));
    return simulation_gather_all(run->simulation);
}

/* Whether it is time for a checkpoint, by the clock of the first rank, which writes it: the state
 * has then come there. */
static kith_status begin_checkpoint(struct run *run, double now, bool *is_due)
{
    int64_t due = run->output.file && pace_publishes(&run->pace, now);
    const bool goes_on = run->context->goes_on;
    run->context->goes_on = true;
    kith_status status = ranks_agree_on(run->context, KITH_OK, &due);
    if (status == KITH_OK && due)
        status = gather_state(run);
    run->context->goes_on = goes_on;
    *is_due = due && (run->output.file || run->output.is_sliced);
    return status;
}

static kith_status add_frame(struct run *run, int64_t step, bool is_last)
{
    KITH_TRY(frame_finish(&run->frame, run->now, run->diagnostics));
    if (is_last && !kith_simulation_has_stopped(run->simulation))
        run->now->time = run->plan.parameters.until;
    kith_status status = check_state(run, step);
    if (status == KITH_OK)
        status = check_energies(run, step);
    KITH_TRY(run_output_agree(&run->output, status));
    KITH_TRY(run_output_add_frame(&run->output, step, run->now, run->diagnostics));
    run->frames++;
    run_record_frame(&run->record, run->output.is_sliced ? run->context : NULL, run->now, run->mass,
                     run->diagnostics);
    return KITH_OK;
}

/* The frames within the last step, which are written immediately. */
static kith_status add_frames_within(struct run *run, const struct run_moment *now)
{
    double time = 0;
    for (int64_t k = 0; run_plan_frame_within(&run->plan, now, k, &time); k++) {
        struct simulation_moment moment;
        KITH_TRY(simulation_go_back(run->simulation, time, &moment));
        kith_status status = frame_begin(&run->frame, run->now, run->diagnostics);
        if (status == KITH_OK)
            status = add_frame(run, now->step, false);
        const kith_status back = simulation_bring_back(run->simulation, &moment);
        KITH_TRY(status != KITH_OK ? status : back);
    }
    return KITH_OK;
}

/* Frame and checkpoint are taken here and written by complete_pending. */
static kith_status take_down(struct run *run, const struct run_moment *now)
{
    const double start = kith_clock();
    const bool is_over =
        run_plan_is_over(&run->plan, now) || kith_simulation_has_stopped(run->simulation);
    run->pending = (struct pending){.step = now->step,
                                    .frame = is_over || run_plan_has_frame(&run->plan, now),
                                    .is_last = is_over};
    if (run->options->output && run_plan_has_pressure(&run->plan, now))
        KITH_TRY(add_pressure(run, now));
    KITH_TRY(add_frames_within(run, now));
    if (run->pending.frame)
        KITH_TRY(frame_begin(&run->frame, run->now, run->diagnostics));
    if (pace_reports(&run->pace, start))
        kith_context_report(run->context, now->step, run_plan_steps(&run->plan, now));
    bool is_due = false;
    if (!is_over)
        KITH_TRY(begin_checkpoint(run, start, &is_due));
    if (!is_due)
        return KITH_OK;
    const double saving = kith_clock();
    KITH_TRY(kith_simulation_save(run->simulation, &run->checkpoint));
    run->pending.checkpoint = true;
    run->pending.saving_seconds = kith_clock() - saving;
    return KITH_OK;
}

static void tell_if_late(struct run *run, double seconds)
{
    const kith_run_options *options = run->options;
    if (run->late_is_told || !options->late || seconds <= 1.5 * options->checkpoint_seconds ||
        options->checkpoint_seconds == 0)
        return;
    run->late_is_told = true;
    options->late(options->late_user, seconds);
}

static kith_status complete_pending(struct run *run)
{
    const struct pending pending = run->pending;
    run->pending = (struct pending){0};
    if (pending.frame)
        KITH_TRY(add_frame(run, pending.step, pending.is_last));
    if (!pending.checkpoint)
        return KITH_OK;
    const double start = kith_clock();
    KITH_TRY(run_output_publish(&run->output, run->simulation, &run->checkpoint, false));
    kith_checkpoint_free(&run->checkpoint); /* as large as the state */
    const double now = kith_clock();
    const double every = pace_published(&run->pace, now, now - start + pending.saving_seconds);
    if (run->output.file)
        tell_if_late(run, every);
    return KITH_OK;
}

/* The number of steps until the next check: with several ranks, that of the slowest. */
static kith_status steps_at_once(struct run *run, int64_t most, int64_t *steps)
{
    const int64_t wanted = run->most_steps > 0 && run->most_steps < most ? run->most_steps : most;
    int64_t less = -pace_steps(&run->pace, wanted);
    KITH_TRY(ranks_agree_on(run->context, KITH_OK, &less));
    *steps = -less;
    return KITH_OK;
}

/* Steps towards the next frame, until the next check. */
static kith_status take_steps(struct run *run, const struct run_moment *now)
{
    const struct run_plan *plan = &run->plan;
    if (plan->is_adaptive) {
        struct radau_leg leg = run_plan_next_leg(plan, now);
        KITH_TRY(steps_at_once(run, leg.steps, &leg.steps));
        return simulation_take_leg(run->simulation, &leg);
    }
    run->simulation->sampled_step =
        now->step == plan->whole_end ? now->step + 1 : run_plan_next_stop(plan, now->step);
    if (now->step == plan->whole_end)
        return kith_simulation_step_by(run->simulation, plan->rest);
    int64_t steps = run_plan_next_stop(plan, now->step) - now->step;
    KITH_TRY(steps_at_once(run, steps, &steps));
    return kith_simulation_step(run->simulation, steps);
}

static kith_status take_time(struct run *run, int64_t steps)
{
    double seconds = 0;
    KITH_TRY(kith_context_synchronize(run->context));
    KITH_TRY(run->context->services->elapsed_seconds(run->context, &seconds));
    run->record.stepping_seconds += seconds;
    pace_took(&run->pace, steps, seconds);
    return KITH_OK;
}

/* A device continues while the host writes. The CPU cannot do both, and steps there may be long:
 * writes first. Of two errors the one of the earlier step is reported. */
static kith_status advance(struct run *run, const struct run_moment *now)
{
    const struct device_services *services = run->context->services;
    if (run->context->device.kind == KITH_CPU)
        KITH_TRY(complete_pending(run));
    KITH_TRY(services->mark_time(run->context, 0));
    const kith_status stepped = take_steps(run, now);
    if (stepped == KITH_OK || stepped == KITH_CANCELLED)
        KITH_TRY(services->mark_time(run->context, 1));
    KITH_TRY(complete_pending(run));
    if (stepped == KITH_OK || stepped == KITH_CANCELLED)
        KITH_TRY(take_time(run, kith_simulation_steps(run->simulation) - now->step));
    return stepped;
}

static void look_up(struct run *run)
{
    const kith_run_options *options = run->options;
    if (options->between_steps)
        run->most_steps = options->between_steps(options->between_user, run->simulation);
}

static kith_status go(struct run *run)
{
    for (;;) {
        const struct run_moment now = moment_of(run);
        look_up(run);
        KITH_TRY(take_down(run, &now));
        if (run->pending.is_last)
            break;
        KITH_TRY(advance(run, &now));
    }
    KITH_TRY(complete_pending(run));
    const int64_t steps = kith_simulation_steps(run->simulation);
    kith_context_report(run->context, steps, steps);
    return KITH_OK;
}

static kith_status publish_last(struct run *run)
{
    if (run->options->output)
        KITH_TRY(gather_state(run));
    if (!run->output.file && !(run->output.is_sliced && run->output.is_wanted))
        return KITH_OK;
    KITH_TRY(kith_simulation_save(run->simulation, &run->checkpoint));
    return run_output_publish(&run->output, run->simulation, &run->checkpoint, true);
}

/* A run that was stopped leaves a checkpoint. One that failed, or was stopped before its first
 * frame (again, if it was resumed from its start), leaves what was there before. */
static kith_status finish(struct run *run, kith_status status)
{
    if (status == KITH_CANCELLED && run->frames > 0) {
        run->context->goes_on = true;
        const kith_status published = publish_last(run);
        run->context->goes_on = false;
        KITH_TRY(published);
        const struct run_moment now = moment_of(run);
        return kith_fail(KITH_CANCELLED, "cancelled at step %lld of %s%lld", (long long)now.step,
                         run->plan.is_adaptive ? "about " : "",
                         (long long)run_plan_steps(&run->plan, &now));
    }
    return status == KITH_OK ? publish_last(run) : status;
}

/* The state at the end, or where the run was cancelled. */
static kith_status hand_over(struct run *run, kith_bodies *last)
{
    run->context->goes_on = true;
    const kith_status status = kith_simulation_get_bodies(run->simulation, last);
    run->context->goes_on = false;
    KITH_TRY(status);
    const struct run_moment now = moment_of(run);
    if (run_plan_is_over(&run->plan, &now))
        last->time = run->plan.parameters.until;
    return KITH_OK;
}

/* Locks the output, and finds out whether there is one to resume from: the first rank does. */
static kith_status take_output(struct run *run, const kith_run_options *options, bool *is_there)
{
    kith_status status = KITH_OK;
    int64_t found = 0;
    if (options->output && ranks_are_first(run->context)) {
        status = output_lock_take(options->output, &run->lock);
        found = run_file_exists(options->output);
    }
    KITH_TRY(ranks_agree_on(run->context, status, &found));
    *is_there = found;
    return KITH_OK;
}

static kith_status run_all(struct run *run, const kith_run_options *options,
                           const kith_bodies *bodies, kith_run_summary *summary)
{
    if (options->resume && !options->output)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "resume needs an output; give the file to continue");
    KITH_TRY(kith_context_check_cancelled(run->context));
    bool is_there = false;
    KITH_TRY(take_output(run, options, &is_there));
    if (options->resume && is_there)
        KITH_TRY(run_begin_again(run, bodies));
    else
        KITH_TRY(run_begin(run, bodies));

    pace_begin(&run->pace, options->checkpoint_seconds,
               options->between_steps ? check_seconds_of_a_view : check_seconds,
               simulation_fewest_steps(run->simulation), kith_clock());
    kith_status status = finish(run, go(run));
    if (options->last && (status == KITH_OK || status == KITH_CANCELLED)) {
        const kith_status handed = hand_over(run, options->last);
        status = handed == KITH_OK ? status : handed;
    }
    const int64_t systems = run->record.systems;
    if (summary && run->record.has_frames) {
        *summary = run_summarize(&run->record, &run->plan, run->context, run->simulation,
                                 systems > 0 ? run->output.all / systems : 0);
        summary->interrupted = status == KITH_CANCELLED;
    }
    return status;
}

kith_status kith_run(kith_context *context, const kith_run_options *options,
                     const kith_bodies *bodies, kith_run_summary *summary)
{
    DEVICE_SCOPE(scope);
    KITH_TRY(device_enter(context, &scope));
    KITH_TRY(kith_check_pointer(context, "context"));
    KITH_TRY(kith_check_pointer(options, "options"));
    struct run run = {.context = context,
                      .options = options,
                      .output = {.context = context, .is_wanted = options->output != NULL}};
    if (summary)
        *summary = (kith_run_summary){0};
    const kith_status status = run_all(&run, options, bodies, summary);
    run_file_close(run.output.file);
    output_lock_release(&run.lock);
    frame_free(&run.frame);
    kith_simulation_free(run.simulation);
    kith_law_free(run.law);
    kith_bodies_free(run.now);
    kith_bodies_free(run.united);
    free(run.diagnostics);
    run_record_free(&run.record);
    kith_checkpoint_free(&run.checkpoint);
    run_past_free(&run.past);
    return status;
}
