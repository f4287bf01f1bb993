/* Elements by tiles, for one precision: p threads compute a tile of p × p elements.
 *
 * Each thread has a column of the tile, its particle in registers; the tile's rows are in shared
 * memory, where every thread reads all of them. Neighboring threads write neighboring elements.
 * It is kept as it was but for two things: an index is 64 bits wide, and a thread without a column
 * still brings its row and waits with the others.
 *
 * What limits it on today's GPUs: a block of p threads computes p² elements only, so that small
 * tiles spend their time on starting blocks, and large ones leave most of the GPU waiting for the
 * threads of one block to come together. The kernel of matrix_cuda_body.h has no shared memory,
 * writes 16 bytes per thread at a time, and reads a row once for four columns. */
template <enum law_kind kind>
__global__ void NAME(matrix_tile_p)(const struct matrix_problem problem,
                                    const struct matrix_target to)
{
    extern __shared__ char shared[];
    struct NAME(matrix_particle) *rows = (struct NAME(matrix_particle) *)shared;
    const struct NAME(law_constants) law = NAME(law_load)(&problem.numbers);
    const int p = (int)blockDim.x;
    const long long j = (long long)p * blockIdx.x + threadIdx.x;
    const struct NAME(matrix_particle) column = NAME(matrix_particle_at)(&problem.columns, j);
    const long long tiles = (to.rows + p - 1) / p;
    for (long long tile = blockIdx.y; tile < tiles; tile += gridDim.y) {
        const long long first = to.first + tile * p;
        __syncthreads();
        rows[threadIdx.x] = NAME(matrix_particle_at)(&problem.rows, first + threadIdx.x);
        __syncthreads();
        if (j >= problem.columns.count)
            continue;
#pragma unroll 16
        for (int k = 0; k < p; k++) {
            if (first + k >= to.first + to.rows)
                break;
            REAL value = NAME(matrix_weighted_value)(kind, &problem, &law, &rows[k], &column);
            if (problem.replaces_diagonal && first + k == j)
                value = (REAL)problem.diagonal_value;
            ((REAL *)to.values)[(first + k - to.first) * to.row_stride + j * to.column_stride] =
                value;
        }
    }
}
