/* What is listed of pairs of points of any number of dimensions. */

#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "pairs/arguments.h"
#include "pairs/kd_search.h"

static double difference(const struct pairs_problem *problem, int64_t i, int64_t j, int64_t c)
{
    const double xi = pairs_get(problem->targets, i, c), xj = pairs_get(problem->points, j, c);
    return problem->dtype == KITH_F32 ? (double)((float)xj - (float)xi) : xj - xi;
}

/* r² as the kernels compute it. */
#define DEFINE_SQUARE(real)                                                                        \
    static double square_##real(const struct pairs_problem *problem, int64_t i, int64_t j)         \
    {                                                                                              \
        const real scale = (real)(1 / problem->unit);                                              \
        real r2 = 0;                                                                               \
        for (int64_t c = 0; c < problem->dimensions; c++) {                                        \
            const real d = (real)difference(problem, i, j, c) * scale;                             \
            r2 = r2 + d * d;                                                                       \
        }                                                                                          \
        return (double)r2;                                                                         \
    }

DEFINE_SQUARE(float)
DEFINE_SQUARE(double)

/* In units of the largest difference, where squares neither underflow nor lose digits. */
static double safe_distance(const struct pairs_problem *problem, int64_t i, int64_t j)
{
    double largest = 0, r2 = 0;
    for (int64_t c = 0; c < problem->dimensions; c++)
        largest = fmax(largest, fabs(difference(problem, i, j, c)));
    if (largest == 0)
        return 0;
    const int exponent = ilogb(largest);
    for (int64_t c = 0; c < problem->dimensions; c++) {
        const double d = ldexp(difference(problem, i, j, c), -exponent);
        r2 += d * d;
    }
    const double distance = ldexp(sqrt(r2), exponent);
    return problem->dtype == KITH_F32 ? (double)(float)distance : distance;
}

double pairs_kd_distance(const struct pairs_problem *problem, int64_t i, int64_t j, double r2)
{
    if (r2 < pairs_kd_least_square(problem->dtype))
        return safe_distance(problem, i, j);
    if (problem->dtype == KITH_F32)
        return (double)(sqrtf((float)r2) * (float)problem->unit);
    return sqrt(r2) * problem->unit;
}

static void store_index(kith_array array, int64_t at, int64_t value)
{
    if (array.dtype == KITH_I32)
        ((int32_t *)array.data)[at] = (int32_t)value;
    else
        ((int64_t *)array.data)[at] = value;
}

static void store_real(kith_array array, int64_t at, double value)
{
    if (array.dtype == KITH_F32)
        ((float *)array.data)[at] = (float)value;
    else
        ((double *)array.data)[at] = value;
}

static void write_lengths(const struct pairs_problem *problem, int64_t i, int64_t j, int64_t at,
                          const kith_pairs *pairs)
{
    const int64_t dimensions = problem->dimensions;
    for (int64_t c = 0; pairs->vectors.data && c < dimensions; c++)
        store_real(pairs->vectors, at * dimensions + c, difference(problem, i, j, c));
    if (pairs->distances.data)
        store_real(pairs->distances, at,
                   pairs_kd_distance(problem, i, j,
                                     problem->dtype == KITH_F32 ? square_float(problem, i, j)
                                                                : square_double(problem, i, j)));
}

void pairs_kd_write_row(const struct pairs_problem *problem, int64_t i, const int32_t *partners,
                        int64_t count, const kith_pairs *pairs)
{
    const int64_t begin = ((const int64_t *)pairs->offsets.data)[i];
    for (int64_t k = 0; pairs->i.data && k < count; k++)
        store_index(pairs->i, begin + k, i);
    for (int64_t k = 0; pairs->j.data && k < count; k++)
        store_index(pairs->j, begin + k, partners[k]);
    if (pairs->shifts.data && count > 0)
        memset((int32_t *)pairs->shifts.data + begin * problem->dimensions, 0,
               (size_t)(count * problem->dimensions) * sizeof(int32_t));
    if (!pairs->vectors.data && !pairs->distances.data)
        return;
    for (int64_t k = 0; k < count; k++)
        write_lengths(problem, i, partners[k], begin + k, pairs);
}
