/* The relative error of the total energy against time. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plot_style.h"

/* A curve with more points is drawn by the lowest and highest of each of this many stretches. */
enum { most_stretches = 10000 };

struct curve {
    int64_t points;
    double *time, *value;
    bool is_band;       /* of an ensemble: value is the median of the systems */
    double *low, *high; /* of all systems; value itself of one */
    bool relative;      /* false: the start's energy is 0, and value is E − E_0 itself */
    kith_name time_unit;
};

/* Energies of all frames, M a frame. */
struct energies {
    int64_t systems;
    double *time, *energy;
};

static bool all_have_energy(const struct energies *energies)
{
    for (int64_t s = 0; s < energies->systems; s++)
        if (energies->energy[s] == 0)
            return false;
    return true;
}

/* Errors of the chosen frames: of the one system, or of the middle, lowest and highest one. */
static void fill_curve(const struct plot *plot, const struct energies *energies, double *errors,
                       struct curve *curve)
{
    const int64_t systems = energies->systems;
    for (int64_t k = 0; k < curve->points; k++) {
        const double *energy = energies->energy + (plot->first_frame + k) * systems;
        for (int64_t s = 0; s < systems; s++) {
            const double start = energies->energy[s];
            errors[s] = (energy[s] - start) / (curve->relative ? fabs(start) : 1);
        }
        curve->value[k] = cli_sort(errors, systems);
        curve->low[k] = errors[0];
        curve->high[k] = errors[systems - 1];
    }
}

static bool make_curve(const struct plot *plot, const struct energies *energies,
                       struct curve *curve)
{
    double *memory = plot_allocate(plot, 3 * plot->frames, sizeof *memory);
    double *errors = plot_allocate(plot, energies->systems, sizeof *errors);
    if (memory && errors) {
        *curve = (struct curve){.points = plot->frames,
                                .is_band = energies->systems > 1,
                                .time = energies->time + plot->first_frame,
                                .value = memory,
                                .low = memory + plot->frames,
                                .high = memory + 2 * plot->frames,
                                .relative = all_have_energy(energies)};
        fill_curve(plot, energies, errors, curve);
    } else {
        free(memory);
        memory = NULL;
    }
    free(errors);
    return memory;
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

/* The lowest and highest of each stretch. */
static void write_band(FILE *script, const struct curve *curve, double time_factor,
                       double value_factor)
{
    const int64_t per_stretch = curve->points / most_stretches + 1;
    fprintf(script, "$band << end_of_band\n");
    for (int64_t first = 0; first < curve->points; first += per_stretch) {
        double low = INFINITY, high = -INFINITY;
        for (int64_t k = first; k < first + per_stretch && k < curve->points; k++) {
            low = fmin(low, curve->low[k]);
            high = fmax(high, curve->high[k]);
        }
        fprintf(script, "%.10g %.8g %.8g\n", curve->time[first] * time_factor, low * value_factor,
                high * value_factor);
    }
    fprintf(script, "end_of_band\n");
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

/* The range of all values. */
static bool measure(const struct curve *curve, struct span spans[2])
{
    struct span low, high;
    if (!span_of(curve->time, curve->points, &spans[0]) ||
        !span_of(curve->low, curve->points, &low) || !span_of(curve->high, curve->points, &high))
        return false;
    if (spans[0].low == spans[0].high)
        spans[0] = (struct span){spans[0].low - 0.5, spans[0].high + 0.5};
    spans[1] = widened((struct span){low.low, high.high});
    return true;
}

static void write_plot(FILE *script, const struct plot *plot, const struct curve *curve)
{
    const struct theme *theme = theme_of(plot);
    fprintf(script, "unset key\nplot ");
    if (curve->is_band)
        fprintf(script,
                "$band using 1:2:3 with filledcurves fillstyle solid linecolor rgb "
                "'#%06x', ",
                theme_mix(theme->background, theme->body[0], 0.25));
    fprintf(script,
            "0 with lines linecolor rgb '#%06x', $energy using 1:2 with %s linecolor rgb '#%06x'\n",
            theme->faint, curve->points > 1 ? "lines" : "points pointtype 7 pointsize 0.36*em",
            theme->body[0]);
}

static int draw_curve(const struct plot *plot, const struct curve *curve, const char *note,
                      FILE *script)
{
    struct span spans[2];
    if (!measure(curve, spans))
        return cli_fail_with(plot->command, "%s has no finite energy to draw", plot->input);
    const struct unit units[2] = {unit_of(&spans[0], 1, curve->time_unit), power_of_ten(spans[1])};
    const struct margins margins = {6, 2, 3.9, plot->title || note ? 2.6 : 1.4};
    struct box box;
    const struct canvas canvas = style_lay_out(plot, margins, 1, 0.6, 0, &box);
    style_begin(script, plot, canvas, "");
    style_header(script, plot, canvas, box, note);
    write_axes(script, plot, canvas, box, spans, units, curve->relative);
    write_curve(script, curve, units[0].factor, units[1].factor);
    if (curve->is_band)
        write_band(script, curve, units[0].factor, units[1].factor);
    write_plot(script, plot, curve);
    return exit_ok;
}

static int draw_energies(const struct plot *plot, const struct energies *energies,
                         const kith_name time_unit, FILE *script)
{
    struct curve curve;
    char note[96];
    snprintf(note, sizeof note, "%lld systems: median, minimum and maximum",
             (long long)energies->systems);
    if (!make_curve(plot, energies, &curve))
        return exit_failed;
    memcpy(curve.time_unit, time_unit, sizeof curve.time_unit);
    const int code = draw_curve(plot, &curve, curve.is_band ? note : NULL, script);
    free(curve.value);
    return code;
}

int plot_draw_energy(const struct plot *plot, kith_trajectory *trajectory, FILE *script)
{
    int64_t components = 0;
    struct energies energies = {.systems = kith_trajectory_systems(trajectory)};
    kith_name time_unit;
    if (kith_trajectory_observable(trajectory, "total_energy", &components, &energies.energy,
                                   &energies.time) != KITH_OK)
        return cli_fail(plot->command);
    kith_trajectory_unit(trajectory, "time", time_unit);
    int code = exit_failed;
    if (components != energies.systems)
        cli_fail_with(plot->command, "%s: total_energy has %lld numbers per frame instead of %lld",
                      plot->input, (long long)components, (long long)energies.systems);
    else if (components == 0)
        cli_fail_with(plot->command, "%s has no systems to draw", plot->input);
    else
        code = draw_energies(plot, &energies, time_unit, script);
    free(energies.energy);
    free(energies.time);
    return code;
}
