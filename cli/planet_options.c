/* The options of integrators that know a star and planets. */

#include "forces_command.h"

#include <stdlib.h>

#include "names.h"

enum { key_coordinates = 0x7190, key_corrector, key_kernel };

static const struct argp_option option_table[] = {
    {"coordinates", key_coordinates, "C", 0,
     "coordinates of the planets: jacobi or democratic-heliocentric (default: jacobi)", 0},
    {"corrector", key_corrector, "K", 0,
     "order of the symplectic corrector: 0, 3, 5, 7, 11 or 17 (default: 0, none)", 0},
    {"kernel", key_kernel, "KERNEL", 0,
     "kernel of a step: default, lazy, modified-kick or composition (default: default)", 0},
    {0}};

static const char *coordinates_of(int64_t k)
{
    static const char *const words[] = {"jacobi", "democratic-heliocentric"};
    return words[k];
}

static const char *corrector_of(int64_t k)
{
    static const char *const words[] = {"0", "3", "5", "7", "11", "17"};
    return words[k];
}

static const char *kernel_of(int64_t k)
{
    static const char *const words[] = {"default", "lazy", "modified-kick", "composition"};
    return words[k];
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    kith_simulation_options *simulation = state->input;
    switch (key) {
    case key_coordinates:
        simulation->coordinates =
            coordinates_of(cli_parse_name("--coordinates", argument, 2, coordinates_of, state));
        return 0;
    case key_corrector:
        simulation->corrector =
            atoi(corrector_of(cli_parse_name("--corrector", argument, 6, corrector_of, state)));
        return 0;
    case key_kernel:
        simulation->kernel = kernel_of(cli_parse_name("--kernel", argument, 4, kernel_of, state));
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const struct argp planets_argp = {option_table, parse, NULL, NULL, NULL, NULL, NULL};
