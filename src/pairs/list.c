#include "pairs/list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "device/context.h"
#include "pairs/memory.h"
#include "pairs/pairs_cpu.h"

/* One column of a list: what an element of it is, and the place of its view. */
struct column {
    const char *name;
    unsigned quantity;
    kith_dtype dtype;
    int64_t width;
    kith_array *view;
};

static void describe_columns(const struct pairs_request *request, kith_pairs *pairs,
                             struct column columns[pairs_column_count])
{
    const kith_dtype index = request->narrow ? KITH_I32 : KITH_I64;
    const int64_t dimensions = request->dimensions;
    const struct column each[pairs_column_count] = {
        {"the offsets of the pairs", ~0U, KITH_I64, 1, &pairs->offsets},
        {"the pairs' i", KITH_PAIRS_I, index, 1, &pairs->i},
        {"the pairs' j", KITH_PAIRS_J, index, 1, &pairs->j},
        {"the pairs' shifts", KITH_PAIRS_SHIFTS, KITH_I32, dimensions, &pairs->shifts},
        {"the pairs' vectors", KITH_PAIRS_VECTORS, request->dtype, dimensions, &pairs->vectors},
        {"the pairs' distances", KITH_PAIRS_DISTANCES, request->dtype, 1, &pairs->distances},
    };
    memcpy(columns, each, sizeof each);
}

/* Points of one dimension have a matrix of vectors, too. */
static kith_array view_of(void *data, kith_device device, const struct column *column, int64_t rows)
{
    const unsigned matrices = KITH_PAIRS_SHIFTS | KITH_PAIRS_VECTORS;
    kith_array view = column->quantity != ~0U && (column->quantity & matrices) != 0
                          ? kith_array_matrix(data, column->dtype, rows, column->width)
                          : kith_array_vector(data, column->dtype, rows);
    view.device = device;
    return view;
}

/* Grows by a fourth at least, so that lists that slowly get longer seldom move. */
static kith_status grow(kith_context *context, struct pairs_buffer *buffer, int64_t bytes,
                        bool zeroed, const char *what)
{
    if (bytes <= buffer->bytes)
        return KITH_OK;
    const int64_t wanted =
        buffer->bytes > 0 && bytes < buffer->bytes / 4 * 5 ? buffer->bytes / 4 * 5 : bytes;
    context->services->release(context, buffer->data);
    *buffer = (struct pairs_buffer){0};
    if (zeroed || context->device.kind != KITH_CPU)
        KITH_TRY(context->services->allocate(context, wanted, 1, what, &buffer->data));
    else
        KITH_TRY(kith_allocate_unset(wanted, 1, what, &buffer->data));
    buffer->bytes = wanted;
    return KITH_OK;
}

kith_status pairs_buffer_grow(kith_context *context, struct pairs_buffer *buffer, int64_t bytes,
                              const char *what)
{
    return grow(context, buffer, bytes, true, what);
}

/* A column of the list. Offsets are counted up; every row of the others is written. */
static kith_status provide(const struct column *column, int64_t rows, kith_pairs *pairs,
                           struct pairs_buffer *buffer)
{
    kith_context *context = pairs->memory->context;
    const int64_t bytes = rows * column->width * kith_dtype_bytes(column->dtype);
    KITH_TRY(grow(context, buffer, bytes + kith_padding, buffer == &pairs->memory->own[0],
                  column->name));
    *column->view = view_of(buffer->data, context->device, column, rows);
    return KITH_OK;
}

kith_status pairs_list_begin(const struct pairs_problem *problem, kith_pairs *pairs)
{
    struct kith_pairs_memory *memory = pairs->memory;
    struct column columns[pairs_column_count];
    describe_columns(&memory->request, pairs, columns);
    pairs->row_count = problem->targets.shape[0];
    pairs->count = 0;
    for (int k = 1; k < pairs_column_count; k++)
        *columns[k].view = kith_array_none();
    return provide(&columns[0], pairs->row_count + 1, pairs, &memory->own[0]);
}

static int64_t bytes_of_pair(const struct pairs_request *request, const struct column *columns)
{
    int64_t bytes = 0;
    for (int k = 1; k < pairs_column_count; k++)
        if (request->quantities & columns[k].quantity)
            bytes += columns[k].width * kith_dtype_bytes(columns[k].dtype);
    return bytes;
}

static kith_status check_limit(const struct pairs_request *request, int64_t rows, int64_t count,
                               int64_t each)
{
    const double bytes = 8 * ((double)rows + 1) + (double)each * (double)count;
    if (request->memory_limit > 0 && bytes > (double)request->memory_limit)
        return kith_fail(KITH_OUT_OF_MEMORY,
                         "the list of %lld pairs needs %.0f bytes, and memory_limit is %lld; raise "
                         "it, or request fewer quantities",
                         (long long)count, bytes, (long long)request->memory_limit);
    if (bytes > 0x1p62)
        return kith_fail(KITH_OUT_OF_MEMORY, "the list of %lld pairs needs %.0f bytes",
                         (long long)count, bytes);
    return KITH_OK;
}

/* All columns together, before the first of them is written. A GPU refuses an allocation
 * that it cannot make, and no process is killed. */
static kith_status check_available(const kith_pairs *pairs, int64_t count,
                                   const struct column *columns)
{
    const struct kith_pairs_memory *memory = pairs->memory;
    double bytes = 0;
    char what[64];
    for (int k = 1; k < pairs_column_count; k++) {
        const int64_t each = columns[k].width * kith_dtype_bytes(columns[k].dtype);
        const double wanted = (double)each * (double)count, held = (double)memory->own[k].bytes;
        if (memory->request.quantities & columns[k].quantity && wanted > held)
            bytes += wanted - held;
    }
    snprintf(what, sizeof what, "the list of %lld pairs", (long long)count);
    return kith_check_available(bytes, what, "give a smaller cutoff, or request fewer quantities");
}

static kith_status provide_columns(int64_t count, kith_pairs *pairs, const struct column *columns)
{
    struct kith_pairs_memory *memory = pairs->memory;
    for (int k = 1; k < pairs_column_count; k++)
        if (memory->request.quantities & columns[k].quantity)
            KITH_TRY(provide(&columns[k], count, pairs, &memory->own[k]));
    return KITH_OK;
}

kith_status pairs_list_reserve(int64_t count, kith_pairs *pairs)
{
    struct kith_pairs_memory *memory = pairs->memory;
    struct column columns[pairs_column_count];
    describe_columns(&memory->request, pairs, columns);
    KITH_TRY(check_limit(&memory->request, pairs->row_count, count,
                         bytes_of_pair(&memory->request, columns)));
    pairs->count = count;
    if (memory->context->device.kind == KITH_CPU)
        KITH_TRY(check_available(pairs, count, columns));
    const kith_status status = provide_columns(count, pairs, columns);
    return status == KITH_OUT_OF_MEMORY
               ? kith_fail_within(status, "the list of %lld pairs: ", (long long)count)
               : status;
}

int64_t pairs_list_reuse(kith_pairs *pairs)
{
    struct kith_pairs_memory *memory = pairs->memory;
    struct column columns[pairs_column_count];
    int64_t room = INT64_MAX;
    describe_columns(&memory->request, pairs, columns);
    for (int k = 1; k < pairs_column_count; k++) {
        const struct pairs_buffer *buffer = &memory->own[k];
        if (!(memory->request.quantities & columns[k].quantity))
            continue;
        const int64_t each = columns[k].width * kith_dtype_bytes(columns[k].dtype);
        const int64_t rows = buffer->data ? (buffer->bytes - kith_padding) / each : 0;
        room = rows < room ? rows : room;
        *columns[k].view = view_of(buffer->data, memory->context->device, &columns[k], rows);
    }
    return room;
}

kith_status pairs_list_to_host(kith_pairs *pairs)
{
    struct kith_pairs_memory *memory = pairs->memory;
    kith_context *context = memory->context;
    struct column columns[pairs_column_count];
    describe_columns(&memory->request, pairs, columns);
    for (int k = 0; k < pairs_column_count; k++) {
        if (kith_array_is_none(*columns[k].view))
            continue;
        const int64_t rows = columns[k].view->shape[0];
        const int64_t bytes = rows * columns[k].width * kith_dtype_bytes(columns[k].dtype);
        struct pairs_buffer *host = &memory->host[k];
        if (bytes > host->bytes) {
            free(host->data);
            *host = (struct pairs_buffer){0};
            KITH_TRY(kith_allocate(bytes, 1, columns[k].name, &host->data));
            host->bytes = bytes;
        }
        KITH_TRY(context->services->copy_out(context, host->data, columns[k].view->data, bytes));
        *columns[k].view = view_of(host->data, (kith_device){KITH_CPU, 0}, &columns[k], rows);
    }
    return KITH_OK;
}

kith_status pairs_list_create(kith_context *context, kith_pairs **pairs)
{
    kith_pairs *created = NULL;
    KITH_TRY(kith_allocate(1, sizeof *created, "a list of pairs", &created));
    const kith_status status =
        kith_allocate(1, sizeof *created->memory, "a list of pairs", &created->memory);
    if (status != KITH_OK) {
        free(created);
        return status;
    }
    created->memory->context = context;
    *pairs = created;
    return KITH_OK;
}

void pairs_list_clear(kith_pairs *pairs)
{
    struct kith_pairs_memory *memory = pairs->memory;
    memory->kept.valid = false;
    *pairs = (kith_pairs){.memory = memory};
}

void kith_pairs_free(kith_pairs *pairs)
{
    if (!pairs || !pairs->memory)
        return;
    struct kith_pairs_memory *memory = pairs->memory;
    kith_context *context = memory->context;
    DEVICE_SCOPE(scope);
    (void)device_enter(context, &scope);
    for (int k = 0; k < pairs_column_count; k++) {
        context->services->release(context, memory->own[k].data);
        free(memory->host[k].data);
    }
    context->services->release(context, memory->input.data);
    context->services->release(context, memory->kept.on_device.data);
    free(memory->staged.data);
    free(memory->rounds.data);
    free(memory->systems.data);
    free(memory->kept.positions.data);
    free(memory->kept.cells.data);
    pairs_workspace_free(memory->workspace);
    free(memory);
    free(pairs);
}
