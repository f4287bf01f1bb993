/* The beginning of a run: what is computed, by which rank, and the file that it goes to. */

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "io/bodies.h"
#include "io/units.h"
#include "ranks/bodies.h"
#include "ranks/ranks.h"
#include "run/compare.h"
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

/* This rank's rows of bodies of which it has all, or, if `dealt` is their number, these rows. */
static kith_bodies own_rows(const struct run *run, const kith_bodies *bodies, int64_t dealt)
{
    int64_t first = 0, count = 0;
    if (dealt > 0)
        return *bodies;
    ranks_rows(run->context, bodies->count, &first, &count);
    return bodies_rows(bodies, first, count);
}

/* The rows of the bodies that this rank computes: all, or its own, if the run supports that. What
 * others read between steps is of all. */
static kith_status take_rows(struct run *run, const kith_simulation_options *options,
                             const kith_bodies *bodies, int64_t dealt)
{
    const kith_run_options *of_run = run->options;
    struct run_output *output = &run->output;
    const kith_bodies rows = own_rows(run, bodies, dealt);
    int64_t count = 0;
    KITH_TRY(ranks_agree(run->context, KITH_OK)); /* a rank may have failed before */
    output->all = dealt > 0 ? dealt : bodies->count;
    if (!of_run->is_ensemble && !of_run->between_steps && !of_run->last)
        output->is_sliced = simulation_can_be_sliced(run->context, options, &rows, output->all);
    run->rows = *bodies;
    if (output->is_sliced) {
        run->rows = rows;
        ranks_rows(run->context, output->all, &run->first_row, &count);
    } else if (dealt > 0) {
        KITH_TRY(ranks_unite_bodies(run->context, dealt, bodies, &run->united));
        run->rows = *run->united;
    }
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

/* bodies_of_all fits the bodies of this rank. */
static kith_status check_dealt(const struct run *run, const kith_bodies *bodies)
{
    const int64_t all = run->options->bodies_of_all;
    int64_t first = 0, count = 0;
    ranks_rows(run->context, all, &first, &count);
    if (all == 0 || (bodies->count == count && !run->options->last && run->context->ranks))
        return KITH_OK;
    return kith_fail(KITH_INVALID_ARGUMENT,
                     "bodies_of_all is %lld, of which this rank must give %lld, without last; it "
                     "gives %lld; give 0 if every rank gives all bodies",
                     (long long)all, (long long)count, (long long)bodies->count);
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
    KITH_TRY(check_dealt(run, bodies));
    KITH_TRY(run_plan_start(options, bodies, &run->plan));
    KITH_TRY(origin_of(options, &run->plan, bodies, &origin));
    KITH_TRY(find_options(run, options->simulation.forces.law, &chosen));
    KITH_TRY(take_rows(run, &chosen, bodies, options->bodies_of_all));
    KITH_TRY(create_file(run, &origin));
    return make_simulation(run, &chosen);
}

/* Of what is not sliced all ranks get the rows of all. */
static kith_status restore(struct run *run)
{
    kith_checkpoint united;
    if (run->output.is_sliced || !run->context->ranks)
        return kith_simulation_restore(run->simulation, &run->past.checkpoint);
    KITH_TRY(run_past_unite_state(run->context, &run->past, &united));
    const kith_status status = kith_simulation_restore(run->simulation, &united);
    free(united.state);
    return status;
}

/* The bodies that are given are those of the past, which has this rank's rows. */
static kith_status plan_again(struct run *run, const kith_bodies *bodies)
{
    const kith_run_options *options = run->options;
    const int64_t dealt = options->bodies_of_all;
    kith_bodies rows;
    if (!bodies)
        return run_plan_resume(options, NULL, 0, &run->past, &run->plan);
    KITH_TRY(check_dealt(run, bodies));
    rows = own_rows(run, bodies, dealt);
    return run_plan_resume(options, &rows, dealt > 0 ? dealt : bodies->count, &run->past,
                           &run->plan);
}

kith_status run_begin_again(struct run *run, const kith_bodies *bodies)
{
    const kith_run_options *options = run->options;
    struct run_origin origin;
    const struct run_past *past = &run->past;
    KITH_TRY(run_past_read_by_first(run->context, options->output, &run->past));
    KITH_TRY(plan_again(run, bodies));
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
    KITH_TRY(take_rows(run, &chosen, bodies ? bodies : past->start,
                       bodies                ? options->bodies_of_all
                       : run->context->ranks ? past->all
                                             : 0));
    KITH_TRY(make_simulation(run, &chosen));
    KITH_TRY(restore(run));
    KITH_TRY(ranks_agree(run->context, KITH_OK)); /* what follows has messages */
    if (run->simulation->watch)
        KITH_TRY(watch_take_events(run->simulation->watch, past->events, past->event_count));
    run_record_past(&run->record, run->context->ranks ? run->context : NULL, past);
    run->frames = past->frames;
    kith_checkpoint_free(&run->past.checkpoint); /* it is large, and in the simulation now */
    return KITH_OK;
}
