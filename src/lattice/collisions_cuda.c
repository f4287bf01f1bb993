/* CUDA's part of the room: memory, copies and promises around the kernels. */

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "device/context.h"
#include "device/cuda_state.h"
#include "lattice/arguments.h"
#include "lattice/backend.h"
#include "lattice/collisions_reference.h"
#include "lattice/cuda_methods.h"

static collisions_cuda_method *const methods[] = {
    [KITH_COLLISIONS_AUTO] = collisions_auto_cuda,
    [KITH_COLLISIONS_N_STEPS_SINGLE_ROW] = collisions_n_steps_single_row_cuda,
    [KITH_COLLISIONS_N_STEPS_MULTI_ROW] = collisions_n_steps_multi_row_cuda,
    [KITH_COLLISIONS_HALF_STEPS_SINGLE_ROW] = collisions_half_steps_cuda,
    [KITH_COLLISIONS_SINGLE_STEPS_ALL_THREADS] = collisions_all_threads_cuda,
    [KITH_COLLISIONS_SINGLE_STEPS_HALF_THREADS] = collisions_half_threads_cuda,
    [KITH_COLLISIONS_ALL_PAIRS] = collisions_all_pairs_cuda,
    [KITH_COLLISIONS_LINEAR] = collisions_linear_cuda,
    [KITH_COLLISIONS_HASH] = collisions_hash_cuda,
    [KITH_COLLISIONS_SORT] = collisions_sort_cuda,
};

/* A count in progress: what it works on, and where its number comes. */
struct collisions_promise_state {
    void *memory; /* on the device: what the kernels share, then a copy of the beads, if any */
    unsigned long long *number; /* page-locked, as */
    void *staging;              /* a copy of the beads in transit to the device */
    int64_t staging_bytes;
    cudaEvent_t done;
    struct collisions_promise_state *next; /* that waits to be used again */
};

static kith_status grow_staging(struct collisions_promise_state *state, int64_t bytes)
{
    if (bytes <= state->staging_bytes)
        return KITH_OK;
    cudaFreeHost(state->staging);
    state->staging = NULL;
    state->staging_bytes = 0;
    KITH_TRY(cuda_check(cudaHostAlloc(&state->staging, (size_t)bytes, cudaHostAllocPortable),
                        "page-locked memory of the host for a copy of the beads"));
    state->staging_bytes = bytes;
    return KITH_OK;
}

static void copy_dense(const struct collisions_problem *problem, void *to)
{
    const int64_t d = problem->dimensions, elements = problem->count * d;
    if (collisions_is_dense(problem)) {
        memcpy(to, problem->beads, (size_t)(elements * kith_dtype_bytes(problem->dtype)));
        return;
    }
    for (int64_t k = 0; k < elements; k++) {
        const int64_t value = collisions_coordinate(problem, k / d, k % d);
        if (problem->dtype == KITH_I32)
            ((int32_t *)to)[k] = (int32_t)value;
        else
            ((int64_t *)to)[k] = value;
    }
}

/* Device memory for a count, with the beads in it if they come from the host: the problem is then
 * of those. Nothing waits for the device. */
static kith_status bring(kith_context *context, struct collisions_problem *problem, bool on_host,
                         struct collisions_promise_state *state)
{
    if (!on_host)
        return cuda_allocate(context, 1, collisions_counting_bytes, "a count", &state->memory);
    const int64_t bytes = problem->count * problem->dimensions * kith_dtype_bytes(problem->dtype);
    KITH_TRY(grow_staging(state, bytes));
    copy_dense(problem, state->staging);
    KITH_TRY(cuda_allocate(context, 1, collisions_counting_bytes + bytes, "the beads on the device",
                           &state->memory));
    problem->beads = (char *)state->memory + collisions_counting_bytes;
    problem->row_stride = problem->dimensions;
    problem->column_stride = 1;
    return cuda_check(cudaMemcpyAsync((void *)problem->beads, state->staging, (size_t)bytes,
                                      cudaMemcpyHostToDevice, cuda_stream(context)),
                      "copying the beads");
}

static void free_state(struct collisions_promise_state *state)
{
    if (state->done)
        cudaEventDestroy(state->done);
    cudaFreeHost(state->number);
    cudaFreeHost(state->staging);
    free(state);
}

static void free_spares(kith_context *context, void *kept)
{
    (void)context;
    for (struct collisions_promise_state *spare = kept, *next = NULL; spare; spare = next) {
        next = spare->next;
        free_state(spare);
    }
}

/* States of promises that ended, for the next ones. */
static const struct device_slot_kind spare_states = {free_spares};

/* One that was used before, or a new one: making page-locked memory may wait for the device. */
static kith_status take_state(kith_context *context, struct collisions_promise_state **state)
{
    void **slot = device_slot(context, &spare_states);
    struct collisions_promise_state *spare = slot ? *slot : NULL;
    if (spare && cudaEventQuery(spare->done) == cudaSuccess) {
        *slot = spare->next;
        *state = spare;
        return KITH_OK;
    }
    cudaGetLastError(); /* cudaErrorNotReady: its copies are still in progress */
    KITH_TRY(kith_allocate(1, sizeof **state, "a promise", state));
    KITH_TRY(cuda_check(
        cudaHostAlloc((void **)&(*state)->number, sizeof *(*state)->number, cudaHostAllocPortable),
        "memory for a count"));
    return cuda_check(cudaEventCreateWithFlags(&(*state)->done, cudaEventDisableTiming),
                      "making an event");
}

static kith_status start(kith_context *context, struct collisions_problem *problem, bool on_host,
                         kith_collisions_method method, struct collisions_promise_state *state)
{
    KITH_TRY(bring(context, problem, on_host, state));
    KITH_TRY(methods[method](context, problem, state->memory));
    KITH_TRY(cuda_check(cudaMemcpyAsync(state->number, collisions_number_of(state->memory),
                                        sizeof *state->number, cudaMemcpyDeviceToHost,
                                        cuda_stream(context)),
                        "copying a count"));
    return cuda_check(cudaEventRecord(state->done, cuda_stream(context)), "recording an event");
}

/* The device's memory goes in the order of the stream; the number may still arrive, before that of
 * the next use of the state. */
static void end(kith_context *context, struct collisions_promise_state *state)
{
    if (!state)
        return;
    void **slot = device_slot(context, &spare_states);
    cuda_release(context, state->memory);
    state->memory = NULL;
    if (!state->done || !slot) { /* never whole, or nowhere to keep it */
        free_state(state);
        return;
    }
    state->next = *slot;
    *slot = state;
}

static kith_status launch(kith_context *context, const struct collisions_problem *problem,
                          bool on_host, kith_collisions_method method,
                          struct collisions_promise_state **state)
{
    struct collisions_problem mine = *problem;
    struct collisions_promise_state *made = NULL;
    if (method == KITH_COLLISIONS_REFERENCE)
        return kith_fail(KITH_UNSUPPORTED, "method is the reference, which counts on the host; "
                                           "give beads there and a context on the CPU");
    kith_status status = take_state(context, &made);
    if (status == KITH_OK)
        status = start(context, &mine, on_host, method, made);
    if (status != KITH_OK) {
        if (made)
            end(context, made);
        return status;
    }
    *state = made;
    return KITH_OK;
}

static kith_status fetch(kith_context *context, struct collisions_promise_state *state,
                         int64_t *count)
{
    if (!state)
        return kith_fail(KITH_INVALID_ARGUMENT, "the promise was not launched; launch it first");
    KITH_TRY(cuda_wait_for(context, state->done, "counting collisions"));
    *count = (int64_t)*state->number;
    return KITH_OK;
}

static kith_status count(kith_context *context, const struct collisions_problem *problem,
                         bool on_host, kith_collisions_method method, int64_t *number)
{
    if (method == KITH_COLLISIONS_REFERENCE && on_host)
        return collisions_count_by_reference(context, problem, number);
    struct collisions_promise_state *state = NULL;
    KITH_TRY(launch(context, problem, on_host, method, &state));
    const kith_status status = fetch(context, state, number);
    end(context, state);
    return status;
}

static kith_status choose(kith_context *context, const struct collisions_problem *problem,
                          bool on_host, kith_collisions_method *method)
{
    (void)context;
    (void)on_host;
    *method = collisions_choose_cuda(problem->count);
    return KITH_OK;
}

/* The pieces of a batch in one block of the device's memory. */
struct batch_memory {
    char *memory;
    int64_t beads, offsets, flags, results, bytes; /* where they begin */
};

static struct batch_memory lay_out(const struct collisions_batch_problem *problem, int64_t beads,
                                   bool on_host)
{
    const int64_t all = problem->conformations, word = (int64_t)sizeof(int64_t);
    const int64_t of_beads = beads * problem->dimensions * kith_dtype_bytes(problem->dtype);
    struct batch_memory memory = {0};
    memory.offsets = on_host ? (of_beads + 255) / 256 * 256 : 0;
    memory.results = memory.offsets + (on_host && problem->offsets ? (all + 1) * word : 0);
    memory.flags = memory.results + (on_host ? 2 * all * word : 0);
    memory.bytes = memory.flags + (problem->hydrophobic ? problem->length : 0);
    return memory;
}

static kith_status copy_batch_in(kith_context *context, struct collisions_batch_problem *problem,
                                 int64_t beads, const struct batch_memory *memory)
{
    const int64_t all = problem->conformations, word = (int64_t)sizeof(int64_t);
    char *start = memory->memory;
    KITH_TRY(cuda_copy_in(context, start + memory->beads, problem->beads,
                          beads * problem->dimensions * kith_dtype_bytes(problem->dtype)));
    problem->beads = start + memory->beads;
    if (problem->offsets) {
        KITH_TRY(
            cuda_copy_in(context, start + memory->offsets, problem->offsets, (all + 1) * word));
        problem->offsets = (const int64_t *)(start + memory->offsets);
    }
    if (problem->collisions)
        problem->collisions = (int64_t *)(start + memory->results);
    if (problem->contacts)
        problem->contacts = (int64_t *)(start + memory->results) + all;
    return KITH_OK;
}

static kith_status run_batch(kith_context *context, const struct collisions_batch_problem *problem,
                             int64_t beads, int64_t longest, bool on_host,
                             struct batch_memory *memory)
{
    const int64_t bytes = problem->conformations * (int64_t)sizeof(int64_t);
    struct collisions_batch_problem mine = *problem;
    unsigned char *flags = NULL;
    if (memory->bytes > 0)
        KITH_TRY(
            cuda_allocate(context, 1, memory->bytes, "the batch on the device", &memory->memory));
    if (problem->hydrophobic) {
        flags = (unsigned char *)memory->memory + memory->flags;
        KITH_TRY(cuda_copy_in(context, flags, problem->hydrophobic, problem->length));
    }
    if (!on_host)
        return collisions_batch_on_cuda(context, &mine, flags, longest);
    KITH_TRY(copy_batch_in(context, &mine, beads, memory));
    KITH_TRY(collisions_batch_on_cuda(context, &mine, flags, longest));
    if (problem->collisions)
        KITH_TRY(cuda_copy_out(context, problem->collisions, mine.collisions, bytes));
    if (problem->contacts)
        KITH_TRY(cuda_copy_out(context, problem->contacts, mine.contacts, bytes));
    return KITH_OK;
}

static kith_status batch(kith_context *context, const struct collisions_batch_problem *problem,
                         bool on_host)
{
    const int64_t all = problem->conformations;
    int64_t longest = problem->length, beads = all * problem->length;
    if (problem->offsets && !on_host)
        longest = collisions_most_of_batch; /* not inspected yet */
    for (int64_t b = 0; b < all && problem->offsets && on_host; b++) {
        const int64_t length = problem->offsets[b + 1] - problem->offsets[b];
        longest = length > longest ? length : longest;
    }
    if (problem->offsets && on_host)
        beads = problem->offsets[all];
    struct batch_memory memory = lay_out(problem, beads, on_host);
    const kith_status status = run_batch(context, problem, beads, longest, on_host, &memory);
    cuda_release(context, memory.memory);
    return status;
}

const struct collisions_backend collisions_cuda = {
    .count = count,
    .choose = choose,
    .launch = launch,
    .fetch = fetch,
    .release = end,
    .batch = batch,
};
