/* A graph of tracks in a plane. */

#include "plot_panel.h"

#include <math.h>
#include <stdlib.h>

#include "gnuplot.h"
#include "plot_sphere.h"

static const double sphere_em = 0.8; /* diameter */

static void write_position(FILE *script, const struct plane *plane, const double *position,
                           double factor)
{
    fprintf(script, "%.12g %.12g", along(plane->across, position) * factor,
            along(plane->up, position) * factor);
}

static void write_paths(FILE *script, const struct tracks *tracks, const struct plane *plane,
                        double factor)
{
    for (int64_t i = 0; i < tracks->bodies; i++) {
        for (int64_t k = 0; k < tracks->frames; k++) {
            write_position(script, plane, tracks_at(tracks, k, i), factor);
            fputc('\n', script);
        }
        fprintf(script, "\n\n");
    }
}

static bool write_points(FILE *script, const struct plot *plot, const struct tracks *tracks,
                         const struct plane *plane, const struct span spans[2], double factor)
{
    const unsigned transparency = plot->format->transparency ? 0x40000000 : 0;
    const int64_t last = tracks->frames - 1;
    double *density = plot_allocate(plot, tracks->bodies, sizeof(double));
    const bool done = density && tracks_density(plot, tracks, last, plane, spans, density);
    for (int64_t i = 0; done && i < tracks->bodies; i++) {
        write_position(script, plane, tracks_at(tracks, last, i), factor);
        fprintf(script, " %u\n", theme_density(theme_of(plot), density[i]) | transparency);
    }
    free(density);
    return done;
}

/* How far a position is towards the eye. */
static double nearness(const struct plane *plane, const double *position)
{
    double sum = 0;
    for (int k = 0; k < 3; k++) {
        const int l = (k + 1) % 3, m = (k + 2) % 3;
        sum += position[k] * (plane->across[l] * plane->up[m] - plane->across[m] * plane->up[l]);
    }
    return sum;
}

/* Removed bodies have no position; one line of NaN, as there must be one. */
static void write_bodies(FILE *script, const struct plot *plot, const struct tracks *tracks,
                         const struct plane *plane, double factor, double length_per_em)
{
    const struct sphere_style sphere = {sphere_em, length_per_em, sphere_outline(plot), 7};
    const int64_t last = tracks->frames - 1;
    int64_t order[plot_few_bodies], count = 0;
    for (int64_t i = 0; i < tracks->bodies; i++) {
        const double near = nearness(plane, tracks_at(tracks, last, i));
        int64_t k = count;
        if (!isfinite(near))
            continue;
        for (; k > 0 && nearness(plane, tracks_at(tracks, last, order[k - 1])) > near; k--)
            order[k] = order[k - 1];
        order[k] = i;
        count++;
    }
    fprintf(script, "$bodies << end_of_bodies\nNaN NaN 0 0\n");
    for (int64_t k = 0; k < count; k++) {
        const double *position = tracks_at(tracks, last, order[k]);
        sphere_write(script, &sphere, along(plane->across, position) * factor,
                     along(plane->up, position) * factor,
                     theme_body(theme_of(plot), order[k]).color);
    }
    fprintf(script, "end_of_bodies\n");
}

bool panel_write_data(FILE *script, const struct plot *plot, const struct tracks *tracks,
                      const struct plane *plane, const struct span spans[2], double factor,
                      double length_per_em)
{
    bool done = true;
    if (tracks_are_few(tracks))
        write_bodies(script, plot, tracks, plane, factor, length_per_em);
    fprintf(script, "$tracks << end_of_tracks\n");
    if (tracks_are_few(tracks))
        write_paths(script, tracks, plane, factor);
    else
        done = write_points(script, plot, tracks, plane, spans, factor);
    fprintf(script, "end_of_tracks\n");
    return done;
}

/* A line or, where that is not the path, dots; their key is a larger one. */
static void write_path_element(FILE *script, const struct tracks *tracks, int64_t body,
                               struct body_style style, bool has_key)
{
    const bool coarse = tracks_are_coarse(tracks, body);
    fprintf(script, "$tracks index %lld using 1:2 with ", (long long)body);
    if (coarse)
        fprintf(script, "points pointtype %d pointsize 0.08*em", style.mark);
    else
        fprintf(script, "lines dashtype %d linewidth 1.4", style.dash);
    fprintf(script, " linecolor rgb '#%06x' ", style.color);
    if (coarse && has_key)
        fprintf(script,
                "notitle, NaN with points pointtype %d pointsize 0.22*em linecolor rgb '#%06x' ",
                style.mark, style.color);
    if (has_key) {
        fprintf(script, "title ");
        gnuplot_write_text(script, tracks->label[body]);
    } else
        fprintf(script, "notitle");
}

void panel_write_elements(FILE *script, const struct plot *plot, const struct tracks *tracks,
                          bool has_key)
{
    const struct theme *theme = theme_of(plot);
    if (!tracks_are_few(tracks)) {
        fprintf(script,
                "$tracks using 1:2:3 with points pointtype 7 pointsize %.2f*em linecolor rgb "
                "variable notitle",
                style_dot(tracks));
        return;
    }
    for (int64_t i = 0; i < tracks->bodies; i++) {
        write_path_element(script, tracks, i, theme_body(theme, i), has_key);
        fprintf(script, ", \\\n");
    }
    for (int64_t i = 0; i < tracks->bodies; i++) {
        const struct body_style style = theme_body(theme, i);
        fprintf(script,
                "%s$tracks index %lld every ::0::0 using 1:2 with points pointtype %d "
                "pointsize 0.36*em linecolor rgb '#%06x' notitle",
                i > 0 ? ", \\\n" : "", (long long)i, style.mark, style.color);
    }
    fprintf(script, ", \\\n$bodies using 1:2:($3*em):4 with points pointtype 7 pointsize variable "
                    "linecolor rgb variable notitle");
    if (has_key)
        fprintf(script,
                ", \\\nNaN with points pointtype 7 pointsize 0.36*em linecolor rgb '#%06x' "
                "title 'start', \\\nNaN with points pointtype 7 pointsize %g*em linecolor rgb "
                "'#%06x' title 'end'",
                theme->faint, sphere_em, theme->faint);
}

double panel_fit(struct box box, struct span spans[2])
{
    const double sides[2] = {box.width, box.height};
    double scale = 0, largest = 0;
    for (int k = 0; k < 2; k++) {
        scale = fmax(scale, (spans[k].high - spans[k].low) / sides[k]);
        largest = fmax(largest, fabs(spans[k].low));
    }
    if (scale <= 0) /* a single point */
        scale = (largest > 0 ? 0.2 * largest : 2) / fmin(box.width, box.height);
    for (int k = 0; k < 2; k++) {
        const double middle = 0.5 * (spans[k].low + spans[k].high);
        const double half = 0.5 * sides[k] * scale;
        spans[k] = (struct span){middle - half, middle + half};
    }
    return scale;
}

void panel_write_axes(FILE *script, const struct plot *plot, struct canvas canvas, struct box box,
                      const int axes[2], const struct span spans[2], struct unit unit)
{
    const double longer = fmax(box.width, box.height);
    const double length = fmax(spans[0].high - spans[0].low, spans[1].high - spans[1].low);
    double step = tic_step(length * unit.factor, longer / (4.5 * canvas.em));
    const double room = 1.5 + 0.65 * style_mark_letters(spans[0].high * unit.factor, step); /* em */
    step = fmax(step, tic_step(length * unit.factor, longer / (room * canvas.em)));
    struct axis both[2];
    for (int k = 0; k < 2; k++)
        both[k] = (struct axis){{spans[k].low * unit.factor, spans[k].high * unit.factor},
                                step,
                                style_coordinate(axes[k]),
                                unit};
    style_axes(script, plot, canvas, box, both);
}
