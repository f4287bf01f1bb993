/* kith make: initial conditions. */

#include "cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "names.h"
#include "orbit_options.h"
#include "streams.h"

struct make_options {
    const char *kind, *output, *format;
    kith_initial_options initial;
    kith_planet *planets; /* of --elements */
    int64_t batch;        /* conformations; 0: one, as bodies */
    bool quiet;
};

enum {
    key_seed = 0x2000,
    key_eccentricity,
    key_mass_ratio,
    key_to,
    key_batch,
    key_elements,
    key_star,
    key_coordinates,
    key_g,
    key_density,
    key_temperature
};

static const struct choices dimensions = {"D", {"2", "3"}, NULL};

static const struct argp_option options[] = {
    {"number", 'n', "N", 0, "number of bodies (default: by kind)", 0},
    {"seed", key_seed, "S", 0, "seed of the random numbers (default: 0)", 0},
    {"dimensions", 'd', CHOICES(dimensions), "2 or 3 (default: 3)", 0},
    {"eccentricity", key_eccentricity, "E", 0, "of the orbit of two-body, 0 <= E < 1 (default: 0)",
     0},
    {"mass-ratio", key_mass_ratio, "Q", 0, "second mass over first, of kinds with two masses", 0},
    {"elements", key_elements, "m,a,e,i,Omega,omega,M", 0,
     "mass and orbit of one body of planets, angles in radians; repeatable", 0},
    {"star", key_star, "M", 0, "mass of the star of planets (default: 1)", 0},
    {"coordinates", key_coordinates, CHOICES(choices_of_coordinates),
     "center of the orbits of planets: heliocentric, jacobi or barycentric (default: "
     "heliocentric)",
     0},
    {"g", key_g, "G", 0, "gravitational constant of planets (default: 1)", 0},
    {"density", key_density, "R", 0, "particles per unit volume of a crystal (default: 1)", 0},
    {"temperature", key_temperature, "T", 0,
     "of the velocities of a crystal, in units of energy (default: 0)", 0},
    {"batch", key_batch, "B", 0,
     "B conformations of a lattice kind in one NPY file, B x N x 3 (or 2), from the seeds S, S + 1 "
     "...",
     0},
    {"output", 'o', "FILE", 0, "write to FILE (default: -, standard output, as CSV)", 0},
    {"to", key_to, CHOICES(choices_of_formats), "format of FILE (default: by its extension)", 0},
    {"format", 0, NULL, OPTION_ALIAS | OPTION_HIDDEN, NULL, 0},
    {"quiet", 'q', NULL, 0, "no notes", 0},
    {0}};

static const char documentation[] =
    "Make initial conditions; the same bits on every machine for a seed.\v"
    "Examples:\n"
    "  kith make plummer -n 10000 --seed 7 -o plummer.csv\n"
    "  kith make two-body --eccentricity 0.9 -o kepler.csv\n"
    "  kith make planets --elements 1e-3,1,0.05,0,0,0,0 -o planet.csv\n"
    "  kith make fcc -n 4000 --density 0.8442 --temperature 1.44 -o argon.xyz\n"
    "  kith make lattice-walk -n 64 --batch 100 -o walks.npy\n"
    "  kith make six | kith run - --dt 0.001 --until 10 -o six.h5";

static void add_planet(struct make_options *make, const char *text, const struct argp_state *state)
{
    const int64_t count = ++make->initial.planet_count;
    kith_planet *planets = realloc(make->planets, (size_t)count * sizeof *planets);
    if (planets)
        planets[count - 1] = cli_parse_elements(text, state);
    else
        cli_usage_error(state, "--elements: no memory for %lld planets", (long long)count);
    make->initial.planets = make->planets = planets;
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct make_options *make = state->input;
    switch (key) {
    case 'n':
        make->initial.count = cli_parse_count("-n", argument, state);
        make->initial.count_given = true;
        return 0;
    case key_seed:
        make->initial.seed = (uint64_t)cli_parse_count("--seed", argument, state);
        return 0;
    case 'd':
        make->initial.dimensions =
            2 + (int32_t)cli_parse_choice("--dimensions", argument, &dimensions, state);
        return 0;
    case key_eccentricity:
        make->initial.eccentricity = cli_parse_real("--eccentricity", argument, state);
        return 0;
    case key_mass_ratio:
        make->initial.mass_ratio = cli_parse_positive("--mass-ratio", argument, state);
        return 0;
    case key_elements:
        add_planet(make, argument, state);
        return 0;
    case key_star:
        make->initial.star_mass = cli_parse_positive("--star", argument, state);
        return 0;
    case key_coordinates:
        make->initial.coordinates = cli_parse_coordinates(argument, state);
        return 0;
    case key_g:
        make->initial.gravitational_constant = cli_parse_positive("--g", argument, state);
        return 0;
    case key_density:
        make->initial.density = cli_parse_positive("--density", argument, state);
        return 0;
    case key_temperature:
        make->initial.temperature = cli_parse_real("--temperature", argument, state);
        return 0;
    case key_batch:
        make->batch = cli_parse_count("--batch", argument, state);
        if (make->batch == 0)
            cli_usage_error(state, "--batch is 0; give a number of conformations");
        return 0;
    case 'o':
        make->output = argument;
        return 0;
    case key_to:
        make->format = cli_parse_word("--to", argument, &choices_of_formats, state);
        return 0;
    case 'q':
        make->quiet = true;
        return 0;
    case ARGP_KEY_ARG:
        if (make->kind)
            cli_usage_error(state, "unexpected argument '%s'; give one KIND", argument);
        make->kind = cli_parse_word("KIND", argument, &choices_of_kinds, state);
        return 0;
    case ARGP_KEY_END:
        if (!make->kind)
            cli_usage_error(state, "KIND is missing; kith make --help lists them");
        if (make->batch > 0 && !make->output)
            cli_usage_error(state, "-o is missing: the NPY file for the conformations");
        if (make->batch > 0)
            cli_check_npy("-o", make->output, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static char *filter_help(int key, const char *text, void *input)
{
    if (key == ARGP_KEY_HELP_EXTRA)
        return cli_help_table("Kinds:", choices_of_kinds.row);
    return cli_filter_help(key, text, input);
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

int command_make(int argc, char **argv)
{
    struct make_options make = {0};
    const struct argp argp = {options, parse, "KIND", documentation, NULL, filter_help, NULL};
    cli_parse(&argp, argc, argv, &make);

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
