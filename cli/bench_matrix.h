#ifndef CLI_BENCH_MATRIX_H
#define CLI_BENCH_MATRIX_H

#include "bench_measure.h"
#include "cli.h"

enum { matrix_most_sizes = 8, matrix_most_rows = 128 };

struct matrix_bench {
    const char *command;
    kith_context_options context;
    kith_dtype precision;
    int64_t sizes[matrix_most_sizes];
    int32_t size_count;
    double seconds;
    bool blocks, json; /* blocks: the seeds' tiles of every size too */
};

/* What was measured: bytes a second of what is stored, pairs a second of what is not. */
struct matrix_row {
    char name[48];
    const char *law; /* NULL: memset */
    int64_t n;
    double seconds, pairs_per_second, bytes_per_second;
    double of_limit; /* of memset, or of the instructions' limit; NaN: unknown */
};

struct matrix_rows_measured {
    struct matrix_row row[matrix_most_rows];
    int64_t count;
};

/* Adds the rows of one size; false after an error, which is told. */
bool bench_matrix_of(const struct matrix_bench *bench, kith_context *context, int64_t n,
                     struct matrix_rows_measured *rows);

#endif
