#include "law/series.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "law/formula.h"

/* Series are arrays of `terms` coefficients; `to` must not be one of the arguments. */

/* Σ_k k a_k b_{n − k} / n: coefficient n of the integral of a' b. */
static double integral(int32_t n, const double *a, const double *b)
{
    double sum = 0;
    for (int32_t k = 1; k <= n; k++)
        sum += k * a[k] * b[n - k];
    return sum / n;
}

static double product(int32_t n, const double *a, const double *b)
{
    double sum = 0;
    for (int32_t k = 0; k <= n; k++)
        sum += a[k] * b[n - k];
    return sum;
}

static void multiply(int32_t terms, const double *a, const double *b, double *to)
{
    for (int32_t n = 0; n < terms; n++)
        to[n] = product(n, a, b);
}

static void divide(int32_t terms, const double *a, const double *b, double *to)
{
    for (int32_t n = 0; n < terms; n++) {
        double sum = a[n];
        for (int32_t k = 0; k < n; k++)
            sum -= to[k] * b[n - k];
        to[n] = sum / b[0];
    }
}

/* a^exponent; to[0] is there. a y' = exponent a' y. */
static void raise_to(int32_t terms, const double *a, double exponent, double *to)
{
    for (int32_t n = 1; n < terms; n++) {
        double sum = 0;
        for (int32_t k = 1; k <= n; k++)
            sum += (k * exponent - (n - k)) * a[k] * to[n - k];
        to[n] = sum / (n * a[0]);
    }
}

/* e^(factor a); to[0] is there. */
static void exponential(int32_t terms, const double *a, double factor, double *to)
{
    for (int32_t n = 1; n < terms; n++)
        to[n] = factor * integral(n, a, to);
}

/* sin and cos, or with sign = 1 sinh and cosh, of a; to is the first or the second. */
static void sine(int32_t terms, const double *a, double sign, bool is_first, double *to,
                 double *other)
{
    double *const first = is_first ? to : other, *const second = is_first ? other : to;
    first[0] = sign > 0 ? sinh(a[0]) : sin(a[0]);
    second[0] = sign > 0 ? cosh(a[0]) : cos(a[0]);
    for (int32_t n = 1; n < terms; n++) {
        first[n] = integral(n, a, second);
        second[n] = sign * integral(n, a, first);
    }
}

/* tan, or with sign = −1 tanh: y' = (1 + sign y²) a'; to[0] is there. */
static void tangent(int32_t terms, const double *a, double sign, double *to, double *slope)
{
    slope[0] = 1 + sign * to[0] * to[0];
    for (int32_t n = 1; n < terms; n++) {
        to[n] = integral(n, a, slope);
        slope[n] = sign * product(n, to, to);
    }
}

/* to[0] is there, and dy/da as (one + sign a²)^exponent. */
static void by_slope(int32_t terms, const double *a, double one, double sign, double exponent,
                     double factor, double *to, double *work)
{
    double *const square = work, *const slope = work + terms;
    multiply(terms, a, a, square);
    for (int32_t n = 0; n < terms; n++)
        square[n] = (n == 0 ? one : 0) + sign * square[n];
    slope[0] = pow(square[0], exponent);
    raise_to(terms, square, exponent, slope);
    for (int32_t n = 1; n < terms; n++)
        to[n] = factor * integral(n, a, slope);
}

/* factor e^(−a²) is dy/da. */
static void error_function(int32_t terms, const double *a, double factor, double *to, double *work)
{
    double *const square = work, *const slope = work + terms;
    multiply(terms, a, a, square);
    slope[0] = exp(-square[0]);
    exponential(terms, square, -1, slope);
    for (int32_t n = 1; n < terms; n++)
        to[n] = factor * integral(n, a, slope);
}

/* factor log(shift + a); to[0] is there. */
static void logarithm(int32_t terms, const double *a, double shift, double factor, double *to)
{
    for (int32_t n = 1; n < terms; n++) {
        double sum = n * a[n];
        for (int32_t k = 1; k < n; k++)
            sum -= k * to[k] / factor * a[n - k];
        to[n] = factor * sum / (n * (shift + a[0]));
    }
}

static void copy(int32_t terms, const double *a, double factor, double *to)
{
    for (int32_t n = 1; n < terms; n++)
        to[n] = factor * a[n];
}

/* a^b of series. */
static void power_of(int32_t terms, const double *a, const double *b, double *to, double *work)
{
    bool is_constant = true;
    for (int32_t n = 1; n < terms; n++)
        is_constant &= b[n] == 0;
    if (is_constant) {
        raise_to(terms, a, b[0], to);
        return;
    }
    double *const log_a = work, *const exponent = work + terms;
    log_a[0] = log(a[0]);
    logarithm(terms, a, 0, 1, log_a);
    multiply(terms, b, log_a, exponent);
    exponential(terms, exponent, 1, to);
}

/* The angle of (x, y), whose derivative is (x y' − y x') / (x² + y²). */
static void angle(int32_t terms, const double *y, const double *x, double *to, double *work)
{
    double *const square = work, *const slope = work + terms;
    for (int32_t n = 0; n < terms; n++)
        square[n] = product(n, x, x) + product(n, y, y);
    for (int32_t n = 0; n + 1 < terms; n++) {
        double sum = 0;
        for (int32_t k = 0; k <= n; k++)
            sum += (k + 1) * (x[n - k] * y[k + 1] - y[n - k] * x[k + 1]);
        for (int32_t k = 0; k < n; k++)
            sum -= slope[k] * square[n - k];
        slope[n] = sum / square[0];
        to[n + 1] = slope[n] / (n + 1);
    }
}

static void length_of(int32_t terms, const double *a, const double *b, double *to, double *work)
{
    for (int32_t n = 0; n < terms; n++)
        work[n] = product(n, a, a) + product(n, b, b);
    raise_to(terms, work, 0.5, to);
}

/* to[0] is there; work has room for two series. */
static void call(enum formula_function function, int32_t terms, const double *a, const double *b,
                 double *to, double *work)
{
    const double of_erf = 2 / sqrt(acos(-1));
    switch (function) {
    case formula_exp:
        exponential(terms, a, 1, to);
        break;
    case formula_exp2:
        exponential(terms, a, log(2), to);
        break;
    case formula_expm1:
        to[0] += 1;
        exponential(terms, a, 1, to);
        to[0] = expm1(a[0]);
        break;
    case formula_log:
        logarithm(terms, a, 0, 1, to);
        break;
    case formula_log2:
        logarithm(terms, a, 0, 1 / log(2), to);
        break;
    case formula_log10:
        logarithm(terms, a, 0, 1 / log(10), to);
        break;
    case formula_log1p:
        logarithm(terms, a, 1, 1, to);
        break;
    case formula_sqrt:
        raise_to(terms, a, 0.5, to);
        break;
    case formula_rsqrt:
        raise_to(terms, a, -0.5, to);
        break;
    case formula_cbrt:
        raise_to(terms, a, 1.0 / 3, to);
        break;
    case formula_sin:
    case formula_cos:
        sine(terms, a, -1, function == formula_sin, to, work);
        break;
    case formula_sinh:
    case formula_cosh:
        sine(terms, a, 1, function == formula_sinh, to, work);
        break;
    case formula_tan:
        tangent(terms, a, 1, to, work);
        break;
    case formula_tanh:
        tangent(terms, a, -1, to, work);
        break;
    case formula_asin:
        by_slope(terms, a, 1, -1, -0.5, 1, to, work);
        break;
    case formula_acos:
        by_slope(terms, a, 1, -1, -0.5, -1, to, work);
        break;
    case formula_atan:
        by_slope(terms, a, 1, 1, -1, 1, to, work);
        break;
    case formula_asinh:
        by_slope(terms, a, 1, 1, -0.5, 1, to, work);
        break;
    case formula_acosh:
        by_slope(terms, a, -1, 1, -0.5, 1, to, work);
        break;
    case formula_atanh:
        by_slope(terms, a, 1, -1, -1, 1, to, work);
        break;
    case formula_erf:
        error_function(terms, a, of_erf, to, work);
        break;
    case formula_erfc:
        error_function(terms, a, -of_erf, to, work);
        break;
    case formula_fabs:
        copy(terms, a, a[0] < 0 ? -1 : 1, to);
        break;
    case formula_fmin:
        copy(terms, a[0] < b[0] ? a : b, 1, to);
        break;
    case formula_fmax:
        copy(terms, a[0] > b[0] ? a : b, 1, to);
        break;
    case formula_pow:
        power_of(terms, a, b, to, work);
        break;
    case formula_atan2:
        angle(terms, a, b, to, work);
        break;
    case formula_hypot:
        length_of(terms, a, b, to, work);
        break;
    case formula_fmod:
        for (int32_t n = 1; n < terms; n++)
            to[n] = a[n] - trunc(a[0] / b[0]) * b[n];
        break;
    default: /* floor, ceil, trunc, round */
        break;
    }
}

struct series_run {
    const struct law_view *view;
    int32_t terms;
    double *values; /* of all nodes */
    double *work;   /* of two series */
};

static double *series_of(const struct series_run *run, int32_t node)
{
    return run->values + (int64_t)node * run->terms;
}

/* What is made of other nodes. */
static void apply(const struct series_run *run, const struct formula_node *node, double *to)
{
    const int32_t terms = run->terms;
    const double *of[3] = {to, to, to}; /* absent arguments are not read */
    double first[3] = {0};
    for (int c = 0; c < 3; c++)
        if (node->argument[c] >= 0) {
            of[c] = series_of(run, node->argument[c]);
            first[c] = of[c][0];
        }
    to[0] = formula_apply((enum formula_operation)node->operation, node->which, first);
    switch (node->operation) {
    case formula_add:
    case formula_subtract:
        for (int32_t n = 1; n < terms; n++)
            to[n] = of[0][n] + (node->operation == formula_add ? of[1][n] : -of[1][n]);
        break;
    case formula_multiply:
        multiply(terms, of[0], of[1], to);
        break;
    case formula_divide:
        divide(terms, of[0], of[1], to);
        break;
    case formula_negate:
        copy(terms, of[0], -1, to);
        break;
    case formula_power:
        multiply(terms, of[1], of[2], to);
        break;
    case formula_call:
        call((enum formula_function)node->which, terms, of[0], of[1], to, run->work);
        break;
    case formula_select:
        copy(terms, first[0] != 0 ? of[1] : of[2], 1, to);
        break;
    default: /* truths */
        break;
    }
}

static void expand(const struct series_run *run, double s2)
{
    const struct law_formula *formula = run->view->value;
    const struct formula_list *list = &formula->needed[formula_wants_value];
    for (int32_t k = 0; k < list->count; k++) {
        const struct formula_node *node = &formula->nodes[list->nodes[k]];
        double *to = series_of(run, list->nodes[k]);
        memset(to, 0, (size_t)run->terms * sizeof *to);
        if (node->operation == formula_number)
            to[0] = node->number;
        else if (node->operation == formula_variable)
            to[0] = 1;
        else if (node->operation == formula_parameter)
            to[0] = run->view->parameter[node->which];
        else if (node->operation == formula_power_of_r) {
            to[0] = pow(s2, 0.5 * node->which);
            for (int32_t n = 1; n < run->terms; n++)
                to[n] = to[n - 1] * (0.5 * node->which - n + 1) / n;
        } else
            apply(run, node, to);
    }
}

kith_status law_series(const struct law_view *view, int64_t count, const double *s2, int32_t terms,
                       double *coefficients)
{
    struct series_run run = {.view = view, .terms = terms};
    const struct law_formula *formula = view->value;
    KITH_TRY(kith_allocate((int64_t)formula->count + 2, terms * (int64_t)sizeof *run.values,
                           "the series of a law", &run.values));
    run.work = series_of(&run, formula->count);
    for (int64_t i = 0; i < count; i++) {
        double *to = coefficients + i * terms;
        memset(to, 0, (size_t)terms * sizeof *to);
        if (formula->value < 0)
            continue;
        expand(&run, s2[i]);
        memcpy(to, series_of(&run, formula->value), (size_t)terms * sizeof *to);
    }
    free(run.values);
    return KITH_OK;
}
