/* The names of the methods of forces, for the commands that take one. */

#include <string.h>

#include "cli.h"

/* In the order of enum kith_forces_method. */
static const char *const names[] = {"auto",      "direct", "reference", "split",
                                    "symmetric", "tile-p", "tile-p2"};
enum { count = sizeof names / sizeof names[0] };

kith_forces_method cli_parse_method(const char *text, const struct argp_state *state)
{
    for (int k = 0; k < count; k++)
        if (strcmp(text, names[k]) == 0)
            return (kith_forces_method)k;
    cli_usage_error(state,
                    "--method is '%s'; give auto, direct, reference, split, symmetric, tile-p or "
                    "tile-p2",
                    text);
    return KITH_FORCES_AUTO;
}

const char *cli_method_name(kith_forces_method method)
{
    return names[method];
}
