/* The options of forces within a cutoff. */

#include "cutoff_options.h"

#include <string.h>

#include "names.h"

enum { key_cutoff = 0x7480, key_shift, key_tail };

static const struct choices shifts = {"WHAT", {"none", "energy", "force"}, NULL};

static const struct argp_option option_table[] = {
    {"cutoff", key_cutoff, "R", 0,
     "only pairs at distances less than R, periodic images included (default: all pairs); for "
     "ewald and pme, of the real-space part (default: the fastest)",
     0},
    {"shift", key_shift, CHOICES(shifts),
     "none; energy: subtract the energy at the cutoff; force: shift force and energy to 0 there "
     "(default: none)",
     0},
    {"tail", key_tail, NULL, 0,
     "add the contribution from beyond the cutoff, at uniform density, to energy and virial", 0},
    {0}};

static const struct argp_child children[] = {{&cell_argp, 0, NULL, 0}, {0}};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct cutoff_options *options = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &options->cell;
        return 0;
    case key_cutoff:
        options->cutoff = cli_parse_positive("--cutoff", argument, state);
        return 0;
    case key_shift:
        options->shift = (kith_shift)cli_parse_choice("--shift", argument, &shifts, state);
        return 0;
    case key_tail:
        options->tail = true;
        return 0;
    case ARGP_KEY_END:
        if (options->cutoff == 0 && (options->shift || options->tail))
            cli_usage_error(state, "%s is given without --cutoff; give both or none",
                            options->tail ? "--tail" : "--shift");
        if (options->shift && options->tail)
            cli_usage_error(state, "--shift and --tail are given; give one of them");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const struct argp cutoff_argp = {option_table, parse, NULL, NULL, children, NULL, NULL};

int cutoff_take_cell(const char *command, const struct cutoff_options *options, const char *path,
                     kith_bodies *bodies)
{
    kith_cell cell;
    bool found = false;
    const int code = cell_choose(command, &options->cell, bodies, &cell, &found);
    if (code != exit_ok)
        return code;
    for (int k = 0; k < 3; k++)
        bodies->periodic[k] = cell.periodic[k];
    if (options->cell.count > 0) {
        bodies->has_cell = true;
        memcpy(bodies->cell, cell.vectors, sizeof bodies->cell);
        if (bodies->dimensions == 2)
            bodies->cell[8] = 1;
    }
    for (int k = 0; k < bodies->dimensions && options->cutoff == 0 && !options->has_images; k++)
        if (bodies->periodic[k])
            return cli_fail_with(command,
                                 "%s has a periodic cell, which has infinitely many images; give "
                                 "--cutoff R or --solver pme, or --periodic none to leave the cell "
                                 "out",
                                 path);
    return exit_ok;
}

void cutoff_cell_of(const kith_bodies *bodies, kith_cell *cell)
{
    *cell = (kith_cell){0};
    for (int k = 0; k < bodies->dimensions; k++) {
        for (int c = 0; c < bodies->dimensions; c++)
            cell->vectors[k][c] = bodies->cell[3 * k + c];
        cell->periodic[k] = bodies->periodic[k];
    }
}
