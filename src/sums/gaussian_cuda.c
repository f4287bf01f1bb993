/* Recognizes the sum of a Gaussian, which a GPU has kernels of its own for. */

#include <math.h>

#include "law/formula_write.h"
#include "matrix/gaussian_cuda.h"
#include "sums/sums_cuda.h"

/* A formula that is factor · NAME_j · 2^{−(root r)²}. */
struct gaussian {
    double root, factor;
    int32_t column; /* −1: none */
};

/* A product of numbers, of r², of a column, and of a power of two. */
struct product {
    const struct law_formula *formula;
    const double *constants;
    double factor;
    int32_t r2, column,
        power; /* how many of r², the column or −1, the node of the exponent or −1 */
    bool is_other;
};

static void take_factor(struct product *product, int32_t node, bool divides)
{
    const struct formula_node *is = &product->formula->nodes[node];
    const int32_t constant = formula_constant_of(product->formula, node);
    if (is->operation == formula_number || constant >= 0) {
        const double number = constant >= 0 ? product->constants[constant] : is->number;
        product->factor = divides ? product->factor / number : product->factor * number;
    } else if (is->operation == formula_negate) {
        product->factor = -product->factor;
        take_factor(product, is->argument[0], divides);
    } else if (is->operation == formula_multiply || is->operation == formula_divide) {
        take_factor(product, is->argument[0], divides);
        take_factor(product, is->argument[1], divides != (is->operation == formula_divide));
    } else if (is->operation == formula_power_of_r && is->which == 2 && !divides) {
        product->r2++;
    } else if (is->operation == formula_call && is->which == formula_exp2 && !divides &&
               product->power < 0) {
        product->power = is->argument[0];
    } else if (is->operation == formula_variable && is->which > formula_variable_count &&
               (is->which - formula_variable_count) % 2 == 1 && !divides && product->column < 0) {
        product->column = (is->which - formula_variable_count) / 2;
    } else {
        product->is_other = true;
    }
}

static struct product product_of(const struct law_formula *formula, const double *constants,
                                 int32_t node)
{
    struct product product = {
        .formula = formula, .constants = constants, .factor = 1, .column = -1, .power = -1};
    take_factor(&product, node, false);
    return product;
}

/* Whether the call sums one such formula over all pairs. */
static bool sums_one(const struct sums_problem *problem, struct gaussian *gaussian)
{
    const struct sums_formulas *formulas = problem->formulas;
    double constants[law_constant_count] = {0};
    if (problem->cutoff > 0 || problem->list.offsets || problem->reduction != KITH_SUMS_SUM ||
        formulas->output_count != 1 || formulas->diverges[0])
        return false;
    formula_constants(formulas->formula, formulas->parameter, constants);
    const struct product value = product_of(formulas->formula, constants, formulas->output[0]);
    if (value.is_other || value.r2 > 0 || value.power < 0)
        return false;
    const struct product power = product_of(formulas->formula, constants, value.power);
    if (power.is_other || power.r2 != 1 || power.column >= 0 || power.power >= 0)
        return false;
    *gaussian = (struct gaussian){sqrt(-power.factor), value.factor, value.column};
    return power.factor < 0 && isfinite(value.factor);
}

static struct gaussian_points points_of(const struct sums_side *side, int32_t dimensions)
{
    const kith_array x = side->positions;
    struct gaussian_points points = {.count = side->count, .stride = x.strides[0]};
    for (int32_t c = 0; c < dimensions; c++)
        points.x[c] = (const float *)x.data + c * x.strides[1];
    return points;
}

bool sums_is_gaussian_cuda(const struct sums_problem *problem, struct gaussian_sums *sums)
{
    struct gaussian formula;
    if (problem->dtype != KITH_F32 || !sums_one(problem, &formula))
        return false;
    *sums = (struct gaussian_sums){.axes = problem->dimensions,
                                   .same = problem->same,
                                   .leaves_out_self = problem->same && !problem->include_self,
                                   .root = formula.root,
                                   .factor = formula.factor,
                                   .rows = points_of(&problem->targets, problem->dimensions),
                                   .columns = points_of(&problem->sources, problem->dimensions)};
    if (formula.column >= 0) {
        sums->b = problem->sources.column[formula.column].data;
        sums->b_stride = problem->sources.column[formula.column].strides[0];
    }
    return gaussian_suits_cuda(sums);
}
