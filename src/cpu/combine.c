#include "cpu/combine.h"

#include <stddef.h>

/* Arrays shorter than this are not worth waking threads for. */
enum { parallel_count = 1 << 16 };

#define DEFINE_COMBINE(name, real)                                                                   \
    static void name(int32_t threads, int64_t count, int32_t terms, const double *factor,            \
                     const void *const *in, void *out)                                               \
    {                                                                                                \
        const real f0 = (real)factor[0], f1 = terms > 1 ? (real)factor[1] : 0;                       \
        const real f2 = terms > 2 ? (real)factor[2] : 0, f3 = terms > 3 ? (real)factor[3] : 0;       \
        const real *a = in[0], *b = terms > 1 ? in[1] : a;                                           \
        const real *c = terms > 2 ? in[2] : a, *d = terms > 3 ? in[3] : a;                           \
        real *result = out;                                                                          \
        if (terms == 2) {                                                                            \
            _Pragma("omp parallel for simd num_threads(threads) if (count >= parallel_count)") for ( \
                int64_t i = 0; i < count; i++) result[i] = f0 * a[i] + f1 * b[i];                    \
        } else {                                                                                     \
            _Pragma("omp parallel for simd num_threads(threads) if (count >= parallel_count)") for ( \
                int64_t i = 0; i < count; i++) result[i] =                                           \
                f0 * a[i] + f1 * b[i] + f2 * c[i] + f3 * d[i];                                       \
        }                                                                                            \
    }

DEFINE_COMBINE(combine_double, double)
DEFINE_COMBINE(combine_float, float)

kith_status cpu_combine(kith_context *context, kith_dtype dtype, int64_t count, int32_t terms,
                        const double *factor, const void *const *in, void *out)
{
    const int32_t threads = kith_context_threads(context);
    if (dtype == KITH_F64)
        combine_double(threads, count, terms, factor, in, out);
    else
        combine_float(threads, count, terms, factor, in, out);
    return KITH_OK;
}
