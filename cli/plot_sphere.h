#ifndef CLI_PLOT_SPHERE_H
#define CLI_PLOT_SPHERE_H

#include "plot_style.h"

/* How spheres are drawn: as discs of one color on each other, which every format of pictures has.
 */
struct sphere_style {
    double diameter;      /* em */
    double length_per_em; /* of the graph's axes */
    unsigned outline;     /* color */
    int layers;           /* of light, at least 1 */
};

/* The color of the outline. */
unsigned sphere_outline(const struct plot *plot);

/* Writes a sphere lit from the upper left, with an outline: lines of place, pointsize in em and
 * color for "using 1:2:($3*em):4 with points pointtype 7 pointsize variable linecolor rgb
 * variable". What is written later is before it. */
void sphere_write(FILE *script, const struct sphere_style *style, double x, double y,
                  unsigned color);

#endif
