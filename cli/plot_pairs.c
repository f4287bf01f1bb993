/* Pairs nearer than a cutoff: how many there are at each distance, and how many each particle has.
 */

#include <math.h>
#include <stdlib.h>

#include "plot_style.h"

enum { distance_bins = 120, most_bars = 400 };

/* What is drawn: bars of one width side by side, or a line through their middles. */
struct histogram {
    int64_t bars;
    double first, width; /* the left edge of the first one */
    double *height;
    const char *across, *up, *note;
    bool is_line;
};

static bool is_periodic(const kith_bodies *bodies)
{
    for (int32_t k = 0; k < bodies->dimensions; k++)
        if (!bodies->has_cell || !bodies->periodic[k])
            return false;
    return true;
}

/* The file's cell, or that of --box. */
static int take_box(const struct plot *plot, kith_bodies *bodies)
{
    if (plot->box_sides == 0)
        return exit_ok;
    if (plot->box_sides != bodies->dimensions)
        return cli_fail_with(plot->command, "--box has %d lengths, and %s has %d dimensions",
                             plot->box_sides, plot->input, (int)bodies->dimensions);
    bodies->has_cell = true;
    for (int k = 0; k < 3; k++) {
        for (int c = 0; c < 3; c++)
            bodies->cell[3 * k + c] = k != c ? 0 : k < plot->box_sides ? plot->box[k] : 1;
        bodies->periodic[k] = k < plot->box_sides;
    }
    return exit_ok;
}

static double volume_of(const kith_bodies *bodies)
{
    const double *a = bodies->cell, *b = a + 3, *c = a + 6;
    if (bodies->dimensions == 2)
        return fabs(a[0] * b[1] - a[1] * b[0]);
    return fabs(a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0]) +
                a[2] * (b[0] * c[1] - b[1] * c[0]));
}

static kith_status list_pairs(const struct plot *plot, const kith_bodies *bodies, unsigned quantity,
                              kith_context **context, kith_pairs **pairs)
{
    const kith_pairs_options options = {.cutoff = plot->cutoff, .quantities = quantity};
    kith_cell cell = {0};
    for (int k = 0; bodies->has_cell && k < 3; k++) {
        cell.periodic[k] = k < bodies->dimensions && bodies->periodic[k];
        for (int c = 0; c < 3; c++)
            cell.vectors[k][c] = bodies->cell[3 * k + c];
    }
    const kith_status status =
        kith_context_create(&(kith_context_options){.device = {KITH_CPU, 0}}, context);
    if (status != KITH_OK)
        return status;
    return kith_pairs_compute(
        *context, &options,
        kith_array_matrix(bodies->position, KITH_F64, bodies->count, bodies->dimensions),
        bodies->has_cell ? &cell : NULL, pairs);
}

/* The volume of the shell between two distances. */
static double shell(int32_t dimensions, double inner, double outer)
{
    return dimensions == 2 ? M_PI * (outer * outer - inner * inner)
                           : 4 * M_PI / 3 * (outer * outer * outer - inner * inner * inner);
}

/* Neighbors of a particle in a shell, over its volume and, if there is one, the mean density. */
static bool count_distances(const struct plot *plot, const kith_bodies *bodies,
                            const kith_pairs *pairs, struct histogram *histogram)
{
    const double *distance = pairs->distances.data;
    const bool periodic = is_periodic(bodies);
    const double density = periodic ? (double)bodies->count / volume_of(bodies) : 1;
    const double width = plot->cutoff / distance_bins;
    *histogram = (struct histogram){
        .bars = distance_bins,
        .width = width,
        .height = plot_allocate(plot, distance_bins, sizeof(double)),
        .across = "distance  {/:Italic r}",
        .up = periodic ? "{/:Italic g}({/:Italic r})" : "neighbors per unit volume",
        .is_line = true,
    };
    for (int64_t p = 0; histogram->height && p < pairs->count; p++)
        histogram->height[(int64_t)fmin(distance[p] / width, distance_bins - 1)]++;
    for (int64_t k = 0; histogram->height && k < distance_bins; k++)
        histogram->height[k] /=
            (double)bodies->count * density *
            shell(bodies->dimensions, (double)k * width, (double)(k + 1) * width);
    return histogram->height != NULL;
}

static bool count_neighbors(const struct plot *plot, const kith_bodies *bodies,
                            const kith_pairs *pairs, struct histogram *histogram)
{
    const int64_t *offsets = pairs->offsets.data;
    int64_t least = INT64_MAX, most = 0;
    for (int64_t i = 0; i < bodies->count; i++) {
        const int64_t count = offsets[i + 1] - offsets[i];
        least = count < least ? count : least;
        most = count > most ? count : most;
    }
    const int64_t wide = (most - least) / most_bars + 1; /* counts a bar */
    *histogram = (struct histogram){
        .bars = (most - least) / wide + 1,
        .first = (double)least - 0.5,
        .width = (double)wide,
        .across = "neighbors of a particle",
        .up = "particles",
    };
    histogram->height = plot_allocate(plot, histogram->bars, sizeof(double));
    for (int64_t i = 0; histogram->height && i < bodies->count; i++)
        histogram->height[(offsets[i + 1] - offsets[i] - least) / wide]++;
    return histogram->height != NULL;
}

static void write_histogram(const struct plot *plot, const struct histogram *histogram,
                            FILE *script)
{
    const double last = histogram->first + (double)histogram->bars * histogram->width;
    struct span spans[2] = {{histogram->first, last}, {0, 0}};
    for (int64_t k = 0; k < histogram->bars; k++)
        spans[1].high = fmax(spans[1].high, 1.05 * histogram->height[k]);
    spans[1].high = spans[1].high > 0 ? spans[1].high : 1;
    const struct margins margins = {6, 2, 3.9, plot->title || histogram->note ? 2.6 : 1.4};
    struct box box;
    const struct canvas canvas = style_lay_out(plot, margins, 1, 0.6, 0, &box);
    const double steps[2] = {box.width / (7 * canvas.em), box.height / (3.5 * canvas.em)};
    const char *const symbols[2] = {histogram->across, histogram->up};
    struct axis axes[2];
    for (int k = 0; k < 2; k++) {
        const struct unit unit = unit_of(&spans[k], 1, "");
        const struct span scaled = {spans[k].low * unit.factor, spans[k].high * unit.factor};
        const double step = tic_step(scaled.high - scaled.low, steps[k]);
        axes[k] = (struct axis){scaled, histogram->is_line ? step : fmax(step, unit.factor),
                                symbols[k], unit};
    }
    style_begin(script, plot, canvas, "");
    style_header(script, plot, canvas, box, histogram->note);
    style_axes(script, plot, canvas, box, axes);
    fprintf(script, "$bars << END\n");
    for (int64_t k = 0; k < histogram->bars; k++)
        fprintf(script, "%.9g %.9g\n",
                (histogram->first + ((double)k + 0.5) * histogram->width) * axes[0].unit.factor,
                histogram->height[k] * axes[1].unit.factor);
    fprintf(script, "END\n");
    if (histogram->is_line)
        fprintf(script, "plot $bars with lines linewidth 2");
    else
        fprintf(script,
                "set boxwidth %.9g\nset style fill solid 0.7 noborder\nplot $bars with boxes",
                0.9 * histogram->width * axes[0].unit.factor);
    fprintf(script, " linecolor rgb '#%06x' notitle\n", theme_body(theme_of(plot), 0).color);
}

static int draw(const struct plot *plot, kith_bodies *bodies, bool distances, FILE *script)
{
    kith_context *context = NULL;
    kith_pairs *pairs = NULL;
    struct histogram histogram = {0};
    char note[96] = "";
    int code = take_box(plot, bodies);
    if (code == exit_ok && bodies->count == 0)
        code = cli_fail_with(plot->command, "%s has no particles to draw", plot->input);
    if (code != exit_ok)
        return code;
    code = exit_failed;
    if (list_pairs(plot, bodies, distances ? KITH_PAIRS_DISTANCES : KITH_PAIRS_COUNTS, &context,
                   &pairs) != KITH_OK) {
        cli_fail(plot->command);
    } else if (distances ? count_distances(plot, bodies, pairs, &histogram)
                         : count_neighbors(plot, bodies, pairs, &histogram)) {
        const double listed = (double)((const int64_t *)pairs->offsets.data)[bodies->count];
        snprintf(note, sizeof note, "%lld particles, %.4g neighbors each within %.4g",
                 (long long)bodies->count, listed / (double)bodies->count, plot->cutoff);
        histogram.note = note;
        write_histogram(plot, &histogram, script);
        code = exit_ok;
    }
    free(histogram.height);
    kith_pairs_free(pairs);
    kith_context_free(context);
    return code;
}

static int read_and_draw(const struct plot *plot, bool distances, FILE *script)
{
    kith_bodies *bodies = NULL;
    const kith_read_options read = {.format = plot->input_format};
    if (kith_bodies_read(plot->input, &read, &bodies) != KITH_OK)
        return cli_fail(plot->command);
    const int code = draw(plot, bodies, distances, script);
    kith_bodies_free(bodies);
    return code;
}

int plot_draw_distances(const struct plot *plot, kith_trajectory *trajectory, FILE *script)
{
    (void)trajectory;
    return read_and_draw(plot, true, script);
}

int plot_draw_neighbors(const struct plot *plot, kith_trajectory *trajectory, FILE *script)
{
    (void)trajectory;
    return read_and_draw(plot, false, script);
}
