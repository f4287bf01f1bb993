/* Sums and least values of the rows of the interaction matrix on a GPU, for one precision.
 *
 * A thread has a few rows in registers. The block's threads bring matrix_tile columns
 * at a time to shared memory, where all rows meet each of them; what a tile gives is added to the
 * rows' totals in double precision. Several blocks may share the columns of the same rows: each
 * leaves what it has found, and matrix_combine_cuda puts that together in order. */

/* A column in shared memory. */
struct __align__(4 * sizeof(REAL)) NAME(matrix_source)
{
    REAL x[3], coefficient; /* of sums; else the weight */
};
struct NAME(matrix_source_extra) {
    REAL weight, charge;
};

/* V of a row and a column, without the weights of the table's laws where they are in the
 * coefficient. */
template <enum law_kind kind, enum matrix_operation operation>
LAW_INLINE REAL NAME(matrix_meet)(const struct matrix_problem *problem,
                                  const struct NAME(law_constants) * law,
                                  const struct NAME(matrix_particle) * i,
                                  const struct NAME(matrix_source) * source,
                                  const struct NAME(matrix_source_extra) * extra)
{
    const bool uses_extra = kind == law_custom || kind == law_constant;
    struct NAME(matrix_particle) j = {{source->x[0], source->x[1], source->x[2]}};
    if (uses_extra)
        j.weight = extra->weight, j.charge = extra->charge;
    else
        j.weight = source->coefficient;
    const REAL softening2 = (REAL)problem->softening2;
    if (operation == matrix_least)
        return NAME(matrix_weighted_value)(kind, problem, law, i, &j);
    if (kind == law_constant && problem->weighting == law_sum)
        return NAME(matrix_value)(law_form{kind, law_sum}, law, softening2, i, &j);
    return NAME(matrix_value)(law_form{kind, law_unweighted}, law, softening2, i, &j);
}

/* What a row has found: a sum, or the minimum and where. */
struct NAME(matrix_found) {
    double sum;
    REAL least;
    long long at;
};

template <enum law_kind kind, enum matrix_operation operation, bool careful>
LAW_INLINE void NAME(matrix_meet_tile)(
    const struct matrix_problem *problem, const struct NAME(law_constants) * law, const REAL sign,
    const struct NAME(matrix_particle) particle[matrix_reduce_rows], const long long row,
    const struct NAME(matrix_source) * source, const struct NAME(matrix_source_extra) * extra,
    const long long first, struct NAME(matrix_found) found[matrix_reduce_rows])
{
    REAL sum[matrix_reduce_rows] = {}, least[matrix_reduce_rows];
    int at[matrix_reduce_rows];
#pragma unroll
    for (int r = 0; r < matrix_reduce_rows; r++) {
        least[r] = (REAL)INFINITY;
        at[r] = -1;
    }
#pragma unroll 8
    for (int k = 0; k < matrix_tile; k++) {
        const struct NAME(matrix_source) j = source[k];
        const struct NAME(matrix_source_extra) more =
            kind == law_custom || kind == law_constant ? extra[k] : NAME(matrix_source_extra){0, 0};
#pragma unroll
        for (int r = 0; r < matrix_reduce_rows; r++) {
            const REAL value =
                NAME(matrix_meet)<kind, operation>(problem, law, &particle[r], &j, &more);
            if (careful &&
                (first + k >= problem->columns.count ||
                 (problem->replaces_diagonal && first + k == row + r * matrix_reduce_threads)))
                continue;
            if (operation == matrix_sum) {
                sum[r] = law_fma(value, j.coefficient, sum[r]);
            } else if (value * sign < least[r]) {
                least[r] = value * sign;
                at[r] = k;
            }
        }
    }
#pragma unroll
    for (int r = 0; r < matrix_reduce_rows; r++) {
        if (operation == matrix_sum) {
            found[r].sum += (double)sum[r];
        } else if (least[r] < found[r].least) {
            found[r].least = least[r];
            found[r].at = first + at[r];
        }
    }
}

template <enum law_kind kind, enum matrix_operation operation>
LAW_INLINE void NAME(matrix_reduce_block)(const struct matrix_problem *problem,
                                          const struct matrix_parts *parts)
{
    __shared__ struct NAME(matrix_source) source[matrix_tile];
    __shared__ struct NAME(matrix_source_extra) extra[matrix_tile];
    const struct NAME(law_constants) law = NAME(law_load)(&problem->numbers);
    const long long of_block = (long long)blockIdx.x * matrix_reduce_block_rows;
    const long long row = of_block + threadIdx.x;
    const long long begin = (long long)blockIdx.y * parts->columns;
    const long long end = begin + parts->columns < problem->columns.count ? begin + parts->columns
                                                                          : problem->columns.count;
    struct NAME(matrix_particle) particle[matrix_reduce_rows];
    struct NAME(matrix_found) found[matrix_reduce_rows];
#pragma unroll
    for (int r = 0; r < matrix_reduce_rows; r++) {
        particle[r] = NAME(matrix_particle_at)(&problem->rows, row + r * matrix_reduce_threads);
        found[r] = {0, (REAL)INFINITY, -1};
    }
    for (long long first = begin; first < end; first += matrix_tile) {
        __syncthreads();
        for (int k = (int)threadIdx.x; k < matrix_tile; k += matrix_reduce_threads) {
            const struct NAME(matrix_particle) j =
                NAME(matrix_particle_at)(&problem->columns, first + k);
            const REAL coefficient = operation == matrix_least ? j.weight
                                     : first + k < end
                                         ? ((const REAL *)problem->columns.coefficient)[first + k]
                                         : 0;
            source[k] = {{j.x[0], j.x[1], j.x[2]}, coefficient};
            extra[k] = {j.weight, j.charge};
        }
        __syncthreads();
        const bool meets_diagonal = problem->replaces_diagonal &&
                                    first < of_block + matrix_reduce_block_rows &&
                                    of_block < first + matrix_tile;
        if (meets_diagonal || first + matrix_tile > problem->columns.count)
            NAME(matrix_meet_tile)<kind, operation, true>(
                problem, &law, (REAL)parts->sign, particle, row, source, extra, first, found);
        else
            NAME(matrix_meet_tile)<kind, operation, false>(
                problem, &law, (REAL)parts->sign, particle, row, source, extra, first, found);
    }
#pragma unroll
    for (int r = 0; r < matrix_reduce_rows; r++) {
        const long long i = row + r * matrix_reduce_threads;
        if (i >= problem->rows.count)
            continue;
        const long long to = (long long)blockIdx.y * problem->rows.count + i;
        if (operation == matrix_sum) {
            parts->sum[to] = found[r].sum;
        } else {
            parts->sum[to] = (double)found[r].least;
            parts->at[to] = found[r].at;
        }
    }
}

template <enum law_kind kind, enum matrix_operation operation>
__global__ void __launch_bounds__(matrix_reduce_threads)
    NAME(matrix_reduce)(const struct matrix_problem problem, const struct matrix_parts parts)
{
    NAME(matrix_reduce_block)<kind, operation>(&problem, &parts);
}
