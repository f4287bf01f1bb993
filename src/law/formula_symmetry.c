/* Whether V(j, i) is V(i, j), so that forces are equal and opposite.
 *
 * A formula is evaluated in the field of the integers modulo a prime, at a point without structure
 * and at the same point with i and j exchanged and d = -d. Sums, products and quotients are those
 * of the field, every other function is a hash of its name and arguments. Equal values are equal
 * formulas by the rules of rings, but for a probability of about 1e-14 (Schwartz 1980, J. ACM 27,
 * 701); a formula that is symmetric for another reason, as cos(dx) is, is not found to be so. */

#include <math.h>
#include <string.h>

#include "law/formula.h"

__extension__ typedef unsigned __int128 wide;

static const uint64_t prime = (1ull << 61) - 1;

static uint64_t times(uint64_t a, uint64_t b)
{
    return (uint64_t)((wide)a * b % prime);
}

static uint64_t negative(uint64_t a)
{
    return a == 0 ? 0 : prime - a;
}

/* a^(p - 2) (Fermat); 0 of 0. */
static uint64_t inverse(uint64_t a)
{
    uint64_t result = 1;
    for (uint64_t exponent = prime - 2; exponent > 0; exponent >>= 1) {
        if (exponent & 1)
            result = times(result, a);
        a = times(a, a);
    }
    return result;
}

/* The finalizer of MurmurHash3, after each part. */
static uint64_t hash(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    const uint64_t parts[] = {a, b, c, d};
    uint64_t h = 0x9e3779b97f4a7c15u;
    for (int k = 0; k < 4; k++) {
        h ^= parts[k];
        h = (h ^ h >> 33) * 0xff51afd7ed558ccdu;
        h = (h ^ h >> 33) * 0xc4ceb9fe1a85ec53u;
        h ^= h >> 33;
    }
    return h % prime;
}

static uint64_t of_number(double number)
{
    uint64_t bits = 0;
    const double size = fabs(number);
    memcpy(&bits, &size, sizeof bits);
    const uint64_t value =
        size == floor(size) && size < 0x1p53 ? (uint64_t)size : hash(formula_number, bits, 0, 0);
    return number < 0 ? negative(value) : value;
}

static uint64_t of_variable(int32_t variable, bool exchanged)
{
    static const int32_t other[formula_variable_count] = {
        [formula_dx] = formula_dx,   [formula_dy] = formula_dy,   [formula_dz] = formula_dz,
        [formula_m_i] = formula_m_j, [formula_m_j] = formula_m_i, [formula_q_i] = formula_q_j,
        [formula_q_j] = formula_q_i};
    const bool is_component =
        variable == formula_dx || variable == formula_dy || variable == formula_dz;
    const int32_t which = exchanged ? other[variable] : variable;
    const uint64_t value = hash(formula_variable, (uint64_t)which, 0, 0);
    return exchanged && is_component ? negative(value) : value;
}

/* Functions of two arguments that may be exchanged. */
static bool is_commutative(const struct formula_node *node)
{
    const int32_t operation = node->operation, which = node->which;
    return operation == formula_equal || operation == formula_and || operation == formula_or ||
           (operation == formula_call &&
            (which == formula_fmin || which == formula_fmax || which == formula_hypot));
}

static uint64_t of_node(const struct formula_node *node, const uint64_t *values, bool exchanged)
{
    uint64_t argument[3] = {0};
    for (int k = 0; k < 3; k++)
        argument[k] = node->argument[k] >= 0 ? values[node->argument[k]] : 0;
    const uint64_t a = argument[0], b = argument[1];
    const uint64_t name = (uint64_t)node->operation << 32 | (uint32_t)node->which;
    switch (node->operation) {
    case formula_number:
        return of_number(node->number);
    case formula_variable:
        return of_variable(node->which, exchanged);
    case formula_add:
        return (a + b) % prime;
    case formula_subtract:
        return (a + negative(b)) % prime;
    case formula_multiply:
        return times(a, b);
    case formula_power: /* the product of two lower ones */
        return times(b, argument[2]);
    case formula_divide:
        return times(a, inverse(b));
    case formula_negate:
        return negative(a);
    default:
        return is_commutative(node) ? hash(name, a < b ? a : b, a < b ? b : a, 0)
                                    : hash(name, a, b, argument[2]);
    }
}

void formula_find_symmetry(struct law_formula *formula)
{
    uint64_t values[2][formula_most_nodes];
    for (int exchanged = 0; exchanged < 2; exchanged++)
        for (int32_t k = 0; k < formula->count; k++)
            values[exchanged][k] = of_node(&formula->nodes[k], values[exchanged], exchanged);
    formula->is_symmetric =
        formula->value < 0 || values[0][formula->value] == values[1][formula->value];
}
