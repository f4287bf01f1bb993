#ifndef CLI_ORBIT_OPTIONS_H
#define CLI_ORBIT_OPTIONS_H

#include "cli.h"

/* The name of a value of --coordinates of orbits. */
const char *cli_name_of_coordinates(kith_orbit_coordinates which);

/* The table of coordinates for --help. */
char *cli_coordinates_help(void);

/* The value of --elements: m,a,e,i,Omega,omega,M of an orbit that there is. */
kith_planet cli_parse_elements(const char *text, const struct argp_state *state);

#endif
