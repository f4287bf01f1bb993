#ifndef CLI_TUNE_H
#define CLI_TUNE_H

#include "bench_options.h"

/* The options of kith tune. */
struct tune_options {
    struct bench_options common;
    bool forces, matrix; /* which capabilities */
    bool keeps;          /* the result for later */
    const char *table;
};

/* What was measured: a method, and the shortest time of a call. */
struct tune_row {
    const char *capability, *method;
    kith_device device;
    kith_dtype precision;
    int64_t count;                               /* of bodies; of the matrix's rows */
    int32_t threads;                             /* of a CPU; else 0 */
    int32_t block, unroll;                       /* of tiles; else 0 */
    int32_t bodies_per_thread, threads_per_body; /* of split on a GPU; 0: the usual ones */
    double seconds;
};

struct tune_rows {
    struct tune_row *row;
    int64_t count, room;
};

/* Reports a new row, and prints it unless the table is requested elsewhere. False, with a message,
 * if memory runs out. */
bool tune_add(const struct tune_options *options, struct tune_rows *rows, struct tune_row row);

/* The fastest row of those like this one in capability, method, device, precision, count
 * and threads; NULL if none is like it. */
const struct tune_row *tune_best(const struct tune_rows *rows, const struct tune_row *like);

/* Best seconds of a call of a function that starts work on the context: repeated for about this
 * many seconds. Negative after an error, which is in the thread's message. */
double tune_time(kith_context *context, kith_status (*start)(void *state), void *state,
                 double seconds);

/* Measure, add rows, and store the settings found in the tuning; false, with a message, on failure.
 */
bool tune_forces(const struct tune_options *options, kith_context *context, struct tune_rows *rows,
                 kith_tuning *tuning);
bool tune_matrix(const struct tune_options *options, kith_context *context, struct tune_rows *rows,
                 kith_tuning *tuning);

/* Forces on the CPU with one thread and with all, compared with a GPU's. */
bool tune_forces_beside(const struct tune_options *options, struct tune_rows *rows);

#endif
