#ifndef CLI_BENCH_PAIRS_H
#define CLI_BENCH_PAIRS_H

#include "bench_measure.h"
#include "bench_options.h"
#include "bench_peers.h"

enum { pairs_most_peers = 4, pairs_most_cases = 8 };

/* A kind of system to look for pairs in: a row of the table in bench_pairs_systems.c. */
struct pairs_case {
    const char *name, *description;
    int32_t dimensions;
    bool periodic, plummer, lengths;
    double neighbors; /* of a point, on average */
    int64_t nearest;  /* k; 0: all nearer than a cutoff */
    const char *peers;
};

const struct pairs_case *pairs_cases(int64_t *count);
const struct pairs_case *pairs_case_named(const char *name);

/* Points of such a system. */
struct pairs_points_of {
    const struct pairs_case *kind;
    int64_t count;
    double cutoff;
    double edge; /* of the cell, or of the square that the points are in */
    double *x;   /* count × dimensions */
};

/* False without memory; goes with pairs_points_free. The same count gives the same points. */
bool pairs_points_make(const struct pairs_case *kind, int64_t count,
                       struct pairs_points_of *points);
void pairs_points_free(struct pairs_points_of *points);

/* Hands the points to the peers; false after telling why not. */
bool pairs_points_give(const char *command, struct peers *peers,
                       const struct pairs_points_of *points);

struct pairs_bench_options {
    struct bench_common common;
    const struct pairs_case *cases[pairs_most_cases];
    int32_t case_count;
    bool unsorted, narrow; /* as in kith_pairs_options */
};

/* What was measured of a system; [0] is double, [1] single, as kith_dtype. */
struct pairs_row {
    const struct pairs_case *kind;
    int64_t points;
    int64_t pairs[2];
    double seconds[2];        /* of a call, until all is done */
    double device_seconds[2]; /* between the device's first kernel and its last; NaN on the CPU */
    double peer_seconds[pairs_most_peers];
    double peer_ratio[pairs_most_peers]; /* its time over kith's in double; NaN: not measured */
};

struct pairs_report {
    const struct pairs_bench_options *options;
    struct peers *peers;
    const char *peer_name[pairs_most_peers], *peer_version[pairs_most_peers];
    int32_t peer_count;
    struct pairs_row rows[pairs_most_cases * bench_most_numbers];
    int32_t row_count;
};

/* Measures kith in both precisions and the peers, in turns; false after telling why not. */
bool pairs_measure(const struct pairs_report *report, kith_context *context,
                   const struct pairs_points_of *points, struct pairs_row *row);

/* The heading before the first row, a row, and what comes behind the last. */
void pairs_bench_heading(const struct pairs_report *report);
void pairs_bench_row(const struct pairs_report *report, const struct pairs_row *row);
void pairs_bench_end(const struct pairs_report *report);
cJSON *pairs_bench_json(const struct pairs_report *report);

#endif
