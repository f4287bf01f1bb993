#ifndef VIEW_FEED_H
#define VIEW_FEED_H

#include <pthread.h>

#include "view/packet.h"

/* The data shared by the thread of the run and that of the server: the last snapshot, the energies,
 * and what a page has requested. Neither waits for the other longer than it takes to copy a
 * pointer. */

enum { feed_most_energies = 1024 };

/* Relative errors of the energy; NaN where none was computed. */
struct feed_energy {
    double time, error;
};

struct feed {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* by a page; timed by CLOCK_MONOTONIC */
    struct packet *latest;  /* NULL before the first */
    atomic_int packets;     /* alive, at pages too */
    atomic_bool is_wanted;  /* a page waits for a newer snapshot */
    atomic_bool is_paused;
    int64_t steps_wanted;           /* single ones, while paused */
    double asked_at;                /* kith_clock of the last request for a frame; 0: none yet */
    double fetched;                 /* sequence of the last packet handed out */
    _Atomic double serving_seconds; /* processor time of the server for the last packet */
    int64_t energies;
    struct feed_energy energy[feed_most_energies];
};

kith_status feed_begin(struct feed *feed);
void feed_end(struct feed *feed);

/* By the run. Publishes a snapshot, which the feed then holds. */
void feed_publish(struct feed *feed, struct packet *packet);

/* Of this many energies that they do not fit, every other is dropped. */
void feed_add_energy(struct feed *feed, double time, double error);

/* Takes a single step that is requested. */
bool feed_takes_step(struct feed *feed);

/* Waits until a page changes something or the time of kith_clock has come. */
void feed_wait(struct feed *feed, double until);

/* By the server. A packet, held, that is newer than a sequence number; NULL before the first,
 * and the next is then requested. */
struct packet *feed_take(struct feed *feed, double after);

void feed_pause(struct feed *feed);
void feed_continue(struct feed *feed);
void feed_step(struct feed *feed); /* one step, then a pause */

/* Copies the energies; returns how many. */
int64_t feed_copy_energies(struct feed *feed, struct feed_energy energy[feed_most_energies]);

#endif
