/* What a benchmark needs in addition to the public API: arrays in the device's memory, and the
 * machine's limits: the bandwidth of a copy, and the arithmetic of gravity on numbers in registers.
 */

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "device/context.h"
#include "forces/limit.h"

kith_status bench_array(kith_context *context, kith_dtype dtype, int64_t rows, int64_t columns,
                        const void *values, struct bench_arrays *arrays)
{
    const int64_t count = rows * (columns > 0 ? columns : 1), each = kith_dtype_bytes(dtype);
    kith_array *array = &arrays->at[arrays->count++];
    bool failed = false;
    void *narrow = dtype == KITH_F32 ? cli_in_precision(values, count, dtype, &failed) : NULL;
    *array = columns > 0 ? kith_array_matrix(NULL, dtype, rows, columns)
                         : kith_array_vector(NULL, dtype, rows);
    array->device = context->device;
    if (failed)
        return kith_fail(KITH_OUT_OF_MEMORY, "no memory for %lld numbers", (long long)count);
    DEVICE_SCOPE(scope);
    kith_status status = device_enter(context, &scope);
    if (status == KITH_OK)
        status = context->services->allocate(context, count + 1, each, "arrays to measure with",
                                             &array->data);
    if (status == KITH_OK && values)
        status = context->services->copy_in(context, array->data, narrow ? narrow : values,
                                            count * each);
    free(narrow);
    return status;
}

void bench_arrays_free(kith_context *context, struct bench_arrays *arrays)
{
    DEVICE_SCOPE(scope);
    const bool entered = device_enter(context, &scope) == KITH_OK;
    while (arrays->count > 0 && entered)
        context->services->release(context, arrays->at[--arrays->count].data);
}

struct part {
    char *to;
    const char *from;
    size_t bytes;
};

static void *copy_part(void *argument)
{
    const struct part *part = argument;
    memcpy(part->to, part->from, part->bytes);
    return NULL;
}

/* A block for each thread, which memcpy writes past the caches. */
static void copy_by_threads(int32_t threads, char *to, const char *from, size_t bytes)
{
    enum { most = 256 };
    struct part parts[most];
    pthread_t started[most];
    const size_t count = threads < most ? (size_t)threads : most;
    size_t running = 0;
    for (size_t k = 0; k < count; k++)
        parts[k] = (struct part){to + bytes / count * k, from + bytes / count * k, bytes / count};
    while (running + 1 < count &&
           pthread_create(&started[running], NULL, copy_part, &parts[running]) == 0)
        running++;
    for (size_t k = running; k < count; k++)
        copy_part(&parts[k]);
    while (running > 0)
        pthread_join(started[--running], NULL);
}

static double copy_on_host(int32_t threads)
{
    enum { bytes = 256 << 20, times = 5 };
    char *from = malloc(bytes), *to = malloc(bytes);
    double best = 0;
    if (from && to) {
        memset(from, 1, bytes);
        memset(to, 2, bytes);
    }
    for (int k = 0; from && to && k < times; k++) {
        const double start = cli_clock();
        copy_by_threads(threads, to, from, bytes);
        best = fmax(best, 2.0 * bytes / (cli_clock() - start));
    }
    free(from);
    free(to);
    return best;
}

/* By the device's own y = 1 x, which is bound by memory. */
static double copy_on_device(kith_context *context)
{
    enum { count = 1 << 26, times = 20, rounds = 5 };
    struct bench_arrays arrays = {.count = 0};
    double best = 0;
    DEVICE_SCOPE(scope);
    kith_status status = device_enter(context, &scope);
    for (int k = 0; k < 2 && status == KITH_OK; k++)
        status = bench_array(context, KITH_F64, count, 0, NULL, &arrays);
    const double one = 1;
    const void *const from = arrays.at[0].data;
    for (int round = 0; round < rounds && status == KITH_OK; round++) {
        const double start = cli_clock();
        for (int k = 0; k < times && status == KITH_OK; k++)
            status = context->services->combine(context, KITH_F64, count, 1, &one, &from,
                                                arrays.at[1].data);
        if (status == KITH_OK)
            status = kith_context_synchronize(context);
        best = fmax(best, 16.0 * count * times / (cli_clock() - start));
    }
    bench_arrays_free(context, &arrays);
    return status == KITH_OK ? best : 0;
}

double bench_copy_rate(struct bench_context *on)
{
    if (on->copy_rate == 0)
        on->copy_rate = on->threads ? copy_on_host(on->threads) : copy_on_device(on->context);
    return on->copy_rate;
}

double bench_forces_rate(struct bench_context *on, kith_dtype dtype)
{
    if (on->threads && on->forces_rates[dtype] == 0)
        on->forces_rates[dtype] = on->threads * forces_limit(on->context, dtype);
    return on->forces_rates[dtype];
}

double *bench_randoms(int64_t count)
{
    double *numbers = calloc((size_t)count + 1, sizeof *numbers);
    for (int64_t k = 0; numbers && k < count; k++)
        numbers[k] = bench_random((uint64_t)k);
    return numbers;
}

double bench_random(uint64_t k)
{
    uint64_t z = (k + 1) * 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}
