/* The interaction matrix on a GPU, for one precision (law/for_each_real_cuda.h). */

/* A particle in registers. */
struct NAME(matrix_particle) {
    REAL x[3], weight, charge;
};

LAW_INLINE struct NAME(matrix_particle)
    NAME(matrix_particle_at)(const struct matrix_side *side, const long long k)
{
    struct NAME(matrix_particle) particle = {};
    if (k >= 0 && k < side->count) {
        for (int c = 0; c < 3; c++)
            particle.x[c] = __ldg((const REAL *)side->x[c] + k);
        particle.weight = __ldg((const REAL *)side->weight + k);
        particle.charge = __ldg((const REAL *)side->charge + k);
    }
    return particle;
}

/* V(i, j) */
LAW_INLINE REAL NAME(matrix_value)(const struct law_form form,
                                   const struct NAME(law_constants) * law, const REAL softening2,
                                   const struct NAME(matrix_particle) * i,
                                   const struct NAME(matrix_particle) * j)
{
    struct NAME(law_pair) pair = {softening2};
    for (int c = 0; c < 3; c++) {
        pair.d[c] = j->x[c] - i->x[c];
        pair.s2 = law_fma(pair.d[c], pair.d[c], pair.s2);
    }
    pair.w_i = i->weight;
    pair.w_j = j->weight;
    pair.q_i = i->charge;
    pair.q_j = j->charge;
    return NAME(law_value)(form, law, &pair);
}

/* The whole form: only the law of constants is ever weighted by a sum. */
LAW_INLINE REAL NAME(matrix_weighted_value)(const enum law_kind kind,
                                            const struct matrix_problem *problem,
                                            const struct NAME(law_constants) * law,
                                            const struct NAME(matrix_particle) * i,
                                            const struct NAME(matrix_particle) * j)
{
    const REAL softening2 = (REAL)problem->softening2;
    if (kind == law_constant && problem->weighting == law_sum)
        return NAME(matrix_value)(law_form{kind, law_sum}, law, softening2, i, j);
    return NAME(matrix_value)(law_form{kind, law_product}, law, softening2, i, j);
}

/* A row's particle in shared memory, all of it in one read; of a formula the charge is separate.
 */
struct __align__(4 * sizeof(REAL)) NAME(matrix_row)
{
    REAL x[3], weight;
};

/* Rows begin, begin + step, … of 16 bytes' worth of columns from first on, which are in registers.
 */
template <enum law_kind kind, enum law_weighting weighting>
LAW_INLINE void NAME(matrix_fill_rows)(const struct matrix_problem *problem,
                                       const struct matrix_target *to,
                                       const struct NAME(matrix_row) * rows, const REAL *charges,
                                       const long long begin, const int count, const int step,
                                       const long long first)
{
    enum { run = 16 / sizeof(REAL) };
    const struct NAME(law_constants) law = NAME(law_load)(&problem->numbers);
    const REAL softening2 = (REAL)problem->softening2;
    struct NAME(matrix_particle) columns[run];
#pragma unroll
    for (int k = 0; k < run; k++)
        columns[k] = NAME(matrix_particle_at)(&problem->columns, first + k);
    if (first >= problem->columns.count)
        return;
    const bool is_whole =
        to->column_stride == 1 && first >= 0 && first + run <= problem->columns.count;
    REAL *out = (REAL *)to->values + begin * to->row_stride + first * to->column_stride;
#pragma unroll 2
    for (int row = 0; row < count; row += step, out += step * to->row_stride) {
        const struct NAME(matrix_row) from = rows[row];
        const struct NAME(matrix_particle) particle = {
            {from.x[0], from.x[1], from.x[2]}, from.weight, kind == law_custom ? charges[row] : 0};
        REAL value[run];
#pragma unroll
        for (int k = 0; k < run; k++)
            value[k] = NAME(matrix_value)(law_form{kind, weighting}, &law, softening2, &particle,
                                          &columns[k]);
        if (is_whole) {
            NAME(matrix_store)(out, value);
            continue;
        }
#pragma unroll
        for (int k = 0; k < run; k++)
            if (first + k >= 0 && first + k < problem->columns.count)
                out[k * to->column_stride] = value[k];
    }
}

/* The elements of the diagonal that this thread has written, again. */
LAW_INLINE void NAME(matrix_replace_diagonal)(const struct matrix_problem *problem,
                                              const struct matrix_target *to, const long long begin,
                                              const long long end, const int step,
                                              const long long first)
{
    enum { run = 16 / sizeof(REAL) };
    for (int k = 0; k < run; k++) {
        const long long row = first + k - to->first;
        if (row >= begin && row < end && (row - begin) % step == 0 && first + k >= 0 &&
            first + k < problem->columns.count)
            ((REAL *)to->values)[row * to->row_stride + (first + k) * to->column_stride] =
                (REAL)problem->diagonal_value;
    }
}

/* A block has matrix_rows_a_block rows of a strip of columns. Vectors are stored at multiples of 16
 * bytes: where rows are not, as with an odd number of columns, every fourth (or second) one begins
 * at the same position of them, and those are computed together. */
template <enum law_kind kind>
LAW_INLINE void NAME(matrix_fill_block)(const struct matrix_problem *problem,
                                        const struct matrix_target *to)
{
    enum { run = 16 / sizeof(REAL) };
    const int step = to->is_aligned || to->column_stride != 1 ? 1 : run;
    const long long quad = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    const long long groups = (to->rows + matrix_rows_a_block - 1) / matrix_rows_a_block;
    __shared__ struct NAME(matrix_row) rows[matrix_rows_a_block];
    __shared__ REAL charges[matrix_rows_a_block];
    for (long long group = blockIdx.y; group < groups; group += gridDim.y) {
        const long long begin = group * matrix_rows_a_block;
        const long long end =
            begin + matrix_rows_a_block < to->rows ? begin + matrix_rows_a_block : to->rows;
        const int count = (int)(end - begin);
        __syncthreads();
        if ((int)threadIdx.x < count) {
            const struct NAME(matrix_particle) row =
                NAME(matrix_particle_at)(&problem->rows, to->first + begin + threadIdx.x);
            rows[threadIdx.x] = {{row.x[0], row.x[1], row.x[2]}, row.weight};
            charges[threadIdx.x] = row.charge;
        }
        __syncthreads();
        for (int c = 0; c < step && c < count; c++) {
            const REAL *row = (const REAL *)to->values + (begin + c) * to->row_stride;
            const int behind = step > 1 ? (int)((unsigned long long)row / sizeof(REAL) % run) : 0;
            const long long first = quad * run - behind;
            if (kind == law_constant && problem->weighting == law_sum)
                NAME(matrix_fill_rows)<kind, law_sum>(problem, to, rows + c, charges + c, begin + c,
                                                      count - c, step, first);
            else if (problem->has_weights)
                NAME(matrix_fill_rows)<kind, law_product>(problem, to, rows + c, charges + c,
                                                          begin + c, count - c, step, first);
            else
                NAME(matrix_fill_rows)<kind, law_unweighted>(problem, to, rows + c, charges + c,
                                                             begin + c, count - c, step, first);
            if (problem->replaces_diagonal)
                NAME(matrix_replace_diagonal)(problem, to, begin + c, end, step, first);
        }
    }
}

template <enum law_kind kind>
__global__ void __launch_bounds__(matrix_fill_threads, matrix_fill_blocks)
    NAME(matrix_fill)(const struct matrix_problem problem, const struct matrix_target to)
{
    NAME(matrix_fill_block)<kind>(&problem, &to);
}

/* Tiles of matrix_side² on and above the diagonal, each computed once and written twice: the second
 * time through shared memory, so that both times neighbors go to neighbors. A block has a row of
 * tiles at a time; those below the diagonal are nothing to do. */
template <enum law_kind kind>
LAW_INLINE void NAME(matrix_symmetric_block)(const struct matrix_problem *problem,
                                             const struct matrix_target *to)
{
    __shared__ REAL tile[matrix_side_of_tile][matrix_side_of_tile + 1];
    enum { rows_at_once = matrix_fill_threads / matrix_side_of_tile };
    const struct NAME(law_constants) law = NAME(law_load)(&problem->numbers);
    const int lane = (int)threadIdx.x % matrix_side_of_tile;
    const int warp = (int)threadIdx.x / matrix_side_of_tile;
    const long long n = problem->rows.count;
    const long long tiles = (n + matrix_side_of_tile - 1) / matrix_side_of_tile;
    const long long j0 = (long long)blockIdx.x * matrix_side_of_tile;
    REAL *out = (REAL *)to->values;
    const struct NAME(matrix_particle) column =
        NAME(matrix_particle_at)(&problem->columns, j0 + lane);
    for (long long t = blockIdx.y; t <= blockIdx.x && t < tiles; t += gridDim.y) {
        const long long i0 = t * matrix_side_of_tile;
        for (int r = warp; r < matrix_side_of_tile; r += rows_at_once) {
            const long long i = i0 + r, j = j0 + lane;
            const struct NAME(matrix_particle) row = NAME(matrix_particle_at)(&problem->rows, i);
            REAL value = NAME(matrix_weighted_value)(kind, problem, &law, &row, &column);
            if (problem->replaces_diagonal && i == j)
                value = (REAL)problem->diagonal_value;
            tile[r][lane] = value;
            if (i < n && j < n && i <= j)
                out[i * to->row_stride + j * to->column_stride] = value;
        }
        __syncthreads();
        for (int r = warp; r < matrix_side_of_tile; r += rows_at_once) {
            const long long i = j0 + r, j = i0 + lane;
            if (i < n && j < n && j < i)
                out[i * to->row_stride + j * to->column_stride] = tile[lane][r];
        }
        __syncthreads();
    }
}

template <enum law_kind kind>
__global__ void __launch_bounds__(matrix_fill_threads)
    NAME(matrix_symmetric)(const struct matrix_problem problem, const struct matrix_target to)
{
    NAME(matrix_symmetric_block)<kind>(&problem, &to);
}
