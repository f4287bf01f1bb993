#include "device/overlap.cuh"
#include "sort/curve.h"
#include "sort/hilbert.h"

enum { threads = 256 };

void sort_curve_take(struct arena *arena, int64_t count, struct sort_curve *curve)
{
    arena_take(arena, sort_working_bytes_cuda(count), 1);
    arena_take(arena, count, sizeof *curve->keys, &curve->keys);
    arena_take(arena, 1, sizeof *curve->grid, &curve->grid);
    curve->scratch = arena_take(arena, sort_scratch_bytes_cuda(count), 1);
}

static __global__ void __launch_bounds__(threads)
    make_curve_keys(int64_t count, bool is_hilbert, int32_t shift, uint64_t *keys)
{
    const int64_t k = (int64_t)blockIdx.x * threads + threadIdx.x;
    wait_for_kernel_before();
    if (k < count)
        keys[k] = (is_hilbert ? hilbert_key_3d(keys[k]) : keys[k]) >> shift;
}

kith_status sort_along_curve_cuda(kith_context *context, const struct sort_points *points,
                                  int32_t bits, const struct sort_curve *curve, uint32_t *order)
{
    const int64_t count = points->count;
    const int32_t of_keys = morton_bits(points->dimensions), used = bits < of_keys ? bits : of_keys;
    if (count == 0)
        return KITH_OK;
    KITH_TRY(sort_morton_keys_cuda(context, points, curve->keys, curve->grid));
    KITH_TRY(launch_overlapped(
        context, "sorting points along a curve", dim3((unsigned)((count + threads - 1) / threads)),
        threads, make_curve_keys, count, points->dimensions == 3, of_keys - used, curve->keys));
    return sort_keys_cuda(context, count, used, curve->keys, order, curve->scratch);
}
