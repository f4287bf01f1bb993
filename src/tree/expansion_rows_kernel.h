/* Products of rows of coefficients (expansion_row), derivatives of 1/s, and polynomials. Part of
 * expansion_kernel.c. */

/* sum[a] += Σ_k terms[k] field[a + k], a + k ≤ last, for a constant last. */
SIMD_INLINE void contract_row(const int32_t last, VREAL *sum, const VREAL *terms,
                              const VREAL *field)
{
    SIMD_UNROLL
    for (int32_t k = 0; k <= last; k++)
        SIMD_UNROLL
    for (int32_t a = 0; a <= last; a++)
        if (a + k <= last)
            sum[a] = simd_fma(terms[k], field[a + k], sum[a]);
}

/* Row b of a plane (a row length that is one less from row to row). */
SIMD_INLINE int32_t row_in_plane(int32_t length, int32_t b)
{
    return b * length - b * (b - 1) / 2;
}

/* Whether row b of sums is in registers together with the rows before it, a row of the field and a
 * term; rows have the coefficients 0 … last − b. Row 0 always is. */
SIMD_INLINE bool is_in_block(const int32_t last, int32_t b)
{
    return b == 0 || row_in_plane(last + 1, b + 1) + last + 2 <= registers;
}

SIMD_INLINE int32_t rows_of_block(const int32_t last)
{
#define COUNT_ROW(b) +((b) <= last && is_in_block(last, (b)))
    return 0 EACH_FIXED(COUNT_ROW);
#undef COUNT_ROW
}

/* sum_{ab} += Σ_{ij} terms_{ij} field_{a + i, b + j}, a + b + i + j ≤ last, for a constant last and
 * the rows b of a block; returns their number. The rows b = 0 have these lengths. The more sums are
 * in registers, the fewer terms wait for the sum before them. */
SIMD_INLINE int32_t contract_block(const int32_t last, VREAL *restrict sum, int64_t sum_length,
                                   const VREAL *terms, int64_t terms_length, const VREAL *field,
                                   int64_t field_length)
{
    VREAL total[max_fixed + 1][max_fixed + 1], row[max_fixed + 1];
#define EACH_SUM(DO)                                                                               \
    SIMD_UNROLL                                                                                    \
    for (int32_t b = 0; b <= last; b++)                                                            \
        SIMD_UNROLL                                                                                \
    for (int32_t a = 0; a <= last; a++)                                                            \
        if (a + b <= last && is_in_block(last, b))                                                 \
            DO;
    EACH_SUM(total[b][a] = sum[b * sum_length - b * (b - 1) / 2 + a])
#define ADD_ROW(f)                                                                                 \
    if ((f) <= last) {                                                                             \
        SIMD_UNROLL                                                                                \
        for (int32_t a = 0; a <= last; a++)                                                        \
            if (a + (f) <= last)                                                                   \
                row[a] = field[(f)*field_length - (f) * ((f)-1) / 2 + a];                          \
        SIMD_UNROLL                                                                                \
        for (int32_t i = 0; i <= last; i++)                                                        \
            SIMD_UNROLL                                                                            \
        for (int32_t b = 0; b <= (f); b++)                                                         \
            if (i + (f) <= last && is_in_block(last, b)) {                                         \
                const int32_t j = (f)-b;                                                           \
                const VREAL term = terms[j * terms_length - j * (j - 1) / 2 + i];                  \
                SIMD_UNROLL                                                                        \
                for (int32_t a = 0; a <= last; a++)                                                \
                    if (a + i + (f) <= last)                                                       \
                        total[b][a] = simd_fma(term, row[a + i], total[b][a]);                     \
            }                                                                                      \
    }
    EACH_FIXED(ADD_ROW)
#undef ADD_ROW
    EACH_SUM(sum[b * sum_length - b * (b - 1) / 2 + a] = total[b][a])
#undef EACH_SUM
    return rows_of_block(last);
}

typedef int32_t contract_rows_of_plane(VREAL *restrict sum, int64_t sum_length, const VREAL *terms,
                                       int64_t terms_length, const VREAL *field,
                                       int64_t field_length);

#define DEFINE_CONTRACT(last)                                                                      \
    static int32_t contract_block_##last(VREAL *restrict sum, int64_t sum_length,                  \
                                         const VREAL *terms, int64_t terms_length,                 \
                                         const VREAL *field, int64_t field_length)                 \
    {                                                                                              \
        return contract_block(last, sum, sum_length, terms, terms_length, field, field_length);    \
    }
EACH_FIXED(DEFINE_CONTRACT)
#undef DEFINE_CONTRACT

#define NAME_CONTRACT(last) contract_block_##last,
static contract_rows_of_plane *const contract_blocks[] = {EACH_FIXED(NAME_CONTRACT)};
#undef NAME_CONTRACT

/* sum_{ab} += Σ_{ij} terms_{ij} field_{a + i, b + j}, a + b + i + j ≤ order ≤ max_fixed. */
SIMD_INLINE void contract_plane(int32_t order, VREAL *restrict sum, int64_t sum_length,
                                const VREAL *terms, int64_t terms_length, const VREAL *field,
                                int64_t field_length)
{
    for (int32_t b = 0; b <= order;) {
        const int32_t rows = contract_blocks[order - b](
            sum + row_in_plane((int32_t)sum_length, b), sum_length - b, terms, terms_length,
            field + row_in_plane((int32_t)field_length, b), field_length - b);
        b += rows;
    }
}

/* One row of contract_any. */
typedef void contract_any_row(VREAL *restrict sum, const VREAL *terms, const VREAL *field);

#define DEFINE_ROW(last)                                                                           \
    static void contract_row_##last(VREAL *restrict sum, const VREAL *terms, const VREAL *field)   \
    {                                                                                              \
        VREAL total[(last) + 1];                                                                   \
        memcpy(total, sum, sizeof total);                                                          \
        contract_row(last, total, terms, field);                                                   \
        memcpy(sum, total, sizeof total);                                                          \
    }
EACH_LAST(DEFINE_ROW)
#undef DEFINE_ROW

#define NAME_ROW(last) contract_row_##last,
static contract_any_row *const contract_rows[] = {EACH_LAST(NAME_ROW)};
#undef NAME_ROW

/* contract_plane for any order. */
static void contract_any(int32_t order, VREAL *restrict sum, int32_t sum_length, const VREAL *terms,
                         int32_t terms_length, const VREAL *field, int32_t field_length)
{
    for (int32_t b = 0; b <= order; b++)
        for (int32_t j = 0; b + j <= order; j++)
            contract_rows[order - b - j](sum + row_in_plane(sum_length, b),
                                         terms + row_in_plane(terms_length, j),
                                         field + row_in_plane(field_length, b + j));
}

/* Coefficients of one c, a + b ≤ order. */
SIMD_INLINE int32_t plane_length(int32_t order)
{
    return (order + 1) * (order + 2) / 2;
}

/* contract for max_c = 1 and a constant order. */
SIMD_INLINE void contract_order(const int32_t order, VREAL *restrict sum, const VREAL *terms,
                                const VREAL *field)
{
    SIMD_UNROLL
    for (int32_t k = 0; k <= 1; k++)
        SIMD_UNROLL
    for (int32_t c = 0; c <= 1; c++) {
        const int32_t last = order - c - k, length = order + 1;
        VREAL *to = sum + expansion_row(order, 0, c);
        const VREAL *x = terms + expansion_row(order, 0, k);
        const VREAL *y = field + expansion_row(order, 0, c + k);
        int32_t next = 0;
#define ADD_BLOCK(b)                                                                               \
    if (next == (b) && (b) <= last)                                                                \
        next += contract_block(last - (b), to + row_in_plane(length - c, (b)), length - c - (b),   \
                               x, length - k, y + row_in_plane(length - c - k, (b)),               \
                               length - c - k - (b));
        EACH_FIXED(ADD_BLOCK)
#undef ADD_BLOCK
    }
}

typedef void contract_all(VREAL *restrict sum, const VREAL *terms, const VREAL *field);

#define DEFINE_OWN(order)                                                                          \
    static void contract_order_##order(VREAL *restrict sum, const VREAL *terms,                    \
                                       const VREAL *field)                                         \
    {                                                                                              \
        contract_order(order, sum, terms, field);                                                  \
    }
EACH_OWN(DEFINE_OWN)
#undef DEFINE_OWN

#define NAME_OWN(order) contract_order_##order,
static contract_all *const contract_orders[] = {NULL, EACH_OWN(NAME_OWN)};
#undef NAME_OWN

/* sum_α += Σ_β terms_β field_{α + β}, |α| + |β| ≤ order and c ≤ max_c in α and β. */
static void contract(int32_t order, int32_t max_c, VREAL *restrict sum, const VREAL *terms,
                     const VREAL *field)
{
    if (max_c == 1 && order <= most_of_own) {
        contract_orders[order](sum, terms, field);
        return;
    }
    for (int32_t c = 0; c <= max_c; c++) {
        const VREAL *x = terms, *y = field;
        for (int32_t k = 0; k <= max_c && k <= order - c; k++) {
            const int32_t length = order + 1, last = order - c - k;
            if (last <= max_fixed)
                contract_plane(last, sum, length - c, x, length - k, y, length - c - k);
            else
                contract_any(last, sum, length - c, x, length - k, y, length - c - k);
            x += plane_length(order - k);
            y += plane_length(last);
        }
        sum += plane_length(order - c);
        field += plane_length(order - c);
    }
}

/* sum[a + k] += Σ first[a] second[k], a + k ≤ last. */
#define DEFINE_ROW(last)                                                                           \
    static void multiply_row_##last(VREAL *restrict sum, const VREAL *first, const VREAL *second)  \
    {                                                                                              \
        VREAL total[(last) + 1];                                                                   \
        memcpy(total, sum, sizeof total);                                                          \
        SIMD_UNROLL                                                                                \
        for (int32_t k = 0; k <= (last); k++)                                                      \
            SIMD_UNROLL                                                                            \
        for (int32_t a = 0; a <= (last); a++)                                                      \
            if (a + k <= (last))                                                                   \
                total[a + k] = simd_fma(first[a], second[k], total[a + k]);                        \
        memcpy(sum, total, sizeof total);                                                          \
    }
EACH_LAST(DEFINE_ROW)
#undef DEFINE_ROW

#define NAME_ROW(last) multiply_row_##last,
static contract_any_row *const multiply_rows[] = {EACH_LAST(NAME_ROW)};
#undef NAME_ROW

/* sum_{α + β} += Σ first_α second_β, |α| + |β| ≤ order and c ≤ max_c in α and β. */
static void multiply(int32_t order, int32_t max_c, VREAL *restrict sum, const VREAL *first,
                     const VREAL *second)
{
    for (int32_t c = 0; c <= max_c; c++)
        for (int32_t b = 0; b <= order - c; b++)
            for (int32_t k = 0; k <= max_c && k <= order - b - c; k++)
                for (int32_t j = 0; j <= order - b - c - k; j++)
                    multiply_rows[order - b - c - k - j](sum + expansion_row(order, b + j, c + k),
                                                         first + expansion_row(order, b, c),
                                                         second + expansion_row(order, j, k));
}

/* Adds the components c = 2 of a multipole to those that they are equivalent to. */
static void reduce(int32_t order, VREAL *f)
{
    for (int32_t b = 0; b <= order - 2; b++)
        for (int32_t a = 0; a <= order - 2 - b; a++) {
            const VREAL component = f[expansion_row(order, b, 2) + a];
            f[expansion_row(order, b, 0) + a + 2] -= component;
            f[expansion_row(order, b + 2, 0) + a] -= component;
        }
}

/* One level of derivatives_plane, for constant order and degree. */
SIMD_INLINE void raise_level(const int32_t order, const int32_t degree, VREAL x, VREAL y,
                             VREAL base, VREAL *e)
{
    SIMD_UNROLL
    for (int32_t b = order; b >= 0; b--) {
        SIMD_UNROLL
        for (int32_t a = order; a >= 0; a--) {
            if (a + b > degree)
                continue;
            VREAL *row = e + row_in_plane(order + 1, b);
            if (a > 1)
                row[a] = simd_fma(x, row[a - 1], row[a - 2] * (REAL)(a - 1));
            else if (a == 1)
                row[1] = x * row[0];
            else if (b > 1)
                row[0] = simd_fma(y, e[row_in_plane(order + 1, b - 1)],
                                  e[row_in_plane(order + 1, b - 2)] * (REAL)(b - 1));
            else if (b == 1)
                row[0] = y * e[0];
            else
                row[0] = base;
        }
    }
}

/* −f_{a + 2, b} − f_{a, b + 2}: what Laplace's equation says of c + 2. A plane of this length. */
SIMD_INLINE VREAL second_in_z(int32_t length, const VREAL *plane, int32_t a, int32_t b)
{
    return -(plane[row_in_plane(length, b) + a + 2] + plane[row_in_plane(length, b + 2) + a]);
}

/* E^0_{ab} for a + b ≤ order from E^m_0 = base[m]; and, if in_z, in_z[0] E^1_{ab} after it, and
 * what follows for c = 2.
 *
 * With E^m_α = ∂^α (s^{-1} d/ds)^m f(s): E^m_{α + e_x} = x E^{m+1}_α + a E^{m+1}_{α − e_x}, and
 * likewise for y and z (McMurchie & Davidson 1978). A level m of degrees ≤ order − m takes the
 * place of level m + 1, the highest degrees first. */
typedef void derivatives_plane(VREAL x, VREAL y, const VREAL *base, const VREAL *in_z,
                               VREAL *restrict e);

SIMD_INLINE void derivatives_order(const int32_t order, VREAL x, VREAL y, const VREAL *base,
                                   const VREAL *in_z, VREAL *restrict e)
{
    const int32_t length = order + 1;
    VREAL level[(max_fixed + 1) * (max_fixed + 2) / 2];
    VREAL *const first = e + row_in_plane(length, length);
    VREAL *const second = first + row_in_plane(order, order);
#define RAISE(m)                                                                                   \
    if ((m) < order)                                                                               \
        raise_level(order, (m), x, y, base[order - (m)], level);
    EACH_FIXED(RAISE)
#undef RAISE
    if (in_z && order > 0)
        SIMD_UNROLL
    for (int32_t b = 0; b <= order - 1; b++)
        SIMD_UNROLL
    for (int32_t a = 0; a <= order - 1; a++)
        if (a + b <= order - 1)
            first[row_in_plane(order, b) + a] = *in_z * level[row_in_plane(length, b) + a];
    raise_level(order, order, x, y, base[0], level);
    SIMD_UNROLL
    for (int32_t b = 0; b <= order; b++)
        SIMD_UNROLL
    for (int32_t a = 0; a <= order; a++)
        if (a + b <= order)
            e[row_in_plane(length, b) + a] = level[row_in_plane(length, b) + a];
    if (in_z && order > 1)
        SIMD_UNROLL
    for (int32_t b = 0; b <= order - 2; b++)
        SIMD_UNROLL
    for (int32_t a = 0; a <= order - 2; a++)
        if (a + b <= order - 2)
            second[row_in_plane(order - 1, b) + a] = second_in_z(length, level, a, b);
}

#define DEFINE_DERIVATIVES(order)                                                                  \
    static void derivatives_plane_##order(VREAL x, VREAL y, const VREAL *base, const VREAL *in_z,  \
                                          VREAL *restrict e)                                       \
    {                                                                                              \
        if (in_z)                                                                                  \
            derivatives_order(order, x, y, base, in_z, e);                                         \
        else                                                                                       \
            derivatives_order(order, x, y, base, NULL, e);                                         \
    }
EACH_FIXED(DEFINE_DERIVATIVES)
#undef DEFINE_DERIVATIVES

#define NAME_DERIVATIVES(order) derivatives_plane_##order,
static derivatives_plane *const derivatives_planes[] = {EACH_FIXED(NAME_DERIVATIVES)};
#undef NAME_DERIVATIVES

static void derivatives_any(int32_t order, VREAL x, VREAL y, const VREAL *base, const VREAL *in_z,
                            VREAL *restrict e)
{
    const int32_t length = order + 1;
    VREAL *const first = e + row_in_plane(length, length);
    VREAL *const second = first + row_in_plane(order, order);
    for (int32_t degree = 0; degree <= order; degree++) {
        for (int32_t b = degree; b >= 0; b--) {
            VREAL *row = e + row_in_plane(length, b);
            for (int32_t a = degree - b; a > 1; a--)
                row[a] = simd_fma(x, row[a - 1], row[a - 2] * (REAL)(a - 1));
            if (degree - b > 0)
                row[1] = x * row[0];
            if (b > 1)
                row[0] = simd_fma(y, e[row_in_plane(length, b - 1)],
                                  e[row_in_plane(length, b - 2)] * (REAL)(b - 1));
            else
                row[0] = b == 1 ? y * e[0] : base[order - degree];
        }
        if (in_z && degree == order - 1)
            for (int32_t b = 0; b < order; b++)
                for (int32_t a = 0; a < order - b; a++)
                    first[row_in_plane(order, b) + a] = *in_z * e[row_in_plane(length, b) + a];
    }
    for (int32_t b = 0; b <= order - 2 && in_z; b++)
        for (int32_t a = 0; a <= order - 2 - b; a++)
            second[row_in_plane(order - 1, b) + a] = second_in_z(length, e, a, b);
}

/* (s^{-1} d/ds)^m f(s) of f = 1/s, which is (−1)^m (2m − 1)!! / s^{2m + 1}, or of f = ln s. */
SIMD_INLINE void radial_derivatives(enum expansion_law law, int32_t order, VREAL s2,
                                    VREAL inverse_unit, VREAL *base)
{
    const VREAL rsqrt = simd_rsqrt(s2), inverse2 = rsqrt * rsqrt;
    int32_t m = 1;
    base[0] = rsqrt;
    if (law == expansion_logarithm) {
        base[0] = simd_log(s2) * (REAL)0.5 - simd_log(inverse_unit);
        base[m++] = inverse2;
    }
    for (; m <= order; m++)
        base[m] = base[m - 1] * inverse2 * (REAL)((law == expansion_logarithm ? 2 : 1) - 2 * m);
}

/* (s^{-1} d/ds)^m f(s) of the f of bins, in units of length of which one is 1 / inverse_unit: 2^m
 * times derivative m by s², from the series about the middle of the bin. Outside of the bins it is
 * that of a middle. */
static void derivatives_of_bins(const struct expansion_bins *bins, int32_t order, VREAL s2,
                                VREAL inverse_unit, VREAL *base)
{
    enum { shift = BITS_OF_MANTISSA - expansion_bin_bits, is_float = BITS_OF_MANTISSA < 32 };
    const VREAL scale = (REAL)bins->per_unit / inverse_unit;
    const VREAL place = s2 * scale * scale;
    const int64_t first = is_float ? bins->first_float : bins->first_double;
    const REAL *from[REAL_LANES];
    VMASK number = (VMASK)place >> shift, middle = {0};
    for (int32_t lane = 0; lane < REAL_LANES; lane++) {
        int64_t bin = number[lane] - first;
        bin = bin < 0 ? 0 : bin >= bins->count ? bins->count - 1 : bin;
        from[lane] = (const REAL *)bins->rows + bin * bins->terms;
        middle[lane] = ((INTEGER)(bin + first) << shift) | ((INTEGER)1 << (shift - 1));
    }
    const VREAL center = (VREAL)middle;
    const VMASK is_inside = (VMASK)((middle >> shift) == number);
    const VREAL t = (VREAL)(is_inside & (VMASK)((place - center) / center));
    VREAL series[expansion_most_terms], power = simd_all((REAL)1);
    for (int32_t k = 0; k < bins->terms; k += 4)
        simd_gather4(series + k, from, k);
    const VREAL step = 2 * scale * scale / center;
    for (int32_t m = 0; m <= order; m++) {
        for (int32_t k = bins->terms - 2; k >= m; k--)
            series[k] = simd_fma(t, series[k + 1], series[k]);
        base[m] = series[m] * power;
        power *= step * (REAL)(m + 1);
    }
}

/* (s^{-1} d/ds)^m f(s) for m ≤ order; s² = d² + ε² in units of length of which one is
 * 1 / inverse_unit. */
SIMD_INLINE void differentiate(const struct expansion *expansion, int32_t order, VREAL s2,
                               VREAL inverse_unit, VREAL *base)
{
    if (expansion->law == expansion_series)
        derivatives_of_bins(expansion->bins, order, s2, inverse_unit, base);
    else
        radial_derivatives(expansion->law, order, s2, inverse_unit, base);
}

/* ∂^α f for |α| ≤ order and c ≤ 2 or, if not harmonic, c ≤ max_c, from differentiate. Destroys
 * base. */
static void make_tensors(enum expansion_basis basis, int32_t order, const VREAL d[3], VREAL *base,
                         VREAL *restrict e)
{
    VREAL before[max_rows];
    if (basis == expansion_full)
        memset(before, 0, sizeof before);
    const VREAL *in_z = basis == expansion_harmonic ? &d[2] : NULL;
    for (int32_t c = 0; c <= (basis == expansion_full ? order : 0); c++) {
        if (order - c <= max_fixed)
            derivatives_planes[order - c](d[0], d[1], base, in_z, e + expansion_row(order, 0, c));
        else
            derivatives_any(order - c, d[0], d[1], base, in_z, e + expansion_row(order, 0, c));
        for (int32_t m = 0; m < order - c && basis == expansion_full; m++) {
            /* to c + 1 of z */
            const VREAL next = simd_fma(d[2], base[m + 1], before[m + 1] * (REAL)c);
            before[m] = base[m];
            base[m] = next;
        }
    }
}

static void make_derivatives(const struct expansion *expansion, int32_t order, const VREAL d[3],
                             VREAL s2, VREAL inverse_unit, VREAL *restrict e)
{
    VREAL base[max_rows];
    differentiate(expansion, order, s2, inverse_unit, base);
    make_tensors(expansion->basis, order, d, base, e);
}
