#ifndef TREE_EXPANSION_ROTATION_H
#define TREE_EXPANSION_ROTATION_H

/* M2L of expansion_harmonic in O(p³) operations: along the axis between two cells. Coefficients are
 * rotated to it by factors e^{imα} and by exchanges of the axes x and z, which are constant
 * matrices (Dehnen 2014, Comput. Astrophys. Cosmol. 1, 1, appendix A.6).
 *
 * With ∂₊ = ∂_x + i ∂_y and w_nm² = (n − m)! (n + m)!, half of it for m > 0, the derivatives
 *
 *     D_nm = ∂₊^m ∂_z^{n − m} / w_nm,  0 ≤ m ≤ n
 *
 * of a harmonic function are an orthonormal basis: an exchange of x and z is an orthogonal,
 * symmetric matrix of the real parts, another one of the imaginary parts, in which only m + m' ≡ n
 * or m + m' ≡ n + 1 modulo 2 are not 0. In this basis the solid coefficients of a cell are
 *
 *     φ(x) = Σ_nm s^n (M_nm Re + N_nm Im) D_nm 1/|x − z|,   F_nm = s^n D_nm φ(z)
 *
 * With e^{iα} = (y + ix) / ρ and e^{iβ} = (z − iρ) / r a cell's M + iN is multiplied by e^{imα},
 * exchanged, multiplied by e^{imβ}, and exchanged. Then the target is at the distance r along z:
 *
 *     F_nm = (−1)^m (−s'/r)^n / r Σ_k G^m_nk (−s/r)^k (M_km + i N_km),  m ≤ k ≤ p − n
 *     G^m_nk = (n + k)! / √((n − m)! (n + m)! (k − m)! (k + m)!)
 *
 * and F goes the way back by the conjugate factors. Only m ≤ p/2 take part. */

#include "tree/expansion_angles.h"

#ifdef __cplusplus
#define KITH_CONSTANT KITH_BOTH_SIDES constexpr
#else
#define KITH_CONSTANT static inline
#endif

enum {
    rotation_numbers = 5336,        /* of the exchanges up to degree expansion_max_order */
    rotation_axis_numbers = 5456,   /* of the translations along the axis */
    solid_local_numbers = 10176 + 7 /* from solid coefficients to the others; read by vectors */
};

struct expansion_rotations {
    double even[rotation_numbers], odd[rotation_numbers]; /* at rotation_row(n, m) + m' / 2 */
    double axis[rotation_axis_numbers]; /* G^m_nk at rotation_axis(m, n) + k − m */
};

/* What M2L by solid coefficients reads. */
struct expansion_tables {
    struct expansion_rotations rotations;
    double local[solid_local_numbers]; /* L_α of Re or Im F_nm: by n, c, every second m, and b */
};

/* Where row m of the exchanges of degree n begins: n / 2 + 1 numbers, of every second m'. */
KITH_CONSTANT int32_t rotation_row(int32_t n, int32_t m)
{
    const int32_t h = n / 2;
    const int32_t below = 2 * (h - 1) * h * (2 * h - 1) / 3 + 7 * h * (h - 1) / 2 + 3 * h;
    return below + (n % 2) * (2 * h + 1) * (h + 1) + m * (h + 1);
}

KITH_CONSTANT int32_t rotation_axis(int32_t m, int32_t n)
{
    const int32_t length = expansion_max_order + 1;
    return m * length * length - 2 * length * m * (m - 1) + 2 * (m - 1) * m * (2 * m - 1) / 3 +
           (n - m) * (length - 2 * m);
}

/* √x by Newton's iteration, which falls to it. */
KITH_CONSTANT double rotation_root(double x)
{
    double root = x < 1 ? 1 : x, next = 0.5 * (root + x / root);
    while (next < root) {
        root = next;
        next = 0.5 * (root + x / root);
    }
    return root;
}

KITH_CONSTANT double rotation_factorial(int32_t n)
{
    double product = 1;
    for (int32_t k = 2; k <= n; k++)
        product *= k;
    return product;
}

/* The tables, which are the same for every order, into zeroed memory. Exchanged derivatives of
 * degree n + 1 follow from those of degree n, row by row: ∂_x of row m, and of the last row ∂_z + i
 * ∂_y. In the basis
 *
 *     ∂_x D^m = (D^{m + 1} − D^{m − 1}) / 2,  i ∂_y D^m = (D^{m + 1} + D^{m − 1}) / 2,  m > 0
 *     ∂_x D^0 = Re D^1,  ∂_y D^0 = Im D^1,  ∂_z D^m = D^m of the next degree
 *
 * where D^m = ∂₊^m ∂_z^{n − m}. */
KITH_CONSTANT void expansion_fill_rotations(struct expansion_rotations *tables)
{
    enum { last = expansion_max_order };
    double w[last + 1][last + 1] = {{0}}; /* without the factor of m > 0 */
    double even[last + 1][last + 1] = {{0}}, odd[last + 1][last + 1] = {{0}};
    for (int32_t n = 0; n <= last; n++)
        for (int32_t m = 0; m <= n; m++)
            w[n][m] = rotation_root(rotation_factorial(n - m) * rotation_factorial(n + m));
    even[0][0] = 1;
    for (int32_t n = 0; n <= last; n++) {
        for (int32_t m = 0; m <= n; m++)
            for (int32_t k = 0; k <= n; k++) {
                const double halves =
                    (m > 0 ? 1.4142135623730951 : 1) / (k > 0 ? 1.4142135623730951 : 1);
                const double factor = halves * w[n][k] / w[n][m];
                const int32_t at = rotation_row(n, m) + k / 2;
                if ((m + k - n) % 2 == 0)
                    tables->even[at] = even[m][k] * factor;
                else
                    tables->odd[at] = odd[m][k] * factor;
            }
        if (n == last)
            break;
        for (int32_t k = 0; k <= n; k++) { /* the last row, of the old one */
            even[n + 1][k] += even[n][k];
            odd[n + 1][k] += odd[n][k];
            odd[n + 1][k + 1] += k > 0 ? 0.5 * even[n][k] : even[n][k];
            even[n + 1][k + 1] += 0.5 * odd[n][k];
            if (k > 0)
                even[n + 1][k - 1] += 0.5 * odd[n][k];
            if (k > 1)
                odd[n + 1][k - 1] += 0.5 * even[n][k];
        }
        for (int32_t m = 0; m <= n; m++) {
            double next_even[last + 2] = {0}, next_odd[last + 2] = {0};
            for (int32_t k = 0; k <= n; k++) {
                next_even[k + 1] += k > 0 ? 0.5 * even[m][k] : even[m][k];
                next_odd[k + 1] += 0.5 * odd[m][k];
                if (k > 0)
                    next_even[k - 1] -= 0.5 * even[m][k];
                if (k > 1)
                    next_odd[k - 1] -= 0.5 * odd[m][k];
            }
            for (int32_t k = 0; k <= n + 1; k++) {
                even[m][k] = next_even[k];
                odd[m][k] = next_odd[k];
            }
        }
    }
    for (int32_t m = 0; 2 * m <= last; m++)
        for (int32_t n = m; n <= last - m; n++)
            for (int32_t k = m; k <= last - m; k++)
                if (n + k <= last)
                    tables->axis[rotation_axis(m, n) + k - m] =
                        rotation_factorial(n + k) / (w[n][m] * w[k][m]);
}

/* Where the solid coefficients of degree n begin: pairs of M_nm and N_nm, m ≤ n. */
KITH_CONSTANT int32_t solid_row(int32_t n)
{
    return n * (n + 1);
}

/* From angles of expansion_max_order. */
static inline void expansion_make_tables(const struct expansion_angles *angles,
                                         struct expansion_tables *tables)
{
    double *to = tables->local;
    expansion_fill_rotations(&tables->rotations);
    for (int32_t n = 0; n <= expansion_max_order; n++)
        for (int32_t c = 0; c <= 1; c++)
            for (int32_t m = (n - c) % 2; m <= n - c; m += 2)
                for (int32_t b = 0, a = n - c; a >= 0; b++, a--) {
                    const double factor = angles->of[a][b][m] * angles->weight[n][m];
                    *to++ = (a + b - m) % 4 == 0 ? factor : -factor;
                }
}

#endif
