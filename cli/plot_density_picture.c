/* The surface density of many bodies, as a picture of light. */

#include <math.h>

#include "plot_cell.h"
#include "plot_projection.h"
#include "png_file.h"

/* The size in pixels: as requested, or by the extent of the bodies. */
static void choose_size(const struct plot *plot, struct window *window)
{
    const double wide = window->spans[0].high - window->spans[0].low;
    const double high = window->spans[1].high - window->spans[1].low;
    const double shape = wide > 0 ? fmin(fmax(high / wide, 0.5), 1) : 1;
    window->width = plot->width ? plot->width : plot->kind->width;
    window->height = plot->height ? plot->height : (int)fmax(shape * window->width, 160);
}

static int paint(struct projection *projection, const kith_bodies *bodies, struct raster *raster,
                 FILE *picture)
{
    const struct plot *plot = projection->plot;
    struct window *window = &projection->window;
    struct splat splat;
    struct splatter *splatter = splat_begin(window->width, window->height);
    bool done = splatter && raster_create(window->width, window->height, raster);
    if (!done)
        cli_fail_with(plot->command, "out of memory: %d × %d pixels; give a smaller --width",
                      window->width, window->height);
    if (done) {
        splat_bodies(splatter, window, bodies, &splat);
        done = projection_choose_tone(projection, &splat, &projection->tone);
    }
    if (done)
        projection_paint(projection, &splat, bodies->time != 0 ? bodies->time : NAN, raster);
    splat_end(splatter);
    return done && png_file_write(plot->command, raster, picture) ? exit_ok : exit_failed;
}

static int draw(const struct plot *plot, const kith_bodies *bodies, FILE *picture)
{
    struct projection projection = {.plot = plot, .units = bodies->units};
    struct window *window = &projection.window;
    struct raster raster = {0};
    if (bodies->count == 0)
        return cli_fail_with(plot->command, "%s has no bodies to draw", plot->input);
    window->plane = projection_plane(plot);
    if (!projection_span(plot, bodies, window->plane, window->spans))
        return exit_failed;
    choose_size(plot, window);
    projection_fit(window);
    const int code = paint(&projection, bodies, &raster, picture);
    raster_free(&raster);
    return code;
}

int plot_draw_density(const struct plot *plot, kith_trajectory *trajectory, FILE *picture)
{
    (void)trajectory;
    const kith_read_options read = {.format = plot->input_format,
                                    .frame =
                                        plot->frames > 0 ? plot->first_frame + plot->frames : 0,
                                    .system = plot->system,
                                    .system_given = plot->system_given,
                                    .without_velocities = true};
    kith_bodies *bodies = NULL;
    if (!png_file_possible(plot->command))
        return exit_failed;
    if (kith_bodies_read(plot->input, &read, &bodies) != KITH_OK)
        return cli_fail(plot->command);
    const int code = plot_wrap(plot, bodies) ? draw(plot, bodies, picture) : exit_failed;
    kith_bodies_free(bodies);
    return code;
}
