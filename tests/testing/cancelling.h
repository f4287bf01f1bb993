#ifndef TESTS_CANCELLING_H
#define TESTS_CANCELLING_H

/* Calls that take long and are cancelled in their middle. Include testing.h before. */

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

typedef kith_status long_call(kith_context *context, void *argument);

/* True from the first time on: a call that asks is one that takes longer than the time between two
 * polls, and it must not go on to its end. */
static inline bool count_and_cancel(void *user)
{
    (*(int *)user)++;
    return true;
}

/* The call is cancelled by its poll, and says so. The context is as new afterwards. */
static inline void assert_polled(kith_context *context, long_call *call, void *argument)
{
    int polls = 0;
    kith_context_set_poll(context, count_and_cancel, &polls);
    assert_fails(call(context, argument), KITH_CANCELLED, "cancelled");
    assert_true(polls >= 1);
    assert_true(kith_context_is_cancelled(context));
    kith_context_set_poll(context, NULL, NULL);
    kith_context_clear_cancel(context);
}

static inline void *cancel_after_a_moment(void *context)
{
    usleep(50000);
    kith_context_cancel(context);
    return NULL;
}

/* The call is cancelled by another thread. */
static inline void assert_cancelled(kith_context *context, long_call *call, void *argument)
{
    pthread_t other;
    assert_int_equal(pthread_create(&other, NULL, cancel_after_a_moment, context), 0);
    const kith_status status = call(context, argument);
    pthread_join(other, NULL);
    assert_int_equal(status, KITH_CANCELLED);
    kith_context_clear_cancel(context);
}

#endif
