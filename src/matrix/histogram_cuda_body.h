/* How many values of the interaction matrix lie in each bin, on a GPU, for one precision: a thread
 * has a row, and a block counts in shared memory if the bins fit there. Whole numbers may be added
 * in any order. */

template <enum law_kind kind>
LAW_INLINE void NAME(matrix_histogram_block)(const struct matrix_problem *problem,
                                             const struct matrix_bins *bins)
{
    __shared__ struct NAME(matrix_particle) column[matrix_histogram_threads];
    __shared__ unsigned in_block[matrix_most_shared_bins];
    const struct NAME(law_constants) law = NAME(law_load)(&problem->numbers);
    const bool fits = bins->range.bins <= matrix_most_shared_bins;
    const long long of_block = (long long)blockIdx.x * matrix_histogram_threads;
    const long long i = of_block + threadIdx.x;
    const long long begin = (long long)blockIdx.y * bins->columns;
    const long long end = begin + bins->columns < problem->columns.count ? begin + bins->columns
                                                                         : problem->columns.count;
    if (problem->same && end <= of_block)
        return;
    for (int k = (int)threadIdx.x; k < matrix_most_shared_bins; k += matrix_histogram_threads)
        in_block[k] = 0;
    const struct NAME(matrix_particle) row = NAME(matrix_particle_at)(&problem->rows, i);
    for (long long first = begin; first < end; first += matrix_histogram_threads) {
        __syncthreads();
        column[threadIdx.x] = NAME(matrix_particle_at)(&problem->columns, first + threadIdx.x);
        __syncthreads();
        const int count =
            end - first < matrix_histogram_threads ? (int)(end - first) : matrix_histogram_threads;
        for (int k = 0; i < problem->rows.count && k < count; k++) {
            if (problem->same && first + k < i + problem->leaves_diagonal_out)
                continue;
            double value =
                (double)NAME(matrix_weighted_value)(kind, problem, &law, &row, &column[k]);
            if (problem->replaces_diagonal && first + k == i)
                value = problem->diagonal_value;
            const long long bin = matrix_bin(&bins->range, value);
            if (bin < 0)
                continue;
            if (fits)
                atomicAdd(&in_block[bin], 1u);
            else
                atomicAdd(&bins->counts[bin], 1ull);
        }
    }
    __syncthreads();
    for (int k = (int)threadIdx.x; fits && k < bins->range.bins; k += matrix_histogram_threads)
        if (in_block[k])
            atomicAdd(&bins->counts[k], (unsigned long long)in_block[k]);
}

template <enum law_kind kind>
__global__ void __launch_bounds__(matrix_histogram_threads)
    NAME(matrix_histogram)(const struct matrix_problem problem, const struct matrix_bins bins)
{
    NAME(matrix_histogram_block)<kind>(&problem, &bins);
}
