/* What kith pairs writes and prints, and which cell it takes. */

#include "pairs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "json.h"
#include "streams.h"

/* Column k of a row-major matrix; one column of a vector. */
static kith_array column_of(kith_array matrix, int64_t k)
{
    const int64_t rows = matrix.shape[0];
    kith_array column = kith_array_vector((char *)matrix.data + k * kith_dtype_bytes(matrix.dtype),
                                          matrix.dtype, rows);
    column.strides[0] = matrix.ndim == 2 ? matrix.shape[1] : 1;
    return column;
}

/* In two dimensions the third component of all vectors and shifts. */
static kith_array zeros(kith_dtype dtype, int64_t rows)
{
    static double zero = 0; /* the same bits in every type */
    kith_array column = kith_array_vector(&zero, dtype, rows);
    column.strides[0] = 0;
    return column;
}

bool pairs_is_matrix(const struct pairs_options *options)
{
    if (!options->output)
        return false;
    const char *path = cli_output_path(options->output);
    const char *dot = strrchr(path, '.'), *format = cli_output_format(path, options->to);
    return strcasecmp(format ? format : dot ? dot + 1 : "", "mtx") == 0;
}

static kith_status write_matrix(const char *path, const kith_pairs *pairs)
{
    const kith_context_options cpu = {.device = {KITH_CPU, 0}};
    kith_sparse_graph graph = {0};
    kith_context *context = NULL;
    kith_law *distance = NULL;
    kith_sparse *matrix = NULL;
    kith_status status = kith_context_create(&cpu, &context);
    if (status == KITH_OK)
        status = kith_law_parse("distance", 0, NULL, &distance);
    graph.law = distance;
    if (status == KITH_OK)
        status = kith_sparse_create_pairs(context, NULL, pairs, &graph, &matrix);
    if (status == KITH_OK)
        status = kith_sparse_write(matrix, path);
    kith_sparse_free(matrix);
    kith_law_free(distance);
    kith_context_free(context);
    return status;
}

kith_status pairs_write(const struct pairs_options *options, const kith_pairs *pairs,
                        int32_t dimensions)
{
    static const char *const vector_names[] = {"dx", "dy", "dz"};
    static const char *const shift_names[] = {"sx", "sy", "sz"};
    kith_table_column columns[9] = {
        {"i", pairs->i}, {"j", pairs->j}, {"distance", pairs->distances}};
    int64_t count = 3;
    for (int32_t k = 0; options->vectors && k < 3; k++)
        columns[count++] =
            (kith_table_column){vector_names[k], k < dimensions ? column_of(pairs->vectors, k)
                                                                : zeros(KITH_F64, pairs->count)};
    for (int32_t k = 0; options->vectors && k < 3; k++)
        columns[count++] =
            (kith_table_column){shift_names[k], k < dimensions ? column_of(pairs->shifts, k)
                                                               : zeros(KITH_I32, pairs->count)};
    const char *path = cli_output_path(options->output ? options->output : "-");
    const char *format = cli_output_format(path, options->to);
    return pairs_is_matrix(options) ? write_matrix(path, pairs)
                                    : kith_table_write_records(path, format, count, columns);
}

/* The largest number of neighbors of a particle. In a half list each pair makes two. */
static int64_t max_neighbors(const struct pairs_options *options, const kith_pairs *pairs)
{
    const int64_t *offsets = pairs->offsets.data, *j = pairs->j.data;
    const bool half = options->search.half && j;
    int64_t *counts = calloc((size_t)pairs->row_count + 1, sizeof *counts);
    int64_t most = 0;
    if (!counts)
        return -1;
    for (int64_t i = 0; i < pairs->row_count; i++) {
        counts[i] += offsets[i + 1] - offsets[i];
        for (int64_t p = offsets[i]; half && p < offsets[i + 1]; p++)
            counts[j[p]]++;
    }
    for (int64_t i = 0; i < pairs->row_count; i++)
        most = counts[i] > most ? counts[i] : most;
    free(counts);
    return most;
}

int pairs_print_json(const char *command, const struct pairs_options *options,
                     const kith_context *context, const kith_pairs *pairs, int64_t count,
                     double seconds)
{
    const double neighbors = (options->search.half ? 2.0 : 1.0) * (double)count;
    const int64_t most = max_neighbors(options, pairs);
    if (most < 0)
        return cli_fail_with(command, "no memory for %lld counts", (long long)pairs->row_count);
    cJSON *object = cJSON_CreateObject();
    json_add_count(object, "particles", pairs->row_count);
    json_add_count(object, "pairs", count);
    if (options->cutoff_given)
        json_add_real(object, "cutoff", options->search.cutoff);
    else
        cJSON_AddNullToObject(object, "cutoff");
    json_add_real(object, "mean_neighbors", neighbors / (double)pairs->row_count);
    json_add_count(object, "max_neighbors", most);
    json_add_real(object, "seconds", seconds);
    json_add_real(object, "pairs_per_second", (double)count / seconds);
    cJSON_AddStringToObject(object, "device", cli_device_name(kith_context_device(context)));
    cJSON_AddStringToObject(object, "precision", cli_precision_name(options->common.precision));
    return json_print(command, object);
}
