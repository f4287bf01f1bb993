/* The options that choose a periodic cell. */

#include "cell_options.h"

#include <stdlib.h>
#include <string.h>

static void set_cell(void *options, const char *option, const char *text,
                     const struct argp_state *state)
{
    struct cell_options *cell = options;
    if (cell->count > 0)
        cli_usage_error(state, "%s defines a second cell; give one of --box and --cell", option);
    char *copy = cli_copy(text, state), *rest = copy;
    for (const char *word; (word = strsep(&rest, ","));) {
        if (cell->count == 9)
            cli_usage_error(state, "%s has more than 9 numbers: '%s'", option, text);
        cell->numbers[cell->count++] = cli_parse_real(option, word, state);
    }
    free(copy);
    cell->is_box = strcmp(option, "--box") == 0;
    const int count = cell->count;
    if (cell->is_box ? count != 2 && count != 3 : count != 4 && count != 9)
        cli_usage_error(state, "%s has %d numbers; give %s", option, count,
                        cell->is_box ? "2 or 3 lengths" : "9, or 4 in two dimensions");
    for (int k = 0; cell->is_box && k < count; k++)
        if (!(cell->numbers[k] > 0))
            cli_usage_error(state, "%s is '%s'; give lengths greater than 0", option, text);
}

static void set_periodic(void *options, const char *option, const char *text,
                         const struct argp_state *state)
{
    struct cell_options *cell = options;
    bool twice = false;
    for (const char *at = text; *at; at++)
        twice = twice || strchr(at + 1, *at);
    if (strcmp(text, "none") != 0 && (!*text || twice || text[strspn(text, "xyz")]))
        cli_usage_error(state, "%s is '%s'; give some of x, y and z, or none", option, text);
    cell->periodic = text;
}

static const struct option_row option_rows[] = {
    {"box", "LX,LY[,LZ]", "edges of a rectangular cell, periodic along all axes", .set = set_cell},
    {"cell", "A1,A2,A3,B1,…,C3",
     "vectors of a cell, periodic along all of them (default: the cell of the file, or none)",
     .set = set_cell},
    {"periodic", "AXES", "cell vectors along which the cell is periodic: any of xyz, or none",
     .set = set_periodic},
    {0}};

const struct parser cell_parser = {.rows = option_rows};

/* A cell that was given has one length or one vector for each dimension. */
static int take_cell(const char *command, const struct cell_options *options, int32_t dimensions,
                     kith_cell *cell)
{
    const int wanted = options->is_box ? dimensions : dimensions * dimensions;
    if (options->count != wanted)
        return cli_fail_with(command, "%s has %d numbers, but positions in %d dimensions need %d",
                             options->is_box ? "--box" : "--cell", options->count, (int)dimensions,
                             wanted);
    for (int k = 0; k < dimensions; k++) {
        for (int c = 0; c < dimensions; c++)
            cell->vectors[k][c] = !options->is_box ? options->numbers[k * dimensions + c]
                                  : k == c         ? options->numbers[k]
                                                   : 0;
        cell->periodic[k] = true;
    }
    return exit_ok;
}

static void take_cell_of_bodies(const kith_bodies *bodies, kith_cell *cell)
{
    for (int k = 0; k < bodies->dimensions; k++) {
        for (int c = 0; c < bodies->dimensions; c++)
            cell->vectors[k][c] = bodies->cell[3 * k + c];
        cell->periodic[k] = bodies->periodic[k];
    }
}

int cell_choose(const char *command, const struct cell_options *options, const kith_bodies *bodies,
                kith_cell *cell, bool *found)
{
    const int32_t dimensions = bodies->dimensions;
    *cell = (kith_cell){0};
    *found = options->count > 0 || bodies->has_cell;
    if (options->count > 0) {
        const int code = take_cell(command, options, dimensions, cell);
        if (code != exit_ok)
            return code;
    } else if (bodies->has_cell) {
        take_cell_of_bodies(bodies, cell);
    }
    if (!options->periodic)
        return exit_ok;
    const bool none = strcmp(options->periodic, "none") == 0;
    if (!*found && !none)
        return cli_fail_with(
            command,
            "--periodic is %s, but neither an option nor the file gives a cell; give "
            "--box or --cell",
            options->periodic);
    for (int k = 0; k < 3; k++)
        cell->periodic[k] = !none && strchr(options->periodic, "xyz"[k]) != NULL;
    if (dimensions == 2 && cell->periodic[2])
        return cli_fail_with(command, "--periodic is %s, but the positions have two dimensions",
                             options->periodic);
    return exit_ok;
}
