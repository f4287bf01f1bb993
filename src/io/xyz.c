/* XYZ and extended XYZ (https://github.com/libAtoms/extxyz): frames of a count, a comment, atoms.
 */
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/numbers.h"
#include "io/bodies.h"
#include "io/format.h"
#include "io/stream.h"
#include "io/text.h"
#include "io/xyz_comment.h"

enum { first_capacity = 1024 };

static const char no_species[] = "X";

static kith_status at_line(kith_status status, const struct text *text)
{
    if (status == KITH_BAD_FORMAT)
        return kith_fail_within(status, "line %lld: ", (long long)text->number);
    return status;
}

/* Reads the first line of a frame, if there is one more. */
static kith_status read_count(struct text *text, bool *found, int64_t *count)
{
    char *word = NULL;
    do {
        KITH_TRY(text_next(text, found));
        if (!*found)
            return KITH_OK;
        char *rest = text->line + strspn(text->line, " \t");
        word = strsep(&rest, " \t");
    } while (!*word);
    if (parse_integer(word, count) && *count >= 0)
        return KITH_OK;
    return at_line(
        kith_fail(KITH_BAD_FORMAT,
                  "'%.40s' is not a number of atoms; a frame begins with a line that has it", word),
        text);
}

static kith_status need_line(struct text *text, int64_t atom, int64_t count)
{
    bool found = false;
    KITH_TRY(text_next(text, &found));
    if (found)
        return KITH_OK;
    return kith_fail(KITH_BAD_FORMAT,
                     "line %lld: the file ends after %lld of the frame's %lld atoms",
                     (long long)text->number, (long long)(atom < 0 ? 0 : atom), (long long)count);
}

static kith_status skip_atoms(struct text *text, int64_t count)
{
    for (int64_t i = -1; i < count; i++)
        KITH_TRY(need_line(text, i, count));
    return KITH_OK;
}

static kith_status count_frames(struct text *text, int64_t *frames)
{
    bool found = false;
    int64_t count = 0;
    for (*frames = 0;; ++*frames) {
        KITH_TRY(read_count(text, &found, &count));
        if (!found)
            return KITH_OK;
        KITH_TRY(skip_atoms(text, count));
    }
}

/* From 0. */
static kith_status go_to_frame(struct text *text, int64_t index)
{
    KITH_TRY(text_rewind(text));
    for (int64_t k = 0; k < index; k++) {
        bool found = false;
        int64_t count = 0;
        KITH_TRY(read_count(text, &found, &count));
        KITH_TRY(skip_atoms(text, count));
    }
    return KITH_OK;
}

/* Goes to the frame that is requested: 0 and −1 the last, 1 the first. *found is its number from 0.
 */
static kith_status find_frame(struct text *text, int64_t wanted, int64_t *found)
{
    int64_t frames = 0;
    KITH_TRY(count_frames(text, &frames));
    if (frames == 0)
        return kith_fail(KITH_BAD_FORMAT, "the file is empty; its first line must be the number of "
                                          "atoms");
    const int64_t index = wanted > 0 ? wanted - 1 : frames + (wanted == 0 ? -1 : wanted);
    if (index < 0 || index >= frames)
        return kith_fail(KITH_INVALID_ARGUMENT, "frame is %lld, but the file has %lld frames",
                         (long long)wanted, (long long)frames);
    *found = index;
    return go_to_frame(text, index);
}

static void *member(const kith_bodies *bodies, const struct xyz_property *property)
{
    void *memory = NULL;
    memcpy(&memory, (const char *)bodies + property->offset, sizeof memory);
    return memory;
}

static kith_status store_name(const char *word, kith_bodies *bodies, int64_t i)
{
    const size_t length = strlen(word);
    if (!bodies->name)
        return KITH_OK; /* all are no_species */
    if (length >= KITH_NAME_BYTES)
        return kith_fail(KITH_BAD_FORMAT, "species is '%.40s', %lld bytes long; give at most %d",
                         word, (long long)length, KITH_NAME_BYTES - 1);
    memcpy(bodies->name[i], word, length + 1);
    return KITH_OK;
}

static kith_status store_real(const char *word, const struct xyz_property *property,
                              int32_t component, kith_bodies *bodies, int64_t i)
{
    double value = 0;
    if (!parse_real(word, &value))
        return kith_fail(KITH_BAD_FORMAT, "%s is '%.40s'; give a finite number", property->name,
                         word);
    const int32_t width = property->width == 3 ? bodies->dimensions : 1;
    double *values = member(bodies, property);
    if (component < width)
        values[i * width + component] = value;
    else if (value != 0)
        return kith_fail(KITH_BAD_FORMAT, "component z of %s is %g, and dimensions is 2",
                         property->name, value);
    return KITH_OK;
}

static kith_status store_word(const char *word, const struct xyz_property *property,
                              int32_t component, kith_bodies *bodies, int64_t i)
{
    if (property->type == 'S')
        return store_name(word, bodies, i);
    if (property->type == 'R')
        return store_real(word, property, component, bodies, i);
    if (parse_integer(word, &bodies->id[i]))
        return KITH_OK;
    return kith_fail(KITH_BAD_FORMAT, "%s is '%.40s'; give an integer of 64 bits", property->name,
                     word);
}

static kith_status store_other(const char *word, kith_other_column *column, int64_t i)
{
    if (parse_real(word, &column->values[i]))
        return KITH_OK;
    return kith_fail(KITH_BAD_FORMAT, "%s is '%.40s'; give a finite number", column->name, word);
}

static kith_status store_atom(char *line, const struct xyz_comment *comment, kith_bodies *bodies,
                              int64_t i)
{
    int32_t count = 0;
    char *rest = line;
    for (const char *word; (word = strsep(&rest, " \t"));) {
        if (!*word)
            continue;
        if (count < comment->columns && comment->column[count].property)
            KITH_TRY(store_word(word, comment->column[count].property,
                                comment->column[count].component, bodies, i));
        else if (count < comment->columns && comment->column[count].other > 0)
            KITH_TRY(store_other(word, &bodies->other[comment->column[count].other - 1], i));
        count++;
    }
    if (count == comment->columns)
        return KITH_OK;
    return kith_fail(KITH_BAD_FORMAT,
                     "%d columns, and %d are expected; name the columns with Properties= in the "
                     "frame's second line",
                     (int)count, (int)comment->columns);
}

static kith_status read_atoms(struct text *text, const struct xyz_comment *comment, int64_t count,
                              kith_bodies *bodies)
{
    for (int64_t i = 0; i < count; i++) {
        KITH_TRY(need_line(text, i, count));
        if (i == bodies->count)
            KITH_TRY(kith_bodies_resize(bodies, i < count / 2 ? 2 * i : count));
        KITH_TRY(at_line(store_atom(text->line, comment, bodies, i), text));
    }
    return kith_bodies_resize(bodies, count);
}

/* Bodies without names are written as atoms of species X. */
static void drop_empty_names(kith_bodies *bodies)
{
    for (int64_t i = 0; i < bodies->count; i++)
        if (strcmp(bodies->name[i], no_species) != 0)
            return;
    free(bodies->name);
    bodies->name = NULL;
}

/* A body without mass has no velocity that follows from its momentum. */
static void divide_by_masses(kith_bodies *bodies)
{
    const int32_t width = bodies->dimensions;
    for (int64_t k = 0; k < bodies->count * width; k++)
        if (bodies->mass[k / width] != 0)
            bodies->velocity[k] /= bodies->mass[k / width];
}

static void take_comment(const struct xyz_comment *comment, kith_bodies *bodies)
{
    bodies->time = comment->time;
    bodies->units = comment->units;
    bodies->has_cell = comment->has_lattice;
    memcpy(bodies->cell, comment->lattice, sizeof bodies->cell);
    memcpy(bodies->periodic, comment->pbc, sizeof bodies->periodic);
}

/* The first two lines of a frame. */
static kith_status read_head(struct text *text, const kith_read_options *options,
                             struct xyz_comment *comment, int64_t *count)
{
    bool found = false;
    *count = 0;
    KITH_TRY(read_count(text, &found, count));
    KITH_TRY(need_line(text, -1, *count));
    return at_line(xyz_comment_parse(text->line, options, comment), text);
}

static kith_status read_frame(struct text *text, const kith_read_options *options,
                              struct xyz_comment *comment, kith_bodies **bodies)
{
    int64_t count = 0;
    KITH_TRY(read_head(text, options, comment, &count));
    KITH_TRY(kith_bodies_create(count < first_capacity ? count : first_capacity,
                                comment->dimensions, comment->flags, bodies));
    take_comment(comment, *bodies);
    for (int32_t k = 0; k < comment->other_count; k++)
        KITH_TRY(kith_bodies_add_other(*bodies, comment->other[k]));
    KITH_TRY(read_atoms(text, comment, count, *bodies));
    if (comment->has_momenta)
        divide_by_masses(*bodies);
    if ((*bodies)->name)
        drop_empty_names(*bodies);
    return KITH_OK;
}

kith_status xyz_read(const char *path, const kith_read_options *options, kith_bodies **bodies)
{
    struct xyz_comment *comment = NULL;
    struct text text;
    KITH_TRY(text_open(path, &text));
    text.poll = (struct poll_state){.poll = options->poll, .user = options->poll_user};
    int64_t frame = 0;
    kith_status status = kith_allocate(1, sizeof *comment, "comment", &comment);
    if (status == KITH_OK)
        status = find_frame(&text, options->frame, &frame);
    if (status == KITH_OK)
        status = read_frame(&text, options, comment, bodies);
    free(comment);
    text_close(&text);
    return status;
}

/* A frame that is read some rows at a time. */
struct xyz_rows {
    struct text text;
    struct xyz_comment comment;
    int64_t count;
};

/* Whether an atom of the frame, whose first is the next line, has a species. */
static kith_status has_species(struct xyz_rows *rows, bool *has)
{
    kith_bodies *one = NULL;
    kith_status status = kith_bodies_create(1, rows->comment.dimensions, rows->comment.flags, &one);
    *has = false;
    for (int64_t i = 0; i < rows->count && status == KITH_OK && !*has; i++) {
        status = need_line(&rows->text, i, rows->count);
        if (status == KITH_OK)
            status = at_line(store_atom(rows->text.line, &rows->comment, one, 0), &rows->text);
        if (status == KITH_OK)
            *has = strcmp(one->name[0], no_species) != 0;
    }
    kith_bodies_free(one);
    return status;
}

static kith_status open_frame(struct xyz_rows *rows, const kith_read_options *options,
                              kith_bodies **like)
{
    struct xyz_comment *comment = &rows->comment;
    int64_t frame = 0;
    bool has_names = false;
    KITH_TRY(find_frame(&rows->text, options->frame, &frame));
    KITH_TRY(read_head(&rows->text, options, comment, &rows->count));
    if (comment->flags & KITH_NAME) {
        KITH_TRY(has_species(rows, &has_names));
        KITH_TRY(go_to_frame(&rows->text, frame));
        KITH_TRY(read_head(&rows->text, options, comment, &rows->count));
    }
    const unsigned flags = has_names ? comment->flags : comment->flags & ~(unsigned)KITH_NAME;
    KITH_TRY(kith_bodies_create(1, comment->dimensions, flags, like));
    take_comment(comment, *like);
    return KITH_OK;
}

static kith_status open_rows(const char *path, const kith_read_options *options, kith_bodies **like,
                             int64_t *count, void **state)
{
    struct xyz_rows *rows = NULL;
    KITH_TRY(kith_allocate(1, sizeof *rows, "rows", &rows));
    const kith_status status = text_open(path, &rows->text);
    if (status != KITH_OK) {
        free(rows);
        return status;
    }
    *state = rows;
    rows->text.poll = (struct poll_state){.poll = options->poll, .user = options->poll_user};
    KITH_TRY(open_frame(rows, options, like));
    *count = rows->count;
    return KITH_OK;
}

static kith_status next_rows(void *state, int64_t first, kith_bodies *some)
{
    struct xyz_rows *rows = state;
    for (int64_t i = 0; i < some->count; i++) {
        KITH_TRY(need_line(&rows->text, first + i, rows->count));
        KITH_TRY(at_line(store_atom(rows->text.line, &rows->comment, some, i), &rows->text));
    }
    if (rows->comment.has_momenta)
        divide_by_masses(some);
    return KITH_OK;
}

static void close_rows(void *state)
{
    struct xyz_rows *rows = state;
    if (rows)
        text_close(&rows->text);
    free(rows);
}

const struct stream_functions xyz_stream = {open_rows, next_rows, close_rows};

kith_status xyz_count(const char *path, int64_t *frames)
{
    struct text text;
    KITH_TRY(text_open(path, &text));
    const kith_status status = count_frames(&text, frames);
    text_close(&text);
    return status;
}

static kith_status visit_frames(struct text *text, const kith_read_options *options, int64_t first,
                                int64_t count, struct xyz_comment *comment, visit_frame *visit,
                                void *state)
{
    bool found = false;
    int64_t atoms = 0;
    for (int64_t k = 0; k < first; k++) {
        KITH_TRY(read_count(text, &found, &atoms));
        KITH_TRY(skip_atoms(text, atoms));
    }
    for (int64_t k = first; k < first + count; k++) {
        kith_bodies *bodies = NULL;
        kith_status status = read_frame(text, options, comment, &bodies);
        if (status == KITH_OK)
            status = visit(state, k, bodies);
        kith_bodies_free(bodies);
        KITH_TRY(status);
    }
    return KITH_OK;
}

kith_status xyz_visit(const char *path, const kith_read_options *options, int64_t first,
                      int64_t count, visit_frame *visit, void *state)
{
    struct xyz_comment *comment = NULL;
    struct text text;
    KITH_TRY(text_open(path, &text));
    text.poll = (struct poll_state){.poll = options->poll, .user = options->poll_user};
    kith_status status = kith_allocate(1, sizeof *comment, "comment", &comment);
    if (status == KITH_OK)
        status = visit_frames(&text, options, first, count, comment, visit, state);
    free(comment);
    text_close(&text);
    return status;
}
