#include "cpu/combine.h"

#include <stddef.h>

/* Arrays shorter than this are not worth waking threads for: even asking OpenMP not to costs more
 * than a step of a few bodies. Longer ones are shared out in blocks. */
enum { parallel_count = 1 << 16, block_count = 1 << 13 };

struct combination {
    int32_t terms;
    const double *factor;
    const void *const *in;
    void *out;
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

kith_status cpu_combine(kith_context *context, kith_dtype dtype, int64_t count, int32_t terms,
                        const double *factor, const void *const *in, void *out)
{
    const struct combination combination = {terms, factor, in, out};
    void (*const combine)(const struct combination *, int64_t, int64_t) =
        dtype == KITH_F64 ? combine_double : combine_float;
    if (count < parallel_count) {
        combine(&combination, 0, count);
        return KITH_OK;
    }

#pragma omp parallel for num_threads(kith_context_threads(context)) schedule(static)
    for (int64_t begin = 0; begin < count; begin += block_count)
        combine(&combination, begin, begin + block_count < count ? begin + block_count : count);
    return KITH_OK;
}
