#ifndef SUMS_WRITE_H
#define SUMS_WRITE_H

#include "sums/problem.h"

/* Writes what sums_kernel_body.h wants of a problem, in C; free *text with free().
 * Errors: KITH_OUT_OF_MEMORY. */
kith_status sums_write(const struct sums_problem *problem, char **text);

#endif
