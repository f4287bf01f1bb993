#ifndef SPARSE_SPARSE_CPU_H
#define SPARSE_SPARSE_CPU_H

#include "core/status.h"
#include "sparse/product.h"
#include "sparse/statistics.h"

/* The CPU's functions of sparse/backend.h. */
bool sparse_predict_cpu(kith_context *context, const struct sparse_statistics *statistics,
                        struct sparse_plan *plan);
kith_status sparse_convert_cpu(kith_context *context, const struct sparse_statistics *statistics,
                               struct sparse_matrix *matrix);
kith_status sparse_multiply_cpu(kith_context *context, const struct sparse_product *product);

#endif
