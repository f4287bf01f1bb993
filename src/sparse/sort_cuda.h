#ifndef SPARSE_SORT_CUDA_H
#define SPARSE_SORT_CUDA_H

#include "core/status.h"
#include "sparse/formats.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Entries by position: key[k] = row << 32 | column, and which of the caller's entries it is. Each
 * array has a second half of `count` elements to sort with. */
struct sparse_places {
    int64_t count;
    uint64_t *key;
    int64_t *entry;
};

/* Values of the caller's entries; NULL: ones. */
struct sparse_values {
    const void *data;
    int64_t stride;
};

/* Memory for this many places, to be released. */
kith_status sparse_allocate_places(kith_context *context, int64_t count,
                                   struct sparse_places *places);
void sparse_release_places(kith_context *context, struct sparse_places *places);

/* Sorts places by row and column, entries of the same place in their order, adds those up, and
 * makes compressed rows of them; made has its sizes and dtype, nonzeros excepted. With
 * sorted_columns, the places are in the order of their columns already. */
kith_status sparse_sort_cuda(kith_context *context, struct sparse_places *places,
                             bool sorted_columns, struct sparse_values values,
                             struct sparse_csr *made);

#ifdef __cplusplus
}
#endif

#endif
