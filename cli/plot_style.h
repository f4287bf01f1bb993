#ifndef CLI_PLOT_STYLE_H
#define CLI_PLOT_STYLE_H

#include "plot_tracks.h"

enum { theme_bodies = 8, theme_ramp_stops = 5, theme_ramp_levels = 24 };

/* Colors as 0xRRGGBB. */
struct theme {
    unsigned background, foreground, faint;
    unsigned body[theme_bodies];
    unsigned ramp[theme_ramp_stops]; /* from sparse to dense */
};

/* The style of the kth of few bodies: the colors return after theme_bodies of them, with another
 * mark and line. */
struct body_style {
    unsigned color;
    int mark, dash; /* gnuplot's pointtype and dashtype */
};

const struct theme *theme_of(const struct plot *plot);
struct body_style theme_body(const struct theme *theme, int64_t body);

/* A color between two; share 0 is the first. */
unsigned theme_mix(unsigned first, unsigned second, double share);

/* The color of a density from 0 to 1, in theme_ramp_levels steps: a GIF has only 256 colors. */
unsigned theme_density(const struct theme *theme, double density);

/* The picture's size in pixels, and the font's; all lengths of a layout are multiples of em. */
struct canvas {
    int width, height;
    double em;
};

/* A rectangle of the canvas in pixels, from its lower left corner. */
struct box {
    double left, bottom, width, height;
};

/* Room around graphs for their letters, in em. */
struct margins {
    double left, right, bottom, top;
};

/* Those of a graph with labeled axes, the key, and a line above if there is a title or time. */
struct margins style_margins(const struct plot *plot, const struct tracks *tracks);

/* Places graphs side by side, each with the margins, but the right one only once. If the user gave
 * no height, the graphs' is shape times their width, and at least least em. */
struct canvas style_lay_out(const struct plot *plot, struct margins margins, int graphs,
                            double shape, double least, struct box *boxes);

/* Numbers on an axis are divided by 10^exponent, so that they stay short: a multiple of 3, and 0
 * for numbers of usual size. */
struct unit {
    int exponent;
    double factor;  /* 10^-exponent */
    kith_name name; /* the file's, or "" */
};

struct unit unit_of(const struct span *spans, int count, const char *name);

/* A step of 1, 2 or 5 · 10^k between marks on an axis, with at most this many steps on it. */
double tic_step(double length, double steps);

/* Writes the script's beginning: terminal, colors, frame. options are more of the terminal's. In
 * the script the variable em is the pointsize of a dot of that diameter. */
void style_begin(FILE *script, const struct plot *plot, struct canvas canvas, const char *options);

/* Writes the position of the graph. */
void style_place(FILE *script, struct canvas canvas, struct box box);

/* Writes that the key, if the plot has titles, is a column at the right of a box. */
void style_key(FILE *script, const struct plot *plot, struct canvas canvas, struct box box);

/* Writes the title at the left above a box, and a note at the right; both may be NULL. */
void style_header(FILE *script, const struct plot *plot, struct canvas canvas, struct box box,
                  const char *note);

/* The same with the time of the frame that a picture of many bodies shows. */
void style_time_header(FILE *script, const struct plot *plot, struct canvas canvas, struct box box,
                       const struct tracks *tracks);

/* An axis of a graph. */
struct axis {
    struct span span;   /* in the unit */
    double step;        /* between marks */
    const char *symbol; /* in gnuplot's enhanced text */
    struct unit unit;
};

/* Writes where a graph is, and its axes: across, then up. */
void style_axes(FILE *script, const struct plot *plot, struct canvas canvas, struct box box,
                const struct axis axes[2]);

/* Makes the axis upwards a logarithmic one, of numbers in its unit, with marks at 1, 2 and 5 times
 * powers of ten, or at the powers alone. */
void style_logarithmic_axis(FILE *script, struct span span);

/* Digits after the point that marks at multiples of a step need. */
int tic_decimals(double step);

/* Letters of the number at a mark near a value. */
int style_mark_letters(double value, double step);

/* Writes "label" in gnuplot's enhanced text, as a string, with the unit. */
void style_write_label(FILE *script, const char *label, struct unit unit);

/* Diameter of the dots for many bodies in em: the smaller, the more. Chosen by eye. */
double style_dot(const struct tracks *tracks);

/* "{/:Italic x}" for 0, …: the name of a coordinate. */
const char *style_coordinate(int axis);

/* The height of the key, in em. */
double style_key_height(const struct tracks *tracks);

#endif
