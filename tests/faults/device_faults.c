#include "device_faults.h"

#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdatomic.h>

enum { most_held = 1 << 14 };

static atomic_llong asked, failing;
static atomic_int failing_kind;
static atomic_bool is_lasting, is_on;
static _Thread_local bool is_spared;

/* The error that the runtime would keep until it is requested. */
static _Thread_local cudaError_t kept_error = cudaSuccess;

/* What is held: in no order, the last moves to where one goes. */
static struct held {
    const void *what;
    int64_t bytes;
} held[most_held];
static int64_t held_count, held_bytes;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

void device_faults_begin(enum device_fault kind, int64_t n, bool lasting)
{
    atomic_store(&asked, 0);
    atomic_store(&failing, n);
    atomic_store(&failing_kind, (int)kind);
    atomic_store(&is_lasting, lasting);
    atomic_store(&is_on, true);
}

void device_faults_spare(void)
{
    is_spared = true;
}

int64_t device_faults_end(void)
{
    atomic_store(&is_on, false);
    kept_error = cudaSuccess;
    return atomic_load(&asked);
}

int64_t device_objects(void)
{
    pthread_mutex_lock(&mutex);
    const int64_t count = held_count;
    pthread_mutex_unlock(&mutex);
    return count;
}

int64_t device_bytes(void)
{
    pthread_mutex_lock(&mutex);
    const int64_t bytes = held_bytes;
    pthread_mutex_unlock(&mutex);
    return bytes;
}

static bool fails(enum device_fault kind)
{
    if (is_spared || !atomic_load(&is_on) || atomic_load(&failing_kind) != (int)kind)
        return false;
    const long long number = atomic_fetch_add(&asked, 1) + 1, first = atomic_load(&failing);
    if (first == 0 || number < first || (number > first && !atomic_load(&is_lasting)))
        return false;
    kept_error = cudaErrorMemoryAllocation;
    return true;
}

static cudaError_t note(cudaError_t error, const void *what, size_t bytes)
{
    if (error != cudaSuccess || !what)
        return error;
    pthread_mutex_lock(&mutex);
    if (held_count < most_held)
        held[held_count++] = (struct held){what, (int64_t)bytes};
    held_bytes += (int64_t)bytes;
    pthread_mutex_unlock(&mutex);
    return error;
}

static void forget(const void *what)
{
    pthread_mutex_lock(&mutex);
    for (int64_t k = held_count - 1; k >= 0 && what; k--)
        if (held[k].what == what) {
            held_bytes -= held[k].bytes;
            held[k] = held[--held_count];
            break;
        }
    pthread_mutex_unlock(&mutex);
}

/* cudaX as the runtime has it, __real_cudaX, and as kith calls it. */
#define BEFORE(function, parameters)                                                               \
    cudaError_t __real_##function parameters;                                                      \
    cudaError_t __wrap_##function parameters;                                                      \
    cudaError_t __wrap_##function parameters

#define TAKES(function, parameters, arguments, what, bytes)                                        \
    BEFORE(function, parameters)                                                                   \
    {                                                                                              \
        if (fails(device_fault_taking))                                                            \
            return cudaErrorMemoryAllocation;                                                      \
        const cudaError_t error = __real_##function arguments;                                     \
        return note(error, error == cudaSuccess ? (what) : NULL, bytes);                           \
    }

#define GIVES_BACK(function, parameters, arguments, what)                                          \
    BEFORE(function, parameters)                                                                   \
    {                                                                                              \
        forget(what);                                                                              \
        return __real_##function arguments;                                                        \
    }

#define WORKS(function, parameters, arguments)                                                     \
    BEFORE(function, parameters)                                                                   \
    {                                                                                              \
        return fails(device_fault_work) ? cudaErrorMemoryAllocation : __real_##function arguments; \
    }

TAKES(cudaMallocFromPoolAsync,
      (void **memory, size_t bytes, cudaMemPool_t pool, cudaStream_t stream),
      (memory, bytes, pool, stream), *memory, bytes)
TAKES(cudaHostAlloc, (void **memory, size_t bytes, unsigned flags), (memory, bytes, flags), *memory,
      bytes)
TAKES(cudaMemPoolCreate, (cudaMemPool_t * pool, const struct cudaMemPoolProps *properties),
      (pool, properties), *pool, 0)
TAKES(cudaStreamCreate, (cudaStream_t * stream), (stream), *stream, 0)
TAKES(cudaStreamCreateWithFlags, (cudaStream_t * stream, unsigned flags), (stream, flags), *stream,
      0)
TAKES(cudaEventCreate, (cudaEvent_t * event), (event), *event, 0)
TAKES(cudaEventCreateWithFlags, (cudaEvent_t * event, unsigned flags), (event, flags), *event, 0)

GIVES_BACK(cudaFreeAsync, (void *memory, cudaStream_t stream), (memory, stream), memory)
GIVES_BACK(cudaFreeHost, (void *memory), (memory), memory)
GIVES_BACK(cudaMemPoolDestroy, (cudaMemPool_t pool), (pool), pool)
GIVES_BACK(cudaStreamDestroy, (cudaStream_t stream), (stream), stream)
GIVES_BACK(cudaEventDestroy, (cudaEvent_t event), (event), event)

WORKS(cudaMemcpyAsync,
      (void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream),
      (to, from, bytes, kind, stream))
WORKS(cudaMemsetAsync, (void *memory, int value, size_t bytes, cudaStream_t stream),
      (memory, value, bytes, stream))
WORKS(cudaEventRecord, (cudaEvent_t event, cudaStream_t stream), (event, stream))
WORKS(cudaStreamWaitEvent, (cudaStream_t stream, cudaEvent_t event, unsigned flags),
      (stream, event, flags))
WORKS(cudaLaunchKernelExC, (const cudaLaunchConfig_t *config, const void *kernel, void **arguments),
      (config, kernel, arguments))
WORKS(cudaLaunchCooperativeKernel,
      (const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared,
       cudaStream_t stream),
      (kernel, grid, block, arguments, shared, stream))

/* What <<<…>>> becomes in CUDA 13, and before. */
#pragma weak __real___cudaLaunchKernel
WORKS(__cudaLaunchKernel,
      (const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared,
       cudaStream_t stream),
      (kernel, grid, block, arguments, shared, stream))
WORKS(cudaLaunchKernel,
      (const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared,
       cudaStream_t stream),
      (kernel, grid, block, arguments, shared, stream))

BEFORE(cudaGetLastError, (void))
{
    const cudaError_t mine = kept_error, theirs = __real_cudaGetLastError();
    kept_error = cudaSuccess;
    return mine != cudaSuccess ? mine : theirs;
}

BEFORE(cudaPeekAtLastError, (void))
{
    return kept_error != cudaSuccess ? kept_error : __real_cudaPeekAtLastError();
}
