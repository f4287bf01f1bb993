/* Resonance angles on the command line. */

#include "resonance.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>

#include "core/status.h"

enum { most_terms = 16, most_number = 1000000 };

/* An integer without a sign; −1 if the text is not one. */
static int64_t take_number(const char **text)
{
    if (!isdigit((unsigned char)**text))
        return -1;
    char *end = NULL;
    const long number = strtol(*text, &end, 10);
    *text = end;
    return number <= most_number ? number : -1;
}

struct resonance cli_parse_resonance(const char *text, const struct argp_state *state)
{
    struct resonance resonance = {0};
    int64_t sum = 0;
    bool is_good = *text != '\0';
    for (const char *at = text; *at && is_good; resonance.count++) {
        const int64_t sign = *at == '-' ? -1 : 1;
        is_good =
            resonance.count < most_terms && (*at == '-' || *at == '+' || resonance.count == 0);
        at += *at == '-' || *at == '+';
        const int64_t factor = isdigit((unsigned char)*at) ? take_number(&at) : 1;
        const char which = *at;
        at += which != '\0';
        const int64_t body = take_number(&at);
        is_good =
            is_good && factor >= 0 && body >= 1 && (which == 'l' || which == 'w' || which == 'O');
        if (!is_good)
            break;
        resonance.term[resonance.count].factor = sign * factor;
        resonance.term[resonance.count].body = body;
        resonance.term[resonance.count].which = which;
        sum += sign * factor;
    }
    if (!is_good)
        cli_usage_error(state,
                        "--resonance is '%s'; give a sum of whole multiples of l, w and O of "
                        "bodies from 1, such as 3l5-2l4-w5",
                        text);
    if (sum != 0)
        cli_usage_error(state,
                        "--resonance is '%s', whose factors add up to %lld; they must add up to 0, "
                        "or the angle depends on the direction of x",
                        text, (long long)sum);
    return resonance;
}

kith_status resonance_angle(const struct resonance *resonance, const kith_orbit *orbits,
                            int64_t bodies, double *angle)
{
    const double turn = 2 * 3.14159265358979323846;
    double sum = 0;
    for (int64_t k = 0; k < resonance->count; k++) {
        const int64_t body = resonance->term[k].body;
        if (body >= bodies)
            return kith_fail(KITH_INVALID_ARGUMENT,
                             "--resonance has body %lld; give bodies 0 to %lld", (long long)body,
                             (long long)bodies - 1);
        const kith_orbit *orbit = &orbits[body - 1];
        const double node = orbit->Omega, pericenter = node + orbit->omega;
        const char which = resonance->term[k].which;
        sum += (double)resonance->term[k].factor * (which == 'O'   ? node
                                                    : which == 'w' ? pericenter
                                                                   : pericenter + orbit->M);
    }
    const double rest = fmod(sum, turn);
    *angle = rest < 0 ? rest + turn : rest;
    return KITH_OK;
}
