/* Expressions of C as formulas, by recursive descent: each function reads one level of precedence.
 * Anything outside this grammar is an error, so that no text of the user gets any further. */

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "law/formula.h"

struct parser {
    struct law_formula *formula;
    const char *text, *at;
    int32_t depth;
};

/* Stops reading with a message that shows the position: the text around it, with a ^ before it. */
__attribute__((format(printf, 3, 4))) static kith_status
fail_at(const struct parser *parser, const char *place, const char *format, ...)
{
    enum { around = 40 };
    char what[480], shown[2 * around + 16];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);

    const size_t before = (size_t)(place - parser->text), after = strlen(place);
    const int left = (int)(before < around ? before : around);
    const int right = (int)(after < around ? after : around);
    snprintf(shown, sizeof shown, "%s%.*s^%.*s%s", before > around ? "..." : "", left, place - left,
             right, place, after > around ? "..." : "");
    return kith_fail(KITH_INVALID_ARGUMENT, "formula, character %zu: %s, at the ^ in: %s",
                     before + 1, what, shown);
}

/* What is missing, unless the character in its place is an operator of C that kith does not have.
 */
static kith_status fail_behind(const struct parser *parser, const char *missing)
{
    const char next = *parser->at;
    if (next == '^' || (next == '*' && parser->at[1] == '*'))
        return fail_at(parser, parser->at, "powers have no operator; write pow(a, b)");
    if (next == '=')
        return fail_at(parser, parser->at, "nothing can be assigned in a formula; compare with ==");
    return fail_at(parser, parser->at, "%s", missing);
}

static void skip_space(struct parser *parser)
{
    while (*parser->at == ' ' || *parser->at == '\t' || *parser->at == '\n')
        parser->at++;
}

/* Takes an operator if it is next and not the beginning of a longer one. */
static bool take(struct parser *parser, const char *operator, const char * not_followed_by)
{
    skip_space(parser);
    const size_t length = strlen(operator);
    if (strncmp(parser->at, operator, length) != 0)
        return false;
    if (parser->at[length] && strchr(not_followed_by, parser->at[length]))
        return false;
    parser->at += length;
    return true;
}

static kith_status read_choice(struct parser *parser, int32_t *node);

/* Makes a node; place is for the message if it has no room. */
static kith_status made(const struct parser *parser, const char *place, int32_t index,
                        int32_t *node)
{
    *node = index;
    if (index < 0)
        return fail_at(parser, place, "the formula has more than %d operations; write less",
                       formula_most_nodes);
    return KITH_OK;
}

static kith_status read_number(struct parser *parser, int32_t *node)
{
    const char *start = parser->at;
    char *end = NULL;
    const double value = strtod(start, &end);
    if (end == start)
        return fail_at(parser, start, "a number is expected here");
    if (*end == 'f' || *end == 'F')
        end++;
    if (isalnum((unsigned char)*end) || *end == '_' || *end == '.')
        return fail_at(parser, end, "a number is followed by a character that no number contains");
    if (!isfinite(value))
        return fail_at(parser, start, "the number is not finite");
    parser->at = end;
    return made(parser, start, formula_make_number(parser->formula, value), node);
}

static size_t name_length(const char *text)
{
    size_t length = 0;
    while (isalnum((unsigned char)text[length]) || text[length] == '_')
        length++;
    return length;
}

static bool is_name(const char *name, const char *text, size_t length)
{
    return strlen(name) == length && memcmp(name, text, length) == 0;
}

/* A constant operation whose value is no number is a mistake now, not a NaN in every pair. */
static kith_status check_constant(const struct parser *parser, const char *place, int32_t node)
{
    const struct law_formula *formula = parser->formula;
    const struct formula_node *made_node = &formula->nodes[node];
    double argument[3] = {0};
    if (made_node->operation != formula_call && made_node->operation != formula_power &&
        made_node->operation != formula_divide && made_node->operation != formula_multiply &&
        made_node->operation != formula_add && made_node->operation != formula_subtract)
        return KITH_OK;
    for (int k = 0; k < 3; k++) {
        if (made_node->argument[k] < 0)
            continue;
        if (formula->nodes[made_node->argument[k]].operation != formula_number)
            return KITH_OK;
        argument[k] = formula->nodes[made_node->argument[k]].number;
    }
    return fail_at(
        parser, place, "the value of this is %g, which is not finite",
        formula_apply((enum formula_operation)made_node->operation, made_node->which, argument));
}

static kith_status read_call(struct parser *parser, int32_t function, int32_t *node)
{
    static const int32_t counts[] = {
#define COUNT_ROW(name, arguments) arguments,
        FORMULA_EACH_FUNCTION(COUNT_ROW)
#undef COUNT_ROW
    };
    const char *start = parser->at;
    const char *const name = formula_function_names[function];
    int32_t argument[2] = {-1, -1};
    parser->at += strlen(name);
    if (!take(parser, "(", ""))
        return fail_at(parser, start, "%s is a function; write %s(...)", name, name);
    for (int32_t k = 0; k < counts[function]; k++) {
        const char next = k + 1 < counts[function] ? ',' : ')';
        char missing[64];
        snprintf(missing, sizeof missing, "%s takes %d argument%s; a %c is missing", name,
                 (int)counts[function], counts[function] == 1 ? "" : "s", next);
        KITH_TRY(read_choice(parser, &argument[k]));
        if (!take(parser, (const char[]){next, 0}, ""))
            return fail_behind(parser, missing);
    }
    KITH_TRY(made(parser, start,
                  formula_make_call(parser->formula, (enum formula_function)function, argument[0],
                                    argument[1]),
                  node));
    return check_constant(parser, start, *node);
}

/* diff(F, x): the derivative of F by x. */
static kith_status read_derivative(struct parser *parser, const char *start, int32_t *node)
{
    int32_t of = -1, by = -1;
    KITH_TRY(read_choice(parser, &of));
    if (!take(parser, ",", ""))
        return fail_behind(parser, "diff takes 2 arguments; a , is missing");
    skip_space(parser);
    const char *place = parser->at;
    KITH_TRY(read_choice(parser, &by));
    if (parser->formula->nodes[by].operation != formula_variable)
        return fail_at(parser, place,
                       "diff(F, x) differentiates by dx, dy, dz or a column; give one of them");
    if (!take(parser, ")", ""))
        return fail_behind(parser, "diff takes 2 arguments; a ) is missing");
    return made(parser, start,
                formula_derive_by(parser->formula, of, parser->formula->nodes[by].which), node);
}

/* swap(F): F with i and j exchanged. */
static kith_status read_exchange(struct parser *parser, const char *start, int32_t *node)
{
    int32_t of = -1;
    KITH_TRY(read_choice(parser, &of));
    if (!take(parser, ")", ""))
        return fail_behind(parser, "swap takes 1 argument; a ) is missing");
    return made(parser, start, formula_exchange(parser->formula, of), node);
}

/* An operation on a formula, whose name is next. */
static kith_status read_operation(struct parser *parser, bool is_exchange, int32_t *node)
{
    const char *start = parser->at;
    parser->at += strlen("diff");
    if (!take(parser, "(", ""))
        return fail_at(parser, start, "%s is a function; write %s(...)",
                       is_exchange ? "swap" : "diff", is_exchange ? "swap" : "diff");
    return (is_exchange ? read_exchange : read_derivative)(parser, start, node);
}

static void append(char *text, size_t bytes, const char *before, const char *name)
{
    const size_t used = strlen(text);
    snprintf(text + used, bytes - used, "%s%s", before, name);
}

static kith_status fail_unknown_in_scope(const struct parser *parser, size_t length)
{
    const struct formula_scope *scope = parser->formula->scope;
    char columns[160] = "", definitions[160] = "";
    for (int32_t k = 0; k < scope->column_count; k++)
        append(columns, sizeof columns, columns[0] ? ", " : "", scope->column[k]);
    for (int32_t k = 0; k < parser->formula->parameters; k++)
        append(definitions, sizeof definitions, ", ", parser->formula->names[k]);
    for (int32_t k = 0; k < scope->definition_count; k++)
        append(definitions, sizeof definitions, ", ", scope->definition[k].name);
    return fail_at(parser, parser->at,
                   "'%.*s%s' is unknown; known are r, r2, dx, dy, dz, pi%s, C's functions, and "
                   "with _i or _j the columns %s",
                   length < 40 ? (int)length : 40, parser->at, length < 40 ? "" : "...",
                   definitions, columns[0] ? columns : "m and q");
}

static kith_status fail_unknown_name(const struct parser *parser, size_t length)
{
    if (parser->formula->scope)
        return fail_unknown_in_scope(parser, length);
    char known[160] = "";
    size_t used = 0;
    for (int32_t k = 0; k < parser->formula->parameters && used < sizeof known; k++)
        used +=
            (size_t)snprintf(known + used, sizeof known - used, ", %s", parser->formula->names[k]);
    return fail_at(parser, parser->at,
                   "'%.*s%s' is unknown; known are r, r2, dx, dy, dz, m_i, m_j, q_i, q_j, pi%s "
                   "and C's functions",
                   length < 40 ? (int)length : 40, parser->at, length < 40 ? "" : "...",
                   known[0] ? known : ", parameters");
}

/* What a name is in the formula's scope; −1: nothing. */
static int32_t find_in_scope(struct law_formula *formula, const char *text, size_t length)
{
    const struct formula_scope *scope = formula->scope;
    for (int32_t k = 0; k < scope->definition_count; k++)
        if (is_name(scope->definition[k].name, text, length))
            return scope->definition[k].node;
    if (length < 3 || text[length - 2] != '_' || !strchr("ij", text[length - 1]))
        return -1;
    for (int32_t k = 0; k < scope->column_count; k++)
        if (is_name(scope->column[k], text, length - 2))
            return formula_make_column(formula, k, text[length - 1] == 'j');
    return -1;
}

static kith_status read_name(struct parser *parser, int32_t *node)
{
    const char *start = parser->at;
    const size_t length = name_length(start);
    struct law_formula *formula = parser->formula;
    for (int32_t k = 0; k < formula_function_count; k++)
        if (k != formula_rsqrt && is_name(formula_function_names[k], start, length))
            return read_call(parser, k, node);
    if (is_name("diff", start, length) || is_name("swap", start, length))
        return read_operation(parser, *start == 's', node);
    int32_t found = -1;
    for (int32_t k = 0; k < formula->parameters; k++)
        if (is_name(formula->names[k], start, length))
            found = formula_make(formula, formula_parameter, k, -1, -1, -1);
    for (int32_t k = 0; k < formula_variable_count; k++)
        if (is_name(formula_variable_names[k], start, length))
            found = formula_make_variable(formula, (enum formula_variable)k);
    if (is_name("pi", start, length))
        found = formula_make_number(formula, 3.14159265358979323846);
    if (formula->scope) {
        const int32_t in_scope = find_in_scope(formula, start, length);
        found = in_scope >= 0 ? in_scope : found;
    }
    if (found < 0 && !formula->is_full)
        return fail_unknown_name(parser, length);
    parser->at += length;
    return made(parser, start, found, node);
}

static kith_status read_primary(struct parser *parser, int32_t *node)
{
    skip_space(parser);
    const char *start = parser->at;
    if (isdigit((unsigned char)*start) || *start == '.')
        return read_number(parser, node);
    if (isalpha((unsigned char)*start) || *start == '_')
        return read_name(parser, node);
    if (*start == 0)
        return fail_at(parser, start, "a value is missing at the end");
    if (!take(parser, "(", ""))
        return fail_at(parser, start, "a value is expected here");
    KITH_TRY(read_choice(parser, node));
    if (!take(parser, ")", ""))
        return fail_behind(parser, "a ) is missing");
    return KITH_OK;
}

static kith_status enter(struct parser *parser)
{
    if (++parser->depth > formula_most_depth)
        return fail_at(parser, parser->at, "the formula is nested deeper than %d; write it flatter",
                       formula_most_depth);
    return KITH_OK;
}

static kith_status read_unary(struct parser *parser, int32_t *node)
{
    skip_space(parser);
    const char *start = parser->at;
    const char sign = *start;
    if ((sign != '-' && sign != '+' && sign != '!') || start[1] == '=')
        return read_primary(parser, node);
    if (sign != '!' && start[1] == sign)
        return fail_at(parser, start, "'%c%c' is not an operator; put a space between", sign, sign);
    parser->at++;
    KITH_TRY(enter(parser));
    KITH_TRY(read_unary(parser, node));
    parser->depth--;
    if (sign == '+')
        return KITH_OK;
    const enum formula_operation operation = sign == '-' ? formula_negate : formula_not;
    return made(parser, start, formula_make(parser->formula, operation, 0, *node, -1, -1), node);
}

/* Levels of precedence from the loosest on; a row's operators associate to the left. */
struct operator_row {
    int32_t level;
    const char *text, *not_followed_by;
    enum formula_operation operation;
    bool is_turned, is_negated; /* a > b is b < a; a != b is !(a == b) */
};

enum { least_level = 0, most_level = 5 };

static const struct operator_row operators[] = {
    {0, "||", "", formula_or, false, false},
    {1, "&&", "", formula_and, false, false},
    {2, "==", "", formula_equal, false, false},
    {2, "!=", "", formula_equal, false, true},
    {3, "<=", "", formula_less_equal, false, false},
    {3, ">=", "", formula_less_equal, true, false},
    {3, "<", "<", formula_less, false, false},
    {3, ">", ">", formula_less, true, false},
    {4, "+", "+=", formula_add, false, false},
    {4, "-", "-=>", formula_subtract, false, false},
    {5, "*", "*=", formula_multiply, false, false},
    {5, "/", "/*=", formula_divide, false, false},
};

static const struct operator_row *take_operator(struct parser *parser, int32_t level)
{
    for (size_t k = 0; k < sizeof operators / sizeof operators[0]; k++)
        if (operators[k].level == level &&
            take(parser, operators[k].text, operators[k].not_followed_by))
            return &operators[k];
    return NULL;
}

static kith_status read_level(struct parser *parser, int32_t level, int32_t *node)
{
    if (level > most_level)
        return read_unary(parser, node);
    KITH_TRY(read_level(parser, level + 1, node));
    for (;;) {
        skip_space(parser);
        const char *place = parser->at;
        const struct operator_row *row = take_operator(parser, level);
        if (!row)
            return KITH_OK;
        int32_t other = -1;
        KITH_TRY(read_level(parser, level + 1, &other));
        const int32_t first = row->is_turned ? other : *node;
        const int32_t second = row->is_turned ? *node : other;
        KITH_TRY(made(parser, place,
                      formula_make(parser->formula, row->operation, 0, first, second, -1), node));
        KITH_TRY(check_constant(parser, place, *node));
        if (row->is_negated)
            KITH_TRY(made(parser, place,
                          formula_make(parser->formula, formula_not, 0, *node, -1, -1), node));
    }
}

/* a ? b : c, and all that binds closer. */
static kith_status read_choice(struct parser *parser, int32_t *node)
{
    KITH_TRY(enter(parser));
    KITH_TRY(read_level(parser, least_level, node));
    skip_space(parser);
    const char *place = parser->at;
    if (take(parser, "?", "")) {
        int32_t yes = -1, no = -1;
        KITH_TRY(read_choice(parser, &yes));
        if (!take(parser, ":", ""))
            return fail_behind(parser, "a : is missing, of the ? before");
        KITH_TRY(read_choice(parser, &no));
        KITH_TRY(made(parser, place,
                      formula_make(parser->formula, formula_select, 0, *node, yes, no), node));
    }
    parser->depth--;
    return KITH_OK;
}

static kith_status read_all(struct parser *parser, int32_t *node)
{
    if (strnlen(parser->text, formula_most_bytes + 1) > formula_most_bytes)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "the formula has more than %d characters; write it shorter",
                         formula_most_bytes);
    KITH_TRY(read_choice(parser, node));
    skip_space(parser);
    return *parser->at ? fail_behind(parser, "an operator is expected here") : KITH_OK;
}

kith_status formula_read_value(struct law_formula *formula, const char *text, int32_t *node)
{
    struct parser parser = {formula, text, text, 0};
    return read_all(&parser, node);
}

kith_status formula_read(struct law_formula *formula, const char *text)
{
    struct parser start = {formula, text, text, 0}, *const parser = &start;
    KITH_TRY(read_all(parser, &parser->formula->value));
    formula_derive(parser->formula);
    formula_find_products(parser->formula);
    formula_find_symmetry(parser->formula);
    if (parser->formula->is_full)
        return fail_at(parser, parser->text,
                       "the formula and its derivative have more than %d operations; write less",
                       formula_most_nodes);
    formula_derive_twice(parser->formula);
    formula_find_constants(parser->formula);
    return KITH_OK;
}
