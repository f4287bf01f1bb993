/* Orbits in space, seen from above at an angle.
 *
 * The positions are projected here and drawn as a plane picture: gnuplot's own view of space can be
 * given one scale for all axes, but then not be fitted to the page. */

#include <math.h>

#include "gnuplot.h"
#include "plot_panel.h"

/* The box around the bodies. All lengths are those of the run; the script has them times the unit's
 * factor. */
struct space {
    struct span spans[3];
    struct plane plane;
    struct unit unit;
    double step;          /* between marks */
    double length_per_em; /* on the page */
};

/* A vertical or horizontal edge with marks: the corner where it begins (0: low, 1: high), its axis,
 * and where its letters go. */
struct edge {
    int axis;
    int corner[3];
    double outward[3];
    double name_distance;   /* em */
    const char *name_align; /* away from the marks */
};

static const struct edge edges[3] = {
    {0, {0, 0, 0}, {0, -1, 0}, 4.4, "right"},
    {1, {1, 0, 0}, {1, 0, 0}, 4.2, "left"},
    {2, {0, 0, 0}, {-1, -0.6, 0}, 4.4, "center rotate by 90"},
};

/* The sides of the box behind the bodies: x low, y high, z low. */
static const int back[3] = {0, 1, 0};

/* Parallel projection for an eye at an azimuth of −60 degrees, 24 degrees above the floor. */
static struct plane view(void)
{
    const double azimuth = -M_PI / 3, elevation = 24 * M_PI / 180;
    return (struct plane){
        {-sin(azimuth), cos(azimuth), 0},
        {-cos(azimuth) * sin(elevation), -sin(azimuth) * sin(elevation), cos(elevation)}};
}

static double end_of(const struct space *space, int axis, int high)
{
    return high ? space->spans[axis].high : space->spans[axis].low;
}

/* Measures the bodies; a flat side is widened to a quarter of the longest, as room for its marks.
 */
static bool measure(const struct plot *plot, const struct tracks *tracks, struct space *space)
{
    double longest = 0;
    for (int axis = 0; axis < 3; axis++) {
        const double direction[3] = {axis == 0, axis == 1, axis == 2};
        if (!tracks_span(plot, tracks, direction, &space->spans[axis]))
            return false;
        longest = fmax(longest, space->spans[axis].high - space->spans[axis].low);
    }
    longest = longest > 0 ? longest : fmax(1, 0.1 * fabs(space->spans[0].low));
    for (int axis = 0; axis < 3; axis++) {
        struct span *span = &space->spans[axis];
        const double lacking = fmax(0, 0.25 * longest - (span->high - span->low));
        *span = (struct span){span->low - 0.5 * lacking, span->high + 0.5 * lacking};
    }
    space->step = tic_step(longest, 10);
    space->unit = unit_of(space->spans, 3, tracks->length_unit);
    space->plane = view();
    return true;
}

/* The spans of the box's corners on the page. */
static void project_box(const struct space *space, struct span page[2])
{
    page[0] = page[1] = (struct span){INFINITY, -INFINITY};
    for (int corner = 0; corner < 8; corner++) {
        double position[3];
        for (int axis = 0; axis < 3; axis++)
            position[axis] = end_of(space, axis, corner >> axis & 1);
        const double at[2] = {along(space->plane.across, position),
                              along(space->plane.up, position)};
        for (int k = 0; k < 2; k++)
            page[k] = (struct span){fmin(page[k].low, at[k]), fmax(page[k].high, at[k])};
    }
}

static void write_position(FILE *script, const struct space *space, const double position[3])
{
    fprintf(script, "%.12g %.12g\n", along(space->plane.across, position) * space->unit.factor,
            along(space->plane.up, position) * space->unit.factor);
}

/* A line parallel to an axis through a position, from side to side. */
static void write_line(FILE *script, const struct space *space, const double position[3], int axis)
{
    for (int high = 0; high < 2; high++) {
        double end[3] = {position[0], position[1], position[2]};
        end[axis] = end_of(space, axis, high);
        write_position(script, space, end);
    }
    fputc('\n', script);
}

/* Marks are at the multiples of the step from the first to the last of these. */
static int64_t first_mark(const struct space *space, int axis)
{
    return (int64_t)ceil(space->spans[axis].low / space->step);
}

static int64_t last_mark(const struct space *space, int axis)
{
    return (int64_t)floor(space->spans[axis].high / space->step);
}

/* The lines through the marks on one side behind the bodies, perpendicular to an axis. */
static void write_grid_on(FILE *script, const struct space *space, int across)
{
    for (int k = 1; k < 3; k++) {
        const int marked = (across + k) % 3, other = (across + 3 - k) % 3;
        double position[3] = {0};
        position[across] = end_of(space, across, back[across]);
        for (int64_t m = first_mark(space, marked); m <= last_mark(space, marked); m++) {
            position[marked] = (double)m * space->step;
            write_line(script, space, position, other);
        }
    }
}

static void write_grid(FILE *script, const struct space *space)
{
    fprintf(script, "$grid << end_of_grid\n");
    for (int across = 0; across < 3; across++)
        write_grid_on(script, space, across);
    fprintf(script, "end_of_grid\n$frame << end_of_frame\n");
    for (int across = 0; across < 3; across++)
        for (int k = 1; k < 3; k++)
            for (int high = 0; high < 2; high++) {
                double position[3] = {0};
                position[across] = end_of(space, across, back[across]);
                position[(across + k) % 3] = end_of(space, (across + k) % 3, high);
                write_line(script, space, position, (across + 3 - k) % 3);
            }
    fprintf(script, "end_of_frame\n");
}

/* The position of a label some em outward from a point on an edge. */
static void write_label_place(FILE *script, const struct plot *plot, const struct space *space,
                              const struct edge *edge, const double position[3], double distance,
                              const char *align)
{
    const double across = along(space->plane.across, edge->outward);
    const double up = along(space->plane.up, edge->outward);
    const double length = distance * space->length_per_em / hypot(across, up);
    fprintf(script, " at first %.12g,%.12g %s textcolor rgb '#%06x'\n",
            (along(space->plane.across, position) + length * across) * space->unit.factor,
            (along(space->plane.up, position) + length * up) * space->unit.factor, align,
            theme_of(plot)->foreground);
}

static void write_edge(FILE *script, const struct plot *plot, const struct space *space,
                       const struct edge *edge)
{
    const int axis = edge->axis;
    const double step = space->step * space->unit.factor;
    double position[3];
    for (int k = 0; k < 3; k++)
        position[k] = end_of(space, k, edge->corner[k]);
    for (int64_t m = first_mark(space, axis); m <= last_mark(space, axis); m++) {
        position[axis] = (double)m * space->step;
        fprintf(script, "set label \"%s%.*f\"", m < 0 ? "−" : "", tic_decimals(step),
                fabs((double)m * step));
        write_label_place(script, plot, space, edge, position, 1.9, "center");
    }
    position[axis] = 0.5 * (space->spans[axis].low + space->spans[axis].high);
    fprintf(script, "set label ");
    style_write_label(script, style_coordinate(axis), space->unit);
    write_label_place(script, plot, space, edge, position, edge->name_distance, edge->name_align);
}

/* What few bodies draw on the floor. */
static void write_shadows(FILE *script, const struct tracks *tracks, const struct space *space)
{
    fprintf(script, "$shadows << end_of_shadows\n");
    for (int64_t i = 0; tracks_are_few(tracks) && i < tracks->bodies; i++) {
        for (int64_t k = 0; k < tracks->frames && !tracks_are_coarse(tracks, i); k++) {
            const double *position = tracks_at(tracks, k, i);
            const double shadow[3] = {position[0], position[1], space->spans[2].low};
            write_position(script, space, shadow);
        }
        fputc('\n', script);
    }
    fprintf(script, "end_of_shadows\n");
}

/* Chooses the page for the box on it, sets length_per_em, and writes the script's beginning. */
static void write_page(FILE *script, const struct plot *plot, const struct tracks *tracks,
                       struct space *space, struct span page[2])
{
    const double shape = (page[1].high - page[1].low) / (page[0].high - page[0].low);
    struct margins margins = style_margins(plot, tracks);
    margins.right = fmax(margins.right, 4.5); /* letters of the y axis */
    struct box box;
    const struct canvas canvas =
        style_lay_out(plot, margins, 1, fmin(shape, 1.1), style_key_height(tracks), &box);
    space->length_per_em = panel_fit(box, page) * canvas.em;

    style_begin(script, plot, canvas, "");
    style_place(script, canvas, box);
    style_time_header(script, plot, canvas, box, tracks);
    style_key(script, plot, canvas, box);
    fprintf(script,
            "unset border\nunset tics\nset xrange [%.12g:%.12g]\nset yrange [%.12g:%.12g]\n",
            page[0].low * space->unit.factor, page[0].high * space->unit.factor,
            page[1].low * space->unit.factor, page[1].high * space->unit.factor);
}

static int draw(const struct plot *plot, const struct tracks *tracks, FILE *script)
{
    struct space space;
    struct span page[2];
    if (!measure(plot, tracks, &space))
        return exit_failed;
    project_box(&space, page);
    write_page(script, plot, tracks, &space, page);
    write_grid(script, &space);
    for (int axis = 0; axis < 3; axis++)
        write_edge(script, plot, &space, &edges[axis]);
    write_shadows(script, tracks, &space);
    if (!panel_write_data(script, plot, tracks, &space.plane, page, space.unit.factor,
                          space.length_per_em * space.unit.factor))
        return exit_failed;
    const struct theme *theme = theme_of(plot);
    const unsigned pale = theme_mix(theme->background, theme->faint, 0.4);
    fprintf(script,
            "plot $grid with lines linewidth 0.7 linecolor rgb '#%06x' notitle, \\\n"
            "$frame with lines linewidth 0.8 linecolor rgb '#%06x' notitle, \\\n"
            "$shadows with lines linewidth 0.8 linecolor rgb '#%06x' notitle, \\\n",
            pale, theme->faint, theme->faint);
    panel_write_elements(script, plot, tracks, true);
    fputc('\n', script);
    return exit_ok;
}

int plot_draw_space(const struct plot *plot, kith_trajectory *trajectory, FILE *script)
{
    struct tracks tracks;
    if (tracks_read_still(plot, trajectory, &tracks) != exit_ok)
        return exit_failed;
    const int code =
        tracks.dimensions == 3
            ? draw(plot, &tracks, script)
            : cli_fail_with(plot->command, "%s: the run is two-dimensional; use --what orbits",
                            plot->input);
    tracks_free(&tracks);
    return code;
}
