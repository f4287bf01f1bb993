/* A chain of beads, as a fold on a lattice: bonds between neighbours, a colour a name. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gnuplot.h"
#include "plot_style.h"

enum { most_names = theme_bodies };

/* The beads in the plane of the picture: as they are in 2D; seen from above a corner in 3D. */
struct chain {
    const kith_bodies *bodies;
    double *across, *up, *depth;
    struct span spans[2];
    const char *names[most_names];
    int name_count;
};

static void convert_to_double(struct span *span, double value)
{
    span->low = fmin(span->low, value);
    span->high = fmax(span->high, value);
}

static void project(struct chain *chain)
{
    const kith_bodies *bodies = chain->bodies;
    for (int k = 0; k < 2; k++)
        chain->spans[k] = (struct span){INFINITY, -INFINITY};
    for (int64_t i = 0; i < bodies->count; i++) {
        const double *x = bodies->position + i * bodies->dimensions;
        const bool flat = bodies->dimensions == 2;
        chain->across[i] = flat ? x[0] : 0.94 * x[0] - 0.34 * x[1];
        chain->up[i] = flat ? x[1] : x[2] + 0.16 * x[0] + 0.44 * x[1];
        chain->depth[i] = flat ? 0 : -0.3 * x[0] - 0.83 * x[1] + 0.47 * x[2];
        convert_to_double(&chain->spans[0], chain->across[i]);
        convert_to_double(&chain->spans[1], chain->up[i]);
    }
}

/* The number of a bead's name among the chain's; the last one is for all that are too many. */
static int name_of(struct chain *chain, int64_t i)
{
    const char *name = chain->bodies->name ? chain->bodies->name[i] : "";
    for (int k = 0; k < chain->name_count; k++)
        if (strcmp(chain->names[k], name) == 0)
            return k;
    if (chain->name_count == most_names)
        return most_names - 1;
    chain->names[chain->name_count] = name;
    return chain->name_count++;
}

/* Beads from far to near, so that the near ones hide others. */
static bool write_beads(FILE *script, const struct plot *plot, struct chain *chain)
{
    const int64_t n = chain->bodies->count;
    const struct theme *theme = theme_of(plot);
    int64_t *order = plot_allocate(plot, n, sizeof *order);
    if (!order)
        return false;
    for (int64_t i = 0; i < n; i++) { /* chains are short */
        int64_t k = i;
        for (; k > 0 && chain->depth[order[k - 1]] > chain->depth[i]; k--)
            order[k] = order[k - 1];
        order[k] = i;
    }
    fprintf(script, "$beads << END\n");
    for (int64_t k = 0; k < n; k++) {
        const struct body_style style = theme_body(theme, name_of(chain, order[k]));
        fprintf(script, "%.9g %.9g %u\n", chain->across[order[k]], chain->up[order[k]],
                style.color);
    }
    fprintf(script, "END\n$bonds << END\n");
    for (int64_t i = 0; i < n; i++)
        fprintf(script, "%.9g %.9g\n", chain->across[i], chain->up[i]);
    fprintf(script, "END\n");
    free(order);
    return true;
}

static void write_plot(FILE *script, const struct plot *plot, const struct chain *chain, double dot)
{
    const struct theme *theme = theme_of(plot);
    fprintf(script,
            "unset border\nunset tics\nset key top right\n"
            "plot [%.9g:%.9g] [%.9g:%.9g] $bonds using 1:2 with lines lw 4 lc rgb 0x%06x notitle, "
            "$beads using 1:2:3 with points pt 7 ps %.3g*em lc rgb variable notitle",
            chain->spans[0].low - 0.7, chain->spans[0].high + 0.7, chain->spans[1].low - 0.7,
            chain->spans[1].high + 0.7, theme->faint, dot);
    for (int k = 0; k < chain->name_count && chain->bodies->name; k++) {
        fprintf(script, ", NaN with points pt 7 ps %.3g*em lc rgb 0x%06x title ", fmin(dot, 1.2),
                theme_body(theme, k).color);
        gnuplot_write_text(script, chain->names[k]);
    }
    fprintf(script, "\n");
}

static int draw(const struct plot *plot, struct chain *chain, FILE *script)
{
    project(chain);
    const double width = chain->spans[0].high - chain->spans[0].low + 1.4;
    const double height = chain->spans[1].high - chain->spans[1].low + 1.4;
    const struct margins margins = {1, 1, 1, plot->title ? 3 : 1};
    struct box box;
    const struct canvas canvas =
        style_lay_out(plot, margins, 1, fmin(fmax(height / width, 0.3), 1.5), 10, &box);
    const double pixels = fmin(box.width / width, box.height / height); /* of a bond */
    style_begin(script, plot, canvas, "");
    style_place(script, canvas, box);
    fprintf(script, "set size ratio -1\n");
    style_header(script, plot, canvas, box, NULL);
    if (!write_beads(script, plot, chain))
        return exit_failed;
    write_plot(script, plot, chain, fmax(0.3, 0.5 * pixels / canvas.em));
    return exit_ok;
}

int plot_draw_chain(const struct plot *plot, kith_trajectory *trajectory, FILE *script)
{
    (void)trajectory;
    kith_bodies *bodies = NULL;
    const kith_read_options read = {.format = plot->input_format};
    if (kith_bodies_read(plot->input, &read, &bodies) != KITH_OK)
        return cli_fail(plot->command);
    int code = exit_failed;
    double *memory = plot_allocate(plot, 3 * bodies->count, sizeof *memory);
    struct chain chain = {.bodies = bodies, .across = memory};
    if (bodies->count == 0 || bodies->count > 100000) {
        cli_fail_with(plot->command, "%s has %lld beads; give 1 to 100000", plot->input,
                      (long long)bodies->count);
    } else if (memory) {
        chain.up = memory + bodies->count;
        chain.depth = memory + 2 * bodies->count;
        code = draw(plot, &chain, script);
    }
    free(memory);
    kith_bodies_free(bodies);
    return code;
}
