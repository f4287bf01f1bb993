/* What a benchmark needs in addition to the public API: arrays in the device's memory, and the
 * machine's limits: the bandwidth of a copy, and the arithmetic of gravity on numbers in registers.
 */

#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "device/context.h"
#include "device/threads.h"
#include "forces/limit.h"

kith_status bench_array(struct bench_part *part, kith_dtype dtype, int64_t rows, int64_t columns,
                        const void *values)
{
    kith_context *context = part->context;
    const int64_t count = rows * (columns > 0 ? columns : 1), each = kith_dtype_bytes(dtype);
    kith_array *array = &part->arrays[part->array_count++];
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

void bench_part_free(struct bench_part *part)
{
    DEVICE_SCOPE(scope);
    const bool entered = device_enter(part->context, &scope) == KITH_OK;
    if (part->state && part->bench->capability->end)
        part->bench->capability->end(part->state);
    while (part->array_count > 0 && entered)
        part->context->services->release(part->context, part->arrays[--part->array_count].data);
    free(part->state);
}

/* A block of memory for each thread, large enough that memcpy writes it past the caches. */
struct copy {
    char *to, *from;
    size_t bytes;
};

static void copy_block(void *argument, int64_t k)
{
    const struct copy *copy = argument;
    memcpy(copy->to + copy->bytes * (size_t)k, copy->from + copy->bytes * (size_t)k, copy->bytes);
}

static double copy_on_host(kith_context *context, int32_t threads)
{
    enum { bytes = 256 << 20, times = 5 };
    const struct copy copy = {malloc(bytes), malloc(bytes), bytes / (size_t)threads};
    double best = 0;
    if (copy.from && copy.to) {
        memset(copy.from, 1, bytes);
        memset(copy.to, 2, bytes);
    }
    for (int k = 0; copy.from && copy.to && k < times; k++) {
        const double start = cli_clock();
        if (kith_for_each(context, threads, threads, copy_block, (void *)&copy) == KITH_OK)
            best = fmax(best, 2.0 * bytes / (cli_clock() - start));
    }
    free(copy.from);
    free(copy.to);
    return best;
}

/* By the device's own y = 1 x, which is bound by memory. */
static double copy_on_device(kith_context *context)
{
    enum { count = 1 << 26, times = 20, rounds = 5 };
    struct bench_part part = {.context = context};
    double best = 0;
    DEVICE_SCOPE(scope);
    kith_status status = device_enter(context, &scope);
    for (int k = 0; k < 2 && status == KITH_OK; k++)
        status = bench_array(&part, KITH_F64, count, 0, NULL);
    const double one = 1;
    const void *const from = part.arrays[0].data;
    for (int round = 0; round < rounds && status == KITH_OK; round++) {
        const double start = cli_clock();
        for (int k = 0; k < times && status == KITH_OK; k++)
            status = context->services->combine(context, KITH_F64, count, 1, &one, &from,
                                                part.arrays[1].data);
        if (status == KITH_OK)
            status = kith_context_synchronize(context);
        best = fmax(best, 16.0 * count * times / (cli_clock() - start));
    }
    bench_part_free(&part);
    return status == KITH_OK ? best : 0;
}

double bench_copy_rate(struct bench_context *on)
{
    if (on->copy_rate == 0)
        on->copy_rate =
            on->threads ? copy_on_host(on->context, on->threads) : copy_on_device(on->context);
    return on->copy_rate;
}

double bench_forces_rate(struct bench_context *on, kith_dtype dtype)
{
    if (on->threads && on->forces_rates[dtype] == 0)
        on->forces_rates[dtype] = on->threads * forces_limit(on->context, dtype);
    return on->forces_rates[dtype];
}
