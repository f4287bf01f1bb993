/* kith collisions: beads of a lattice at one site, and their contacts. */

#include "cli.h"
#include "device_choice.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "collisions.h"
#include "options.h"
#include "streams.h"

static bool method_row(int64_t k, const char **name, const char **description)
{
    int64_t count = 0;
    const kith_collisions_method_info *list = kith_collisions_method_list(&count);
    if (k >= count)
        return false;
    *name = list[k].name;
    *description = list[k].description;
    return true;
}

static const struct choices methods = {"METHOD", {NULL}, method_row};

static const char documentation[] =
    "Count the pairs of beads at the same site of a lattice. FILE has integer coordinates: CSV, NPY, XYZ "
    "or another format of kith convert.\v"
    "Examples:\n"
    "  kith make lattice-walk -n 100000 -o walk.npy\n"
    "  kith collisions walk.npy\n"
    "  kith collisions walk.npy --list pairs.csv --json\n"
    "  kith make self-avoiding-walk -n 20 -o fold.csv\n"
    "  kith collisions fold.csv --contacts --sequence HPHPPHHPHPPHPHHPPHPH\n"
    "  kith make self-avoiding-walk -n 64 --batch 100 -o walks.npy\n"
    "  kith collisions walks.npy --batch --contacts --json";

static char *tables(void)
{
    return cli_help_table("Methods:", method_row);
}

static void check(void *options, const struct argp_state *state)
{
    const struct collisions_options *collisions = options;
    if (!collisions->input.path)
        cli_usage_error(state, "FILE is missing: the beads' coordinates");
    if (collisions->sequence && !collisions->contacts)
        cli_usage_error(state, "--sequence needs --contacts");
    if (collisions->batch && collisions->list)
        cli_usage_error(state, "--list needs a single conformation; leave out --list or --batch");
    if (collisions->batch && (collisions->input.format || collisions->input.frame))
        cli_usage_error(state, "--batch reads an NPY array; leave --from and --frame out");
    if (collisions->batch && collisions->method != KITH_COLLISIONS_AUTO)
        cli_usage_error(state, "--batch does not support --method; leave it out");
    cli_check_extension("--list", collisions->list, NULL, extensions_of_tables, state);
    cli_check_stdout("--list", collisions->list, &collisions->common, state);
}

#define AT(member) OPTION_AT(struct collisions_options, member)
static const struct option_row option_rows[] = {
    {"method", NULL, "how to count: see below (default: auto)", AT(method), .choices = &methods},
    {"list", "FILE",
     "write the colliding pairs i,j to FILE, .csv or .npy, i < j, sorted; - is standard output",
     AT(list)},
    {"contacts", NULL,
     "count contacts instead: pairs at distance 1 that are not neighbors along the chain. --json "
     "prints both counts; seconds is the time of the requested count",
     AT(contacts)},
    {"sequence", "HPPH...", "count H-H contacts only; one letter per bead", AT(sequence)},
    {"batch", NULL,
     "FILE is an NPY array B x L x 3 (or x 2) of B conformations: print one count per line",
     AT(batch)},
    {0}};

static const struct option_group groups[] = {
    {&file_parser, NULL, 0, offsetof(struct collisions_options, input)},
    {&common_parser, "Common options:", 3, offsetof(struct collisions_options, common)},
    {0}};

static bool is_npy(const struct collisions_options *collisions)
{
    const char *dot = strrchr(collisions->input.path, '.');
    return collisions->input.format ? strcmp(collisions->input.format, "npy") == 0
                                    : dot && strcasecmp(dot, ".npy") == 0;
}

static kith_status read_bodies(const struct collisions_options *collisions, kith_array *beads)
{
    const kith_read_options read = {.format = collisions->input.format,
                                    .frame = collisions->input.frame,
                                    .without_velocities = true};
    kith_bodies *bodies = NULL;
    kith_status status = kith_bodies_read(collisions->input.path, &read, &bodies);
    if (status == KITH_OK)
        status = kith_integers_from_reals(collisions->input.path, bodies->position, bodies->count,
                                          bodies->dimensions, beads);
    kith_bodies_free(bodies);
    return status;
}

/* Reads the beads of the file; returns an exit code. */
static int read_beads(const char *command, const struct collisions_options *collisions,
                      kith_array *beads)
{
    const kith_status status = collisions->batch || is_npy(collisions)
                                   ? kith_integers_read(collisions->input.path, beads)
                                   : read_bodies(collisions, beads);
    if (status != KITH_OK)
        return cli_fail(command);
    const int32_t ndim = collisions->batch ? 3 : 2;
    const int64_t columns = beads->ndim == ndim ? beads->shape[ndim - 1] : 0;
    if (columns == 2 || columns == 3)
        return exit_ok;
    return cli_fail_with(command, "%s has %d dimensions, the last of %lld; give %s",
                         collisions->input.path, (int)beads->ndim,
                         (long long)beads->shape[beads->ndim - 1],
                         collisions->batch ? "B x L x 3 or B x L x 2"
                                           : "N x 3 or N x 2 (for many conformations: --batch)");
}

static int choose_device(const char *command, const struct collisions_options *collisions,
                         const kith_array *beads, kith_context **context)
{
    double count = (double)beads->shape[0];
    if (collisions->batch)
        count *= (double)beads->shape[1];
    const kith_work work = {.kind = KITH_WORK_COLLISIONS, .units = count, .rows = count};
    return cli_choose_device(command, &collisions->common, work, context);
}

static const struct parser parser = {option_rows, groups, check, "FILE", documentation, tables};

int command_collisions(int argc, char **argv)
{
    struct collisions_options collisions = {0};
    cli_parse(&parser, argc, argv, &collisions);

    kith_context *context = NULL;
    kith_array beads = kith_array_none();
    int code = exit_failed;
    if ((code = load_take_file(argv[0], &collisions.input.path, &collisions.input.format,
                               collisions.list)) != exit_ok)
        return code;
    if (collisions.method != KITH_COLLISIONS_AUTO &&
        collisions.common.context.device.kind == KITH_DEVICE_AUTO)
        collisions.common.context.device = cli_first_device(); /* most methods are a GPU's */
    const kith_context_options begin = cli_context_to_begin(&collisions.common);
    if (kith_context_create(&begin, &context) != KITH_OK)
        code = cli_fail(argv[0]);
    else if ((code = read_beads(argv[0], &collisions, &beads)) == exit_ok)
        code = choose_device(argv[0], &collisions, &beads, &context);
    if (code == exit_ok)
        code = collisions.batch ? collisions_of_batch(argv[0], &collisions, context, beads)
                                : collisions_of_one(argv[0], &collisions, context, beads);
    kith_integers_free(&beads);
    kith_context_free(context);
    return code;
}
