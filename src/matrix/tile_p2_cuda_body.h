/* Elements by tiles, for one precision: p² threads compute a tile of p × p elements, one
 * each.
 *
 * Every particle of the tile is needed by p threads: rows and columns both go through shared
 * memory, and each thread reads two particles to compute one element. With p threads per tile
 * (tile_p_cuda_body.h) the column stays in registers and is read once for p elements. */
template <enum law_kind kind>
__global__ void NAME(matrix_tile_p2)(const struct matrix_problem problem,
                                     const struct matrix_target to)
{
    extern __shared__ char shared[];
    struct NAME(matrix_particle) *rows = (struct NAME(matrix_particle) *)shared;
    struct NAME(matrix_particle) *columns = rows + blockDim.x;
    const struct NAME(law_constants) law = NAME(law_load)(&problem.numbers);
    const int p = (int)blockDim.x, x = (int)threadIdx.x, y = (int)threadIdx.y;
    const long long first_column = (long long)p * blockIdx.x, j = first_column + x;
    const long long tiles = (to.rows + p - 1) / p;
    for (long long tile = blockIdx.y; tile < tiles; tile += gridDim.y) {
        const long long row = tile * p + y;
        __syncthreads();
        if (y == 0)
            rows[x] = NAME(matrix_particle_at)(&problem.rows, to.first + tile * p + x);
        if (y == p - 1)
            columns[x] = NAME(matrix_particle_at)(&problem.columns, j);
        __syncthreads();
        if (j >= problem.columns.count || row >= to.rows)
            continue;
        REAL value = NAME(matrix_weighted_value)(kind, &problem, &law, &rows[y], &columns[x]);
        if (problem.replaces_diagonal && to.first + row == j)
            value = (REAL)problem.diagonal_value;
        ((REAL *)to.values)[row * to.row_stride + j * to.column_stride] = value;
    }
}
