#include "core/team.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/context.h"

/* Measured: posting a job costs the caller 0.2 µs when the others are awake, 2 µs for each one that
 * sleeps. A thread that has nothing to do stays awake for a while, because the next job of a
 * simulation comes soon. */
static const double seconds_to_wake = 2e-6, seconds_awake = 50e-6;

/* The job that is open. Its fields are written while it is closed and nobody is inside. */
struct job {
    kith_task *task;
    void *argument;
    int64_t count;
    atomic_llong next; /* task */
    atomic_int seats;  /* left for others than the caller */
    atomic_int inside; /* others that look at the job */
    atomic_bool open;
};

struct kith_team {
    struct job job;
    int32_t size, most; /* threads besides the caller's: there are, there may be */
    pid_t process;      /* that has them: a fork has not */
    atomic_bool ended;
    atomic_int sleepers;
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    pthread_t threads[];
};

static void relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static void take_tasks(struct job *job)
{
    for (;;) {
        const int64_t k = atomic_fetch_add(&job->next, 1);
        if (k >= job->count)
            return;
        job->task(job->argument, k);
    }
}

/* inside goes up before open is looked at, and the caller looks at inside after it has closed the
 * job: one of the two sees the other. */
static void join_job(struct job *job)
{
    atomic_fetch_add(&job->inside, 1);
    if (atomic_load(&job->open) && atomic_fetch_sub(&job->seats, 1) > 0)
        take_tasks(job);
    atomic_fetch_sub(&job->inside, 1);
}

/* There is a job with a seat and tasks left, or the team ends. */
static bool is_called(struct kith_team *team)
{
    struct job *job = &team->job;
    return atomic_load(&team->ended) || (atomic_load(&job->open) && atomic_load(&job->seats) > 0);
}

static void sleep_until_called(struct kith_team *team)
{
    pthread_mutex_lock(&team->mutex);
    atomic_fetch_add(&team->sleepers, 1);
    while (!is_called(team))
        pthread_cond_wait(&team->wake, &team->mutex);
    atomic_fetch_sub(&team->sleepers, 1);
    pthread_mutex_unlock(&team->mutex);
}

static void wait_until_called(struct kith_team *team)
{
    enum { looks_between_clocks = 64 };
    const double until = kith_clock() + seconds_awake;
    while (kith_clock() < until)
        for (int k = 0; k < looks_between_clocks; k++) {
            if (is_called(team))
                return;
            relax();
        }
    sleep_until_called(team);
}

static void *work(void *argument)
{
    struct kith_team *team = argument;
    for (;;) {
        wait_until_called(team);
        if (atomic_load(&team->ended))
            return NULL;
        join_job(&team->job);
    }
}

/* At most so many of those that sleep. */
static void wake_sleepers(struct kith_team *team, int64_t wanted)
{
    const int64_t sleepers = atomic_load(&team->sleepers);
    if (sleepers == 0)
        return;
    pthread_mutex_lock(&team->mutex);
    for (int64_t k = 0; k < wanted && k < sleepers; k++)
        pthread_cond_signal(&team->wake);
    pthread_mutex_unlock(&team->mutex);
}

/* For the others to finish what they have begun; they may have been interrupted. */
static void wait_for_others(struct job *job)
{
    enum { looks_before_yielding = 1000 };
    for (int64_t k = 0; atomic_load(&job->inside) > 0; k++)
        if (k < looks_before_yielding)
            relax();
        else
            sched_yield();
}

/* Fewer if the system does not give that many. */
static void start_threads(struct kith_team *team, int32_t wanted)
{
    while (team->size < wanted && team->size < team->most) {
        if (pthread_create(&team->threads[team->size], NULL, work, team) != 0)
            return;
        team->size++;
    }
}

struct kith_team *kith_team_create(int32_t most_threads)
{
    const int32_t most = most_threads - 1;
    struct kith_team *team = calloc(1, sizeof *team + (size_t)most * sizeof team->threads[0]);
    if (!team)
        return NULL;
    team->most = most;
    team->process = getpid();
    pthread_mutex_init(&team->mutex, NULL);
    pthread_cond_init(&team->wake, NULL);
    return team;
}

void kith_team_free(struct kith_team *team)
{
    if (!team)
        return;
    if (team->process == getpid()) {
        atomic_store(&team->ended, true);
        wake_sleepers(team, team->size);
        for (int32_t k = 0; k < team->size; k++)
            pthread_join(team->threads[k], NULL);
        pthread_mutex_destroy(&team->mutex);
        pthread_cond_destroy(&team->wake);
    }
    free(team);
}

int32_t kith_threads_for(const kith_context *context, double seconds)
{
    const double most = 0.05 * seconds / seconds_to_wake;
    return most + 1 < context->threads ? (int32_t)most + 1 : context->threads;
}

void kith_for_each(kith_context *context, int32_t threads, int64_t count, kith_task *task,
                   void *argument)
{
    struct kith_team *team = context->team;
    const int64_t others = (threads < count ? threads : count) - 1;
    if (others <= 0 || team->process != getpid()) {
        for (int64_t k = 0; k < count; k++)
            task(argument, k);
        return;
    }
    start_threads(team, (int32_t)others);

    struct job *job = &team->job;
    job->task = task;
    job->argument = argument;
    job->count = count;
    atomic_store(&job->next, 0);
    atomic_store(&job->seats, (int)others);
    atomic_store(&job->open, true);
    wake_sleepers(team, others);
    take_tasks(job);
    atomic_store(&job->open, false);
    wait_for_others(job);
}
