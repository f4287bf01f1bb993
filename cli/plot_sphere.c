/* Shaded spheres of discs. */

#include "plot_sphere.h"

/* From the rim, in the shade, to the highlight. */
static unsigned shade(unsigned color, double light)
{
    const double bright_at = 0.5;
    if (light < bright_at)
        return theme_mix(theme_mix(color, 0x000000, 0.38), color, light / bright_at);
    return theme_mix(color, 0xffffff, 0.72 * (light - bright_at) / (1 - bright_at));
}

unsigned sphere_outline(const struct plot *plot)
{
    return plot->dark ? 0x000000 : 0x2a2f38;
}

void sphere_write(FILE *script, const struct sphere_style *style, double x, double y,
                  unsigned color)
{
    const double inner = 0.92, towards_light[2] = {-0.3, 0.32}; /* of the radius */
    const double radius = 0.5 * style->diameter * style->length_per_em;
    fprintf(script, "%.7g %.7g %.4g %u\n", x, y, style->diameter, style->outline);
    for (int k = 0; k < style->layers; k++) {
        const double part = (double)k / style->layers;
        fprintf(script, "%.7g %.7g %.4g %u\n", x + part * towards_light[0] * radius,
                y + part * towards_light[1] * radius, inner * (1 - part) * style->diameter,
                shade(color, style->layers > 1 ? part : 0.5));
    }
}
