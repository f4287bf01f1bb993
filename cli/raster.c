/* Lines on pixels. */

#include "raster.h"

#include <math.h>
#include <stdlib.h>

static void forget_ink(struct raster *raster)
{
    raster->inked[0] = raster->width;
    raster->inked[2] = raster->height;
    raster->inked[1] = raster->inked[3] = -1;
}

bool raster_create(int width, int height, struct raster *raster)
{
    const size_t pixels = (size_t)width * (size_t)height;
    *raster = (struct raster){width, height, calloc(pixels, 3), calloc(pixels, 1), {0}};
    forget_ink(raster);
    return raster->rgb && raster->mask;
}

void raster_free(struct raster *raster)
{
    free(raster->rgb);
    free(raster->mask);
    *raster = (struct raster){0};
}

static void cover(struct raster *raster, int column, int row, unsigned char coverage)
{
    unsigned char *pixel = &raster->mask[(size_t)row * (size_t)raster->width + (size_t)column];
    int *inked = raster->inked;
    *pixel = coverage > *pixel ? coverage : *pixel;
    inked[0] = column < inked[0] ? column : inked[0];
    inked[1] = column > inked[1] ? column : inked[1];
    inked[2] = row < inked[2] ? row : inked[2];
    inked[3] = row > inked[3] ? row : inked[3];
}

static double clamped(double value, double low, double high)
{
    return value < low ? low : value > high ? high : value;
}

/* The distance of a point from a line. */
static double distance(double x, double y, const double from[2], const double step[2])
{
    const double length2 = step[0] * step[0] + step[1] * step[1];
    const double dot = (x - from[0]) * step[0] + (y - from[1]) * step[1];
    const double part = length2 > 0 ? clamped(dot / length2, 0, 1) : 0;
    const double dx = x - from[0] - part * step[0], dy = y - from[1] - part * step[1];
    return sqrt(dx * dx + dy * dy);
}

void raster_stroke(struct raster *raster, double x0, double y0, double x1, double y1, double radius)
{
    const double reach = radius + 1, from[2] = {x0, y0}, step[2] = {x1 - x0, y1 - y0};
    const int left = (int)clamped(fmin(x0, x1) - reach, 0, raster->width);
    const int right = (int)clamped(fmax(x0, x1) + reach, -1, raster->width - 1);
    const int top = (int)clamped(fmin(y0, y1) - reach, 0, raster->height);
    const int bottom = (int)clamped(fmax(y0, y1) + reach, -1, raster->height - 1);
    for (int row = top; row <= bottom; row++)
        for (int column = left; column <= right; column++) {
            const double away = distance(column + 0.5, row + 0.5, from, step);
            const double part = clamped(radius + 0.5 - away, 0, 1);
            if (part > 0)
                cover(raster, column, row, (unsigned char)(255 * part + 0.5));
        }
}

void raster_fill(struct raster *raster, int left, int top, int right, int bottom)
{
    for (int row = top < 0 ? 0 : top; row < bottom && row < raster->height; row++)
        for (int column = left < 0 ? 0 : left; column < right && column < raster->width; column++)
            cover(raster, column, row, 255);
}

void raster_set(struct raster *raster, int column, int row, unsigned color)
{
    unsigned char *pixel = raster->rgb + 3 * ((size_t)row * (size_t)raster->width + (size_t)column);
    for (int k = 0; k < 3; k++)
        pixel[k] = (unsigned char)(color >> (16 - 8 * k) & 0xff);
}

static void paint_pixel(struct raster *raster, size_t pixel, unsigned color, double part)
{
    for (int k = 0; k < 3; k++) {
        unsigned char *channel = raster->rgb + 3 * pixel + k;
        const double wanted = color >> (16 - 8 * k) & 0xff;
        *channel = (unsigned char)(*channel + part * (wanted - *channel) + 0.5);
    }
}

void raster_paint(struct raster *raster, unsigned color, double opacity)
{
    for (int row = raster->inked[2]; row <= raster->inked[3]; row++)
        for (int column = raster->inked[0]; column <= raster->inked[1]; column++) {
            const size_t pixel = (size_t)row * (size_t)raster->width + (size_t)column;
            if (raster->mask[pixel])
                paint_pixel(raster, pixel, color, opacity * raster->mask[pixel] / 255);
            raster->mask[pixel] = 0;
        }
    forget_ink(raster);
}
