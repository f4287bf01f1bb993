/* The threads of a context: each task is done once, whoever does it. */

#include "testing.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device/context.h"
#include "device/threads.h"

enum { most_tasks = 1000 };

struct tally {
    atomic_int times[most_tasks];
    atomic_int at_once, most_at_once;
    int yields; /* in each task, for others to come in between */
};

static kith_context *context_of(int32_t threads)
{
    const kith_context_options options = {.device = {KITH_CPU, 0}, .threads = threads};
    kith_context *context = NULL;
    assert_ok(kith_context_create(&options, &context));
    return context;
}

static void count(void *argument, int64_t k)
{
    struct tally *tally = argument;
    const int now = atomic_fetch_add(&tally->at_once, 1) + 1;
    int most = atomic_load(&tally->most_at_once);
    while (now > most && !atomic_compare_exchange_weak(&tally->most_at_once, &most, now))
        ;
    for (int turn = 0; turn < tally->yields; turn++)
        sched_yield();
    atomic_fetch_add(&tally->times[k], 1);
    atomic_fetch_sub(&tally->at_once, 1);
}

static void assert_each_once(kith_context *context, int32_t threads, int64_t tasks, int yields)
{
    static struct tally tally;
    memset(&tally, 0, sizeof tally);
    tally.yields = yields;
    assert_ok(kith_for_each(context, threads, tasks, count, &tally));
    for (int64_t k = 0; k < most_tasks; k++)
        assert_int_equal(atomic_load(&tally.times[k]), k < tasks);
    assert_true(atomic_load(&tally.most_at_once) <= threads);
}

static void test_each_task_is_done_once(void **state)
{
    (void)state;
    static const int32_t sizes[] = {1, 2, 3, 16};
    static const int64_t tasks[] = {0, 1, 2, 15, 17, most_tasks};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        kith_context *context = context_of(sizes[s]);
        for (int turn = 0; turn < 50; turn++)
            for (size_t t = 0; t < sizeof tasks / sizeof tasks[0]; t++)
                assert_each_once(context, sizes[s], tasks[t], turn % 3);
        kith_context_free(context);
    }
}

static int processors(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

/* Long enough pauses for the threads to fall asleep between jobs. Where others keep the processors
 * busy it may take them a while to come. */
static void test_sleeping_threads_are_woken(void **state)
{
    (void)state;
    enum { most_turns = 5000 };
    kith_context *context = context_of(4);
    int joined = 0;
    assert_each_once(context, 4, 200, 1); /* starts them */
    for (int turn = 0; turn < most_turns && joined < 5 && processors() > 1; turn++) {
        struct tally tally = {.yields = 100};
        usleep(1000);
        assert_ok(kith_for_each(context, 4, 200, count, &tally));
        joined += atomic_load(&tally.most_at_once) > 1;
    }
    kith_context_free(context);
    assert_true(joined > 0 || processors() == 1);
}

static void test_fewer_threads_than_there_are_may_be_asked_for(void **state)
{
    (void)state;
    kith_context *context = context_of(8);
    assert_each_once(context, 8, 100, 3);
    for (int turn = 0; turn < 100; turn++)
        assert_each_once(context, 2, 100, 3);
    kith_context_free(context);
}

static void *use_a_context_of_its_own(void *argument)
{
    kith_context *context = context_of(3);
    for (int turn = 0; turn < 200; turn++) {
        struct tally tally = {.yields = turn % 2};
        if (kith_for_each(context, 3, 20, count, &tally) != KITH_OK)
            *(bool *)argument = false;
        for (int64_t k = 0; k < 20; k++)
            if (atomic_load(&tally.times[k]) != 1)
                *(bool *)argument = false;
    }
    kith_context_free(context);
    return NULL;
}

static void test_contexts_do_not_know_of_each_other(void **state)
{
    (void)state;
    pthread_t threads[4];
    bool good[4] = {true, true, true, true};
    for (int k = 0; k < 4; k++)
        assert_int_equal(pthread_create(&threads[k], NULL, use_a_context_of_its_own, &good[k]), 0);
    for (int k = 0; k < 4; k++) {
        pthread_join(threads[k], NULL);
        assert_true(good[k]);
    }
}

static void test_work_too_short_to_share_stays_with_the_caller(void **state)
{
    (void)state;
    kith_context *context = context_of(16);
    assert_int_equal(kith_threads_for(context, 0), 1);
    for (int turn = 0; turn < 10000; turn++)
        assert_int_equal(kith_threads_for(context, 1e-6), 1);
    assert_int_equal(kith_threads_for(context, 1), 16);
    kith_context_free(context);
}

/* As the waking is paid by the work before it, one in several short jobs may wake somebody. */
static void test_short_jobs_in_a_row_wake_others_now_and_then(void **state)
{
    (void)state;
    enum { turns = 1000 };
    kith_context *context = context_of(2);
    int shared = 0;
    for (int turn = 0; turn < turns; turn++) {
        const int32_t threads = kith_threads_for(context, 50e-6);
        struct tally tally = {.yields = 0};
        assert_ok(kith_for_each(context, threads, 10, count, &tally));
        shared += threads > 1;
    }
    kith_context_free(context);
    assert_true(shared > 5);
}

/* Tasks that sleep, and once in a job one of another thread's is interrupted for a long time. */
struct interruption {
    pthread_t caller;
    atomic_bool is_due;
};

enum { usual_task = 200, interrupted_task = 5000 }; /* microseconds */

static void be_interrupted(void *argument, int64_t k)
{
    struct interruption *interruption = argument;
    (void)k;
    const bool is_interrupted = !pthread_equal(pthread_self(), interruption->caller) &&
                                atomic_exchange(&interruption->is_due, false);
    usleep(is_interrupted ? interrupted_task : usual_task);
}

/* Of some jobs, with an interruption now and then, those in which others may take part. */
static int jobs_shared(int jobs, int between)
{
    enum { tasks = 10 };
    kith_context *context = context_of(2);
    struct interruption interruption = {.caller = pthread_self()};
    int shared = 0;
    for (int job = 1; job <= jobs; job++) {
        const int32_t threads = kith_threads_for(context, 1e-6 * usual_task * tasks);
        if (job % between == 0)
            atomic_store(&interruption.is_due, true);
        assert_ok(kith_for_each(context, threads, tasks, be_interrupted, &interruption));
        shared += threads > 1;
    }
    kith_context_free(context);
    return shared;
}

/* One that costs less than what the others have saved before does not keep them out: the caller
 * alone would be interrupted, too. Where other programs keep the processors busy there are more. */
static void test_an_interruption_now_and_then_keeps_nobody_out(void **state)
{
    (void)state;
    enum { jobs = 200, between = 20, most_turns = 10 };
    int shared = 0;
    for (int turn = 0; turn < most_turns && shared < jobs * 3 / 4; turn++)
        shared = jobs_shared(jobs, between);
    assert_true(shared >= jobs * 3 / 4);
}

/* A forked process has the context, but none of its threads. */
static void test_a_child_process_works_alone(void **state)
{
    (void)state;
    kith_context *context = context_of(4);
    assert_each_once(context, 4, 100, 1);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct tally tally = {.yields = 0};
        bool good = kith_for_each(context, 4, 100, count, &tally) == KITH_OK &&
                    atomic_load(&tally.most_at_once) == 1;
        for (int64_t k = 0; k < 100; k++)
            good = good && atomic_load(&tally.times[k]) == 1;
        kith_context_free(context);
        _exit(good ? 0 : 1);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    kith_context_free(context);
}

static void test_tasks_that_must_be_whole_are_done_although_the_call_is_cancelled(void **state)
{
    (void)state;
    static struct tally tally;
    for (int32_t threads = 1; threads <= 3; threads++) {
        kith_context *context = context_of(threads);
        memset(&tally, 0, sizeof tally);
        atomic_store(&context->cancelled, true);
        kith_for_each_whole(context, threads, most_tasks, count, &tally);
        for (int64_t k = 0; k < most_tasks; k++)
            assert_int_equal(atomic_load(&tally.times[k]), 1);
        assert_int_equal(kith_for_each(context, threads, most_tasks, count, &tally),
                         KITH_CANCELLED);
        kith_context_free(context);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_task_is_done_once),
        cmocka_unit_test(test_sleeping_threads_are_woken),
        cmocka_unit_test(test_fewer_threads_than_there_are_may_be_asked_for),
        cmocka_unit_test(test_contexts_do_not_know_of_each_other),
        cmocka_unit_test(test_work_too_short_to_share_stays_with_the_caller),
        cmocka_unit_test(test_short_jobs_in_a_row_wake_others_now_and_then),
        cmocka_unit_test(test_an_interruption_now_and_then_keeps_nobody_out),
        cmocka_unit_test(test_a_child_process_works_alone),
        cmocka_unit_test(test_tasks_that_must_be_whole_are_done_although_the_call_is_cancelled),
    };
    return cmocka_run_group_tests_name("team", tests, NULL, NULL);
}
