/* The curves of kith tune: unrolling, blocks, time on CPU and GPU, and the matrix's by block. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gnuplot.h"
#include "plot_picture.h"
#include "tune.h"

/* A curve: the rows that agree in all that is not negative or NULL, one thing against another. */
struct curve {
    const char *capability, *method;
    kith_device_kind device; /* 0: any */
    int64_t count;
    int32_t block, unroll, threads;
    int32_t bodies_per_thread, threads_per_body; /* 0: the usual ones */
    bool against_block;                          /* else against the count */
    bool seconds;                                /* else the rate */
    char title[80];
};

enum { any = -1, most_curves = 24 };

/* A picture that is being made. */
struct figure {
    const char *name, *title, *across, *up;
    struct curve curves[most_curves];
    int count;
    bool log_up;
};

static bool belongs(const struct curve *curve, const struct tune_row *row)
{
    return strcmp(row->capability, curve->capability) == 0 &&
           strcmp(row->method, curve->method) == 0 && row->precision == KITH_F32 &&
           (curve->device == 0 || row->device.kind == curve->device) &&
           (curve->count == any || row->count == curve->count) &&
           (curve->block == any || row->block == curve->block) &&
           (curve->unroll == any || row->unroll == curve->unroll) &&
           row->bodies_per_thread == curve->bodies_per_thread &&
           row->threads_per_body == curve->threads_per_body &&
           (curve->threads == any || row->threads == curve->threads);
}

struct point {
    double across, up;
};

/* Its points from left to right; how many. */
static int64_t collect(const struct curve *curve, const struct tune_rows *rows,
                       struct point *points)
{
    int64_t count = 0;
    for (int64_t k = 0; k < rows->count; k++) {
        const struct tune_row *row = &rows->row[k];
        if (!belongs(curve, row))
            continue;
        const struct point point = {curve->against_block ? (double)row->block : (double)row->count,
                                    curve->seconds ? row->seconds : tune_rate(row)};
        int64_t at = count++;
        for (; at > 0 && points[at - 1].across > point.across; at--)
            points[at] = points[at - 1];
        points[at] = point;
    }
    return count;
}

/* The power of N that the time grows with: least squares on the logarithms of the points with most
 * bodies, where overheads no longer count. */
static double slope(int64_t count, const struct point *points)
{
    const int64_t first = count > 4 ? count - 4 : 0;
    double x_sum = 0, y_sum = 0, xx = 0, xy = 0;
    const double n = (double)(count - first);
    for (int64_t k = first; k < count; k++) {
        const double x = log(points[k].across), y = log(points[k].up);
        x_sum += x;
        y_sum += y;
        xx += x * x;
        xy += x * y;
    }
    return (n * xy - x_sum * y_sum) / (n * xx - x_sum * x_sum);
}

static void write_curve(FILE *script, int number, int64_t count, const struct point *points)
{
    fprintf(script, "$curve%d << EOD\n", number);
    for (int64_t k = 0; k < count; k++)
        fprintf(script, "%.9g %.9g\n", points[k].across, points[k].up);
    fprintf(script, "EOD\n");
}

static void write_figure(FILE *script, const struct figure *figure, const struct tune_rows *rows,
                         struct point *points)
{
    int drawn = 0;
    char titles[most_curves][120];
    fprintf(script,
            "set terminal pngcairo enhanced size 1200,800 font 'Sans,15' linewidth 2\n"
            "set encoding utf8\nset key outside right\nset grid\nset logscale x 2\n"
            "set title \"%s\"\nset xlabel \"%s\"\nset ylabel \"%s\"\n%s",
            figure->title, figure->across, figure->up,
            figure->log_up ? "set logscale y\nset format y '10^{%L}'\n" : "set yrange [0:*]\n");
    for (int k = 0; k < figure->count; k++) {
        const struct curve *curve = &figure->curves[k];
        const int64_t count = collect(curve, rows, points);
        if (count < 2)
            continue;
        write_curve(script, drawn, count, points);
        if (curve->seconds)
            snprintf(titles[drawn], sizeof titles[0], "%s: N^{%.2f}", curve->title,
                     slope(count, points));
        else
            snprintf(titles[drawn], sizeof titles[0], "%s", curve->title);
        drawn++;
    }
    for (int k = 0; k < drawn; k++)
        fprintf(script, "%s $curve%d using 1:2 with linespoints pointtype %d title \"%s\"",
                k ? "," : "plot", k, k + 4, titles[k]);
    fprintf(script, "\n");
}

static bool has_points(const struct figure *figure, const struct tune_rows *rows,
                       struct point *points)
{
    for (int k = 0; k < figure->count; k++)
        if (collect(&figure->curves[k], rows, points) >= 2)
            return true;
    return false;
}

static bool draw(const struct tune_options *options, const struct figure *figure,
                 const struct tune_rows *rows)
{
    struct point *points = calloc((size_t)rows->count + 1, sizeof *points);
    FILE *script = tmpfile(), *picture = tmpfile();
    char *path = NULL;
    bool done = false;
    if (!points || !script || !picture ||
        asprintf(&path, "%s/%s", options->plots, figure->name) < 0)
        cli_fail_with(options->common.command, "no memory or no temporary file for %s",
                      figure->name);
    else if (!has_points(figure, rows, points))
        done = true;
    else {
        write_figure(script, figure, rows, points);
        rewind(script);
        done = picture_can_write(options->common.command, path) &&
               gnuplot_run(options->common.command, script, picture) &&
               picture_write(options->common.command, path, picture_format_of(path), picture);
    }
    if (script)
        fclose(script);
    if (picture)
        fclose(picture);
    free(path);
    free(points);
    return done;
}

static struct curve *add_curve(struct figure *figure, const char *capability, const char *method)
{
    struct curve *curve = &figure->curves[figure->count++];
    *curve = (struct curve){.capability = capability,
                            .method = method,
                            .count = any,
                            .block = any,
                            .unroll = any,
                            .threads = any};
    return curve;
}

static void add_methods(struct figure *figure)
{
    static const char *const names[] = {"split", "symmetric"};
    for (int k = 0; k < 2; k++) {
        struct curve *curve = add_curve(figure, "forces", names[k]);
        curve->device = KITH_CUDA;
        snprintf(curve->title, sizeof curve->title, "%s", names[k]);
    }
}

static struct figure unroll_figure(void)
{
    struct figure figure = {.name = "forces-unroll.png",
                            .title = "Forces by tiles of p = 256 threads, loops unrolled U times",
                            .across = "bodies N",
                            .up = "Gflop/s (20 flop an interaction, float)"};
    for (int32_t unroll = 1; unroll <= 32; unroll *= 2) {
        struct curve *curve = add_curve(&figure, "forces", "tile-p");
        curve->block = 256;
        curve->unroll = unroll;
        snprintf(curve->title, sizeof curve->title, "U = %d", (int)unroll);
    }
    add_methods(&figure);
    return figure;
}

/* Of one capability: both kinds of tiles, for each number of bodies. */
static struct figure block_figure(bool of_forces)
{
    struct figure figure = {
        .name = of_forces ? "forces-block.png" : "matrix-block.png",
        .title = of_forces ? "Forces by tiles of p and p² threads" : "Matrix by tiles",
        .across = "side of the tile p",
        .up = of_forces ? "Gflop/s (20 flop an interaction, float)" : "Gbyte/s written"};
    static const int64_t counts[] = {1024, 4096, 16384, 65536, 262144};
    for (int tile = 0; tile < 2; tile++)
        for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++) {
            struct curve *curve =
                add_curve(&figure, of_forces ? "forces" : "matrix", tile ? "tile-p2" : "tile-p");
            curve->count = counts[k];
            curve->unroll = tile || !of_forces ? any : 16;
            curve->against_block = true;
            snprintf(curve->title, sizeof curve->title, "%s, N = %lld", tile ? "p²" : "p",
                     (long long)counts[k]);
        }
    return figure;
}

/* Bodies of a thread with a warp per body, threads of a body with four bodies per thread, and as
 * split deals them itself. */
static struct figure split_figure(void)
{
    struct figure figure = {.name = "forces-split.png",
                            .title = "Forces by split: bodies a thread × threads a body",
                            .across = "bodies N",
                            .up = "Gflop/s (20 flop an interaction, float)"};
    static const int32_t ways[][2] = {{1, 32}, {2, 32},  {4, 32},  {8, 32},
                                      {4, 64}, {4, 128}, {4, 256}, {0, 0}};
    for (size_t k = 0; k < sizeof ways / sizeof ways[0]; k++) {
        struct curve *curve = add_curve(&figure, "forces", "split");
        curve->device = KITH_CUDA;
        curve->bodies_per_thread = ways[k][0];
        curve->threads_per_body = ways[k][1];
        if (ways[k][0])
            snprintf(curve->title, sizeof curve->title, "%d × %d", (int)ways[k][0],
                     (int)ways[k][1]);
        else
            snprintf(curve->title, sizeof curve->title, "its own choice");
    }
    return figure;
}

static struct figure time_figure(const struct tune_rows *rows)
{
    struct figure figure = {.name = "forces-time.png",
                            .title = "Time of all forces, float",
                            .across = "bodies N",
                            .up = "seconds",
                            .log_up = true};
    static const char *const names[] = {"split", "symmetric"};
    int32_t all = 1;
    for (int64_t k = 0; k < rows->count; k++)
        all = rows->row[k].threads > all ? rows->row[k].threads : all;
    for (int gpu = 0; gpu < 2; gpu++)
        for (int32_t threads = 1; threads <= all; threads = threads < all ? all : all + 1)
            for (int k = 0; k < 2; k++) {
                if (gpu && threads > 1)
                    continue;
                struct curve *curve = add_curve(&figure, "forces", names[k]);
                curve->device = gpu ? KITH_CUDA : KITH_CPU;
                curve->threads = gpu ? 0 : threads;
                curve->seconds = true;
                if (gpu)
                    snprintf(curve->title, sizeof curve->title, "GPU, %s", names[k]);
                else
                    snprintf(curve->title, sizeof curve->title, "CPU × %d, %s", (int)threads,
                             names[k]);
            }
    return figure;
}

bool tune_plot(const struct tune_options *options, const struct tune_rows *rows)
{
    const struct figure figures[] = {unroll_figure(), block_figure(true), split_figure(),
                                     time_figure(rows), block_figure(false)};
    for (size_t k = 0; k < sizeof figures / sizeof figures[0]; k++)
        if (!draw(options, &figures[k], rows))
            return false;
    return true;
}
