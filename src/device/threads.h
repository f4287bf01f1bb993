#ifndef DEVICE_THREADS_H
#define DEVICE_THREADS_H

#include "kith/context.h"

/* The threads of a context.
 *
 * A job is a number of tasks; each free thread takes the next one. The caller takes part, and at
 * the end waits only for tasks that other threads have begun, not for threads that the system has
 * not scheduled yet. A job therefore takes hardly longer than on one thread, however busy the
 * machine is. */
struct kith_team;

typedef void kith_task(void *argument, int64_t k);

/* The number of threads for work that takes one thread this many seconds: those that are awake, and
 * as many sleeping ones as can be woken at a cost of a twentieth of the work done since the last
 * wake-up. */
int32_t kith_threads_for(kith_context *context, double seconds);

/* Calls task(argument, k) once for each k < count, on at most this many threads of the context, the
 * caller's among them; returns when all are done. Their order and threads are unspecified. Once the
 * call is cancelled no more tasks are started: tasks should be shorter than 0.1 s, or return early
 * if kith_context_stops.
 *
 * Errors: KITH_CANCELLED; some tasks were left out then. */
__attribute__((warn_unused_result)) kith_status kith_for_each(kith_context *context,
                                                              int32_t threads, int64_t count,
                                                              kith_task *task, void *argument);

/* The same for tasks that are short together and must all be done, although the context is
 * cancelled. */
void kith_for_each_whole(kith_context *context, int32_t threads, int64_t count, kith_task *task,
                         void *argument);

/* A team without threads yet: they start with the first job for more than one. Returns NULL
 * if memory is short. */
struct kith_team *kith_team_create(int32_t most_threads);
void kith_team_free(struct kith_team *team);

#endif
