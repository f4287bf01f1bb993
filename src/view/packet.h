#ifndef VIEW_PACKET_H
#define VIEW_PACKET_H

#include <stdatomic.h>
#include <stdbool.h>

#include "core/status.h"
#include "kith/bodies.h"
#include "view/place.h"

/* A page is sent at most this many bodies. */
enum { packet_most_bodies = 2000000 };

/* The encoding of a frame: a header, then numbers of single precision, all little-endian: three
 * coordinates of each body that is shown, then the speed of each: NaN once it has merged or
 * escaped, so that numbers of bodies and columns stay. */
struct packet_header {
    char magic[4]; /* "kith" */
    uint32_t version;
    uint32_t flags; /* packet_… */
    uint32_t count;
    double time;
    double step;         /* or the frame's number, from 0 */
    double sequence;     /* of snapshots; each next one has a larger number */
    double energy_time;  /* of the last energy computed */
    double energy_error; /* relative to the first, or NaN if it is not known */
    double total_energy;
    double left; /* bodies, shown or not, that have neither merged nor escaped */
};

enum { packet_paused = 1, packet_ended = 2 };

/* Shared by the run and by responses being sent to pages; freed with its last reference. */
struct packet {
    atomic_int holders;
    atomic_int *alive; /* one less when it goes */
    int64_t bytes;     /* of content */
    struct packet_header *content;
};

/* How many of the bodies are shown, and which: number k of them is packet_body(count, shown, k). */
static inline int64_t packet_shown(int64_t count)
{
    return count < packet_most_bodies ? count : packet_most_bodies;
}

static inline int64_t packet_body(int64_t count, int64_t shown, int64_t k)
{
    return shown == count ? k : (int64_t)((double)k * ((double)count / (double)shown));
}

/* How many have neither merged nor escaped. */
double packet_left(const kith_bodies *bodies);

/* Makes a packet, held once, of bodies: where they are shown, their speeds, their time.
 * The rest of the header is 0.
 *
 *   alive  a count of packets, which this one joins */
kith_status packet_make(const kith_bodies *bodies, const struct place *place, atomic_int *alive,
                        struct packet **packet);

/* The same content in memory of its own, held once. */
kith_status packet_copy(const struct packet *packet, struct packet **copy);

void packet_hold(struct packet *packet);
void packet_release(struct packet *packet); /* NULL is fine */

#endif
