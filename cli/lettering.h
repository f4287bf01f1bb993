#ifndef CLI_LETTERING_H
#define CLI_LETTERING_H

#include "raster.h"

/* Letters drawn with lines (Hershey 1967), for pictures that the program paints itself: they need
 * no library and no font file, fit any size, and give the same pixels on every machine. There are
 * those of ASCII, and some signs of units; any other character is a box.
 *
 * What is between lettering_raise and lettering_lower is a smaller exponent. */
#define lettering_raise "\x0e"
#define lettering_lower "\x0f"

/* The width of a UTF-8 text whose capitals are size pixels high. */
double lettering_width(const char *text, double size);

/* Draws it into the mask of a raster, from a place on its base line; lines are 2 radius thick. */
void lettering_draw(struct raster *raster, double x, double y, double size, double radius,
                    const char *text);

#endif
