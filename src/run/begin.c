/* The beginning of a run: what is computed, by which rank, and the file that it goes to. */

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "io/bodies.h"
#include "io/units.h"
#include "ranks/partition.h"
#include "ranks/ranks.h"
#include "run/law_record.h"
#include "run/past_ranks.h"
#include "run/running.h"
#include "simulation/slice.h"
#include "simulation/watch.h"

static kith_status find_options(struct run *run, const kith_law *law,
                                kith_simulation_options *options)
{
    KITH_TRY(run_plan_simulation(&run->plan, &run->options->simulation.forces, law, options));
    options->skin = run->options->simulation.skin;
    if (run->past.start) /* which was made with its solver */
        options->forces.advise = NULL;
    return KITH_OK;
}

/* The rows of the bodies that this rank has: all, or its slice, if the run supports that. What
 * others read between steps is of all. */
static kith_status take_rows(struct run *run, const kith_simulation_options *options,
                             const kith_bodies *bodies)
{
    struct run_output *output = &run->output;
    const struct ranks *ranks = run->context->ranks;
    bool *is_sliced = &output->is_sliced;
    output->all = bodies->count;
    run->rows = *bodies;
    if (!ranks || run->options->is_ensemble || run->options->between_steps || run->options->last)
        return KITH_OK;
    const int64_t first = ranks_first(output->all, ranks->size, ranks->rank);
    const int64_t end = ranks_first(output->all, ranks->size, ranks->rank + 1);
    const kith_bodies rows = bodies_rows(bodies, first, end - first);
    KITH_TRY(simulation_can_be_sliced(run->context, options, &rows, output->all, is_sliced));
    if (!*is_sliced)
        return KITH_OK;
    run->rows = rows;
    run->first_row = first;
    return KITH_OK;
}

static kith_status make_simulation(struct run *run, const kith_simulation_options *options)
{
    const struct run_parameters *parameters = &run->plan.parameters;
    const kith_bodies *rows = &run->rows;
    if (parameters->is_ensemble)
        KITH_TRY(kith_simulation_create_ensemble(run->context, options, parameters->systems, rows,
                                                 &run->simulation));
    else if (run->output.is_sliced)
        KITH_TRY(simulation_create_slice(run->context, options, rows, run->output.all,
                                         &run->simulation));
    else
        KITH_TRY(kith_simulation_create(run->context, options, rows, &run->simulation));
    run->simulation->stays_divided = true;
    KITH_TRY(frame_allocate(run->simulation, &run->frame));
    KITH_TRY(kith_allocate(parameters->systems, sizeof *run->diagnostics, "diagnostics",
                           &run->diagnostics));
    KITH_TRY(run_record_begin(parameters->systems, &run->record));
    KITH_TRY(kith_bodies_create(rows->count, rows->dimensions, KITH_VELOCITY, &run->now));
    run->now->has_cell = rows->has_cell;
    memcpy(run->now->cell, rows->cell, sizeof rows->cell);
    memcpy(run->now->periodic, rows->periodic, sizeof rows->periodic);
    run->mass = rows->mass;
    return KITH_OK;
}

/* The names that the options give, in place of the bodies'. */
static kith_status take_units(const kith_run_options *options, kith_units *units)
{
    char *names[3] = {units->length, units->time, units->mass};
    for (int k = 0; k < 3; k++) {
        if (!options->units[k])
            continue;
        units_set_name(names[k], options->units[k]);
        if (strcmp(names[k], options->units[k]) != 0)
            return kith_fail(KITH_INVALID_ARGUMENT,
                             "units[%d] is '%.40s'; give at most %d bytes without commas, quotes, "
                             "backslashes and control characters",
                             k, options->units[k], KITH_NAME_BYTES - 1);
    }
    return KITH_OK;
}

/* Bodies that another law moves keep their G. */
static kith_status origin_of(const kith_run_options *options, const struct run_plan *plan,
                             const kith_bodies *bodies, struct run_origin *origin)
{
    *origin = (struct run_origin){.arguments = options->arguments,
                                  .input = options->input,
                                  .units = bodies->units,
                                  .seed = options->seed_given ? &options->seed : NULL,
                                  .inputs = options->inputs};
    if (plan->parameters.gravitational_constant != 0)
        origin->units.gravitational_constant = plan->parameters.gravitational_constant;
    return take_units(options, &origin->units);
}

static kith_status create_file(struct run *run, const struct run_origin *origin)
{
    struct run_output *output = &run->output;
    kith_bodies like = run->rows;
    kith_status status = KITH_OK;
    int64_t has_words = !run_names_are_numbers(&run->rows);
    KITH_TRY(ranks_agree_on(run->context, status, &has_words));
    like.count = output->all;
    if (output->is_wanted && ranks_are_first(run->context))
        status = run_file_create(run->options->output, &run->plan.parameters, origin, &like,
                                 !has_words, run->plan.frames, &output->file);
    KITH_TRY(ranks_agree(run->context, status));
    return run_output_put_bodies(output, &run->rows);
}

kith_status run_begin(struct run *run, const kith_bodies *bodies)
{
    const kith_run_options *options = run->options;
    struct run_origin origin;
    if (!bodies)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         options->resume ? "%s: the file to resume from does not exist, and no "
                                           "bodies to start from are given; give one of them"
                                         : "%s: no bodies to start from; give them",
                         options->output ? options->output : "no output");
    kith_simulation_options chosen;
    KITH_TRY(run_plan_start(options, bodies, &run->plan));
    KITH_TRY(origin_of(options, &run->plan, bodies, &origin));
    KITH_TRY(find_options(run, options->simulation.forces.law, &chosen));
    KITH_TRY(take_rows(run, &chosen, bodies));
    KITH_TRY(create_file(run, &origin));
    return make_simulation(run, &chosen);
}

/* Of a slice, its rows of each array. */
static kith_status restore(struct run *run, const kith_checkpoint *of_all)
{
    const int64_t rows = run->rows.count;
    kith_checkpoint own = *of_all;
    char *state = NULL;
    if (!run->output.is_sliced || of_all->arrays == 0)
        return kith_simulation_restore(run->simulation, of_all);
    const int64_t bytes = of_all->bytes / of_all->arrays, row = bytes / run->output.all;
    kith_status status = kith_allocate(of_all->arrays * rows, row, "checkpoint", &state);
    KITH_TRY(ranks_agree(run->context, status));
    for (int64_t k = 0; k < of_all->arrays; k++)
        memcpy(state + k * rows * row,
               (const char *)of_all->state + k * bytes + run->first_row * row,
               (size_t)(rows * row));
    own.bodies = rows;
    own.bytes = of_all->arrays * rows * row;
    own.state = state;
    status = kith_simulation_restore(run->simulation, &own);
    free(state);
    return status;
}

kith_status run_begin_again(struct run *run, const kith_bodies *bodies)
{
    const kith_run_options *options = run->options;
    struct run_origin origin;
    const struct run_past *past = &run->past;
    KITH_TRY(run_past_read_by_first(run->context, options->output, &run->past));
    KITH_TRY(run_plan_resume(options, bodies, past, &run->plan));
    KITH_TRY(origin_of(options, &run->plan, past->start, &origin));
    kith_status status = KITH_OK;
    if (ranks_are_first(run->context))
        status = run_file_resume(options->output, &run->plan.parameters, &origin, past,
                                 run->plan.frames, &run->output.file);
    KITH_TRY(ranks_agree(run->context, status));
    kith_simulation_options chosen;
    const kith_law *law = options->simulation.forces.law;
    if (!law)
        KITH_TRY(law_of_record(run->plan.parameters.law, &run->law));
    KITH_TRY(find_options(run, law ? law : run->law, &chosen));
    KITH_TRY(take_rows(run, &chosen, bodies ? bodies : past->start));
    KITH_TRY(make_simulation(run, &chosen));
    KITH_TRY(restore(run, &past->checkpoint));
    if (run->simulation->watch)
        KITH_TRY(watch_take_events(run->simulation->watch, past->events, past->event_count));
    run_record_past(&run->record, NULL, past);
    run->frames = past->frames;
    return KITH_OK;
}
