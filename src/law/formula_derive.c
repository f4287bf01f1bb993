/* The force of a formula and how it changes with d, by the rules of differentiation.
 *
 * V(r², dx, dy, dz) has the force ∂V/∂d = 2 ∂V/∂(r²) d + (∂V/∂dx, ∂V/∂dy, ∂V/∂dz) on i, as d grows
 * when x_i falls. D = 2 ∂/∂(r²) = (1/r) ∂/∂r takes rⁿ to n rⁿ⁻².
 *
 * The force R d + A, R = DV, A_c = ∂_c V, of a pair whose d changes at the rate u, changes at the
 * rate
 *
 *     R u + [DR (d·u) + Σ_k DA_k u_k] d + (d·u) DA + Σ_k ∂_k A u_k,
 *
 * as ∂_k R = D A_k. */

#include <math.h>
#include <string.h>

#include "law/formula.h"

/* −1 where the derivative is 0. */
struct derivative {
    struct law_formula *formula;
    int32_t along; /* 0, 1, 2, …: by dx, dy, dz, and the variables after them; −1: D */
    int32_t of[formula_most_nodes];
};

static int32_t number(const struct derivative *d, double x)
{
    return formula_make_number(d->formula, x);
}

static int32_t call(const struct derivative *d, enum formula_function function, int32_t a)
{
    return formula_make_call(d->formula, function, a, -1);
}

/* Sums and products in which −1 is 0. */
static int32_t plus(const struct derivative *d, int32_t a, int32_t b)
{
    return a < 0 ? b : b < 0 ? a : formula_make_sum(d->formula, formula_add, a, b);
}

static int32_t minus(const struct derivative *d, int32_t a, int32_t b)
{
    return b < 0   ? a
           : a < 0 ? formula_make(d->formula, formula_negate, 0, b, -1, -1)
                   : formula_make_sum(d->formula, formula_subtract, a, b);
}

static int32_t times(const struct derivative *d, int32_t a, int32_t b)
{
    return a < 0 || b < 0 ? -1 : formula_make(d->formula, formula_multiply, 0, a, b, -1);
}

static int32_t over(const struct derivative *d, int32_t a, int32_t b)
{
    return a < 0 ? -1 : formula_make(d->formula, formula_divide, 0, a, b, -1);
}

static int32_t of_power_of_r(const struct derivative *d, int32_t n)
{
    if (d->along >= 0)
        return -1;
    return times(d, number(d, n), formula_make_power_of_r(d->formula, n - 2));
}

/* n aⁿ⁻¹ da; of a = c rᵏ, n k aⁿ / r², which is in range where a and its power are. */
static int32_t of_whole_power(const struct derivative *d, int32_t k)
{
    const struct formula_node node = d->formula->nodes[k];
    const struct formula_node base = d->formula->nodes[node.argument[0]];
    const int32_t n = node.which;
    if (d->of[node.argument[0]] < 0)
        return -1;
    if (d->along < 0 && base.operation == formula_multiply &&
        d->formula->is_constant[base.argument[0]] &&
        d->formula->nodes[base.argument[1]].operation == formula_power_of_r) {
        const double of_r = d->formula->nodes[base.argument[1]].which;
        return times(d, number(d, n * of_r), times(d, k, formula_make_power_of_r(d->formula, -2)));
    }
    const int32_t less = formula_make_power(d->formula, node.argument[0], n - 1);
    return times(d, number(d, n), times(d, less, d->of[node.argument[0]]));
}

/* f'(a) of a function of one argument whose value is node f; −1 where it is 0. */
static int32_t slope(const struct derivative *d, int32_t function, int32_t a, int32_t f)
{
    const int32_t one = number(d, 1), square = times(d, a, a);
    switch (function) {
    case formula_exp:
        return f;
    case formula_exp2:
        return times(d, number(d, M_LN2), f);
    case formula_expm1:
        return plus(d, f, one);
    case formula_log:
        return over(d, one, a);
    case formula_log2:
        return over(d, number(d, M_LOG2E), a);
    case formula_log10:
        return over(d, number(d, M_LOG10E), a);
    case formula_log1p:
        return over(d, one, plus(d, one, a));
    case formula_sqrt: /* ½ / √a */
        return over(d, number(d, 0.5), f);
    case formula_rsqrt: /* −½ f³ */
        return times(d, number(d, -0.5), times(d, times(d, f, f), f));
    case formula_cbrt:
        return over(d, number(d, 1.0 / 3), times(d, f, f));
    case formula_sin:
        return call(d, formula_cos, a);
    case formula_cos:
        return minus(d, -1, call(d, formula_sin, a));
    case formula_tan:
        return plus(d, one, times(d, f, f));
    case formula_asin:
        return over(d, one, call(d, formula_sqrt, minus(d, one, square)));
    case formula_acos:
        return over(d, number(d, -1), call(d, formula_sqrt, minus(d, one, square)));
    case formula_atan:
        return over(d, one, plus(d, one, square));
    case formula_sinh:
        return call(d, formula_cosh, a);
    case formula_cosh:
        return call(d, formula_sinh, a);
    case formula_tanh:
        return minus(d, one, times(d, f, f));
    case formula_asinh:
        return over(d, one, call(d, formula_sqrt, plus(d, square, one)));
    case formula_acosh:
        return over(d, one, call(d, formula_sqrt, minus(d, square, one)));
    case formula_atanh:
        return over(d, one, minus(d, one, square));
    case formula_erf:
    case formula_erfc:
        return times(d, number(d, function == formula_erf ? M_2_SQRTPI : -M_2_SQRTPI),
                     call(d, formula_exp, minus(d, -1, square)));
    case formula_fabs:
        return formula_make(d->formula, formula_select, 0,
                            formula_make(d->formula, formula_less, 0, a, number(d, 0), -1),
                            number(d, -1), one);
    default: /* floor, ceil, trunc, round */
        return -1;
    }
}

/* b ? da : db where one of them may be 0 */
static int32_t choose(const struct derivative *d, int32_t truth, int32_t da, int32_t db)
{
    if (da < 0 && db < 0)
        return -1;
    return formula_make(d->formula, formula_select, 0, truth, da < 0 ? number(d, 0) : da,
                        db < 0 ? number(d, 0) : db);
}

static int32_t of_power(const struct derivative *d, int32_t a, int32_t b, int32_t f)
{
    const int32_t da = d->of[a], db = d->of[b];
    const int32_t less = formula_make(d->formula, formula_subtract, 0, b, number(d, 1), -1);
    const int32_t by_base =
        times(d, da, times(d, b, formula_make_call(d->formula, formula_pow, a, less)));
    return plus(d, by_base, times(d, db, times(d, f, call(d, formula_log, a))));
}

/* Of a function of two arguments whose value is node f. */
static int32_t of_two(const struct derivative *d, int32_t function, int32_t a, int32_t b, int32_t f)
{
    const int32_t da = d->of[a], db = d->of[b];
    switch (function) {
    case formula_pow:
        return of_power(d, a, b, f);
    case formula_fmin:
        return choose(d, formula_make(d->formula, formula_less, 0, b, a, -1), db, da);
    case formula_fmax:
        return choose(d, formula_make(d->formula, formula_less, 0, a, b, -1), db, da);
    case formula_atan2:
        return over(d, minus(d, times(d, b, da), times(d, a, db)),
                    plus(d, times(d, a, a), times(d, b, b)));
    case formula_hypot:
        return over(d, plus(d, times(d, a, da), times(d, b, db)), f);
    default: /* fmod: a − trunc(a/b) b */
        return minus(d, da, times(d, db, call(d, formula_trunc, over(d, a, b))));
    }
}

static int32_t of_node(const struct derivative *d, int32_t k)
{
    const struct formula_node node = d->formula->nodes[k];
    const int32_t a = node.argument[0], b = node.argument[1], c = node.argument[2];
    switch (node.operation) {
    case formula_variable:
        return d->along >= 0 && node.which == (int32_t)formula_dx + d->along ? number(d, 1) : -1;
    case formula_power_of_r:
        return of_power_of_r(d, node.which);
    case formula_add:
        return plus(d, d->of[a], d->of[b]);
    case formula_subtract:
        return minus(d, d->of[a], d->of[b]);
    case formula_multiply:
        return plus(d, times(d, d->of[a], b), times(d, a, d->of[b]));
    case formula_divide: /* (da − f db) / b */
        return over(d, minus(d, d->of[a], times(d, k, d->of[b])), b);
    case formula_negate:
        return d->of[a] < 0 ? -1 : minus(d, -1, d->of[a]);
    case formula_power:
        return of_whole_power(d, k);
    case formula_select:
        return choose(d, a, d->of[b], d->of[c]);
    case formula_call:
        if (b >= 0)
            return d->of[a] < 0 && d->of[b] < 0 ? -1 : of_two(d, node.which, a, b, k);
        return d->of[a] < 0 ? -1 : times(d, d->of[a], slope(d, node.which, a, k));
    default:
        return -1;
    }
}

void formula_mark(const struct law_formula *formula, int32_t root, bool *used)
{
    if (root < 0)
        return;
    used[root] = true;
    for (int32_t k = root; k >= 0; k--)
        for (int c = 0; used[k] && c < 3; c++)
            if (formula->nodes[k].argument[c] >= 0)
                used[formula->nodes[k].argument[c]] = true;
}

static int32_t derive(struct law_formula *formula, int32_t root, int32_t along)
{
    if (root < 0)
        return -1;
    struct derivative d = {formula, along, {0}};
    bool used[formula_most_nodes] = {false};
    formula_mark(formula, root, used);
    for (int32_t k = 0; k <= root; k++)
        d.of[k] = used[k] ? of_node(&d, k) : -1;
    return d.of[root];
}

int32_t formula_derive_by(struct law_formula *formula, int32_t root, int32_t variable)
{
    const struct derivative d = {.formula = formula};
    int32_t found = derive(formula, root, variable - (int32_t)formula_dx);
    if (variable >= (int32_t)formula_dx && variable <= (int32_t)formula_dz) {
        const int32_t component = formula_make_variable(formula, (enum formula_variable)variable);
        found = plus(&d, times(&d, derive(formula, root, -1), component), found);
    }
    if (formula->is_full)
        return -1;
    return found < 0 ? number(&d, 0) : found;
}

void formula_derive(struct law_formula *formula)
{
    formula->radial = derive(formula, formula->value, -1);
    for (int32_t c = 0; c < 3; c++)
        formula->along[c] = derive(formula, formula->value, c);
}

void formula_derive_twice(struct law_formula *formula)
{
    int32_t *curve = formula->curve;
    formula->slope = derive(formula, formula->radial, -1);
    for (int32_t c = 0; c < 3; c++) {
        formula->cross[c] = derive(formula, formula->along[c], -1);
        for (int32_t k = c; k < 3; k++)
            *curve++ = derive(formula, formula->along[c], k);
    }
    formula->has_rate = !formula->is_full;
    formula->is_full = false;
}

bool formula_uses_distance(const struct law_formula *formula)
{
    bool used[formula_most_nodes] = {false};
    formula_mark(formula, formula->value, used);
    for (int32_t k = 0; k < formula->count; k++)
        if (used[k] && formula->nodes[k].operation == (int32_t)formula_power_of_r)
            return true;
    return false;
}

bool formula_uses(const struct law_formula *formula, enum formula_variable variable)
{
    bool used[formula_most_nodes] = {false};
    formula_mark(formula, formula->value, used);
    formula_mark(formula, formula->radial, used);
    for (int c = 0; c < 3; c++)
        formula_mark(formula, formula->along[c], used);
    for (int32_t k = 0; k < formula->count; k++)
        if (used[k] && formula->nodes[k].operation == formula_variable &&
            formula->nodes[k].which == (int32_t)variable)
            return true;
    return false;
}
