#ifndef CLI_RASTER_H
#define CLI_RASTER_H

#include <stdbool.h>

/* A picture in memory. Coordinates are in pixels from its upper left corner, down; the middle of
 * the first pixel is (0.5, 0.5). */
struct raster {
    int width, height;
    unsigned char *rgb;  /* rows from the top, red, green, blue */
    unsigned char *mask; /* how much strokes cover of each pixel that are not painted yet */
    int inked[4];        /* where: first and last column, first and last row */
};

/* False without memory. It is freed with raster_free in any case. */
bool raster_create(int width, int height, struct raster *raster);
void raster_free(struct raster *raster);

/* A line with round ends, antialiased, in the mask: strokes that meet are one. */
void raster_stroke(struct raster *raster, double x0, double y0, double x1, double y1,
                   double radius);

/* A rectangle whose sides are between pixels, in the mask. */
void raster_fill(struct raster *raster, int left, int top, int right, int bottom);

/* Paints the mask with a color, 0xRRGGBB, and clears it. */
void raster_paint(struct raster *raster, unsigned color, double opacity);

/* Sets a pixel, which must be inside. */
void raster_set(struct raster *raster, int column, int row, unsigned color);

#endif
