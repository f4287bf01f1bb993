/* Curves through the frames of few bodies: cubic Hermite interpolation by their velocities. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plot_tracks.h"

enum { finest = 16, most_points = 20000 };

static const double *velocity_at(const struct tracks *tracks, int64_t frame, int64_t body)
{
    return tracks->velocity + 3 * (frame * tracks->bodies + body);
}

/* The angle by which a velocity turns from a frame to the next. */
static double turn(const struct tracks *tracks, int64_t frame, int64_t body)
{
    const double *v = velocity_at(tracks, frame, body), *w = velocity_at(tracks, frame + 1, body);
    const double product = sqrt(along(v, v) * along(w, w));
    return product > 0 ? acos(fmax(-1, fmin(along(v, w) / product, 1))) : 0;
}

/* Whether a cubic through two frames is about the path between them. On a circle it is if they are
 * less than a third of it apart; the second condition excludes full circles. */
static bool is_resolved(const struct tracks *tracks, int64_t frame, int64_t body)
{
    const double *x = tracks_at(tracks, frame, body), *y = tracks_at(tracks, frame + 1, body);
    const double *v = velocity_at(tracks, frame, body), *w = velocity_at(tracks, frame + 1, body);
    const double h = tracks->time[frame + 1] - tracks->time[frame];
    const double most = 0.35 * 0.5 * fabs(h) * (sqrt(along(v, v)) + sqrt(along(w, w)));
    double off[3];
    for (int k = 0; k < 3; k++)
        off[k] = y[k] - x[k] - 0.5 * h * (v[k] + w[k]);
    return turn(tracks, frame, body) <= 2 * M_PI / 3 && sqrt(along(off, off)) <= most;
}

/* A tenth of the intervals may be unresolved, as pericenters of an eccentric orbit are: a curve
 * through them is near the path all the same. */
void tracks_find_coarse(struct tracks *tracks)
{
    for (int64_t i = 0; i < tracks->bodies; i++) {
        int64_t unresolved = 0;
        for (int64_t k = 0; k + 1 < tracks->frames; k++)
            unresolved += !is_resolved(tracks, k, i);
        tracks->coarse[i] = 10 * unresolved > tracks->frames - 1;
    }
}

/* Into how many parts to divide each interval, so that most turn by 4 degrees at most. */
static int64_t parts_of(const struct tracks *tracks)
{
    double sharpest = 0;
    for (int64_t i = 0; i < tracks->bodies; i++)
        for (int64_t k = 0; !tracks->coarse[i] && k + 1 < tracks->frames; k++)
            sharpest = fmax(sharpest, turn(tracks, k, i));
    const int64_t wanted = (int64_t)ceil(sharpest * 180 / M_PI / 4);
    const int64_t possible = most_points / tracks->frames;
    const int64_t parts = wanted < finest ? wanted : finest;
    return parts < possible ? parts : possible;
}

/* The cubic with positions x, y and velocities v, w at the ends of an interval h, at a part of it;
 * of a coarse body, its frame. */
static void place(const struct tracks *tracks, int64_t frame, double part, int64_t body,
                  double *position)
{
    const double *x = tracks_at(tracks, frame, body);
    if (part == 0 || tracks->coarse[body]) {
        memcpy(position, x, 3 * sizeof *x);
        return;
    }
    const double *y = tracks_at(tracks, frame + 1, body);
    const double *v = velocity_at(tracks, frame, body), *w = velocity_at(tracks, frame + 1, body);
    const double h = tracks->time[frame + 1] - tracks->time[frame];
    const double s = part, t = 1 - part;
    for (int k = 0; k < 3; k++)
        position[k] = t * t * (1 + 2 * s) * x[k] + s * s * (1 + 2 * t) * y[k] +
                      h * s * t * (t * v[k] - s * w[k]);
}

bool tracks_curve(const struct plot *plot, struct tracks *tracks)
{
    const int64_t parts = parts_of(tracks);
    if (parts < 2)
        return true;
    const int64_t frames = (tracks->frames - 1) * parts + 1;
    double *position = plot_allocate(plot, frames * tracks->bodies, 3 * sizeof *position);
    double *time = plot_allocate(plot, frames, sizeof *time);
    if (!position || !time) {
        free(position);
        free(time);
        return false;
    }
    for (int64_t k = 0; k < frames; k++) {
        const int64_t frame = k / parts;
        const double part = (double)(k % parts) / (double)parts;
        time[k] = tracks->time[frame];
        if (part > 0)
            time[k] += part * (tracks->time[frame + 1] - tracks->time[frame]);
        for (int64_t i = 0; i < tracks->bodies; i++)
            place(tracks, frame, part, i, position + 3 * (k * tracks->bodies + i));
    }
    free(tracks->position);
    free(tracks->time);
    tracks->position = position;
    tracks->time = time;
    tracks->frames = frames;
    return true;
}
