/* The options of integrators that know a star and planets. */

#include "forces_command.h"

#include <stdlib.h>

static const struct choices coordinates = {"C", {"jacobi", "democratic-heliocentric"}, NULL};
static const struct choices correctors = {"K", {"0", "3", "5", "7", "11", "17"}, NULL};
static const struct choices kernels = {
    "KERNEL", {"default", "lazy", "modified-kick", "composition"}, NULL};

#define AT(member) OPTION_AT(kith_simulation_options, member)

static void set_corrector(void *options, const char *option, const char *text,
                          const struct argp_state *state)
{
    kith_simulation_options *simulation = options;
    simulation->corrector = atoi(cli_parse_word(option, text, &correctors, state));
}

static const struct option_row option_rows[] = {
    {"coordinates", NULL,
     "coordinates of the planets: jacobi or democratic-heliocentric (default: jacobi)",
     AT(coordinates), .choices = &coordinates},
    {"corrector", NULL,
     "order of the symplectic corrector: 0, 3, 5, 7, 11 or 17 (default: 0, none)",
     .choices = &correctors, .set = set_corrector},
    {"kernel", NULL,
     "kernel of a step: default, lazy, modified-kick or composition (default: default)", AT(kernel),
     .choices = &kernels},
    {0}};

const struct parser planets_parser = {.rows = option_rows};
