#ifndef LAW_LAW_KINDS_H
#define LAW_LAW_KINDS_H

/* What a kernel distinguishes; read by host code, by CUDA and by what is compiled at run time, so
 * it includes nothing. Several laws of the table share a kind: gravity is c[0]/s with c[0] = −G. */

/* Each kind: u(s²) is the value of a pair of weights 1. c are the constants of the law. */
#define LAW_EACH_BUILT_IN(ROW)                                                                     \
    ROW(inverse)        /* c0 / s: gravity, coulomb, power:1 */                                    \
    ROW(inverse_square) /* c0 / s²: power:2 */                                                    \
    ROW(whole_power)    /* c0 b^n, b = s, s², or their inverses; c1 = −A; whole, base */        \
    ROW(half_power)     /* c0 √b b^n, b = s or 1/s; c1 = −A */                                 \
    ROW(real_power)     /* c0 2^(c2 log2 s²); c1 = −A, c2 = −A/2 */                           \
    ROW(yukawa)         /* c0 2^(c1 s) / s; c1 = −log2(e)/L, c2 = 1/L */                         \
    ROW(lennard_jones)  /* c0 (t² − t), t = (c1/s²)³; c0 = 4ε, c1 = σ² */                  \
    ROW(morse)          /* c0 (e² − 2e), e = 2^(c1 s + c2); c3 = 2 A D, c4 = A */               \
    ROW(gaussian)       /* c0 2^(c1 s²); c1 = −log2(e)/(2S²), c2 = −c0/S², c3 = c0/S⁴ */  \
    ROW(multiquadric)   /* c0 √(s² + c1); c1 = C² */                                           \
    ROW(thin_plate)     /* c0 s² ln s */                                                          \
    ROW(distance)       /* c0 s */                                                                 \
    ROW(distance2)      /* c0 s² */                                                               \
    ROW(constant)       /* c0: sum, product */

enum law_kind {
#define LAW_ENUMERATOR(kind) law_##kind,
    LAW_EACH_BUILT_IN(LAW_ENUMERATOR)
#undef LAW_ENUMERATOR
        law_built_in_count,
    law_custom = law_built_in_count /* the formula that is compiled with the kernel */
};

/* What the weights w_i and w_j of a pair are to u: V = u, w_i w_j u, (w_i + w_j) u. */
enum law_weighting { law_unweighted, law_product, law_sum };

/* Whether a law of this kind may be weighted by a product; but for the constants, which may be by a
 * sum, the table of laws weights no others. */
#define LAW_MAY_BE_PRODUCT(kind)                                                                   \
    ((kind) == law_inverse || (kind) == law_yukawa || (kind) == law_constant ||                    \
     (kind) == law_custom)

/* The base of whole_power. */
enum law_base { law_base_s, law_base_s2, law_base_inverse_s, law_base_inverse_s2 };

enum { law_constant_count = 16 };

/* Added to s² where 1/s must be finite at s = 0; changes no bit unless s is far below the
 * resolution of coordinates. Distances from about 1e-12 to 1e19 are in a float's range, from 1e-100
 * to 1e150 in a double's. */
#define LAW_FLOOR_FLOAT  0x1p-84f
#define LAW_FLOOR_DOUBLE 0x1p-680

/* The constants of a law. */
struct law_numbers {
    double c[law_constant_count];
    int whole; /* n of the powers */
    enum law_base base;
    int diverges; /* at s = 0; the value there is then 0 */
};

/* What a kernel is compiled for: constants once inlined. */
struct law_form {
    enum law_kind kind;
    enum law_weighting weighting;
};

#endif
