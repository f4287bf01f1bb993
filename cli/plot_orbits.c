/* Orbits in the x-y plane, and in the three planes side by side. */

#include <math.h>

#include "plot_panel.h"

/* The planes of a space, by their coordinates. */
static const int coordinates[3][2] = {{0, 1}, {0, 2}, {1, 2}};

static const struct plane planes[3] = {
    {{1, 0, 0}, {0, 1, 0}},
    {{1, 0, 0}, {0, 0, 1}},
    {{0, 1, 0}, {0, 0, 1}},
};

enum { most_panels = 3 };

/* Writes what surrounds all graphs. */
static void write_frame(FILE *script, const struct plot *plot, const struct tracks *tracks,
                        struct canvas canvas, const struct box *boxes, int panels)
{
    struct box all = boxes[0];
    all.width = boxes[panels - 1].left + boxes[panels - 1].width - all.left;
    style_begin(script, plot, canvas, "");
    style_time_header(script, plot, canvas, all, tracks);
    style_key(script, plot, canvas, all);
}

/* Reads the spans of x, y and z; if there are several panels, all get the length of the longest, so
 * that the panels can be compared. */
static bool measure(const struct plot *plot, const struct tracks *tracks, int panels,
                    struct span spans[3])
{
    double longest = 0;
    for (int axis = 0; axis < 3; axis++) {
        const double direction[3] = {axis == 0, axis == 1, axis == 2};
        if (!tracks_span(plot, tracks, direction, &spans[axis]))
            return false;
        longest = fmax(longest, spans[axis].high - spans[axis].low);
    }
    for (int axis = 0; axis < 3 && panels > 1; axis++) {
        const double middle = 0.5 * (spans[axis].low + spans[axis].high);
        spans[axis] = (struct span){middle - 0.5 * longest, middle + 0.5 * longest};
    }
    return true;
}

static int draw(const struct plot *plot, const struct tracks *tracks, int panels, FILE *script)
{
    struct span spans[3];
    if (!measure(plot, tracks, panels, spans))
        return exit_failed;
    const struct unit unit = unit_of(spans, panels > 1 ? 3 : 2, tracks->length_unit);
    const double width = spans[0].high - spans[0].low, height = spans[1].high - spans[1].low;
    const double shape = width > 0 ? fmin(fmax(height / width, 0.5), 1.1) : 1;

    struct box boxes[most_panels];
    const struct canvas canvas = style_lay_out(plot, style_margins(plot, tracks), panels, shape,
                                               style_key_height(tracks), boxes);
    write_frame(script, plot, tracks, canvas, boxes, panels);
    fprintf(script, "%s", panels > 1 ? "set multiplot\n" : "");
    for (int k = 0; k < panels; k++) {
        struct span fitted[2] = {spans[coordinates[k][0]], spans[coordinates[k][1]]};
        const struct span data[2] = {fitted[0], fitted[1]};
        const double length_per_em = panel_fit(boxes[k], fitted) * canvas.em * unit.factor;
        if (!panel_write_data(script, plot, tracks, &planes[k], data, unit.factor, length_per_em))
            return exit_failed;
        panel_write_axes(script, plot, canvas, boxes[k], coordinates[k], fitted, unit);
        fprintf(script, "plot ");
        panel_write_elements(script, plot, tracks, k == 0);
        fprintf(script, "\nunset label\n");
    }
    fprintf(script, "%s", panels > 1 ? "unset multiplot\n" : "");
    return exit_ok;
}

int plot_draw_orbits(const struct plot *plot, kith_trajectory *trajectory, FILE *script)
{
    struct tracks tracks;
    if (tracks_read_still(plot, trajectory, &tracks) != exit_ok)
        return exit_failed;
    const int code = draw(plot, &tracks, 1, script);
    tracks_free(&tracks);
    return code;
}

/* A run in two dimensions has only one plane: that of orbits. */
int plot_draw_planes(const struct plot *plot, kith_trajectory *trajectory, FILE *script)
{
    struct tracks tracks;
    struct plot flat = *plot;
    flat.kind = plot_kind_named("orbits");
    if (tracks_read_still(plot, trajectory, &tracks) != exit_ok)
        return exit_failed;
    const int code = tracks.dimensions == 3 ? draw(plot, &tracks, most_panels, script)
                                            : draw(&flat, &tracks, 1, script);
    tracks_free(&tracks);
    return code;
}
