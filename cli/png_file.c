/* PNG files, by libpng. */

#include "png_file.h"

#include "cli.h"

#ifdef KITH_HAS_PNG

#include <png.h>

bool png_file_possible(const char *command)
{
    (void)command;
    return true;
}

bool png_file_write(const char *command, const struct raster *raster, FILE *file)
{
    png_image image = {.version = PNG_IMAGE_VERSION,
                       .width = (png_uint_32)raster->width,
                       .height = (png_uint_32)raster->height,
                       .format = PNG_FORMAT_RGB};
    if (png_image_write_to_stdio(&image, file, 0, raster->rgb, 0, NULL))
        return true;
    cli_fail_with(command, "cannot write the picture: %s", image.message);
    return false;
}

#else

bool png_file_possible(const char *command)
{
    cli_fail_with(command, "this build has no libpng, which this kind needs; install libpng-dev "
                           "and build again");
    return false;
}

bool png_file_write(const char *command, const struct raster *raster, FILE *file)
{
    (void)raster;
    (void)file;
    return png_file_possible(command);
}

#endif
