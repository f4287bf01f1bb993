/* Formulas in double precision, one operation at a time: for the reference, and for constants. */

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "law/formula.h"

static double rsqrt(double x)
{
    return 1 / sqrt(x);
}

static double call(int32_t function, double a, double b)
{
    typedef double unary(double);
    typedef double binary(double, double);
#define UNARY_1(name)          name,
#define UNARY_2(name)          NULL,
#define BINARY_1(name)         NULL,
#define BINARY_2(name)         name,
#define ROW_1(name, arguments) UNARY_##arguments(name)
#define ROW_2(name, arguments) BINARY_##arguments(name)
    static unary *const of_one[] = {FORMULA_EACH_FUNCTION(ROW_1)};
    static binary *const of_two[] = {FORMULA_EACH_FUNCTION(ROW_2)};
    return of_one[function] ? of_one[function](a) : of_two[function](a, b);
}

double formula_apply(enum formula_operation operation, int32_t which, const double argument[3])
{
    const double a = argument[0], b = argument[1];
    switch (operation) {
    case formula_add:
        return a + b;
    case formula_subtract:
        return a - b;
    case formula_multiply:
        return a * b;
    case formula_divide:
        return a / b;
    case formula_negate:
        return -a;
    case formula_call:
        return call(which, a, b);
    case formula_select:
        return a != 0 ? b : argument[2];
    case formula_less:
        return a < b;
    case formula_less_equal:
        return a <= b;
    case formula_equal:
        return a == b;
    case formula_and:
        return a != 0 && b != 0;
    case formula_or:
        return a != 0 || b != 0;
    case formula_not:
        return a == 0;
    default: /* a number, variable or parameter is not made of others */
        return NAN;
    }
}

/* r^n: of r² as far as possible, which has been rounded once less than r. */
static double power_of_r(const double *variable, int32_t n)
{
    double base = variable[formula_r2], power = n % 2 ? variable[formula_r] : 1;
    for (int32_t left = abs(n) / 2; left > 0; left >>= 1) {
        if (left & 1)
            power *= base;
        base *= base;
    }
    return n < 0 ? 1 / power : power;
}

void formula_evaluate(const struct law_formula *formula, const double *parameter,
                      const double variable[formula_variable_count], double *values)
{
    for (int32_t k = 0; k < formula->count; k++) {
        const struct formula_node *node = &formula->nodes[k];
        double argument[3] = {0};
        for (int c = 0; c < 3; c++)
            if (node->argument[c] >= 0)
                argument[c] = values[node->argument[c]];
        if (node->operation == formula_number)
            values[k] = node->number;
        else if (node->operation == formula_variable)
            values[k] = variable[node->which];
        else if (node->operation == formula_power_of_r)
            values[k] = power_of_r(variable, node->which);
        else if (node->operation == formula_parameter)
            values[k] = parameter[node->which];
        else
            values[k] =
                formula_apply((enum formula_operation)node->operation, node->which, argument);
    }
}
