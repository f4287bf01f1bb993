/* M2L in O(p³) (tree/expansion_rotation.h). Included by expansion_kernel_body.h for each precision.
 *
 * Numbers of one degree are in four columns: real and imaginary parts, each of even and of odd m.
 */

/* to[i] = Σ_j of[i stride + j] from[j], j < count, for constant count. */
SIMD_INLINE void NAME(rows_by_columns)(const int32_t count, int32_t rows, const double *of,
                                       int32_t stride, const VREAL *from, VREAL *restrict to)
{
    VREAL x[most_of_column];
    int32_t i = 0;
    SIMD_UNROLL
    for (int32_t j = 0; j < count; j++)
        x[j] = from[j];
    for (; i + 4 <= rows; i += 4) {
        VREAL sum[4] = {{0}};
        SIMD_UNROLL
        for (int32_t j = 0; j < count; j++)
            SIMD_UNROLL
        for (int32_t k = 0; k < 4; k++)
            sum[k] = simd_fma(simd_all((REAL)of[(i + k) * stride + j]), x[j], sum[k]);
        SIMD_UNROLL
        for (int32_t k = 0; k < 4; k++)
            to[i + k] = sum[k];
    }
    for (; i < rows; i++) {
        VREAL sum = {0};
        SIMD_UNROLL
        for (int32_t j = 0; j < count; j++)
            sum = simd_fma(simd_all((REAL)of[i * stride + j]), x[j], sum);
        to[i] = sum;
    }
}

typedef void NAME(rows)(int32_t rows, const double *of, int32_t stride, const VREAL *from,
                        VREAL *restrict to);

#define DEFINE_ROWS(count)                                                                         \
    static void NAME(rows_##count)(int32_t rows, const double *of, int32_t stride,                 \
                                   const VREAL *from, VREAL *restrict to)                          \
    {                                                                                              \
        NAME(rows_by_columns)(count, rows, of, stride, from, to);                                  \
    }
EACH_COLUMN(DEFINE_ROWS)
#undef DEFINE_ROWS

#define NAME_ROWS(count) NAME(rows_##count),
static NAME(rows) *const NAME(rows_of)[] = {EACH_COLUMN(NAME_ROWS)};
#undef NAME_ROWS

/* The columns of one degree: [imaginary][odd]. */
typedef VREAL NAME(columns)[2][2][most_of_column];

/* Numbers of m ≤ last that are even, or odd. */
SIMD_INLINE int32_t NAME(column_length)(int32_t last, int32_t odd)
{
    return (last + 2 - odd) / 2;
}

/* Rows up to last_to of an exchange, of those up to last_from. */
SIMD_INLINE void NAME(exchange)(const struct expansion_rotations *rotations, int32_t n,
                                int32_t last_from, NAME(columns) from, int32_t last_to,
                                NAME(columns) to)
{
    for (int32_t imaginary = 0; imaginary < 2; imaginary++)
        for (int32_t odd = 0; odd < 2; odd++) {
            const int32_t to_odd = (n + odd + imaginary) % 2;
            const double *of =
                (imaginary ? rotations->odd : rotations->even) + rotation_row(n, to_odd);
            const int32_t stride = 2 * (n / 2 + 1);
            /* imaginary parts of m = 0 are 0 */
            const int32_t i = imaginary && !to_odd, j = imaginary && !odd;
            NAME(rows_of)
            [NAME(column_length)(last_from, odd) -
             j](NAME(column_length)(last_to, to_odd) - i, of + i * stride + j, stride,
                from[imaginary][odd] + j, to[imaginary][to_odd] + i);
        }
}

/* Multiplies by power_m = e^{imα}, or by the conjugate number with sign −1, m = 1 … last. */
SIMD_INLINE void NAME(turn)(int32_t last, VREAL power[][2], REAL sign, NAME(columns) f)
{
    for (int32_t m = 1; m <= last; m++) {
        VREAL *c = &f[0][m % 2][m / 2], *s = &f[1][m % 2][m / 2];
        const VREAL x = power[m][0], y = power[m][1] * sign, from = *c;
        *c = simd_fma(x, from, -y * *s);
        *s = simd_fma(x, *s, y * from);
    }
}

SIMD_INLINE void NAME(find_turns)(int32_t order, VREAL x, VREAL y, VREAL power[][2])
{
    power[0][0] = simd_all((REAL)1);
    power[0][1] = simd_all((REAL)0);
    for (int32_t m = 1; m <= order; m++) {
        power[m][0] = simd_fma(x, power[m - 1][0], -y * power[m - 1][1]);
        power[m][1] = simd_fma(x, power[m - 1][1], y * power[m - 1][0]);
    }
}

/* to[i] = Σ_j of[i stride + j] from[j], i + j < length. */
static void NAME(translate)(int32_t length, const double *of, int32_t stride, const VREAL *from,
                            VREAL *restrict to)
{
    int32_t i = 0;
    for (; i + 4 <= length; i += 4) {
        const double *row = of + i * stride;
        VREAL sum[4] = {{0}};
        int32_t j = 0;
        for (; j < length - i - 3; j++)
            SIMD_UNROLL
        for (int32_t k = 0; k < 4; k++)
            sum[k] = simd_fma(simd_all((REAL)row[k * stride + j]), from[j], sum[k]);
        SIMD_UNROLL
        for (int32_t more = 0; more < 3; more++)
            SIMD_UNROLL
        for (int32_t k = 0; k < 3 - more; k++)
            sum[k] = simd_fma(simd_all((REAL)row[k * stride + j + more]), from[j + more], sum[k]);
        SIMD_UNROLL
        for (int32_t k = 0; k < 4; k++)
            to[i + k] = sum[k];
    }
    for (; i < length; i++) {
        VREAL sum = {0};
        for (int32_t j = 0; j < length - i; j++)
            sum = simd_fma(simd_all((REAL)of[i * stride + j]), from[j], sum);
        to[i] = sum;
    }
}

/* What takes part in the translation: of m, the degrees n at n − m. */
struct NAME(axial) {
    VREAL of[2][expansion_max_order / 2 + 1][expansion_max_order + 1];
};

/* Solid coefficients of degree n of a vector of cells, times power_m. */
SIMD_INLINE void NAME(load_solid)(const REAL *const *from, int32_t solid, int32_t n,
                                  VREAL power[][2], NAME(columns) to)
{
    VREAL buffer[2 * expansion_max_order + 6];
    const int32_t first = solid_row(n) / 4 * 4, end = solid_row(n + 1);
    for (int32_t k = first; k < end; k += 4)
        simd_gather4(buffer + k - first, from, solid + k);
    const VREAL *pair = buffer + solid_row(n) - first;
    to[0][0][0] = pair[0];
    for (int32_t m = 1; m <= n; m++, pair += 2) {
        const VREAL x = power[m][0], y = power[m][1];
        to[0][m % 2][m / 2] = simd_fma(x, pair[2], -y * pair[3]);
        to[1][m % 2][m / 2] = simd_fma(x, pair[3], y * pair[2]);
    }
}

SIMD_INLINE int32_t NAME(last_axial)(int32_t order, int32_t n)
{
    return n < order - n ? n : order - n;
}

/* add_sources to solid coefficients. */
static void NAME(add_rotated)(const struct expansion *expansion, const REAL *target,
                              const REAL *const *from, VREAL *restrict sum)
{
    const struct expansion_rotations *rotations = &expansion->tables->rotations;
    const int32_t order = expansion->order, solid = expansion_solid(expansion);
    VREAL header[4], d[3], alpha[expansion_max_order + 1][2], beta[expansion_max_order + 1][2];
    simd_gather4(header, from, 0);
    SIMD_UNROLL
    for (int32_t axis = 0; axis < 3; axis++)
        d[axis] = target[axis] - header[axis];
    const VREAL across2 = simd_fma(d[0], d[0], d[1] * d[1]);
    const VREAL r2 = simd_fma(d[2], d[2], across2), of_r = simd_rsqrt(r2);
    const VINT is_across = (VINT)(across2 > (REAL)0), one = (VINT)simd_all((REAL)1);
    const VREAL of_across = (VREAL)((VINT)simd_rsqrt(across2) & is_across);
    NAME(find_turns)
    (order, simd_fma(d[1], of_across, (VREAL)(one & ~is_across)), d[0] * of_across, alpha);
    NAME(find_turns)(order, d[2] * of_r, -across2 * of_across * of_r, beta);

    struct NAME(axial) near, moved;
    NAME(columns) f, g;
    const VREAL step = -header[3] * of_r, back = -target[3] * of_r;
    VREAL scale = simd_all((REAL)1);
    for (int32_t n = 0; n <= order; n++) {
        const int32_t last = NAME(last_axial)(order, n);
        NAME(load_solid)(from, solid, n, alpha, f);
        NAME(exchange)(rotations, n, n, f, n, g);
        NAME(turn)(n, beta, (REAL)1, g);
        NAME(exchange)(rotations, n, n, g, last, f);
        near.of[0][0][n] = f[0][0][0] * scale;
        for (int32_t m = 1; m <= last; m++) {
            near.of[0][m][n - m] = f[0][m % 2][m / 2] * scale;
            near.of[1][m][n - m] = f[1][m % 2][m / 2] * scale;
        }
        scale *= step;
    }
    for (int32_t m = 0; 2 * m <= order; m++) {
        const double *axis = rotations->axis + rotation_axis(m, m);
        const int32_t terms = order - 2 * m + 1, row = expansion_max_order + 1 - 2 * m;
        /* cppcheck-suppress uninitvar */
        NAME(translate)(terms, axis, row, near.of[0][m], moved.of[0][m]);
        if (m > 0)
            NAME(translate)(terms, axis, row, near.of[1][m], moved.of[1][m]);
    }
    scale = of_r;
    for (int32_t n = 0; n <= order; n++) {
        const int32_t last = NAME(last_axial)(order, n);
        f[0][0][0] = moved.of[0][0][n] * scale;
        for (int32_t m = 1; m <= last; m++) {
            const VREAL factor = m % 2 == 0 ? scale : -scale;
            f[0][m % 2][m / 2] = moved.of[0][m][n - m] * factor;
            f[1][m % 2][m / 2] = moved.of[1][m][n - m] * factor;
        }
        NAME(exchange)(rotations, n, last, f, n, g);
        NAME(turn)(n, beta, (REAL)-1, g);
        NAME(exchange)(rotations, n, n, g, n, f);
        VREAL *to = sum + solid_row(n);
        to[0] += f[0][0][0];
        for (int32_t m = 1; m <= n; m++) { /* times e^{−imα} */
            const VREAL x = alpha[m][0], y = alpha[m][1], c = f[0][m % 2][m / 2],
                        s = f[1][m % 2][m / 2];
            to[2 * m] = simd_fma(x, c, simd_fma(y, s, to[2 * m]));
            to[2 * m + 1] = simd_fma(x, s, simd_fma(-y, c, to[2 * m + 1]));
        }
        scale *= back;
    }
}

/* A local expansion += that of solid coefficients. */
static void NAME(add_solid)(const struct expansion *expansion, const REAL *solid, REAL *local)
{
    const struct expansion_angles *angles = &expansion->tables->angles;
    const int32_t order = expansion->order;
    for (int32_t c = 0; c <= 1; c++)
        for (int32_t b = 0; b <= order - c; b++)
            for (int32_t a = 0; a <= order - c - b; a++) {
                const int32_t n = a + b + c;
                const REAL *f = solid + solid_row(n) + b % 2;
                double sum = 0;
                for (int32_t m = (a + b) % 2; m <= a + b; m += 2) {
                    const double term =
                        angles->of[a][b][m] * angles->weight[n][m] * (double)f[2 * m];
                    sum += (a + b - m) % 4 == 0 ? term : -term;
                }
                local[expansion_row(order, b, c) + a] += (REAL)sum;
            }
}

static void NAME(m2l_rotated)(const struct expansion *expansion, const void *multipoles,
                              void *locals, int64_t target, const int32_t *sources, int64_t count)
{
    enum { most_solid = (expansion_max_order + 1) * (expansion_max_order + 2) };
    const REAL *header = NAME(record)(expansion, multipoles, target);
    const int32_t numbers = solid_row(expansion->order + 1);
    const int32_t length = expansion_record_length(expansion);
    REAL empty[expansion_header + max_count], solid[most_solid];
    VREAL sum[most_solid + NAME(lanes)];
    memset(sum, 0, sizeof sum[0] * (size_t)(numbers + NAME(lanes)));
    if (count % NAME(lanes) != 0)
        NAME(make_empty)(expansion, header, empty);
    for (int64_t begin = 0; begin < count; begin += NAME(lanes)) {
        const REAL *from[NAME(lanes)];
        for (int32_t lane = 0; lane < NAME(lanes); lane++)
            from[lane] = begin + lane < count
                             ? (const REAL *)multipoles + (int64_t)sources[begin + lane] * length
                             : empty;
        NAME(add_rotated)(expansion, header, from, sum);
    }
    NAME(sum_lanes)(numbers, sum, true, solid);
    NAME(add_solid)(expansion, solid, NAME(local_of)(expansion, locals, target));
}
