/* kith make: initial conditions. */

#include "cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "orbit_options.h"
#include "streams.h"

struct make_options {
    const char *kind, *output, *format;
    kith_initial_options initial;
    kith_planet *planets; /* of --elements */
    int64_t batch;        /* conformations; 0: one, as bodies */
    bool quiet;
};

static const struct choices dimensions = {"D", {"2", "3"}, NULL};

static const char documentation[] =
    "Make initial conditions; the same bits on every machine for a seed.\v"
    "Examples:\n"
    "  kith make plummer -n 10000 --seed 7 -o plummer.csv\n"
    "  kith make two-body --eccentricity 0.9 -o kepler.csv\n"
    "  kith make planets --elements 1e-3,1,0.05,0,0,0,0 -o planet.csv\n"
    "  kith make fcc -n 4000 --density 0.8442 --temperature 1.44 -o argon.xyz\n"
    "  kith make lattice-walk -n 64 --batch 100 -o walks.npy\n"
    "  kith make six | kith run - --dt 0.001 --until 10 -o six.h5";

static void add_planet(void *options, const char *option, const char *text,
                       const struct argp_state *state)
{
    struct make_options *make = options;
    (void)option;
    const int64_t count = ++make->initial.planet_count;
    kith_planet *planets = realloc(make->planets, (size_t)count * sizeof *planets);
    if (planets)
        planets[count - 1] = cli_parse_elements(text, state);
    else
        cli_usage_error(state, "--elements: no memory for %lld planets", (long long)count);
    make->initial.planets = make->planets = planets;
}

static void set_dimensions(void *options, const char *option, const char *text,
                           const struct argp_state *state)
{
    struct make_options *make = options;
    make->initial.dimensions = 2 + (int32_t)cli_parse_choice(option, text, &dimensions, state);
}

static void check(void *options, const struct argp_state *state)
{
    const struct make_options *make = options;
    if (!make->kind)
        cli_usage_error(state, "KIND is missing; kith make --help lists them");
    if (make->batch > 0 && !make->output)
        cli_usage_error(state, "-o is missing: the NPY file for the conformations");
    if (make->batch > 0)
        cli_check_npy("-o", make->output, state);
    else
        cli_check_extension("-o", make->output, make->format, extensions_of_bodies(), state);
}

#define AT(member) OPTION_AT(struct make_options, member)
static const struct option_row option_rows[] = {
    {NULL, "KIND", NULL, AT(kind), .choices = &choices_of_kinds},
    {"number", "N", "number of bodies (default: by kind)", AT(initial.count),
     OPTION_GIVEN(struct make_options, initial.count_given), .letter = 'n'},
    {"seed", "S", "seed of the random numbers (default: 0)", AT(initial.seed)},
    {"dimensions", NULL, "2 or 3 (default: 3)", .choices = &dimensions, .set = set_dimensions,
     .letter = 'd'},
    {"eccentricity", "E", "of the orbit of two-body, 0 <= E < 1 (default: 0)",
     AT(initial.eccentricity)},
    {"mass-ratio", "Q", "second mass over first, of kinds with two masses", AT(initial.mass_ratio),
     .positive = true},
    {"elements", "m,a,e,i,Omega,omega,M",
     "mass and orbit of one body of planets, angles in radians; repeatable", .set = add_planet},
    {"star", "M", "mass of the star of planets (default: 1)", AT(initial.star_mass),
     .positive = true},
    {"coordinates", NULL,
     "center of the orbits of planets: heliocentric, jacobi or barycentric (default: "
     "heliocentric)",
     AT(initial.coordinates), .choices = &choices_of_coordinates},
    {"g", "G", "gravitational constant of planets (default: 1)", AT(initial.gravitational_constant),
     .positive = true},
    {"density", "R", "particles per unit volume of a crystal (default: 1)", AT(initial.density),
     .positive = true},
    {"temperature", "T", "of the velocities of a crystal, in units of energy (default: 0)",
     AT(initial.temperature)},
    {"batch", "B",
     "B conformations of a lattice kind in one NPY file, B x N x 3 (or 2), from the seeds S, S + 1 "
     "...",
     AT(batch), .least = 1},
    {"output", "FILE", "write to FILE (default: -, standard output, as CSV)", AT(output),
     .letter = 'o'},
    {"to", NULL, "format of FILE (default: by its extension)", AT(format),
     .choices = &choices_of_formats},
    {"format", .old = true},
    {"quiet", NULL, "no notes", AT(quiet), .letter = 'q'},
    {0}};

static char *tables(void)
{
    return cli_help_table("Kinds:", choices_of_kinds.row);
}

/* What to do with a file next; it has no place for the dropped columns. */
static void note_run(const struct make_options *make, const char *command, const char *path,
                     unsigned dropped)
{
    int64_t count = 0;
    const kith_initial *kind = kith_initial_list(&count);
    char constant[64] = "";
    while (strcmp(kind->name, make->kind) != 0)
        kind++;
    if (!kind->run_hint || (dropped & KITH_VELOCITY) || cli_is_stdout(path))
        return;
    if (dropped & KITH_UNITS)
        snprintf(constant, sizeof constant, "--g %.17g ", kind->units.gravitational_constant);
    cli_note(make->quiet, command, "try: kith run %s %s%s -o run.h5", path, constant,
             kind->run_hint);
}

/* Adds conformation b to the array, which the first one makes; its coordinates are whole. */
static kith_status add_conformation(const struct make_options *make, int64_t b, kith_array *all)
{
    kith_initial_options one = make->initial;
    one.seed += (uint64_t)b;
    kith_bodies *bodies = NULL;
    kith_array beads = kith_array_none();
    kith_status status = kith_initial_make(make->kind, &one, &bodies);
    if (status == KITH_OK)
        status = kith_integers_from_reals(make->kind, bodies->position, bodies->count,
                                          bodies->dimensions, &beads);
    if (status == KITH_OK) {
        const int64_t count = bodies->count * bodies->dimensions;
        if (b == 0)
            *all = (kith_array){calloc((size_t)(make->batch * count) + 1, sizeof(int32_t)),
                                beads.device,
                                3,
                                KITH_I32,
                                {make->batch, bodies->count, bodies->dimensions},
                                {count, bodies->dimensions, 1}};
        if (all->data && count > 0)
            memcpy((int32_t *)all->data + b * count, beads.data, (size_t)count * sizeof(int32_t));
    }
    kith_integers_free(&beads);
    kith_bodies_free(bodies);
    return status;
}

static int make_batch(const char *command, const struct make_options *make)
{
    kith_array all = kith_array_none();
    kith_status status = KITH_OK;
    for (int64_t b = 0; b < make->batch && status == KITH_OK && (b == 0 || all.data); b++)
        status = add_conformation(make, b, &all);
    int code = exit_ok;
    if (status == KITH_OK && !all.data)
        code = cli_fail_with(command, "no memory for %lld conformations", (long long)make->batch);
    else if (status != KITH_OK ||
             kith_integers_write(cli_output_path(make->output), all) != KITH_OK)
        code = cli_fail(command);
    free(all.data);
    return code;
}

static const struct parser parser = {option_rows, NULL, check, "KIND", documentation, tables};

int command_make(int argc, char **argv)
{
    struct make_options make = {0};
    cli_parse(&parser, argc, argv, &make);

    if (make.batch > 0)
        return make_batch(argv[0], &make);
    const char *path = cli_output_path(make.output ? make.output : "-");
    const kith_write_options write = {.format = cli_output_format(path, make.format),
                                      .arguments = (const char *const *)argv};
    kith_bodies *bodies = NULL;
    int code = exit_ok;
    if (kith_initial_make(make.kind, &make.initial, &bodies) != KITH_OK ||
        kith_bodies_write(bodies, path, &write) != KITH_OK)
        code = cli_fail(argv[0]);
    else if (strcmp(make.kind, "planets") == 0 && make.initial.planet_count == 0)
        cli_note(make.quiet, argv[0], "a star without planets; add planets with --elements");
    else
        note_run(&make, argv[0], path, cli_note_dropped(make.quiet, argv[0], path, &write, bodies));
    kith_bodies_free(bodies);
    free(make.planets);
    return code;
}
