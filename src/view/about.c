#include "view/about.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/numbers.h"
#include "core/printable.h"
#include "kith/build.h"
#include "view/packet.h"

/* Names of bodies are sent of this many at most. */
enum { most_named = 256 };

void about_write_string(FILE *stream, const char *text)
{
    char printable[1024];
    make_printable(text, printable, sizeof printable);
    fputc('"', stream);
    for (const char *c = printable; *c; c++)
        if (strchr("\"\\<>&", *c))
            fprintf(stream, "\\u%04x", (unsigned)*c);
        else
            fputc(*c, stream);
    fputc('"', stream);
}

static void write_real(FILE *stream, double value)
{
    char text[real_bytes];
    if (isfinite(value)) {
        format_real(value, text);
        fputs(text, stream);
    } else {
        fputs("null", stream);
    }
}

static void write_reals(FILE *stream, const char *key, const double *values, int count)
{
    fprintf(stream, ",\"%s\":[", key);
    for (int k = 0; k < count; k++) {
        if (k > 0)
            fputc(',', stream);
        write_real(stream, values[k]);
    }
    fputc(']', stream);
}

static void write_names(FILE *stream, const char *key, const kith_name *names, int64_t count)
{
    fprintf(stream, ",\"%s\":[", key);
    for (int64_t k = 0; k < count; k++) {
        if (k > 0)
            fputc(',', stream);
        about_write_string(stream, names[k]);
    }
    fputc(']', stream);
}

static void write_text(FILE *stream, const kith_bodies *bodies, const char *title, int64_t frames,
                       double until, const struct about *about)
{
    const kith_units *units = &bodies->units;
    fprintf(stream,
            "{\"version\":\"%s\",\"mode\":\"%s\",\"bodies\":%lld,\"shown\":%lld,\"dimensions\":%d,"
            "\"frames\":%lld,\"title\":",
            kith_version(), frames > 0 ? "file" : "run", (long long)bodies->count,
            (long long)about->shown, (int)bodies->dimensions, (long long)frames);
    about_write_string(stream, title ? title : "");
    fputs(",\"start\":", stream);
    write_real(stream, bodies->time);
    fputs(",\"until\":", stream);
    write_real(stream, until > bodies->time ? until : NAN);
    write_reals(stream, "origin", about->place.origin, 3);
    fputs(",\"length\":", stream);
    about_write_string(stream, units->length);
    fputs(",\"unit\":", stream);
    about_write_string(stream, units->time);
    if (bodies->has_cell)
        write_reals(stream, "cell", bodies->cell, 9);
    fputs(",\"columns\":[", stream);
    for (int k = 0; k < about->columns; k++) {
        fputs(k > 0 ? "," : "", stream);
        about_write_string(stream, about->column[k].name);
    }
    fputc(']', stream);
    write_names(stream, "species", about->species_name, about->species);
    if (bodies->name && bodies->count <= most_named)
        write_names(stream, "names", (const kith_name *)bodies->name, bodies->count);
    fputc('}', stream);
}

static int species_of(const struct about *about, const char *name)
{
    int k = 0;
    while (k < about->species && strcmp(about->species_name[k], name) != 0)
        k++;
    return k;
}

/* Chemical symbols, and other names that several bodies share. */
static void find_species(const kith_bodies *bodies, struct about *about)
{
    for (int64_t i = 0; i < bodies->count; i++) {
        const int k = species_of(about, bodies->name[i]);
        if (k < about->species)
            continue;
        if (k == about_most_species) {
            about->species = 0;
            return;
        }
        memcpy(about->species_name[about->species++], bodies->name[i], sizeof(kith_name));
    }
    if (about->species < 2 || about->species == bodies->count)
        about->species = 0;
}

static kith_status add_column(const char *name, struct about *about, float **values)
{
    KITH_TRY(kith_allocate(about->shown, sizeof **values, "column", values));
    struct about_column *column = &about->column[about->columns++];
    snprintf(column->name, sizeof column->name, "%s", name);
    column->values = *values;
    return KITH_OK;
}

static void put_numbers(const struct about *about, int64_t count, const double *numbers,
                        float *values)
{
    for (int64_t k = 0; k < about->shown; k++)
        values[k] = (float)numbers[packet_body(count, about->shown, k)];
}

static kith_status add_numbers(const kith_bodies *bodies, const char *name, const double *numbers,
                               struct about *about)
{
    float *values = NULL;
    if (!numbers)
        return KITH_OK;
    KITH_TRY(add_column(name, about, &values));
    put_numbers(about, bodies->count, numbers, values);
    return KITH_OK;
}

static kith_status add_ids(const kith_bodies *bodies, struct about *about)
{
    float *values = NULL;
    if (!bodies->id)
        return KITH_OK;
    KITH_TRY(add_column("id", about, &values));
    for (int64_t k = 0; k < about->shown; k++)
        values[k] = (float)bodies->id[packet_body(bodies->count, about->shown, k)];
    return KITH_OK;
}

/* Columns of names that mean nothing to kith; those that a page has numbers of its own for are
 * hidden by them. */
static kith_status add_others(const kith_bodies *bodies, struct about *about)
{
    for (int32_t k = 0; k < bodies->other_count; k++) {
        const kith_other_column *other = &bodies->other[k];
        if (strcmp(other->name, "speed") != 0 && strcmp(other->name, "body") != 0 &&
            !about_find(about, other->name))
            KITH_TRY(add_numbers(bodies, other->name, other->values, about));
    }
    return KITH_OK;
}

static kith_status add_species(const kith_bodies *bodies, struct about *about)
{
    float *values = NULL;
    if (!bodies->name)
        return KITH_OK;
    find_species(bodies, about);
    if (about->species == 0)
        return KITH_OK;
    KITH_TRY(add_column("species", about, &values));
    for (int64_t k = 0; k < about->shown; k++) {
        const int64_t i = packet_body(bodies->count, about->shown, k);
        values[k] = (float)species_of(about, bodies->name[i]);
    }
    return KITH_OK;
}

static kith_status add_columns(const kith_bodies *bodies, struct about *about)
{
    KITH_TRY(add_numbers(bodies, "mass", bodies->mass, about));
    KITH_TRY(add_numbers(bodies, "charge", bodies->charge, about));
    KITH_TRY(add_numbers(bodies, "softening", bodies->softening, about));
    KITH_TRY(add_numbers(bodies, "radius", bodies->radius, about));
    KITH_TRY(add_ids(bodies, about));
    KITH_TRY(add_species(bodies, about));
    return add_others(bodies, about);
}

kith_status about_make(const kith_bodies *bodies, int64_t shown, const char *title, int64_t frames,
                       double until, struct about *about)
{
    struct c_locale locale;
    size_t bytes = 0;
    *about = (struct about){.shown = shown};
    KITH_TRY(place_make(bodies, &about->place));
    KITH_TRY(add_columns(bodies, about));
    KITH_TRY(c_locale_enter(&locale));
    FILE *stream = open_memstream(&about->text, &bytes);
    bool written = stream != NULL;
    if (stream) {
        write_text(stream, bodies, title, frames, until, about);
        written = !ferror(stream);
        written = fclose(stream) == 0 && written;
    }
    c_locale_leave(&locale);
    return written
               ? KITH_OK
               : kith_fail(KITH_OUT_OF_MEMORY, "out of memory: a view's description of its bodies");
}

void about_update(const kith_bodies *bodies, struct about *about)
{
    const struct {
        const char *name;
        const double *numbers;
    } columns[] = {{"mass", bodies->mass}, {"charge", bodies->charge}, {"radius", bodies->radius}};
    for (size_t k = 0; k < sizeof columns / sizeof *columns; k++) {
        const struct about_column *column = about_find(about, columns[k].name);
        if (column && columns[k].numbers)
            put_numbers(about, bodies->count, columns[k].numbers, column->values);
    }
}

void about_free(struct about *about)
{
    for (int k = 0; k < about->columns; k++)
        free(about->column[k].values);
    free(about->text);
    *about = (struct about){0};
}

const struct about_column *about_find(const struct about *about, const char *name)
{
    for (int k = 0; k < about->columns; k++)
        if (strcmp(about->column[k].name, name) == 0)
            return &about->column[k];
    return NULL;
}
