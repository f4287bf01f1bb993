/* The kernels of a formula, for one precision; NVRTC only. */

extern "C" __global__ void __launch_bounds__(matrix_fill_threads, matrix_fill_blocks)
    NAME(matrix_fill_custom)(const struct matrix_problem problem, const struct matrix_target to)
{
    NAME(matrix_fill_block)<law_custom>(&problem, &to);
}

extern "C" __global__ void __launch_bounds__(matrix_fill_threads)
    NAME(matrix_symmetric_custom)(const struct matrix_problem problem,
                                  const struct matrix_target to)
{
    NAME(matrix_symmetric_block)<law_custom>(&problem, &to);
}

extern "C" __global__ void __launch_bounds__(matrix_reduce_threads)
    NAME(matrix_sum_custom)(const struct matrix_problem problem, const struct matrix_parts parts)
{
    NAME(matrix_reduce_block)<law_custom, matrix_sum>(&problem, &parts);
}

extern "C" __global__ void __launch_bounds__(matrix_reduce_threads)
    NAME(matrix_least_custom)(const struct matrix_problem problem, const struct matrix_parts parts)
{
    NAME(matrix_reduce_block)<law_custom, matrix_least>(&problem, &parts);
}

extern "C" __global__ void __launch_bounds__(matrix_histogram_threads)
    NAME(matrix_histogram_custom)(const struct matrix_problem problem,
                                  const struct matrix_bins bins)
{
    NAME(matrix_histogram_block)<law_custom>(&problem, &bins);
}
