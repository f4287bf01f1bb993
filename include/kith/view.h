#ifndef KITH_VIEW_H
#define KITH_VIEW_H

#include <stdio.h>

#include "kith/simulation.h"
#include "kith/status.h"
#include "kith/trajectory.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A simulation or a trajectory in a browser: an HTTP server on 127.0.0.1, in its own thread, with a
 * page that draws the bodies with WebGL 2.
 *
 * The address has a random token of 128 bits; requests without it, for another host or from the
 * pages of other sites are refused. The page can pause and continue a simulation and take a single
 * step, and changes nothing else. */
typedef struct kith_view kith_view;

typedef struct kith_view_options {
    int32_t port;            /* 0: any free port */
    const char *title;       /* title of the page, for example the file's name; NULL: none */
    double until;            /* time at which the simulation ends, if it is after the bodies' */
    double steps_per_second; /* maximum; 0: no limit */
} kith_view_options;

/* Serves a simulation.
 *
 *   options  NULL for the defaults
 *   bodies   the bodies at the start: count, dimensions, masses and other columns, names, cell and
 *            units are copied
 *   view     [out] owned by the caller, close with kith_view_close; NULL on failure
 *
 * The state is copied when a page requests it, between two steps, in kith_view_between_steps. A
 * page gets at most 2·10⁶ bodies, evenly spaced in the order of the file.
 *
 * Errors: KITH_INVALID_ARGUMENT, KITH_IO_ERROR (the port is taken), KITH_UNSUPPORTED (this build
 *         has no libmicrohttpd), KITH_OUT_OF_MEMORY. */
KITH_API kith_status kith_view_open(const kith_view_options *options, const kith_bodies *bodies,
                                    kith_view **view);

/* Serves the frames of a trajectory, which must not be used otherwise until the view is closed. */
KITH_API kith_status kith_view_open_trajectory(const kith_view_options *options,
                                               kith_trajectory *trajectory, kith_view **view);

/* "http://127.0.0.1:PORT/TOKEN/"; owned by the view. */
KITH_API const char *kith_view_address(const kith_view *view);

/* Called between two steps of the simulation, in the thread that steps: takes a snapshot if a page
 * has requested one, waits while the page pauses the simulation, and for options->steps_per_second.
 * It has the type of kith_run_options.between_steps.
 *
 *   view        a kith_view * from kith_view_open
 *   simulation  with the same number of bodies and dimensions
 *
 * Returns the maximum number of steps before the next call; 0: any number.
 *
 * Cost: at the first call an evaluation of all forces, for the energy; none without a page or
 *       before the next snapshot is due. Snapshots take at most 1 % of the time, energies at most
 *       0.3 %. It never waits for a page to read. A pause ends when the simulation's context is
 *       cancelled. */
KITH_API int64_t kith_view_between_steps(void *view, kith_simulation *simulation);

/* Waits until a page has fetched the last state, at most half a second, and stops the server. NULL
 * is fine. */
KITH_API void kith_view_close(kith_view *view);

typedef struct kith_scene_options {
    const char *title;           /* title of the page; NULL: none */
    int64_t first_frame, frames; /* of the trajectory; frames 0: all from the first */
    int64_t most_bytes;          /* of the scene; 0: 20 000 000 */
} kith_scene_options;

/* The content of a scene. */
typedef struct kith_scene_summary {
    int64_t bodies, shown; /* fewer, evenly spaced, if not all fit into most_bytes */
    int64_t frames;
    int64_t bytes;
    int32_t bits; /* of each coordinate */
} kith_scene_summary;

/* Writes a scene: the page of the view as one HTML file with the frames in it, which loads nothing
 * from elsewhere.
 *
 * Coordinates are integers of 16 bits, or of 13 or 11 if the scene would be too large; if it still
 * is, bodies are left out. Differences from an extrapolation of the two previous frames are
 * compressed by deflate. Bodies far from most others (beyond 1.5 times the distance that 99.5 % are
 * within, of more than 1000) are left out of a frame.
 *
 *   options  NULL for the defaults
 *   summary  [out] or NULL
 *
 * Errors: KITH_INVALID_ARGUMENT (the frames do not exist), KITH_UNSUPPORTED (this build has no
 *         zlib), KITH_OUT_OF_MEMORY, KITH_IO_ERROR, KITH_BAD_FORMAT.
 * Cost:   reads the frames two to four times; memory of 7 bytes per body shown and frame, and of
 *         the scene. */
KITH_API kith_status kith_view_write_scene(const kith_scene_options *options,
                                           kith_trajectory *trajectory, FILE *stream,
                                           kith_scene_summary *summary);

#ifdef __cplusplus
}
#endif

#endif
