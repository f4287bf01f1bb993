#ifndef CLI_BENCH_FORCES_H
#define CLI_BENCH_FORCES_H

#include "../bench/gpu_forces.h"
#include "bench_measure.h"
#include "bench_options.h"
#include "bench_peers.h"
#include "law_options.h"

/* What kith bench forces was asked for. */
struct bench_options {
    struct bench_common common;
    const char *isas[8];
    int32_t isa_count;
    bool isas_given;
    kith_dtype precisions[2];
    int32_t precision_count;
    int64_t systems; /* of an ensemble; 0: not given */
    struct law_options law;
    kith_forces_method method;
    const char *integrator;
};

/* A program in one configuration. */
struct competitor {
    const char *name, *version; /* "kith", or another program's */
    const char *isa;            /* of kith; else NULL */
    kith_dtype precision;
    const kith_law *law; /* of kith; NULL: gravity */
    kith_forces_method method;
    int32_t threads;
    kith_context *context; /* of kith; else NULL */
    struct peers *peers;   /* which know this one by its name; or NULL */
    /* On a GPU: what is measured of it, in words, and how if the bodies are on the device; else
     * NULL. There, threads are 0: they do not matter. */
    const char *measured;
    enum gpu_forces_way way;
    bool of_device_memory;
    double rate; /* interactions a second, roughly, to tell what would take too long */
};

struct competitors {
    struct competitor *all;
    int64_t count;
    struct peers *peers;
};

/* kith with every choice of precision, instruction set and threads, the best instruction set and
 * the fewest threads first; with peers, the plain loop and the other programs. On a GPU, for every
 * precision, kith with arrays on the host, on the device, and its kernels, and the GPU Gems kernel.
 * False after telling why not. */
bool competitors_make(const struct bench_options *options, struct competitors *competitors);
void competitors_free(struct competitors *competitors);

/* The bodies whose forces are computed, in either precision. */
struct forces_system {
    kith_bodies *bodies;
    kith_array position[2], mass[2], acceleration[2]; /* by kith_dtype: KITH_F64 and KITH_F32 */
    struct gpu_forces *gpu[2];                        /* if competitors want it */
};

bool forces_system_make(const char *command, int64_t n, struct forces_system *system);
void forces_system_free(struct forces_system *system);

/* Hands the bodies to the peers and to GPUs, for competitors that compute there. False after
 * telling why not. */
bool forces_system_share(const char *command, const struct competitors *competitors,
                         struct forces_system *system);

/* What a contestant of the forces computes. */
struct forces_work {
    const char *command;
    const struct competitor *competitor;
    const struct forces_system *system;
};
double forces_work_run(void *work, int64_t calls); /* struct contestant says what */

/* What was measured of a competitor. */
struct bench_row {
    struct contestant contestant;
    const struct competitor *competitor;
    int64_t bodies;
    int64_t systems;   /* 0: a call is forces; else a leapfrog step of so many systems */
    bool left_out;     /* it would take too long */
    double limit;      /* interactions a second of the arithmetic alone, all threads; or NaN */
    double difference; /* of the GPU Gems kernel's results to those of kith's; or NaN */
    const struct bench_row *one_thread; /* the same with one thread; or NULL */
    const struct bench_row *kith;       /* of a peer: kith with as many threads; or NULL */
};

struct bench_rows {
    struct bench_row *at; /* rows point to each other: room for all from the start */
    int64_t count;
    double busy_cores; /* with other programs, meanwhile; NaN: the system does not tell */
};

/* Adds a row of a competitor. */
struct bench_row *bench_rows_add(struct bench_rows *rows, const struct competitor *competitor,
                                 int64_t bodies);

/* Measures the rows from first on against each other, but those left out, and links them. */
bool bench_rows_measure(const struct bench_options *options, struct bench_rows *rows,
                        int64_t first);

/* Measures; adds rows. False after telling why not. */
bool bench_forces_of(const struct bench_options *options, const struct competitors *competitors,
                     int64_t n, struct bench_rows *rows);
bool bench_steps_of(const struct bench_options *options, const struct competitors *competitors,
                    int64_t n, struct bench_rows *rows);

/* Rows as text, and all of them as JSON. */
void bench_print_heading(const struct bench_options *options, bool steps);
void bench_print_rows(const struct bench_rows *rows, int64_t first);
void bench_print_summary(const struct bench_rows *rows);
/* Evaluations a second, of interactions or of steps of a system, if a call takes so long. */
double bench_rate(const struct bench_row *row, double seconds);

enum { flop_per_interaction = 20 }; /* Nyland, Harris & Prins 2007, GPU Gems 3, ch. 31 */

/* The text of rows on a GPU, which has the ways to compute beside each other. */
void bench_print_gpu_heading(const struct bench_options *options, bool steps);
void bench_print_gpu_rows(const struct bench_rows *rows, int64_t first);

cJSON *bench_as_json(const struct bench_options *options, const struct bench_rows *rows);

#endif
