#ifndef CLI_RESONANCE_H
#define CLI_RESONANCE_H

#include "cli.h"

/* A resonance angle: a sum of whole multiples of mean longitudes l, longitudes of pericenter w and
 * of the node O of bodies, such as 3l5-2l4-w5. */
struct resonance {
    int64_t count; /* 0: none is requested */
    struct {
        int64_t factor, body;
        char which;
    } term[16];
};

/* Wrong usage: not such a sum, or factors that do not add up to 0, as d'Alembert's rule
 * requires. */
struct resonance cli_parse_resonance(const char *text, const struct argp_state *state);

/* The angle in [0, 2π); orbits[k − 1] is that of body k of `bodies`.
 * Errors: KITH_INVALID_ARGUMENT (no such body). */
kith_status resonance_angle(const struct resonance *resonance, const kith_orbit *orbits,
                            int64_t bodies, double *angle);

#endif
