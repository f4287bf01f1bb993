/* bench_gems_forces [single|double] N...: all-pairs forces on a GPU by kith, of arrays on the
 * host and on the device and by its kernels alone, and by the kernel of GPU Gems 3, chapter 31
 * (Nyland, Harris and Prins 2007). Prints one JSON object with a row for each N. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu_forces.h"
#include "kith/kith.h"

enum { rounds = 15, ways = 4 };

static int fail(const char *what)
{
    fprintf(stderr, "bench_gems_forces: %s\n", what);
    return 1;
}

static int compare(const void *first, const void *second)
{
    const double a = *(const double *)first, b = *(const double *)second;
    return (a > b) - (a < b);
}

/* Calls that take a few milliseconds. */
static kith_status choose_calls(struct gpu_forces *forces, enum gpu_forces_way way, int64_t *calls)
{
    double seconds = 0;
    *calls = 1;
    for (int k = 0; k < 2; k++) {
        const kith_status status = gpu_forces_time(forces, way, 1, &seconds);
        if (status != KITH_OK)
            return status;
    }
    if (seconds < 5e-3)
        *calls = (int64_t)(5e-3 / (seconds > 1e-7 ? seconds : 1e-7)) + 1;
    return KITH_OK;
}

/* Alternately; the medians of the rounds. */
static kith_status measure(struct gpu_forces *forces, double medians[ways])
{
    double seconds[ways][rounds];
    int64_t calls[ways];
    kith_status status = KITH_OK;
    for (int way = 0; way < ways && status == KITH_OK; way++)
        status = choose_calls(forces, (enum gpu_forces_way)way, &calls[way]);
    for (int round = 0; round < rounds; round++)
        for (int way = 0; way < ways && status == KITH_OK; way++) {
            status =
                gpu_forces_time(forces, (enum gpu_forces_way)way, calls[way], &seconds[way][round]);
            seconds[way][round] /= (double)calls[way];
        }
    for (int way = 0; way < ways && status == KITH_OK; way++) {
        qsort(seconds[way], rounds, sizeof seconds[way][0], compare);
        medians[way] = seconds[way][rounds / 2];
    }
    return status;
}

static void *in_precision(const double *values, int64_t count, kith_dtype dtype)
{
    void *made = malloc((size_t)(count * kith_dtype_bytes(dtype)));
    for (int64_t k = 0; made && k < count; k++)
        if (dtype == KITH_F64)
            ((double *)made)[k] = values[k];
        else
            ((float *)made)[k] = (float)values[k];
    return made;
}

static kith_status measure_size(kith_context *context, kith_dtype dtype, int64_t n, bool first)
{
    const kith_initial_options options = {.count = n, .seed = 1};
    double seconds[ways] = {0}, difference = 0;
    struct gpu_forces *forces = NULL;
    kith_bodies *bodies = NULL;
    kith_status status = kith_initial_make("uniform-cube", &options, &bodies);
    void *position = status == KITH_OK ? in_precision(bodies->position, 3 * n, dtype) : NULL;
    void *mass = status == KITH_OK ? in_precision(bodies->mass, n, dtype) : NULL;
    if (status == KITH_OK && (!position || !mass))
        status = KITH_OUT_OF_MEMORY;
    if (status == KITH_OK)
        status = gpu_forces_create(context, kith_array_matrix(position, dtype, n, 3),
                                   kith_array_vector(mass, dtype, n), NULL, KITH_FORCES_AUTO, 0.01,
                                   &forces);
    if (status == KITH_OK)
        status = measure(forces, seconds);
    if (status == KITH_OK)
        status = gpu_forces_difference(forces, gpu_forces_kernels, gpu_forces_gems, &difference);
    if (status == KITH_OK)
        printf("%s{\"bodies\": %lld, \"precision\": \"%s\", \"host_arrays_seconds\": %.9g, "
               "\"device_arrays_seconds\": %.9g, "
               "\"kernels_seconds\": %.9g, \"gems_seconds\": %.9g, \"percent_of_limit\": %.3g, "
               "\"relative_difference\": %.3g}",
               first ? "" : ",\n", (long long)n, dtype == KITH_F64 ? "double" : "single",
               seconds[gpu_forces_of_host], seconds[gpu_forces_of_arrays],
               seconds[gpu_forces_kernels], seconds[gpu_forces_gems],
               100 * (double)n * (double)n / seconds[gpu_forces_kernels] /
                   gpu_forces_limit(context, dtype),
               difference);
    gpu_forces_free(forces);
    kith_bodies_free(bodies);
    free(position);
    free(mass);
    return status;
}

int main(int argc, char **argv)
{
    const kith_context_options options = {.device = {KITH_CUDA, 0}};
    kith_context *context = NULL;
    kith_dtype dtype = KITH_F32;
    bool first = true;
    kith_status status = kith_context_create(&options, &context);
    if (status == KITH_OK)
        printf("{\"rows\": [");
    for (int k = 1; k < argc && status == KITH_OK; k++) {
        if (strcmp(argv[k], "single") == 0 || strcmp(argv[k], "double") == 0) {
            dtype = argv[k][0] == 'd' ? KITH_F64 : KITH_F32;
            continue;
        }
        const long long n = atoll(argv[k]);
        if (n < 1 || n > 1 << 24) {
            kith_context_free(context);
            return fail("N must be from 1 to 16777216; give single or double before the numbers");
        }
        status = measure_size(context, dtype, n, first);
        first = false;
    }
    kith_context_free(context);
    if (status != KITH_OK)
        return fail(kith_error_message());
    printf("]}\n");
    return 0;
}
