/* Verlet lists of arrays in a GPU's memory. */

#include "pairs/verlet.h"

#include <string.h>

#include "device/cuda_state.h"
#include "sort/search.h"

enum { threads = 256, lanes = 32 };

static unsigned blocks_for(int64_t count)
{
    const int64_t most = 1 << 20, blocks = (count + threads - 1) / threads;
    return (unsigned)(blocks < 1 ? 1 : blocks < most ? blocks : most);
}

static __device__ int64_t own_number()
{
    return (int64_t)blockIdx.x * threads + threadIdx.x;
}

static __device__ int64_t all_threads()
{
    return (int64_t)gridDim.x * threads;
}

template <typename real> static __device__ real element(kith_array array, int64_t row, int64_t c)
{
    return ((const real *)array.data)[row * array.strides[0] + c * array.strides[1]];
}

template <typename real> static __global__ void copy_rows(kith_array from, real *to)
{
    const int64_t columns = from.shape[1];
    for (int64_t k = own_number(); k < from.shape[0] * columns; k += all_threads())
        to[k] = element<real>(from, k / columns, k % columns);
}

static kith_status copy_array(kith_context *context, kith_array from, void *to)
{
    const unsigned blocks = blocks_for(from.shape[0] * from.shape[1]);
    const cudaStream_t stream = cuda_stream(context);
    if (from.dtype == KITH_F64)
        copy_rows<double><<<blocks, threads, 0, stream>>>(from, (double *)to);
    else
        copy_rows<float><<<blocks, threads, 0, stream>>>(from, (float *)to);
    return cuda_check_launch("keeping the positions");
}

template <typename real>
static __global__ void look(kith_array now, const real *then, double limit2, unsigned *far)
{
    const int64_t columns = now.shape[1];
    bool is_far = false;
    for (int64_t row = own_number(); row < now.shape[0]; row += all_threads()) {
        double r2 = 0;
        for (int64_t c = 0; c < columns; c++) {
            const double d = pairs_add_double((double)element<real>(now, row, c),
                                              -(double)then[row * columns + c]);
            r2 = pairs_add_double(r2, pairs_multiply_double(d, d));
        }
        is_far |= !(r2 <= limit2);
    }
    if (is_far)
        *far = 1;
}

static kith_status find_moved(kith_context *context, kith_array now, void *then, double most,
                              bool *moved)
{
    void *host = nullptr, *own = nullptr;
    KITH_TRY(cuda_workspace(context, sizeof(unsigned), &host, &own));
    const unsigned blocks = blocks_for(now.shape[0]);
    const cudaStream_t stream = cuda_stream(context);
    KITH_TRY(cuda_check(cudaMemsetAsync(own, 0, sizeof(unsigned), stream), "looking for movement"));
    if (now.dtype == KITH_F64)
        look<double><<<blocks, threads, 0, stream>>>(now, (const double *)then, most * most,
                                                     (unsigned *)own);
    else
        look<float><<<blocks, threads, 0, stream>>>(now, (const float *)then, most * most,
                                                    (unsigned *)own);
    KITH_TRY(cuda_check_launch("looking for movement"));
    KITH_TRY(cuda_copy_out(context, host, own, sizeof(unsigned)));
    *moved = *(const unsigned *)host != 0;
    return KITH_OK;
}

/* What the kernel that refreshes works with; cells and first targets of systems on the device. */
struct refreshing {
    kith_array positions, targets;
    const kith_cell *cells; /* NULL: open space */
    const int64_t *first;   /* system_count of them; NULL: one system */
    int64_t system_count, row_count;
    const int64_t *offsets;
    const void *j;
    bool narrow;
    const int32_t *shifts;
    void *vectors, *distances;
};

static __device__ const kith_cell *cell_of_row(const struct refreshing &refreshing, int64_t row)
{
    const int64_t system =
        refreshing.first ? search_64(refreshing.first, 1, refreshing.system_count, row + 1) - 1 : 0;
    return refreshing.cells ? &refreshing.cells[system] : nullptr;
}

template <typename real>
static __device__ void refresh_pair(const struct refreshing &refreshing, const kith_cell *cell,
                                    int64_t i, int64_t p)
{
    const int64_t dimensions = refreshing.positions.shape[1];
    const int64_t j =
        refreshing.narrow ? ((const int32_t *)refreshing.j)[p] : ((const int64_t *)refreshing.j)[p];
    const int32_t *shift = refreshing.shifts + p * dimensions;
    double r2 = 0;
    for (int64_t c = 0; c < dimensions; c++) {
        double d = pairs_add_double((double)element<real>(refreshing.positions, j, c),
                                    -(double)element<real>(refreshing.targets, i, c));
        double moved = 0;
        for (int64_t k = 0; cell && k < dimensions; k++)
            if (cell->periodic[k])
                moved =
                    pairs_add_double(moved, pairs_multiply_double(shift[k], cell->vectors[k][c]));
        d = pairs_add_double(d, moved);
        r2 = pairs_add_double(r2, pairs_multiply_double(d, d));
        if (refreshing.vectors)
            ((real *)refreshing.vectors)[p * dimensions + c] = (real)d;
    }
    if (refreshing.distances)
        ((real *)refreshing.distances)[p] = (real)sqrt(r2);
}

/* A warp a row. */
template <typename real> static __global__ void refresh_rows(const struct refreshing refreshing)
{
    for (int64_t i = own_number() / lanes; i < refreshing.row_count; i += all_threads() / lanes) {
        const kith_cell *cell = cell_of_row(refreshing, i);
        for (int64_t p = refreshing.offsets[i] + threadIdx.x % lanes; p < refreshing.offsets[i + 1];
             p += lanes)
            refresh_pair<real>(refreshing, cell, i, p);
    }
}

/* Cells and offsets of systems to the device. */
static kith_status send_cells(const struct pairs_arguments *arguments,
                              struct refreshing *refreshing)
{
    const kith_array offsets = pairs_target_offsets(arguments);
    const int64_t count = refreshing->system_count;
    const int64_t cells = arguments->cell ? count * (int64_t)sizeof(kith_cell) : 0;
    const int64_t firsts = kith_array_is_none(offsets) ? 0 : count * (int64_t)sizeof(int64_t);
    void *host = nullptr, *own = nullptr;
    if (cells + firsts == 0)
        return KITH_OK;
    KITH_TRY(cuda_workspace(arguments->context, cells + firsts, &host, &own));
    if (cells > 0)
        memcpy(host, arguments->cell, (size_t)cells);
    if (firsts > 0)
        memcpy((char *)host + cells, offsets.data, (size_t)firsts);
    refreshing->cells = cells > 0 ? (const kith_cell *)own : nullptr;
    refreshing->first = firsts > 0 ? (const int64_t *)((char *)own + cells) : nullptr;
    return cuda_copy_in(arguments->context, own, host, cells + firsts);
}

static kith_status refresh_list(const struct pairs_arguments *arguments, kith_pairs *pairs)
{
    struct refreshing refreshing = {};
    refreshing.positions = arguments->positions;
    refreshing.targets = pairs_targets(arguments);
    refreshing.system_count = pairs_system_count(arguments);
    refreshing.row_count = pairs->row_count;
    refreshing.offsets = (const int64_t *)pairs->offsets.data;
    refreshing.j = pairs->j.data;
    refreshing.narrow = pairs->j.dtype == KITH_I32;
    refreshing.shifts = (const int32_t *)pairs->shifts.data;
    refreshing.vectors = pairs->vectors.data;
    refreshing.distances = pairs->distances.data;
    KITH_TRY(send_cells(arguments, &refreshing));
    const unsigned blocks = blocks_for(pairs->row_count * lanes);
    const cudaStream_t stream = cuda_stream(arguments->context);
    if (arguments->positions.dtype == KITH_F64)
        refresh_rows<double><<<blocks, threads, 0, stream>>>(refreshing);
    else
        refresh_rows<float><<<blocks, threads, 0, stream>>>(refreshing);
    return cuda_check_launch("bringing a list of pairs up to date");
}

const struct pairs_verlet pairs_verlet_cuda = {copy_array, find_moved, refresh_list};
