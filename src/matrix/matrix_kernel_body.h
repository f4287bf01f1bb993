/* Rows of the interaction matrix, for one precision (law/for_each_real.h). */

/* A row's particle, in all lanes. */
struct row {
    VREAL x[3], weight, charge;
    long long number;
};

SIMD_INLINE struct row row_at(const struct matrix_problem *problem, long long row)
{
    const long long last = problem->rows.count - 1, i = row < last ? row : last;
    struct row particle;
    particle.number = i;
    for (int c = 0; c < 3; c++)
        particle.x[c] = simd_all(((const REAL *)problem->rows.x[c])[i]);
    particle.weight = simd_all(((const REAL *)problem->rows.weight)[i]);
    particle.charge = simd_all(((const REAL *)problem->rows.charge)[i]);
    return particle;
}

/* s² with the axes from the fourth on. */
SIMD_INLINE VREAL add_more_axes(const struct matrix_problem *problem, long long row, long long j,
                                VREAL s2)
{
    const struct matrix_side *rows = &problem->rows, *columns = &problem->columns;
    SIMD_KEEP_LOOP
    for (int c = 0; c < problem->more_axes; c++) {
        const REAL x = ((const REAL *)rows->more_axes)[c * rows->stride + row];
        const VREAL d =
            simd_load((const REAL *)columns->more_axes + c * columns->stride + j) - simd_all(x);
        s2 = simd_fma(d, d, s2);
    }
    return s2;
}

/* V of a row and the vector of columns from j on. */
SIMD_INLINE VREAL value_at(const struct law_form form, const struct NAME(law_constants) * law,
                           const struct matrix_problem *problem, const struct row *row, long long j)
{
    struct NAME(law_pair) pair = {.s2 = simd_all((REAL)problem->softening2)};
    for (int c = 0; c < 3; c++) {
        pair.d[c] = simd_load((const REAL *)problem->columns.x[c] + j) - row->x[c];
        pair.s2 = simd_fma(pair.d[c], pair.d[c], pair.s2);
    }
    if (problem->more_axes > 0)
        pair.s2 = add_more_axes(problem, row->number, j, pair.s2);
    if (form.weighting != law_unweighted || form.kind == law_custom) {
        pair.w_i = row->weight;
        pair.w_j = simd_load((const REAL *)problem->columns.weight + j);
    }
    if (form.kind == law_custom) {
        pair.q_i = row->charge;
        pair.q_j = simd_load((const REAL *)problem->columns.charge + j);
    }
    return NAME(law_value)(form, law, &pair);
}

/* Elements of a line of the caches. */
enum { line_reals = 64 / sizeof(REAL) };

/* Whole lines are written past the caches, from registers. What is not, the parts of lines at both
 * ends and the line with the diagonal, is put together in `to`: a store to a line that was just
 * written past the caches would have to read it again, which takes longer than a thousand others.
 */
SIMD_INLINE void fill_row(const struct law_form form, const struct matrix_problem *of, long long i,
                          long long first, long long count, REAL *to, REAL *out)
{
    const long long lanes = SIMD_BYTES / sizeof(REAL), line = line_reals;
    /* Of the caller's, each store could change something for all that the compiler knows. */
    const struct matrix_problem own = *of, *const problem = &own;
    const struct NAME(law_constants) law = NAME(law_load)(&problem->numbers);
    const struct row row = row_at(problem, i);
    const long long before = (long long)((-(uintptr_t)out & 63) / sizeof(REAL));
    const long long head = out && before < count ? before : count;
    const long long tail = head + (count - head) / line * line;
    const bool has_diagonal = problem->replaces_diagonal && i >= first && i < first + count;
    const long long diagonal = has_diagonal ? i - first : tail;
    const long long middle =
        diagonal >= head && diagonal < tail ? head + (diagonal - head) / line * line : tail;
    const long long behind = middle < tail ? middle + line : tail;

    /* One loop for three parts, and one for two, as each takes its time to compile. */
    const long long begin[] = {0, middle / lanes * lanes, tail / lanes * lanes};
    const long long end[] = {head, behind, count};
    SIMD_KEEP_LOOP
    for (int part = 0; part < 3; part++)
        for (long long k = begin[part]; k < end[part]; k += lanes)
            simd_store(to + k, value_at(form, &law, problem, &row, first + k));
    if (has_diagonal)
        to[diagonal] = (REAL)problem->diagonal_value;
    if (!out)
        return;

    const long long from[] = {head, behind}, until[] = {middle, tail};
    SIMD_KEEP_LOOP
    for (int part = 0; part < 2; part++)
        for (long long k = from[part]; k < until[part]; k += lanes)
            stream_vector(out + k, value_at(form, &law, problem, &row, first + k));
    for (long long k = middle; k < behind; k += lanes)
        stream_vector(out + k, simd_load(to + k));
    memcpy(out, to, (size_t)head * sizeof(REAL));
    memcpy(out + tail, to + tail, (size_t)(count - tail) * sizeof(REAL));
}

/* A part of a chunk: vectors from begin to end. In careful ones some lanes are not to be counted:
 * those on a diagonal that is not the law's, and past the last column. */
struct part {
    long long begin, end;
    int careful;
};

/* fast, careful at the diagonal, fast, careful at the end */
SIMD_INLINE void split(const struct matrix_problem *problem, long long row, long long first,
                       long long count, struct part part[4])
{
    const long long lanes = SIMD_BYTES / sizeof(REAL), whole = count / lanes * lanes;
    long long begin = whole, end = whole;
    if (problem->replaces_diagonal && row + matrix_rows_at_once > first && row < first + whole) {
        begin = row > first ? (row - first) / lanes * lanes : 0;
        end = (row - first + matrix_rows_at_once + lanes - 1) / lanes * lanes;
        end = end < whole ? end : whole;
    }
    part[0] = (struct part){0, begin, 0};
    part[1] = (struct part){begin, end, 1};
    part[2] = (struct part){end, whole, 0};
    part[3] = (struct part){whole, count, 1};
}

/* Of a careful vector: value where it counts, otherwise otherwise. row and k count from the chunk's
 * first column, which numbers of any precision can hold. */
SIMD_INLINE VREAL choose(const struct matrix_problem *problem, VREAL lane, long long row,
                         long long k, long long count, VREAL value, VREAL otherwise)
{
    const VREAL column = lane + (REAL)k;
    if (problem->replaces_diagonal && row >= k && row < k + (long long)(SIMD_BYTES / sizeof(REAL)))
        value = simd_select(column == (REAL)row, otherwise, value);
    return simd_select(column < (REAL)count, value, otherwise);
}

SIMD_INLINE VREAL lane_numbers(void)
{
    REAL number[SIMD_BYTES / sizeof(REAL)];
    for (int l = 0; l < (int)(SIMD_BYTES / sizeof(REAL)); l++)
        number[l] = (REAL)l;
    return simd_load(number);
}

/* Σ of the lanes, in one order. */
SIMD_INLINE double sum_of_lanes(VREAL sum)
{
    enum { lanes = SIMD_BYTES / sizeof(REAL) };
    REAL lane[lanes];
    double half[lanes];
    simd_store(lane, sum);
    for (int l = 0; l < lanes; l++)
        half[l] = (double)lane[l];
    for (int count = lanes / 2; count > 0; count /= 2)
        for (int l = 0; l < count; l++)
            half[l] += half[l + count];
    return half[0];
}

SIMD_INLINE void sum_part(const struct law_form form, const int careful,
                          const struct NAME(law_constants) * law,
                          const struct matrix_problem *problem, const struct row *row,
                          const long long place[3], const struct part *part, VREAL *sum)
{
    const long long i = place[0], first = place[1], count = place[2];
    const VREAL lane = lane_numbers();
    VREAL s[matrix_rows_at_once];
    SIMD_UNROLL
    for (int r = 0; r < matrix_rows_at_once; r++)
        s[r] = sum[r];
    for (long long k = part->begin; k < part->end; k += (long long)(SIMD_BYTES / sizeof(REAL))) {
        const VREAL coefficient = simd_load((const REAL *)problem->columns.coefficient + first + k);
        SIMD_UNROLL
        for (int r = 0; r < matrix_rows_at_once; r++) {
            const VREAL value = value_at(form, law, problem, &row[r], first + k);
            if (careful)
                s[r] += choose(problem, lane, i - first + r, k, count, value * coefficient,
                               simd_all((REAL)0));
            else
                s[r] = simd_fma(value, coefficient, s[r]);
        }
    }
    SIMD_UNROLL
    for (int r = 0; r < matrix_rows_at_once; r++)
        sum[r] = s[r];
}

SIMD_INLINE void sum_rows(const struct law_form form, const struct matrix_problem *problem,
                          long long i, long long first, long long count, double *out)
{
    const struct NAME(law_constants) law = NAME(law_load)(&problem->numbers);
    const long long place[3] = {i, first, count};
    struct row row[matrix_rows_at_once];
    struct part part[4];
    VREAL sum[matrix_rows_at_once];
    split(problem, i, first, count, part);
    for (int r = 0; r < matrix_rows_at_once; r++) {
        row[r] = row_at(problem, i + r);
        sum[r] = simd_all((REAL)0);
    }
    for (int p = 0; p < 4; p++)
        if (part[p].careful)
            sum_part(form, 1, &law, problem, row, place, &part[p], sum);
        else
            sum_part(form, 0, &law, problem, row, place, &part[p], sum);
    for (int r = 0; r < matrix_rows_at_once; r++)
        out[r] += sum_of_lanes(sum[r]);
}

/* The minimum over the lanes, at the smallest column. */
SIMD_INLINE void take_least(VREAL least, VREAL at, long long first, double *out, long long *out_at)
{
    enum { lanes = SIMD_BYTES / sizeof(REAL) };
    REAL value[lanes], column[lanes];
    simd_store(value, least);
    simd_store(column, at);
    for (int l = 0; l < lanes; l++) {
        const long long j = first + (long long)column[l];
        if ((double)value[l] < *out ||
            ((double)value[l] == *out && column[l] >= 0 && j < *out_at)) {
            *out = (double)value[l];
            *out_at = j;
        }
    }
}

SIMD_INLINE void least_rows(const struct law_form form, const struct matrix_problem *problem,
                            int sign, long long i, long long first, long long count, double *out,
                            long long *out_at)
{
    const long long lanes = SIMD_BYTES / sizeof(REAL);
    const struct NAME(law_constants) law = NAME(law_load)(&problem->numbers);
    const VREAL lane = lane_numbers(), infinite = simd_all((REAL)__builtin_inf());
    struct row row[matrix_rows_at_once];
    struct part part[4];
    VREAL least[matrix_rows_at_once], at[matrix_rows_at_once];
    split(problem, i, first, count, part);
    for (int r = 0; r < matrix_rows_at_once; r++) {
        row[r] = row_at(problem, i + r);
        least[r] = infinite;
        at[r] = simd_all((REAL)-1);
    }
    for (int p = 0; p < 4; p++)
        for (long long k = part[p].begin; k < part[p].end; k += lanes)
            SIMD_UNROLL
    for (int r = 0; r < matrix_rows_at_once; r++) {
        VREAL value = value_at(form, &law, problem, &row[r], first + k) * (REAL)sign;
        if (part[p].careful)
            value = choose(problem, lane, i - first + r, k, count, value, infinite);
        const VMASK less = value < least[r];
        least[r] = simd_select(less, value, least[r]);
        at[r] = simd_select(less, lane + (REAL)k, at[r]);
    }
    for (int r = 0; r < matrix_rows_at_once; r++)
        take_least(least[r], at[r], first, &out[r], &out_at[r]);
}

/* Only the law of constants is ever weighted by a sum; in sums the weights of the others are part
 * of the coefficients. */
#define FILL_FORM(kind)                                                                            \
    (kind == law_constant && problem->weighting == law_sum ? law_sum : law_product)
#define SUM_FORM(kind)                                                                             \
    (kind == law_constant && problem->weighting == law_sum ? law_sum : law_unweighted)

#define DEFINE(storage, name, kind)                                                                \
    storage void OF_REAL(fill_##name)(const struct matrix_problem *problem, long long row,         \
                                      long long first, long long count, void *to, void *out)       \
    {                                                                                              \
        if (FILL_FORM(kind) == law_sum)                                                            \
            fill_row((struct law_form){kind, law_sum}, problem, row, first, count, to, out);       \
        else if (LAW_MAY_BE_PRODUCT(kind) && problem->has_weights)                                 \
            fill_row((struct law_form){kind, law_product}, problem, row, first, count, to, out);   \
        else                                                                                       \
            fill_row((struct law_form){kind, law_unweighted}, problem, row, first, count, to,      \
                     out);                                                                         \
    }                                                                                              \
    storage void OF_REAL(sum_##name)(const struct matrix_problem *problem, long long row,          \
                                     long long first, long long count, double *sum)                \
    {                                                                                              \
        if (SUM_FORM(kind) == law_sum)                                                             \
            sum_rows((struct law_form){kind, law_sum}, problem, row, first, count, sum);           \
        else                                                                                       \
            sum_rows((struct law_form){kind, law_unweighted}, problem, row, first, count, sum);    \
    }                                                                                              \
    storage void OF_REAL(least_##name)(const struct matrix_problem *problem, int sign,             \
                                       long long row, long long first, long long count,            \
                                       double *least, long long *at)                               \
    {                                                                                              \
        if (FILL_FORM(kind) == law_sum)                                                            \
            least_rows((struct law_form){kind, law_sum}, problem, sign, row, first, count, least,  \
                       at);                                                                        \
        else                                                                                       \
            least_rows((struct law_form){kind, law_product}, problem, sign, row, first, count,     \
                       least, at);                                                                 \
    }

#ifdef LAW_CUSTOM_BODY
#define VISIBLE __attribute__((visibility("default")))
DEFINE(VISIBLE, custom, law_custom)
#undef VISIBLE
#else
#define DEFINE_KIND(kind) DEFINE(static, kind, law_##kind)
LAW_EACH_BUILT_IN(DEFINE_KIND)
#undef DEFINE_KIND
#endif
#undef DEFINE
#undef FILL_FORM
#undef SUM_FORM
