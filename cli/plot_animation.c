/* The bodies in motion, as an animated GIF. */

#include <math.h>
#include <stdlib.h>

#include "gnuplot.h"
#include "plot_panel.h"
#include "plot_sphere.h"

enum {
    most_pictures = 150,
    samples_a_picture = 8, /* of a trail's path between two pictures */
    most_bodies = 10000,
    trail_pictures = 18,
    trail_shades = 8,
    round_mark = 7, /* gnuplot's */
};

/* What all pictures of an animation share. */
struct film {
    const struct plot *plot;
    const struct tracks *tracks;
    struct plane plane;
    struct span spans[2];
    struct unit unit;
    int64_t pictures;
    bool dotted; /* some paths are too coarse for lines */
    double em, length_per_em;
    double *density; /* room for a picture's */
};

/* The frame of the tracks that a picture shows: the first shows the first, the last the last. */
static int64_t frame_of(const struct film *film, int64_t picture)
{
    if (film->pictures < 2)
        return 0;
    return picture * (film->tracks->frames - 1) / (film->pictures - 1);
}

static void write_position(FILE *script, const struct film *film, int64_t frame, int64_t body)
{
    const double *position = tracks_at(film->tracks, frame, body);
    fprintf(script, "%.7g %.7g", along(film->plane.across, position) * film->unit.factor,
            along(film->plane.up, position) * film->unit.factor);
}

/* The past paths of the bodies, which fade with age. */
static void write_trails(FILE *script, const struct film *film, int64_t frame)
{
    const struct theme *theme = theme_of(film->plot);
    const int64_t length = frame_of(film, trail_pictures < film->pictures ? trail_pictures : 1);
    const int64_t first = frame > length ? frame - length : 0;
    for (int64_t i = 0; i < film->tracks->bodies; i++) {
        const unsigned color = theme_body(theme, i).color;
        for (int64_t k = first; k <= frame; k++) {
            const double age = length > 0 ? (double)(frame - k) / (double)length : 0;
            const double shade = floor(age * trail_shades) / trail_shades;
            write_position(script, film, k, i);
            fprintf(script, " %u\n", theme_mix(color, theme->background, shade));
        }
        fputc('\n', script);
    }
    fprintf(script, "e\n");
}

/* Where the bodies are: those with round marks as spheres, the nearest last. */
static void write_spheres(FILE *script, const struct film *film, int64_t frame)
{
    const struct tracks *tracks = film->tracks;
    const struct theme *theme = theme_of(film->plot);
    const struct sphere_style sphere = {0.62, film->length_per_em, theme->background, 7};
    int64_t order[plot_few_bodies];
    for (int64_t i = 0; i < tracks->bodies; i++) {
        int64_t k = i;
        for (; k > 0 && tracks_at(tracks, frame, order[k - 1])[2] > tracks_at(tracks, frame, i)[2];
             k--)
            order[k] = order[k - 1];
        order[k] = i;
    }
    for (int64_t k = 0; k < tracks->bodies; k++) {
        const struct body_style style = theme_body(theme, order[k]);
        const double *position = tracks_at(tracks, frame, order[k]);
        if (style.mark == round_mark)
            sphere_write(script, &sphere, along(film->plane.across, position) * film->unit.factor,
                         along(film->plane.up, position) * film->unit.factor, style.color);
    }
    fprintf(script, "e\n");
}

/* The other marks, and one that is nowhere, as there must be one. */
static void write_marks(FILE *script, const struct film *film, int64_t frame)
{
    for (int64_t i = 0; i < film->tracks->bodies; i++) {
        const struct body_style style = theme_body(theme_of(film->plot), i);
        if (style.mark == round_mark)
            continue;
        write_position(script, film, frame, i);
        fprintf(script, " %d %u\n", style.mark, style.color);
    }
    fprintf(script, "NaN NaN %d 0\ne\n", round_mark);
}

static void write_few(FILE *script, const struct film *film, int64_t frame)
{
    const struct theme *theme = theme_of(film->plot);
    const struct tracks *tracks = film->tracks;
    fprintf(
        script,
        "plot '-' using 1:2:3 with %s linecolor rgb variable notitle, "
        "'-' using 1:2:($3*em):4 with points pointtype 7 pointsize variable linecolor rgb variable "
        "notitle, "
        "'-' using 1:2:3:4 with points pointtype variable pointsize 0.5*em linecolor rgb variable "
        "notitle",
        film->dotted ? "points pointtype 7 pointsize 0.14*em" : "lines");
    for (int64_t i = 0; i < tracks->bodies; i++) {
        const struct body_style style = theme_body(theme, i);
        fprintf(script,
                ", NaN with points pointtype %d pointsize 0.5*em linecolor rgb '#%06x' title ",
                style.mark, style.color);
        gnuplot_write_text(script, tracks->label[i]);
    }
    fputc('\n', script);
    write_trails(script, film, frame);
    write_spheres(script, film, frame);
    write_marks(script, film, frame);
}

static bool write_many(FILE *script, const struct film *film, int64_t frame)
{
    const struct tracks *tracks = film->tracks;
    if (!tracks_density(film->plot, tracks, frame, &film->plane, film->spans, film->density))
        return false;
    const double dot = style_dot(tracks);
    fprintf(script, "plot '-' using 1:2:3 with ");
    if (dot * film->em > 1.5)
        fprintf(script, "points pointtype 7 pointsize %.3f*em", dot);
    else
        fprintf(script, "dots"); /* of one pixel */
    fprintf(script, " linecolor rgb variable notitle\n");
    for (int64_t i = 0; i < tracks->bodies; i++) {
        write_position(script, film, frame, i);
        fprintf(script, " %u\n", theme_density(theme_of(film->plot), film->density[i]));
    }
    fprintf(script, "e\n");
    return true;
}

/* Digits of the time that distinguish the pictures. */
static int time_decimals(const struct tracks *tracks, int64_t pictures)
{
    const double duration = fabs(tracks->time[tracks->frames - 1] - tracks->time[0]);
    return duration > 0 && pictures > 1 ? tic_decimals(duration / (double)(pictures - 1)) : 0;
}

static bool write_pictures(FILE *script, const struct film *film, struct canvas canvas,
                           struct box box)
{
    const struct tracks *tracks = film->tracks;
    const int decimals = time_decimals(tracks, film->pictures);
    bool done = true;
    for (int64_t picture = 0; done && picture < film->pictures; picture++) {
        const int64_t frame = frame_of(film, picture);
        char note[96];
        snprintf(note, sizeof note, decimals > 6 ? "t = %.*e%s%s" : "t = %.*f%s%s",
                 decimals > 6 ? 3 : decimals, tracks->time[frame], tracks->time_unit[0] ? " " : "",
                 tracks->time_unit);
        style_header(script, film->plot, canvas, box, note);
        if (tracks_are_few(tracks))
            write_few(script, film, frame);
        else
            done = write_many(script, film, frame);
    }
    return done;
}

static int draw(const struct plot *plot, const struct tracks *tracks, FILE *script)
{
    static const int coordinates[2] = {0, 1};
    struct film film = {.plot = plot, .tracks = tracks, .plane = {{1, 0, 0}, {0, 1, 0}}};
    film.pictures = tracks->sampled_frames < most_pictures ? tracks->sampled_frames : most_pictures;
    if (!tracks_span(plot, tracks, film.plane.across, &film.spans[0]) ||
        !tracks_span(plot, tracks, film.plane.up, &film.spans[1]))
        return exit_failed;
    film.unit = unit_of(film.spans, 2, tracks->length_unit);
    for (int64_t i = 0; tracks_are_few(tracks) && i < tracks->bodies; i++)
        film.dotted = film.dotted || tracks_are_coarse(tracks, i);

    const double width = film.spans[0].high - film.spans[0].low;
    const double shape = width > 0 ? (film.spans[1].high - film.spans[1].low) / width : 1;
    struct margins margins = style_margins(plot, tracks);
    margins.top = 2.6; /* the time */
    struct box box;
    const struct canvas canvas =
        style_lay_out(plot, margins, 1, fmin(fmax(shape, 0.5), 1), style_key_height(tracks), &box);
    film.em = canvas.em;
    film.length_per_em = panel_fit(box, film.spans) * film.em * film.unit.factor;

    char options[64];
    const double hundredths = fmin(fmax(600.0 / (double)film.pictures, 4), 20);
    snprintf(options, sizeof options, "animate delay %d loop 0", (int)hundredths);
    style_begin(script, plot, canvas, options);
    style_key(script, plot, canvas, box);
    panel_write_axes(script, plot, canvas, box, coordinates, film.spans, film.unit);
    film.density = plot_allocate(plot, tracks->bodies, sizeof(double));
    const bool done = film.density && write_pictures(script, &film, canvas, box);
    free(film.density);
    return done ? exit_ok : exit_failed;
}

int plot_draw_animation(const struct plot *plot, kith_trajectory *trajectory, FILE *script)
{
    const struct tracks_limits limits = {.bodies = most_bodies,
                                         .frames = most_pictures,
                                         .few_frames = most_pictures * samples_a_picture};
    struct tracks tracks;
    struct plot night = *plot;
    if (tracks_read(plot, trajectory, limits, &tracks) != exit_ok)
        return exit_failed;
    night.dark = plot->dark || !tracks_are_few(&tracks);
    const int code = draw(&night, &tracks, script);
    tracks_free(&tracks);
    return code;
}
