#ifndef BENCH_REGRET_MATRICES_H
#define BENCH_REGRET_MATRICES_H

#include <stdint.h>

/* Matrices of other shapes than those that kith's choice was fitted to, with sizes and entries by a
 * seed. */
struct regret_matrix {
    const char *name;
    int64_t rows, columns, nonzeros;
    int64_t *start;  /* rows + 1 */
    int32_t *column; /* any order, duplicates */
    double *value;
};

int32_t regret_matrices(void);
const char *regret_matrix_name(int32_t k);

/* The k-th; false without memory. regret_matrix_free in any case. */
int regret_matrix_make(int32_t k, uint64_t seed, struct regret_matrix *made);
void regret_matrix_free(struct regret_matrix *matrix);

#endif
