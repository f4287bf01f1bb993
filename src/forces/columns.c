#include "forces/columns.h"

#include <math.h>
#include <stddef.h>

#include "core/status.h"
#include "device/threads.h"

/* Columns are cut into blocks. */
enum { least_rows = 1 << 13, most_blocks = 64 };

static const double seconds_of_row = 1e-9;

/* The rows from begin on of what is being done to a column. Exact powers of two within a double's
 * normal range are a factor, which is faster; others are left to ldexp. */
struct work {
    const void *from;
    void *to;
    int64_t from_stride, to_stride; /* in elements */
    double factor, least;
    int exponent;
    double largest;
    bool good;
};

typedef void block_function(struct work *work, int64_t begin, int64_t end);

#define DEFINE_MEASURE(real)                                                                       \
    static void measure_##real(struct work *work, int64_t begin, int64_t end)                      \
    {                                                                                              \
        const real *from = work->from;                                                             \
        const double least = work->least;                                                          \
        double largest = 0;                                                                        \
        bool good = true;                                                                          \
        for (int64_t row = begin; row < end; row++) {                                              \
            const double value = (double)from[row * work->from_stride];                            \
            const double magnitude = fabs(value);                                                  \
            good = good && magnitude < (double)INFINITY && value >= least;                         \
            largest = magnitude > largest ? magnitude : largest;                                   \
        }                                                                                          \
        work->largest = largest;                                                                   \
        work->good = good;                                                                         \
    }

DEFINE_MEASURE(double)
DEFINE_MEASURE(float)

#define DEFINE_MULTIPLY(in, out)                                                                   \
    static void multiply_##in##_##out(struct work *work, int64_t begin, int64_t end)               \
    {                                                                                              \
        const in *from = work->from;                                                               \
        out *to = work->to;                                                                        \
        const double factor = work->factor, power = ldexp(1.0, work->exponent);                    \
        for (int64_t row = begin; row < end; row++)                                                \
            to[row * work->to_stride] =                                                            \
                (out)(factor * (double)from[row * work->from_stride] * power);                     \
    }                                                                                              \
                                                                                                   \
    static void multiply_far_##in##_##out(struct work *work, int64_t begin, int64_t end)           \
    {                                                                                              \
        const in *from = work->from;                                                               \
        out *to = work->to;                                                                        \
        for (int64_t row = begin; row < end; row++)                                                \
            to[row * work->to_stride] =                                                            \
                (out)ldexp(work->factor * (double)from[row * work->from_stride], work->exponent);  \
    }

DEFINE_MULTIPLY(double, double)
DEFINE_MULTIPLY(double, float)
DEFINE_MULTIPLY(float, double)
DEFINE_MULTIPLY(float, float)

static block_function *choose_multiply(kith_dtype in, kith_dtype out, int exponent)
{
    const bool far = exponent < -1000 || exponent > 1000;
    if (in == KITH_F64 && out == KITH_F64)
        return far ? multiply_far_double_double : multiply_double_double;
    if (in == KITH_F64)
        return far ? multiply_far_double_float : multiply_double_float;
    if (out == KITH_F64)
        return far ? multiply_far_float_double : multiply_float_double;
    return far ? multiply_far_float_float : multiply_float_float;
}

struct blocks {
    const struct work *work;
    block_function *function;
    int64_t rows, rows_each;
    struct work done[most_blocks]; /* copies of the work, with the results of each block */
};

static void do_block(void *argument, int64_t k)
{
    struct blocks *blocks = argument;
    const int64_t begin = k * blocks->rows_each, behind = begin + blocks->rows_each;
    blocks->done[k] = *blocks->work;
    blocks->function(&blocks->done[k], begin, behind < blocks->rows ? behind : blocks->rows);
}

/* Does the work on all rows. The largest of all blocks does not depend on how they are cut. */
static kith_status do_blocks(kith_context *context, struct work *work, block_function *function,
                             int64_t rows)
{
    if (rows <= least_rows) {
        function(work, 0, rows);
        return KITH_OK;
    }
    const int64_t shared = rows / most_blocks + 1;
    struct blocks blocks;
    blocks.work = work;
    blocks.function = function;
    blocks.rows = rows;
    blocks.rows_each = shared < least_rows ? least_rows : shared;
    const int64_t count = (rows + blocks.rows_each - 1) / blocks.rows_each;
    KITH_TRY(kith_for_each(context, kith_threads_for(context, (double)rows * seconds_of_row), count,
                           do_block, &blocks));
    work->good = true;
    for (int64_t k = 0; k < count; k++) {
        work->largest = fmax(work->largest, blocks.done[k].largest);
        work->good = work->good && blocks.done[k].good;
    }
    return KITH_OK;
}

/* NULL, which nothing may be added to, if there are no rows. */
static char *address_of(kith_array array, int64_t column)
{
    if (array.shape[0] == 0)
        return NULL;
    const int64_t offset = array.ndim == 2 ? column * array.strides[1] : 0;
    return (char *)array.data + offset * kith_dtype_bytes(array.dtype);
}

kith_status forces_column_measure(kith_context *context, kith_array array, int64_t column,
                                  double least, double *largest, bool *good)
{
    struct work work = {
        .from = address_of(array, column), .from_stride = array.strides[0], .least = least};
    KITH_TRY(do_blocks(context, &work, array.dtype == KITH_F64 ? measure_double : measure_float,
                       array.shape[0]));
    *largest = work.largest > *largest ? work.largest : *largest;
    *good = work.good;
    return KITH_OK;
}

kith_status forces_column_pack(kith_context *context, kith_array array, int64_t column,
                               double factor, kith_dtype dtype, void *to)
{
    struct work work = {.from = address_of(array, column),
                        .from_stride = array.strides[0],
                        .to = to,
                        .to_stride = 1,
                        .factor = factor};
    return do_blocks(context, &work, choose_multiply(array.dtype, dtype, 0), array.shape[0]);
}

kith_status forces_column_unpack(kith_context *context, kith_array array, int64_t column,
                                 double fraction, int exponent, kith_dtype dtype, const void *from)
{
    struct work work = {.from = from,
                        .from_stride = 1,
                        .to = address_of(array, column),
                        .to_stride = array.strides[0],
                        .factor = fraction,
                        .exponent = exponent};
    return do_blocks(context, &work, choose_multiply(dtype, array.dtype, exponent), array.shape[0]);
}
