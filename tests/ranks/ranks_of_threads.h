#ifndef TESTS_RANKS_OF_THREADS_H
#define TESTS_RANKS_OF_THREADS_H

/* The ranks of a job as threads of this process, and the message library between them: what MPI
 * does, for tests of all that stands on it. */

#include "testing.h"

#include <pthread.h>
#include <stdlib.h>

#include "ranks/partition.h"
#include "ranks/ranks.h"

enum { most_ranks = 16, most_posted = 4096 };

/* Where ranks compute: by turns on this number of GPUs, or on the CPU. */
static int32_t gpus_of_ranks;

/* Ranks begin as if GPUs had exchanged this number of bytes: of 1 GiB, NCCL does it from the start.
 */
static int64_t exchanged_before;

/* Whether the library of a rank takes memory of GPUs, and what copies messages. */
static bool takes_device_memory[most_ranks];
static void *(*copy_message)(void *to, const void *from, size_t bytes) = memcpy;

static inline kith_device device_of_rank(int32_t rank)
{
    return gpus_of_ranks > 0 ? (kith_device){KITH_CUDA, rank % gpus_of_ranks}
                             : (kith_device){KITH_CPU, 0};
}

/* On its way. */
struct message {
    struct message *next;
    int32_t from, to, tag;
    int64_t bytes;
    char data[];
};

struct world {
    int32_t size;
    pthread_mutex_t lock;
    pthread_cond_t sent;
    struct message *first, **end;
    pthread_barrier_t barrier;
    void *shown[most_ranks]; /* memory that each rank lets the others read */
};

struct receive {
    int32_t from, tag;
    void *data;
    int64_t bytes;
};

struct thread_rank {
    struct world *world;
    int32_t rank;
    struct {
        struct receive receives[most_posted];
        int64_t count;
        int64_t *values; /* whose maximum is wanted, or NULL */
        int32_t value_count;
    } batches[KITH_MESSAGE_BATCHES];
};

static inline void thread_post_send(void *state, int32_t batch, int32_t to, int32_t tag,
                                    const void *data, int64_t bytes)
{
    const struct thread_rank *me = state;
    struct world *world = me->world;
    struct message *message = malloc(sizeof *message + (size_t)bytes);
    (void)batch;
    *message = (struct message){NULL, me->rank, to, tag, bytes};
    copy_message(message->data, data, (size_t)bytes);
    pthread_mutex_lock(&world->lock);
    *world->end = message;
    world->end = &message->next;
    pthread_cond_broadcast(&world->sent);
    pthread_mutex_unlock(&world->lock);
}

/* The memory is the library's until wait: nobody may read it. */
static inline void thread_post_receive(void *state, int32_t batch, int32_t from, int32_t tag,
                                       void *data, int64_t bytes)
{
    struct thread_rank *me = state;
    const int64_t k = me->batches[batch].count++;
    if (k >= most_posted)
        abort();
    me->batches[batch].receives[k] = (struct receive){from, tag, data, bytes};
    char *unreadable = malloc((size_t)bytes + 1);
    memset(unreadable, 0xff, (size_t)bytes);
    copy_message(data, unreadable, (size_t)bytes);
    free(unreadable);
}

static inline void thread_post_maximum(void *state, int32_t batch, int64_t *values, int32_t count)
{
    struct thread_rank *me = state;
    me->batches[batch].values = values;
    me->batches[batch].value_count = count;
}

static inline void thread_progress(void *state)
{
    (void)state;
}

/* The first message from a rank with a tag, taken off the list. */
static inline struct message *take_message(struct world *world, int32_t to,
                                           const struct receive *wanted)
{
    for (struct message **at = &world->first; *at; at = &(*at)->next) {
        struct message *found = *at;
        if (found->from != wanted->from || found->to != to || found->tag != wanted->tag)
            continue;
        *at = found->next;
        if (!*at)
            world->end = at;
        return found;
    }
    return NULL;
}

static inline void receive_message(const struct thread_rank *me, const struct receive *wanted)
{
    struct world *world = me->world;
    struct message *message = NULL;
    pthread_mutex_lock(&world->lock);
    while (!(message = take_message(world, me->rank, wanted)))
        pthread_cond_wait(&world->sent, &world->lock);
    pthread_mutex_unlock(&world->lock);
    if (message->bytes != wanted->bytes)
        abort();
    copy_message(wanted->data, message->data, (size_t)message->bytes);
    free(message);
}

static inline void take_maximum(const struct thread_rank *me, int64_t *values, int32_t count)
{
    struct world *world = me->world;
    int64_t largest[KITH_MESSAGE_VALUES];
    world->shown[me->rank] = values;
    pthread_barrier_wait(&world->barrier);
    for (int32_t k = 0; k < count; k++) {
        largest[k] = values[k];
        for (int32_t rank = 0; rank < world->size; rank++)
            if (((int64_t *)world->shown[rank])[k] > largest[k])
                largest[k] = ((int64_t *)world->shown[rank])[k];
    }
    pthread_barrier_wait(&world->barrier);
    memcpy(values, largest, (size_t)count * sizeof *values);
}

static inline void thread_wait(void *state, int32_t batch)
{
    struct thread_rank *me = state;
    for (int64_t k = 0; k < me->batches[batch].count; k++)
        receive_message(me, &me->batches[batch].receives[k]);
    me->batches[batch].count = 0;
    if (me->batches[batch].values)
        take_maximum(me, me->batches[batch].values, me->batches[batch].value_count);
    me->batches[batch].values = NULL;
}

static inline void thread_broadcast(void *state, void *data, int64_t bytes)
{
    const struct thread_rank *me = state;
    struct world *world = me->world;
    world->shown[me->rank] = data;
    pthread_barrier_wait(&world->barrier);
    if (me->rank > 0)
        memcpy(data, world->shown[0], (size_t)bytes);
    pthread_barrier_wait(&world->barrier);
}

static inline void thread_gather(void *state, void *data, int64_t element_bytes,
                                 const int64_t *first)
{
    const struct thread_rank *me = state;
    struct world *world = me->world;
    world->shown[me->rank] = data;
    pthread_barrier_wait(&world->barrier);
    for (int32_t rank = 0; rank < world->size; rank++) {
        const int64_t begin = first[rank] * element_bytes;
        const int64_t end = first[rank + 1] * element_bytes;
        if (rank != me->rank)
            memcpy((char *)data + begin, (char *)world->shown[rank] + begin, (size_t)(end - begin));
    }
    pthread_barrier_wait(&world->barrier);
}

static inline void thread_add(void *state, unsigned long long *values, int64_t count)
{
    const struct thread_rank *me = state;
    struct world *world = me->world;
    unsigned long long *sums = calloc((size_t)count + 1, sizeof *sums);
    world->shown[me->rank] = values;
    pthread_barrier_wait(&world->barrier);
    for (int32_t rank = 0; rank < world->size; rank++)
        for (int64_t k = 0; k < count; k++)
            sums[k] += ((const unsigned long long *)world->shown[rank])[k];
    pthread_barrier_wait(&world->barrier);
    memcpy(values, sums, (size_t)count * sizeof *sums);
    free(sums);
}

static inline bool thread_takes_device_memory(void *state)
{
    return takes_device_memory[((const struct thread_rank *)state)->rank];
}

static const kith_messages library_of_threads = {
    .name = "threads",
    .post_send = thread_post_send,
    .post_receive = thread_post_receive,
    .post_maximum = thread_post_maximum,
    .progress = thread_progress,
    .wait = thread_wait,
    .broadcast = thread_broadcast,
    .gather = thread_gather,
    .add = thread_add,
    .takes_device_memory = thread_takes_device_memory,
};

/* What a rank does, with a context of its own that has joined the job. */
typedef kith_status rank_task(void *argument, kith_context *context);

struct rank_thread {
    struct thread_rank *state;
    rank_task *task;
    void *argument;
    pthread_t thread;
};

static inline void *do_rank(void *argument)
{
    struct rank_thread *rank = argument;
    const kith_context_options options = {.device = device_of_rank(rank->state->rank),
                                          .threads = 1};
    kith_context *context = NULL;
    if (kith_context_create(&options, &context) != KITH_OK ||
        kith_context_join(context, &library_of_threads, rank->state, rank->state->world->size,
                          rank->state->rank) != KITH_OK)
        abort();
    context->ranks->gathered = exchanged_before;
    /* As a program that ends: one that has failed alone notifies those that wait for it. */
    struct ranks_vote vote = {rank->task(rank->argument, context) != KITH_OK, 0, 0};
    if (!context->ranks->failure_is_known)
        ranks_take_vote(context->ranks, &vote);
    kith_context_free(context);
    return NULL;
}

/* Does a task on each of so many ranks; arguments are bytes_each apart. */
static inline void do_ranks(int32_t size, rank_task *task, void *arguments, size_t bytes_each)
{
    static struct rank_thread threads[most_ranks];
    struct world world = {.size = size};
    world.end = &world.first;
    pthread_mutex_init(&world.lock, NULL);
    pthread_cond_init(&world.sent, NULL);
    pthread_barrier_init(&world.barrier, NULL, (unsigned)size);
    for (int32_t k = 0; k < size; k++) {
        struct thread_rank *state = calloc(1, sizeof *state);
        *state = (struct thread_rank){.world = &world, .rank = k};
        threads[k] = (struct rank_thread){
            .state = state, .task = task, .argument = (char *)arguments + (size_t)k * bytes_each};
        assert_int_equal(pthread_create(&threads[k].thread, NULL, do_rank, &threads[k]), 0);
    }
    for (int32_t k = 0; k < size; k++) {
        pthread_join(threads[k].thread, NULL);
        free(threads[k].state);
    }
    assert_null(world.first); /* all that was sent has come */
    pthread_barrier_destroy(&world.barrier);
    pthread_cond_destroy(&world.sent);
    pthread_mutex_destroy(&world.lock);
}

#endif
