/* kith forces: accelerations and potentials of a file's bodies. */

#include "forces_command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device_choice.h"
#include "job.h"
#include "json.h"
#include "streams.h"

static const struct choices sums = {"WHAT", {"force", "value"}, NULL};
static const struct choices unrolled = {"U", {"1", "2", "4", "8", "16", "32"}, NULL};

static const char documentation[] =
    "Compute the acceleration and the potential of every body of FILE under the gravity of all "
    "others, or under any other law.\v"
    "Examples:\n"
    "  kith make plummer -n 1000 -o plummer.csv\n"
    "  kith forces plummer.csv --softening 0.01 -o acc.csv\n"
    "  kith forces plummer.csv --precision single --json\n"
    "  kith forces plummer.csv --solver fmm --error 1e-5 --check 100 -o acc.csv\n"
    "  kith forces plummer.csv --law yukawa:2.5 --param k=332.06 -o ions.csv\n"
    "  kith forces plummer.csv --law lennard-jones:1,0.1 --sum value -o e.npy\n"
    "  kith make uniform-cube -n 1000 -o cube.csv\n"
    "  kith forces cube.csv --law yukawa:0.1 --cutoff 0.3 --box 1,1,1 --json\n"
    "  kith forces plummer.csv --potential 'a*exp(-r/b)' --param a=2 --param b=1\n"
    "  kith make nacl -n 64 --density 1 -o salt.xyz\n"
    "  kith forces salt.xyz --law coulomb --solver ewald --error 1e-9 --json\n"
    "  kith forces plummer.csv --device cuda --method tile-p --block 128\n\n"
    "The result has one row per body, in the order of FILE: the acceleration ax,ay[,az] in length "
    "/ "
    "time^2 and the potential in length^2 / time^2. The potential of gravity is negative, "
    "-G sum_j m_j / sqrt(r^2 + softening^2); half the sum of m_i times the potential is the total "
    "potential energy. Under any other law the potential of a body is its energy with all others, "
    "not divided by its mass. Masses and charges default to 1.\n"
    "In a build with MPI, mpirun -n 8 kith forces ... divides the work of the solvers direct, "
    "tree, fmm and cutoff among 8 processes.";

/* A cell is of a cutoff or of the solvers that have images. */
static void check_images(struct forces_options *forces, const struct argp_state *state)
{
    const struct cell_options *cell = &forces->cutoff.cell;
    if (cli_has_images(forces->solver)) {
        if (forces->check > 0)
            cli_usage_error(state, "--check compares with the direct sum, which has no periodic "
                                   "images; leave it out");
        if (forces->targets)
            cli_usage_error(
                state, "--targets is given, but the solver %s does not support it; leave it out",
                kith_solver_describe(forces->solver).name);
        return;
    }
    const bool is_open = !cell->periodic || strcmp(cell->periodic, "none") == 0;
    const char *of_cell = cell->count > 0 ? cell->is_box ? "--box" : "--cell"
                          : !is_open      ? "--periodic"
                                          : NULL;
    if (of_cell && forces->cutoff.cutoff == 0)
        cli_usage_error(state, "%s is given without --cutoff R; give that or --solver ewald",
                        of_cell);
    ewald_check_unused(&forces->ewald, forces->cutoff.cutoff > 0, state);
}

static void check(void *options, const struct argp_state *state)
{
    struct forces_options *forces = options;
    if (!forces->input.path)
        cli_usage_error(state, "FILE is missing: the bodies to compute with");
    if (forces->check > 0 && forces->cutoff.cutoff > 0 && !cli_has_images(forces->solver))
        cli_usage_error(state, "--check compares with all pairs, but --cutoff is given");
    if (forces->check > 0 && forces->sum == KITH_FORCES_SUM_VALUE)
        cli_usage_error(state, "--check compares accelerations, but --sum is value");
    check_images(forces, state);
    cli_check_extension("-o", forces->output, forces->to, extensions_of_tables, state);
    cli_check_stdout("-o", forces->output, &forces->common, state);
}

static void set_solver(void *options, const char *option, const char *text,
                       const struct argp_state *state)
{
    (void)option;
    ((struct forces_options *)options)->solver = cli_parse_solver(text, state);
}

static void set_method(void *options, const char *option, const char *text,
                       const struct argp_state *state)
{
    struct forces_options *forces = options;
    (void)option;
    forces->method = cli_parse_method(text, &forces->solver, state);
}

static void set_unroll(void *options, const char *option, const char *text,
                       const struct argp_state *state)
{
    struct forces_options *forces = options;
    forces->unroll = (int32_t)cli_parse_range(option, text, 1, 32, state);
}

#define AT(member) OPTION_AT(struct forces_options, member)
static const struct option_row option_rows[] = {
    {"sum", NULL,
     "what to sum over the other bodies: force, for the acceleration and the potential (default), "
     "or value, the law's energy alone",
     AT(sum), .choices = &sums},
    {"solver", NULL, "see below (default: auto: direct, unless an accuracy is given)",
     .choices = &choices_of_solvers, .set = set_solver},
    {"targets", "OTHER",
     "compute the field of FILE's bodies at the bodies of OTHER, one row per body", AT(targets)},
    {"check", "N",
     "compare the accelerations of N bodies with the direct sum, and print the errors", AT(check)},
    {"method", NULL,
     "for the solver direct: auto, direct, reference, split, symmetric, tensor, tile-p or tile-p2 "
     "(default: auto)",
     .choices = &choices_of_methods, .set = set_method},
    {"block", "P", "side of the tiles: tile-p 1 to 1024, tile-p2 1 to 32", AT(block), .least = 1,
     .most = 1024},
    {"unroll", NULL, "for tile-p: 1, 2, 4, 8, 16 or 32", .choices = &unrolled, .set = set_unroll},
    {"output", "FILE",
     "write ax,ay[,az],potential (of --sum value: value) to FILE, "
     ".csv or .npy (default: -, standard output, as CSV)",
     AT(output), .letter = 'o'},
    {"to", NULL, "of the output: csv or npy (default: by its extension)", AT(to),
     .choices = &choices_of_tables},
    {0}};

static const struct option_group groups[] = {
    {&accuracy_parser, "Accuracy:", 1, offsetof(struct forces_options, accuracy)},
    {&cutoff_parser, "Cutoff and cell:", 2, offsetof(struct forces_options, cutoff)},
    {&ewald_parser, NULL, 2, offsetof(struct forces_options, ewald)},
    {&law_parser, "Law:", 3, offsetof(struct forces_options, law)},
    {&input_parser, "Bodies and gravity:", 4, offsetof(struct forces_options, input)},
    {&common_parser, "Common options:", 5, offsetof(struct forces_options, common)},
    {0}};

/* What the solver has chosen, where it approximates. */
static void add_report(cJSON *object, const kith_solver_report *report)
{
    json_add_count(object, "order", report->order);
    json_add_real(object, "theta", report->theta);
    json_add_count(object, "leaf", report->leaf);
    json_add_real(object, "error_requested", report->error_requested);
    json_add_real(object, "error_estimated", report->error_estimated);
    json_add_real(object, "p2p_per_body", report->p2p_per_body);
    json_add_real(object, "m2l_per_body", report->m2l_per_body);
}

/* What a sum over periodic images has chosen, and its totals. */
static void add_images(cJSON *object, const struct forces_job *job)
{
    const kith_solver_report *report = &job->report;
    json_add_real(object, "error", report->error_requested);
    json_add_real(object, "error_estimated", report->error_estimated);
    json_add_real(object, "cutoff", report->cutoff);
    json_add_real(object, "alpha", report->alpha);
    cJSON *grid = cJSON_AddArrayToObject(object, "grid");
    for (int k = 0; k < 3; k++)
        cJSON_AddItemToArray(grid, cJSON_CreateNumber(report->grid[k]));
    json_add_count(object, "order", report->order);
    json_add_real(object, "energy", job->totals.energy);
    cJSON *virial = cJSON_AddArrayToObject(object, "virial");
    for (int a = 0; a < 3; a++)
        cJSON_AddItemToArray(virial, cJSON_CreateDoubleArray(job->totals.virial + 3 * a, 3));
    json_add_real(object, "prepare_seconds", report->prepare_seconds);
}

static void add_check(cJSON *object, const struct forces_check *check)
{
    cJSON *sub = cJSON_AddObjectToObject(object, "check");
    json_add_real(sub, "rms", check->rms);
    json_add_real(sub, "p99", check->p99);
    json_add_real(sub, "max", check->max);
}

/* The sums over pairs, and with velocities the pressure in a cell. */
static void add_totals(cJSON *object, const struct forces_options *forces,
                       const kith_context *context, const struct forces_job *job)
{
    json_add_real(object, "cutoff", forces->cutoff.cutoff);
    if (job->targets)
        return;
    json_add_real(object, "energy", job->totals.energy);
    cJSON *virial = cJSON_AddArrayToObject(object, "virial");
    double trace = 0;
    for (int k = 0; k < 9; k++)
        cJSON_AddItemToArray(virial, cJSON_CreateNumber(job->totals.virial[k]));
    for (int k = 0; k < 3; k++)
        trace += job->totals.virial[4 * k];
    if (!job->sources->velocity || !(job->totals.volume > 0))
        return;
    forces_add_motion(context, job, &trace);
    json_add_real(object, "pressure", trace / (job->sources->dimensions * job->totals.volume));
}

static int print_json(const char *command, const struct forces_options *forces,
                      const kith_context *context, const struct forces_job *job,
                      const struct forces_check *check)
{
    const int64_t sources = job->all, targets = forces_target_count(job);
    const double interactions = (double)sources * (double)targets;
    const kith_solver *used = job->report.solver ? job->report.solver : forces->solver;
    const char *solver = kith_solver_describe(used).name;
    cJSON *object = cJSON_CreateObject();
    json_add_count(object, "bodies", sources);
    if (job->targets)
        json_add_count(object, "targets", targets);
    json_add_real(object, "interactions_per_second", interactions / job->seconds);
    json_add_real(object, "gflops", 20e-9 * interactions / job->seconds);
    json_add_real(object, "seconds", job->seconds);
    if (job_is_divided())
        json_add_real(object, "exchange_share", job_exchange_share());
    cJSON_AddStringToObject(object, "device",
                            cli_devices_name(&forces->common.chosen, kith_context_device(context)));
    cJSON_AddStringToObject(object, "precision", cli_precision_name(forces->common.precision));
    cJSON_AddStringToObject(object, "solver", solver);
    cJSON_AddStringToObject(object, "method",
                            forces->method ? cli_method_name(forces->method) : solver);
    if (cli_has_images(forces->solver))
        add_images(object, job);
    else if (job->report.order > 0)
        add_report(object, &job->report);
    if (forces->check > 0)
        add_check(object, check);
    if (forces->cutoff.cutoff > 0 && !cli_has_images(forces->solver))
        add_totals(object, forces, context, job);
    return json_print(command, object);
}

/* A setting that was given is taken as it is. */
static void note_error(const char *command, const struct forces_options *forces,
                       const kith_solver_report *report)
{
    if (cli_has_images(forces->solver) && report->error_requested > 0 &&
        report->error_estimated > report->error_requested)
        cli_note(forces->common.quiet || forces->common.json, command,
                 "the setting that was given has an estimated error of %.2g, more than the "
                 "requested %g; leave --cutoff, --alpha, --grid and --order out",
                 report->error_estimated, report->error_requested);
}

static int run_forces(const char *command, const struct forces_options *forces,
                      kith_context **context, struct forces_job *job)
{
    struct forces_check check = {0};
    int code = forces_compute_job(command, forces, context, job);
    if (code == exit_ok && forces->check > 0)
        code = forces_check_job(command, forces, context, job, &check);
    if (code != exit_ok)
        return code;
    if (forces->output || !forces->common.json)
        code = forces_write(command, forces, *context, job);
    if (code != exit_ok)
        return code;
    if (forces->common.json)
        return print_json(command, forces, *context, job, &check);
    note_error(command, forces, &job->report);
    if (forces->check > 0)
        fprintf(stderr,
                "check of %lld bodies: error of the acceleration %.2g rms, 99th percentile %.2g, "
                "maximum %.2g\n",
                (long long)check.samples, check.rms, check.p99, check.max);
    return exit_ok;
}

/* --targets: another file, read as the first is. */
static int read_targets(const char *command, const struct forces_options *forces,
                        kith_context *context, struct forces_job *job)
{
    struct input_options input = forces->input;
    int code = exit_ok;
    if (!forces->targets)
        return exit_ok;
    input.path = forces->targets;
    if (!job->targets) {
        code = job_load_bodies(command, context, &input, forces->output, true, &job->targets);
        job->all_targets = code == exit_ok ? job->targets->count : 0;
    }
    if (code == exit_ok)
        code = cutoff_take_cell(command, &forces->cutoff, input.path, job->targets);
    if (code == exit_ok && job->targets->dimensions != job->sources->dimensions)
        code = cli_fail_with(command, "%s has %d dimensions and %s has %d; give equal dimensions",
                             forces->input.path, (int)job->sources->dimensions, forces->targets,
                             (int)job->targets->dimensions);
    return code;
}

static int prepare_images(const char *command, struct forces_options *forces,
                          struct forces_job *job)
{
    bool found = false;
    const int code = cell_choose(command, &forces->cutoff.cell, job->sources, &job->cell, &found);
    return code == exit_ok ? ewald_read_excluded(command, &forces->ewald) : code;
}

static int read_bodies(const char *command, struct forces_options *forces, kith_context *context,
                       struct forces_job *job)
{
    int code = forces_load(command, forces, context, job);
    if (code == exit_ok && cli_has_images(forces->solver))
        return prepare_images(command, forces, job);
    if (code == exit_ok)
        code = cutoff_take_cell(command, &forces->cutoff, forces->input.path, job->sources);
    if (code == exit_ok)
        code = ewald_read_excluded(command, &forces->ewald);
    return code == exit_ok ? read_targets(command, forces, context, job) : code;
}

/* The device for the bodies that have been read; an option without a choice has been handled
 * before. */
static int choose_device(const char *command, const struct forces_options *forces,
                         const struct forces_job *job, kith_context **context)
{
    const int64_t targets = forces_target_count(job), sources = job->all;
    kith_work work = {.kind = KITH_WORK_FORCES,
                      .units =
                          cli_pairs_of_solver(forces->solver, &forces->accuracy, targets, sources),
                      .rows = (double)(job->targets ? targets + sources : sources)};
    if (forces->cutoff.cutoff > 0 || cli_has_images(forces->solver)) {
        work.kind = cli_has_images(forces->solver) ? KITH_WORK_IMAGES : KITH_WORK_NEAR;
        work.units = (double)targets;
    }
    return cli_choose_device(command, &forces->common, work, context);
}

/* Plain sums over all images are the CPU's. The CPU has no tiles and no tensor cores. */
static void take_only_device(struct forces_options *forces)
{
    kith_device *device = &forces->common.context.device;
    if (device->kind != KITH_DEVICE_AUTO)
        return;
    if (cli_is_of_cpu(forces->solver))
        device->kind = KITH_CPU;
    else if (forces->method >= KITH_FORCES_TILE_P)
        *device = cli_first_device();
}

static char *tables(void)
{
    return cli_join_help(cli_solver_help(), law_help_table());
}

static const struct parser parser = {option_rows, groups, check, "FILE", documentation, tables};

int command_forces(int argc, char **argv)
{
    struct forces_options forces = {.law.takes_two = true};
    cli_parse(&parser, argc, argv, &forces);
    const bool has_cutoff = forces.cutoff.cutoff > 0 && !cli_has_images(forces.solver);
    forces.input.without_velocities = !has_cutoff; /* of the pressure */
    forces.input.is_electric = law_options_are_electric(&forces.law);
    take_only_device(&forces);

    kith_context *context = NULL;
    struct forces_job job = {0};
    const kith_context_options begin = cli_context_to_begin(&forces.common);
    int code = job_create_context(argv[0], &begin, &context);
    if (code == exit_ok)
        code = cli_add_peers(argv[0], &forces.common.chosen, context);
    if (code == exit_ok)
        code = read_bodies(argv[0], &forces, context, &job);
    if (code == exit_ok)
        code = choose_device(argv[0], &forces, &job, &context);
    if (code == exit_ok)
        code = run_forces(argv[0], &forces, &context, &job);
    forces_free_job(&job);
    free(forces.ewald.excluded.rows);
    law_options_free(&forces.law);
    kith_context_free(context);
    return code;
}
