/* The surface density of a run in motion, as a film. */

#include <math.h>

#include "ffmpeg.h"
#include "io/bodies.h"
#include "plot_cell.h"
#include "plot_projection.h"

enum { most_samples = 9, film_width = 1920, film_height = 1080 };

/* The state while a film is made: one frame of the run, one picture. */
struct film {
    struct projection projection;
    kith_trajectory *trajectory;
    kith_bodies *frame;  /* as it is read, with a row for each body of the start */
    kith_bodies *bodies; /* those of it that are left */
    struct splatter *splatter;
    struct raster raster;
    struct ffmpeg ffmpeg;
    int64_t pictures;
};

static bool read_frame(struct film *film, int64_t frame)
{
    const struct plot *plot = film->projection.plot;
    kith_bodies_free(film->bodies);
    film->bodies = NULL;
    if (kith_trajectory_read(film->trajectory, plot->first_frame + frame, &film->frame) !=
            KITH_OK ||
        bodies_copy(film->frame, &film->bodies) != KITH_OK ||
        bodies_drop_removed(film->bodies) != KITH_OK) {
        cli_fail(plot->command);
        return false;
    }
    if (!plot_wrap(plot, film->bodies))
        return false;
    if (film->bodies->count == 0)
        cli_fail_with(plot->command, "%s has no bodies to draw", plot->input);
    return film->bodies->count > 0;
}

/* Frames from which window and tone of all are chosen: the first, the last, and some. */
static int64_t samples_of(const struct plot *plot)
{
    return plot->frames < most_samples ? plot->frames : most_samples;
}

static int64_t frame_of_sample(const struct plot *plot, int64_t sample)
{
    const int64_t samples = samples_of(plot);
    return samples > 1 ? sample * (plot->frames - 1) / (samples - 1) : plot->frames - 1;
}

/* The bodies of all samples are in the window. */
static bool choose_window(struct film *film)
{
    const struct plot *plot = film->projection.plot;
    struct window *window = &film->projection.window;
    window->plane = projection_plane(plot);
    for (int64_t sample = 0; sample < samples_of(plot); sample++) {
        struct span spans[2];
        if (!read_frame(film, frame_of_sample(plot, sample)) ||
            !projection_span(plot, film->bodies, window->plane, spans))
            return false;
        for (int k = 0; k < 2; k++) {
            struct span *span = &window->spans[k];
            *span = sample == 0 ? spans[k]
                                : (struct span){fmin(span->low, spans[k].low),
                                                fmax(span->high, spans[k].high)};
        }
    }
    projection_fit(window);
    return true;
}

/* One tone for all pictures: the brightest white of the samples, and their mean dark. */
static bool choose_tone(struct film *film)
{
    const struct plot *plot = film->projection.plot;
    const int64_t samples = samples_of(plot);
    struct tone chosen = {0};
    for (int64_t sample = 0; sample < samples; sample++) {
        struct splat splat;
        struct tone tone;
        if (!read_frame(film, frame_of_sample(plot, sample)))
            return false;
        splat_bodies(film->splatter, &film->projection.window, film->bodies, &splat);
        if (!projection_choose_tone(&film->projection, &splat, &tone))
            return false;
        chosen.white = fmax(chosen.white, tone.white);
        chosen.dark += tone.dark / (double)samples;
    }
    film->projection.tone = chosen;
    return true;
}

static bool add_pictures(struct film *film)
{
    const int64_t frames = film->projection.plot->frames;
    int64_t painted = -1;
    for (int64_t picture = 0; picture < film->pictures; picture++) {
        const int64_t frame = picture * frames / film->pictures;
        if (frame != painted) {
            struct splat splat;
            if (!read_frame(film, frame))
                return false;
            splat_bodies(film->splatter, &film->projection.window, film->bodies, &splat);
            projection_paint(&film->projection, &splat, film->bodies->time, &film->raster);
            painted = frame;
        }
        if (!ffmpeg_add(&film->ffmpeg, &film->raster))
            return true; /* ffmpeg_end prints the reason */
    }
    return true;
}

/* Encoders take even sides only. */
static void choose_size(const struct plot *plot, struct window *window)
{
    const int width = plot->width    ? plot->width
                      : plot->height ? plot->height * film_width / film_height
                                     : film_width;
    const int height = plot->height ? plot->height : width * film_height / film_width;
    window->width = width / 2 * 2;
    window->height = height / 2 * 2;
}

static bool make_film(struct film *film, FILE *picture)
{
    const struct plot *plot = film->projection.plot;
    const struct window *window = &film->projection.window;
    if (!film->splatter || !film->raster.mask) {
        cli_fail_with(plot->command, "out of memory: %d × %d pixels; give a smaller --width",
                      window->width, window->height);
        return false;
    }
    if (!ffmpeg_begin(plot->command, plot->format->extension, window->width, window->height,
                      picture, &film->ffmpeg))
        return false;
    const bool done = choose_window(film) && choose_tone(film) && add_pictures(film);
    return ffmpeg_end(&film->ffmpeg, done);
}

int plot_draw_film(const struct plot *plot, kith_trajectory *trajectory, FILE *picture)
{
    struct film film = {.projection = {.plot = plot}, .trajectory = trajectory};
    struct window *window = &film.projection.window;
    kith_units *units = &film.projection.units;
    choose_size(plot, window);
    kith_trajectory_unit(trajectory, "length", units->length);
    kith_trajectory_unit(trajectory, "time", units->time);
    kith_trajectory_unit(trajectory, "mass", units->mass);
    film.pictures = plot->seconds > 0 ? (int64_t)ceil(plot->seconds * ffmpeg_pictures_per_second)
                                      : plot->frames;
    film.splatter = splat_begin(window->width, window->height);
    raster_create(window->width, window->height, &film.raster);
    const bool done = make_film(&film, picture);
    splat_end(film.splatter);
    raster_free(&film.raster);
    kith_bodies_free(film.frame);
    kith_bodies_free(film.bodies);
    return done ? exit_ok : exit_failed;
}
