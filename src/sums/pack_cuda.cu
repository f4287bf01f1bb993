/* Particles as the records that kernels read, and the errors in their numbers. */

#include "device/deferred_error.h"
#include "device/reals_cuda.cuh"
#include "sums/sums_cuda.h"

enum { threads = 256 };

template <typename real>
static __device__ inline real field(const struct sums_packing &packing, int k, int64_t row)
{
    if (k >= packing.columns || !packing.column[k].from)
        return 0;
    const struct sums_packed_column &column = packing.column[k];
    const real value = ((const real *)column.from)[row * column.stride];
    if (column.bad_row && !(fabs((double)value) <= column.most))
        atomicMax(column.bad_row, ~(unsigned long long)row);
    return value;
}

template <typename real>
static __global__ void __launch_bounds__(threads) pack(const struct sums_packing packing)
{
    const int64_t slot = (int64_t)blockIdx.x * threads + threadIdx.x;
    if (slot >= packing.count)
        return;
    const int64_t row = packing.order ? (int64_t)packing.order[slot] : slot;
    for (int c = 0; c < 3 && packing.positions[0]; c++)
        ((real *)packing.positions[c])[slot] = field<real>(packing, c, row);
    for (int k = 3; k < packing.columns && packing.positions[0]; k++)
        ((real *)packing.records)[(k - 3) * packing.count + slot] = field<real>(packing, k, row);
    if (packing.positions[0])
        return;
    real4_of<real> *to = (real4_of<real> *)((real *)packing.records + slot * packing.fields);
    for (int k = 0; k < packing.fields; k += 4)
        to[k / 4] = {field<real>(packing, k, row), field<real>(packing, k + 1, row),
                     field<real>(packing, k + 2, row), field<real>(packing, k + 3, row)};
}

kith_status sums_pack_cuda(kith_context *context, const struct sums_packing *packing)
{
    const unsigned blocks = (unsigned)((packing->count + threads - 1) / threads);
    if (blocks == 0)
        return KITH_OK;
    if (packing->dtype == KITH_F32)
        pack<float><<<blocks, threads, 0, cuda_stream(context)>>>(*packing);
    else
        pack<double><<<blocks, threads, 0, cuda_stream(context)>>>(*packing);
    return cuda_check_launch("packing particles");
}

static __device__ double number_at(const struct sums_suspect &suspect, int64_t row, int64_t column)
{
    const int64_t at = row * suspect.strides[0] + column * suspect.strides[1];
    if (suspect.is_whole)
        return suspect.bytes == 4 ? (double)((const int32_t *)suspect.data)[at]
                                  : (double)((const int64_t *)suspect.data)[at];
    return suspect.bytes == 4 ? (double)((const float *)suspect.data)[at]
                              : ((const double *)suspect.data)[at];
}

static __device__ void write_down(const struct sums_suspect &suspect, int64_t row,
                                  struct cuda_deferred_error *deferred)
{
    double value = number_at(suspect, row, 0);
    for (int64_t c = 1; c < suspect.columns && fabs(value) <= suspect.most; c++)
        if (!(fabs(number_at(suspect, row, c)) <= suspect.most))
            value = number_at(suspect, row, c);
    deferred->row = row;
    deferred->value = value;
    deferred->remedy =
        isfinite(value) && suspect.other_remedy ? suspect.other_remedy : suspect.remedy;
    __threadfence_system();
    deferred->array = suspect.name;
}

struct suspects {
    int32_t count;
    struct sums_suspect of[10];
};

/* The first one stays until it is reported. */
static __global__ void tell(const struct suspects suspects, struct cuda_deferred_error *deferred)
{
    for (int k = 0; k < suspects.count; k++) {
        if (!*suspects.of[k].bad || *(const char *volatile *)&deferred->array)
            continue;
        write_down(suspects.of[k], (int64_t) ~*suspects.of[k].bad, deferred);
    }
}

kith_status sums_tell_cuda(kith_context *context, int32_t count,
                           const struct sums_suspect *suspects)
{
    enum { most = sizeof(suspects::of) / sizeof(struct sums_suspect) };
    for (int32_t first = 0; first < count; first += most) {
        struct suspects some = {};
        for (int32_t k = first; k < count && k < first + most; k++)
            some.of[some.count++] = suspects[k];
        tell<<<1, 1, 0, cuda_stream(context)>>>(some, cuda_deferred_error_of(context));
        KITH_TRY(cuda_check_launch("looking for invalid numbers"));
    }
    return KITH_OK;
}
