/* Products on the CPU: which kernel, how many threads, and the rows that pieces share. */
#include <stddef.h>
#include <string.h>

#include "core/memory.h"
#include "device/context.h"
#include "device/cpu.h"
#include "device/threads.h"
#include "sparse/multiply_kernel.h"
#include "sparse/sparse_cpu.h"

enum {
    rows_a_task = 8192,
    vector_rows_a_task = 1024, /* with multiple right-hand sides */
    piece_bytes = 16,          /* that can be written past the caches */

    /* Bytes of x from which on it is copied to large pages: the second level of a TLB has 2048 to
     * 4096 small ones. Zen 5, random columns: 1.0 to 1.05 times as long with 16 MB, 0.66 to 0.78
     * with 32, from 2 uses of an element on. */
    most_on_small_pages = 4096 * 4096,

    /* Bytes of y, of multiple right-hand sides, that the caller may find in the caches. Rows
     * written past them take 0.87 to 0.95 times as long, whatever the size. */
    most_in_caches = 8 << 20
};

/* Uses of an element of x far from its last one, in mean, that are worth a copy: on large pages,
 * and to the start of a line (Zen 5, eight vectors in double, random columns: 1.13 times as long
 * with 5 uses, 1.0 with 7, 0.92 and 0.81 with 11 and 14). */
static const double uses_of_pages = 2, uses_of_lines = 8;

static sparse_kernel *kernel_of(kith_context *context, const struct sparse_matrix *matrix,
                                enum sparse_kernel_name name)
{
#define IN_DOUBLE(isa) sparse_kernels_double_##isa,
#define IN_FLOAT(isa)  sparse_kernels_float_##isa,
    static sparse_kernel *const *const in_double[] = {KITH_EACH_ISA(IN_DOUBLE)};
    static sparse_kernel *const *const in_float[] = {KITH_EACH_ISA(IN_FLOAT)};
#undef IN_DOUBLE
#undef IN_FLOAT
    return (matrix->csr.dtype == KITH_F64 ? in_double : in_float)[context->isa][name];
}

static enum sparse_kernel_name name_of_csr(const struct sparse_plan *plan)
{
    const int narrow = plan->index_bytes == 2;
    if (plan->kernel == KITH_SPARSE_MERGE)
        return (enum sparse_kernel_name)(sparse_csr_merge + narrow);
    return (enum sparse_kernel_name)(
        (plan->kernel == KITH_SPARSE_ROW_VECTOR ? sparse_csr_lanes : sparse_csr_rows) + narrow);
}

static enum sparse_kernel_name name_of(const struct sparse_plan *plan)
{
    switch (plan->format) {
    case KITH_SPARSE_COO:
        return sparse_coo_entries;
    case KITH_SPARSE_ELL:
    case KITH_SPARSE_HYBRID:
        return sparse_ell_rows;
    case KITH_SPARSE_SELL:
        return plan->index_bytes == 2 ? sparse_sell_slices_16 : sparse_sell_slices;
    case KITH_SPARSE_BSR:
        return (enum sparse_kernel_name)(sparse_bsr_2 + plan->block - 2);
    case KITH_SPARSE_DIA:
        return plan->symmetric ? sparse_dia_symmetric : sparse_dia_tiles;
    default:
        return name_of_csr(plan);
    }
}

struct job {
    const struct sparse_work *work;
    sparse_kernel *kernel;
};

static void do_task(void *argument, int64_t task)
{
    const struct job *job = argument;
    job->kernel(job->work, task);
}

static kith_status do_tasks(kith_context *context, const struct sparse_work *work,
                            enum sparse_kernel_name name, int64_t tasks)
{
    const struct sparse_matrix *matrix = work->product->matrix;
    struct job job = {work, kernel_of(context, matrix, name)};
    const double seconds = matrix->plan.seconds * (double)work->product->vectors;
    return kith_for_each(context, kith_threads_for(context, seconds), tasks, do_task, &job);
}

/* Rows that lie in several pieces: their parts in the order of the pieces. */
static void finish_shared_rows(kith_context *context, const struct sparse_work *work)
{
    const struct sparse_matrix *matrix = work->product->matrix;
    sparse_kernel *finish = kernel_of(context, matrix, sparse_finish_piece);
    double carry = 0;
    for (int64_t p = 0; p < matrix->pieces; p++) {
        if (matrix->piece[p + 1].row == matrix->piece[p].row) {
            carry += work->tail[p];
            continue;
        }
        work->head[p] += carry;
        carry = work->tail[p];
        if (!work->adds || work->head[p] != 0)
            finish(work, p);
    }
}

/* Kernels whose pieces may end within a row. */
static kith_status do_pieces(kith_context *context, struct sparse_work *work, void *scratch,
                             enum sparse_kernel_name name)
{
    const int64_t pieces = work->product->matrix->pieces;
    work->head = scratch;
    work->tail = work->head + pieces;
    KITH_TRY(do_tasks(context, work, name, pieces));
    finish_shared_rows(context, work);
    return KITH_OK;
}

static kith_status multiply_one(kith_context *context, struct sparse_work *work, void *scratch)
{
    const struct sparse_matrix *matrix = work->product->matrix;
    const struct sparse_plan *plan = &matrix->plan;
    const bool by_rows = plan->format == KITH_SPARSE_ELL || plan->format == KITH_SPARSE_HYBRID ||
                         plan->format == KITH_SPARSE_DIA;
    const int64_t row_tasks = (matrix->csr.rows + rows_a_task - 1) / rows_a_task;
    if (plan->format == KITH_SPARSE_COO || plan->kernel == KITH_SPARSE_MERGE)
        KITH_TRY(do_pieces(context, work, scratch, name_of(plan)));
    else
        KITH_TRY(do_tasks(context, work, name_of(plan), by_rows ? row_tasks : matrix->pieces));
    if (plan->format != KITH_SPARSE_HYBRID || matrix->hybrid.coo.count == 0)
        return KITH_OK;
    struct sparse_product rest = *work->product;
    struct sparse_work of_rest = *work;
    rest.beta = 1;
    of_rest.product = &rest;
    of_rest.adds = true;
    return do_pieces(context, &of_rest, scratch, sparse_coo_entries);
}

/* Scattered reads of a large x, over small pages, walk through their tables for each entry; and an
 * element or a line may lie across two lines. The context's memory lies on large pages: where lines
 * are used several times, copying x there costs less. */
static bool is_worth_copying(const struct sparse_product *product)
{
    const struct sparse_csr *csr = &product->matrix->csr;
    const int64_t bytes_each = kith_dtype_bytes(csr->dtype);
    const int64_t bytes = csr->columns * product->vectors * bytes_each;
    const double uses = (double)csr->nonzeros / (double)(csr->columns > 0 ? csr->columns : 1);
    const bool straddles = product->vectors > 1 && (uintptr_t)product->x % 64 != 0;
    return (straddles && uses * product->matrix->near_lines_per_entry > uses_of_lines) ||
           (bytes > most_on_small_pages && uses * product->matrix->lines_per_entry > uses_of_pages);
}

/* Whether kernels can read the caller's x. */
static bool is_usable(const struct sparse_product *product, int64_t chunk)
{
    if (product->vectors == 1)
        return product->x_stride[0] == 1;
    return product->x_stride[1] == 1 && product->vectors % chunk == 0;
}

/* Blocks and diagonals save indices and lines of x; with slices nothing is gathered
 * at all, and compressed rows write y in its order. */
static enum sparse_kernel_name name_of_vectors(const struct sparse_plan *plan)
{
    switch (plan->format) {
    case KITH_SPARSE_CSR:
        return plan->index_bytes == 2 ? sparse_csr_vectors_16 : sparse_csr_vectors;
    case KITH_SPARSE_BSR:
        return (enum sparse_kernel_name)(sparse_bsr_vectors_2 + plan->block - 2);
    case KITH_SPARSE_DIA:
        return sparse_dia_vectors;
    default:
        return sparse_csr_vectors;
    }
}

/* Whether rows of y, without gaps, are written and not read, and too many to stay near by. */
static bool is_streamed(const struct sparse_product *product, int64_t chunk)
{
    const int64_t bytes_each = kith_dtype_bytes(product->matrix->csr.dtype);
    return product->vectors > 1 && product->vectors % chunk == 0 && product->beta == 0 &&
           product->y_stride[1] == 1 && product->y_stride[0] == product->vectors &&
           (uintptr_t)product->y % piece_bytes == 0 &&
           product->matrix->csr.rows * product->vectors * bytes_each > most_in_caches;
}

static kith_status multiply_several(kith_context *context, struct sparse_work *work)
{
    const struct sparse_matrix *matrix = work->product->matrix;
    const enum sparse_kernel_name name = name_of_vectors(&matrix->plan);
    const bool in_pieces = matrix->plan.format == KITH_SPARSE_BSR;
    work->rows_a_task = vector_rows_a_task;
    return do_tasks(context, work, name,
                    in_pieces ? matrix->pieces
                              : (matrix->csr.rows + vector_rows_a_task - 1) / vector_rows_a_task);
}

/* x as the kernels take it, in the context's memory. */
static kith_status pack(kith_context *context, struct sparse_work *work, void *packed)
{
    const int64_t columns = work->product->matrix->csr.columns;
    work->packed = packed;
    work->x = packed;
    if (work->product->vectors != 1 || work->product->x_stride[0] != 1)
        return do_tasks(context, work, sparse_pack_vectors,
                        (columns + rows_a_task - 1) / rows_a_task);
    memcpy(packed, work->product->x,
           (size_t)(columns * kith_dtype_bytes(work->product->matrix->csr.dtype)));
    return KITH_OK;
}

static kith_status multiply_together(kith_context *context, const struct sparse_product *product)
{
    const struct sparse_matrix *matrix = product->matrix;
    const int64_t vectors = product->vectors, bytes_each = kith_dtype_bytes(matrix->csr.dtype);
    const int64_t chunk = sparse_chunk_bytes / bytes_each;
    const bool packs = !is_usable(product, chunk) || is_worth_copying(product);
    const int64_t stride = vectors == 1 ? 1 : (vectors + chunk - 1) / chunk * chunk;
    const int64_t sums = 2 * kith_padded(matrix->pieces + 1) * (int64_t)sizeof(double);
    const int64_t packed = packs ? matrix->csr.columns * stride * bytes_each : 0;
    char *scratch = NULL;
    KITH_TRY(cpu_scratch(context, sums + packed, (void **)&scratch));
    struct sparse_work work = {.product = product,
                               .x = product->x,
                               .stride = packs ? stride : product->x_stride[0],
                               .rows_a_task = rows_a_task,
                               .streams = is_streamed(product, chunk),
                               .scattered =
                                   sparse_is_scattered(matrix->lines_per_entry,
                                                       matrix->csr.columns * vectors * bytes_each)};
    if (packs)
        KITH_TRY(pack(context, &work, scratch + sums));
    return vectors == 1 ? multiply_one(context, &work, scratch) : multiply_several(context, &work);
}

/* Diagonals read x in its order and have no index: packing vectors that lie one after the other
 * would cost more than going through the matrix for each of them. */
static bool go_one_by_one(const struct sparse_product *product)
{
    return product->matrix->plan.format == KITH_SPARSE_DIA && product->x_stride[0] == 1 &&
           product->y_stride[0] == 1;
}

struct one_by_one {
    struct sparse_work work;
    sparse_kernel *kernel;
};

static void do_one(void *argument, int64_t task)
{
    const struct one_by_one *job = argument;
    const struct sparse_product *all = job->work.product;
    const int64_t bytes_each = kith_dtype_bytes(all->matrix->csr.dtype);
    const int64_t k = task % all->vectors;
    struct sparse_product one = *all;
    struct sparse_work work = job->work;
    one.vectors = 1;
    one.x = (const char *)all->x + k * all->x_stride[1] * bytes_each;
    one.y = (char *)all->y + k * all->y_stride[1] * bytes_each;
    work.product = &one;
    work.x = one.x;
    job->kernel(&work, task / all->vectors);
}

/* A stretch of rows of all vectors finds its part of the matrix in the caches. */
static kith_status multiply_one_by_one(kith_context *context, const struct sparse_product *product)
{
    const struct sparse_matrix *matrix = product->matrix;
    const double seconds = matrix->plan.seconds * (double)product->vectors;
    const struct one_by_one job = {
        .work = {.product = product, .stride = 1, .rows_a_task = rows_a_task},
        .kernel = kernel_of(context, matrix, name_of(&matrix->plan))};
    const int64_t stretches = (matrix->csr.rows + rows_a_task - 1) / rows_a_task;
    return kith_for_each(context, kith_threads_for(context, seconds), stretches * product->vectors,
                         do_one, (void *)&job);
}

kith_status sparse_multiply_cpu(kith_context *context, const struct sparse_product *product)
{
    if (product->vectors > 1 && go_one_by_one(product))
        return multiply_one_by_one(context, product);
    return multiply_together(context, product);
}
