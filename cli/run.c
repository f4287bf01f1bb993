/* kith run: an N-body simulation, from a file of bodies to an H5MD file. */

#include "run_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "job.h"
#include "load_ensemble.h"
#include "progress.h"
#include "run_report.h"
#include "view.h"

static void note_late(void *user, double seconds)
{
    const struct run_options *run = user;
    cli_note(
        run->common.quiet, "kith run",
        "checkpoints are written every %.2g s, not every %g: between two steps, in at most 5 %% "
        "of the time",
        seconds, run->run.checkpoint_seconds);
}

/* On a terminal the note comes before the run. Elsewhere it comes after, so that a run that fails
 * prints one line. */
static void note_unkept(const char *command, const struct run_options *run)
{
    if (!run->run.output)
        cli_note(run->common.quiet, command,
                 "-o is not given, so nothing is kept; -o FILE.h5 writes the trajectory");
}

/* The error of Wisdom and Holman's splitting is proportional to the masses of the other bodies
 * relative to the first: a cluster has no star. Binaries and triples of equal masses may be
 * hierarchical, and get no note. */
static void note_no_star(const char *command, const struct run_options *run,
                         const kith_bodies *bodies)
{
    const char *integrator = run->run.simulation.integrator;
    double others = 0;
    if (!integrator || !bodies || run->run.is_ensemble || job_is_divided() || bodies->count < 4 ||
        (strcmp(integrator, "whfast") != 0 && strcmp(integrator, "hybrid") != 0))
        return;
    for (int64_t k = 1; k < bodies->count; k++)
        others += bodies->mass ? bodies->mass[k] : 1;
    const double star = bodies->mass ? bodies->mass[0] : 1;
    if (others >= 3 * star)
        cli_note(run->common.quiet || run->common.json, command,
                 "%s is for planets about the first body, whose mass is %.3g and that of the "
                 "others %.3g; list a star first, or use leapfrog, hermite-block or ias15",
                 integrator, star, others);
}

/* A resumed run has its bodies in its output. */
static int open_view(const char *command, struct run_options *run, const kith_bodies *bodies,
                     kith_view **view)
{
    run->view.title = run->input.path ? run->input.path : run->run.output;
    run->view.until = run->until_given ? run->run.until : 0;
    const int code = bodies ? view_open_bodies(command, &run->view, bodies, view)
                            : view_open_last(command, &run->view, run->run.output, view);
    run->run.between_steps = kith_view_between_steps;
    run->run.between_user = *view;
    return code;
}

static kith_status run_on(kith_context *context, struct run_options *run, const kith_bodies *bodies,
                          kith_run_summary *summary)
{
    *summary = (kith_run_summary){0};
    progress_begin(context, run->common.quiet);
    const kith_status status = kith_run(context, &run->run, bodies, summary);
    progress_end(context);
    return status;
}

static int run_simulation(const char *command, struct run_options *run, kith_context **context,
                          const kith_bodies *bodies)
{
    kith_run_summary summary;
    run->advice = (struct cli_advice){run->common.quiet, command, " an evaluation of the forces"};
    run->run.simulation.forces.advise = cli_advise;
    run->run.simulation.forces.advise_user = &run->advice;
    const bool is_watched = isatty(STDERR_FILENO);
    note_no_star(command, run, bodies);
    if (is_watched)
        note_unkept(command, run);
    kith_view *view = NULL;
    if (run->view_given) {
        const int code = open_view(command, run, bodies, &view);
        if (code != exit_ok)
            return code;
    }
    kith_status status = run_on(*context, run, bodies, &summary);
    if (cli_fall_back(command, &run->common, status, context))
        status = run_on(*context, run, bodies, &summary);
    kith_view_close(view);
    if (status == KITH_OK && !is_watched)
        note_unkept(command, run);
    if (status == KITH_CANCELLED)
        return run_report_interrupted(command, run->run.output, &summary);
    return status == KITH_OK
               ? run_report(command, &run->common, run->run.output, run->run.is_ensemble, &summary)
               : cli_fail(command);
}

/* Fills in what the library takes besides the options parsed. */
static void complete_options(struct run_options *run, char **argv)
{
    run->run.arguments = (const char *const *)argv;
    run->run.input = run->input.path;
    run->run.simulation.forces.law = run->law.law;
    run->run.simulation.precision = run->common.precision;
    run->run.simulation.forces.gravitational_constant = run->input.gravitational_constant;
    run->run.simulation.forces.softening = run->input.softening;
    run->input.is_open =
        run->cutoff.cell.periodic && strcmp(run->cutoff.cell.periodic, "none") == 0;
    run->run.simulation.forces.cutoff = run->cutoff.cutoff;
    run->run.simulation.forces.shift = run->cutoff.shift;
    run->run.simulation.forces.tail = run->cutoff.tail;
    if (cli_is_of_cpu(run->run.simulation.forces.solver) &&
        run->common.context.device.kind == KITH_DEVICE_AUTO)
        run->common.context.device.kind = KITH_CPU;
    run->run.simulation.softening_of_bodies = run->input.softening_of_file;
    if (!run->restitution_given && run->run.simulation.on_collision == KITH_ON_COLLISION_BOUNCE)
        run->run.simulation.restitution = 1;
    run->run.seed = run->input.initial.seed;
    run->run.seed_given = run->input.seed_given;
    run->run.late = note_late;
    run->run.late_user = run;
}

static int run_ensemble(const char *command, struct run_options *run, kith_context **context)
{
    struct ensemble_input ensemble;
    const bool quiet = run->common.quiet || run->common.json;
    int code = load_ensemble(command, &run->input, run->ensemble_given ? run->systems : -1,
                             run->run.output, quiet, &ensemble);
    run->run.is_ensemble = true;
    run->run.systems = ensemble.systems;
    run->run.inputs = (const char *const *)ensemble.paths;
    run->run.seed_given = !ensemble.paths;
    if (code == exit_ok)
        code = cli_choose_device_of_run(command, &run->common, &run->run, ensemble.bodies, context);
    if (code == exit_ok)
        code = run_simulation(command, run, context, ensemble.bodies);
    ensemble_input_free(&ensemble);
    return code;
}

static int run_one(const char *command, struct run_options *run, kith_context **context)
{
    kith_bodies *bodies = NULL;
    int code = exit_ok;
    if (run->input.path)
        code =
            job_load_rows(command, *context, &run->input, run->run.output,
                          run->common.quiet || run->common.json, &bodies, &run->run.bodies_of_all);
    if (code == exit_ok && bodies)
        code = cutoff_take_cell(command, &run->cutoff, run->input.path, bodies);
    if (code == exit_ok)
        code = ewald_read_excluded(command, &run->ewald);
    run->run.simulation.forces.exclusions = run->ewald.exclusions;
    run->run.simulation.forces.ewald = run->ewald.chosen;
    if (code == exit_ok)
        code = cli_choose_device_of_run(command, &run->common, &run->run, bodies, context);
    if (code == exit_ok)
        code = run_simulation(command, run, context, bodies);
    kith_bodies_free(bodies);
    free(run->ewald.excluded.rows);
    return code;
}

int command_run(int argc, char **argv)
{
    struct run_options run = {.law.takes_two = true};
    cli_parse(&run_parser, argc, argv, &run);

    complete_options(&run, argv);
    run.input.is_electric = law_options_are_electric(&run.law);
    const bool is_ensemble =
        run.ensemble_given || (run.input.path && load_is_directory(run.input.path));
    const kith_context_options begin = cli_context_to_begin(&run.common);
    kith_context *context = NULL;
    int code = exit_ok;
    if (job_is_divided() && (is_ensemble || run.view_given))
        code =
            cli_fail_with(argv[0], "%s runs in one process, but mpirun or srun has started several",
                          run.view_given ? "--view" : "an ensemble");
    else if ((code = job_create_context(argv[0], &begin, &context)) == exit_ok &&
             (code = cli_add_peers(argv[0], &run.common.chosen, context)) == exit_ok)
        code =
            is_ensemble ? run_ensemble(argv[0], &run, &context) : run_one(argv[0], &run, &context);
    kith_context_free(context);
    law_options_free(&run.law);
    free(run.units);
    return code;
}
