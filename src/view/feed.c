#include "view/feed.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "core/clock.h"

/* Requests for steps that arrive faster than steps are taken are dropped. */
static const int64_t most_steps_wanted = 16;

kith_status feed_begin(struct feed *feed)
{
    pthread_condattr_t attributes;
    memset(feed, 0, sizeof *feed);
    bool made = pthread_condattr_init(&attributes) == 0;
    if (made) {
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
        made = pthread_cond_init(&feed->changed, &attributes) == 0;
        pthread_condattr_destroy(&attributes);
    }
    if (!made)
        return kith_fail(KITH_OUT_OF_MEMORY, "out of memory: a condition variable");
    pthread_mutex_init(&feed->lock, NULL); /* never fails with these attributes */
    return KITH_OK;
}

void feed_end(struct feed *feed)
{
    packet_release(feed->latest);
    pthread_mutex_destroy(&feed->lock);
    pthread_cond_destroy(&feed->changed);
}

void feed_publish(struct feed *feed, struct packet *packet)
{
    pthread_mutex_lock(&feed->lock);
    struct packet *before = feed->latest;
    feed->latest = packet;
    atomic_store(&feed->is_wanted, false);
    pthread_mutex_unlock(&feed->lock);
    packet_release(before);
}

void feed_add_energy(struct feed *feed, double time, double error)
{
    pthread_mutex_lock(&feed->lock);
    if (feed->energies == feed_most_energies) {
        feed->energies /= 2;
        for (int64_t k = 0; k < feed->energies; k++)
            feed->energy[k] = feed->energy[2 * k];
    }
    feed->energy[feed->energies++] = (struct feed_energy){time, error};
    pthread_mutex_unlock(&feed->lock);
}

bool feed_takes_step(struct feed *feed)
{
    pthread_mutex_lock(&feed->lock);
    const bool takes = feed->steps_wanted > 0;
    feed->steps_wanted -= takes;
    pthread_mutex_unlock(&feed->lock);
    return takes;
}

void feed_wait(struct feed *feed, double until)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const double wait = fmax(0, fmin(until - kith_clock(), 1));
    const long long nanoseconds = now.tv_nsec + (long long)(wait * 1e9);
    const struct timespec end = {now.tv_sec + nanoseconds / 1000000000, nanoseconds % 1000000000};
    pthread_mutex_lock(&feed->lock);
    if (feed->steps_wanted == 0)
        pthread_cond_timedwait(&feed->changed, &feed->lock, &end);
    pthread_mutex_unlock(&feed->lock);
}

struct packet *feed_take(struct feed *feed, double after)
{
    pthread_mutex_lock(&feed->lock);
    struct packet *packet = feed->latest;
    feed->asked_at = kith_clock();
    atomic_store(&feed->is_wanted, true);
    if (packet && packet->content->sequence > after) {
        packet_hold(packet);
        feed->fetched = packet->content->sequence;
    } else {
        packet = NULL;
        pthread_cond_signal(&feed->changed);
    }
    pthread_mutex_unlock(&feed->lock);
    return packet;
}

static void change(struct feed *feed, bool is_paused, int64_t steps)
{
    pthread_mutex_lock(&feed->lock);
    atomic_store(&feed->is_paused, is_paused);
    feed->steps_wanted = steps < most_steps_wanted ? steps : most_steps_wanted;
    pthread_cond_signal(&feed->changed);
    pthread_mutex_unlock(&feed->lock);
}

void feed_pause(struct feed *feed)
{
    change(feed, true, 0);
}

void feed_continue(struct feed *feed)
{
    change(feed, false, 0);
}

void feed_step(struct feed *feed)
{
    pthread_mutex_lock(&feed->lock);
    const int64_t wanted = feed->steps_wanted;
    pthread_mutex_unlock(&feed->lock);
    change(feed, true, wanted + 1);
}

int64_t feed_copy_energies(struct feed *feed, struct feed_energy energy[feed_most_energies])
{
    pthread_mutex_lock(&feed->lock);
    const int64_t count = feed->energies;
    memcpy(energy, feed->energy, (size_t)count * sizeof *energy);
    pthread_mutex_unlock(&feed->lock);
    return count;
}
