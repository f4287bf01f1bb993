/* Rows of an array measured, packed to columns and unpacked, for one instruction set: plain loops
 * that compilers turn into vectors. */

#include "forces/columns_kernel.h"

#include <math.h>
#include <string.h>

#include "core/simd.h"

/* The bits of magnitudes are in the order of the magnitudes, those of infinity and NaN last. */
#define DEFINE_MEASURE(real, bits_of, magnitude_bits)                                              \
    SIMD_INLINE void measure_column_##real(const real *from, const int64_t stride, int64_t count,  \
                                           real least, bits_of *largest, bits_of *below)           \
    {                                                                                              \
        bits_of most = *largest, any = *below;                                                     \
        for (int64_t k = 0; k < count; k++) {                                                      \
            bits_of bits;                                                                          \
            memcpy(&bits, from + k * stride, sizeof bits);                                         \
            bits &= (magnitude_bits);                                                              \
            most = bits > most ? bits : most;                                                      \
            any |= from[k * stride] < least;                                                       \
        }                                                                                          \
        *largest = most;                                                                           \
        *below = any;                                                                              \
    }                                                                                              \
                                                                                                   \
    static void measure_##real(struct forces_rows *rows, int64_t begin, int64_t end)               \
    {                                                                                              \
        const real *from = (const real *)rows->array + begin * rows->row_stride;                   \
        const int64_t count = end - begin;                                                         \
        bits_of bits = 0, below = 0;                                                               \
        real largest = 0, least = (real)rows->least;                                               \
        if (rows->is_dense)                                                                        \
            measure_column_##real(from, 1, count * rows->columns, least, &bits, &below);           \
        for (int32_t c = 0; !rows->is_dense && c < rows->columns; c++)                             \
            measure_column_##real(from + c * rows->column_stride, rows->row_stride, count, least,  \
                                  &bits, &below);                                                  \
        memcpy(&largest, &bits, sizeof largest);                                                   \
        rows->largest = (double)largest;                                                           \
        rows->good = !below && isfinite(largest);                                                  \
    }

DEFINE_MEASURE(double, int64_t, INT64_MAX)
DEFINE_MEASURE(float, int32_t, INT32_MAX)

/* A column of an array to a packed one or back, or where rows are dense all columns together, whose
 * numbers are then read and written as vectors. far: 2^exponent is no factor, and slow. */
struct way {
    int32_t columns;    /* at once */
    int64_t row_stride; /* constant once inlined, as columns is */
    bool unpacks, far;
};

#define SCALED(real, value)                                                                        \
    ((real)(way.far ? ldexp(factor * (double)(value), exponent) : factor * (double)(value)*power))
#define MOVE_COLUMN(c, array_real, column_real)                                                    \
    do {                                                                                           \
        if ((c) < way.columns && way.unpacks)                                                      \
            array[row * way.row_stride + (c)] = SCALED(array_real, column_##c[row]);               \
        else if ((c) < way.columns)                                                                \
            column_##c[row] = SCALED(column_real, array[row * way.row_stride + (c)]);              \
    } while (0)

#define DEFINE_MOVE(pair, array_real, column_real)                                                 \
    SIMD_INLINE void move_##pair(const struct way way, const struct forces_rows *rows, int32_t c,  \
                                 int64_t begin, int64_t end)                                       \
    {                                                                                              \
        array_real *restrict array = (array_real *)rows->array + c * rows->column_stride;          \
        column_real *restrict column_0 = rows->column[c];                                          \
        column_real *restrict column_1 = rows->column[1], *restrict column_2 = rows->column[2];    \
        const double factor = rows->factor, power = way.far ? 1 : ldexp(1.0, rows->exponent);      \
        const int exponent = rows->exponent;                                                       \
        for (int64_t row = begin; row < end; row++) {                                              \
            MOVE_COLUMN(0, array_real, column_real);                                               \
            MOVE_COLUMN(1, array_real, column_real);                                               \
            MOVE_COLUMN(2, array_real, column_real);                                               \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    SIMD_INLINE void move_any_##pair(const bool unpacks, const struct forces_rows *rows,           \
                                     int64_t begin, int64_t end)                                   \
    {                                                                                              \
        const bool far = rows->exponent < -1000 || rows->exponent > 1000;                          \
        const bool dense = rows->is_dense && !far;                                                 \
        if (dense && rows->columns == 3)                                                           \
            move_##pair((struct way){3, 3, unpacks, false}, rows, 0, begin, end);                  \
        else if (dense && rows->columns == 2)                                                      \
            move_##pair((struct way){2, 2, unpacks, false}, rows, 0, begin, end);                  \
        else if (dense && rows->columns == 1)                                                      \
            move_##pair((struct way){1, 1, unpacks, false}, rows, 0, begin, end);                  \
        for (int32_t c = 0; !dense && c < rows->columns; c++)                                      \
            if (far)                                                                               \
                move_##pair((struct way){1, rows->row_stride, unpacks, true}, rows, c, begin,      \
                            end);                                                                  \
            else                                                                                   \
                move_##pair((struct way){1, rows->row_stride, unpacks, false}, rows, c, begin,     \
                            end);                                                                  \
    }                                                                                              \
                                                                                                   \
    static void pack_##pair(struct forces_rows *rows, int64_t begin, int64_t end)                  \
    {                                                                                              \
        move_any_##pair(false, rows, begin, end);                                                  \
    }                                                                                              \
                                                                                                   \
    static void unpack_##pair(struct forces_rows *rows, int64_t begin, int64_t end)                \
    {                                                                                              \
        move_any_##pair(true, rows, begin, end);                                                   \
    }

DEFINE_MOVE(double, double, double)
DEFINE_MOVE(float, float, float)
DEFINE_MOVE(float_in_double, float, double)

const struct forces_rows_kernels KITH_ISA_SYMBOL(forces_rows) = {
    .measure = {[KITH_F64] = measure_double, [KITH_F32] = measure_float},
    .pack = {[KITH_F64] = {[KITH_F64] = pack_double},
             [KITH_F32] = {[KITH_F64] = pack_float_in_double, [KITH_F32] = pack_float}},
    .unpack = {[KITH_F64] = {[KITH_F64] = unpack_double},
               [KITH_F32] = {[KITH_F64] = unpack_float_in_double, [KITH_F32] = unpack_float}},
};
