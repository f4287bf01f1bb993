#ifndef SPARSE_SPARSE_CPU_H
#define SPARSE_SPARSE_CPU_H

#include "core/status.h"
#include "sparse/product.h"
#include "sparse/statistics.h"

/* Bytes of x that scattered reads find near by. */
enum { sparse_near_bytes = 256 << 10 };

/* Whether the entries of compressed rows prefetch x: this part of them use a line of x for the
 * first time in a while. */
static inline bool sparse_is_scattered(double lines_per_entry, int64_t x_bytes)
{
    return lines_per_entry > 0.2 && x_bytes > sparse_near_bytes;
}

/* The CPU's functions of sparse/backend.h. */
bool sparse_predict_cpu(kith_context *context, const struct sparse_statistics *statistics,
                        struct sparse_plan *plan);
kith_status sparse_convert_cpu(kith_context *context, const struct sparse_statistics *statistics,
                               struct sparse_matrix *matrix);
kith_status sparse_multiply_cpu(kith_context *context, const struct sparse_product *product);

#endif
