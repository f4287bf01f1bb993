#include "device/combine.h"

#include "device/threads.h"

/* Longer arrays are shared out in blocks. */
enum { block_count = 1 << 13 };

/* Of an element, if memory is what it waits for. */
static const double seconds_of_element = 1e-9;

struct combination {
    int64_t count;
    int32_t terms;
    const double *factor;
    const void *const *in;
    void *out;
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

static void combine_block(void *argument, int64_t block)
{
    const struct combination *combination = argument;
    const int64_t begin = block * block_count, left = combination->count - begin;
    combination->combine(combination, begin, begin + (left < block_count ? left : block_count));
}

kith_status combine_cpu(kith_context *context, kith_dtype dtype, int64_t count, int32_t terms,
                        const double *factor, const void *const *in, void *out)
{
    struct combination combination = {
        count, terms, factor, in, out, dtype == KITH_F64 ? combine_double : combine_float};
    if (count > block_count)
        return kith_for_each(context, kith_threads_for(context, (double)count * seconds_of_element),
                             (count + block_count - 1) / block_count, combine_block, &combination);
    combination.combine(&combination, 0, count);
    return KITH_OK;
}
