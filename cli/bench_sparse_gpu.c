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
    double seconds, vectors_seconds, difference;
    double peer_seconds[gpu_sparse_peers]; /* NaN: cuSPARSE does not do it */
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
static kith_status time_best(struct gpu_sparse *gpu, kith_sparse *sparse, int64_t vectors,
                             enum gpu_sparse_peer peer, double seconds, double *best)
{
    enum { rounds = 5 };
    double once = 0;
    int64_t calls = 3;
    *best = INFINITY;
    for (int round = -1; round < rounds; round++) {
        const kith_status status = sparse ? gpu_sparse_time(gpu, sparse, vectors, calls, &once)
                                          : gpu_sparse_time_peer(gpu, peer, calls, &once);
        if (status != KITH_OK)
            return status;
        once /= (double)calls;
        *best = round >= 0 ? fmin(*best, once) : *best;
        calls = (int64_t)fmin(500, fmax(5, seconds / (10 * rounds * once)));
    }
    return KITH_OK;
}

static bool measure_peers(const struct gpu_bench *bench, struct gpu_sparse *gpu,
                          struct gpu_row *row)
{
    for (int peer = gpu_sparse_peers - 1; peer >= 0; peer--) {
        const kith_status status =
            time_best(gpu, NULL, 1, (enum gpu_sparse_peer)peer, bench->options->common.seconds,
                      &row->peer_seconds[peer]);
        if (status == KITH_UNSUPPORTED)
            row->peer_seconds[peer] = NAN;
        else if (status != KITH_OK)
            return tell(bench);
    }
    return gpu_sparse_difference(gpu, &row->difference) == KITH_OK || tell(bench);
}

static bool measure_row(const struct gpu_bench *bench, struct gpu_sparse *gpu, kith_sparse *sparse,
                        struct gpu_row *row)
{
    const double seconds = bench->options->common.seconds;
    if (kith_sparse_describe(sparse, KITH_SPARSE_AS_IS, &row->info) != KITH_OK ||
        time_best(gpu, sparse, sparse_vectors, 0, seconds, &row->vectors_seconds) != KITH_OK ||
        time_best(gpu, sparse, 1, 0, seconds, &row->seconds) != KITH_OK)
        return tell(bench);
    return measure_peers(bench, gpu, row);
}

/* cuSPARSE's fastest way; −1 without any. */
static int best_peer(const struct gpu_row *row)
{
    int best = -1;
    for (int peer = 0; peer < gpu_sparse_peers; peer++)
        if (row->peer_seconds[peer] > 0 &&
            (best < 0 || row->peer_seconds[peer] < row->peer_seconds[best]))
            best = peer;
    return best;
}

/* Bytes of plain CSR and of the vectors, a second, over those of a copy. */
static double share_of_copy(const struct gpu_bench *bench, const struct gpu_row *row)
{
    const double each = (double)kith_dtype_bytes(row->dtype);
    const kith_sparse_info *info = &row->info;
    return ((4 + each) * (double)info->nonzeros + (4 + each) * (double)info->rows +
            each * (double)info->columns) /
           row->seconds / bench->copy_rate;
}

static void print_row(const struct gpu_bench *bench, const struct gpu_row *row)
{
    int64_t count = 0;
    const int best = best_peer(row);
    printf("%-12s %-6s %-6s %-10s %9.5f %6.0f%% %7.2f %8.0f", row->name,
           row->dtype == KITH_F64 ? "double" : "single",
           kith_sparse_format_list(&count)[row->info.format].name,
           kith_sparse_kernel_list(&count)[row->info.kernel].name, 1e3 * row->seconds,
           100 * share_of_copy(bench, row), sparse_vectors * row->seconds / row->vectors_seconds,
           row->info.convert_seconds / row->seconds);
    for (int peer = 0; peer < gpu_sparse_peers; peer++)
        printf(" %9.5f", 1e3 * row->peer_seconds[peer]);
    if (best >= 0)
        printf("  %.2f", row->peer_seconds[best] / row->seconds);
    printf("\n");
    fflush(stdout);
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
    json_add_real(object, "seconds", row->seconds);
    json_add_real(object, "share_of_copy", share_of_copy(bench, row));
    json_add_real(object, "seconds_of_eight_vectors", row->vectors_seconds);
    json_add_real(object, "convert_seconds", row->info.convert_seconds);
    json_add_real(object, "difference", row->difference);
    cJSON *peers = cJSON_AddObjectToObject(object, "peers");
    for (int peer = 0; peer < gpu_sparse_peers; peer++)
        if (row->peer_seconds[peer] > 0)
            json_add_real(peers, gpu_sparse_peer_name((enum gpu_sparse_peer)peer),
                          row->peer_seconds[peer]);
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
        const int best = best_peer(&row);
        if (measured)
            add_json(bench, &row);
        if (measured && !bench->options->common.json)
            print_row(bench, &row);
        if (measured && best >= 0) {
            bench->logarithms += log(row.peer_seconds[best] / row.seconds);
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
    printf("copy: %.0f GB/s\n\n%-12s %-6s %-6s %-10s %9s %7s %7s %8s", 1e-9 * bench->copy_rate,
           "matrix", "", "format", "kernel", "ms", "of copy", "8 vect.", "convert");
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
