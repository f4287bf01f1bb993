#include "forces/columns.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "core/memory.h"
#include "core/status.h"
#include "device/arrays.h"
#include "device/context.h"
#include "device/threads.h"
#include "forces/columns_kernel.h"

/* Arrays are cut into blocks of rows. */
enum { least_rows = 1 << 13, most_blocks = 64 };

static const double seconds_of_number = 1e-9;

static const struct forces_rows_kernels *kernels_of(const kith_context *context)
{
#define ADDRESS(isa) &forces_rows_##isa,
    static const struct forces_rows_kernels *const each_isa[] = {KITH_EACH_ISA(ADDRESS)};
#undef ADDRESS
    return each_isa[context->isa];
}

struct blocks {
    const struct forces_rows *rows;
    forces_rows_kernel *kernel;
    int64_t count, each;
    struct forces_rows done[most_blocks]; /* copies, with the results of each block */
};

static void do_block(void *argument, int64_t k)
{
    struct blocks *blocks = argument;
    const int64_t begin = k * blocks->each, end = begin + blocks->each;
    blocks->done[k] = *blocks->rows;
    blocks->kernel(&blocks->done[k], begin, end < blocks->count ? end : blocks->count);
}

/* Does the work on this many rows. The largest of all blocks does not depend on how they are cut.
 */
static kith_status do_blocks(kith_context *context, struct forces_rows *rows,
                             forces_rows_kernel *kernel, int64_t count)
{
    if (count <= least_rows) {
        kernel(rows, 0, count);
        return KITH_OK;
    }
    const int64_t shared = count / most_blocks + 1;
    const double seconds = (double)count * rows->columns * seconds_of_number;
    struct blocks blocks;
    blocks.rows = rows;
    blocks.kernel = kernel;
    blocks.count = count;
    blocks.each = shared < least_rows ? least_rows : shared;
    const int64_t block_count = (count + blocks.each - 1) / blocks.each;
    KITH_TRY(
        kith_for_each(context, kith_threads_for(context, seconds), block_count, do_block, &blocks));
    rows->good = true;
    for (int64_t k = 0; k < block_count; k++) {
        rows->largest = fmax(rows->largest, blocks.done[k].largest);
        rows->good = rows->good && blocks.done[k].good;
    }
    return KITH_OK;
}

static struct forces_rows rows_of(const kith_array *array)
{
    const bool is_matrix = array->ndim == 2;
    struct forces_rows rows = {.array = array->data,
                               .row_stride = array->strides[0],
                               .column_stride = is_matrix ? array->strides[1] : 1,
                               .columns = is_matrix ? (int32_t)array->shape[1] : 1};
    rows.is_dense = rows.row_stride == rows.columns && rows.column_stride == 1;
    return rows;
}

kith_status forces_measure(kith_context *context, kith_array array, double least, double *largest,
                           bool *good)
{
    struct forces_rows rows = rows_of(&array);
    rows.least = least;
    rows.good = true;
    if (array.shape[0] > 0)
        KITH_TRY(
            do_blocks(context, &rows, kernels_of(context)->measure[array.dtype], array.shape[0]));
    *largest = rows.largest > *largest ? rows.largest : *largest;
    *good = rows.good;
    return KITH_OK;
}

/* Kernels read past the last row, where another problem may have left any value. */
static void clear_padding(kith_dtype dtype, void *column, int64_t rows)
{
    const int64_t bytes = kith_dtype_bytes(dtype);
    if (kith_padded(rows) > rows)
        memset((char *)column + rows * bytes, 0, (size_t)((kith_padded(rows) - rows) * bytes));
}

kith_status forces_pack_columns(kith_context *context, kith_array array, int exponent,
                                kith_dtype dtype, const void *const *columns)
{
    struct forces_rows rows = rows_of(&array);
    rows.factor = 1;
    rows.exponent = exponent;
    for (int32_t c = 0; c < rows.columns; c++) {
        rows.column[c] = (void *)columns[c];
        clear_padding(dtype, rows.column[c], array.shape[0]);
    }
    return array.shape[0] > 0
               ? do_blocks(context, &rows, kernels_of(context)->pack[array.dtype][dtype],
                           array.shape[0])
               : KITH_OK;
}

kith_status forces_unpack_columns(kith_context *context, kith_array array, double fraction,
                                  int exponent, kith_dtype dtype, void *const *columns)
{
    struct forces_rows rows = rows_of(&array);
    rows.factor = fraction;
    rows.exponent = exponent;
    memcpy(rows.column, columns, (size_t)rows.columns * sizeof *columns);
    return array.shape[0] > 0
               ? do_blocks(context, &rows, kernels_of(context)->unpack[array.dtype][dtype],
                           array.shape[0])
               : KITH_OK;
}
