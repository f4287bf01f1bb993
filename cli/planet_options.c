/* The options of integrators that know a star and planets. */

#include "forces_command.h"

#include <stdlib.h>

#include "names.h"

enum { key_coordinates = 0x7190, key_corrector, key_kernel };

static const struct choices coordinates = {"C", {"jacobi", "democratic-heliocentric"}, NULL};
static const struct choices correctors = {"K", {"0", "3", "5", "7", "11", "17"}, NULL};
static const struct choices kernels = {
    "KERNEL", {"default", "lazy", "modified-kick", "composition"}, NULL};

static const struct argp_option option_table[] = {
    {"coordinates", key_coordinates, CHOICES(coordinates),
     "coordinates of the planets: jacobi or democratic-heliocentric (default: jacobi)", 0},
    {"corrector", key_corrector, CHOICES(correctors),
     "order of the symplectic corrector: 0, 3, 5, 7, 11 or 17 (default: 0, none)", 0},
    {"kernel", key_kernel, CHOICES(kernels),
     "kernel of a step: default, lazy, modified-kick or composition (default: default)", 0},
    {0}};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    kith_simulation_options *simulation = state->input;
    switch (key) {
    case key_coordinates:
        simulation->coordinates = cli_parse_word("--coordinates", argument, &coordinates, state);
        return 0;
    case key_corrector:
        simulation->corrector = atoi(cli_parse_word("--corrector", argument, &correctors, state));
        return 0;
    case key_kernel:
        simulation->kernel = cli_parse_word("--kernel", argument, &kernels, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const struct argp planets_argp = {option_table, parse, NULL, NULL, NULL, NULL, NULL};
