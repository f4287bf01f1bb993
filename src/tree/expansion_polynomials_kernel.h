/* The polynomials H_α (expansion.h), and sums of their products. Part of expansion_kernel.c. */

/* H_{ab0} and H_{ab1} of degree n, for constant n and order, where those of degree n − 1 are there;
 * d is 1/n of the vector. As H is homogeneous and its derivatives are among the H's,
 * n H = x ∂_x H + y ∂_y H + z ∂_z H. */
SIMD_INLINE void raise_degree(const int32_t order, const int32_t n, const VREAL d[3], VREAL *h)
{
#define H(a, b, c) h[expansion_row(order, b, c) + (a)]
    SIMD_UNROLL
    for (int32_t b = 0; b <= n; b++) {
        const int32_t a = n - b;
        VREAL sum = a > 0 ? d[0] * H(a - 1, b, 0) : d[1] * H(a, b - 1, 0);
        if (a > 0 && b > 0)
            sum = simd_fma(d[1], H(a, b - 1, 0), sum);
        if (a > 1 && b > 1)
            sum = simd_fma(-d[2], H(a - 2, b, 1) + H(a, b - 2, 1), sum);
        else if (a > 1 || b > 1)
            sum = simd_fma(-d[2], a > 1 ? H(a - 2, b, 1) : H(a, b - 2, 1), sum);
        H(a, b, 0) = sum;
    }
    SIMD_UNROLL
    for (int32_t b = 0; b < n; b++) {
        const int32_t a = n - 1 - b;
        VREAL sum = d[2] * H(a, b, 0);
        if (a > 0)
            sum = simd_fma(d[0], H(a - 1, b, 1), sum);
        if (b > 0)
            sum = simd_fma(d[1], H(a, b - 1, 1), sum);
        H(a, b, 1) = sum;
    }
#undef H
}

SIMD_INLINE void raise_degrees(const int32_t order, const VREAL d[3], VREAL *restrict h)
{
    h[0] = simd_all((REAL)1);
#define RAISE(k)                                                                                   \
    if ((k) < order) {                                                                             \
        const REAL inverse = 1 / (REAL)((k) + 1);                                                  \
        const VREAL part[3] = {d[0] * inverse, d[1] * inverse, d[2] * inverse};                    \
        raise_degree(order, (k) + 1, part, h);                                                     \
    }
    EACH_FIXED(RAISE)
#undef RAISE
}

typedef void harmonics(const VREAL d[3], VREAL *restrict h);

#define DEFINE_HARMONICS(order)                                                                    \
    static void harmonics_##order(const VREAL d[3], VREAL *restrict h)                             \
    {                                                                                              \
        raise_degrees(order, d, h);                                                                \
    }
EACH_FIXED(DEFINE_HARMONICS)
#undef DEFINE_HARMONICS

#define NAME_HARMONICS(order) harmonics_##order,
static harmonics *const harmonics_of[] = {EACH_FIXED(NAME_HARMONICS)};
#undef NAME_HARMONICS

/* raise_degree for n ≥ 4 that are not constant: a loop over b without the cases of the first and
 * the last two, from an element to the next by its distance. */
static void raise_any_degree(int32_t order, int32_t n, const VREAL d[3], VREAL *h)
{
#define H(a, b, c) h[expansion_row(order, b, c) + (a)]
    H(n, 0, 0) = simd_fma(-d[2], H(n - 2, 0, 1), d[0] * H(n - 1, 0, 0));
    H(n - 1, 1, 0) =
        simd_fma(-d[2], H(n - 3, 1, 1), simd_fma(d[1], H(n - 1, 0, 0), d[0] * H(n - 2, 1, 0)));
    const VREAL *before = &H(n - 2, 1, 0), *far = &H(n - 4, 2, 1), *near = &H(n - 2, 0, 1);
    VREAL *at = &H(n - 3, 2, 0);
    for (int32_t b = 2; b <= n - 2; b++) { /* at[1] is H(n − b, b, 0) */
        at[1] = simd_fma(-d[2], *far + *near, simd_fma(d[1], *before, d[0] * *at));
        before = at;
        at += order - b;
        far += order - b - 1;
        near += order - b + 1;
    }
    H(1, n - 1, 0) =
        simd_fma(-d[2], H(1, n - 3, 1), simd_fma(d[1], H(1, n - 2, 0), d[0] * H(0, n - 1, 0)));
    H(0, n, 0) = simd_fma(-d[2], H(0, n - 2, 1), d[1] * H(0, n - 1, 0));
    H(n - 1, 0, 1) = simd_fma(d[0], H(n - 2, 0, 1), d[2] * H(n - 1, 0, 0));
    const VREAL *below = &H(n - 2, 1, 0);
    before = &H(n - 2, 0, 1);
    at = &H(n - 3, 1, 1);
    for (int32_t b = 1; b <= n - 2; b++) { /* at[1] is H(n − 1 − b, b, 1) */
        at[1] = simd_fma(d[1], *before, simd_fma(d[0], *at, d[2] * *below));
        before = at;
        at += order - b - 1;
        below += order - b;
    }
    H(0, n - 1, 1) = simd_fma(d[1], H(0, n - 2, 1), d[2] * H(0, n - 1, 0));
#undef H
}

static void harmonics_any(int32_t order, const VREAL d[3], VREAL *restrict h)
{
    h[0] = simd_all((REAL)1);
    for (int32_t n = 1; n <= order; n++) {
        const REAL inverse = 1 / (REAL)n;
        const VREAL part[3] = {d[0] * inverse, d[1] * inverse, d[2] * inverse};
        if (n < 4)
            raise_degree(order, n, part, h);
        else
            raise_any_degree(order, n, part, h);
    }
}

/* H_α(d) for |α| ≤ order. */
static void make_polynomials(int32_t order, enum expansion_basis basis, const VREAL d[3],
                             VREAL *restrict h)
{
    if (basis == expansion_harmonic && order <= max_fixed)
        harmonics_of[order](d, h);
    else if (basis == expansion_harmonic)
        harmonics_any(order, d, h);
    if (basis == expansion_harmonic)
        return;
    VREAL power[3][max_rows]; /* x^k / k! */
    for (int32_t axis = 0; axis < 3; axis++) {
        power[axis][0] = simd_all((REAL)1);
        for (int32_t k = 1; k <= order; k++)
            power[axis][k] = power[axis][k - 1] * d[axis] * (1 / (REAL)k);
    }
    for (int32_t c = 0; c <= expansion_max_c(basis, order); c++)
        for (int32_t b = 0; b <= order - c; b++) {
            const VREAL factor = power[1][b] * power[2][c];
            VREAL *row = h + expansion_row(order, b, c);
            for (int32_t a = 0; a <= order - b - c; a++)
                row[a] = factor * power[0][a];
        }
}

/* Σ terms_{ij} of f_{ij}, f_{i + 1, j}, f_{i, j + 1} and g_{ij}, added to total[0 … 3]; i + j ≤
 * order, f of order + 1; g is the plane of c + 1, or NULL. Rows b = 0 have these lengths. */
typedef void dot_plane(const VREAL *terms, int32_t terms_length, const VREAL *f, const VREAL *g,
                       int32_t f_length, VREAL total[4]);

SIMD_INLINE void dot_row(const int32_t last, const VREAL *terms, const VREAL *f, const VREAL *next,
                         const VREAL *g, VREAL total[4])
{
    SIMD_UNROLL
    for (int32_t a = 0; a <= last; a++) {
        total[0] = simd_fma(terms[a], f[a], total[0]);
        total[1] = simd_fma(terms[a], f[a + 1], total[1]);
        total[2] = simd_fma(terms[a], next[a], total[2]);
        if (g)
            total[3] = simd_fma(terms[a], g[a], total[3]);
    }
}

SIMD_INLINE void dot_order(const int32_t order, const VREAL *terms, int32_t terms_length,
                           const VREAL *f, const VREAL *g, int32_t f_length, VREAL total[4])
{
    VREAL sum[2][4] = {{{0}}}; /* two chains of additions */
#define ADD_ROW(b)                                                                                 \
    if ((b) <= order)                                                                              \
        dot_row(order - (b), terms + row_in_plane(terms_length, b), f + row_in_plane(f_length, b), \
                f + row_in_plane(f_length, (b) + 1), g ? g + row_in_plane(f_length - 1, b) : NULL, \
                sum[(b) % 2]);
    EACH_FIXED(ADD_ROW)
#undef ADD_ROW
    SIMD_UNROLL
    for (int32_t k = 0; k < 4; k++)
        total[k] += sum[0][k] + sum[1][k];
}

#define DEFINE_DOT(order)                                                                          \
    static void dot_plane_##order(const VREAL *terms, int32_t terms_length, const VREAL *f,        \
                                  const VREAL *g, int32_t f_length, VREAL total[4])                \
    {                                                                                              \
        if (g)                                                                                     \
            dot_order(order, terms, terms_length, f, g, f_length, total);                          \
        else                                                                                       \
            dot_order(order, terms, terms_length, f, NULL, f_length, total);                       \
    }
EACH_FIXED(DEFINE_DOT)
#undef DEFINE_DOT

#define NAME_DOT(order) dot_plane_##order,
static dot_plane *const dot_planes[] = {EACH_FIXED(NAME_DOT)};
#undef NAME_DOT

/* total[0] = Σ_α terms_α field_α, |α| ≤ order, and total[1 … 3] the same of field_{α + e}, where e
 * is the step in x, y, z (not in the plane). terms are of this order, field of one more. */
static void dot(int32_t order, enum expansion_basis basis, const VREAL *terms, const VREAL *field,
                VREAL total[4])
{
    memset(total, 0, 4 * sizeof total[0]);
    for (int32_t c = 0; c <= expansion_max_c(basis, order); c++) {
        const VREAL *x = terms + expansion_row(order, 0, c);
        const VREAL *f = field + expansion_row(order + 1, 0, c);
        const VREAL *g =
            basis == expansion_plane ? NULL : field + expansion_row(order + 1, 0, c + 1);
        const int32_t length = order - c + 1;
        if (order - c <= max_fixed) {
            dot_planes[order - c](x, length, f, g, length + 1, total);
            continue;
        }
        VREAL sum[2][4] = {{{0}}};
        for (int32_t b = 0; b <= order - c; b++)
            dot_row(order - c - b, x + row_in_plane(length, b), f + row_in_plane(length + 1, b),
                    f + row_in_plane(length + 1, b + 1), g ? g + row_in_plane(length, b) : NULL,
                    sum[b % 2]);
        for (int32_t k = 0; k < 4; k++)
            total[k] += sum[0][k] + sum[1][k];
    }
}
