/* The picture of kith bench collisions: time against the number of beads, a line a method. */

#include <stdio.h>
#include <string.h>

#include "bench_collisions.h"
#include "gnuplot.h"

/* Colors as in plot_style.c; after the last one they return, with another mark and dashes. */
static const unsigned colors[] = {0x0072b2, 0xd55e00, 0x009e73, 0xcc79a7,
                                  0x56b4e9, 0xe69f00, 0x000000, 0x8c8c8c};
enum { color_count = sizeof colors / sizeof colors[0] };

static bool is_drawn_before(const struct collisions_rows *rows, int64_t k)
{
    for (int64_t before = 0; before < k; before++)
        if (strcmp(rows->row[before].name, rows->row[k].name) == 0)
            return true;
    return false;
}

static bool is_batch(const struct collisions_row *row)
{
    return strncmp(row->name, "batch", 5) == 0;
}

/* The rows of all methods, a block each, so that a method has one number in both graphs. */
static int64_t write_data(FILE *script, const struct collisions_rows *rows, const char *kind)
{
    int64_t methods = 0;
    fprintf(script, "$%s << END\n", kind);
    for (int64_t k = 0; k < rows->count; k++) {
        if (is_drawn_before(rows, k) || is_batch(&rows->row[k]))
            continue;
        gnuplot_write_text(script, rows->row[k].name);
        fputc('\n', script);
        for (int64_t other = k; other < rows->count; other++)
            if (strcmp(rows->row[other].name, rows->row[k].name) == 0 &&
                strcmp(rows->row[other].beads, kind) == 0)
                fprintf(script, "%lld %.9g\n", (long long)rows->row[other].count,
                        1e3 * rows->row[other].seconds);
        fprintf(script, "\n\n");
        methods++;
    }
    fprintf(script, "END\n");
    return methods;
}

static void write_graph(FILE *script, const char *kind, int64_t methods, bool has_key)
{
    fprintf(script, "set title \"%s\" noenhanced\n%s\nplot ", kind,
            has_key ? "set key outside right center Left reverse samplen 2" : "unset key");
    for (int64_t m = 0; m < methods; m++)
        fprintf(
            script,
            "%s$%s index %lld using 1:2 with linespoints lc rgb 0x%06x lw %s dt %d pt %d ps 0.7 "
            "title columnheader(1)",
            m ? ", " : "", kind, (long long)m, colors[m % color_count], m ? "1.5" : "3",
            m < color_count ? 1 : 2, m < color_count ? 7 : 9);
    fprintf(script, "\n");
}

bool bench_collisions_plot(const struct collisions_bench *bench, const struct collisions_rows *rows)
{
    FILE *script = tmpfile(), *picture = tmpfile();
    bool done = script && picture;
    if (done) {
        fprintf(script, "set terminal %s size 1500,600 background \"#ffffff\"\n",
                bench->format->terminal);
        const int64_t methods = write_data(script, rows, "walk");
        write_data(script, rows, "scattered");
        fprintf(script, "set logscale xy\nset format xy \"10^{%%L}\"\n"
                        "set xlabel \"beads\"\nset ylabel \"milliseconds a count\"\n"
                        "set grid lc rgb 0xdddddd lt 1\nset tics nomirror\nset border 3\n"
                        "set key noenhanced\nset multiplot\n"
                        "set lmargin at screen 0.06\nset rmargin at screen 0.39\n");
        write_graph(script, "walk", methods, false);
        fprintf(script, "set lmargin at screen 0.46\nset rmargin at screen 0.79\n");
        write_graph(script, "scattered", methods, true);
        fprintf(script, "unset multiplot\n");
        done = gnuplot_run(bench->common.command, script, picture) &&
               picture_write(bench->common.command, bench->plot, bench->format, picture);
    } else {
        cli_fail_with(bench->common.command, "no room for temporary files: the picture %s",
                      bench->plot);
    }
    if (script)
        fclose(script);
    if (picture)
        fclose(picture);
    return done;
}
