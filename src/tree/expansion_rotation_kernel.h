/* M2L in O(p³) (tree/expansion_rotation.h). Part of expansion_kernel.c.
 *
 * A batch is of more than one vector of sources, so that a number of a table is loaded once for
 * all, and what follows on an exchange is done to its sums while they are in registers. Where the
 * vectors of a list are not a multiple of a batch, its first batches have one vector less. */

/* Vectors of sources at once. */
enum { whole = batch, less = batch - 1 };

/* A number of each source: [imaginary][vector]. Those of one degree are in two columns, of even
 * and of odd m. */
struct number {
    VREAL of[2][batch];
};
struct columns {
    struct number of[2][most_of_column];
};

/* Powers of the factors e^{iα} and e^{iβ} of the sources, and of lengths: of their sizes and the
 * target's in units of −r, the latter over r. */
struct directions {
    struct number alpha[expansion_max_order + 1], beta[expansion_max_order + 1];
    struct number length[expansion_max_order + 1]; /* [0]: of sizes, [1]: of the target's */
};

/* Rows of a translation whose sums are in registers at once; numbers of add_solid. */
enum { axial_rows = SIMD_BYTES == 64 ? 4 : 2, solid_lanes = SIMD_BYTES / sizeof(double) };

/* From m to m + 2 at the same degree, in struct axial. */
enum { axial_step = 2 * expansion_max_order };

/* What takes part in the translation: before it, of m, degree n at n − m; after it at p − n − m. */
struct axial {
    struct number of[expansion_max_order / 2 + 1][expansion_max_order + 1];
};

/* power_m = power_1^m, m ≤ order. */
SIMD_INLINE void find_turns(const int32_t vectors, int32_t order, struct number *power)
{
    for (int32_t m = 2; m <= order; m++) {
        const struct number *half = power + m / 2, *rest = power + m - m / 2;
        SIMD_UNROLL
        for (int32_t k = 0; k < vectors; k++) {
            const VREAL c = half->of[0][k], s = half->of[1][k];
            power[m].of[0][k] = simd_fma(c, rest->of[0][k], -(s * rest->of[1][k]));
            power[m].of[1][k] = simd_fma(c, rest->of[1][k], s * rest->of[0][k]);
        }
    }
}

SIMD_INLINE void find_directions(const int32_t vectors, int32_t order, const REAL *target,
                                 const REAL *const *from, struct directions *to)
{
    VREAL step[batch], back[batch];
    SIMD_UNROLL
    for (int32_t k = 0; k < vectors; k++) {
        VREAL header[4], d[3];
        simd_gather4(header, from + k * REAL_LANES, 0);
        SIMD_UNROLL
        for (int32_t axis = 0; axis < 3; axis++)
            d[axis] = target[axis] - header[axis];
        const VREAL across2 = simd_fma(d[0], d[0], d[1] * d[1]);
        const VREAL r2 = simd_fma(d[2], d[2], across2), of_r = simd_rsqrt(r2);
        const VMASK is_across = (VMASK)(across2 > (REAL)0), one = (VMASK)simd_all((REAL)1);
        const VREAL of_across = (VREAL)((VMASK)simd_rsqrt(across2) & is_across);
        struct number *const alpha = to->alpha, *const beta = to->beta;
        alpha[0].of[0][k] = beta[0].of[0][k] = to->length[0].of[0][k] = simd_all((REAL)1);
        alpha[0].of[1][k] = beta[0].of[1][k] = simd_all((REAL)0);
        alpha[1].of[0][k] = simd_fma(d[1], of_across, (VREAL)(one & ~is_across));
        alpha[1].of[1][k] = d[0] * of_across;
        beta[1].of[0][k] = d[2] * of_r;
        beta[1].of[1][k] = -across2 * of_across * of_r;
        to->length[0].of[1][k] = of_r;
        step[k] = -header[3] * of_r;
        back[k] = -target[3] * of_r;
    }
    find_turns(vectors, order, to->alpha);
    find_turns(vectors, order, to->beta);
    for (int32_t n = 1; n <= order; n++)
        SIMD_UNROLL
    for (int32_t k = 0; k < vectors; k++) {
        to->length[n].of[0][k] = to->length[n - 1].of[0][k] * step[k];
        to->length[n].of[1][k] = to->length[n - 1].of[1][k] * back[k];
    }
}

/* Numbers of m ≤ last that are even, or odd. */
SIMD_INLINE int32_t column_length(int32_t last, int32_t odd)
{
    return (last + 2 - odd) / 2;
}

/* From what an exchange acts on of m to that of m + 2. */
SIMD_INLINE int32_t from_step(const enum exchange_end end)
{
    return end == exchange_turn_back ? axial_step : 1;
}

/* Vectors from one row's factors, and results, to the next's: of m and of m + 2. */
SIMD_INLINE int32_t factor_step(const enum exchange_end end)
{
    return end == exchange_scale ? 0 : 2 * 2 * batch;
}

SIMD_INLINE int32_t to_step(const enum exchange_end end)
{
    return end == exchange_scale ? axial_step * 2 * batch : end == exchange_add ? 4 : 2 * batch;
}

/* sum_i += of_i x, for constant rows. x is loaded once. */
SIMD_INLINE void add_column(const int32_t vectors, const int32_t rows, const int32_t imaginary,
                            const double *of, const struct number *from, VREAL sum[][2][batch])
{
    SIMD_UNROLL
    for (int32_t k = 0; k < vectors; k++) {
        VREAL x = from->of[imaginary][k];
        if (rows > 1)
            SIMD_LAUNDER(x);
        SIMD_UNROLL
        for (int32_t i = 0; i < rows; i++)
            sum[i][imaginary][k] = simd_fma(simd_all((REAL)of[i]), x, sum[i][imaginary][k]);
    }
}

/* Rows of both parts of an exchange, for constant rows ≤ most_of_rows and end.
 *
 *   even, odd        of the matrices, whose columns are `stride` apart
 *   real, imaginary  what they act on
 *   count            2 × numbers of imaginary parts, + 1 if there is one more of the real parts
 *   factor           what the first row is multiplied by: powers of every second m, or a scale
 *   to               where it goes to */
SIMD_INLINE void few_rows(const int32_t vectors, const enum exchange_end end, const int32_t rows,
                          const double *even, const double *odd, int64_t stride,
                          const struct number *real, const struct number *imaginary, int64_t count,
                          const VREAL *factor, VREAL *to)
{
    VREAL sum[most_of_rows][2][batch] = {{{{0}}}};
    for (int64_t j = count / 2; j > 0; j--) {
        add_column(vectors, rows, 0, even, real, sum);
        add_column(vectors, rows, 1, odd, imaginary, sum);
        real += from_step(end);
        imaginary += from_step(end);
        even += stride;
        odd += stride;
    }
    if (count % 2 != 0)
        add_column(vectors, rows, 0, even, real, sum);
    SIMD_UNROLL
    for (int32_t i = 0; i < rows; i++) {
        SIMD_UNROLL
        for (int32_t k = 0; k < vectors; k++) {
            const VREAL re = sum[i][0][k], im = sum[i][1][k];
            if (end == exchange_scale) {
                to[k] = re * factor[k];
                to[batch + k] = im * factor[k];
                continue;
            }
            VREAL x = factor[k], y = factor[batch + k];
            SIMD_LAUNDER(x);
            SIMD_LAUNDER(y);
            if (end == exchange_turn) {
                to[k] = simd_fma(x, re, -(y * im));
                to[batch + k] = simd_fma(x, im, y * re);
            } else if (end == exchange_turn_back) {
                to[k] = simd_fma(x, re, y * im);
                to[batch + k] = simd_fma(x, im, -(y * re));
            } else {
                to[0] = simd_fma(x, re, simd_fma(y, im, to[0]));
                to[1] = simd_fma(x, im, simd_fma(-y, re, to[1]));
            }
        }
        factor += factor_step(end);
        to += to_step(end);
    }
}

typedef void exchange_rows(const double *even, const double *odd, int64_t stride,
                           const struct number *real, const struct number *imaginary, int64_t count,
                           const VREAL *factor, VREAL *to);

#define DEFINE_ROWS(vectors, rows, end)                                                            \
    static void rows_##vectors##_##rows##_##end(                                                   \
        const double *even, const double *odd, int64_t stride, const struct number *real,          \
        const struct number *imaginary, int64_t count, const VREAL *factor, VREAL *to)             \
    {                                                                                              \
        few_rows(vectors, exchange_##end, rows, even, odd, stride, real, imaginary, count, factor, \
                 to);                                                                              \
    }
#define DEFINE_ENDS(vectors, rows)                                                                 \
    DEFINE_ROWS(vectors, rows, turn)                                                               \
    DEFINE_ROWS(vectors, rows, turn_back)                                                          \
    DEFINE_ROWS(vectors, rows, scale)                                                              \
    DEFINE_ROWS(vectors, rows, add)
#define DEFINE_BATCHES(rows) DEFINE_ENDS(whole, rows) DEFINE_ENDS(less, rows)
EACH_ROWS(DEFINE_BATCHES)
#undef DEFINE_BATCHES
#undef DEFINE_ENDS
#undef DEFINE_ROWS

#define NAME_ROWS(vectors, rows)                                                                   \
    {rows_##vectors##_##rows##_turn, rows_##vectors##_##rows##_turn_back,                          \
     rows_##vectors##_##rows##_scale, rows_##vectors##_##rows##_add},
#define NAME_WHOLE(rows) NAME_ROWS(whole, rows)
#define NAME_LESS(rows)  NAME_ROWS(less, rows)
static exchange_rows *const rows_of[][most_of_rows][4] = {
    [less] = {EACH_ROWS(NAME_LESS)}, [whole] = {EACH_ROWS(NAME_WHOLE)}};
#undef NAME_LESS
#undef NAME_WHOLE
#undef NAME_ROWS

/* The columns of m ≤ last_to after an exchange, from those of m ≤ last_from. to[odd] is where those
 * of even, or odd, m go to. */
SIMD_INLINE void exchange(const int32_t vectors, const enum exchange_end end,
                          const struct expansion_rotations *rotations, int32_t n, int32_t last_from,
                          const struct number *even_from, const struct number *odd_from,
                          int32_t last_to, const VREAL *factors, VREAL *even_to, VREAL *odd_to)
{
    const int64_t row = rotation_row(n, 0), length = n / 2 + 1, stride = 2 * length;
    SIMD_UNROLL
    for (int32_t odd = 0; odd < 2; odd++) {
        const bool is_odd = (n + odd) % 2 != 0; /* the real parts */
        /* imaginary parts of m = 0 are 0 */
        const int64_t of_imaginary = is_odd ? last_from / 2 : (last_from + 1) / 2;
        const int64_t of_real = is_odd ? (last_from + 1) / 2 : last_from / 2 + 1;
        const int64_t count = of_imaginary + of_real;
        const double *of_even = rotations->even + row + (is_odd ? length : 0);
        const double *of_odd = rotations->odd + row + (is_odd ? stride : length);
        const struct number *real = is_odd ? odd_from : even_from;
        const struct number *imaginary = is_odd ? even_from + from_step(end) : odd_from;
        const VREAL *factor = factors + odd * factor_step(end) / 2;
        VREAL *to = odd ? odd_to : even_to;
        int32_t left = odd ? (last_to + 1) / 2 : last_to / 2 + 1;
        for (; left > most_of_rows; left -= most_of_rows) {
            rows_of[vectors][most_of_rows - 1][end](of_even, of_odd, stride, real, imaginary, count,
                                                    factor, to);
            of_even += most_of_rows;
            of_odd += most_of_rows;
            factor += most_of_rows * factor_step(end);
            to += most_of_rows * to_step(end);
        }
        if (left > 0)
            rows_of[vectors][left - 1][end](of_even, of_odd, stride, real, imaginary, count, factor,
                                            to);
    }
}

/* Solid coefficients of degree n of the sources, times power_m. */
SIMD_INLINE void load_solid(const int32_t vectors, const REAL *const *from, int32_t row, int32_t n,
                            const struct number *power, struct columns *to)
{
    const int32_t odd = 1 - n % 2; /* of the first m of two */
    struct number *at[2] = {to->of[odd], to->of[1 - odd] + odd};
    VREAL four[4];
    for (int32_t k = 0; k < vectors && odd; k++) {
        simd_gather4(four, from + k * REAL_LANES, row - 2);
        to->of[0][0].of[0][k] = four[2];
    }
    for (int32_t m = odd; m <= n; m += 2) {
        SIMD_UNROLL
        for (int32_t k = 0; k < vectors; k++) {
            simd_gather4(four, from + k * REAL_LANES, row + 2 * m);
            SIMD_UNROLL
            for (int32_t next = 0; next < 2; next++) {
                const VREAL x = power[m + next].of[0][k], y = power[m + next].of[1][k];
                const VREAL c = four[2 * next], s = four[2 * next + 1];
                at[next]->of[0][k] = simd_fma(x, c, -(y * s));
                at[next]->of[1][k] = simd_fma(x, s, y * c);
            }
        }
        at[0]++;
        at[1]++;
    }
}

/* moved[i] = Σ_j of[i stride + j] at[j] times the factors of degree i, i + j < length; of real
 * parts, or of both. moved[i] takes the place of at[length − 1 − i], which the rows that follow do
 * not read. */
SIMD_INLINE void translate(const int32_t vectors, const int32_t parts, int32_t length,
                           const double *of, int32_t stride, struct number *at,
                           const struct number *factor, REAL sign)
{
    enum { rows = axial_rows };
    for (int32_t i = 0; i < length; i += rows) {
        const double *row = of + i * stride;
        VREAL sum[rows][2][batch] = {{{{0}}}};
        int32_t j = 0;
        for (; j <= length - i - rows; j++)
            SIMD_UNROLL
        for (int32_t r = 0; r < rows; r++)
            SIMD_UNROLL
        for (int32_t part = 0; part < parts; part++)
            SIMD_UNROLL
        for (int32_t k = 0; k < vectors; k++)
            sum[r][part][k] =
                simd_fma(simd_all((REAL)row[r * stride + j]), at[j].of[part][k], sum[r][part][k]);
        SIMD_UNROLL
        for (int32_t more = rows - 1; more > 0; more--) {
            if (more > length - i)
                continue;
            SIMD_UNROLL
            for (int32_t r = 0; r < rows; r++)
                SIMD_UNROLL
            for (int32_t part = 0; part < parts; part++)
                SIMD_UNROLL
            for (int32_t k = 0; k < vectors; k++)
                if (r < more)
                    sum[r][part][k] = simd_fma(simd_all((REAL)row[r * stride + j]),
                                               at[j].of[part][k], sum[r][part][k]);
            j++;
        }
        SIMD_UNROLL
        for (int32_t r = 0; r < rows; r++) {
            if (r >= length - i)
                break;
            SIMD_UNROLL
            for (int32_t part = 0; part < parts; part++)
                SIMD_UNROLL
            for (int32_t k = 0; k < vectors; k++)
                at[length - 1 - i - r].of[part][k] =
                    sum[r][part][k] * (factor[i + r].of[1][k] * sign);
        }
    }
}

SIMD_INLINE int32_t last_axial(int32_t order, int32_t n)
{
    return n < order - n ? n : order - n;
}

/* add_sources to solid coefficients, by M2L of this order. */
SIMD_INLINE void add_rotated(const int32_t vectors, const struct expansion *expansion,
                             int32_t order, const REAL *target, const REAL *const *from,
                             VREAL *restrict sum)
{
    const struct expansion_rotations *rotations = &expansion->tables->rotations;
    const int32_t solid = expansion_solid(expansion);
    struct directions directions;
    struct axial axial;
    struct columns f, g;
    // cppcheck-suppress uninitvar; exchange writes it
    const struct number *even = g.of[0], *odd = g.of[1];
    find_directions(vectors, order, target, from, &directions);
    for (int32_t n = 0; n <= order; n++) {
        // cppcheck-suppress uninitvar; exchange writes it
        struct number *to = &axial.of[0][n];
        load_solid(vectors, from, solid + solid_row(n), n, directions.alpha, &f);
        exchange(vectors, exchange_turn, rotations, n, n, f.of[0], f.of[1], n,
                 directions.beta->of[0], g.of[0][0].of[0], g.of[1][0].of[0]);
        exchange(vectors, exchange_scale, rotations, n, n, even, odd, last_axial(order, n),
                 directions.length[n].of[0], to->of[0], to[expansion_max_order].of[0]);
    }
    for (int32_t m = 0; 2 * m <= order; m++) {
        const double *axis = rotations->axis + rotation_axis(m, m);
        const int32_t terms = order - 2 * m + 1, row = expansion_max_order + 1 - 2 * m;
        if (m == 0)
            translate(vectors, 1, terms, axis, row, axial.of[m], directions.length, 1);
        else
            translate(vectors, 2, terms, axis, row, axial.of[m], directions.length + m,
                      m % 2 == 0 ? 1 : -1);
    }
    for (int32_t n = 0; n <= order; n++) {
        const struct number *at = &axial.of[0][order - n];
        VREAL *to = sum + solid_row(n);
        exchange(vectors, exchange_turn_back, rotations, n, last_axial(order, n), at,
                 at + expansion_max_order, n, directions.beta->of[0], g.of[0][0].of[0],
                 g.of[1][0].of[0]);
        exchange(vectors, exchange_add, rotations, n, n, even, odd, n, directions.alpha->of[0], to,
                 to + 2);
    }
}

typedef void add_batch(const struct expansion *expansion, int32_t order, const REAL *target,
                       const REAL *const *from, VREAL *restrict sum);

/* A function for each number of vectors, as one of all is slower. */
#define DEFINE_ADD(vectors)                                                                        \
    static void add_##vectors(const struct expansion *expansion, int32_t order,                    \
                              const REAL *target, const REAL *const *from, VREAL *restrict sum)    \
    {                                                                                              \
        add_rotated(vectors, expansion, order, target, from, sum);                                 \
    }
DEFINE_ADD(whole)
DEFINE_ADD(less)
#undef DEFINE_ADD

/* A local expansion += that of solid coefficients: a vector of b, whose even ones are of the real
 * parts, the others of the imaginary parts. */
static void add_solid(const struct expansion *expansion, const REAL *solid, REAL *local)
{
    const double *factor = expansion->tables->local;
    const int32_t order = expansion->order;
    for (int32_t n = 0; n <= order; n++)
        for (int32_t c = 0; c <= 1 && c <= n; c++) {
            const int32_t last = n - c, rows = last / 2 + 1;
            for (int32_t first = 0; first <= last; first += solid_lanes) {
                const REAL *f = solid + solid_row(n) + 2 * (last % 2);
                vdouble sum[2] = {{0}};
                for (int32_t k = 0; k < rows; k++, f += 4) {
                    const vdouble of = simd_load(factor + k * (last + 1) + first);
                    sum[0] = simd_fma(of, simd_all((double)f[0]), sum[0]);
                    sum[1] = simd_fma(of, simd_all((double)f[1]), sum[1]);
                }
                for (int32_t b = first; b <= last && b < first + solid_lanes; b++)
                    local[expansion_row(order, b, c) + last - b] += (REAL)sum[b % 2][b - first];
            }
            factor += rows * (last + 1);
        }
}

/* Adds a list of sources by M2L of this order. */
static void add_list(const struct expansion *expansion, const void *multipoles, int32_t order,
                     const REAL *target, const REAL *empty, const int32_t *sources, int32_t count,
                     VREAL *restrict sum)
{
    static add_batch *const add[] = {[less] = add_less, [whole] = add_whole};
    const int32_t length = expansion_record_length(expansion);
    for (int32_t begin = 0; begin < count;) {
        const int32_t left = (count - begin + REAL_LANES - 1) / REAL_LANES;
        const int32_t vectors = left % whole == 0 ? whole : less;
        const REAL *from[batch * REAL_LANES];
        for (int32_t k = 0; k < vectors * REAL_LANES; k++)
            from[k] = begin + k < count
                          ? (const REAL *)multipoles + (int64_t)sources[begin + k] * length
                          : empty;
        add[vectors](expansion, order, target, from, sum);
        begin += vectors * REAL_LANES;
    }
}

static void m2l_by_orders(const struct expansion *expansion, const void *multipoles, void *locals,
                          int64_t target, const int32_t *sources, const int32_t *counts)
{
    enum { most_solid = (expansion_max_order + 1) * (expansion_max_order + 2) };
    const REAL *header = record(expansion, multipoles, target);
    const int32_t numbers = solid_row(expansion->order + 1);
    REAL empty[expansion_header + max_count], solid[most_solid];
    VREAL sum[most_solid + REAL_LANES];
    memset(sum, 0, sizeof sum[0] * (size_t)(numbers + REAL_LANES));
    make_empty(expansion, header, empty);
    for (int32_t q = 0; q <= expansion->order; q++) {
        add_list(expansion, multipoles, q, header, empty, sources, counts[q], sum);
        sources += counts[q];
    }
    sum_lanes(numbers, sum, true, solid);
    add_solid(expansion, solid, local_of(expansion, locals, target));
}
