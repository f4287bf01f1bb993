#ifndef CLI_BENCH_FIGURES_H
#define CLI_BENCH_FIGURES_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

/* What the benchmarks measured, all in one form: a rate of a series at a size, in a panel. */
struct figure {
    const char *capability; /* "forces" */
    char panel[64];         /* the picture that it belongs to: "Forces: all pairs" */
    char what[32];          /* "" or, where sizes say little, a name: "rmat" */
    char series[64];        /* "kith double, 1 thread" */
    double size;            /* bodies, points, beads, rows */
    const char *unit;       /* of the rate: "interactions/s" */
    double rate;            /* the more, the faster */
    int64_t series_place;   /* of its series among those of the panel, from 0 */
    int64_t row_place;      /* of its size, or its name, likewise */
};

struct figures {
    struct figure *at;
    int64_t count, room;
};

/* The figures of a report: of kith bench --json, or of kith bench CAPABILITY --json. False without
 * memory. */
bool figures_take(const cJSON *report, struct figures *figures);

/* Puts the figures of a panel beside each other and sets the places; panels stay in the order of
 * their first figures. */
void figures_arrange(struct figures *figures);
void figures_free(struct figures *figures);

/* A number with three digits and a prefix of thousands: "7.07 G". Valid until the eighth call
 * after. */
const char *figure_text(double value);

/* The same of a size, without a blank: "100k". */
const char *figure_size(double size);

#endif
