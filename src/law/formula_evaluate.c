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

/* base^n, n ≥ 0, by squaring. */
static double whole_power(double base, int32_t n)
{
    double power = 1;
    for (; n > 0; n >>= 1) {
        if (n & 1)
            power *= base;
        base *= base;
    }
    return power;
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
    case formula_power:
        return b * argument[2];
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
    const double power =
        (n % 2 ? variable[formula_r] : 1) * whole_power(variable[formula_r2], abs(n) / 2);
    return n < 0 ? 1 / power : power;
}

static double apply_to(const struct formula_node *node, const double *values)
{
    double argument[3] = {0};
    for (int c = 0; c < 3; c++)
        if (node->argument[c] >= 0)
            argument[c] = values[node->argument[c]];
    return formula_apply((enum formula_operation)node->operation, node->which, argument);
}

void formula_evaluate(const struct law_formula *formula, const double *parameter,
                      const double *variable, const struct formula_list *list, double *values)
{
    for (int32_t n = 0; n < list->count; n++) {
        const int32_t k = list->nodes[n];
        const struct formula_node *node = &formula->nodes[k];
        if (node->operation == formula_number)
            values[k] = node->number;
        else if (node->operation == formula_variable)
            values[k] = variable[node->which];
        else if (node->operation == formula_power_of_r)
            values[k] = power_of_r(variable, node->which);
        else if (node->operation == formula_parameter)
            values[k] = parameter[node->which];
        else
            values[k] = apply_to(node, values);
    }
}

void formula_constants(const struct law_formula *formula, const double *parameter,
                       double constants[law_constant_count])
{
    double values[formula_most_nodes];
    int32_t last = -1;
    for (int32_t c = 0; c < formula->constant_count; c++)
        last = formula->constants[c] > last ? formula->constants[c] : last;
    for (int32_t k = 0; k <= last; k++) {
        const struct formula_node *node = &formula->nodes[k];
        if (!formula->is_constant[k])
            continue;
        values[k] = node->operation == formula_number      ? node->number
                    : node->operation == formula_parameter ? parameter[node->which]
                                                           : apply_to(node, values);
        for (int32_t c = 0; c < formula->constant_count; c++)
            if (formula->constants[c] == k)
                constants[c] = values[k];
    }
}
