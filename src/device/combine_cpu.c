#include "device/combine.h"

#include <stddef.h>

#include "device/threads.h"

/* Longer arrays are shared out in blocks. */
enum { block_count = 1 << 13 };

/* Of an element, if memory limits the speed. */
static const double seconds_of_element = 1e-9;

struct combination {
    int64_t count;
    int32_t terms;
    const double *factor;
    const void *const *in;
    void *out, *lost; /* lost: only of accumulate */
    void (*combine)(const struct combination *combination, int64_t begin, int64_t end);
};

#define DEFINE_COMBINE(name, real)                                                                 \
    static void name(const struct combination *combination, int64_t begin, int64_t end)            \
    {                                                                                              \
        const int32_t terms = combination->terms;                                                  \
        const double *factor = combination->factor;                                                \
        const real f0 = (real)factor[0], f1 = terms > 1 ? (real)factor[1] : 0;                     \
        const real f2 = terms > 2 ? (real)factor[2] : 0, f3 = terms > 3 ? (real)factor[3] : 0;     \
        const real *a = combination->in[0], *b = terms > 1 ? combination->in[1] : a;               \
        const real *c = terms > 2 ? combination->in[2] : a;                                        \
        const real *d = terms > 3 ? combination->in[3] : a;                                        \
        real *result = combination->out;                                                           \
        if (terms == 2) {                                                                          \
            _Pragma("omp simd") for (int64_t i = begin; i < end; i++)                              \
            {                                                                                      \
                result[i] = f0 * a[i] + f1 * b[i];                                                 \
            }                                                                                      \
        } else {                                                                                   \
            _Pragma("omp simd") for (int64_t i = begin; i < end; i++)                              \
            {                                                                                      \
                result[i] = f0 * a[i] + f1 * b[i] + f2 * c[i] + f3 * d[i];                         \
            }                                                                                      \
        }                                                                                          \
    }

DEFINE_COMBINE(combine_double, double)
DEFINE_COMBINE(combine_float, float)

/* Kahan 1965, Commun. ACM 8, 40. Where a number is smaller than what is added to it, near 0, what
 * did not fit is rounded, by no more than the sum of the terms was. */
#define DEFINE_ACCUMULATE(name, real)                                                              \
    static void name(const struct combination *combination, int64_t begin, int64_t end)            \
    {                                                                                              \
        const int32_t terms = combination->terms;                                                  \
        const double *factor = combination->factor;                                                \
        const real f0 = (real)factor[0], f1 = terms > 1 ? (real)factor[1] : 0;                     \
        const real f2 = terms > 2 ? (real)factor[2] : 0, f3 = terms > 3 ? (real)factor[3] : 0;     \
        const real *a = combination->in[0], *b = terms > 1 ? combination->in[1] : a;               \
        const real *c = terms > 2 ? combination->in[2] : a;                                        \
        const real *d = terms > 3 ? combination->in[3] : a;                                        \
        real *to = combination->out, *lost = combination->lost;                                    \
        _Pragma("omp simd") for (int64_t i = begin; i < end; i++)                                  \
        {                                                                                          \
            real change = f0 * a[i];                                                               \
            if (terms > 1)                                                                         \
                change = change + f1 * b[i] + f2 * c[i] + f3 * d[i];                               \
            change += lost[i];                                                                     \
            const real sum = to[i] + change;                                                       \
            lost[i] = change - (sum - to[i]);                                                      \
            to[i] = sum;                                                                           \
        }                                                                                          \
    }

DEFINE_ACCUMULATE(accumulate_double, double)
DEFINE_ACCUMULATE(accumulate_float, float)

static void combine_block(void *argument, int64_t block)
{
    const struct combination *combination = argument;
    const int64_t begin = block * block_count, left = combination->count - begin;
    combination->combine(combination, begin, begin + (left < block_count ? left : block_count));
}

static kith_status run(kith_context *context, struct combination *combination)
{
    const int64_t count = combination->count;
    if (count > block_count)
        return kith_for_each(context, kith_threads_for(context, (double)count * seconds_of_element),
                             (count + block_count - 1) / block_count, combine_block, combination);
    combination->combine(combination, 0, count);
    return KITH_OK;
}

kith_status combine_cpu(kith_context *context, kith_dtype dtype, int64_t count, int32_t terms,
                        const double *factor, const void *const *in, void *out)
{
    struct combination combination = {
        count, terms, factor, in, out, NULL, dtype == KITH_F64 ? combine_double : combine_float};
    return run(context, &combination);
}

kith_status accumulate_cpu(kith_context *context, kith_dtype dtype, int64_t count, int32_t terms,
                           const double *factor, const void *const *in, void *to, void *lost)
{
    struct combination combination = {count,
                                      terms,
                                      factor,
                                      in,
                                      to,
                                      lost,
                                      dtype == KITH_F64 ? accumulate_double : accumulate_float};
    return run(context, &combination);
}
