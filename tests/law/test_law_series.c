/* The Taylor series of laws. */

#include <math.h>
#include <stdio.h>

#include "testing.h"

#include "law/law_reference.h"
#include "law/series.h"

/* Every function and operation of formulas, in a domain where they are smooth for r from 0.5 to 2.
 */
static const char *const texts[] = {
    "gravity",
    "coulomb",
    "power:2.5",
    "power:-3",
    "yukawa:0.7",
    "lennard-jones",
    "morse:1,2,1.1",
    "gaussian:0.8",
    "multiquadric:0.5",
    "thin-plate",
    "distance",
    "distance2",
    "product",
    "expr:exp(-r) + exp2(r2) - expm1(r / 3)",
    "expr:log(r + 2) * log2(1 + r) / log10(3 + r2)",
    "expr:log1p(r) - sqrt(1 + r) / sqrt(2 + r) + cbrt(r2 + r)",
    "expr:sin(r) * cos(2 * r) + tan(r / 3)",
    "expr:asin(r / 5) + acos(r2 / 9) * atan(3 * r)",
    "expr:sinh(r) / cosh(r2) + tanh(r - 1)",
    "expr:asinh(r) + acosh(2 + r) - atanh(r / 4)",
    "expr:erf(r) / r + erfc(r - 1) * erfc(2 * r) / r",
    "expr:fabs(r - 7) * fabs(r + 7)",
    "expr:floor(r / 9) + ceil(r / 9) * trunc(r / 9) + round(r / 9) + r",
    "expr:pow(r, 1.7) + pow(1 + r, r) - pow(r2 + 1, 3)",
    "expr:fmin(r, 9) + fmax(r2, -r)",
    "expr:atan2(r, 2 + r2) + hypot(r, 1 + r) + fmod(r + 30, 50)",
    "expr:r < 5 && !(r > 7) ? 1 / (1 + r2) : 3",
    "expr:-(r - 2 / r) * (3 - r2) / (1 + r * r2)"};

static void test_the_series_of_a_law_is_its_value_nearby(void **state)
{
    (void)state;
    enum { terms = 30, points = 3 };
    static const double s2[points] = {0.3, 1, 3.5}, steps[] = {-0.06, 0, 0.04};
    for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++) {
        kith_law *law = NULL;
        struct law_view view;
        double series[points][terms];
        assert_ok(kith_law_parse(texts[k], 0, NULL, &law));
        law_look(law, &view);
        assert_ok(law_series(&view, points, s2, terms, series[0]));
        for (int i = 0; i < points; i++)
            for (int j = 0; j < 3; j++) {
                const struct law_reference_pair pair = {{0}, s2[i] * (1 + steps[j]), 1, 1, 1, 1};
                double sum = 0, size = 0;
                for (int n = terms - 1; n >= 0; n--) {
                    sum = sum * steps[j] + series[i][n];
                    size = size * fabs(steps[j]) + fabs(series[i][n]);
                }
                if (!(fabs(sum - law_reference_value(&view, &pair)) <= 1e-13 * size))
                    fail_msg("%s at %g, %g", texts[k], s2[i], steps[j]);
            }
        kith_law_free(law);
    }
}

static void test_a_series_that_there_is_not_is_not_finite(void **state)
{
    (void)state;
    const double s2 = 4;
    double series[5];
    kith_law *law = NULL;
    struct law_view view;
    assert_ok(kith_law_parse("expr:sqrt(r - 2)", 0, NULL, &law));
    law_look(law, &view);
    assert_ok(law_series(&view, 1, &s2, 5, series));
    assert_true(isnan(series[1]));
    kith_law_free(law);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_series_of_a_law_is_its_value_nearby),
        cmocka_unit_test(test_a_series_that_there_is_not_is_not_finite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
