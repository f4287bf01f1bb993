/* The kernels of one instruction set. */

#include "lattice/collisions_kernel.h"

#include <string.h>

#include "core/simd.h"
#include "lattice/conformation.h"

#define COORDINATE int32_t
#define NAME(name) name##_32
#include "lattice/rows_kernel_body.h"

#include "lattice/batch_kernel_body.h"
#undef COORDINATE
#undef NAME

#define COORDINATE int64_t
#define NAME(name) name##_64
#include "lattice/rows_kernel_body.h"

#include "lattice/batch_kernel_body.h"
#undef COORDINATE
#undef NAME

#if defined(__AVX512F__)
#define COUNT_EQUAL_32(sum, a, b)                                                                  \
    ((vint32)_mm512_mask_sub_epi32((__m512i)(sum),                                                 \
                                   _mm512_cmpeq_epi32_mask((__m512i)(a), (__m512i)(b)),            \
                                   (__m512i)(sum), _mm512_set1_epi32(-1)))
#define COUNT_EQUAL_64(sum, a, b)                                                                  \
    ((vint64)_mm512_mask_sub_epi64((__m512i)(sum),                                                 \
                                   _mm512_cmpeq_epi64_mask((__m512i)(a), (__m512i)(b)),            \
                                   (__m512i)(sum), _mm512_set1_epi64(-1)))
#else
#define COUNT_EQUAL_32(sum, a, b) ((sum) - (vint32)((a) == (b)))
#define COUNT_EQUAL_64(sum, a, b) ((sum) - (vint64)((a) == (b)))
#endif

#define KEY         uint32_t
#define VKEY        vint32
#define COUNT_EQUAL COUNT_EQUAL_32
#define NAME(name)  name##_32
#include "lattice/pairs_kernel_body.h"
#undef KEY
#undef VKEY
#undef COUNT_EQUAL
#undef NAME

#define KEY         uint64_t
#define VKEY        vint64
#define COUNT_EQUAL COUNT_EQUAL_64
#define NAME(name)  name##_64
#include "lattice/pairs_kernel_body.h"
#undef KEY
#undef VKEY
#undef COUNT_EQUAL
#undef NAME

const struct collisions_kernels KITH_ISA_SYMBOL(collisions) = {
    .extent_32 = extent_32,
    .extent_64 = extent_64,
    .keys_32 = keys_32,
    .keys_64 = keys_64,
    .equal_pairs_32 = equal_pairs_32,
    .equal_pairs_64 = equal_pairs_64,
    .conformation_32 = conformation_32,
    .conformation_64 = conformation_64,
};
