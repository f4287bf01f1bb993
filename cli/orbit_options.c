/* Orbits on the command line: what they are relative to, and their elements. */

#include "orbit_options.h"

#include <stdlib.h>
#include <string.h>

#include "names.h"

static const struct {
    const char *name, *description;
} coordinates[] = {
    [KITH_HELIOCENTRIC] = {"heliocentric", "about the first body, the star"},
    [KITH_JACOBI] = {"jacobi", "about the center of mass of all earlier bodies"},
    [KITH_BARYCENTRIC] = {"barycentric", "about the center of mass of all bodies"},
};

enum { coordinates_count = sizeof coordinates / sizeof coordinates[0] };

static bool coordinates_row(int64_t k, const char **name, const char **description)
{
    if (k >= coordinates_count)
        return false;
    *name = coordinates[k].name;
    *description = coordinates[k].description;
    return true;
}

const struct choices choices_of_coordinates = {"COORDINATES", {NULL}, coordinates_row};

char *cli_coordinates_help(void)
{
    return cli_help_table("Coordinates:", coordinates_row);
}

const char *cli_name_of_coordinates(kith_orbit_coordinates which)
{
    return coordinates[which].name;
}

kith_planet cli_parse_elements(const char *text, const struct argp_state *state)
{
    enum { numbers = 7 };
    double given[numbers];
    int count = 0;
    char *copy = cli_copy(text, state), *rest = copy;
    for (const char *word; (word = strsep(&rest, ",")); count++)
        if (count < numbers)
            given[count] = cli_parse_real("--elements", word, state);
    free(copy);
    if (count != numbers)
        cli_usage_error(state, "--elements has %d numbers: '%s'; give seven: m,a,e,i,Omega,omega,M",
                        count, text);
    const kith_planet planet = {given[0], given[1], given[2], given[3],
                                given[4], given[5], given[6]};
    const kith_orbit orbit = {.a = planet.a, .e = planet.e, .M = planet.M};
    double position[3], velocity[3];
    if (!(planet.m >= 0))
        cli_usage_error(state, "--elements is '%s': m is %g; give a mass of at least 0", text,
                        planet.m);
    if (planet.e == 1)
        cli_usage_error(
            state, "--elements is '%s': e is 1, and a parabola has no a; give another e", text);
    if (kith_orbit_place(1, &orbit, position, velocity) != KITH_OK)
        cli_usage_error(state, "--elements is '%s': %s", text, kith_error_message());
    return planet;
}
