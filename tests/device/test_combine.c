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

/* out[i] = Σ_k factor[k]·in[k][i], written over the last of the inputs; past count nothing moves.
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

/* A thousand times the same terms: with what did not fit, the sum has only their errors. */
static void check_accumulation(kith_context *context, kith_dtype dtype, int64_t count, int terms)
{
    enum { times = 1000 };
    const double factor[4] = {0.1, -0.7, 0.3, 0.9};
    const double unit = dtype == KITH_F64 ? 0x1p-53 : 0x1p-24;
    void *in[4], *to = malloc(most * sizeof(double)), *lost = calloc(most, sizeof(double));
    for (int k = 0; k < 4; k++) {
        in[k] = malloc(most * sizeof(double));
        fill(in[k], dtype, k);
    }
    fill(to, dtype, 4);
    for (int step = 0; step < times; step++)
        assert_ok(accumulate_cpu(context, dtype, count, terms, factor, (const void *const *)in, to,
                                 lost));
    for (int64_t i = 0; i < count; i++) {
        double change = 0, size = 0;
        for (int k = 0; k < terms; k++) {
            const double f = dtype == KITH_F64 ? factor[k] : (double)(float)factor[k];
            change += f * number_at(in[k], dtype, i);
            size += fabs(f);
        }
        /* The rounding of the terms each time, and that of the sum once. */
        const double start = dtype == KITH_F64 ? term(4, i) : (double)(float)term(4, i);
        const double bound = times * 8 * unit * size + 2 * unit * fabs(start);
        const double sum = number_at(to, dtype, i);
        if (!(fabs((sum - start) + number_at(lost, dtype, i) - times * change) <= bound))
            fail_msg("%d terms, number %lld: %g is added to %g", terms, (long long)i, change, sum);
    }
    for (int k = 0; k < 4; k++)
        free(in[k]);
    free(to);
    free(lost);
}

/* Each term is rounded alike, and a plain sum is off by three million times that. */
static void test_what_does_not_fit_into_a_sum_is_not_lost(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1);
    double to = 1, lost = 0, plain = 1;
    const double step = 1, small = 1e-7 / 3;
    const void *const in[] = {&small};
    for (int k = 0; k < 3000000; k++) {
        assert_ok(accumulate_cpu(context, KITH_F64, 1, 1, &step, in, &to, &lost));
        plain += small;
    }
    assert_true(fabs(to - 1.1) <= 0x1p-52);
    assert_true(fabs(plain - 1.1) > 1e-13);
    kith_context_free(context);
}

static void test_compensated_sums_are_those_of_their_terms_at_every_length(void **state)
{
    (void)state;
    const int64_t counts[] = {0, 1, 7, 64, 1000, most - 1};
    for (int32_t threads = 1; threads <= 3; threads += 2) {
        kith_context *context = cpu_context(threads);
        for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++)
            for (int terms = 1; terms <= 4; terms++) {
                check_accumulation(context, KITH_F64, counts[c], terms);
                check_accumulation(context, KITH_F32, counts[c], terms);
            }
        kith_context_free(context);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_combinations_are_the_sum_of_the_terms_at_every_length),
        cmocka_unit_test(test_what_does_not_fit_into_a_sum_is_not_lost),
        cmocka_unit_test(test_compensated_sums_are_those_of_their_terms_at_every_length),
    };
    return cmocka_run_group_tests_name("combine", tests, NULL, NULL);
}
