#include "device/threads.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/float_environment.h"
#include "device/context.h"

/* A thread that has nothing to do stays awake for a while, because the next job of a simulation
 * comes soon. */
static const double seconds_awake = 100e-6;
enum { looks_between_clocks = 64 };

/* The cost of other threads to the caller: of sharing a job with an awake one, of waking a sleeping
 * one (2 µs, more than 20 µs on a virtual machine: the team measures it), to wait for one that was
 * interrupted for longer than the others save. It must not be more than a twentieth of the work;
 * until the work has paid for what was spent, the caller goes on alone. */
static const double most_of_work = 1.0 / 20;
static const double seconds_to_share = 0.5e-6, first_seconds_to_wake = 20e-6;

/* The time that others have saved lately pays for waiting for one that was interrupted, which would
 * happen to the caller alone, too. At most this much counts. */
static const double most_gained = 20e-3;

/* And at most this much is to be paid for: a job that was stopped as a whole (Ctrl-Z, a suspended
 * batch job) has waited for as long. */
static const double most_owed = 20e-3;

/* The time saved for wake-ups while no other thread is needed. */
static const double most_saved = 100e-6;

/* The job that is open. Its fields are written while it is closed and no thread is inside. */
struct job {
    const kith_context *context;
    kith_task *task;
    void *argument;
    int64_t count;
    uint64_t float_environment; /* the caller's */
    atomic_llong number;        /* 1, 2, … of the team's jobs */
    atomic_int processor;       /* the caller's */
    atomic_llong next;          /* task */
    atomic_int seats;           /* left for others than the caller */
    atomic_int inside;          /* others that read the job */
    atomic_bool open;
};

struct kith_team {
    struct job job;
    int32_t size, most;     /* threads in addition to the caller's: existing, at most */
    pid_t process;          /* that has them: a fork does not */
    double seconds_to_wake; /* one thread, as measured lately */
    double gained; /* seconds that others have saved lately, less those of waiting for them */
    double saved;  /* seconds that others may cost; negative: that they have cost too much */
    cpu_set_t processors; /* that the team may be on; empty if that is not known */
    atomic_bool ended;
    atomic_int sleepers;
    atomic_bool caller_sleeps;
    pthread_mutex_t mutex;
    pthread_cond_t wake, finished;
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

/* On a busy machine a thread may find itself on the very processor that the caller is on, and the
 * system does not always move it. Each would keep the other waiting: so it moves to another.
 * Returns false if all others are taken. */
static bool is_out_of_the_way(const struct kith_team *team)
{
    const int here = sched_getcpu();
    if (here < 0 || here != atomic_load(&team->job.processor))
        return true;
    cpu_set_t others = team->processors;
    CPU_CLR((size_t)here, &others);
    if (CPU_COUNT(&others) == 0 ||
        pthread_setaffinity_np(pthread_self(), sizeof others, &others) != 0)
        return false;
    pthread_setaffinity_np(pthread_self(), sizeof team->processors, &team->processors);
    return true;
}

/* Returns how many it took. */
static int64_t take_tasks(struct job *job)
{
    for (int64_t taken = 0;; taken++) {
        const int64_t k = atomic_fetch_add(&job->next, 1);
        if (k >= job->count || kith_context_stops(job->context))
            return taken;
        job->task(job->argument, k);
    }
}

/* inside goes down before caller_sleeps is read, and the caller reads inside after it has set that:
 * one of the two sees the other. */
static void leave_job(struct kith_team *team)
{
    if (atomic_fetch_sub(&team->job.inside, 1) > 1 || !atomic_load(&team->caller_sleeps))
        return;
    pthread_mutex_lock(&team->mutex);
    pthread_cond_signal(&team->finished);
    pthread_mutex_unlock(&team->mutex);
}

/* inside goes up before open is read, and the caller reads inside after it has closed the
 * job: one of the two sees the other. */
static void join_job(struct kith_team *team)
{
    struct job *job = &team->job;
    if (!is_out_of_the_way(team))
        return;
    atomic_fetch_add(&job->inside, 1);
    if (atomic_load(&job->open) && atomic_fetch_sub(&job->seats, 1) > 0) {
        float_environment_take_over(job->float_environment);
        (void)take_tasks(job);
    }
    leave_job(team);
}

/* There is a job, other than the one with this number, with a seat left, or the team ends. */
static bool is_called(struct kith_team *team, int64_t number)
{
    struct job *job = &team->job;
    return atomic_load(&team->ended) || (atomic_load(&job->open) && atomic_load(&job->seats) > 0 &&
                                         atomic_load(&job->number) != number);
}

static void sleep_until_called(struct kith_team *team, int64_t number)
{
    pthread_mutex_lock(&team->mutex);
    atomic_fetch_add(&team->sleepers, 1);
    while (!is_called(team, number))
        pthread_cond_wait(&team->wake, &team->mutex);
    atomic_fetch_sub(&team->sleepers, 1);
    pthread_mutex_unlock(&team->mutex);
}

static void wait_until_called(struct kith_team *team, int64_t number)
{
    const double until = kith_clock() + seconds_awake;
    while (kith_clock() < until && is_out_of_the_way(team))
        for (int k = 0; k < looks_between_clocks; k++) {
            if (is_called(team, number))
                return;
            relax();
        }
    sleep_until_called(team, number);
}

static void *work(void *argument)
{
    struct kith_team *team = argument;
    for (int64_t number = 0;;) {
        wait_until_called(team, number);
        if (atomic_load(&team->ended))
            return NULL;
        number = atomic_load(&team->job.number);
        join_job(team);
    }
}

/* At most this many of those that sleep. */
static void wake_sleepers(struct kith_team *team, int64_t wanted)
{
    const int64_t sleepers = atomic_load(&team->sleepers);
    const int64_t count = wanted < sleepers ? wanted : sleepers;
    if (count <= 0)
        return;
    const double start = kith_clock();
    pthread_mutex_lock(&team->mutex);
    for (int64_t k = 0; k < count; k++)
        pthread_cond_signal(&team->wake);
    pthread_mutex_unlock(&team->mutex);
    const double seconds = kith_clock() - start;
    team->seconds_to_wake += 0.25 * (seconds / (double)count - team->seconds_to_wake);
    team->saved -= seconds;
}

static void sleep_until_finished(struct kith_team *team)
{
    pthread_mutex_lock(&team->mutex);
    atomic_store(&team->caller_sleeps, true);
    while (atomic_load(&team->job.inside) > 0)
        pthread_cond_wait(&team->finished, &team->mutex);
    atomic_store(&team->caller_sleeps, false);
    pthread_mutex_unlock(&team->mutex);
}

/* For the others to finish what they have begun. One that was interrupted waits for a processor:
 * the caller then leaves it its own, which the system would not take away from it. */
static void wait_for_others(struct kith_team *team)
{
    const double until = kith_clock() + seconds_awake;
    while (kith_clock() < until)
        for (int k = 0; k < looks_between_clocks; k++) {
            if (atomic_load(&team->job.inside) == 0)
                return;
            relax();
        }
    sleep_until_finished(team);
}

/* Of a job, in which the others' tasks would have taken the caller `gained` seconds more. */
static void keep_account(struct kith_team *team, double gained, double waited)
{
    team->gained = fmin(team->gained + gained, most_gained) - waited;
    if (team->gained < 0) {
        team->saved = fmax(team->saved + team->gained, -most_owed);
        team->gained = 0;
    }
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
    team->seconds_to_wake = first_seconds_to_wake;
    if (sched_getaffinity(0, sizeof team->processors, &team->processors) != 0)
        CPU_ZERO(&team->processors);
    pthread_mutex_init(&team->mutex, NULL);
    pthread_cond_init(&team->wake, NULL);
    pthread_cond_init(&team->finished, NULL);
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
        pthread_cond_destroy(&team->finished);
    }
    free(team);
}

int32_t kith_threads_for(kith_context *context, double seconds)
{
    struct kith_team *team = context->team;
    const double earned = most_of_work * seconds, limit = most_saved * team->most;
    const double most = earned > limit ? earned : limit, saved = team->saved + earned;
    team->saved = saved < most ? saved : most;
    if (team->saved < -team->seconds_to_wake || earned < seconds_to_share)
        return 1;
    const int32_t awake = team->size - (int32_t)atomic_load(&team->sleepers);
    const double woken = fmax(0, floor(team->saved / team->seconds_to_wake));
    const double sharing = fmin(floor(earned / seconds_to_share), awake + woken);
    return sharing < team->most ? 1 + (int32_t)sharing : 1 + team->most;
}

kith_status kith_for_each(kith_context *context, int32_t threads, int64_t count, kith_task *task,
                          void *argument)
{
    struct kith_team *team = context->team;
    const int64_t others = (threads < count ? threads : count) - 1;
    if (others <= 0 || team->process != getpid()) {
        for (int64_t k = 0; k < count && !kith_context_stops(context); k++)
            task(argument, k);
        return kith_context_check_cancelled(context);
    }
    start_threads(team, (int32_t)others);

    const double start = kith_clock();
    struct job *job = &team->job;
    job->context = context;
    job->task = task;
    job->argument = argument;
    job->count = count;
    job->float_environment = float_environment_of_thread();
    atomic_fetch_add(&job->number, 1);
    atomic_store(&job->processor, sched_getcpu());
    atomic_store(&job->next, 0);
    atomic_store(&job->seats, (int)others);
    atomic_store(&job->open, true);
    wake_sleepers(team, others - (team->size - atomic_load(&team->sleepers)));
    const int64_t own = take_tasks(job);
    atomic_store(&job->open, false);
    const double alone = kith_clock();
    wait_for_others(team);
    keep_account(team, (alone - start) * (double)(count - own) / (double)(own > 0 ? own : 1),
                 kith_clock() - alone);
    return kith_context_check_cancelled(context);
}

void kith_for_each_whole(kith_context *context, int32_t threads, int64_t count, kith_task *task,
                         void *argument)
{
    const bool goes_on = context->goes_on;
    context->goes_on = true;
    (void)!kith_for_each(context, threads, count, task, argument); /* it cannot be cancelled */
    context->goes_on = goes_on;
}
