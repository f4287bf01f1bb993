/* The options of forces within a cutoff. */

#include "cutoff_options.h"

#include <string.h>

static const struct choices shifts = {"WHAT", {"none", "energy", "force"}, NULL};

#define AT(member) OPTION_AT(struct cutoff_options, member)

static const struct option_row option_rows[] = {
    {"cutoff", "R",
     "only pairs at distances less than R, periodic images included (default: all pairs); for "
     "ewald and pme, of the real-space part (default: the fastest)",
     AT(cutoff), .positive = true},
    {"shift", NULL,
     "none; energy: subtract the energy at the cutoff; force: shift force and energy to 0 there "
     "(default: none)",
     AT(shift), .choices = &shifts},
    {"tail", NULL,
     "add the contribution from beyond the cutoff, at uniform density, to energy and virial",
     AT(tail)},
    {0}};

static const struct option_group groups[] = {
    {&cell_parser, NULL, 0, offsetof(struct cutoff_options, cell)}, {0}};

static void check(void *options, const struct argp_state *state)
{
    const struct cutoff_options *cutoff = options;
    if (cutoff->cutoff == 0 && (cutoff->shift || cutoff->tail))
        cli_usage_error(state, "%s is given without --cutoff; give both or none",
                        cutoff->tail ? "--tail" : "--shift");
    if (cutoff->shift && cutoff->tail)
        cli_usage_error(state, "--shift and --tail are given; give one of them");
}

const struct parser cutoff_parser = {.rows = option_rows, .groups = groups, .check = check};

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
