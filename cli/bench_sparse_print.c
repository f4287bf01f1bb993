/* What kith bench sparse tells, as a table or as JSON. */

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench_machine.h"
#include "bench_sparse.h"
#include "json.h"

static double gflops_of(const struct sparse_row *row, double seconds)
{
    return 2e-9 * (double)row->info.nonzeros / seconds;
}

/* Bytes of plain CSR and of the vectors, a second. */
static double csr_bandwidth(const struct sparse_row *row)
{
    const kith_sparse_info *info = &row->info;
    return (12.0 * (double)info->nonzeros + 12.0 * (double)info->rows +
            8.0 * (double)info->columns) /
           row->seconds;
}

/* What a product with several vectors must read and write at least, the matrix as it is stored and
 * each vector once, a second. */
static double vectors_bandwidth(const struct sparse_row *row)
{
    const kith_sparse_info *info = &row->info;
    return ((double)info->bytes + 8.0 * sparse_vectors * (double)(info->rows + info->columns)) /
           row->vectors_seconds;
}

/* How many times as long as kith the fastest peer takes; NaN without any. */
static double ratio_to_best(const struct sparse_report *report, const double *peer_ratio)
{
    double best = NAN;
    for (int32_t k = 0; k < report->peer_count; k++)
        best = fmin(best, peer_ratio[k]);
    return best;
}

static const char *format_of(const struct sparse_row *row)
{
    int64_t count = 0;
    return kith_sparse_format_list(&count)[row->info.format].name;
}

static const char *kernel_of(const struct sparse_row *row)
{
    int64_t count = 0;
    return kith_sparse_kernel_list(&count)[row->info.kernel].name;
}

void sparse_print_heading(const struct sparse_report *report)
{
    if (!report->options->common.result)
        machine_print((kith_device){KITH_CPU, 0});
    printf("copy: %.1f GB/s in one thread", 1e-9 * report->copy_bytes_per_second);
    for (int32_t k = 0; k < report->peer_count; k++)
        printf(", %s %s", report->peer_name[k], report->peer_version[k]);
    printf("\n\n%-12s %10s %-6s %-10s %8s %7s %7s %7s %8s", "matrix", "entries", "format", "kernel",
           "Gflop/s", "of copy", "8 vect.", "of copy", "convert");
    for (int32_t k = 0; k < report->peer_count; k++)
        printf(" %8s", report->peer_name[k]);
    printf("%s\n", report->peer_count ? "   ratio 8 vect." : "");
    fflush(stdout);
}

void sparse_print_row(const struct sparse_report *report, const struct sparse_row *row)
{
    printf("%-12s %10lld %-6s %-10s %8.2f %6.0f%% %6.1fx %6.0f%% %7.0fx", row->name,
           (long long)row->info.nonzeros, format_of(row), kernel_of(row),
           gflops_of(row, row->seconds), 100 * csr_bandwidth(row) / report->copy_bytes_per_second,
           sparse_vectors * row->seconds / row->vectors_seconds,
           100 * vectors_bandwidth(row) / report->copy_bytes_per_second,
           row->info.convert_seconds / row->seconds);
    for (int32_t k = 0; k < report->peer_count; k++)
        printf(" %8.2f", gflops_of(row, row->peer_seconds[k]));
    if (report->peer_count)
        printf(" %7.2f %7.2f", ratio_to_best(report, row->peer_ratio),
               ratio_to_best(report, row->peer_vectors_ratio));
    printf("\n");
    fflush(stdout);
}

/* The geometric mean of the ratios. */
static double mean_ratio(const struct sparse_report *report)
{
    double sum = 0;
    for (int32_t k = 0; k < report->row_count; k++)
        sum += log(ratio_to_best(report, report->rows[k].peer_ratio));
    return exp(sum / report->row_count);
}

void sparse_print_means(const struct sparse_report *report)
{
    printf(
        "\nof copy: bandwidth in bytes of plain CSR, as part of a copy's. 8 vect.: eight products"
        "\nover one with eight vectors; of copy: of what that must read and write, the matrix as stored"
        "\nand each vector once. convert: the time to choose and convert, in products.\n");
    if (report->peer_count)
        printf("ratio: the fastest peer's time over kith's, with one vector and with eight; "
               "geometric mean %.2f\n",
               mean_ratio(report));
}

static cJSON *row_as_json(const struct sparse_report *report, const struct sparse_row *row)
{
    cJSON *object = cJSON_CreateObject(), *peers = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "matrix", row->name);
    json_add_count(object, "rows", row->info.rows);
    json_add_count(object, "columns", row->info.columns);
    json_add_count(object, "nonzeros", row->info.nonzeros);
    cJSON_AddStringToObject(object, "format", format_of(row));
    cJSON_AddStringToObject(object, "kernel", kernel_of(row));
    cJSON_AddStringToObject(object, "reason", row->reason);
    json_add_count(object, "bytes", row->info.bytes);
    json_add_real(object, "seconds", row->seconds);
    json_add_real(object, "gflops", gflops_of(row, row->seconds));
    json_add_real(object, "csr_bytes_per_second", csr_bandwidth(row));
    json_add_real(object, "eight_vectors_seconds", row->vectors_seconds);
    json_add_real(object, "eight_vectors_bytes_per_second", vectors_bandwidth(row));
    json_add_real(object, "convert_seconds", row->info.convert_seconds);
    for (int32_t k = 0; k < report->peer_count; k++)
        json_add_real(peers, report->peer_name[k], row->peer_seconds[k]);
    cJSON_AddItemToObject(object, "peer_seconds", peers);
    cJSON *of_vectors = cJSON_AddObjectToObject(object, "peer_eight_vectors_seconds");
    for (int32_t k = 0; k < report->peer_count; k++)
        json_add_real(of_vectors, report->peer_name[k], row->peer_vectors_seconds[k]);
    json_add_real(object, "ratio", ratio_to_best(report, row->peer_ratio));
    json_add_real(object, "eight_vectors_ratio", ratio_to_best(report, row->peer_vectors_ratio));
    return object;
}

cJSON *sparse_as_json(const struct sparse_report *report)
{
    cJSON *object = cJSON_CreateObject(), *rows = cJSON_CreateArray();
    machine_add(object, (kith_device){KITH_CPU, 0});
    json_add_count(object, "threads", report->options->common.threads[0]);
    json_add_real(object, "copy_bytes_per_second", report->copy_bytes_per_second);
    for (int32_t k = 0; k < report->row_count; k++)
        cJSON_AddItemToArray(rows, row_as_json(report, &report->rows[k]));
    cJSON_AddItemToObject(object, "matrices", rows);
    json_add_real(object, "mean_ratio", mean_ratio(report));
    return object;
}
