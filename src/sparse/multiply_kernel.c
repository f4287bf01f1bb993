/* Sparse products for one instruction set: the bodies for float and for double. */

#include "sparse/multiply_kernel.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "core/memory.h"
#include "core/simd.h"
#include "core/streaming.h"
#include "sparse/gather.h"

#define REAL         float
#define VREAL        vfloat
#define NAME(name)   name##_float
#define FMA(a, b, c) SPARSE_FMA_float(a, b, c)
#include "sparse/multiply_bodies.h"
#undef REAL
#undef VREAL
#undef NAME
#undef FMA

#define REAL         double
#define VREAL        vdouble
#define NAME(name)   name##_double
#define FMA(a, b, c) SPARSE_FMA_double(a, b, c)
#include "sparse/multiply_bodies.h"

#define ROW(precision)                                                                             \
    {                                                                                              \
        [sparse_csr_rows] = csr_rows_##precision, [sparse_csr_rows_16] = csr_rows_16_##precision,  \
        [sparse_csr_lanes] = csr_lanes_##precision,                                                \
        [sparse_csr_lanes_16] = csr_lanes_16_##precision,                                          \
        [sparse_csr_merge] = csr_merge_##precision,                                                \
        [sparse_csr_merge_16] = csr_merge_16_##precision,                                          \
        [sparse_coo_entries] = coo_entries_##precision, [sparse_ell_rows] = ell_rows_##precision,  \
        [sparse_sell_slices] = sell_slices_##precision,                                            \
        [sparse_sell_slices_16] = sell_slices_16_##precision, [sparse_bsr_2] = bsr_2_##precision,  \
        [sparse_bsr_3] = bsr_3_##precision, [sparse_bsr_4] = bsr_4_##precision,                    \
        [sparse_dia_tiles] = dia_tiles_##precision,                                                \
        [sparse_dia_symmetric] = dia_symmetric_##precision,                                        \
        [sparse_csr_vectors] = csr_vectors_##precision,                                            \
        [sparse_csr_vectors_16] = csr_vectors_16_##precision,                                      \
        [sparse_bsr_vectors_2] = bsr_vectors_2_##precision,                                        \
        [sparse_bsr_vectors_3] = bsr_vectors_3_##precision,                                        \
        [sparse_bsr_vectors_4] = bsr_vectors_4_##precision,                                        \
        [sparse_dia_vectors] = dia_vectors_##precision,                                            \
        [sparse_pack_vectors] = pack_vectors_##precision,                                          \
        [sparse_finish_piece] = finish_piece_##precision,                                          \
    }

const struct sparse_kernels KITH_ISA_SYMBOL(sparse_kernels) = {
    .in_double = ROW(double),
    .in_float = ROW(float),
};
