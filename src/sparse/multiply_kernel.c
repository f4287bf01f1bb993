/* Sparse products for one instruction set and real type. */

#include "sparse/multiply_kernel.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "core/memory.h"
#include "core/real.h"
#include "core/streaming.h"
#include "sparse/gather.h"

#define FMA(a, b, c) OF_REAL(SPARSE_FMA)(a, b, c)

#include "sparse/multiply_rows_body.h"

#include "sparse/multiply_bsr_body.h"
#include "sparse/multiply_csr_body.h"
#include "sparse/multiply_dia_body.h"
#include "sparse/multiply_filled_body.h"
#include "sparse/multiply_vectors_body.h"

#include "sparse/multiply_vectors_formats_body.h"

sparse_kernel *const KITH_REAL_SYMBOL(sparse_kernels)[sparse_kernel_count] = {
    [sparse_csr_rows] = csr_rows,
    [sparse_csr_rows_16] = csr_rows_16,
    [sparse_csr_lanes] = csr_lanes,
    [sparse_csr_lanes_16] = csr_lanes_16,
    [sparse_csr_merge] = csr_merge,
    [sparse_csr_merge_16] = csr_merge_16,
    [sparse_coo_entries] = coo_entries,
    [sparse_ell_rows] = ell_rows,
    [sparse_sell_slices] = sell_slices,
    [sparse_sell_slices_16] = sell_slices_16,
    [sparse_bsr_2] = bsr_2,
    [sparse_bsr_3] = bsr_3,
    [sparse_bsr_4] = bsr_4,
    [sparse_dia_tiles] = dia_tiles,
    [sparse_dia_symmetric] = dia_symmetric,
    [sparse_csr_vectors] = csr_vectors,
    [sparse_csr_vectors_16] = csr_vectors_16,
    [sparse_bsr_vectors_2] = bsr_vectors_2,
    [sparse_bsr_vectors_3] = bsr_vectors_3,
    [sparse_bsr_vectors_4] = bsr_vectors_4,
    [sparse_dia_vectors] = dia_vectors,
    [sparse_pack_vectors] = pack_vectors,
    [sparse_finish_piece] = finish_piece,
};
