#include "io/format.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/arguments.h"
#include "core/numbers.h"
#include "io/bodies.h"
#include "io/gadget.h"
#include "io/parts.h"
#include "io/stream.h"
#include "io/units.h"

#ifdef KITH_HAS_HDF5
#define HDF5_FUNCTIONS(format)                                                                     \
    NULL, format##_read, format##_write, format##_holds, hdf5_looks_like_##format
#define H5MD_FRAMES         &h5md_frames
#define HDF5_STREAM(format) &format##_stream
#else
#define H5MD_FRAMES            NULL
#define HDF5_STREAM(format)    NULL
#define HDF5_FUNCTIONS(format) "this build has no HDF5", NULL, NULL, NULL, NULL
#endif

static const struct format formats[] = {
    {"csv", "csv txt dat",
     "text in columns separated by commas or spaces; the header names them: x,y[,z],vx,vy[,vz],m,q,…",
     NULL, &csv_stream, NULL, csv_read, csv_write, csv_holds, NULL},
    {"xyz", "xyz extxyz", "XYZ text, plain or extended (key=value pairs, as ASE writes)",
     &xyz_frames, &xyz_stream, NULL, xyz_read, xyz_write, xyz_holds, NULL},
    {"npy", "npy", "NumPy array, N×2, N×3 or N×4 with the mass last", NULL, &npy_stream, NULL,
     npy_read, npy_write, npy_holds, NULL},
    {"tipsy", "tipsy tip", "Tipsy binary, single precision; reads either byte order", NULL,
     &tipsy_stream, NULL, tipsy_read, tipsy_write, tipsy_holds, NULL},
    {"gadget", "hdf5", "Gadget HDF5 snapshot (format 3)", NULL, HDF5_STREAM(gadget),
     HDF5_FUNCTIONS(gadget)},
    {"h5md", "h5 h5md", "H5MD (HDF5), the format of runs", H5MD_FRAMES, HDF5_STREAM(h5md),
     HDF5_FUNCTIONS(h5md)},
};

enum { format_count = sizeof formats / sizeof formats[0] };

/* Filled in for each call: the library has no mutable globals. */
const kith_format *kith_format_list(int64_t *count)
{
    static _Thread_local kith_format list[format_count];
    for (int32_t k = 0; k < format_count; k++)
        list[k] =
            (kith_format){formats[k].name,         formats[k].extensions,    formats[k].description,
                          formats[k].read != NULL, formats[k].write != NULL, formats[k].lacks};
    if (count)
        *count = format_count;
    return list;
}

/* "csv, xyz, …": the names of all formats, or their extensions with dots. */
static const char *list_words(bool extensions, char *text, size_t bytes)
{
    size_t used = 0;
    text[0] = 0;
    for (int32_t k = 0; k < format_count; k++) {
        const char *word = extensions ? formats[k].extensions : formats[k].name;
        while (*word) {
            const size_t length = strcspn(word, " ");
            const int written = snprintf(text + used, bytes - used, "%s%s%.*s", used ? ", " : "",
                                         extensions ? "." : "", (int)length, word);
            if (written < 0 || (size_t)written >= bytes - used)
                return text;
            used += (size_t)written;
            word += length + (word[length] == ' ');
        }
    }
    return text;
}

static bool has_extension(const struct format *format, const char *extension)
{
    const size_t wanted = strlen(extension);
    for (const char *word = format->extensions; *word;) {
        const size_t length = strcspn(word, " ");
        if (length == wanted && strncasecmp(word, extension, length) == 0)
            return true;
        word += length + (word[length] == ' ');
    }
    return false;
}

static kith_status find_by_name(const char *name, const struct format **format)
{
    for (int32_t k = 0; k < format_count; k++)
        if (strcasecmp(formats[k].name, name) == 0) {
            *format = &formats[k];
            return KITH_OK;
        }
    char names[256];
    return kith_fail(KITH_INVALID_ARGUMENT, "format is '%s', which is unknown; give one of %s",
                     name, list_words(false, names, sizeof names));
}

static bool ends_with(const char *path, const char *end)
{
    const size_t length = strlen(path), bytes = strlen(end);
    return length >= bytes && strcasecmp(path + length - bytes, end) == 0;
}

static kith_status fail_to_recognize(const char *path)
{
    char extensions[256];
    struct stat found;
    list_words(true, extensions, sizeof extensions);
    if (stat(path, &found) == 0 && S_ISDIR(found.st_mode))
        return kith_fail(KITH_IO_ERROR, "%s is a directory; give a file", path);
    if (ends_with(path, ".mtx") || ends_with(path, ".mtx.gz"))
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "%s: Matrix Market files store matrices (see kith multiply), not bodies; "
                         "give one of %s",
                         path, extensions);
    return kith_fail(KITH_INVALID_ARGUMENT,
                     "%s: unknown extension (known: %s); rename the file or give its format", path,
                     extensions);
}

static const struct format *format_of_extension(const char *path)
{
    const char *dot = strrchr(path, '.');
    for (int32_t k = 0; dot && k < format_count; k++)
        if (has_extension(&formats[k], dot + 1))
            return &formats[k];
    return NULL;
}

static kith_status find_by_extension(const char *path, const struct format **format)
{
    *format = format_of_extension(path);
    return *format ? KITH_OK : fail_to_recognize(path);
}

static kith_status choose(const char *path, const char *name, const struct format **format)
{
    return name ? find_by_name(name, format) : find_by_extension(path, format);
}

/* Of those that one can tell by a look inside; NULL: none. A pipe must not be opened twice. */
static const struct format *format_of_content(const char *path)
{
    struct stat file;
    const bool is_regular = stat(path, &file) == 0 && S_ISREG(file.st_mode);
    for (int32_t k = 0; is_regular && k < format_count; k++)
        if (formats[k].recognizes && formats[k].recognizes(path))
            return &formats[k];
    return NULL;
}

/* A run may have a name without an extension, and HDF5 files have those of each other. */
static kith_status find_by_content(const char *path, const struct format **format)
{
    const struct format *named = format_of_extension(path);
    const struct format *found = named && !named->recognizes ? named : format_of_content(path);
    *format = found ? found : named;
    return *format ? KITH_OK : fail_to_recognize(path);
}

static kith_status require(const char *path, const struct format *format, bool available)
{
    if (available)
        return KITH_OK;
    return kith_fail(KITH_UNSUPPORTED, "%s: format %s is not available: %s", path, format->name,
                     format->lacks);
}

static kith_status check_frame(const char *path, const struct format *format, int64_t frame)
{
    if (format->frames || (frame >= -1 && frame <= 1))
        return KITH_OK;
    return kith_fail(KITH_INVALID_ARGUMENT,
                     "%s: frame is %lld, but a file of format %s has only one frame; give 1", path,
                     (long long)frame, format->name);
}

static kith_status check_system(const char *path, const struct format *format,
                                const kith_read_options *options)
{
    if (!options->system_given || options->system == 0 || strcmp(format->name, "h5md") == 0)
        return KITH_OK;
    return kith_fail(KITH_INVALID_ARGUMENT,
                     "%s: system is %lld, and a file of format %s is one system, 0", path,
                     (long long)options->system, format->name);
}

kith_status format_check_options(const char *path, const struct format *format,
                                 const kith_read_options *options)
{
    KITH_TRY(check_frame(path, format, options->frame));
    return check_system(path, format, options);
}

kith_status format_to_read(const char *path, const kith_read_options *options,
                           const struct format **format)
{
    struct stat found;
    if (!options->format && stat(path, &found) != 0)
        return kith_fail(KITH_IO_ERROR, "%s: cannot be read: %s", path, strerror(errno));
    KITH_TRY(options->format ? find_by_name(options->format, format)
                             : find_by_content(path, format));
    return require(path, *format, (*format)->read);
}

static kith_status read_file(const char *path, const kith_read_options *options,
                             kith_bodies **bodies)
{
    const struct format *format = NULL;
    KITH_TRY(format_to_read(path, options, &format));
    KITH_TRY(format_check_options(path, format, options));

    struct c_locale locale;
    KITH_TRY(c_locale_enter(&locale));
    kith_bodies *read = NULL;
    kith_status status = format->read(path, options, &read);
    c_locale_leave(&locale);
    if (status == KITH_OK && kith_bodies_check(read) != KITH_OK)
        status = KITH_BAD_FORMAT;
    if (status != KITH_OK) {
        kith_bodies_free(read);
        return kith_fail_within(status, "%s: ", path);
    }
    *bodies = read;
    return KITH_OK;
}

kith_status format_find_file(const char *path, char **found)
{
    *found = NULL;
    return access(path, F_OK) == 0 ? KITH_OK : part_first(path, found);
}

kith_status kith_bodies_read(const char *path, const kith_read_options *options,
                             kith_bodies **bodies)
{
    KITH_TRY(kith_check_pointer(bodies, "bodies"));
    *bodies = NULL;
    KITH_TRY(kith_check_pointer(path, "path"));
    const kith_read_options chosen = options ? *options : (kith_read_options){0};
    char *first = NULL;
    KITH_TRY(format_find_file(path, &first));
    const kith_status status = read_file(first ? first : path, &chosen, bodies);
    free(first);
    return status;
}

static bool is_file(const char *path, const struct stat *file)
{
    struct stat found;
    return stat(path, &found) == 0 && S_ISREG(found.st_mode) && found.st_dev == file->st_dev &&
           found.st_ino == file->st_ino;
}

static bool has_part(const char *path, const char *format, const struct stat *file)
{
    const struct format *row = NULL;
    const kith_read_options options = {.format = format};
    bool found = false;
    if (format_to_read(path, &options, &row) != KITH_OK || strcmp(row->name, "gadget") != 0)
        return false;
    const int64_t files = gadget_files(path);
    for (int64_t k = 0; files > 1 && k < files && !found; k++) {
        char *part = NULL;
        if (part_path(path, k, &part) != KITH_OK)
            return false;
        found = is_file(part, file);
        const bool is_there = access(part, F_OK) == 0;
        free(part);
        if (!is_there)
            break;
    }
    return found;
}

bool bodies_are_read_from(const char *path, const char *format, const struct stat *file)
{
    char *first = NULL;
    if (!S_ISREG(file->st_mode) || format_find_file(path, &first) != KITH_OK)
        return false;
    const char *begin = first ? first : path;
    const bool found = is_file(begin, file) || has_part(begin, format, file);
    free(first);
    return found;
}

kith_status format_to_write(const char *path, const kith_write_options *options,
                            const struct format **format)
{
    KITH_TRY(choose(path, options->format, format));
    return require(path, *format, (*format)->write);
}

kith_status kith_bodies_write(const kith_bodies *bodies, const char *path,
                              const kith_write_options *options)
{
    KITH_TRY(kith_check_pointer(path, "path"));
    const kith_write_options chosen = options ? *options : (kith_write_options){0};
    const struct format *format = NULL;
    KITH_TRY(format_to_write(path, &chosen, &format));
    KITH_TRY(kith_bodies_check(bodies));

    struct c_locale locale;
    KITH_TRY(c_locale_enter(&locale));
    const kith_status status = format->write(bodies, path, &chosen);
    c_locale_leave(&locale);
    return status;
}

kith_status kith_format_drops(const kith_bodies *bodies, const char *path,
                              const kith_write_options *options, unsigned *columns)
{
    KITH_TRY(kith_check_pointer(columns, "columns"));
    *columns = 0;
    KITH_TRY(kith_check_pointer(bodies, "bodies"));
    KITH_TRY(kith_check_pointer(path, "path"));
    const struct format *format = NULL;
    KITH_TRY(choose(path, options ? options->format : NULL, &format));
    KITH_TRY(require(path, format, format->write));
    const unsigned there = kith_bodies_columns(bodies) |
                           (bodies->has_cell ? (unsigned)KITH_CELL : 0) |
                           (units_are_known(&bodies->units) ? (unsigned)KITH_UNITS : 0);
    *columns = there & ~format->holds(bodies);
    return KITH_OK;
}
