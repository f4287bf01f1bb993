#include "lattice/promise_cpu.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/memory.h"
#include "device/context.h"
#include "device/cpu.h"
#include "lattice/arguments.h"
#include "lattice/collisions_cpu.h"

enum progress { waiting, computing, done };

struct collisions_promise_state {
    struct collisions_problem problem;
    kith_collisions_method method;
    void *beads; /* a copy; freed when done */
    enum progress progress;
    bool is_abandoned; /* the worker frees it */
    kith_status status;
    int64_t count;
    char message[1024]; /* of a failure */
    struct collisions_promise_state *next;
};

struct collisions_worker {
    kith_context *context;
    pthread_t thread;
    pthread_mutex_t mutex; /* of all that follows, and of the promises */
    pthread_cond_t is_called, is_done;
    struct collisions_promise_state *first, *last; /* that wait */
    bool ended;
};

static void free_state(struct collisions_promise_state *state)
{
    free(state->beads);
    free(state);
}

/* The next promise, or NULL at the end. The mutex is held. */
static struct collisions_promise_state *take_next(struct collisions_worker *worker)
{
    while (!worker->first && !worker->ended)
        pthread_cond_wait(&worker->is_called, &worker->mutex);
    struct collisions_promise_state *state = worker->ended ? NULL : worker->first;
    if (state) {
        worker->first = state->next;
        state->progress = computing;
    }
    return state;
}

static void compute(const struct collisions_worker *worker, struct collisions_promise_state *state)
{
    state->status =
        collisions_count_cpu(worker->context, &state->problem, true, state->method, &state->count);
    if (state->status != KITH_OK)
        snprintf(state->message, sizeof state->message, "%s", kith_error_message());
}

static void *work(void *argument)
{
    struct collisions_worker *worker = argument;
    struct collisions_promise_state *state = NULL;
    pthread_mutex_lock(&worker->mutex);
    while ((state = take_next(worker))) {
        pthread_mutex_unlock(&worker->mutex);
        compute(worker, state);
        pthread_mutex_lock(&worker->mutex);
        state->progress = done;
        if (state->is_abandoned)
            free_state(state);
        pthread_cond_broadcast(&worker->is_done);
    }
    pthread_mutex_unlock(&worker->mutex);
    return NULL;
}

static kith_status start(kith_context *context, struct collisions_worker *worker)
{
    const kith_context_options options = {.device = {KITH_CPU, 0}, .threads = context->threads};
    KITH_TRY(kith_context_create(&options, &worker->context));
    pthread_mutex_init(&worker->mutex, NULL);
    pthread_cond_init(&worker->is_called, NULL);
    pthread_cond_init(&worker->is_done, NULL);
    if (pthread_create(&worker->thread, NULL, work, worker) != 0) {
        kith_context_free(worker->context);
        return kith_fail(KITH_OUT_OF_MEMORY,
                         "the system gives no thread to compute promises; count without one");
    }
    return KITH_OK;
}

static void free_worker(kith_context *context, void *kept)
{
    (void)context;
    struct collisions_worker *worker = kept;
    pthread_mutex_lock(&worker->mutex);
    worker->ended = true;
    kith_context_cancel(worker->context);
    pthread_cond_signal(&worker->is_called);
    pthread_mutex_unlock(&worker->mutex);
    pthread_join(worker->thread, NULL);
    pthread_mutex_destroy(&worker->mutex);
    pthread_cond_destroy(&worker->is_called);
    pthread_cond_destroy(&worker->is_done);
    kith_context_free(worker->context);
    free(worker);
}

/* The worker of a context, which ends after the promise that it is computing. */
static const struct device_slot_kind worker_slot = {free_worker};

static kith_status worker_of(kith_context *context, struct collisions_worker **worker)
{
    void **slot = device_slot(context, &worker_slot);
    if (!slot)
        return kith_fail(KITH_OUT_OF_MEMORY, "no memory for the worker of promises");
    if (!*slot) {
        struct collisions_worker *made = NULL;
        KITH_TRY(kith_allocate(1, sizeof *made, "a worker", &made));
        const kith_status status = start(context, made);
        if (status != KITH_OK) {
            free(made);
            return status;
        }
        *slot = made;
    }
    *worker = *slot;
    return KITH_OK;
}

static kith_status copy_beads(const struct collisions_problem *problem,
                              struct collisions_promise_state *state)
{
    state->problem = *problem;
    if (!collisions_is_dense(problem))
        return collisions_make_dense(&state->problem, &state->beads);
    const int64_t elements = problem->count * problem->dimensions;
    const int64_t bytes_each = kith_dtype_bytes(problem->dtype);
    KITH_TRY(kith_allocate(elements, bytes_each, "a copy of the beads", &state->beads));
    memcpy(state->beads, problem->beads, (size_t)(elements * bytes_each));
    state->problem.beads = state->beads;
    return KITH_OK;
}

static void append(struct collisions_worker *worker, struct collisions_promise_state *state)
{
    pthread_mutex_lock(&worker->mutex);
    if (worker->first)
        worker->last->next = state;
    else
        worker->first = state;
    worker->last = state;
    pthread_cond_signal(&worker->is_called);
    pthread_mutex_unlock(&worker->mutex);
}

kith_status collisions_launch_cpu(kith_context *context, const struct collisions_problem *problem,
                                  bool on_host, kith_collisions_method method,
                                  struct collisions_promise_state **state)
{
    (void)on_host;
    struct collisions_worker *worker = NULL;
    struct collisions_promise_state *made = NULL;
    KITH_TRY(worker_of(context, &worker));
    KITH_TRY(kith_allocate(1, sizeof *made, "a promise", &made));
    made->method = method;
    const kith_status status = copy_beads(problem, made);
    if (status != KITH_OK) {
        free_state(made);
        return status;
    }
    append(worker, made);
    *state = made;
    return KITH_OK;
}

static struct collisions_worker *worker_with(kith_context *context)
{
    return *device_slot(context, &worker_slot);
}

/* Waits until a promise is done, or for the interval of checking for cancellation. */
static void wait_a_moment(struct collisions_worker *worker)
{
    enum { nanoseconds = 20000000, of_a_second = 1000000000 };
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += nanoseconds;
    until.tv_sec += until.tv_nsec / of_a_second;
    until.tv_nsec %= of_a_second;
    pthread_cond_timedwait(&worker->is_done, &worker->mutex, &until);
}

kith_status collisions_fetch_cpu(kith_context *context, struct collisions_promise_state *state,
                                 int64_t *count)
{
    struct collisions_worker *worker = worker_with(context);
    pthread_mutex_lock(&worker->mutex);
    while (state->progress != done && !kith_context_stops(context))
        wait_a_moment(worker);
    const bool is_done = state->progress == done;
    pthread_mutex_unlock(&worker->mutex);
    if (!is_done)
        return kith_context_check_cancelled(context);
    if (state->status != KITH_OK)
        return kith_fail(state->status, "%s", state->message);
    *count = state->count;
    return KITH_OK;
}

static void take_out(struct collisions_worker *worker, const struct collisions_promise_state *state)
{
    struct collisions_promise_state *before = NULL;
    for (struct collisions_promise_state *at = worker->first; at != state; at = at->next)
        before = at;
    if (before)
        before->next = state->next;
    else
        worker->first = state->next;
    if (worker->last == state)
        worker->last = before;
}

void collisions_release_cpu(kith_context *context, struct collisions_promise_state *state)
{
    struct collisions_worker *worker = worker_with(context);
    pthread_mutex_lock(&worker->mutex);
    const bool is_computing = state->progress == computing;
    state->is_abandoned = is_computing;
    if (state->progress == waiting)
        take_out(worker, state);
    pthread_mutex_unlock(&worker->mutex);
    if (!is_computing)
        free_state(state);
}
