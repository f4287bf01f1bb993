#include "gpu_calls.h"

#include <cuda_runtime_api.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

enum { rounds = 15 };
static const double enough = 5e-3;

static int compare(const void *first, const void *second)
{
    const double a = *(const double *)first, b = *(const double *)second;
    return (a > b) - (a < b);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static kith_status time_calls(kith_context *context, gpu_call *call, void *argument, int64_t calls,
                              double *seconds)
{
    kith_status status = kith_context_synchronize(context);
    const double begin = now();
    for (int64_t k = 0; k < calls && status == KITH_OK; k++)
        status = call(argument);
    if (status == KITH_OK)
        status = kith_context_synchronize(context);
    *seconds = (now() - begin) / (double)calls;
    return status;
}

kith_status gpu_time_calls(kith_context *context, gpu_call *call, void *argument, double *seconds)
{
    double each[rounds] = {0}, once = 0;
    kith_status status = KITH_OK;
    for (int k = 0; k < 2 && status == KITH_OK; k++)
        status = time_calls(context, call, argument, 3, &once);
    const int64_t calls = 1 + (int64_t)(enough / fmax(once, 1e-6));
    for (int round = 0; round < rounds && status == KITH_OK; round++)
        status = time_calls(context, call, argument, calls, &each[round]);
    qsort(each, rounds, sizeof each[0], compare);
    *seconds = each[rounds / 2];
    return status;
}

void *gpu_copy_of(int64_t count, kith_dtype dtype, const double *numbers)
{
    const size_t bytes = (size_t)count * (size_t)kith_dtype_bytes(dtype);
    float *narrow = calloc((size_t)count + 1, sizeof *narrow);
    void *device = NULL;
    for (int64_t k = 0; k < count && narrow; k++)
        narrow[k] = (float)numbers[k];
    if (!narrow || cudaMalloc(&device, bytes + 1) != cudaSuccess ||
        cudaMemcpy(device, dtype == KITH_F64 ? (const void *)numbers : (const void *)narrow, bytes,
                   cudaMemcpyHostToDevice) != cudaSuccess)
        device = NULL;
    free(narrow);
    return device;
}

double gpu_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 40) * 0x1p-24;
}
