/* Orbital elements against time: a, e and i, one graph below the other, and a resonance angle. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gnuplot.h"
#include "plot_style.h"

enum { panels = 3, most_frames = 5000 };

/* The elements of some frames, evenly chosen, the first and last among them. */
struct series {
    struct tracks tracks;  /* names, times and units; no positions. Body 0 is the star. */
    double *value[panels]; /* frames × bodies */
    double *angle;         /* of frames, in degrees; NULL: none is requested */
};

static double degrees(double angle)
{
    return angle * 180 / acos(-1);
}

static double element_of(const kith_orbit *orbit, int panel)
{
    const bool bound = orbit->a > 0 && isfinite(orbit->a);
    return panel == 0 ? (bound ? orbit->a : NAN) : panel == 1 ? orbit->e : degrees(orbit->i);
}

static void label_body(const kith_bodies *bodies, int64_t body, kith_name label)
{
    if (bodies->name && bodies->name[body][0])
        memcpy(label, bodies->name[body], sizeof(kith_name));
    else
        snprintf(label, sizeof(kith_name), "body %lld", (long long)body);
}

static bool allocate(const struct plot *plot, const kith_bodies *bodies, struct series *series)
{
    struct tracks *tracks = &series->tracks;
    tracks->frames = plot->frames < most_frames ? plot->frames : most_frames;
    tracks->bodies = bodies->count < plot_few_bodies ? bodies->count : plot_few_bodies;
    tracks->bodies_in_file = tracks->bodies; /* a key, always */
    if (tracks->bodies < bodies->count)
        cli_note(plot->quiet, plot->command,
                 "%s has %lld bodies: the orbits of the first %lld are drawn", plot->input,
                 (long long)bodies->count, (long long)tracks->bodies - 1);
    tracks->time = plot_allocate(plot, tracks->frames, sizeof(double));
    tracks->label = plot_allocate(plot, tracks->bodies, sizeof(kith_name));
    bool done = tracks->time && tracks->label;
    for (int panel = 0; panel < panels && done; panel++) {
        series->value[panel] = plot_allocate(plot, tracks->frames * tracks->bodies, sizeof(double));
        done = series->value[panel] != NULL;
    }
    if (done && plot->resonance.count > 0) {
        series->angle = plot_allocate(plot, tracks->frames, sizeof(double));
        done = series->angle != NULL;
    }
    for (int64_t body = 0; body < tracks->bodies && done; body++)
        label_body(bodies, body, tracks->label[body]);
    return done;
}

static bool add_frame(const struct plot *plot, const kith_bodies *bodies, int64_t frame,
                      kith_orbit *orbits, struct series *series)
{
    struct tracks *tracks = &series->tracks;
    const kith_orbits_options about = {.coordinates = plot->coordinates};
    if (!bodies->velocity) {
        cli_fail_with(plot->command, "%s has no velocities, which orbits need", plot->input);
        return false;
    }
    if (kith_orbits_compute(&about, bodies, orbits) != KITH_OK) {
        cli_fail(plot->command);
        return false;
    }
    tracks->time[frame] = bodies->time;
    if (series->angle) {
        double angle = 0;
        if (resonance_angle(&plot->resonance, orbits, bodies->count, &angle) != KITH_OK) {
            cli_fail(plot->command);
            return false;
        }
        series->angle[frame] = degrees(angle);
    }
    for (int64_t body = 1; body < tracks->bodies; body++)
        for (int panel = 0; panel < panels; panel++)
            series->value[panel][frame * tracks->bodies + body] =
                element_of(&orbits[body - 1], panel);
    return true;
}

/* The k-th frame to draw. */
static int64_t frame_at(const struct plot *plot, int64_t k, int64_t count)
{
    const double place = count < 2 ? 0 : (double)k / (double)(count - 1);
    return plot->first_frame + llround(place * (double)(plot->frames - 1));
}

static bool read_frames(const struct plot *plot, kith_trajectory *trajectory, kith_bodies **bodies,
                        struct series *series)
{
    if (kith_trajectory_read(trajectory, plot->first_frame, bodies) != KITH_OK) {
        cli_fail(plot->command);
        return false;
    }
    if ((*bodies)->count < 2) {
        cli_fail_with(plot->command, "%s has %lld bodies; orbits need a star and one more",
                      plot->input, (long long)(*bodies)->count);
        return false;
    }
    kith_orbit *orbits = plot_allocate(plot, (*bodies)->count, sizeof *orbits);
    bool done = orbits && allocate(plot, *bodies, series);
    for (int64_t k = 0; done && k < series->tracks.frames; k++) {
        const int64_t frame = frame_at(plot, k, series->tracks.frames);
        if (kith_trajectory_read(trajectory, frame, bodies) != KITH_OK) {
            cli_fail(plot->command);
            done = false;
        } else {
            done = add_frame(plot, *bodies, k, orbits, series);
        }
    }
    free(orbits);
    return done;
}

/* The range of an element, a little wider; false if it is nowhere finite. */
static bool measure(const struct series *series, int panel, struct span *span)
{
    const struct tracks *tracks = &series->tracks;
    *span = (struct span){INFINITY, -INFINITY};
    for (int64_t k = 0; k < tracks->frames * tracks->bodies; k++) {
        const double value = series->value[panel][k];
        if (k % tracks->bodies == 0 || !isfinite(value))
            continue;
        span->low = fmin(span->low, value);
        span->high = fmax(span->high, value);
    }
    return span->low <= span->high;
}

static struct span widened(struct span span)
{
    const double length = span.high - span.low;
    const double margin = length > 0 ? 0.06 * length : span.low != 0 ? 0.05 * fabs(span.low) : 0.5;
    return (struct span){span.low - margin, span.high + margin};
}

static void write_data(FILE *script, const struct series *series, int panel,
                       const double factors[2])
{
    const struct tracks *tracks = &series->tracks;
    fprintf(script, "$elements << end_of_elements\n");
    for (int64_t body = 1; body < tracks->bodies; body++) {
        for (int64_t k = 0; k < tracks->frames; k++) {
            const double value = series->value[panel][k * tracks->bodies + body];
            if (isfinite(value))
                fprintf(script, "%.10g %.8g\n", tracks->time[k] * factors[0], value * factors[1]);
            else
                fprintf(script, "%.10g NaN\n", tracks->time[k] * factors[0]);
        }
        fprintf(script, "\n\n");
    }
    fprintf(script, "end_of_elements\n");
}

static void write_curves(FILE *script, const struct plot *plot, const struct tracks *tracks,
                         bool has_key)
{
    fprintf(script, "%splot ", has_key ? "" : "unset key\n");
    for (int64_t body = 1; body < tracks->bodies; body++) {
        const struct body_style style = theme_body(theme_of(plot), body);
        fprintf(script, "%s$elements index %lld using 1:2 with ", body > 1 ? ", \\\n" : "",
                (long long)body - 1);
        if (tracks->frames > 1)
            fprintf(script, "lines dashtype %d linewidth 1.4", style.dash);
        else
            fprintf(script, "points pointtype %d pointsize 0.36*em", style.mark);
        fprintf(script, " linecolor rgb '#%06x' ", style.color);
        fprintf(script, has_key ? "title " : "notitle");
        if (has_key)
            gnuplot_write_text(script, tracks->label[body]);
    }
    fprintf(script, "\nunset label\nunset logscale\n");
}

static void write_panel(FILE *script, const struct plot *plot, const struct series *series,
                        int panel, struct canvas canvas, struct box box, struct span time)
{
    static const char *const symbols[panels] = {"{/:Italic a}", "{/:Italic e}",
                                                "{/:Italic i}  (degrees)"};
    struct span span;
    const bool is_drawn = measure(series, panel, &span);
    if (!is_drawn)
        span = (struct span){0, 1};
    const bool logarithmic = panel == 0 && span.low > 0 && span.high > 10 * span.low;
    const struct span wide = widened(span);
    const char *length = panel == 0 ? series->tracks.length_unit : "";
    const struct unit units[2] = {unit_of(&time, 1, series->tracks.time_unit),
                                  unit_of(&wide, 1, length)};
    const struct span spans[2] = {time, wide};
    const double room[2] = {box.width / (7 * canvas.em), box.height / (2.5 * canvas.em)};
    struct axis axes[2];
    for (int k = 0; k < 2; k++) {
        const struct span scaled = {spans[k].low * units[k].factor,
                                    spans[k].high * units[k].factor};
        axes[k] = (struct axis){scaled, tic_step(scaled.high - scaled.low, room[k]),
                                k == 0 ? "time" : symbols[panel], units[k]};
    }
    style_axes(script, plot, canvas, box, axes);
    if (panel < panels - 1 || series->angle)
        fprintf(script, "set format x ''\nunset label 3\n");
    if (logarithmic)
        style_logarithmic_axis(
            script, (struct span){span.low * units[1].factor, span.high * units[1].factor});
    write_data(script, series, panel, (const double[]){units[0].factor, units[1].factor});
    write_curves(script, plot, &series->tracks, panel == 0);
}

/* Dots, as an angle leaps from 360° to 0. */
static void write_angle(FILE *script, const struct plot *plot, const struct series *series,
                        struct canvas canvas, struct box box, struct span time)
{
    const struct tracks *tracks = &series->tracks;
    const struct unit unit = unit_of(&time, 1, tracks->time_unit), none = {0, 1, ""};
    const struct span scaled = {time.low * unit.factor, time.high * unit.factor};
    const double step = tic_step(scaled.high - scaled.low, box.width / (7 * canvas.em));
    const struct axis axes[2] = {{scaled, step, "time", unit},
                                 {{0, 360}, 90, "angle  (degrees)", none}};
    style_axes(script, plot, canvas, box, axes);
    fprintf(script, "$angle << end_of_angle\n");
    for (int64_t k = 0; k < tracks->frames; k++)
        fprintf(script, "%.10g %.8g\n", tracks->time[k] * unit.factor, series->angle[k]);
    fprintf(script,
            "end_of_angle\nunset key\nplot $angle using 1:2 with points pointtype 7 pointsize "
            "%s*em linecolor rgb '#%06x'\n",
            tracks->frames > 200 ? "0.12" : "0.3", theme_body(theme_of(plot), 0).color);
}

static void draw(const struct plot *plot, const struct series *series, FILE *script)
{
    const struct tracks *tracks = &series->tracks;
    struct span time = {tracks->time[0], tracks->time[tracks->frames - 1]};
    if (time.low == time.high)
        time = (struct span){time.low - 0.5, time.low + 0.5};
    struct box all;
    const struct margins margins = style_margins(plot, tracks);
    const struct canvas canvas =
        style_lay_out(plot, margins, 1, series->angle ? 1.2 : 0.95, style_key_height(tracks), &all);
    const int graphs = series->angle ? panels + 1 : panels;
    const double gap = 1.2 * canvas.em, height = (all.height - (graphs - 1) * gap) / graphs;
    style_begin(script, plot, canvas, "");
    style_header(script, plot, canvas, all, NULL);
    style_key(script, plot, canvas, all);
    fprintf(script, "set multiplot\n");
    for (int panel = 0; panel < panels; panel++) {
        const double bottom = all.bottom + (graphs - 1 - panel) * (height + gap);
        write_panel(script, plot, series, panel, canvas,
                    (struct box){all.left, bottom, all.width, height}, time);
    }
    if (series->angle)
        write_angle(script, plot, series, canvas,
                    (struct box){all.left, all.bottom, all.width, height}, time);
    fprintf(script, "unset multiplot\n");
}

int plot_draw_elements(const struct plot *plot, kith_trajectory *trajectory, FILE *script)
{
    struct series series = {.tracks.dimensions = 3};
    kith_bodies *bodies = NULL;
    kith_trajectory_unit(trajectory, "length", series.tracks.length_unit);
    kith_trajectory_unit(trajectory, "time", series.tracks.time_unit);
    const bool done = read_frames(plot, trajectory, &bodies, &series);
    if (done)
        draw(plot, &series, script);
    for (int panel = 0; panel < panels; panel++)
        free(series.value[panel]);
    free(series.angle);
    tracks_free(&series.tracks);
    kith_bodies_free(bodies);
    return done ? exit_ok : exit_failed;
}
