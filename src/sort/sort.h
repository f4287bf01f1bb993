#ifndef SORT_SORT_H
#define SORT_SORT_H

#include "core/status.h"
#include "kith/array.h"
#include "kith/context.h"
#include "sort/morton.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Keys, sort and scan. Each function has a counterpart for CUDA with the same arguments, in the
 * device's memory, and the same bits. Counts are less than 2^31, of sort_keys_cpu than 2^32. */

struct sort_points {
    kith_dtype dtype;
    int32_t dimensions; /* 2 or 3 */
    int64_t count;
    const void *position[3]; /* columns; finite */
};

/* The range of a column of points, of which there is at least one, and the grid around points. */
void sort_find_range_cpu(const struct sort_points *points, int32_t c, double *low, double *high);
struct morton_grid sort_grid_around_cpu(const struct sort_points *points);

/* The Morton keys of points, in a grid around them and maybe others.
 *
 *   keys  [out] count
 *
 * Errors: KITH_CANCELLED.
 * Cost:   a pass over the points, as each of the functions above. */
kith_status sort_keys_in_grid_cpu(kith_context *context, const struct sort_points *points,
                                  const struct morton_grid *grid, uint64_t *keys);

/* Sorts keys, by their lowest `bits` bits (the others are 0), and returns where each was: key k of
 * the result was key order[k]. Equal keys stay in their order, so that the result is unique. Least
 * significant digit first (Knuth, vol. 3, §5.2.5).
 *
 *   keys     [in, out] count
 *   order    [out] count; NULL: keys alone, on the CPU
 *   scratch  sort_scratch_bytes(count) bytes, aligned to 8
 *
 * Errors: KITH_CANCELLED; keys and order are then unspecified.
 * Cost:   a pass over 12 bytes per key for each 8 bits in which keys differ, on the CPU 11. */
kith_status sort_keys_cpu(kith_context *context, int64_t count, int32_t bits, uint64_t *keys,
                          uint32_t *order, void *scratch);
int64_t sort_scratch_bytes(int64_t count);

/* Sorts a few numbers, none of them NaN. */
void sort_reals(int64_t count, double *numbers);

/* sums[k] = Σ values[j] over j < k, for 0 ≤ k ≤ count; the last is the sum of all, below 2^31. */
void sort_scan_cpu(int64_t count, const int32_t *values, int32_t *sums);

/* The same on a GPU. The grid is in the device's memory, as are keys, order and scratch. Nothing
 * waits. */
kith_status sort_morton_keys_cuda(kith_context *context, const struct sort_points *points,
                                  uint64_t *keys, struct morton_grid *grid);

/* The same in two parts, of a grid in the host's memory: the range of at least one point, which
 * waits for the device, and the keys. */
kith_status sort_find_range_cuda(kith_context *context, const struct sort_points *points,
                                 double low[3], double high[3]);
kith_status sort_keys_in_grid_cuda(kith_context *context, const struct sort_points *points,
                                   const struct morton_grid *grid, uint64_t *keys);

kith_status sort_keys_cuda(kith_context *context, int64_t count, int32_t bits, uint64_t *keys,
                           uint32_t *order, void *scratch);
int64_t sort_scratch_bytes_cuda(int64_t count);
/* What these functions take of cuda_scratch, at most: a caller that has more of it leaves them the
 * first bytes. */
int64_t sort_working_bytes_cuda(int64_t count);

/* sums[k] = Σ values[j] over j < k, for 0 ≤ k < count; sums may be values.
 *
 *   scratch  sort_scan_bytes_cuda(count) bytes, or more */
kith_status sort_scan_cuda(kith_context *context, int64_t count, const int64_t *values,
                           int64_t *sums, void *scratch, int64_t scratch_bytes);
int64_t sort_scan_bytes_cuda(int64_t count);

#ifdef __cplusplus
}
#endif

#endif
