#ifndef MESH_SPLIT_H
#define MESH_SPLIT_H

/* The smooth part of 1/r, which Ewald summation computes by waves, as polynomials of r².
 *
 *     erf(α r) / r = α f(u),    −1/r d/dr (erf(α r) / r) = −2 α³ f'(u),    u = (α r)²
 *     f(u) = erf(√u)/√u = 2/√π Σ_n (−u)^n / (n! (2n + 1))
 *
 * f is entire: on 0 ≤ u ≤ (α cutoff)² Chebyshev's series of it ends after few terms (as e^{−u}'s,
 * whose coefficients are e^{−a} I_k(a), a half the interval). So a pair takes 1/r, two polynomials
 * and neither an exponential nor a division.
 *
 * Likewise of 1/r⁶ (Essmann et al. 1995, J. Chem. Phys. 103, 8577), with P the incomplete gamma
 * function of order 3:
 *
 *     P(u) / r⁶ = α⁶ f(u),    f(u) = [1 − (1 + u + u²/2) e^{−u}] / u³ = 1/2 Σ_n (−u)^n / (n! (n +
 * 3))
 */

#include <stdint.h>

enum { split_most_terms = 48 };

/* In units of the cutoff, with z = 2 r² − 1:
 *
 *     erfc(α r)/r = 1/r − Σ_k value[k] z^k,    −1/r d/dr of it = 1/r³ − Σ_k factor[k] z^k
 *
 * and likewise with 1/r⁶ and 6/r⁸. */
struct split {
    int32_t terms;
    double value[split_most_terms], factor[split_most_terms];
};

/* For α in units of 1/cutoff and an absolute error of either polynomial of about `error`; of 1/r or
 * of 1/r⁶. */
void split_make(double alpha, double error, struct split *split);
void split_make_sixth(double alpha, double error, struct split *split);

#endif
