#ifndef CLI_BENCH_SPARSE_MATRICES_H
#define CLI_BENCH_SPARSE_MATRICES_H

#include <stdbool.h>
#include <stdint.h>

/* Compressed rows that kith bench sparse multiplies by; made in the program, the same each time. */
struct bench_matrix {
    int64_t rows, columns, nonzeros;
    int64_t *row_start;
    int32_t *column;
    double *value;
};

/* A row of the table of matrices. */
struct bench_matrix_kind {
    const char *name, *description;
    int64_t size, detail; /* what make takes */
    int64_t quick_size;   /* the size with --quick; 0: left out then */
    bool usual;           /* measured unless the user names matrices */
    bool (*make)(int64_t size, int64_t detail, struct bench_matrix *matrix);
};

/* The table; *count rows. */
const struct bench_matrix_kind *bench_matrix_kinds(int64_t *count);

/* The row of that name, or NULL. */
const struct bench_matrix_kind *bench_matrix_kind_named(const char *name);

/* Makes the matrix of that name, or reads the Matrix Market file; false after telling why not. */
bool bench_matrix_take(const char *command, const char *name, bool quick,
                       struct bench_matrix *matrix);

/* Frees what make has put in, also after it returned false for want of memory. */
void bench_matrix_free(struct bench_matrix *matrix);

#endif
