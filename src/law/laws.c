/* The table of laws: a law is a row. Its name, its arguments after the colon (the first of its
 * parameters), V as formulas are written (r is the softened distance s), its parameters, V and
 * force at s = 0, and units. law_writer.c makes the bodies for all kernels of it. */

#include "law/law_rows.h"

#include <math.h>
#include <stddef.h>

static const char counts_zero[] = "diverges; such a pair counts 0, value and force";

static const kith_law_info infos[] = {
    {"gravity", "", "-G * m_i * m_j / r", "G = 1", counts_zero,
     "G: length^3 / (mass time^2); an energy"},
    {"coulomb", "", "k * q_i * q_j / r", "k = 1", counts_zero,
     "k: energy length / charge^2; an energy"},
    {"power", "A", "alpha / pow(r, A)", "A, alpha = 1",
     "A > 0: diverges, such a pair counts 0; A = 0: alpha; A < 0: 0",
     "alpha: energy length^A; algebraic, not by logarithms, for whole and half A"},
    {"yukawa", "L", "k * q_i * q_j * exp(-r / L) / r", "L > 0, k = 1", counts_zero,
     "L: length; k: energy length / charge^2"},
    {"lennard-jones", "[EPS,SIGMA]", "4 * epsilon * (pow(sigma / r, 12) - pow(sigma / r, 6))",
     "epsilon = 1, sigma = 1 (> 0)", counts_zero, "epsilon: energy; sigma: length"},
    {"morse", "D,A,R0", "D * (pow(exp(-A * (r - R0)), 2) - 2 * exp(-A * (r - R0)))", "D, A, R0",
     "D (e^(2 A R0) - 2 e^(A R0)); force 0", "D: energy; A: 1/length; R0: length"},
    {"gaussian", "S", "exp(-r2 / (2 * S * S))", "S > 0", "1; force 0", "S: length"},
    {"multiquadric", "C", "sqrt(r2 + C * C)", "C", "|C|; force 0", "C: length"},
    {"thin-plate", "", "r2 * log(r)", "", "0; force 0", "r: a number"},
    {"log2d", "", "k * q_i * q_j * log(r)", "k = 1", counts_zero,
     "positions in 2D; k: energy / charge^2; r: a number"},
    {"distance", "", "r", "", "0; force 0", "length"},
    {"distance2", "", "r2", "", "0; force 0", "length^2"},
    {"sum", "", "m_i + m_j", "", "m_i + m_j; force 0", "mass"},
    {"product", "", "m_i * m_j", "", "m_i m_j; force 0", "mass^2"},
};

const kith_law_info *kith_law_list(int64_t *count)
{
    if (count)
        *count = sizeof infos / sizeof infos[0];
    return infos;
}

/* A of alpha / r^A. Beyond this, squaring costs more than a logarithm and is less exact. */
enum { greatest_power = 64 };

static bool is_one(const double *parameter)
{
    return parameter[0] == 1;
}

static bool is_two(const double *parameter)
{
    return parameter[0] == 2;
}

static bool is_whole(const double *parameter)
{
    return fabs(parameter[0]) <= greatest_power && parameter[0] == floor(parameter[0]);
}

static bool is_half(const double *parameter)
{
    return fabs(parameter[0]) <= greatest_power && 2 * parameter[0] == floor(2 * parameter[0]);
}

/* law_powers_body.h has the meaning of these. */
static void resolve_power(const double *parameter, struct law_numbers *numbers)
{
    const double a = parameter[0], size = fabs(a);
    const bool is_even = fmod(size, 2) == 0;
    numbers->c[0] = parameter[1];
    numbers->c[1] = -a;
    numbers->whole = (int)(is_even ? size / 2 : size);
    numbers->base = a > 0 ? (is_even ? law_base_inverse_s2 : law_base_inverse_s)
                          : (is_even ? law_base_s2 : law_base_s);
}

const struct law_body law_bodies[] = {
    {"gravity", "inverse", NULL, NULL, NULL},
    {"coulomb", "inverse", NULL, NULL, NULL},
    {"power", "inverse", "alpha / r", is_one, NULL},
    {"power", "inverse_square", "alpha / r2", is_two, NULL},
    {"power", "whole_power", NULL, is_whole, resolve_power},
    {"power", "half_power", NULL, is_half, resolve_power},
    {"power", "real_power", "alpha * exp2(-A / 2 * log2(r2))", NULL, NULL},
    {"sum", "constant", NULL, NULL, NULL},
    {"product", "constant", NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
