#ifndef SORT_CUB_CUDA_H
#define SORT_CUB_CUDA_H

/* Radix sorts and a sum of CUB on a GPU, compiled once for all who use them: its headers take ten
 * seconds in each source.
 *
 *   scratch  NULL: bytes becomes what is needed, and nothing else happens
 *   bits     of keys, from the lowest on */

#include <stddef.h>
#include <stdint.h>

#include <cuda_runtime.h>

cudaError_t sort_long_keys_cuda(void *scratch, size_t &bytes, const uint64_t *keys,
                                uint64_t *sorted, int64_t count, int bits, cudaStream_t stream);

cudaError_t sort_pairs_cuda(void *scratch, size_t &bytes, const uint32_t *keys,
                            uint32_t *sorted_keys, const uint32_t *values, uint32_t *sorted_values,
                            uint32_t count, int bits, cudaStream_t stream);

/* keys[0] and values[0] are sorted by turns with the others, and exchanged with them if the result
 * is there. */
cudaError_t sort_pairs_by_turns_cuda(void *scratch, size_t &bytes, uint32_t *(&keys)[2],
                                     uint32_t *(&values)[2], uint32_t count, int bits,
                                     cudaStream_t stream);

/* table[k] becomes the sum of all before it. */
cudaError_t sort_scan_table_cuda(void *scratch, size_t &bytes, uint32_t *table, uint32_t count,
                                 cudaStream_t stream);

#endif
