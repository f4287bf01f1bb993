#ifndef CLI_BENCH_COLLISIONS_H
#define CLI_BENCH_COLLISIONS_H

#include "bench_measure.h"
#include "bench_options.h"
#include "bench_peers.h"
#include "plot_picture.h"

enum { bench_most_collisions_rows = 512 };

struct collisions_bench {
    struct bench_common common;
    struct peers *peers; /* NULL if numpy does not take part */
    const char *plot;    /* the picture, or NULL */
    const struct picture_format *format;
};

/* What was measured of one way to count. */
struct collisions_row {
    const char *name, *beads; /* "hash", "walk" */
    int64_t count;            /* beads of a call */
    double seconds;
    double of_limit; /* of all pairs: NaN elsewhere */
};

struct collisions_rows {
    struct collisions_row row[bench_most_collisions_rows];
    int64_t count;
};

/* What takes part for so many beads: measured, and added to the rows. False after an error. */
bool bench_collisions_of(const struct collisions_bench *bench, kith_context *context,
                         const char *kind, int64_t count, struct collisions_rows *rows);
bool bench_collisions_batch(const struct collisions_bench *bench, kith_context *context,
                            struct collisions_rows *rows);

/* Draws the rows into bench->plot; false after telling why not. */
bool bench_collisions_plot(const struct collisions_bench *bench,
                           const struct collisions_rows *rows);

#endif
