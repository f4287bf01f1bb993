/* The relative error of the total energy against time. */

#include <math.h>
#include <stdlib.h>

#include "plot_style.h"

/* A curve with more points is drawn by the lowest and highest of each of so many stretches. */
enum { most_stretches = 10000 };

struct curve {
    int64_t points;
    double *time, *value;
    bool relative; /* false: the start's energy is 0, and value is E − E_0 itself */
    kith_name time_unit;
};

/* Turns energies of all frames into errors, and keeps those of the chosen frames. */
static struct curve curve_of(const struct plot *plot, double *time, double *energy)
{
    const double start = energy[0];
    const bool relative = start != 0;
    struct curve curve = {plot->frames, time + plot->first_frame, energy + plot->first_frame,
                          relative, ""};
    for (int64_t k = 0; k < curve.points; k++)
        curve.value[k] = (curve.value[k] - start) / (relative ? fabs(start) : 1);
    return curve;
}

static bool span_of(const double *values, int64_t count, struct span *span)
{
    *span = (struct span){INFINITY, -INFINITY};
    for (int64_t k = 0; k < count; k++)
        if (isfinite(values[k])) {
            span->low = fmin(span->low, values[k]);
            span->high = fmax(span->high, values[k]);
        }
    return span->low <= span->high;
}

static struct unit power_of_ten(struct span span)
{
    const double largest = fmax(fabs(span.low), fabs(span.high));
    const int exponent = (int)floor(log10(largest));
    return exponent >= -1 && exponent < 4 ? (struct unit){0, 1, ""}
                                          : (struct unit){exponent, pow(10, -exponent), ""};
}

static void write_point(FILE *script, const struct curve *curve, int64_t k, double time_factor,
                        double value_factor)
{
    fprintf(script, "%.10g %.8g\n", curve->time[k] * time_factor, curve->value[k] * value_factor);
}

static void write_curve(FILE *script, const struct curve *curve, double time_factor,
                        double value_factor)
{
    const int64_t per_stretch = curve->points / most_stretches + 1;
    fprintf(script, "$energy << end_of_energy\n");
    for (int64_t first = 0; first < curve->points; first += per_stretch) {
        int64_t low = -1, high = -1;
        for (int64_t k = first; k < first + per_stretch && k < curve->points; k++) {
            if (!isfinite(curve->value[k]))
                continue;
            low = low < 0 || curve->value[k] < curve->value[low] ? k : low;
            high = high < 0 || curve->value[k] > curve->value[high] ? k : high;
        }
        if (low >= 0)
            write_point(script, curve, low < high ? low : high, time_factor, value_factor);
        if (low != high)
            write_point(script, curve, low < high ? high : low, time_factor, value_factor);
    }
    fprintf(script, "end_of_energy\n");
}

/* The range to show: with 0 in it, a little wider than the values, and never empty. */
static struct span widened(struct span span)
{
    struct span wide = {fmin(span.low, 0), fmax(span.high, 0)};
    if (wide.low == wide.high)
        return (struct span){-1e-16, 1e-16};
    const double margin = 0.06 * (wide.high - wide.low);
    return (struct span){wide.low - margin, wide.high + margin};
}

static void write_axes(FILE *script, const struct plot *plot, struct canvas canvas, struct box box,
                       const struct span spans[2], const struct unit units[2], bool relative)
{
    const char *const symbols[2] = {
        "time", relative
                    ? "relative energy error  ({/:Italic E} − {/:Italic E}_0) / |{/:Italic E}_0|"
                    : "energy error  {/:Italic E} − {/:Italic E}_0"};
    const double steps[2] = {box.width / (7 * canvas.em), box.height / (3.5 * canvas.em)};
    struct axis axes[2];
    for (int k = 0; k < 2; k++) {
        const struct span scaled = {spans[k].low * units[k].factor,
                                    spans[k].high * units[k].factor};
        axes[k] = (struct axis){scaled, tic_step(scaled.high - scaled.low, steps[k]), symbols[k],
                                units[k]};
    }
    style_axes(script, plot, canvas, box, axes);
}

static int draw_curve(const struct plot *plot, const struct curve *curve, FILE *script)
{
    struct span spans[2];
    if (!span_of(curve->time, curve->points, &spans[0]) ||
        !span_of(curve->value, curve->points, &spans[1]))
        return cli_fail_with(plot->command, "%s has no finite energy to draw", plot->input);
    if (spans[0].low == spans[0].high)
        spans[0] = (struct span){spans[0].low - 0.5, spans[0].high + 0.5};
    spans[1] = widened(spans[1]);
    const struct unit units[2] = {unit_of(&spans[0], 1, curve->time_unit), power_of_ten(spans[1])};

    const struct margins margins = {6, 2, 3.9, plot->title ? 2.6 : 1.4};
    struct box box;
    const struct canvas canvas = style_lay_out(plot, margins, 1, 0.6, 0, &box);
    const struct theme *theme = theme_of(plot);
    style_begin(script, plot, canvas, "");
    style_header(script, plot, canvas, box, NULL);
    write_axes(script, plot, canvas, box, spans, units, curve->relative);
    write_curve(script, curve, units[0].factor, units[1].factor);
    fprintf(script,
            "unset key\nplot 0 with lines linecolor rgb '#%06x', $energy using 1:2 with %s "
            "linecolor rgb '#%06x'\n",
            theme->faint, curve->points > 1 ? "lines" : "points pointtype 7 pointsize 0.36*em",
            theme->body[0]);
    return exit_ok;
}

int plot_draw_energy(const struct plot *plot, kith_trajectory *trajectory, FILE *script)
{
    int64_t components = 0;
    double *energy = NULL, *time = NULL;
    if (kith_trajectory_observable(trajectory, "total_energy", &components, &energy, &time) !=
        KITH_OK)
        return cli_fail(plot->command);
    int code = exit_failed;
    if (components != 1)
        cli_fail_with(plot->command, "%s: total_energy has %lld numbers a frame instead of 1",
                      plot->input, (long long)components);
    else {
        struct curve curve = curve_of(plot, time, energy);
        kith_trajectory_unit(trajectory, "time", curve.time_unit);
        code = draw_curve(plot, &curve, script);
    }
    free(energy);
    free(time);
    return code;
}
