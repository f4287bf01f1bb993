#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/numbers.h"
#include "core/poll.h"
#include "io/bodies.h"
#include "io/format.h"
#include "io/output.h"
#include "io/units.h"
#include "io/xyz_comment.h"

unsigned xyz_holds(const kith_bodies *bodies)
{
    (void)bodies;
    return all_columns | KITH_CELL | KITH_UNITS;
}

static void write_real(FILE *stream, double value)
{
    char text[real_bytes];
    const int length = format_real(value, text);
    fwrite(text, 1, (size_t)length, stream);
}

static void write_cell(FILE *stream, const kith_bodies *bodies)
{
    fputs("Lattice=\"", stream);
    for (int32_t k = 0; k < 9; k++) {
        fputs(k ? " " : "", stream);
        write_real(stream, bodies->cell[k]);
    }
    fputs("\" ", stream);
}

static bool all_are_symbols(const kith_bodies *bodies)
{
    for (int64_t i = 0; bodies->name && i < bodies->count; i++)
        if (bodies->name[i][0] && !xyz_is_symbol(bodies->name[i]))
            return false;
    return true;
}

/* The position and the species are in every file. */
static int32_t choose_properties(const kith_bodies *bodies, const struct xyz_property **chosen)
{
    const unsigned flags = kith_bodies_columns(bodies) | KITH_NAME;
    int32_t count = 0;
    for (int32_t k = 0; k < xyz_property_count; k++)
        if (xyz_properties[k].flag == 0 || (flags & xyz_properties[k].flag))
            chosen[count++] = &xyz_properties[k];
    if (!all_are_symbols(bodies))
        chosen[count++] = &xyz_names;
    return count;
}

static void write_comment(FILE *stream, const kith_bodies *bodies,
                          const struct xyz_property *const *properties, int32_t count)
{
    if (bodies->has_cell)
        write_cell(stream, bodies);
    fputs("Properties=", stream);
    for (int32_t k = 0; k < count; k++)
        fprintf(stream, "%s%s:%c:%d", k ? ":" : "", properties[k]->name, properties[k]->type,
                (int)properties[k]->width);
    fputs(" pbc=\"", stream);
    for (int32_t k = 0; k < 3; k++)
        fprintf(stream, "%s%c", k ? " " : "", bodies->has_cell && bodies->periodic[k] ? 'T' : 'F');
    fputs("\" Time=", stream);
    write_real(stream, bodies->time);
    fputs(bodies->dimensions == 2 ? " dimensions=2" : "", stream);
    if (units_are_known(&bodies->units)) {
        fputc(' ', stream);
        units_write(stream, &bodies->units);
    }
    fputc('\n', stream);
}

/* has_names: the names are in a column of their own, and the species are X. */
static void write_property(FILE *stream, const struct xyz_property *property, bool has_names,
                           const kith_bodies *bodies, int64_t i)
{
    if (property->type == 'S') {
        const bool here = !has_names || property == &xyz_names;
        fputs(here && bodies->name && bodies->name[i][0] ? bodies->name[i] : "X", stream);
        return;
    }
    if (property->type == 'I') {
        fprintf(stream, "%lld", (long long)bodies->id[i]);
        return;
    }
    const double *values = NULL;
    memcpy(&values, (const char *)bodies + property->offset, sizeof values);
    const int32_t width = property->width == 3 ? bodies->dimensions : 1;
    for (int32_t k = 0; k < property->width; k++) {
        fputs(k ? " " : "", stream);
        write_real(stream, k < width ? values[i * width + k] : 0);
    }
}

static kith_status write_frame(FILE *stream, const kith_bodies *bodies, struct poll_state *poll)
{
    const struct xyz_property *properties[xyz_property_count + 1];
    const int32_t count = choose_properties(bodies, properties);
    const bool has_names = properties[count - 1] == &xyz_names;
    fprintf(stream, "%lld\n", (long long)bodies->count);
    write_comment(stream, bodies, properties, count);
    for (int64_t i = 0; i < bodies->count; i++) {
        KITH_TRY(kith_check_poll_at(poll, i));
        for (int32_t k = 0; k < count; k++) {
            write_property(stream, properties[k], has_names, bodies, i);
            fputc(k + 1 < count ? ' ' : '\n', stream);
        }
    }
    return KITH_OK;
}

static kith_status check_names(const kith_bodies *bodies, const char *path)
{
    for (int64_t i = 0; bodies->name && i < bodies->count; i++)
        if (strpbrk(bodies->name[i], " \t\r\n"))
            return kith_fail(KITH_INVALID_ARGUMENT,
                             "%s: the name of body %lld (from 0) is '%s', and XYZ takes no spaces "
                             "in names; rename the body or choose another format",
                             path, (long long)i, bodies->name[i]);
    return KITH_OK;
}

struct xyz_writer {
    kith_output *output; /* NULL after xyz_finish */
    const char *path;
    struct poll_state poll;
};

static kith_status xyz_begin(const char *path, const kith_write_options *options, int64_t count,
                             void **writer)
{
    (void)count;
    struct xyz_writer *made = NULL;
    KITH_TRY(kith_allocate(1, sizeof *made, "XYZ file", &made));
    made->path = path;
    made->poll = (struct poll_state){.poll = options->poll, .user = options->poll_user};
    *writer = made;
    return kith_output_open(path, &made->output);
}

static kith_status xyz_add(void *writer, int64_t step, const kith_bodies *bodies)
{
    struct xyz_writer *to = writer;
    (void)step;
    KITH_TRY(check_names(bodies, to->path));
    return write_frame(kith_output_stream(to->output), bodies, &to->poll);
}

static kith_status xyz_finish(void *writer)
{
    struct xyz_writer *to = writer;
    kith_output *output = to->output;
    to->output = NULL;
    return kith_output_finish(output);
}

static void xyz_end(void *writer)
{
    struct xyz_writer *to = writer;
    if (to)
        kith_output_discard(to->output);
    free(to);
}

const struct frame_functions xyz_frames = {xyz_count, xyz_visit,  xyz_begin,
                                           xyz_add,   xyz_finish, xyz_end};

kith_status xyz_write(const kith_bodies *bodies, const char *path,
                      const kith_write_options *options)
{
    void *writer = NULL;
    kith_status status = xyz_begin(path, options, 1, &writer);
    if (status == KITH_OK)
        status = xyz_add(writer, 0, bodies);
    if (status == KITH_OK)
        status = xyz_finish(writer);
    xyz_end(writer);
    return status;
}
