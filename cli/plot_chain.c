/* A chain of beads, as a fold on a lattice: shaded spheres of a color a name, and the bonds
 * between neighbors, each before what is farther away. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gnuplot.h"
#include "plot_sphere.h"

enum { most_names = theme_bodies, sorted_exactly = 300, depth_levels = 64 };

/* The beads in the plane of the picture: as they are in 2D; seen from above a corner in 3D. */
struct chain {
    const kith_bodies *bodies;
    double *across, *up, *depth;
    double farthest, nearest; /* depths */
    struct span spans[2];
    bool begins_with_bond; /* the first of the parts of the picture */
    const char *names[most_names];
    int name_count;
};

static void widen(struct span *span, double value)
{
    span->low = fmin(span->low, value);
    span->high = fmax(span->high, value);
}

static void project(struct chain *chain)
{
    const kith_bodies *bodies = chain->bodies;
    for (int k = 0; k < 2; k++)
        chain->spans[k] = (struct span){INFINITY, -INFINITY};
    chain->farthest = INFINITY;
    chain->nearest = -INFINITY;
    for (int64_t i = 0; i < bodies->count; i++) {
        const double *x = bodies->position + i * bodies->dimensions;
        const bool flat = bodies->dimensions == 2;
        chain->across[i] = flat ? x[0] : 0.94 * x[0] - 0.34 * x[1];
        chain->up[i] = flat ? x[1] : x[2] + 0.16 * x[0] + 0.44 * x[1];
        chain->depth[i] = flat ? 0 : -0.3 * x[0] - 0.83 * x[1] + 0.47 * x[2];
        widen(&chain->spans[0], chain->across[i]);
        widen(&chain->spans[1], chain->up[i]);
        chain->farthest = fmin(chain->farthest, chain->depth[i]);
        chain->nearest = fmax(chain->nearest, chain->depth[i]);
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

/* A bead, or the bond from it to the next, in the order of drawing: the farthest first. A bond is
 * drawn after the farther one of its beads and before the nearer one; of two as far, before both.
 */
struct item {
    double depth;
    int turn; /* 0: a bond next to its beads, 1: a bead, 2: a bond that comes nearer */
    int64_t bead;
    bool is_bond;
};

static int compare(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    if (x->depth != y->depth)
        return x->depth < y->depth ? -1 : 1;
    if (x->turn != y->turn)
        return x->turn - y->turn;
    return (x->bead > y->bead) - (x->bead < y->bead);
}

/* Each change between beads and bonds is a part of the plot: of long chains depths are rounded, so
 * that there are not too many. */
static double rounded(const struct chain *chain, double depth)
{
    const double range = chain->nearest - chain->farthest;
    if (chain->bodies->count <= sorted_exactly || range <= 0)
        return depth;
    return floor((depth - chain->farthest) / range * (depth_levels - 1) + 0.5);
}

static struct item *sorted_items(const struct plot *plot, const struct chain *chain)
{
    const int64_t n = chain->bodies->count;
    const double close = 1e-6;
    struct item *items = plot_allocate(plot, 2 * n - 1, sizeof *items);
    for (int64_t i = 0; items && i < n; i++) {
        const double here = rounded(chain, chain->depth[i]);
        items[i] = (struct item){here, 1, i, false};
        if (i + 1 == n)
            break;
        const double there = rounded(chain, chain->depth[i + 1]);
        items[n + i] =
            (struct item){fmin(here, there), fabs(here - there) > close ? 2 : 0, i, true};
    }
    if (items)
        qsort(items, (size_t)(2 * n - 1), sizeof *items, compare);
    return items;
}

/* The color of what is at a depth: paler, the farther away; not in a GIF, which has 256 colors.
 */
static unsigned faded(const struct plot *plot, const struct chain *chain, unsigned color,
                      double depth)
{
    const double range = chain->nearest - chain->farthest;
    if (strcmp(plot->format->extension, "gif") == 0)
        return color;
    const double away = range > 0 ? (chain->nearest - depth) / range : 0;
    return theme_mix(color, theme_of(plot)->background, 0.4 * away);
}

/* A bond begins at the surface of the farther bead, which it would else seem to come out of the
 * middle of. */
static void write_bond(FILE *script, const struct chain *chain, int64_t bead, double radius)
{
    const bool forward = chain->depth[bead] <= chain->depth[bead + 1];
    const int64_t far = forward ? bead : bead + 1, near = forward ? bead + 1 : bead;
    const int32_t d = chain->bodies->dimensions;
    double length2 = 0;
    for (int32_t k = 0; k < d; k++) {
        const double step =
            chain->bodies->position[near * d + k] - chain->bodies->position[far * d + k];
        length2 += step * step;
    }
    const double part = length2 > radius * radius ? 0.9 * radius / sqrt(length2) : 0;
    const double across = chain->across[near] - chain->across[far];
    const double up = chain->up[near] - chain->up[far];
    fprintf(script, "%.7g %.7g %.7g %.7g\n", chain->across[far] + part * across,
            chain->up[far] + part * up, (1 - part) * across, (1 - part) * up);
}

/* The parts of the picture as blocks of data, $part0, $part1 …; returns how many, or −1. */
static int write_parts(FILE *script, const struct plot *plot, struct chain *chain,
                       const struct sphere_style *style)
{
    const int64_t count = 2 * chain->bodies->count - 1;
    const double radius = 0.5 * style->diameter * style->length_per_em;
    struct item *items = sorted_items(plot, chain);
    int parts = 0;
    if (!items)
        return -1;
    for (int64_t k = 0; k < count; k++) {
        if (k == 0 || items[k].is_bond != items[k - 1].is_bond)
            fprintf(script, "%s$part%d << END\n", k == 0 ? "" : "END\n", parts++);
        const int64_t bead = items[k].bead;
        const unsigned color = theme_body(theme_of(plot), name_of(chain, bead)).color;
        struct sphere_style here = *style;
        here.outline = faded(plot, chain, style->outline, chain->depth[bead]);
        if (items[k].is_bond)
            write_bond(script, chain, bead, radius);
        else
            sphere_write(script, &here, chain->across[bead], chain->up[bead],
                         faded(plot, chain, color, chain->depth[bead]));
    }
    fprintf(script, "END\n");
    chain->begins_with_bond = items[0].is_bond;
    free(items);
    return parts;
}

static void write_part(FILE *script, const struct chain *chain, const struct sphere_style *style,
                       int part)
{
    const double width = 4.2 * style->diameter; /* in sixteenths of an em */
    if ((part % 2 == 0) == chain->begins_with_bond)
        fprintf(script,
                "$part%d with vectors nohead lw %.3g lc rgb 0x%06x notitle, "
                "$part%d with vectors nohead lw %.3g lc rgb 0x%06x notitle",
                part, width, style->outline, part, 0.62 * width, 0xb9bec6);
    else
        fprintf(script,
                "$part%d using 1:2:($3*em):4 with points pt 7 ps variable lc rgb variable notitle",
                part);
}

static void write_plot(FILE *script, const struct plot *plot, const struct chain *chain,
                       const struct sphere_style *style, int parts)
{
    fprintf(script,
            "unset border\nunset tics\nset key top right\n"
            "plot [%.9g:%.9g] [%.9g:%.9g] ",
            chain->spans[0].low - 0.7, chain->spans[0].high + 0.7, chain->spans[1].low - 0.7,
            chain->spans[1].high + 0.7);
    for (int k = 0; k < parts; k++) {
        fprintf(script, "%s", k > 0 ? ", " : "");
        write_part(script, chain, style, k);
    }
    for (int k = 0; k < chain->name_count && chain->bodies->name; k++) {
        fprintf(script, ", NaN with points pt 7 ps %.3g*em lc rgb 0x%06x title ",
                fmin(style->diameter, 0.9), theme_body(theme_of(plot), k).color);
        gnuplot_write_text(script, chain->names[k]);
    }
    fprintf(script, "\n");
}

static int draw(const struct plot *plot, struct chain *chain, FILE *script)
{
    for (int64_t i = 0; i < chain->bodies->count; i++)
        name_of(chain, i); /* their colors are in the order of the file */
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
    const int64_t n = chain->bodies->count;
    const struct sphere_style style = {fmax(0.3, 0.56 * pixels / canvas.em), canvas.em / pixels,
                                       sphere_outline(plot),
                                       n <= 100     ? 24
                                       : n <= 1000  ? 12
                                       : n <= 10000 ? 5
                                                    : 1};
    const int parts = write_parts(script, plot, chain, &style);
    if (parts < 0)
        return exit_failed;
    write_plot(script, plot, chain, &style, parts);
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
