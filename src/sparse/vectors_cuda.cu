/* Multiple right-hand sides, of a matrix in any format: a few lanes have 16 bytes each of the eight
 * numbers that an entry meets, and a row, or a piece of a long one, has up to 32 lanes. x is
 * brought into rows of 8 first, so that the 8 numbers that an entry meets are one line or half of
 * one.
 *
 * Measured on an H200, 10^6 rows of 16 anywhere, four entries at a time: 16 bytes per lane 0.164 ms
 * in float and 0.299 in double, 8 bytes in float 0.171; two entries at a time in double 0.312. */

#include "sparse/vectors_cuda.cuh"

enum { block_threads = 256, together = sparse_vectors_together };

template <typename real> struct columns_of_vectors {
    const real *data;
    int64_t stride[2];
};

/* to[i·8 + k] = element (i, k), 0 past the last vector. */
template <typename real>
static __global__ void __launch_bounds__(block_threads)
    pack_kernel(int64_t rows, int vectors, const columns_of_vectors<real> x,
                struct share_of<real> *to)
{
    const int64_t place = (int64_t)blockIdx.x * block_threads + threadIdx.x;
    const int64_t i = place / lanes_of_entry<real>;
    const int first = (int)(place % lanes_of_entry<real>)*share_of<real>::count;
    if (i >= rows)
        return;
    struct share_of<real> made = {
    };
#pragma unroll
    for (int k = 0; k < share_of<real>::count; k++)
        if (first + k < vectors)
            made.of[k] = once(x.data + i * x.stride[0] + (first + k) * x.stride[1]);
    to[place] = made;
}

/* One vector without gaps. */
template <typename real>
static __global__ void __launch_bounds__(block_threads)
    gather_kernel(int64_t rows, const real *x, int64_t stride, real *to)
{
    const int64_t i = (int64_t)blockIdx.x * block_threads + threadIdx.x;
    if (i < rows)
        to[i] = x[i * stride];
}

template <typename real>
static __global__ void __launch_bounds__(block_threads)
    scale_kernel(int64_t rows, int64_t vectors, const sums_to<real> to, int64_t vector_stride)
{
    const int64_t place = (int64_t)blockIdx.x * block_threads + threadIdx.x;
    if (place >= rows * vectors)
        return;
    real *y = to.y + place / vectors * to.stride + place % vectors * vector_stride;
    *y = to.beta == 0 ? (real)0 : to.beta * *y;
}

/* α A x in rows of 8 to where y is. */
template <typename real>
static __global__ void __launch_bounds__(block_threads)
    unpack_kernel(int64_t rows, int vectors, const real *from, const sums_to<real> to,
                  int64_t vector_stride)
{
    const int64_t row = (int64_t)blockIdx.x * block_threads + threadIdx.x;
    if (row >= rows)
        return;
    real sum[together];
#pragma unroll
    for (int k = 0; k < together; k++)
        sum[k] = k < vectors ? from[row * together + k] : (real)0;
#pragma unroll
    for (int k = 0; k < together; k++)
        if (k < vectors) {
            const sums_to<real> vector = {1, to.beta, to.y + k * vector_stride, to.stride};
            put_sum(vector, row, sum[k]);
        }
}

template <typename real>
static __global__ void __launch_bounds__(block_threads)
    vectors_kernel(const vectors_product<real> a, const sparse_long_rows long_rows,
                   int piece_blocks, const real *__restrict__ x)
{
    if (blockIdx.x < piece_blocks) {
        const int64_t p = ((int64_t)blockIdx.x * block_threads + threadIdx.x) / warp;
        if (p < long_rows.pieces)
            do_piece(a, long_rows, p, x);
        return;
    }
    const int lanes = lanes_of_entry<real> << a.log_entries;
    const int64_t thread = (int64_t)(blockIdx.x - piece_blocks) * block_threads + threadIdx.x;
    const int64_t row = thread / lanes;
    const int e = (int)(thread % lanes) / lanes_of_entry<real>;
    const int64_t begin = row < a.rows ? a.entries.start[row] : 0;
    const int64_t end = row < a.rows ? a.entries.start[row + 1] : 0;
    const bool is_here = row < a.rows && end - begin <= sparse_longest_in_slices;
    struct share_of<real> sum =
        sums_of_lane(a.entries, begin + e, is_here ? end : begin, 1 << a.log_entries, x);
    add_lanes(sum, lanes);
    if (is_here && e == 0)
        put_sums(a, row, share_of_lane<real>(), sum);
}

/* Entries of a lane: four lanes with as many each cover a row of mean length. */
static int log_entries_for(const struct sparse_csr *csr)
{
    int log_entries = 0;
    while (log_entries < 3 && (4 << log_entries) < csr->nonzeros / csr->rows)
        log_entries++;
    return log_entries;
}

static bool is_sorted(const struct sparse_matrix *matrix)
{
    return matrix->plan.format == KITH_SPARSE_SELL && matrix->sell.row != NULL;
}

/* In single precision rows that are not sorted go by lanes of their own: random 0.153 ms and 0.180
 * by slices, tall 0.088 and 0.130, but R-MAT, sorted, 0.207 and 0.192. */
static bool goes_by_slices(const struct sparse_matrix *matrix)
{
    return is_sorted(matrix) ||
           (matrix->csr.dtype == KITH_F64 &&
            (matrix->plan.format == KITH_SPARSE_SELL || matrix->plan.format == KITH_SPARSE_ELL));
}

/* Rows sorted all together would be written everywhere in columns of y: they go by way of rows. */
static bool is_unpacked(const struct sparse_product *product)
{
    return product->y_stride[1] != 1 && is_sorted(product->matrix) &&
           product->matrix->plan.window == sparse_whole_window;
}

/* Whether the diagonals are next to each other, and all of them stored. */
static bool is_band(const struct sparse_matrix *matrix)
{
    const int32_t *offset = sparse_own_of(matrix)->few.offset;
    const int64_t count = matrix->dia.diagonals;
    return !matrix->dia.symmetric && count > 1 && offset[count - 1] - offset[0] == count - 1;
}

template <typename real>
static kith_status multiply_by_slices(kith_context *context, const struct sparse_product *product,
                                      const vectors_product<real> &a, const real *x, real *sums)
{
    if (!is_unpacked(product))
        return sparse_slices_of_vectors(context, product->matrix, a, x);
    struct vectors_product<real> to_rows = a;
    to_rows.to = {a.to.alpha, 0, sums, together};
    to_rows.vector_stride = 1;
    to_rows.is_whole = a.vectors == together;
    KITH_TRY(sparse_slices_of_vectors(context, product->matrix, to_rows, x));
    unpack_kernel<real>
        <<<blocks_for(a.rows, block_threads), block_threads, 0, cuda_stream(context)>>>(
            a.rows, a.vectors, sums, a.to, a.vector_stride);
    return cuda_check_launch("starting the kernel that puts sums in columns");
}

template <typename real>
static kith_status multiply_eight(kith_context *context, const struct sparse_product *product,
                                  int64_t first, real *packed)
{
    const struct sparse_csr *csr = &product->matrix->csr;
    const int64_t left = product->vectors - first;
    const int vectors = left < together ? (int)left : (int)together;
    struct columns_of_vectors<real> x;
    x.data = (const real *)product->x + first * product->x_stride[1];
    x.stride[0] = product->x_stride[0];
    x.stride[1] = product->x_stride[1];
    struct vectors_product<real> a;
    a.rows = csr->rows;
    a.vectors = vectors;
    a.log_entries = log_entries_for(csr);
    a.entries = row_entries_of<real>(product->matrix);
    a.to = sums_to_of<real>(product);
    a.vector_stride = product->y_stride[1];
    a.to.y += first * product->y_stride[1];
    a.is_whole = vectors == together && a.vector_stride == 1 &&
                 a.to.stride * sizeof(real) % bytes_of_lane == 0 &&
                 (uintptr_t)a.to.y % bytes_of_lane == 0;
    const bool has_few_diagonals = product->matrix->plan.format == KITH_SPARSE_DIA &&
                                   product->matrix->dia.diagonals <= sparse_few_diagonals;
    if (has_few_diagonals && vectors == together && x.stride[0] == 1 && a.to.stride == 1)
        return sparse_diagonals_of_columns(context, product->matrix, a, x.data, x.stride[1]);
    const cudaStream_t stream = cuda_stream(context);
    const bool is_packed = vectors == together && x.stride[1] == 1 && x.stride[0] == together &&
                           (uintptr_t)x.data % bytes_of_lane == 0;
    if (!is_packed)
        pack_kernel<real>
            <<<blocks_for(csr->columns * lanes_of_entry<real>, block_threads), block_threads, 0,
               stream>>>(csr->columns, vectors, x, (struct share_of<real> *)packed);
    const real *rows_of_x = is_packed ? x.data : packed;
    if (has_few_diagonals && is_band(product->matrix))
        return sparse_band_of_vectors(context, product->matrix, a, rows_of_x);
    if (has_few_diagonals)
        return sparse_diagonals_of_vectors(context, product->matrix, a, rows_of_x);
    if (product->matrix->plan.format == KITH_SPARSE_BSR)
        return sparse_blocks_of_vectors(context, product->matrix, a, rows_of_x);
    if (goes_by_slices(product->matrix))
        return multiply_by_slices(context, product, a, rows_of_x, packed + csr->columns * together);
    const struct sparse_long_rows *long_rows = &sparse_own_of(product->matrix)->long_rows;
    const unsigned piece_blocks = blocks_for(long_rows->pieces * warp, block_threads);
    const unsigned blocks =
        piece_blocks + blocks_for(csr->rows * lanes_of_entry<real> << a.log_entries, block_threads);
    vectors_kernel<real>
        <<<blocks, block_threads, 0, stream>>>(a, *long_rows, (int)piece_blocks, rows_of_x);
    return cuda_check_launch("starting the kernel of multiple right-hand sides");
}

template <typename real>
static kith_status launch(kith_context *context, const struct sparse_product *product)
{
    const struct sparse_csr *csr = &product->matrix->csr;
    const int64_t rows = csr->columns + (is_unpacked(product) ? csr->rows : 0);
    void *packed = NULL;
    KITH_TRY(cuda_scratch(context, rows * together * (int64_t)sizeof(real), &packed));
    for (int64_t first = 0; first < product->vectors; first += together)
        KITH_TRY(multiply_eight<real>(context, product, first, (real *)packed));
    return KITH_OK;
}

kith_status sparse_vectors_cuda(kith_context *context, const struct sparse_product *product)
{
    return product->matrix->csr.dtype == KITH_F64 ? launch<double>(context, product)
                                                  : launch<float>(context, product);
}

template <typename real>
static kith_status launch_scale(kith_context *context, const struct sparse_product *product)
{
    const int64_t rows = product->matrix->csr.rows, vectors = product->vectors;
    scale_kernel<real>
        <<<blocks_for(rows * vectors, block_threads), block_threads, 0, cuda_stream(context)>>>(
            rows, vectors, sums_to_of<real>(product), product->y_stride[1]);
    return cuda_check_launch("starting the kernel that scales y");
}

kith_status sparse_scale_cuda(kith_context *context, const struct sparse_product *product)
{
    return product->matrix->csr.dtype == KITH_F64 ? launch_scale<double>(context, product)
                                                  : launch_scale<float>(context, product);
}

template <typename real>
static kith_status launch_gather(kith_context *context, const struct sparse_product *product,
                                 const void **x)
{
    const int64_t columns = product->matrix->csr.columns;
    void *gathered = NULL;
    KITH_TRY(cuda_scratch(context, columns * (int64_t)sizeof(real), &gathered));
    gather_kernel<real>
        <<<blocks_for(columns, block_threads), block_threads, 0, cuda_stream(context)>>>(
            columns, (const real *)product->x, product->x_stride[0], (real *)gathered);
    *x = gathered;
    return cuda_check_launch("starting the kernel that gathers x");
}

kith_status sparse_gather_cuda(kith_context *context, const struct sparse_product *product,
                               const void **x)
{
    return product->matrix->csr.dtype == KITH_F64 ? launch_gather<double>(context, product, x)
                                                  : launch_gather<float>(context, product, x);
}
