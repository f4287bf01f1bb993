/* The table of laws, and how their constants come from their parameters. */

#include "law/law.h"

#include <math.h>

#define LOG2E 1.4426950408889634074

enum row {
    ROW_GRAVITY,
    ROW_COULOMB,
    ROW_POWER,
    ROW_YUKAWA,
    ROW_LENNARD_JONES,
    ROW_MORSE,
    ROW_GAUSSIAN,
    ROW_MULTIQUADRIC,
    ROW_THIN_PLATE,
    ROW_DISTANCE,
    ROW_DISTANCE2,
    ROW_SUM,
    ROW_PRODUCT,
    ROW_COUNT
};

static const kith_law_info infos[ROW_COUNT] = {
    [ROW_GRAVITY] = {"gravity", "", "-G m_i m_j / s", "G m_i m_j / s^3", "G = 1",
                     "diverges; such a pair counts 0, value and force",
                     "G: length^3 / (mass time^2); an energy"},
    [ROW_COULOMB] = {"coulomb", "", "k q_i q_j / s", "-k q_i q_j / s^3", "k = 1",
                     "diverges; such a pair counts 0, value and force",
                     "k: energy length / charge^2; an energy"},
    [ROW_POWER] = {"power", "A", "alpha / s^A", "-A alpha / s^(A+2)", "A, alpha = 1",
                   "A > 0: diverges, such a pair counts 0; A = 0: alpha; A < 0: 0",
                   "alpha: energy length^A; algebraic, not by logarithms, for whole and half A"},
    [ROW_YUKAWA] = {"yukawa", "L", "k q_i q_j e^(-s/L) / s",
                    "-k q_i q_j e^(-s/L) (1/s + 1/L) / s^2", "L > 0, k = 1",
                    "diverges; such a pair counts 0, value and force",
                    "L: length; k: energy length / charge^2"},
    [ROW_LENNARD_JONES] = {"lennard-jones", "[EPS,SIGMA]", "4 epsilon ((sigma/s)^12 - (sigma/s)^6)",
                           "-24 epsilon (2 (sigma/s)^12 - (sigma/s)^6) / s^2",
                           "epsilon = 1, sigma = 1 > 0",
                           "diverges; such a pair counts 0, value and force",
                           "epsilon: energy; sigma: length"},
    [ROW_MORSE] = {"morse", "D,A,R0", "D (e^(-2A(s-R0)) - 2 e^(-A(s-R0)))",
                   "2 A D (e^(-A(s-R0)) - e^(-2A(s-R0))) / s", "D, A, R0",
                   "D (e^(2 A R0) - 2 e^(A R0)); force 0", "D: energy; A: 1/length; R0: length"},
    [ROW_GAUSSIAN] = {"gaussian", "S", "e^(-s^2 / (2 S^2))", "-e^(-s^2 / (2 S^2)) / S^2", "S > 0",
                      "1; force 0", "S: length"},
    [ROW_MULTIQUADRIC] = {"multiquadric", "C", "sqrt(s^2 + C^2)", "1 / sqrt(s^2 + C^2)", "C",
                          "|C|; force 0", "C: length"},
    [ROW_THIN_PLATE] = {"thin-plate", "", "s^2 ln s", "2 ln s + 1", "", "0; force 0",
                        "s: a number"},
    [ROW_DISTANCE] = {"distance", "", "s", "1 / s", "", "0; force 0", "length"},
    [ROW_DISTANCE2] = {"distance2", "", "s^2", "2", "", "0; force 0", "length^2"},
    [ROW_SUM] = {"sum", "", "m_i + m_j", "0", "", "m_i + m_j; force 0", "mass"},
    [ROW_PRODUCT] = {"product", "", "m_i m_j", "0", "", "m_i m_j; force 0", "mass^2"},
};

const kith_law_info *kith_law_list(int64_t *count)
{
    if (count)
        *count = ROW_COUNT;
    return infos;
}

static void resolve_gravity(const double *parameter, struct law_form *form,
                            struct law_numbers *numbers)
{
    (void)form;
    numbers->c[0] = -parameter[0];
    numbers->diverges = 1;
}

static void resolve_coulomb(const double *parameter, struct law_form *form,
                            struct law_numbers *numbers)
{
    (void)form;
    numbers->c[0] = parameter[0];
    numbers->diverges = 1;
}

/* Beyond this, squaring costs more than a logarithm and is less exact. */
enum { greatest_power = 64 };

static void resolve_power(const double *parameter, struct law_form *form,
                          struct law_numbers *numbers)
{
    const double a = parameter[0], size = fabs(a);
    numbers->c[0] = parameter[1];
    numbers->c[1] = -a;
    numbers->c[2] = -a / 2;
    numbers->diverges = a > 0;
    if (a == 1) {
        form->kind = law_inverse;
    } else if (a == 2) {
        form->kind = law_inverse_square;
    } else if (size > greatest_power || 2 * size != floor(2 * size)) {
        form->kind = law_real_power;
    } else if (size != floor(size)) {
        form->kind = law_half_power;
        numbers->whole = (int)size;
        numbers->base = a > 0 ? law_base_inverse_s : law_base_s;
    } else if (fmod(size, 2) != 0) {
        numbers->whole = (int)size;
        numbers->base = a > 0 ? law_base_inverse_s : law_base_s;
    } else {
        numbers->whole = (int)size / 2;
        numbers->base = a > 0 ? law_base_inverse_s2 : law_base_s2;
    }
}

static void resolve_yukawa(const double *parameter, struct law_form *form,
                           struct law_numbers *numbers)
{
    (void)form;
    numbers->c[0] = parameter[1];
    numbers->c[1] = -LOG2E / parameter[0];
    numbers->c[2] = 1 / parameter[0];
    numbers->diverges = 1;
}

static void resolve_lennard_jones(const double *parameter, struct law_form *form,
                                  struct law_numbers *numbers)
{
    (void)form;
    numbers->c[0] = 4 * parameter[0];
    numbers->c[1] = parameter[1] * parameter[1];
    numbers->diverges = 1;
}

static void resolve_morse(const double *parameter, struct law_form *form,
                          struct law_numbers *numbers)
{
    (void)form;
    const double d = parameter[0], a = parameter[1], r0 = parameter[2];
    numbers->c[0] = d;
    numbers->c[1] = -a * LOG2E;
    numbers->c[2] = a * r0 * LOG2E;
    numbers->c[3] = 2 * a * d;
    numbers->c[4] = a;
}

static void resolve_gaussian(const double *parameter, struct law_form *form,
                             struct law_numbers *numbers)
{
    (void)form;
    const double variance = parameter[0] * parameter[0];
    numbers->c[0] = 1;
    numbers->c[1] = -LOG2E / (2 * variance);
    numbers->c[2] = -1 / variance;
    numbers->c[3] = 1 / (variance * variance);
}

static void resolve_multiquadric(const double *parameter, struct law_form *form,
                                 struct law_numbers *numbers)
{
    (void)form;
    numbers->c[0] = 1;
    numbers->c[1] = parameter[0] * parameter[0];
}

static void resolve_one(const double *parameter, struct law_form *form, struct law_numbers *numbers)
{
    (void)parameter;
    (void)form;
    numbers->c[0] = 1;
}

#define NEEDED NAN

const struct law_recipe law_recipes[ROW_COUNT] = {
    [ROW_GRAVITY] =
        {{{"G", 1, law_any}}, 0, law_weight_mass, {law_inverse, law_product}, resolve_gravity},
    [ROW_COULOMB] =
        {{{"k", 1, law_any}}, 0, law_weight_charge, {law_inverse, law_product}, resolve_coulomb},
    [ROW_POWER] = {{{"A", NEEDED, law_any}, {"alpha", 1, law_any}},
                   1,
                   law_weight_none,
                   {law_whole_power, law_unweighted},
                   resolve_power},
    [ROW_YUKAWA] = {{{"L", NEEDED, law_positive}, {"k", 1, law_any}},
                    1,
                    law_weight_charge,
                    {law_yukawa, law_product},
                    resolve_yukawa},
    [ROW_LENNARD_JONES] = {{{"epsilon", 1, law_any}, {"sigma", 1, law_positive}},
                           2,
                           law_weight_none,
                           {law_lennard_jones, law_unweighted},
                           resolve_lennard_jones},
    [ROW_MORSE] = {{{"D", NEEDED, law_any}, {"A", NEEDED, law_any}, {"R0", NEEDED, law_any}},
                   3,
                   law_weight_none,
                   {law_morse, law_unweighted},
                   resolve_morse},
    [ROW_GAUSSIAN] = {{{"S", NEEDED, law_positive}},
                      1,
                      law_weight_none,
                      {law_gaussian, law_unweighted},
                      resolve_gaussian},
    [ROW_MULTIQUADRIC] = {{{"C", NEEDED, law_any}},
                          1,
                          law_weight_none,
                          {law_multiquadric, law_unweighted},
                          resolve_multiquadric},
    [ROW_THIN_PLATE] = {{{0}}, 0, law_weight_none, {law_thin_plate, law_unweighted}, resolve_one},
    [ROW_DISTANCE] = {{{0}}, 0, law_weight_none, {law_distance, law_unweighted}, resolve_one},
    [ROW_DISTANCE2] = {{{0}}, 0, law_weight_none, {law_distance2, law_unweighted}, resolve_one},
    [ROW_SUM] = {{{0}}, 0, law_weight_mass, {law_constant, law_sum}, resolve_one},
    [ROW_PRODUCT] = {{{0}}, 0, law_weight_mass, {law_constant, law_product}, resolve_one},
};
