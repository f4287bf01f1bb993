/* kith_sparse_read and kith_sparse_write. */
#include "io/market.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/arguments.h"
#include "core/memory.h"
#include "core/numbers.h"
#include "device/context.h"
#include "io/output.h"
#include "sparse/assemble.h"
#include "sparse/object.h"

static kith_status assemble(kith_context *context, const struct market_header *header,
                            const struct market_entries *entries, kith_dtype dtype,
                            struct sparse_csr *made)
{
    if (dtype == KITH_F32) /* in place: element k is read before it is written */
        for (int64_t k = 0; k < entries->count; k++) {
            const float value = (float)entries->value[k];
            memcpy((char *)entries->value + (size_t)k * sizeof value, &value, sizeof value);
        }
    const struct sparse_entries arrays = {
        .rows = header->rows,
        .columns = header->columns,
        .count = entries->count,
        .row = kith_array_vector(entries->row, KITH_I32, entries->count),
        .column = kith_array_vector(entries->column, KITH_I32, entries->count),
        .value = kith_array_vector(entries->value, dtype, entries->count),
        .dtype = dtype,
    };
    return sparse_assemble_cpu(context, &arrays, made);
}

static kith_status read_text(kith_context *context, const struct market_text *text,
                             kith_dtype dtype, struct sparse_csr *made)
{
    struct market_header header;
    struct market_entries entries = {0};
    const char *body = NULL;
    KITH_TRY(market_header_read(text, &header, &body));
    kith_status status = market_entries_read(context, text, &header, body, &entries);
    if (status == KITH_OK)
        status = assemble(context, &header, &entries, dtype, made);
    market_entries_release(&entries);
    return status;
}

kith_status kith_sparse_read(kith_context *context, const kith_sparse_options *options,
                             const char *path, kith_sparse **sparse)
{
    DEVICE_SCOPE(scope);
    KITH_TRY(device_enter(context, &scope));
    struct market_text text;
    struct sparse_csr made = {0};
    KITH_TRY(kith_check_pointer(path, "path"));
    KITH_TRY(sparse_begin(context, options, sparse));
    kith_status status = market_load(context, path, &text);
    if (status == KITH_OK)
        status = read_text(context, &text, (*sparse)->options.dtype, &made);
    free(text.bytes);
    if (status != KITH_OK)
        status = kith_fail_within(status, "%s: ", path);
    return sparse_finish_from_host(&made, status, sparse);
}

static kith_status write_entries(const kith_context *context, FILE *stream,
                                 const struct sparse_csr *csr)
{
    char text[real_bytes];
    fprintf(stream, "%%%%MatrixMarket matrix coordinate real general\n");
    fprintf(stream, "%" PRId64 " %" PRId64 " %" PRId64 "\n", csr->rows, csr->columns,
            csr->nonzeros);
    for (int64_t i = 0; i < csr->rows; i++)
        for (int64_t k = csr->row_start[i]; k < csr->row_start[i + 1]; k++) {
            KITH_TRY(kith_context_check_iteration(context, k));
            format_real(csr->dtype == KITH_F64 ? ((const double *)csr->value)[k]
                                               : (double)((const float *)csr->value)[k],
                        text);
            fprintf(stream, "%" PRId64 " %d %s\n", i + 1, (int)csr->column[k] + 1, text);
        }
    return KITH_OK;
}

/* The rows in the host's memory; *copy is to be released if it is not the matrix' own. */
static kith_status bring_to_host(kith_context *context, const struct sparse_csr *own,
                                 struct sparse_csr *copy)
{
    const struct device_services *services = context->services;
    KITH_TRY(sparse_csr_allocate(own->rows, own->columns, own->nonzeros, own->dtype, copy));
    KITH_TRY(services->copy_out(context, copy->row_start, own->row_start,
                                (own->rows + 1) * (int64_t)sizeof *own->row_start));
    KITH_TRY(services->copy_out(context, copy->column, own->column,
                                own->nonzeros * (int64_t)sizeof *own->column));
    return services->copy_out(context, copy->value, own->value,
                              own->nonzeros * kith_dtype_bytes(own->dtype));
}

static kith_status write_file(const kith_context *context, const struct sparse_csr *csr,
                              const char *path)
{
    kith_output *output = NULL;
    struct c_locale locale;
    KITH_TRY(kith_output_open(path, &output));
    kith_status status = c_locale_enter(&locale);
    if (status == KITH_OK) {
        status = write_entries(context, kith_output_stream(output), csr);
        c_locale_leave(&locale);
    }
    if (status == KITH_OK)
        return kith_output_finish(output);
    kith_output_discard(output);
    return status;
}

kith_status kith_sparse_write(const kith_sparse *sparse, const char *path)
{
    KITH_TRY(kith_check_pointer(sparse, "sparse"));
    DEVICE_SCOPE(scope);
    KITH_TRY(device_enter(sparse->context, &scope));
    KITH_TRY(kith_check_pointer(path, "path"));
    const struct sparse_csr *own = &sparse->side[KITH_SPARSE_AS_IS].csr;
    const size_t length = strlen(path);
    if (length > 3 && strcmp(path + length - 3, ".gz") == 0)
        return kith_fail(KITH_UNSUPPORTED,
                         "path is %s; matrices are written uncompressed: leave "
                         ".gz out",
                         path);
    if (sparse->context->device.kind == KITH_CPU)
        return write_file(sparse->context, own, path);
    struct sparse_csr copy = {0};
    kith_status status = bring_to_host(sparse->context, own, &copy);
    if (status == KITH_OK)
        status = write_file(sparse->context, &copy, path);
    sparse_csr_release(&copy);
    return status;
}
