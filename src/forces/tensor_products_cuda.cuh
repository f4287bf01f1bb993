#ifndef FORCES_TENSOR_PRODUCTS_CUDA_CUH
#define FORCES_TENSOR_PRODUCTS_CUDA_CUH

/* Matrix products of a warp on tensor cores, of halves and of bytes (PTX ISA, mma and movmatrix):
 * lane (g, q), g = lane / 4, q = lane % 4, holds of 16 × 8 sums those of rows g and g + 8, columns
 * 2q and 2q + 1. */

#include <cuda_runtime.h>

#include "device/architecture_80.cuh"

/* 16 × 8 products of 16 halves each. */
static __device__ inline void multiply_halves(const uint4 &a, unsigned b0, unsigned b1, float *sum)
{
#if __CUDA_ARCH__ >= 800
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
        "{%8,%9}, {%10,%10,%10,%10};"
        : "=f"(sum[0]), "=f"(sum[1]), "=f"(sum[2]), "=f"(sum[3])
        : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b0), "r"(b1), "f"(0.0f));
#endif
}

/* Adds 16 × 8 products of 32 bytes each, without sign by with one. */
static __device__ inline void add_bytes(const unsigned *a, uint2 b, int *sum)
{
#if __CUDA_ARCH__ >= 800
    asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
        "{%0,%1,%2,%3};"
        : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b.x), "r"(b.y));
#endif
}

/* Begins such sums. */
static __device__ inline void put_bytes(const unsigned *a, uint2 b, int *sum)
{
#if __CUDA_ARCH__ >= 800
    asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
        "{%10,%10,%10,%10};"
        : "=r"(sum[0]), "=r"(sum[1]), "=r"(sum[2]), "=r"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b.x), "r"(b.y), "r"(0));
#endif
}

static __device__ inline unsigned transposed(unsigned pair)
{
    unsigned result = pair;
#if __CUDA_ARCH__ >= 800
    asm("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(result) : "r"(pair));
#endif
    return result;
}

/* Adds the bytes of the pairs of weights a, b, c, d, the operand's four registers' halves. Of
 * potentials, higher and lower ones have columns of their own. */
static __device__ inline void add_potential_weights(const unsigned *const (&first)[4],
                                                    const unsigned *const (&second)[4],
                                                    uint2 digits, bool begins, int *sum)
{
    const int g = threadIdx.x % 32 / 4;
    const uint2 none = make_uint2(0, 0);
    unsigned bytes[4];
#pragma unroll
    for (int k = 0; k < 4; k++)
        bytes[k] = __byte_perm(*first[k], *second[k], 0x7531);
    begins ? put_bytes(bytes, g < 2 ? digits : none, sum)
           : add_bytes(bytes, g < 2 ? digits : none, sum);
#pragma unroll
    for (int k = 0; k < 4; k++)
        bytes[k] = __byte_perm(*first[k], *second[k], 0x6420);
    add_bytes(bytes, g < 2 ? none : digits, sum);
}

static __device__ inline void add_weights(const unsigned *const (&first)[4],
                                          const unsigned *const (&second)[4], uint2 digits,
                                          bool begins, int *high, int *low)
{
    unsigned bytes[4];
#pragma unroll
    for (int k = 0; k < 4; k++)
        bytes[k] = __byte_perm(*first[k], *second[k], 0x7531);
    begins ? put_bytes(bytes, digits, high) : add_bytes(bytes, digits, high);
#pragma unroll
    for (int k = 0; k < 4; k++)
        bytes[k] = __byte_perm(*first[k], *second[k], 0x6420);
    begins ? put_bytes(bytes, digits, low) : add_bytes(bytes, digits, low);
}

#endif
