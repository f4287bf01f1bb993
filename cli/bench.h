#ifndef CLI_BENCH_H
#define CLI_BENCH_H

#include <cjson/cJSON.h>
#include <math.h>

#include "bench_options.h"

enum { bench_most_rows = 512, bench_most_arrays = 8, bench_most_rounds = 101 };

/* A context to measure with: a number of threads, or a GPU. */
struct bench_context {
    kith_context *context;
    int32_t threads;                   /* 0 on a GPU */
    double copy_rate, forces_rates[2]; /* of the functions below; 0: not measured yet */
};

struct bench_part;

/* A call of what is measured; on a GPU it need not wait for its end. which: the row's. */
typedef kith_status bench_work(const struct bench_part *part, int64_t which);

/* What is measured: some work, which is repeated, and what a call of it computes. */
struct bench_row {
    const struct bench_part *part;
    bench_work *work;
    int64_t which;
    kith_simulation *simulation; /* a call is a step of it, if there is no work */
    char what[32], variant[32];  /* "forces", "v4" */
    int64_t size, systems;       /* systems: 0 unless it is of steps */
    const char *item;            /* what the rate counts: "interactions" */
    double items;                /* of a call */
    double flop, bytes;          /* of an item; 0: not counted */
    double limit;                /* seconds of a call at the limit of the machine; 0: unknown */
    int64_t calls, rounds;       /* calls: of a repetition */
    double seconds[bench_most_rounds]; /* of a call; sorted in the end */
};

/* A benchmark in progress. */
struct bench {
    const struct bench_options *options;
    const struct bench_capability *capability;
    struct bench_context contexts[bench_most_threads];
    int32_t context_count;
    struct bench_row *rows; /* that wait for bench_measure; room for bench_most_rows */
    int32_t row_count;
    cJSON *report; /* of all rows */
};

/* One part of it: a context, a precision, a size, a name where the capability has names; and what
 * its rows work on. */
struct bench_part {
    struct bench *bench;
    struct bench_context *on;
    kith_context *context; /* on's */
    kith_dtype dtype;
    int64_t n;
    const char *name; /* NULL: none was given, and there is no list */
    void *state;      /* of the capability; zeroed memory of its state_bytes */
    kith_array arrays[bench_most_arrays];
    int32_t array_count;
};

/* Their bits in the table of options. */
enum {
    of_forces = 1,
    of_matrix = 2,
    of_pairs = 4,
    of_collisions = 8,
    of_sparse = 16,
    of_any = 31,
    of_all_at_once = 32,
    of_ranks = 64
};

/* A capability's benchmark: a row of the table in bench.c. */
struct bench_capability {
    const char *name;
    const char *size; /* what -n counts: "bodies" */
    unsigned flag;    /* of_forces, … */
    const char *documentation;
    int64_t counts[8], quick_counts[8]; /* of -n unless given, until a 0 */
    kith_dtype precisions[2];
    int32_t precision_count;
    double seconds;
    bool all_threads; /* with one thread and with all, unless --threads is given */

    /* Names for the command line: systems, of which arguments is "[SYSTEM...]"; or files without
     * row. arguments is NULL: none are taken. */
    const char *arguments;
    table_row *row;

    /* Makes what is measured of a part and enters its rows; end frees what is in the state, also
     * after an error. What all parts of a size have entered is measured in alternation. */
    size_t state_bytes;
    kith_status (*begin)(struct bench_part *part);
    void (*end)(void *state);
};
extern const struct bench_capability bench_of_forces, bench_of_matrix, bench_of_pairs,
    bench_of_collisions, bench_of_sparse, bench_of_ranks;

/* kith bench ranks, which times the processes of a job together. */
int command_bench_ranks(int argc, char **argv);

/* The capabilities as commands of their own. */
extern const struct command bench_capabilities[];

/* Of kith bench without a capability. */
extern const char bench_documentation[];
char *bench_capability_help(void);

/* Adds a row: the work on a part, with this number of items per call; then the format of its
 * variant. The caller fills in the other members of the returned row. */
struct bench_row *bench_enter(const struct bench_part *part, bench_work *work, int64_t which,
                              double items, const char *item, const char *what, const char *variant,
                              ...) __attribute__((format(printf, 7, 8)));

/* Measures all that was entered, in alternation, prints the rows and keeps them. False after an
 * error. */
bool bench_measure(struct bench *bench);
void bench_print_heading(const struct bench *bench);

/* The part's next array, on its device, with columns per row (0: a vector). values are doubles for
 * real types, else of the array's type; NULL: zeros. */
kith_status bench_array(struct bench_part *part, kith_dtype dtype, int64_t rows, int64_t columns,
                        const void *values);

/* Frees the part's arrays and its state. */
void bench_part_free(struct bench_part *part);

/* Bytes a second that a large copy on the device reads and writes, by the context's threads; 0
 * without memory. */
double bench_copy_rate(struct bench_context *on);

/* Interactions a second of the arithmetic of gravity alone by the CPU's threads; 0 on a GPU. */
double bench_forces_rate(struct bench_context *on, kith_dtype dtype);

#endif
