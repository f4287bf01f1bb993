#ifndef KITH_ARRAY_H
#define KITH_ARRAY_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where memory is, or where to compute. The numbers of the kinds are DLPack's. */
typedef enum kith_device_kind {
    KITH_DEVICE_AUTO = 0, /* of a context: the first GPU, or the CPU without one */
    KITH_CPU = 1,
    KITH_CUDA = 2
} kith_device_kind;

typedef struct kith_device {
    kith_device_kind kind;
    int32_t index; /* k of cuda:k; 0 on the CPU */
} kith_device;

typedef enum kith_dtype { KITH_F64 = 0, KITH_F32, KITH_I64, KITH_I32 } kith_dtype;

#define KITH_MAX_DIMENSIONS 3

/* A view of the caller's memory: kith never owns it and does not keep it after a call.
 *
 * The fields are those of DLPack's DLTensor (byte_offset is part of data), so that arrays of NumPy,
 * CuPy and PyTorch are used without a copy. Strides count elements. An array of zeros (data NULL,
 * ndim 0) means "none" where a function allows that. */
typedef struct kith_array {
    void *data;
    kith_device
        device; /* of data: checked with the driver by a context on a GPU, not by one on the CPU */
    int32_t ndim;
    kith_dtype dtype;
    int64_t shape[KITH_MAX_DIMENSIONS];
    int64_t strides[KITH_MAX_DIMENSIONS];
} kith_array;

/* A contiguous vector of n elements on the host. */
static inline kith_array kith_array_vector(void *data, kith_dtype dtype, int64_t n)
{
    kith_array array = {data, {KITH_CPU, 0}, 1, dtype, {n, 0, 0}, {1, 0, 0}};
    return array;
}

/* A contiguous row-major matrix on the host: one row per body, one column per coordinate. */
static inline kith_array kith_array_matrix(void *data, kith_dtype dtype, int64_t rows,
                                           int64_t columns)
{
    kith_array array = {data, {KITH_CPU, 0}, 2, dtype, {rows, columns, 0}, {columns, 1, 0}};
    return array;
}

/* The absent array. */
static inline kith_array kith_array_none(void)
{
    kith_array array = {0, {KITH_DEVICE_AUTO, 0}, 0, KITH_F64, {0, 0, 0}, {0, 0, 0}};
    return array;
}

static inline bool kith_array_is_none(kith_array array)
{
    return array.ndim == 0;
}

/* Bytes of one element: 8 or 4. */
static inline int64_t kith_dtype_bytes(kith_dtype dtype)
{
    return dtype == KITH_F64 || dtype == KITH_I64 ? 8 : 4;
}

#ifdef __cplusplus
}
#endif

#endif
