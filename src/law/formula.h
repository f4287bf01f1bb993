#ifndef LAW_FORMULA_H
#define LAW_FORMULA_H

#include <stdbool.h>

#include "core/status.h"
#include "kith/law.h"
#include "law/law_numbers.h"

/* A formula as operations, each after those it uses: common subexpressions are eliminated, and
 * constants are folded. */

/* The variables of a formula, in the order of the enumerators. */
#define FORMULA_EACH_VARIABLE(ROW)                                                                 \
    ROW(r) ROW(r2) ROW(dx) ROW(dy) ROW(dz) ROW(m_i) ROW(m_j) ROW(q_i) ROW(q_j)

enum formula_variable {
#define FORMULA_ENUMERATOR(name) formula_##name,
    FORMULA_EACH_VARIABLE(FORMULA_ENUMERATOR)
#undef FORMULA_ENUMERATOR
        formula_variable_count
};

/* clang-format off */
#define FORMULA_EACH_FUNCTION(ROW)                                                                 \
    ROW(exp, 1) ROW(exp2, 1) ROW(expm1, 1) ROW(log, 1) ROW(log2, 1) ROW(log10, 1) ROW(log1p, 1) ROW(sqrt, 1) \
    ROW(rsqrt, 1) ROW(cbrt, 1) ROW(sin, 1) ROW(cos, 1) ROW(tan, 1) ROW(asin, 1) ROW(acos, 1) ROW(atan, 1) \
    ROW(sinh, 1) ROW(cosh, 1) ROW(tanh, 1) ROW(asinh, 1) ROW(acosh, 1) ROW(atanh, 1) ROW(erf, 1) ROW(erfc, 1) \
    ROW(fabs, 1) ROW(floor, 1) ROW(ceil, 1) ROW(trunc, 1) ROW(round, 1)                            \
    ROW(pow, 2) ROW(fmin, 2) ROW(fmax, 2) ROW(atan2, 2) ROW(hypot, 2) ROW(fmod, 2)
/* clang-format on */

enum formula_function {
#define FORMULA_ENUMERATOR(name, arguments) formula_##name,
    FORMULA_EACH_FUNCTION(FORMULA_ENUMERATOR)
#undef FORMULA_ENUMERATOR
        formula_function_count
};

enum formula_operation {
    formula_number,
    formula_variable,   /* which: a formula_variable other than r and r2, which become */
    formula_power_of_r, /* r^which, not 0 */
    formula_parameter,  /* which: its index */
    formula_add,
    formula_subtract,
    formula_multiply,
    formula_divide,
    formula_negate,
    formula_power,  /* the first to the power which, at least 2: the second times the third */
    formula_call,   /* which: a formula_function */
    formula_select, /* the first ? the second : the third */
    formula_less,   /* these four are 1 or 0, and the first three of them truths */
    formula_less_equal,
    formula_equal,
    formula_and,
    formula_or,
    formula_not
};

struct formula_node {
    double number;
    int32_t operation, which;
    int32_t argument[3]; /* indices of nodes; −1 past the last argument */
};

enum {
    formula_most_bytes = 65536,
    formula_most_depth = 200,
    formula_most_nodes = 8192,
    formula_name_bytes = 32,
    formula_greatest_power = 128, /* of r, of 1/r, and of any node */
    formula_most_parameters = 16,
    formula_most_columns = 16,
    formula_most_definitions = 64
};

/* What a formula is evaluated for; several at once by |. */
enum formula_wants {
    formula_wants_value = 1,
    formula_wants_force = 2,
    formula_wants_rate = 4, /* of the force */
    formula_wants_count = 8
};

/* Nodes to evaluate, each after those it uses. */
struct formula_list {
    const int32_t *nodes;
    int32_t count;
};

/* The names that several formulas of one call share, besides r … dz, pi and the parameters: columns
 * of particles, each as NAME_i and NAME_j, and definitions, each a formula read before. m and q are
 * 1 where they are no columns. */
struct formula_scope {
    int32_t column_count, definition_count;
    char column[formula_most_columns][formula_name_bytes];
    struct formula_definition {
        char name[formula_name_bytes];
        int32_t node;
    } definition[formula_most_definitions];
};

enum { formula_scope_variables = formula_variable_count + 2 * formula_most_columns };

/* The variable that NAME_i or NAME_j is: an index past those of enum formula_variable. */
static inline int32_t formula_column_variable(int32_t column, bool of_j)
{
    return (int32_t)formula_variable_count + 2 * column + (of_j ? 1 : 0);
}

/* A product outer · inner · r^power, in which outer depends on particle i alone and is factored out
 * of a sum over j. −1 is 1. */
struct formula_product {
    int32_t outer, inner, power;
};

struct law_formula {
    struct formula_node *nodes;
    bool *is_constant; /* of a node: made of numbers and parameters only */
    int32_t *slots;    /* hash of a node → index + 1; 4 for each node there is room for */
    int32_t count, capacity;
    bool is_full; /* a node found no room */

    int32_t parameters;
    char names[formula_most_parameters][formula_name_bytes];

    /* What m_i, m_j, q_i and q_j are read as; NULL: variables. Not owned, and
     * only read while the formula is. */
    const double *weights;

    /* NULL but in formulas of a scope. Not owned, and only read while the formula is. */
    const struct formula_scope *scope;

    /* The nodes that are computed once a call, before the pairs: a kernel has them in its c. */
    int32_t constants[law_constant_count], constant_count;

    /* Nodes; −1 is a value of 0. The force on i is radial·d + (gradient of what else depends on d).
     */
    int32_t value, radial, along[3];
    struct formula_product value_product, radial_product; /* of value and radial, if not −1 */

    /* The second derivatives: (1/r) ∂/∂r of radial and of along, and ∂along[c]/∂d[k], k ≥ c, in the
     * order xx, xy, xz, yy, yz, zz. */
    int32_t slope, cross[3], curve[6];
    bool has_rate; /* there was room for them */

    /* The nodes that value, force and rate are made of, and those of several of them. */
    struct formula_list needed[formula_wants_count];
    int32_t *lists; /* memory of these */

    bool is_symmetric; /* value is known not to change when i and j are exchanged */
};

/* Reads a formula and derives its force.
 *
 *   parameters  by name
 *   formula  [out] free with formula_free; NULL on failure
 *
 * Errors: KITH_INVALID_ARGUMENT (a mistake: the message shows where), KITH_OUT_OF_MEMORY. */
kith_status formula_parse(const char *text, int64_t count, const kith_law_parameter *parameters,
                          struct law_formula **formula);
void formula_free(struct law_formula *formula);

/* The same with numbers for m_i, m_j, q_i and q_j, unless weights is NULL. */
kith_status formula_parse_weighted(const char *text, int64_t count,
                                   const kith_law_parameter *parameters, const double *weights,
                                   struct law_formula **formula);

/* Whether a name may be a parameter's. Errors: KITH_INVALID_ARGUMENT. */
kith_status formula_check_name(const char *name);

/* An empty formula with parameters, whose nodes several texts of one scope share: each is read by
 * formula_read_value, and nothing is derived from it.
 *
 *   scope    outlives the formula; definitions may be added between two texts
 *   formula  [out] free with formula_free; NULL on failure
 *
 * Errors: KITH_INVALID_ARGUMENT, KITH_OUT_OF_MEMORY. */
kith_status formula_create_in(const struct formula_scope *scope, int64_t count,
                              const kith_law_parameter *parameters, struct law_formula **formula);

/* Reads the text into a new formula that has its parameters (formula_parse.c). */
kith_status formula_read(struct law_formula *formula, const char *text);

/* Reads a text; *node is its value. Errors: KITH_INVALID_ARGUMENT. */
kith_status formula_read_value(struct law_formula *formula, const char *text, int32_t *node);

/* Finds radial and along (formula_derive.c). */
void formula_derive(struct law_formula *formula);

/* Finds the second derivatives, or reports that the nodes are full. Nodes are only added. */
void formula_derive_twice(struct law_formula *formula);

/* The derivative of a node by dx, dy or dz, which r and r2 depend on, or by a column (the index of
 * a variable). −1: there was no room. */
int32_t formula_derive_by(struct law_formula *formula, int32_t root, int32_t variable);

/* A node with i and j exchanged, and so d of the other sign (formula_exchange.c). −1: there was no
 * room. */
int32_t formula_exchange(struct law_formula *formula, int32_t root);

/* Finds value_product and radial_product (formula_product.c). */
void formula_find_products(struct law_formula *formula);

/* Finds is_symmetric (formula_symmetry.c). */
void formula_find_symmetry(struct law_formula *formula);

/* Finds constants: the largest parts of value and forces that are made of numbers and parameters
 * only, or all parameters if those are too many (formula_constants.c). */
void formula_find_constants(struct law_formula *formula);

/* The same for other nodes than those. */
void formula_find_constants_of(struct law_formula *formula, const int32_t *roots, int32_t count);

/* Which of constants a node is; −1: none. */
int32_t formula_constant_of(const struct law_formula *formula, int32_t node);

/* Computes constants from parameters. */
void formula_constants(const struct law_formula *formula, const double *parameter,
                       double constants[law_constant_count]);

/* Sets used of a node (unless it is −1) and of all that it is made of. */
void formula_mark(const struct law_formula *formula, int32_t root, bool *used);

/* Whether value, or a force, uses a variable. */
bool formula_uses(const struct law_formula *formula, enum formula_variable variable);
bool formula_uses_distance(const struct law_formula *formula);

/* The nodes of a list in double precision with the C library's functions: values[k] for node k.
 * variable has formula_variable_count numbers, formula_scope_variables in a scope. */
void formula_evaluate(const struct law_formula *formula, const double *parameter,
                      const double *variable, const struct formula_list *list, double *values);

/* Writes the functions that law_body.h needs of a custom law; *text is freed with free().
 * Errors: KITH_OUT_OF_MEMORY. */
kith_status formula_write(const struct law_formula *formula, char **text);

extern const char *const formula_function_names[formula_function_count];
extern const char *const formula_variable_names[formula_variable_count];

/* Nodes (formula_build.c, formula_multiply.c): the same index for the same operation, and
 * simplified where that changes no value but by rounding. −1 where an argument is −1 or there is no
 * room. */
int32_t formula_make_number(struct law_formula *formula, double number);
int32_t formula_make_variable(struct law_formula *formula, enum formula_variable variable);
int32_t formula_make_power_of_r(struct law_formula *formula, int32_t power); /* any integer */
int32_t formula_make_column(struct law_formula *formula, int32_t column, bool of_j);
int32_t formula_make(struct law_formula *formula, enum formula_operation operation, int32_t which,
                     int32_t a, int32_t b, int32_t c);
int32_t formula_make_call(struct law_formula *formula, enum formula_function function, int32_t a,
                          int32_t b);

int32_t formula_make_power(struct law_formula *formula, int32_t base, int32_t power); /* ≥ 1 */

/* a + b or a − b with common factors taken out (formula_factor.c). */
int32_t formula_make_sum(struct law_formula *formula, enum formula_operation operation, int32_t a,
                         int32_t b);

/* One operation of numbers. */
double formula_apply(enum formula_operation operation, int32_t which, const double argument[3]);

#endif
