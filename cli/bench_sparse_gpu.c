/* kith bench sparse on a GPU: products of kith and of cuSPARSE with vectors in its memory. */

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../bench/gpu_sparse.h"
#include "bench_machine.h"
#include "bench_sparse_gpu.h"
#include "json.h"

/* What was measured of a matrix in one precision. */
struct gpu_row {
    const char *name;
    kith_dtype dtype;
    kith_sparse_info info;
    double seconds[gpu_sparse_ways];                        /* with one vector, and with eight */
    double peer_seconds[gpu_sparse_ways][gpu_sparse_peers]; /* NaN: cuSPARSE does not do it */
    double difference;
};

struct gpu_bench {
    const struct sparse_bench_options *options;
    kith_context *context;
    double copy_rate;
    cJSON *rows;
    double logarithms;
    int32_t compared;
};

static bool tell(const struct gpu_bench *bench)
{
    cli_fail(bench->options->common.command);
    return false;
}

/* The best of several rounds of some milliseconds each. */
static kith_status time_best(struct gpu_sparse *gpu, kith_sparse *sparse,
                             enum gpu_sparse_vectors vectors, enum gpu_sparse_peer peer,
                             double seconds, double *best)
{
    enum { rounds = 5 };
    double once = 0;
    int64_t calls = 3;
    *best = INFINITY;
    for (int round = -1; round < rounds; round++) {
        const kith_status status = sparse ? gpu_sparse_time(gpu, sparse, vectors, calls, &once)
                                          : gpu_sparse_time_peer(gpu, peer, vectors, calls, &once);
        if (status != KITH_OK)
            return status;
        once /= (double)calls;
        *best = round >= 0 ? fmin(*best, once) : *best;
        calls = (int64_t)fmin(500, fmax(5, seconds / (10 * rounds * once)));
    }
    return KITH_OK;
}

static bool measure_peers(const struct gpu_bench *bench, struct gpu_sparse *gpu,
                          enum gpu_sparse_vectors vectors, double *peer_seconds)
{
    for (int peer = gpu_sparse_peers - 1; peer >= 0; peer--) {
        const kith_status status = time_best(gpu, NULL, vectors, (enum gpu_sparse_peer)peer,
                                             bench->options->common.seconds, &peer_seconds[peer]);
        if (status == KITH_UNSUPPORTED)
            peer_seconds[peer] = NAN;
        else if (status != KITH_OK)
            return tell(bench);
    }
    return true;
}

/* One vector last, whose results are then compared. */
static bool measure_row(const struct gpu_bench *bench, struct gpu_sparse *gpu, kith_sparse *sparse,
                        struct gpu_row *row)
{
    const double seconds = bench->options->common.seconds;
    if (kith_sparse_describe(sparse, KITH_SPARSE_AS_IS, &row->info) != KITH_OK)
        return tell(bench);
    for (int vectors = gpu_sparse_ways - 1; vectors >= 0; vectors--) {
        const enum gpu_sparse_vectors these = (enum gpu_sparse_vectors)vectors;
        if (time_best(gpu, sparse, these, 0, seconds, &row->seconds[vectors]) != KITH_OK)
            return tell(bench);
        if (!measure_peers(bench, gpu, these, row->peer_seconds[vectors]))
            return false;
    }
    return gpu_sparse_difference(gpu, &row->difference) == KITH_OK || tell(bench);
}

/* How many times as long as kith cuSPARSE's fastest way takes; NaN without any. */
static double ratio_of(const struct gpu_row *row, enum gpu_sparse_vectors vectors)
{
    double best = NAN;
    for (int peer = 0; peer < gpu_sparse_peers; peer++)
        best = fmin(best, row->peer_seconds[vectors][peer]);
    return best / row->seconds[vectors];
}

/* How much of a copy's bandwidth a product with eight vectors has: the bytes of the matrix as it is
 * stored and of each vector once. */
static double share_of_limit(const struct gpu_bench *bench, const struct gpu_row *row,
                             enum gpu_sparse_vectors vectors)
{
    const double each = (double)kith_dtype_bytes(row->dtype);
    const kith_sparse_info *info = &row->info;
    return ((double)info->bytes + sparse_vectors * each * (double)(info->rows + info->columns)) /
           row->seconds[vectors] / bench->copy_rate;
}

/* Bytes of plain CSR and of the vectors, a second, over those of a copy. */
static double share_of_copy(const struct gpu_bench *bench, const struct gpu_row *row)
{
    const double each = (double)kith_dtype_bytes(row->dtype);
    const kith_sparse_info *info = &row->info;
    return ((4 + each) * (double)info->nonzeros + (4 + each) * (double)info->rows +
            each * (double)info->columns) /
           row->seconds[gpu_sparse_one] / bench->copy_rate;
}

/* Eight vectors: eight single products over one product, its share of the limit, and cuSPARSE's
 * time over kith's. */
static void print_vectors(const struct gpu_bench *bench, const struct gpu_row *row,
                          enum gpu_sparse_vectors vectors)
{
    printf(" %5.2f %4.0f%% %5.2f",
           sparse_vectors * row->seconds[gpu_sparse_one] / row->seconds[vectors],
           100 * share_of_limit(bench, row, vectors), ratio_of(row, vectors));
}

static void print_row(const struct gpu_bench *bench, const struct gpu_row *row)
{
    int64_t count = 0;
    const double seconds = row->seconds[gpu_sparse_one];
    printf("%-12s %-6s %-6s %-10s %9.5f %6.0f%%", row->name,
           row->dtype == KITH_F64 ? "double" : "single",
           kith_sparse_format_list(&count)[row->info.format].name,
           kith_sparse_kernel_list(&count)[row->info.kernel].name, 1e3 * seconds,
           100 * share_of_copy(bench, row));
    print_vectors(bench, row, gpu_sparse_rows);
    print_vectors(bench, row, gpu_sparse_columns);
    printf(" %8.0f", row->info.convert_seconds / seconds);
    for (int peer = 0; peer < gpu_sparse_peers; peer++)
        printf(" %9.5f", 1e3 * row->peer_seconds[gpu_sparse_one][peer]);
    if (isfinite(ratio_of(row, gpu_sparse_one)))
        printf("  %.2f", ratio_of(row, gpu_sparse_one));
    printf("\n");
    fflush(stdout);
}

static void add_peers(cJSON *object, const char *name, const double *peer_seconds)
{
    cJSON *peers = cJSON_AddObjectToObject(object, name);
    for (int peer = 0; peer < gpu_sparse_peers; peer++)
        if (peer_seconds[peer] > 0)
            json_add_real(peers, gpu_sparse_peer_name((enum gpu_sparse_peer)peer),
                          peer_seconds[peer]);
}

static void add_vectors(cJSON *object, const struct gpu_bench *bench, const struct gpu_row *row)
{
    json_add_real(object, "seconds_of_eight_vectors", row->seconds[gpu_sparse_rows]);
    json_add_real(object, "share_of_limit", share_of_limit(bench, row, gpu_sparse_rows));
    json_add_real(object, "seconds_of_eight_columns", row->seconds[gpu_sparse_columns]);
    json_add_real(object, "share_of_limit_of_columns",
                  share_of_limit(bench, row, gpu_sparse_columns));
    add_peers(object, "peers_of_eight_vectors", row->peer_seconds[gpu_sparse_rows]);
    add_peers(object, "peers_of_eight_columns", row->peer_seconds[gpu_sparse_columns]);
}

static void add_json(const struct gpu_bench *bench, const struct gpu_row *row)
{
    int64_t count = 0;
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "matrix", row->name);
    cJSON_AddStringToObject(object, "precision", row->dtype == KITH_F64 ? "double" : "single");
    json_add_count(object, "nonzeros", row->info.nonzeros);
    cJSON_AddStringToObject(object, "format",
                            kith_sparse_format_list(&count)[row->info.format].name);
    cJSON_AddStringToObject(object, "kernel",
                            kith_sparse_kernel_list(&count)[row->info.kernel].name);
    cJSON_AddStringToObject(object, "reason", row->info.reason);
    json_add_real(object, "seconds", row->seconds[gpu_sparse_one]);
    json_add_real(object, "share_of_copy", share_of_copy(bench, row));
    json_add_real(object, "convert_seconds", row->info.convert_seconds);
    json_add_real(object, "difference", row->difference);
    add_peers(object, "peers", row->peer_seconds[gpu_sparse_one]);
    add_vectors(object, bench, row);
    cJSON_AddItemToArray(bench->rows, object);
}

static bool measure_matrix(struct gpu_bench *bench, const char *name,
                           const struct bench_matrix *matrix)
{
    for (int k = 0; k < 2; k++) {
        struct gpu_row row = {.name = name, .dtype = k == 0 ? KITH_F64 : KITH_F32};
        struct gpu_sparse *gpu = NULL;
        kith_sparse *sparse = NULL;
        if (gpu_sparse_create(bench->context, row.dtype, matrix->rows, matrix->columns,
                              matrix->row_start, matrix->column, matrix->value, &gpu) != KITH_OK ||
            gpu_sparse_make(gpu, &bench->options->sparse, &sparse) != KITH_OK)
            tell(bench);
        const bool measured = sparse && measure_row(bench, gpu, sparse, &row);
        if (measured)
            add_json(bench, &row);
        if (measured && !bench->options->common.json)
            print_row(bench, &row);
        if (measured && isfinite(ratio_of(&row, gpu_sparse_one))) {
            bench->logarithms += log(ratio_of(&row, gpu_sparse_one));
            bench->compared++;
        }
        kith_sparse_free(sparse);
        gpu_sparse_free(gpu);
        if (!measured)
            return false;
    }
    return true;
}

static void print_heading(const struct gpu_bench *bench)
{
    if (!bench->options->common.result)
        machine_print(bench->options->common.device);
    printf(
        "copy: %.0f GB/s; eight vectors side by side, and one behind the other: times as fast as "
        "eight products, of the limit, cuSPARSE's time over kith's\n\n"
        "%-12s %-6s %-6s %-10s %9s %7s %17s %17s %8s",
        1e-9 * bench->copy_rate, "matrix", "", "format", "kernel", "ms", "of copy", "8 by rows",
        "8 by columns", "convert");
    for (int peer = 0; peer < gpu_sparse_peers; peer++)
        printf(" %9s", gpu_sparse_peer_name((enum gpu_sparse_peer)peer) + strlen("cuSPARSE "));
    printf("  ratio\n");
}

static bool measure_named(struct gpu_bench *bench, const char *name)
{
    const struct bench_common *common = &bench->options->common;
    struct bench_matrix matrix = {0};
    const bool measured = bench_matrix_take(common->command, name, common->quick, &matrix) &&
                          measure_matrix(bench, name, &matrix);
    bench_matrix_free(&matrix);
    return measured;
}

/* Hands the rows over. */
static int finish(struct gpu_bench *bench)
{
    const struct bench_common *common = &bench->options->common;
    const double mean = bench->compared ? exp(bench->logarithms / bench->compared) : NAN;
    if (!common->json && bench->compared)
        printf("\nthe best of cuSPARSE takes %.2f times as long (geometric mean of %d)\n", mean,
               (int)bench->compared);
    cJSON *object = cJSON_CreateObject();
    machine_add(object, common->device);
    json_add_real(object, "copy_bytes_per_second", bench->copy_rate);
    json_add_real(object, "ratio", mean);
    cJSON_AddItemToObject(object, "rows", bench->rows);
    bench->rows = NULL;
    return bench_hand_over(common, "sparse", object);
}

int bench_sparse_on_gpu(const struct sparse_bench_options *options, kith_context *context)
{
    struct gpu_bench bench = {.options = options, .context = context, .rows = cJSON_CreateArray()};
    bool measured = gpu_sparse_copy_rate(context, &bench.copy_rate) == KITH_OK || tell(&bench);
    if (measured && !options->common.json)
        print_heading(&bench);
    for (int32_t k = 0; measured && k < options->matrix_count; k++)
        measured = measure_named(&bench, options->matrices[k]);
    const int code = measured ? finish(&bench) : exit_failed;
    cJSON_Delete(bench.rows);
    return code;
}
