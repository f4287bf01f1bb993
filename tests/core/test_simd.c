/* Vectors (core/simd.h) against scalars, for each instruction set of this processor. */

#include "testing.h"

#include <float.h>
#include <math.h>

#include "random_numbers.h"
#include "simd_functions.h"

static const struct simd_functions *functions_at(int64_t k, const char **name)
{
#define ADDRESS(isa) &simd_functions_##isa,
    static const struct simd_functions *const each[] = {KITH_EACH_ISA(ADDRESS)};
#undef ADDRESS
    const int64_t sets = sizeof each / sizeof each[0];
    int64_t count = 0;
    const kith_isa *list = kith_isa_list(&count);
    *name = k < sets ? list[k].name : "portable";
    if (k >= sets)
        return &simd_functions_portable;
    return list[k].supported ? each[k] : NULL;
}

/* Calls check with the functions of every set that runs here. */
static void for_each_set(void (*check)(const struct simd_functions *, struct random_numbers *),
                         struct random_numbers *random)
{
    int64_t count = 0;
    kith_isa_list(&count);
    for (int64_t k = 0; k <= count; k++) {
        const char *name = NULL;
        const struct simd_functions *functions = functions_at(k, &name);
        if (!functions)
            continue;
        printf("  %s\n", name);
        check(functions, random);
    }
}

#define DEFINE_CHECKS(real, epsilon, least_exponent, greatest_exponent)                            \
    /* The worst error in units of the last place, over the whole range of normal numbers. */      \
    static void check_rsqrt_##real(const struct simd_functions *functions,                         \
                                   struct random_numbers *random)                                  \
    {                                                                                              \
        double worst = 0;                                                                          \
        for (int turn = 0; turn < 20000; turn++) {                                                 \
            real x[simd_elements], y[simd_elements];                                               \
            for (int k = 0; k < simd_elements; k++)                                                \
                x[k] = (real)exp2(random_uniform(random, least_exponent, greatest_exponent));      \
            functions->rsqrt_##real(x, y);                                                         \
            for (int k = 0; k < simd_elements; k++) {                                              \
                const long double exact = 1 / sqrtl((long double)x[k]);                            \
                worst = worse_of(worst, (double)fabsl((y[k] - exact) / exact) / (double)epsilon);  \
            }                                                                                      \
        }                                                                                          \
        printf("    1/sqrt in " #real ": %.2f epsilon at most\n", worst);                          \
        assert_true(worst < 1);                                                                    \
    }                                                                                              \
                                                                                                   \
    /* x such that 1/sqrt(x)^3 is normal. */                                                       \
    static void check_rsqrt3_##real(const struct simd_functions *functions,                        \
                                    struct random_numbers *random)                                 \
    {                                                                                              \
        double worst = 0, worst_rough = 0;                                                         \
        for (int turn = 0; turn < 20000; turn++) {                                                 \
            real x[simd_elements], y[simd_elements], rough[simd_elements];                         \
            for (int k = 0; k < simd_elements; k++)                                                \
                x[k] = (real)exp2(                                                                 \
                    random_uniform(random, least_exponent * 0.66, greatest_exponent * 0.66));      \
            functions->rsqrt3_##real(x, y);                                                        \
            functions->rsqrt3_rough_##real(x, rough);                                              \
            for (int k = 0; k < simd_elements; k++) {                                              \
                const long double rsqrt = 1 / sqrtl((long double)x[k]);                            \
                const long double exact = rsqrt * rsqrt * rsqrt;                                   \
                worst = worse_of(worst, (double)fabsl((y[k] - exact) / exact));                    \
                worst_rough = worse_of(worst_rough, (double)fabsl((rough[k] - exact) / exact));    \
            }                                                                                      \
        }                                                                                          \
        printf("    1/sqrt^3 in " #real ": %.2f epsilon at most\n", worst / (double)epsilon);      \
        assert_true(worst < 3.5 * (double)epsilon);                                                \
        assert_true(worst_rough <= functions->rough_error_##real);                                 \
    }                                                                                              \
                                                                                                   \
    static void check_rsqrt_or_0_##real(const struct simd_functions *functions,                    \
                                        struct random_numbers *random)                             \
    {                                                                                              \
        double worst = 0;                                                                          \
        for (int turn = 0; turn < 20000; turn++) {                                                 \
            real x[simd_elements], y[simd_elements];                                               \
            for (int k = 0; k < simd_elements; k++)                                                \
                x[k] =                                                                             \
                    k == turn % simd_elements                                                      \
                        ? 0                                                                        \
                        : (real)exp2(random_uniform(random, least_exponent, greatest_exponent));   \
            functions->rsqrt_or_0_##real(x, y);                                                    \
            for (int k = 0; k < simd_elements; k++) {                                              \
                const long double exact = x[k] != 0 ? 1 / sqrtl((long double)x[k]) : 1;            \
                worst = x[k] != 0 ? fmax(worst, (double)fabsl((y[k] - exact) / exact)) : worst;    \
                assert_true(x[k] != 0 || y[k] == 0);                                               \
            }                                                                                      \
        }                                                                                          \
        assert_true(worst < 2.5 * (double)epsilon);                                                \
    }                                                                                              \
                                                                                                   \
    static void check_rest_##real(const struct simd_functions *functions,                          \
                                  struct random_numbers *random)                                   \
    {                                                                                              \
        real a[simd_elements], b[simd_elements], c[simd_elements];                                 \
        real fma_[simd_elements], unless[simd_elements];                                           \
        for (int k = 0; k < simd_elements; k++) {                                                  \
            a[k] = (real)random_uniform(random, -1, 1);                                            \
            b[k] = k % 3 ? (real)random_uniform(random, -1, 1) : a[k];                             \
            c[k] = (real)random_uniform(random, -1, 1);                                            \
        }                                                                                          \
        functions->fma_##real(a, b, c, fma_);                                                      \
        functions->unless_equal_##real(a, b, c, unless);                                           \
        for (int k = 0; k < simd_elements; k++) {                                                  \
            assert_true(fabs((double)(fma_[k] - (a[k] * b[k] + c[k]))) <= 2 * (double)epsilon);    \
            assert_true(unless[k] == (a[k] == b[k] ? 0 : c[k]));                                   \
        }                                                                                          \
    }

DEFINE_CHECKS(float, FLT_EPSILON, -125, 125)
DEFINE_CHECKS(double, DBL_EPSILON, -1020, 1020)

static void test_simd_rsqrt_is_exact_to_an_epsilon(void **state)
{
    for_each_set(check_rsqrt_float, *state);
    for_each_set(check_rsqrt_double, *state);
}

static void test_simd_rsqrt3_is_exact_to_a_few_epsilon(void **state)
{
    for_each_set(check_rsqrt3_float, *state);
    for_each_set(check_rsqrt3_double, *state);
}

static void test_simd_rsqrt_or_0_is_0_at_0(void **state)
{
    for_each_set(check_rsqrt_or_0_float, *state);
    for_each_set(check_rsqrt_or_0_double, *state);
}

static void test_simd_operations_are_those_of_scalars(void **state)
{
    for_each_set(check_rest_float, *state);
    for_each_set(check_rest_double, *state);
}

int main(void)
{
    struct random_numbers random = random_numbers_begin("simd");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_simd_rsqrt_is_exact_to_an_epsilon, &random),
        cmocka_unit_test_prestate(test_simd_rsqrt3_is_exact_to_a_few_epsilon, &random),
        cmocka_unit_test_prestate(test_simd_rsqrt_or_0_is_0_at_0, &random),
        cmocka_unit_test_prestate(test_simd_operations_are_those_of_scalars, &random),
    };
    return cmocka_run_group_tests_name("simd", tests, NULL, NULL);
}
