/* Bodies projected along a line of sight: the window, the tone mapping and the annotations. */

#include "plot_projection.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lettering.h"
#include "plot_style.h"

struct plane projection_plane(const struct plot *plot)
{
    const double *eye = plot->line_of_sight;
    const double length = sqrt(along(eye, eye)), flat = hypot(eye[0], eye[1]);
    if (flat <= 1e-9 * length)
        return (struct plane){{eye[2] < 0 ? -1 : 1, 0, 0}, {0, 1, 0}};
    return (struct plane){
        {-eye[1] / flat, eye[0] / flat, 0},
        {-eye[0] * eye[2] / (flat * length), -eye[1] * eye[2] / (flat * length), flat / length}};
}

static struct span span_of(double *values, int64_t count)
{
    cli_sort(values, count);
    const int64_t skip = count > plot_few_bodies ? count / 100 : 0;
    const double low = values[skip], high = values[count - 1 - skip];
    const double more = (skip > 0 ? 0.17 : 0.06) * (high - low);
    return (struct span){low - more, high + more};
}

bool projection_span(const struct plot *plot, const kith_bodies *bodies, struct plane plane,
                     struct span spans[2])
{
    const int64_t most = 100000;
    const int64_t count = bodies->count < most ? bodies->count : most;
    double *values = plot_allocate(plot, 2 * count, sizeof *values);
    if (!values)
        return false;
    for (int64_t k = 0; k < count; k++) {
        const int64_t i = (int64_t)((double)k / (double)count * (double)bodies->count);
        const double *x = bodies->position + i * bodies->dimensions;
        const double position[3] = {x[0], x[1], bodies->dimensions == 3 ? x[2] : 0};
        values[k] = along(plane.across, position);
        values[count + k] = along(plane.up, position);
    }
    spans[0] = span_of(values, count);
    spans[1] = span_of(values + count, count);
    free(values);
    return true;
}

void projection_fit(struct window *window)
{
    struct span *spans = window->spans;
    const int sides[2] = {window->width, window->height};
    double pixel = 0;
    for (int k = 0; k < 2; k++)
        pixel = fmax(pixel, (spans[k].high - spans[k].low) / sides[k]);
    const double least = 1e-9 * fmax(fabs(spans[0].low), fabs(spans[1].low)) / sides[0];
    if (pixel <= least) /* all at the same position */
        pixel = 4.0 / sides[0] * fmax(fabs(spans[0].low), 1);
    for (int k = 0; k < 2; k++) {
        const double middle = 0.5 * (spans[k].low + spans[k].high), half = 0.5 * sides[k] * pixel;
        spans[k] = (struct span){middle - half, middle + half};
    }
}

static double pixel_side(const struct window *window)
{
    return (window->spans[0].high - window->spans[0].low) / window->width;
}

/* Surface density of a pixel with a mass of 1 of the splat. */
static double density_unit(const struct window *window, const struct splat *splat)
{
    const double side = pixel_side(window);
    return splat->unit / (side * side);
}

/* Bins of positive floats by their first bits: 128 of them an octave. */
enum { bin_count = 1 << 15 };

static int bin_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (int)(bits >> 16);
}

static float value_of_bin(int bin)
{
    const uint32_t bits = (uint32_t)bin << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static struct tone tone_of_bins(const double *pixels, int64_t all_pixels, double unit)
{
    double mass = 0, above = 0, below = 0;
    int white = bin_count - 1, dark = 0;
    for (int bin = 0; bin < bin_count; bin++)
        mass += pixels[bin] > 0 ? pixels[bin] * value_of_bin(bin) : 0;
    for (; white > 0 && above + pixels[white] <= (double)all_pixels / 5000; white--)
        above += pixels[white];
    for (; dark < white && below <= mass / 50; dark++)
        below += pixels[dark] > 0 ? pixels[dark] * value_of_bin(dark) : 0;
    struct tone tone = {value_of_bin(dark) * unit, value_of_bin(white) * unit};
    if (!(tone.white > 0))
        tone.white = unit;
    tone.dark = fmin(fmax(tone.dark, tone.white / 1e5), tone.white / 10);
    return tone;
}

bool projection_choose_tone(const struct projection *projection, const struct splat *splat,
                            struct tone *tone)
{
    double *pixels = plot_allocate(projection->plot, bin_count, sizeof *pixels);
    const int64_t all = (int64_t)splat->width * splat->height;
    if (!pixels)
        return false;
    for (int64_t k = 0; k < all; k++)
        if (splat->mass[k] > 0)
            pixels[bin_of(splat->mass[k])]++;
    *tone = tone_of_bins(pixels, all, density_unit(&projection->window, splat));
    free(pixels);
    return true;
}

static double tone_of(const struct tone *tone, double density)
{
    return asinh(density / tone->dark) / asinh(tone->white / tone->dark);
}

static void paint_splat(const struct projection *projection, const struct splat *splat,
                        struct raster *raster)
{
    const double unit = density_unit(&projection->window, splat);
    const struct color_map *map = projection->plot->colors;
    for (int row = 0; row < splat->height; row++)
        for (int column = 0; column < splat->width; column++) {
            const float mass = splat->mass[(size_t)row * (size_t)splat->width + (size_t)column];
            const double value = mass > 0 ? tone_of(&projection->tone, mass * unit) : 0;
            raster_set(raster, column, row, color_map_at(map, value));
        }
}

/* Letters of a picture: the height of their capitals, and a margin. */
static double letter_size(const struct raster *raster)
{
    return fmax(7, (raster->height < raster->width ? raster->height : raster->width) / 62.0);
}

enum align { at_left, at_middle, at_right };

/* A text with a shade around it, so that it can be read on any color. */
static void write_text(const struct projection *projection, struct raster *raster, double x,
                       double y, double size, enum align align, const char *text)
{
    const struct color_map *map = projection->plot->colors;
    const double radius = fmax(0.055 * size, 0.55);
    const double left = x - 0.5 * align * lettering_width(text, size);
    lettering_draw(raster, left, y, size, radius + fmax(1, 0.12 * size), text);
    raster_paint(raster, map->stops[0], 0.6);
    lettering_draw(raster, left, y, size, radius, text);
    raster_paint(raster, map->ink, 1);
}

/* The largest of 1, 2 and 5 times a power of ten that is not more than a length. */
static double round_length(double length)
{
    const double power = pow(10, floor(log10(length)));
    return power * (length >= 5 * power ? 5 : length >= 2 * power ? 2 : 1);
}

static void paint_scale_bar(const struct projection *projection, struct raster *raster)
{
    const double size = letter_size(raster), margin = 1.8 * size;
    const double side = pixel_side(&projection->window);
    const double length = round_length(0.22 * raster->width * side);
    const double y = raster->height - margin, right = margin + length / side;
    const double radius = fmax(0.07 * size, 0.6), ends = 0.35 * size;
    char text[64];
    for (int shade = 1; shade >= 0; shade--) {
        const double thick = radius + shade * fmax(1, 0.12 * size);
        raster_stroke(raster, margin, y, right, y, thick);
        raster_stroke(raster, margin, y - ends, margin, y + ends, thick);
        raster_stroke(raster, right, y - ends, right, y + ends, thick);
        raster_paint(raster,
                     shade ? projection->plot->colors->stops[0] : projection->plot->colors->ink,
                     shade ? 0.6 : 1);
    }
    snprintf(text, sizeof text, "%.6g%s%s", length, projection->units.length[0] ? " " : "",
             projection->units.length);
    write_text(projection, raster, 0.5 * (margin + right), y - size, size, at_middle, text);
}

/* "10⁻³" of an exponent, and plain numbers near 1. */
static void write_power(char *text, size_t bytes, int exponent)
{
    if (exponent >= -1 && exponent <= 2)
        snprintf(text, bytes, "%g", pow(10, exponent));
    else
        snprintf(text, bytes, "10" lettering_raise "%s%d" lettering_lower, exponent < 0 ? "−" : "",
                 abs(exponent));
}

static void write_bar_marks(const struct projection *projection, struct raster *raster, double left,
                            double width, double y)
{
    const struct tone *tone = &projection->tone;
    const double size = 0.85 * letter_size(raster);
    double last = left - 10 * size;
    const int first = (int)ceil(log10(tone->dark)), end = (int)floor(log10(tone->white));
    for (int exponent = first; exponent <= end; exponent++) {
        const double x = left + width * tone_of(tone, pow(10, exponent));
        char text[48];
        write_power(text, sizeof text, exponent);
        if (x - last < 0.6 * size + lettering_width(text, size))
            continue;
        raster_stroke(raster, x, y, x, y + 0.3 * size, 0.5);
        raster_paint(raster, projection->plot->colors->ink, 1);
        write_text(projection, raster, x, y + 1.65 * size, size, at_middle, text);
        last = x;
    }
}

static void paint_color_bar(const struct projection *projection, struct raster *raster)
{
    const struct color_map *map = projection->plot->colors;
    const kith_units *units = &projection->units;
    const double size = letter_size(raster), margin = 1.8 * size;
    const int width = (int)(0.24 * raster->width), height = (int)fmax(4, 0.6 * size);
    const int left = raster->width - (int)margin - width;
    const int top = raster->height - (int)(margin + 1.6 * size);
    char text[128] = "surface density";
    if (width < 90)
        return;
    raster_fill(raster, left - 1, top - 1, left + width + 1, top + height + 1);
    raster_paint(raster, map->ink, 0.7);
    for (int column = 0; column < width; column++)
        for (int row = top; row < top + height; row++)
            raster_set(raster, left + column, row, color_map_at(map, (column + 0.5) / width));
    write_bar_marks(projection, raster, left, width, top + height);
    if (units->mass[0] && units->length[0])
        snprintf(text, sizeof text, "%s %s" lettering_raise "−2" lettering_lower, units->mass,
                 units->length);
    write_text(projection, raster, left + 0.5 * width, top - 0.75 * size, size, at_middle, text);
}

void projection_paint(const struct projection *projection, const struct splat *splat, double time,
                      struct raster *raster)
{
    const double size = letter_size(raster), margin = 1.8 * size;
    const char *unit = projection->units.time;
    paint_splat(projection, splat, raster);
    if (projection->plot->title)
        write_text(projection, raster, margin, margin + size, 1.25 * size, at_left,
                   projection->plot->title);
    if (isfinite(time)) {
        char text[96];
        snprintf(text, sizeof text, "t = %.6g%s%s", time, unit[0] ? " " : "", unit);
        write_text(projection, raster, raster->width - margin, margin + size, size, at_right, text);
    }
    paint_scale_bar(projection, raster);
    paint_color_bar(projection, raster);
}
