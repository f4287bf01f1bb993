#include "simulating.h"

#include <stdlib.h>

#include "device/combine.h"

enum { most = 100001 }; /* long enough to be shared out among threads, and not a whole block */

static double term(int k, int64_t i)
{
    return sin((double)(i + 1) * (k + 1));
}

static double number_at(const void *array, kith_dtype dtype, int64_t i)
{
    return dtype == KITH_F64 ? ((const double *)array)[i] : (double)((const float *)array)[i];
}

static void fill(void *array, kith_dtype dtype, int k)
{
    for (int64_t i = 0; i < most; i++)
        if (dtype == KITH_F64)
            ((double *)array)[i] = term(k, i);
        else
            ((float *)array)[i] = (float)term(k, i);
}

/* out[i] = Σ_k factor[k]·in[k][i], written over the last of the inputs; behind count nothing moves.
 */
static void check_combination(kith_context *context, kith_dtype dtype, int64_t count, int terms)
{
    const double factor[4] = {1, -0.5, 0.25, 2};
    const double tolerance = dtype == KITH_F64 ? 1e-15 : 1e-6;
    void *in[4];
    for (int k = 0; k < 4; k++) {
        in[k] = malloc(most * sizeof(double));
        fill(in[k], dtype, k);
    }
    void *out = in[terms - 1];
    const double behind = number_at(out, dtype, count);
    assert_ok(combine_cpu(context, dtype, count, terms, factor, (const void *const *)in, out));
    for (int64_t i = 0; i < count; i++) {
        double expected = 0;
        for (int k = 0; k < terms; k++)
            expected += factor[k] * term(k, i);
        if (!(fabs(number_at(out, dtype, i) - expected) <= tolerance))
            fail_msg("%d terms, number %lld of %lld: %g, not %g", terms, (long long)i,
                     (long long)count, number_at(out, dtype, i), expected);
    }
    assert_true(number_at(out, dtype, count) == behind);
    for (int k = 0; k < 4; k++)
        free(in[k]);
}

static void test_combinations_are_the_sum_of_the_terms_at_every_length(void **state)
{
    (void)state;
    const int64_t counts[] = {0, 1, 7, 64, 1000, 65535, 65536, most - 1};
    for (int32_t threads = 1; threads <= 3; threads += 2) {
        kith_context *context = cpu_context(threads);
        for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++)
            for (int terms = 1; terms <= 4; terms++) {
                check_combination(context, KITH_F64, counts[c], terms);
                check_combination(context, KITH_F32, counts[c], terms);
            }
        kith_context_free(context);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_combinations_are_the_sum_of_the_terms_at_every_length),
    };
    return cmocka_run_group_tests_name("combine", tests, NULL, NULL);
}
