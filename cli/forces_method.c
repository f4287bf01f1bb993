/* The names of the methods of forces, for the commands that take one. */

#include "cli.h"
#include "names.h"

/* In the order of enum kith_forces_method. */
static const char *const names[] = {"auto",      "direct", "reference", "split",
                                    "symmetric", "tile-p", "tile-p2"};
enum { count = sizeof names / sizeof names[0] };

static const char *name_of_method(int64_t k)
{
    return names[k];
}

kith_forces_method cli_parse_method(const char *text, const struct argp_state *state)
{
    return (kith_forces_method)cli_parse_name("--method", text, count, name_of_method, state);
}

const char *cli_method_name(kith_forces_method method)
{
    return names[method];
}
