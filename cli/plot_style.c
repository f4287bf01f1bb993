/* The style of all pictures: colors, letters, axes. */

#include "plot_style.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gnuplot.h"

/* Colors that are distinct for people with any kind of color vision (Okabe & Ito 2008, "Color
 * Universal Design"), without yellow on white and with lighter ones on black. */
static const struct theme light = {
    .background = 0xffffff,
    .foreground = 0x222222,
    .faint = 0xb4b4b4,
    .body = {0x0072b2, 0xd55e00, 0x009e73, 0xcc79a7, 0x56b4e9, 0xe69f00, 0x000000, 0x8c8c8c},
    .ramp = {0x7ab3d8, 0x559dcb, 0x3a86c0, 0x1f66ab, 0x08306b},
};

static const struct theme dark = {
    .background = 0x0a0c12,
    .foreground = 0xc8ced8,
    .faint = 0x4a5262,
    .body = {0x56b4e9, 0xff8a3c, 0x2bc79a, 0xe8a0cc, 0xf0e442, 0xb08a00, 0xffffff, 0x9aa0a6},
    .ramp = {0x33508f, 0x6f7fc0, 0xb9a7c9, 0xf3cfa0, 0xfffbe6},
};

const struct theme *theme_of(const struct plot *plot)
{
    return plot->dark ? &dark : &light;
}

struct body_style theme_body(const struct theme *theme, int64_t body)
{
    static const int marks[] = {7, 9, 5}, dashes[] = {1, 2, 4};
    const int64_t round = body / theme_bodies % 3;
    return (struct body_style){theme->body[body % theme_bodies], marks[round], dashes[round]};
}

unsigned theme_mix(unsigned first, unsigned second, double share)
{
    unsigned mixed = 0;
    for (unsigned shift = 0; shift < 24; shift += 8) {
        const double a = (double)(first >> shift & 0xff), b = (double)(second >> shift & 0xff);
        mixed |= (unsigned)lround(a + share * (b - a)) << shift;
    }
    return mixed;
}

unsigned theme_density(const struct theme *theme, double density)
{
    const double level = round(density * (theme_ramp_levels - 1)) / (theme_ramp_levels - 1);
    const double at = level * (theme_ramp_stops - 1);
    const int stop = at < theme_ramp_stops - 2 ? (int)at : theme_ramp_stops - 2;
    return theme_mix(theme->ramp[stop], theme->ramp[stop + 1], at - stop);
}

/* The width of the key with its distance to a graph, in em. */
static double key_width(const struct tracks *tracks)
{
    size_t longest = strlen("start");
    for (int64_t i = 0; i < tracks->bodies; i++)
        longest = strlen(tracks->label[i]) > longest ? strlen(tracks->label[i]) : longest;
    return 4.0 + 0.6 * (double)longest;
}

double style_key_height(const struct tracks *tracks)
{
    return tracks_are_few(tracks) ? 1.5 * (double)(tracks->bodies + 2) : 0;
}

struct margins style_margins(const struct plot *plot, const struct tracks *tracks)
{
    const bool few = tracks_are_few(tracks);
    return (struct margins){5.4, few ? key_width(tracks) : 1.4, 3.9,
                            plot->title || !few ? 2.6 : 1.4};
}

struct canvas style_lay_out(const struct plot *plot, struct margins margins, int graphs,
                            double shape, double least, struct box *boxes)
{
    const double least_graph = 10, least_page = 18; /* em */
    const int page_width = plot->width ? plot->width : plot->kind->width;
    double em = page_width / plot->kind->columns;
    if (plot->height)
        em = fmin(em, plot->height / least_page);
    const double column = (page_width - margins.right * em) / graphs;
    const double width = fmax(column - margins.left * em, 1);
    const double around = (margins.bottom + margins.top) * em;
    const double height =
        plot->height ? plot->height - around : fmax(width * shape, fmax(least, least_graph) * em);
    for (int k = 0; k < graphs; k++)
        boxes[k] = (struct box){k * column + margins.left * em, margins.bottom * em, width, height};
    return (struct canvas){page_width, (int)(height + around), em};
}

struct unit unit_of(const struct span *spans, int count, const char *name)
{
    double largest = 0;
    for (int k = 0; k < count; k++)
        largest = fmax(largest, fmax(fabs(spans[k].low), fabs(spans[k].high)));
    const bool usual = largest == 0 || (largest >= 1e-2 && largest < 1e5);
    const int exponent = usual ? 0 : 3 * (int)floor(log10(largest) / 3);
    struct unit unit = {exponent, pow(10, -exponent), ""};
    snprintf(unit.name, sizeof unit.name, "%s", name);
    return unit;
}

double tic_step(double length, double steps)
{
    const double least = length / steps;
    const double power = pow(10, floor(log10(least)));
    static const double nice[] = {1, 2, 5};
    for (int k = 0; k < 3; k++)
        if (nice[k] * power >= least * (1 - 1e-9))
            return nice[k] * power;
    return 10 * power;
}

int tic_decimals(double step)
{
    return step < 1 ? (int)ceil(-log10(step) - 1e-9) : 0;
}

void style_begin(FILE *script, const struct plot *plot, struct canvas canvas, const char *options)
{
    const struct theme *theme = theme_of(plot);
    const double line = canvas.em / 16;
    const double dot = plot->format->dot_em * canvas.em + plot->format->dot_pixels;
    fprintf(script,
            "set terminal %s size %d,%d font 'Sans,%.4g' linewidth %.3g background '#%06x' %s\n"
            "set encoding utf8\n"
            "set minussign\n"
            "em = %.6g\n"
            "set border linecolor rgb '#%06x'\n"
            "set tics nomirror out scale 0.5 textcolor rgb '#%06x'\n",
            plot->format->terminal, canvas.width, canvas.height,
            canvas.em * plot->format->points_per_pixel, line, theme->background, options,
            canvas.em / dot, theme->foreground, theme->foreground);
}

void style_place(FILE *script, struct canvas canvas, struct box box)
{
    const double right = box.left + box.width, top = box.bottom + box.height;
    fprintf(script,
            "set lmargin at screen %.6f\nset rmargin at screen %.6f\n"
            "set bmargin at screen %.6f\nset tmargin at screen %.6f\n",
            box.left / canvas.width, right / canvas.width, box.bottom / canvas.height,
            top / canvas.height);
}

void style_key(FILE *script, const struct plot *plot, struct canvas canvas, struct box box)
{
    fprintf(script,
            "set key at screen %.6f,%.6f left top vertical maxrows 99 Left reverse samplen 1.4 "
            "spacing 1.1 noenhanced textcolor rgb '#%06x'\n",
            (box.left + box.width + 0.6 * canvas.em) / canvas.width,
            (box.bottom + box.height) / canvas.height, theme_of(plot)->foreground);
}

void style_header(FILE *script, const struct plot *plot, struct canvas canvas, struct box box,
                  const char *note)
{
    const unsigned color = theme_of(plot)->foreground;
    const double height = (box.bottom + box.height + 1.1 * canvas.em) / canvas.height;
    const char *const text[2] = {plot->title, note};
    for (int k = 0; k < 2; k++) {
        if (!text[k])
            continue;
        fprintf(script, "set label %d ", k + 1);
        gnuplot_write_text(script, text[k]);
        fprintf(script, " at screen %.6f,%.6f %s noenhanced textcolor rgb '#%06x'\n",
                (box.left + k * box.width) / canvas.width, height, k ? "right" : "left", color);
    }
}

void style_time_header(FILE *script, const struct plot *plot, struct canvas canvas, struct box box,
                       const struct tracks *tracks)
{
    char note[96];
    snprintf(note, sizeof note, "t = %.6g%s%s", tracks->time[tracks->frames - 1],
             tracks->time_unit[0] ? " " : "", tracks->time_unit);
    style_header(script, plot, canvas, box, tracks_are_few(tracks) ? NULL : note);
}

/* "x", "x (AU)", "x (×10³)" or "x (10³ AU)". */
void style_write_label(FILE *script, const char *label, struct unit unit)
{
    const bool named = unit.name[0], powered = unit.exponent != 0;
    fprintf(script, "\"%s", label);
    if (named || powered)
        fprintf(script, "  (%s", named ? "" : "×");
    if (powered)
        fprintf(script, "10^{%s%d}%s", unit.exponent < 0 ? "−" : "", abs(unit.exponent),
                named ? " " : "");
    gnuplot_write_in_enhanced(script, unit.name);
    fprintf(script, "%s\"", named || powered ? ")" : "");
}

int style_mark_letters(double value, double step)
{
    return snprintf(NULL, 0, "%.*f", tic_decimals(step), value);
}

/* The names of the axes are labels, since the distance of gnuplot's own differs by terminal. */
void style_axes(FILE *script, const struct plot *plot, struct canvas canvas, struct box box,
                const struct axis axes[2])
{
    const unsigned color = theme_of(plot)->foreground;
    const struct axis up = axes[1];
    const int letters = (int)fmax(style_mark_letters(up.span.low, up.step),
                                  style_mark_letters(up.span.high, up.step));
    const double up_distance = fmin(1.9 + 0.62 * letters, 5);
    const double place[2][2] = {
        {box.left + 0.5 * box.width, box.bottom - 3 * canvas.em},
        {box.left - up_distance * canvas.em, box.bottom + 0.5 * box.height},
    };
    style_place(script, canvas, box);
    for (int k = 0; k < 2; k++) {
        const char *name = k == 0 ? "x" : "y";
        fprintf(script, "set %srange [%.12g:%.12g]\nset %stics %.9g\nset format %s '%%.%df'\n",
                name, axes[k].span.low, axes[k].span.high, name, axes[k].step, name,
                tic_decimals(axes[k].step));
        fprintf(script, "set label %d ", 3 + k);
        style_write_label(script, axes[k].symbol, axes[k].unit);
        fprintf(script, " at screen %.6f,%.6f center %s textcolor rgb '#%06x'\n",
                place[k][0] / canvas.width, place[k][1] / canvas.height,
                k == 0 ? "" : "rotate by 90", color);
    }
}

void style_logarithmic_axis(FILE *script, struct span span)
{
    static const double leading[] = {1, 2, 5};
    const char *separator = "";
    const bool is_long = span.high > 1e4 * span.low;
    fprintf(script, "set logscale y\nset yrange [%.12g:%.12g]\nset format y '%%g'\nset ytics (",
            span.low / 1.15, span.high * 1.15);
    for (int power = (int)floor(log10(span.low)); power <= log10(span.high) + 1; power++)
        for (int k = 0; k < (is_long ? 1 : 3); k++, separator = ", ")
            fprintf(script, "%s%.3g", separator, leading[k] * pow(10, power));
    fprintf(script, ")\n");
}

double style_dot(const struct tracks *tracks)
{
    return 0.45 * pow((double)tracks->bodies, -1.0 / 6);
}

const char *style_coordinate(int axis)
{
    static const char *const names[] = {"{/:Italic x}", "{/:Italic y}", "{/:Italic z}"};
    return names[axis];
}
