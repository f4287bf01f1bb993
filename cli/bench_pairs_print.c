/* What kith bench pairs tells, as a table or as JSON. */

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench_machine.h"
#include "bench_pairs.h"
#include "json.h"

static const char *const precisions[2] = {"double", "single"};

static bool on_device(const struct pairs_report *report)
{
    return report->options->common.device.kind != KITH_CPU;
}

static double rate(const struct pairs_row *row, int dtype)
{
    return (double)row->pairs[dtype] / row->seconds[dtype];
}

/* How many times as long as kith in double the fastest peer takes; NaN without any. */
static double ratio_to_best(const struct pairs_report *report, const struct pairs_row *row)
{
    double best = NAN;
    for (int32_t k = 0; k < report->peer_count; k++)
        best = fmin(best, row->peer_ratio[k]);
    return best;
}

void pairs_bench_heading(const struct pairs_report *report)
{
    if (!report->options->common.result)
        machine_print(report->options->common.device);
    if (!on_device(report))
        printf("threads: %d\n", (int)report->options->common.threads[0]);
    for (int32_t k = 0; k < report->peer_count; k++)
        printf("%s%s %s", k ? ", " : "beside ", report->peer_name[k], report->peer_version[k]);
    printf("%s\n%-8s %9s %11s", report->peer_count ? "\n" : "", "system", "points", "pairs");
    for (int dtype = 1; dtype >= 0; dtype--)
        printf(" %7s ms %8s%s", precisions[dtype], "M/s", on_device(report) ? "   device" : "");
    for (int32_t k = 0; k < report->peer_count; k++)
        printf(" %14s", report->peer_name[k]);
    printf("%s\n", report->peer_count ? "   ratio" : "");
    fflush(stdout);
}

void pairs_bench_row(const struct pairs_report *report, const struct pairs_row *row)
{
    printf("%-8s %9lld %11lld", row->kind->name, (long long)row->points,
           (long long)row->pairs[KITH_F64]);
    for (int dtype = 1; dtype >= 0; dtype--) {
        printf(" %10.4f %8.1f", 1e3 * row->seconds[dtype], 1e-6 * rate(row, dtype));
        if (on_device(report))
            printf(" %8.4f", 1e3 * row->device_seconds[dtype]);
    }
    for (int32_t k = 0; k < report->peer_count; k++)
        if (isnan(row->peer_seconds[k]))
            printf(" %14s", "-");
        else
            printf(" %14.4f", 1e3 * row->peer_seconds[k]);
    if (!isnan(ratio_to_best(report, row)))
        printf(" %7.2f", ratio_to_best(report, row));
    printf("\n");
    fflush(stdout);
}

void pairs_bench_end(const struct pairs_report *report)
{
    printf("\nms: of a whole call, into a list that has its memory, %s, i and j of %d bits; M/s:"
           "\nmillion pairs a second.\n",
           report->options->unsorted ? "by i alone" : "sorted", report->options->narrow ? 32 : 64);
    if (on_device(report))
        printf("device: ms between the call's first and last work there.\n");
    if (report->peer_count)
        printf("Others: ms, in double precision (freud: single); scipy lists each pair once. ratio:"
               "\nthe fastest one's time over kith's in double precision.\n");
}

static cJSON *row_as_json(const struct pairs_report *report, const struct pairs_row *row)
{
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "system", row->kind->name);
    json_add_count(object, "points", row->points);
    for (int dtype = 1; dtype >= 0; dtype--) {
        cJSON *one = cJSON_AddObjectToObject(object, precisions[dtype]);
        json_add_count(one, "pairs", row->pairs[dtype]);
        json_add_real(one, "seconds", row->seconds[dtype]);
        json_add_real(one, "pairs_per_second", rate(row, dtype));
        if (on_device(report))
            json_add_real(one, "device_seconds", row->device_seconds[dtype]);
    }
    cJSON *peers = cJSON_AddObjectToObject(object, "peer_seconds");
    for (int32_t k = 0; k < report->peer_count; k++)
        if (!isnan(row->peer_seconds[k]))
            json_add_real(peers, report->peer_name[k], row->peer_seconds[k]);
    json_add_real(object, "ratio", ratio_to_best(report, row));
    return object;
}

cJSON *pairs_bench_json(const struct pairs_report *report)
{
    cJSON *object = cJSON_CreateObject();
    machine_add(object, report->options->common.device);
    json_add_count(object, "threads", report->options->common.threads[0]);
    cJSON_AddBoolToObject(object, "sorted", !report->options->unsorted);
    json_add_count(object, "index_bits", report->options->narrow ? 32 : 64);
    cJSON *versions = cJSON_AddObjectToObject(object, "peers");
    for (int32_t k = 0; k < report->peer_count; k++)
        cJSON_AddStringToObject(versions, report->peer_name[k], report->peer_version[k]);
    cJSON *rows = cJSON_AddArrayToObject(object, "systems");
    for (int32_t k = 0; k < report->row_count; k++)
        cJSON_AddItemToArray(rows, row_as_json(report, &report->rows[k]));
    return object;
}
