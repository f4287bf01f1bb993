#ifndef LAW_LAW_NUMBERS_H
#define LAW_LAW_NUMBERS_H

/* The numbers of a law in a kernel; read by host code, by CUDA and by code compiled at run time, so
 * that it includes nothing. */

/* How the weights w_i and w_j of a pair enter V: V = u, w_i w_j u, (w_i + w_j) u. */
enum law_weighting { law_unweighted, law_product, law_sum };

/* The base of powers whose exponent is a parameter (law_powers_body.h). */
enum law_base { law_base_s, law_base_s2, law_base_inverse_s, law_base_inverse_s2 };

enum { law_constant_count = 32 };

/* The numbers of a law: constants of its formula (formula_constants.c), or what the kind says. */
struct law_numbers {
    double c[law_constant_count];
    int whole; /* n of the powers */
    enum law_base base;
    int diverges; /* at s = 0; the value there is then 0 */
};

#endif
