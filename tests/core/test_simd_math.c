/* Functions of vectors (core/simd_math.h) against the C library's in long double, for each
 * instruction set of this processor and for the portable fallback. */

#include "testing.h"

#include <float.h>
#include <math.h>

#include "random_numbers.h"
#include "simd_math_functions.h"

static const char *const names[simd_math_count] = {"exp2", "exp", "log", "sqrt", "pow"};

static long double exact(int function, long double x, long double y)
{
    switch (function) {
    case simd_math_exp2:
        return exp2l(x);
    case simd_math_exp:
        return expl(x);
    case simd_math_log:
        return logl(x);
    case simd_math_sqrt:
        return sqrtl(x);
    default:
        return powl(x, y);
    }
}

/* Arguments whose results are normal numbers with exponents up to range. */
static double argument(struct random_numbers *random, int function, double range, double *y)
{
    *y = 0;
    switch (function) {
    case simd_math_exp2:
        return random_uniform(random, -range, range);
    case simd_math_exp:
        return random_uniform(random, -range, range) * log(2);
    case simd_math_pow: {
        const double exponent = random_uniform(random, -20, 20);
        *y = random_uniform(random, -range, range) / 21;
        return exp2(exponent);
    }
    default: /* near 1, and everywhere */
        return exp2(random_uniform(random, -1, 1) *
                    (random_uniform(random, 0, 1) < 0.5 ? range : 1));
    }
}

#define DEFINE_CHECKS(real, epsilon, range)                                                        \
    static void check_##real(simd_math_##real *function, int k, struct random_numbers *random)     \
    {                                                                                              \
        double worst = 0;                                                                          \
        for (int turn = 0; turn < 4000; turn++) {                                                  \
            real x[simd_math_elements], y[simd_math_elements], result[simd_math_elements];         \
            for (int lane = 0; lane < simd_math_elements; lane++) {                                \
                double power;                                                                      \
                x[lane] = (real)argument(random, k, range, &power);                                \
                y[lane] = (real)power;                                                             \
            }                                                                                      \
            function(x, y, result);                                                                \
            for (int lane = 0; lane < simd_math_elements; lane++) {                                \
                const long double e = exact(k, x[lane], y[lane]);                                  \
                if (e != 0)                                                                        \
                    worst =                                                                        \
                        worse_of(worst, (double)fabsl((result[lane] - e) / e) / (double)epsilon);  \
            }                                                                                      \
        }                                                                                          \
        printf("    %s in " #real ": %.2f epsilon at most\n", names[k], worst);                    \
        assert_true(worst < (k == simd_math_pow ? 4 : 1));                                         \
    }                                                                                              \
                                                                                                   \
    /* Beside ordinary arguments in the same vector: every special case is that of the C library,  \
     * but for the sign of a NaN. */                                                               \
    static void check_rare_##real(simd_math_##real *function, int k)                               \
    {                                                                                              \
        const real least = (real)(sizeof(real) == 4 ? (double)FLT_MIN : DBL_MIN);                  \
        const real rare[] = {0,                                                                    \
                             (real)-0.0,                                                           \
                             1,                                                                    \
                             -1,                                                                   \
                             least,                                                                \
                             least / 8,                                                            \
                             -least,                                                               \
                             INFINITY,                                                             \
                             -INFINITY,                                                            \
                             NAN,                                                                  \
                             (real)-1.2 * range,                                                   \
                             2 * range,                                                            \
                             3,                                                                    \
                             (real)(-range - 10.25)};                                              \
        for (size_t a = 0; a < sizeof rare / sizeof rare[0]; a++)                                  \
            for (size_t b = 0; b < sizeof rare / sizeof rare[0]; b++) {                            \
                real x[simd_math_elements], y[simd_math_elements], result[simd_math_elements];     \
                for (int lane = 0; lane < simd_math_elements; lane++)                              \
                    x[lane] = 2, y[lane] = 3;                                                      \
                x[5] = rare[a], y[5] = rare[b];                                                    \
                function(x, y, result);                                                            \
                const real e = (real)exact(k, x[5], y[5]);                                         \
                if (!(result[5] == e || (isnan(result[5]) && isnan(e)) ||                          \
                      (double)fabs((double)(result[5] - e)) <=                                     \
                          4 * (double)epsilon * fabs((double)e) + (double)least * epsilon))        \
                    fail_msg("%s(%g, %g) is %g, not %g", names[k], (double)x[5], (double)y[5],     \
                             (double)result[5], (double)e);                                        \
                const long double plain = exact(k, 2, 3);                                          \
                assert_true(fabsl(result[6] - plain) <=                                            \
                            (long double)(2 * (double)epsilon) * plain);                           \
            }                                                                                      \
    }

DEFINE_CHECKS(float, FLT_EPSILON, 125)
DEFINE_CHECKS(double, DBL_EPSILON, 1020)

static void check_set(const struct simd_math_functions *functions, const char *name,
                      struct random_numbers *random)
{
    printf("  %s\n", name);
    for (int k = 0; k < simd_math_count; k++) {
        check_float(functions->in_float[k], k, random);
        check_double(functions->in_double[k], k, random);
        check_rare_float(functions->in_float[k], k);
        check_rare_double(functions->in_double[k], k);
    }
}

static void test_simd_math_is_exact_to_an_epsilon(void **state)
{
    int64_t row = 0, count = 0;
    const kith_isa *list = kith_isa_list(&count);
#define CHECK(isa)                                                                                 \
    if (list[row++].supported)                                                                     \
        check_set(&simd_math_functions_##isa, #isa, *state);
    KITH_EACH_ISA(CHECK)
#undef CHECK
    check_set(&simd_math_functions_portable, "portable", *state);
}

int main(void)
{
    struct random_numbers random = random_numbers_begin("simd_math");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_simd_math_is_exact_to_an_epsilon, &random),
    };
    return cmocka_run_group_tests_name("simd_math", tests, NULL, NULL);
}
