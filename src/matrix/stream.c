#include "matrix/stream.h"

#include <stddef.h>

#include "core/clock.h"
#include "device/context.h"
#include "matrix/backend.h"

/* Two blocks of rows in flight. On the CPU the backend's memory is the host's. */
struct stream {
    kith_context *context;
    const struct matrix_task *task;
    const kith_matrix_options *options;
    int64_t block_rows, blocks;
    void *own[2], *host[2];
    matrix_take_rows *take;
    void *taker;
    double taking; /* seconds */
};

static int64_t rows_of(const struct stream *stream, int64_t k)
{
    const int64_t first = k * stream->block_rows, n = stream->task->problem.rows.count;
    return n - first < stream->block_rows ? n - first : stream->block_rows;
}

static bool is_staged(const struct stream *stream)
{
    return stream->context->device.kind != KITH_CPU;
}

static kith_status compute(const struct stream *stream, int64_t k)
{
    const struct matrix_rows rows = {.values = stream->own[k % 2],
                                     .first = k * stream->block_rows,
                                     .count = rows_of(stream, k),
                                     .row_stride = stream->task->problem.columns.count,
                                     .column_stride = 1,
                                     .method = stream->options->method,
                                     .block = stream->options->block};
    return matrix_backend_of(stream->context)->fill(stream->context, stream->task, &rows);
}

static kith_status begin_copy(const struct stream *stream, int64_t k)
{
    const int64_t bytes = rows_of(stream, k) * stream->task->problem.columns.count *
                          kith_dtype_bytes(stream->task->dtype);
    if (!is_staged(stream))
        return KITH_OK;
    return stream->context->services->begin_copy_out(stream->context, stream->host[k % 2],
                                                     stream->own[k % 2], bytes);
}

static kith_status hand_over(struct stream *stream, int64_t k)
{
    const double begin = kith_clock();
    const kith_status status = stream->take(stream->taker, k * stream->block_rows,
                                            rows_of(stream, k), stream->host[k % 2]);
    stream->taking += kith_clock() - begin;
    kith_context_report(stream->context, k * stream->block_rows + rows_of(stream, k),
                        stream->task->problem.rows.count);
    return status;
}

/* On a GPU block k + 1 is computed while block k is copied, and copied while k is taken. */
static kith_status run(struct stream *stream)
{
    KITH_TRY(compute(stream, 0));
    KITH_TRY(begin_copy(stream, 0));
    for (int64_t k = 0; k < stream->blocks; k++) {
        KITH_TRY(kith_context_check_cancelled(stream->context));
        if (k + 1 < stream->blocks)
            KITH_TRY(compute(stream, k + 1));
        KITH_TRY(stream->context->services->finish_copies(stream->context));
        if (k + 1 < stream->blocks)
            KITH_TRY(begin_copy(stream, k + 1));
        KITH_TRY(hand_over(stream, k));
    }
    return stream->context->services->synchronize(stream->context);
}

static kith_status allocate(struct stream *stream)
{
    static const char what[] = "rows of the matrix";
    const struct device_services *services = stream->context->services;
    const int64_t columns = stream->task->problem.columns.count;
    const int64_t each = kith_dtype_bytes(stream->task->dtype);
    for (int k = 0; k < 2 && k < stream->blocks; k++) {
        KITH_TRY(services->allocate(stream->context, stream->block_rows * columns, each, what,
                                    &stream->own[k]));
        stream->host[k] = stream->own[k];
        if (!is_staged(stream))
            continue;
        stream->host[k] = NULL;
        KITH_TRY(services->allocate_host(stream->context, stream->block_rows * columns, each, what,
                                         &stream->host[k]));
    }
    return KITH_OK;
}

static void release(struct stream *stream)
{
    const struct device_services *services = stream->context->services;
    if (is_staged(stream))
        services->finish_copies(stream->context);
    for (int k = 0; k < 2; k++) {
        if (is_staged(stream))
            services->release_host(stream->context, stream->host[k]);
        services->release(stream->context, stream->own[k]);
    }
}

kith_status matrix_stream(kith_context *context, const struct matrix_task *task,
                          const kith_matrix_options *options, int64_t bytes, matrix_take_rows *take,
                          void *taker, double *seconds)
{
    const int64_t n = task->problem.rows.count, m = task->problem.columns.count;
    struct stream stream = {
        .context = context, .task = task, .options = options, .take = take, .taker = taker};
    if (seconds)
        *seconds = 0;
    if (n == 0 || m == 0)
        return KITH_OK;
    const int64_t rows = bytes / 2 / kith_dtype_bytes(task->dtype) / m;
    stream.block_rows = rows < 1 ? 1 : rows < n ? rows : n;
    stream.blocks = (n + stream.block_rows - 1) / stream.block_rows;
    kith_status status = allocate(&stream);
    const double begin = kith_clock();
    if (status == KITH_OK)
        status = run(&stream);
    if (seconds)
        *seconds = kith_clock() - begin - stream.taking;
    release(&stream);
    return status;
}
