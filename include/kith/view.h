#ifndef KITH_VIEW_H
#define KITH_VIEW_H

#include <stdio.h>

#include "kith/simulation.h"
#include "kith/status.h"
#include "kith/trajectory.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A simulation or a trajectory in a browser: a server for HTTP on 127.0.0.1, in a thread of its
 * own, with a page that draws the bodies by WebGL 2.
 *
 * The address has a random token of 128 bits; requests without it, for another host or from the
 * pages of other sites are refused. The page can pause and continue a simulation and take a single
 * step, and changes nothing else. */
typedef struct kith_view kith_view;

typedef struct kith_view_options {
    int32_t port;            /* 0: any that is free */
    const char *title;       /* for people: a file's name; NULL: none */
    double until;            /* time at which the simulation ends, if it is after the bodies' */
    double steps_per_second; /* at most, so that one can watch; 0: no limit */
} kith_view_options;

/* Serves a simulation.
 *
 *   options  NULL for the defaults
 *   bodies   as the simulation has them at the start: count, dimensions, masses and other columns,
 *            names, cell and units are copied
 *   view     [out] owned by the caller, close with kith_view_close; NULL on failure
 *
 * States are copied when a page asks, and then between two steps, in kith_view_between_steps. A
 * page is sent at most 2·10⁶ bodies, evenly spaced in the order of the file.
 *
 * Errors: KITH_INVALID_ARGUMENT, KITH_IO_ERROR (the port is taken), KITH_UNSUPPORTED (this build
 *         has no libmicrohttpd), KITH_OUT_OF_MEMORY. */
KITH_API kith_status kith_view_open(const kith_view_options *options, const kith_bodies *bodies,
                                    kith_view **view);

/* Serves the frames of a trajectory, which the view alone uses until it is closed. */
KITH_API kith_status kith_view_open_trajectory(const kith_view_options *options,
                                               kith_trajectory *trajectory, kith_view **view);

/* "http://127.0.0.1:PORT/TOKEN/"; owned by the view. */
KITH_API const char *kith_view_address(const kith_view *view);

/* Called between two steps of the simulation, in the thread that steps: takes a snapshot if a page
 * has requested one, waits while the page pauses the simulation, and for options->steps_per_second.
 * It has the type of kith_run_options.between_steps.
 *
 *   view        a kith_view *, of kith_view_open
 *   simulation  with as many bodies and dimensions
 *
 * Returns how many steps may be taken before the next call; 0: any number.
 *
 * Cost: at the first call an evaluation of all forces, for the energy; without a page, or before
 *       the next snapshot is due, none. Snapshots take at most a hundredth of the time, energies
 *       at most a three-hundredth. It never waits for a page to read. A wait ends when the
 *       simulation's context is cancelled. */
KITH_API int64_t kith_view_between_steps(void *view, kith_simulation *simulation);

/* Shows the last state for as long as a page takes to fetch it, half a second at most, and stops
 * the server. NULL is fine. */
KITH_API void kith_view_close(kith_view *view);

typedef struct kith_scene_options {
    const char *title;           /* for people; NULL: none */
    int64_t first_frame, frames; /* of the trajectory; frames 0: all from the first */
    int64_t most_bytes;          /* of the scene; 0: 20 000 000 */
} kith_scene_options;

/* What a scene has of a trajectory. */
typedef struct kith_scene_summary {
    int64_t bodies, shown; /* thinned evenly if they do not fit into most_bytes */
    int64_t frames;
    int64_t bytes;
    int32_t bits; /* of each coordinate */
} kith_scene_summary;

/* Writes a scene: the page of the view as one HTML file with the frames in it, which loads nothing
 * from elsewhere.
 *
 * Coordinates are whole numbers of 16 bits, of 13 or 11 if the scene would be too large, and then
 * bodies are left out; what remains of an extrapolation from the two frames before is compressed by
 * deflate. Bodies far from most others (beyond 1.5 times the distance that 99.5 % are within, of
 * more than 1000) are left out of a frame.
 *
 *   options  NULL for the defaults
 *   summary  [out] or NULL
 *
 * Errors: KITH_INVALID_ARGUMENT (no such frames), KITH_UNSUPPORTED (this build has no zlib),
 *         KITH_OUT_OF_MEMORY, KITH_IO_ERROR, KITH_BAD_FORMAT.
 * Cost:   reads the frames two to four times; 7 bytes a body shown and frame, and the scene. */
KITH_API kith_status kith_view_write_scene(const kith_scene_options *options,
                                           kith_trajectory *trajectory, FILE *stream,
                                           kith_scene_summary *summary);

#ifdef __cplusplus
}
#endif

#endif
