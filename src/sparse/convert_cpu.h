#ifndef SPARSE_CONVERT_CPU_H
#define SPARSE_CONVERT_CPU_H

#include "core/status.h"
#include "device/threads.h"
#include "sparse/formats.h"

/* Memory that is freed with the matrix, with sparse_slack elements more. */
kith_status sparse_take(struct sparse_matrix *matrix, int64_t count, int64_t bytes_each,
                        const char *what, void *memory);

/* Pieces of whole units of work (rows, slices, rows of blocks), of about as many entries; start has
 * the units' first entries, units + 1. */
kith_status sparse_cut(struct sparse_matrix *matrix, int64_t units, const int64_t *start);

/* Each brings matrix->csr into the format of matrix->plan and completes the plan's bytes. */
kith_status sparse_to_ell(kith_context *context, struct sparse_matrix *matrix);
kith_status sparse_to_hybrid(kith_context *context, struct sparse_matrix *matrix);
kith_status sparse_to_sell(kith_context *context, struct sparse_matrix *matrix);
kith_status sparse_to_bsr(kith_context *context, struct sparse_matrix *matrix);
kith_status sparse_to_dia(kith_context *context, struct sparse_matrix *matrix);

/* Calls task(matrix, k) for all k < (units + units_a_task − 1) / units_a_task on the context's
 * threads; what a task writes is its own. Errors: KITH_CANCELLED. */
kith_status sparse_for_units(kith_context *context, struct sparse_matrix *matrix, int64_t units,
                             int64_t units_a_task, kith_task *task);

/* Copies the value of entry k of csr to element `at` of an array of its dtype. */
static inline void sparse_copy_value(const struct sparse_csr *csr, int64_t k, void *to, int64_t at)
{
    if (csr->dtype == KITH_F64)
        ((double *)to)[at] = ((const double *)csr->value)[k];
    else
        ((float *)to)[at] = ((const float *)csr->value)[k];
}

/* The pieces of coo: about as many entries each, whatever the rows. */
kith_status sparse_cut_entries(struct sparse_matrix *matrix, const struct sparse_coo *coo);

#endif
