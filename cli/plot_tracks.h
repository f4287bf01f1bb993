#ifndef CLI_PLOT_TRACKS_H
#define CLI_PLOT_TRACKS_H

#include "plot.h"

/* A run with at most this many bodies is drawn as paths with a legend, a larger one as points. */
enum { plot_few_bodies = 24 };

struct span {
    double low, high;
};

/* What a picture shows across and up of a position: its products with two directions. */
struct plane {
    double across[3], up[3];
};

static inline double along(const double direction[3], const double position[3])
{
    return direction[0] * position[0] + direction[1] * position[1] + direction[2] * position[2];
}

/* Positions of some bodies in some frames of a run, evenly chosen, the first and last frame among
 * them. */
struct tracks {
    int64_t bodies, frames;
    int64_t bodies_in_file, sampled_frames; /* frames of the file among the tracks' */
    int32_t dimensions;
    double *position; /* frames × bodies × 3; z = 0 in two dimensions */
    double *time;     /* frames */
    double *velocity; /* sampled_frames × bodies × 3, if there are curves; or NULL */
    bool *coarse;     /* bodies: see tracks_are_coarse */
    kith_name length_unit, time_unit; /* or "" */
    kith_name *label;                 /* bodies: the file's names, else numbers */
};

/* How much to read at most. */
struct tracks_limits {
    int64_t bodies;
    int64_t frames;     /* if there are many bodies; if only 1, the last */
    int64_t few_frames; /* if there are few */
};

/* Reads tracks, freed with tracks_free; on failure prints the reason and returns exit_failed. */
int tracks_read(const struct plot *plot, kith_trajectory *trajectory, struct tracks_limits limits,
                struct tracks *tracks);

/* Those that a still picture shows. */
int tracks_read_still(const struct plot *plot, kith_trajectory *trajectory, struct tracks *tracks);
void tracks_free(struct tracks *tracks);

static inline bool tracks_are_few(const struct tracks *tracks)
{
    return tracks->bodies_in_file <= plot_few_bodies;
}

static inline const double *tracks_at(const struct tracks *tracks, int64_t frame, int64_t body)
{
    return tracks->position + 3 * (frame * tracks->bodies + body);
}

/* True if the frames of one of few bodies follow each other too far apart for its path to be known.
 *
 * With velocities in the file, tracks are cubic Hermite curves through the frames; a body is coarse
 * if more than a tenth of its frames are farther apart than a third of a circle. Without, they are
 * straight lines; a body is coarse if its line turns by more than 40 degrees at least at every
 * other frame (a circle with less than 9). */
static inline bool tracks_are_coarse(const struct tracks *tracks, int64_t body)
{
    return tracks->coarse[body];
}

/* Finds which bodies are coarse, by their velocities. */
void tracks_find_coarse(struct tracks *tracks);

/* Puts points of the curves between the frames of those that are not; of the others, their frames
 * again. On failure prints the reason and returns false. */
bool tracks_curve(const struct plot *plot, struct tracks *tracks);

/* How far the positions reach along a direction, and a little further. Few bodies are all within;
 * of many, all but the outermost in fifty on either side (of many frames, in a hundred), so that a
 * few escaping bodies do not reduce the others to a dot. */
bool tracks_span(const struct plot *plot, const struct tracks *tracks, const double direction[3],
                 struct span *span);

/* The density of bodies around each one in a frame, seen in a plane, from 0 to 1: the
 * logarithm of their number in the neighboring cells of a grid over the spans. The scale does not
 * depend on the frame. */
bool tracks_density(const struct plot *plot, const struct tracks *tracks, int64_t frame,
                    const struct plane *plane, const struct span spans[2], double *density);

#endif
