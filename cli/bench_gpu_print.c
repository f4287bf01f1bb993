/* What was measured on a GPU, as tables. */

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench_forces.h"

void bench_print_gpu_heading(const struct bench_options *options, bool steps)
{
    if (steps)
        printf("\nSteps of %s on %s; steps/s are those of a system times the systems\n"
               "      N   systems  precis.       us/step          best         steps/s\n",
               options->integrator, cli_device_name(options->common.device));
    else
        printf("\nAll-pairs forces on %s: microseconds of kith_forces_compute with arrays on the "
               "host and on the\ndevice, of its kernels alone, and of the GPU Gems 3 kernel; \"-\" "
               "takes too long for --seconds\n"
               "      N  precis.        host      device     kernels  Tflop/s  limit    GPU Gems  "
               "Tflop/s  speed\n",
               cli_device_name(options->common.device));
}

static double microseconds(const struct bench_row *row)
{
    return 1e6 * contestant_median(&row->contestant);
}

static void print_microseconds(const struct bench_row *row)
{
    if (row && !row->left_out)
        printf("  %10.*f", microseconds(row) < 1e6 ? 1 : 0, microseconds(row));
    else
        printf("  %10s", "-");
}

static void print_tflops(const struct bench_row *row)
{
    const double seconds = row && !row->left_out ? contestant_median(&row->contestant) : NAN;
    if (isfinite(seconds))
        printf("  %7.3f", 1e-12 * flop_per_interaction * bench_rate(row, seconds));
    else
        printf("  %7s", "-");
}

/* Of the kernels: percent of what the device can do. */
static void print_percent(const struct bench_row *row)
{
    char text[16] = "-";
    if (row && !row->left_out && isfinite(row->limit))
        snprintf(text, sizeof text, "%.0f%%",
                 100 * bench_rate(row, contestant_median(&row->contestant)) / row->limit);
    printf("  %5s", text);
}

/* The precision's row, from first on, of one thing that is measured; NULL if there is none. */
static const struct bench_row *find(const struct bench_rows *rows, int64_t first,
                                    kith_dtype precision, const char *name, const char *measured)
{
    for (int64_t k = first; k < rows->count; k++) {
        const struct competitor *who = rows->at[k].competitor;
        if (who->precision == precision && strcmp(who->name, name) == 0 &&
            strcmp(who->measured, measured) == 0)
            return &rows->at[k];
    }
    return NULL;
}

static void print_forces(const struct bench_rows *rows, int64_t first, kith_dtype precision)
{
    const struct bench_row *kernels = find(rows, first, precision, "kith", "kernels");
    const struct bench_row *gems = find(rows, first, precision, "GPU Gems 3", "kernels");
    printf("%7lld  %-7s", (long long)rows->at[first].bodies, cli_precision_name(precision));
    print_microseconds(find(rows, first, precision, "kith", "host arrays"));
    print_microseconds(find(rows, first, precision, "kith", "device arrays"));
    print_microseconds(kernels);
    print_tflops(kernels);
    print_percent(kernels);
    print_microseconds(gems);
    print_tflops(gems);
    if (gems && gems->kith)
        printf("  %.2fx", contestant_ratio(&gems->contestant, &gems->kith->contestant));
    else
        printf("      -");
    putchar('\n');
}

static void print_steps(const struct bench_row *row)
{
    printf("%7lld  %8lld  %-7s", (long long)row->bodies, (long long)row->systems,
           cli_precision_name(row->competitor->precision));
    if (row->left_out) {
        printf("  left out: too long for --seconds\n");
        return;
    }
    const double seconds = contestant_median(&row->contestant);
    printf("  %12.4f  %12.4f  %14.0f\n", 1e6 * seconds, 1e6 * contestant_best(&row->contestant),
           bench_rate(row, seconds));
}

void bench_print_gpu_rows(const struct bench_rows *rows, int64_t first)
{
    for (int64_t k = first; k < rows->count; k++) {
        const kith_dtype precision = rows->at[k].competitor->precision;
        if (rows->at[k].systems)
            print_steps(&rows->at[k]);
        else if (k == first || precision != rows->at[k - 1].competitor->precision)
            print_forces(rows, first, precision);
    }
    fflush(stdout);
}
