/* A panel of benchmark figures as SVG. */

#include "bench_chart.h"

#include <math.h>
#include <string.h>

enum { width = 720, left = 58, right = 500, top = 14, bottom = 300, bar = 13, bar_gap = 10 };

/* Okabe and Ito's, which most color-blind people tell apart; then they return with dashes. */
static const char *const colors[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                     "#56b4e9", "#e69f00", "#8c8c8c", "#a6761d"};
enum { color_count = sizeof colors / sizeof colors[0] };

void bench_write_escaped(FILE *stream, const char *text)
{
    for (; *text; text++)
        switch (*text) {
        case '<':
            fputs("&lt;", stream);
            break;
        case '>':
            fputs("&gt;", stream);
            break;
        case '&':
            fputs("&amp;", stream);
            break;
        case '"':
            fputs("&quot;", stream);
            break;
        default:
            fputc(*text, stream);
        }
}

static bool is_of_series(const struct figure *one, const struct figure *other)
{
    return one->series_place == other->series_place;
}

/* A logarithmic axis: decades from low to high, on pixels from begin to end. */
struct axis {
    double low, high, begin, end;
};

static double place_on(const struct axis *axis, double value)
{
    const double share = (log10(value) - axis->low) / (axis->high - axis->low);
    return axis->begin + share * (axis->end - axis->begin);
}

/* Ends at values of 1, 2 or 5 times a power of ten, around all values. */
static struct axis make_axis(double least, double most, double begin, double end)
{
    static const double steps[] = {1, 2, 5, 10};
    const double low_decade = pow(10, floor(log10(least))),
                 high_decade = pow(10, floor(log10(most)));
    double low = low_decade, high = high_decade;
    for (int k = 0; k < 4; k++)
        if (steps[k] * low_decade <= least * (1 + 1e-9))
            low = steps[k] * low_decade;
    for (int k = 3; k >= 0; k--)
        if (steps[k] * high_decade >= most * (1 - 1e-9))
            high = steps[k] * high_decade;
    return (struct axis){log10(low), log10(high > low ? high : 2 * low), begin, end};
}

static void write_text(FILE *stream, double x, double y, const char *anchor, const char *text)
{
    fprintf(stream, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
    bench_write_escaped(stream, text);
    fprintf(stream, "</text>\n");
}

static void write_line(FILE *stream, double x1, double y1, double x2, double y2)
{
    fprintf(stream, "<line class=\"grid\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n", x1,
            y1, x2, y2);
}

/* A line of the grid at each 1, 2 and 5 times a power of ten; named where there is room. */
static void write_grid(FILE *stream, const struct axis *axis, bool is_x)
{
    static const double steps[] = {1, 2, 5};
    const bool names_all = axis->high - axis->low < 2.5;
    for (int decade = (int)floor(axis->low); decade <= (int)ceil(axis->high); decade++)
        for (int k = 0; k < 3; k++) {
            const double value = steps[k] * pow(10, decade), at = place_on(axis, value);
            if (log10(value) < axis->low - 1e-9 || log10(value) > axis->high + 1e-9 ||
                (k > 0 && !names_all))
                continue;
            if (is_x)
                write_line(stream, at, top, at, bottom);
            else
                write_line(stream, left, at, right, at);
            write_text(stream, is_x ? at : left - 6, is_x ? bottom + 16 : at + 4,
                       is_x ? "middle" : "end", is_x ? figure_size(value) : figure_text(value));
        }
}

static bool is_own(const struct figure *figure)
{
    return strncmp(figure->series, "kith", 4) == 0 || strcmp(figure->capability, "collisions") == 0;
}

/* A dot, which tells its numbers where the mouse rests on it. */
static void write_point(FILE *stream, const struct figure *figure, const struct axis *x,
                        const struct axis *y, const char *color)
{
    fprintf(stream, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2.8\" fill=\"%s\"><title>",
            place_on(x, figure->size), place_on(y, figure->rate), color);
    bench_write_escaped(stream, figure->series);
    fprintf(stream, ", %s: %s%s</title></circle>\n", figure_size(figure->size),
            figure_text(figure->rate), figure->unit);
}

/* The line of the series that figure k is the first of, and its name beside the picture. */
static void write_series(FILE *stream, const struct figure *figures, int64_t count, int64_t k,
                         const struct axis *x, const struct axis *y)
{
    const int64_t series = figures[k].series_place;
    const char *color = colors[series % color_count];
    const char *dashes = series >= color_count ? " stroke-dasharray=\"5 3\"" : "";
    const double name_y = top + 10 + 17 * (double)series;
    fprintf(stream, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"%s\"%s points=\"", color,
            is_own(&figures[k]) ? "2.2" : "1.2", dashes);
    for (int64_t i = k; i < count; i++)
        if (is_of_series(&figures[i], &figures[k]))
            fprintf(stream, "%.1f,%.1f ", place_on(x, figures[i].size),
                    place_on(y, figures[i].rate));
    fprintf(stream, "\"/>\n");
    for (int64_t i = k; i < count; i++)
        if (is_of_series(&figures[i], &figures[k]))
            write_point(stream, &figures[i], x, y, color);
    fprintf(stream,
            "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" "
            "stroke-width=\"2.2\"%s/>\n",
            right + 14, right + 34, name_y, name_y, color, dashes);
    write_text(stream, right + 40, name_y + 4, "start", figures[k].series);
}

static bool is_first_of_series(const struct figure *figures, int64_t k)
{
    for (int64_t i = 0; i < k; i++)
        if (is_of_series(&figures[i], &figures[k]))
            return false;
    return true;
}

static int64_t series_count(const struct figure *figures, int64_t count)
{
    int64_t series = 0;
    for (int64_t k = 0; k < count; k++)
        series += is_first_of_series(figures, k);
    return series;
}

static void begin_picture(FILE *stream, const struct figure *figures, double height)
{
    fprintf(stream, "<svg viewBox=\"0 0 %d %.0f\" role=\"img\" aria-label=\"", width, height);
    bench_write_escaped(stream, figures->panel);
    fprintf(stream, "\">\n");
}

static void write_lines(FILE *stream, const struct figure *figures, int64_t count)
{
    double least[2] = {INFINITY, INFINITY}, most[2] = {0, 0};
    for (int64_t k = 0; k < count; k++) {
        least[0] = fmin(least[0], figures[k].size);
        most[0] = fmax(most[0], figures[k].size);
        least[1] = fmin(least[1], figures[k].rate);
        most[1] = fmax(most[1], figures[k].rate);
    }
    const struct axis x = make_axis(least[0], most[0], left, right),
                      y = make_axis(least[1], most[1], bottom, top);
    const double names = 24 + 17 * (double)series_count(figures, count);
    begin_picture(stream, figures, fmax(bottom + 24, names));
    write_grid(stream, &x, true);
    write_grid(stream, &y, false);
    for (int64_t k = 0; k < count; k++)
        if (is_first_of_series(figures, k))
            write_series(stream, figures, count, k, &x, &y);
    fprintf(stream, "</svg>\n");
}

/* One bar a figure, those of a row beside each other, in the order of the series. */
static void write_bars(FILE *stream, const struct figure *figures, int64_t count)
{
    const int64_t series = series_count(figures, count);
    const int start = 150, end = right;
    int64_t rows = 0;
    double most = 0;
    for (int64_t k = 0; k < count; k++) {
        const int64_t row = figures[k].row_place;
        rows = row >= rows ? row + 1 : rows;
        most = fmax(most, figures[k].rate);
    }
    const double of_row = (double)(bar * series + bar_gap);
    begin_picture(stream, figures, top + fmax(of_row * (double)rows, 17 * (double)series + 10));
    for (int64_t k = 0; k < count; k++) {
        const int64_t row = figures[k].row_place, which = figures[k].series_place;
        const double y = top + of_row * (double)row + (double)(bar * which);
        const double length = (end - start) * figures[k].rate / most;
        fprintf(stream, "<rect x=\"%d\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>\n",
                start, y, length, bar - 2, colors[which % color_count]);
        write_text(stream, start + length + 5, y + bar - 3, "start", figure_text(figures[k].rate));
        if (which == 0)
            write_text(stream, start - 8, y + 0.5 * (double)(bar * series) + 4, "end",
                       *figures[k].what ? figures[k].what : figure_size(figures[k].size));
    }
    for (int64_t k = 0; k < count; k++)
        if (is_first_of_series(figures, k)) {
            const int64_t which = figures[k].series_place;
            const double y = top + 17 * (double)which;
            fprintf(stream, "<rect x=\"%d\" y=\"%.1f\" width=\"11\" height=\"11\" fill=\"%s\"/>\n",
                    right + 60, y, colors[which % color_count]);
            write_text(stream, right + 77, y + 10, "start", figures[k].series);
        }
    fprintf(stream, "</svg>\n");
}

void bench_chart_write(FILE *stream, const struct figure *figures, int64_t count)
{
    bool has_sizes = false;
    for (int64_t k = 1; k < count; k++)
        has_sizes = has_sizes || figures[k].size != figures[0].size;
    if (has_sizes && !*figures[0].what)
        write_lines(stream, figures, count);
    else
        write_bars(stream, figures, count);
}
