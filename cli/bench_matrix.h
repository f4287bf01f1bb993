#ifndef CLI_BENCH_MATRIX_H
#define CLI_BENCH_MATRIX_H

#include "bench_measure.h"
#include "bench_options.h"

enum { matrix_most_rows = 256 };

struct matrix_bench {
    struct bench_common common;
    kith_dtype precision;
    bool blocks; /* the tile kernels of every size too */
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
