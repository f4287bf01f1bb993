#ifndef TESTS_LAW_TESTING_H
#define TESTS_LAW_TESTING_H

/* What the tests of laws share: mpmath's table, and formulas. */

#include "testing.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "law/law_reference.h"

struct table_row {
    const char *law;
    struct {
        double d[3], softening, m_i, m_j, q_i, q_j;
    } pair;
    double value, factor;
};

static const struct table_row law_table[] = {
#include "law_table.inc"
};
enum { row_count = sizeof law_table / sizeof law_table[0], column_length = 64 };

static inline kith_law *law_of(const char *text)
{
    kith_law *law = NULL;
    assert_ok(kith_law_parse(text, 0, NULL, &law));
    return law;
}

static inline double s2_of(const struct table_row *row)
{
    const double *d = row->pair.d, e = row->pair.softening;
    return d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + e * e;
}

/* An error in s of some epsilon moves the value by s dV/ds of them. */
static inline void assert_agrees(const struct table_row *row, const char *who, double value,
                                 const double force[3], double epsilon)
{
    const double s2 = s2_of(row);
    const double scale = fabs(row->value) + s2 * fabs(row->factor);
    if (!(fabs(value - row->value) <= 8 * epsilon * scale))
        fail_msg("%s, %s: value is %.17g, not %.17g", who, row->law, value, row->value);
    for (int c = 0; c < 3; c++) {
        const double exact = row->factor * row->pair.d[c];
        if (!(fabs(force[c] - exact) <= 40 * epsilon * scale / s2 * fabs(row->pair.d[c])))
            fail_msg("%s, %s: force is %.17g, not %.17g", who, row->law, force[c], exact);
    }
}

/* Each function and operator once; eps = 0.25, L = 2.5. */
static const char *const formulas[] = {
    "-m_i*m_j/r",
    "-m_i*m_j/sqrt(r2 + eps*eps)",
    "q_i*q_j*exp(-r/L)/r",
    "4*(pow(r,-12) - pow(r,-6))/(1 + pow(m_i, 2.5))",
    "pow(r, 2.7) + pow(2, r) + pow(r, r/4) + exp2(-r) + expm1(r/5)",
    "log(r) + log2(r) + log10(r) + log1p(r) + cbrt(r) + r2",
    "sin(r) + cos(2*r) + tan(r/4) + asin(r/6) + acos(r/6) + atan(r)",
    "sinh(r/3) + cosh(r/3) + tanh(r) + asinh(r) + acosh(r + 2) + atanh(r/6)",
    "erf(r) + erfc(r/2)/r + fabs(r - 10) + fabs(r)",
    "fmin(r, 100) + fmax(r2, -3) + fmin(2*r, r2 + 40) + fmod(r, 50)",
    "atan2(dy, dx)*r + hypot(dz, r) + floor(r) + ceil(dx) + trunc(r) + round(r)",
    "r < 0.1 ? 7 : r2 >= 0.01 && !(r == 1) || dx != dy ? 1/r : 2",
    "(r < 100)*r2 + !(r > 0)",
    "m_i*m_j*(dx*dx*dx - 3*dx*dz)/pow(r, 5)",
    "exp(-r/eps)"};
enum { formula_count = sizeof formulas / sizeof formulas[0] };

static inline kith_law *law_of_formula(const char *formula)
{
    char text[300];
    const kith_law_parameter parameters[] = {{"eps", 0.25}, {"L", 2.5}};
    snprintf(text, sizeof text, "expr:%s", formula);
    kith_law *law = NULL;
    assert_ok(kith_law_parse(text, 2, parameters, &law));
    return law;
}

#endif
