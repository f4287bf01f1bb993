/* Neighbor pairs to a sparse matrix: weighted adjacency, or the graph's Laplacian. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "core/arguments.h"
#include "core/memory.h"
#include "core/reals.h"
#include "device/context.h"
#include "device/memory.h"
#include "law/law_reference.h"
#include "sparse/formats.h"

/* The entries that are made of a list, and what they are made with. */
struct graph {
    const kith_context *context;
    const kith_pairs *pairs;
    kith_sparse_graph chosen;
    struct law_view view; /* if there is a law */
    kith_dtype dtype;
    int64_t count;
    int32_t *row, *column;
    void *value;
};

static double element_or_one(kith_array array, int64_t i)
{
    return kith_array_is_none(array) ? 1 : array_get(array, i, 0);
}

static int64_t partner(const kith_pairs *pairs, int64_t k)
{
    return pairs->j.dtype == KITH_I64 ? ((const int64_t *)pairs->j.data)[k]
                                      : ((const int32_t *)pairs->j.data)[k];
}

/* d and s² of pair k; beyond three dimensions d has the distance alone, for laws of r. */
static void measure(const struct graph *graph, int64_t k, struct law_reference_pair *pair)
{
    const kith_array vectors = graph->pairs->vectors;
    double r2 = 0;
    if (kith_array_is_none(vectors)) {
        pair->d[0] = array_get(graph->pairs->distances, k, 0);
        r2 = pair->d[0] * pair->d[0];
    } else {
        const int64_t dimensions = vectors.shape[1];
        for (int64_t c = 0; c < dimensions; c++) {
            const double d = array_get(vectors, k, c);
            r2 += d * d;
            if (dimensions <= 3)
                pair->d[c] = d;
        }
        if (dimensions > 3)
            pair->d[0] = sqrt(r2);
    }
    pair->s2 = r2 + graph->chosen.softening * graph->chosen.softening;
}

/* V(i, j) of pair k, with d from i to j; of its mirror image if sign is −1, i and j exchanged. */
static double weight(const struct graph *graph, int64_t i, int64_t j, int64_t k, double sign)
{
    if (!graph->chosen.law)
        return 1;
    struct law_reference_pair pair = {.m_i = element_or_one(graph->chosen.mass, i),
                                      .m_j = element_or_one(graph->chosen.mass, j),
                                      .q_i = element_or_one(graph->chosen.charge, i),
                                      .q_j = element_or_one(graph->chosen.charge, j)};
    measure(graph, k, &pair);
    for (int c = 0; c < 3; c++)
        pair.d[c] *= sign;
    return law_reference_value(&graph->view, &pair);
}

static void put(struct graph *graph, int64_t i, int64_t j, double value)
{
    const int64_t k = graph->count++;
    graph->row[k] = (int32_t)i;
    graph->column[k] = (int32_t)j;
    real_set(graph->dtype, graph->value, k, value);
}

/* An entry of W, which of the Laplacian is −W and a part of the row's sum. */
static void put_pair(struct graph *graph, int64_t i, int64_t j, double value, double *row_sum)
{
    put(graph, i, j, graph->chosen.laplacian ? -value : value);
    if (row_sum)
        row_sum[i] += value;
}

static kith_status put_all(struct graph *graph, double *row_sum)
{
    const int64_t *offsets = graph->pairs->offsets.data, rows = graph->pairs->row_count;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t k = offsets[i]; k < offsets[i + 1]; k++) {
            KITH_TRY(kith_context_check_iteration(graph->context, k));
            const int64_t j = partner(graph->pairs, k);
            put_pair(graph, i, j, weight(graph, i, j, k, 1), row_sum);
            if (graph->chosen.half)
                put_pair(graph, j, i, weight(graph, j, i, k, -1), row_sum);
        }
    for (int64_t i = 0; row_sum && i < rows; i++)
        put(graph, i, i, row_sum[i]);
    return KITH_OK;
}

static kith_status check_weights(const kith_context *context, const char *name, kith_array array,
                                 int64_t count)
{
    if (kith_array_is_none(array))
        return KITH_OK;
    if (array.ndim != 1 || array.shape[0] != count ||
        (array.dtype != KITH_F64 && array.dtype != KITH_F32) || array.device.kind != KITH_CPU ||
        (!array.data && count > 0))
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "%s has %d dimensions and %lld elements; give %lld of float64 or float32 "
                         "on the host",
                         name, (int)array.ndim, (long long)array.shape[0], (long long)count);
    KITH_TRY(kith_check_extent(&array, name));
    return kith_check_memory(context, &array, name);
}

static kith_status check_law(const kith_context *context, const struct graph *graph)
{
    const kith_pairs *pairs = graph->pairs;
    const bool has_vectors = !kith_array_is_none(pairs->vectors);
    if (!isfinite(graph->chosen.softening) || graph->chosen.softening < 0)
        return kith_fail(KITH_INVALID_ARGUMENT, "softening is %g; give a finite number ≥ 0",
                         graph->chosen.softening);
    KITH_TRY(law_check_single(graph->chosen.law));
    if (has_vectors)
        KITH_TRY(law_check_dimensions(graph->chosen.law, pairs->vectors.shape[1]));
    if (!has_vectors && kith_array_is_none(pairs->distances))
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "the list has no distances, which the law %s needs; request "
                         "KITH_PAIRS_DISTANCES or KITH_PAIRS_VECTORS too",
                         kith_law_text(graph->chosen.law));
    if (has_vectors && pairs->vectors.shape[1] > 3 && !graph->view.is_central)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "the list is of %lld dimensions, and the law %s has dx, dy and dz; give a "
                         "law of r",
                         (long long)pairs->vectors.shape[1], kith_law_text(graph->chosen.law));
    if (!has_vectors && !graph->view.is_central)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "the list has no vectors, which the law %s needs; request "
                         "KITH_PAIRS_VECTORS too",
                         kith_law_text(graph->chosen.law));
    if (graph->chosen.column_count != pairs->row_count &&
        !(kith_array_is_none(graph->chosen.mass) && kith_array_is_none(graph->chosen.charge)))
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "mass or charge is given for %lld rows and %lld columns; leave them out "
                         "with queries",
                         (long long)pairs->row_count, (long long)graph->chosen.column_count);
    KITH_TRY(check_weights(context, "mass", graph->chosen.mass, pairs->row_count));
    return check_weights(context, "charge", graph->chosen.charge, pairs->row_count);
}

static kith_status check(const kith_context *context, const struct graph *graph)
{
    const kith_pairs *pairs = graph->pairs;
    const kith_sparse_graph *chosen = &graph->chosen;
    KITH_TRY(kith_check_pointer(pairs->offsets.data, "the list's offsets"));
    if (kith_array_is_none(pairs->j) && pairs->count > 0)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "the list has no j; request KITH_PAIRS_J, and what the law needs");
    if (pairs->offsets.device.kind != KITH_CPU)
        return kith_fail(KITH_UNSUPPORTED,
                         "the list is on a device; give positions on the host to list them there");
    if (chosen->column_count < 0 || chosen->column_count > sparse_most_rows ||
        pairs->row_count > sparse_most_rows)
        return kith_fail(KITH_INVALID_ARGUMENT, "the matrix is %lld × %lld; give 0 to %d",
                         (long long)pairs->row_count, (long long)chosen->column_count,
                         (int)sparse_most_rows);
    if ((chosen->laplacian || chosen->half) && chosen->column_count != pairs->row_count)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "a %s of %lld rows has %lld columns; queries have none",
                         chosen->laplacian ? "Laplacian" : "half list", (long long)pairs->row_count,
                         (long long)chosen->column_count);
    if (graph->dtype != KITH_F64 && graph->dtype != KITH_F32)
        return kith_fail(KITH_INVALID_ARGUMENT, "dtype is of integers; give float64 or float32");
    for (int64_t k = 0; k < pairs->count; k++)
        if (partner(pairs, k) < 0 || partner(pairs, k) >= chosen->column_count)
            return kith_fail(KITH_INVALID_ARGUMENT,
                             "pair %lld has j = %lld, and the matrix has %lld columns; give the "
                             "number of points as column_count",
                             (long long)k, (long long)partner(pairs, k),
                             (long long)chosen->column_count);
    return chosen->law ? check_law(context, graph) : KITH_OK;
}

static kith_status make_entries(struct graph *graph, double **row_sum)
{
    const int64_t rows = graph->pairs->row_count;
    const bool laplacian = graph->chosen.laplacian;
    const int64_t most =
        graph->pairs->count * (graph->chosen.half ? 2 : 1) + (laplacian ? rows : 0);
    KITH_TRY(kith_allocate(most, sizeof *graph->row, "the entries' rows", &graph->row));
    KITH_TRY(kith_allocate(most, sizeof *graph->column, "the entries' columns", &graph->column));
    KITH_TRY(
        kith_allocate(most, kith_dtype_bytes(graph->dtype), "the entries' values", &graph->value));
    if (laplacian)
        KITH_TRY(kith_allocate(rows, sizeof **row_sum, "the rows' sums", row_sum));
    return put_all(graph, *row_sum);
}

kith_status kith_sparse_create_pairs(kith_context *context, const kith_sparse_options *options,
                                     const kith_pairs *pairs, const kith_sparse_graph *graph,
                                     kith_sparse **sparse)
{
    DEVICE_SCOPE(scope);
    KITH_TRY(device_enter(context, &scope));
    KITH_TRY(kith_check_pointer(sparse, "sparse"));
    kith_sparse_options chosen = options ? *options : (kith_sparse_options){0};
    struct graph made = {.context = context,
                         .pairs = pairs,
                         .chosen = graph ? *graph : (kith_sparse_graph){0},
                         .dtype = chosen.dtype};
    double *row_sum = NULL;
    *sparse = NULL;
    KITH_TRY(kith_check_pointer(context, "context"));
    chosen.index_base = 0;
    if (!pairs)
        return kith_fail(KITH_INVALID_ARGUMENT, "pairs is NULL; give a list of kith_pairs_compute");
    if (made.chosen.column_count == 0)
        made.chosen.column_count = pairs->row_count;
    if (made.chosen.law)
        law_look(made.chosen.law, &made.view);
    KITH_TRY(check(context, &made));
    kith_status status = make_entries(&made, &row_sum);
    if (status == KITH_OK)
        status =
            kith_sparse_create_coo(context, &chosen, pairs->row_count, made.chosen.column_count,
                                   kith_array_vector(made.row, KITH_I32, made.count),
                                   kith_array_vector(made.column, KITH_I32, made.count),
                                   kith_array_vector(made.value, made.dtype, made.count), sparse);
    free(made.row);
    free(made.column);
    free(made.value);
    free(row_sum);
    return status;
}
