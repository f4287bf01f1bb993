#ifndef VIEW_VIEW_H
#define VIEW_VIEW_H

#include "kith/view.h"
#include "view/about.h"
#include "view/feed.h"
#include "view/request.h"

/* Packets that are alive at a time, at pages that read slowly too: the last, the next and some
 * in flight. */
enum { view_most_packets = 6 };

/* When what is due, of a simulation; of the thread that steps alone. */
struct view_pace {
    double frame_at;               /* the next snapshot, not before; kith_clock */
    double waited;                 /* seconds, because the page or the frame rate wanted it */
    double snapshot_at, energy_at; /* likewise, of the clock of what the run has spent */
    double first_energy, energy, energy_time;
    double sequence;
    int64_t shown_step; /* of the last snapshot */
    bool shown_paused;
    double until;            /* the end of the simulation, or infinity */
    double steps_per_second; /* at most; 0: no limit */
    double start;            /* of steps that are to take their time */
    int64_t start_steps;
};

struct kith_view {
    struct request_gate gate;
    struct server *server;
    char *address;
    struct about about;
    struct feed feed;
    struct view_pace pace;
    kith_bodies *bodies;         /* the state, or a frame of the trajectory */
    kith_trajectory *trajectory; /* NULL of a simulation; used by the server's thread alone */
    double first_energy;         /* of the trajectory */
    double left;                 /* bodies in the last packet; with it change about's columns */
};

/* For the server. A packet, held, newer than a sequence number, of a trajectory the frame of that
 * number. NULL, and KITH_OK: the packet does not exist yet, or too many are in flight. */
kith_status view_frame(struct kith_view *view, double number, struct packet **packet);

/* A column as it is now, which is freed with free(); *values is NULL if the column does not
 * exist. */
kith_status view_column(struct kith_view *view, const char *name, float **values);

/* To be called with each packet made of view->bodies: the columns follow mergers. */
void view_note_left(struct kith_view *view, const struct packet *packet);

/* Times and relative errors of the energy, which go with free. */
kith_status view_energies(struct kith_view *view, int64_t *count, struct feed_energy **energies);

#endif
