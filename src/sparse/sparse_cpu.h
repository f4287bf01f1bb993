#ifndef SPARSE_SPARSE_CPU_H
#define SPARSE_SPARSE_CPU_H

#include "core/status.h"
#include "sparse/product.h"
#include "sparse/statistics.h"

/* Whether the entries of compressed rows prefetch x: this part of them use a line of x for the
 * first time in a while, more than the eighth of columns in order, which the processor foresees (an
 * arrow takes 1.3 times as long with prefetches, stencils 1.04 to 1.15 times). A prefetch costs 0.2
 * ns an entry and saves 4 ns a line of 8 MB of x, 20 of 32 (Zen 5; random columns, in all of x and
 * in windows): 1.2 times as long with 1 MB, 0.8 to 1.1 with 4 to 6 MB, 0.35 to 1 with 16 MB and
 * more. */
static inline bool sparse_is_scattered(double lines_per_entry, int64_t x_bytes)
{
    return lines_per_entry > 0.13 && x_bytes > 4 << 20;
}

/* The CPU's functions of sparse/backend.h. */
bool sparse_predict_cpu(kith_context *context, const struct sparse_statistics *statistics,
                        struct sparse_plan *plan);
kith_status sparse_convert_cpu(kith_context *context, const struct sparse_statistics *statistics,
                               struct sparse_matrix *matrix);
kith_status sparse_multiply_cpu(kith_context *context, const struct sparse_product *product);

#endif
