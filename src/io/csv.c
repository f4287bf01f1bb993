#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/numbers.h"
#include "core/poll.h"
#include "io/bodies.h"
#include "io/csv_header.h"
#include "io/format.h"
#include "io/output.h"
#include "io/stream.h"
#include "io/text.h"
#include "io/units.h"

enum { first_capacity = 1024 };

/* Where a real of body i is. */
static double *real_at(const kith_bodies *bodies, const struct csv_column *column, int64_t i)
{
    const char *const member = (const char *)bodies + column->offset;
    double *const values = *(double *const *)(const void *)member;
    return column->component < 0 ? values + i : values + i * bodies->dimensions + column->component;
}

static kith_status store_real(const char *field, const struct csv_column *column,
                              kith_bodies *bodies, int64_t i)
{
    if (parse_real(field, real_at(bodies, column, i)))
        return KITH_OK;
    return kith_fail(KITH_BAD_FORMAT, "column %s is '%.40s'; give a finite number", column->name,
                     field);
}

static kith_status store_integer(const char *field, const struct csv_column *column,
                                 kith_bodies *bodies, int64_t i)
{
    if (parse_integer(field, &bodies->id[i]))
        return KITH_OK;
    return kith_fail(KITH_BAD_FORMAT, "column %s is '%.40s'; give an integer of 64 bits",
                     column->name, field);
}

static kith_status store_text(const char *field, const struct csv_column *column,
                              kith_bodies *bodies, int64_t i)
{
    const size_t length = strlen(field);
    if (length >= KITH_NAME_BYTES)
        return kith_fail(KITH_BAD_FORMAT, "column %s is '%.40s', %lld bytes long; give at most %d",
                         column->name, field, (long long)length, KITH_NAME_BYTES - 1);
    memcpy(bodies->name[i], field, length + 1);
    return KITH_OK;
}

static kith_status (*const store[])(const char *field, const struct csv_column *column,
                                    kith_bodies *bodies, int64_t i) = {
    [csv_text] = store_text, [csv_integer] = store_integer, [csv_real] = store_real};

static kith_status store_other(const char *field, kith_other_column *column, int64_t i)
{
    if (parse_real(field, &column->values[i]))
        return KITH_OK;
    return kith_fail(KITH_BAD_FORMAT, "column %s is '%.40s'; give a finite number", column->name,
                     field);
}

static kith_status store_line(char *line, const struct csv_header *header, kith_bodies *bodies,
                              int64_t i)
{
    char *fields[csv_most_fields];
    int32_t count = 0;
    KITH_TRY(csv_split(line, header->separator, csv_most_fields, fields, &count));
    if (count != header->fields)
        return kith_fail(KITH_BAD_FORMAT, "expected %d fields, found %d", (int)header->fields,
                         (int)count);
    for (int32_t k = 0; k < count; k++) {
        const int32_t at = header->column[k];
        if (at == csv_skipped)
            continue;
        if (at >= csv_column_count)
            KITH_TRY(store_other(fields[k], &bodies->other[at - csv_column_count], i));
        else
            KITH_TRY(store[csv_columns[at].kind](fields[k], &csv_columns[at], bodies, i));
    }
    return KITH_OK;
}

static kith_status at_line(kith_status status, const struct text *text)
{
    if (status == KITH_BAD_FORMAT)
        return kith_fail_within(status, "line %lld: ", (long long)text->number);
    return status;
}

static kith_status parse_header(char *line, const char *const *others, struct csv_header *header)
{
    char *fields[csv_most_fields];
    int32_t count = 0;
    const char separator = csv_separator(line);
    KITH_TRY(csv_split(line, separator, csv_most_fields, fields, &count));
    KITH_TRY(csv_header_parse(fields, count, others, header));
    header->separator = separator;
    return KITH_OK;
}

/* What the comments before the first row hold: units, and the last names of columns. */
struct comments {
    const char *const *others;
    kith_units *units;
    struct csv_header header;
    bool has_header;
};

static kith_status take_comment(char *comment, struct comments *comments)
{
    struct csv_header header;
    char *copy = strdup(comment);
    if (!copy)
        return kith_fail(KITH_OUT_OF_MEMORY, "out of memory for a comment");
    if (parse_header(copy, comments->others, &header) == KITH_OK) {
        comments->header = header;
        comments->has_header = true;
    }
    free(copy);
    return units_take_comment(comment, comments->units);
}

/* Goes to the next line that is neither blank nor a comment; takes what comments hold, unless that
 * is NULL. */
static kith_status next_line(struct text *text, struct comments *comments, bool *found)
{
    do {
        KITH_TRY(text_next(text, found));
        char *line = *found ? text->line + strspn(text->line, " \t") : NULL;
        if (!line || (*line && *line != '#'))
            return KITH_OK;
        if (*line && comments)
            KITH_TRY(at_line(take_comment(line + 1, comments), text));
    } while (true);
}

/* Whether a line begins with a number, which no name of a column does. */
static bool is_row(const char *line)
{
    line += strspn(line, " \t");
    line += *line == '+' || *line == '-';
    if (strncasecmp(line, "nan", 3) == 0 || strncasecmp(line, "inf", 3) == 0)
        return true;
    line += *line == '.';
    return *line >= '0' && *line <= '9';
}

/* The header is the first line, or a comment above the first row, as numpy.savetxt writes it. */
static kith_status read_header(struct text *text, const char *const *others,
                               struct csv_header *header, kith_units *units)
{
    struct comments comments = {.others = others, .units = units};
    bool found = false;
    KITH_TRY(next_line(text, &comments, &found));
    if (comments.has_header && (!found || is_row(text->line))) {
        *header = comments.header;
        if (found) { /* the rows of numpy.savetxt may have another separator than its header */
            header->separator = csv_separator(text->line);
            text_again(text);
        }
        return KITH_OK;
    }
    if (found)
        return at_line(parse_header(text->line, others, header), text);
    return kith_fail(KITH_BAD_FORMAT, "the file is empty; its first line must name the "
                                      "columns, for example x,y,z,vx,vy,vz,m");
}

static kith_status read_rows(struct text *text, const struct csv_header *header,
                             kith_bodies *bodies)
{
    int64_t i = 0;
    bool found = false;
    for (;; i++) {
        KITH_TRY(next_line(text, NULL, &found));
        if (!found)
            return kith_bodies_resize(bodies, i);
        if (i == bodies->count)
            KITH_TRY(kith_bodies_resize(bodies, 2 * i));
        KITH_TRY(at_line(store_line(text->line, header, bodies, i), text));
    }
}

static kith_status read_text(struct text *text, const char *const *others, kith_bodies **bodies)
{
    struct csv_header header = {0};
    kith_units units = {0};
    KITH_TRY(read_header(text, others, &header, &units));
    KITH_TRY(kith_bodies_create(first_capacity, header.dimensions, header.flags, bodies));
    (*bodies)->units = units;
    for (int32_t k = 0; k < header.other_count; k++)
        KITH_TRY(kith_bodies_add_other(*bodies, header.other[k]));
    return read_rows(text, &header, *bodies);
}

kith_status csv_read(const char *path, const kith_read_options *options, kith_bodies **bodies)
{
    struct text text;
    KITH_TRY(text_open(path, &text));
    text.poll = (struct poll_state){.poll = options->poll, .user = options->poll_user};
    const kith_status status = read_text(&text, options->other_columns, bodies);
    text_close(&text);
    return status;
}

/* A file that is read some lines at a time. */
struct csv_lines {
    struct text text;
    struct csv_header header;
};

static kith_status count_lines(struct csv_lines *lines, kith_units *units, int64_t *count)
{
    bool found = true;
    KITH_TRY(read_header(&lines->text, NULL, &lines->header, units));
    for (*count = -1; found; ++*count)
        KITH_TRY(next_line(&lines->text, NULL, &found));
    KITH_TRY(text_rewind(&lines->text));
    return read_header(&lines->text, NULL, &lines->header, units);
}

static kith_status open_lines(const char *path, const kith_read_options *options,
                              kith_bodies **like, int64_t *count, void **state)
{
    struct csv_lines *lines = NULL;
    kith_units units = {0};
    KITH_TRY(kith_allocate(1, sizeof *lines, "lines", state));
    lines = *state;
    KITH_TRY(text_open(path, &lines->text));
    lines->text.poll = (struct poll_state){.poll = options->poll, .user = options->poll_user};
    KITH_TRY(count_lines(lines, &units, count));
    KITH_TRY(kith_bodies_create(1, lines->header.dimensions, lines->header.flags, like));
    (*like)->units = units;
    return KITH_OK;
}

static kith_status next_lines(void *state, int64_t first, kith_bodies *rows)
{
    struct csv_lines *lines = state;
    bool found = false;
    for (int64_t i = 0; i < rows->count; i++) {
        KITH_TRY(next_line(&lines->text, NULL, &found));
        if (!found)
            return kith_fail(KITH_BAD_FORMAT, "the file has only %lld rows now; it was changed",
                             (long long)(first + i));
        KITH_TRY(at_line(store_line(lines->text.line, &lines->header, rows, i), &lines->text));
    }
    return KITH_OK;
}

static void close_lines(void *state)
{
    struct csv_lines *lines = state;
    if (lines)
        text_close(&lines->text);
    free(lines);
}

const struct stream_functions csv_stream = {open_lines, next_lines, close_lines};

unsigned csv_holds(const kith_bodies *bodies)
{
    (void)bodies;
    return all_columns | KITH_UNITS;
}

static void write_real(FILE *stream, const struct csv_column *column, const kith_bodies *bodies,
                       int64_t i)
{
    char text[real_bytes];
    const int length = format_real(*real_at(bodies, column, i), text);
    fwrite(text, 1, (size_t)length, stream);
}

static void write_integer(FILE *stream, const struct csv_column *column, const kith_bodies *bodies,
                          int64_t i)
{
    (void)column;
    fprintf(stream, "%lld", (long long)bodies->id[i]);
}

/* In quotes if it would not read back as it is. */
static void write_text(FILE *stream, const struct csv_column *column, const kith_bodies *bodies,
                       int64_t i)
{
    (void)column;
    const char *name = bodies->name[i];
    if (!strpbrk(name, "\", \t#")) {
        fputs(name, stream);
        return;
    }
    fputc('"', stream);
    for (; *name; name++)
        fputs(*name == '"' ? "\"\"" : (const char[]){*name, 0}, stream);
    fputc('"', stream);
}

static void (*const write_field[])(FILE *stream, const struct csv_column *column,
                                   const kith_bodies *bodies, int64_t i) = {
    [csv_text] = write_text, [csv_integer] = write_integer, [csv_real] = write_real};

/* The columns that these bodies have. */
static int32_t choose_columns(const kith_bodies *bodies, const struct csv_column **chosen)
{
    const unsigned flags = kith_bodies_columns(bodies);
    int32_t count = 0;
    for (int32_t k = 0; k < csv_column_count; k++) {
        const struct csv_column *column = &csv_columns[k];
        if ((column->flag == 0 || (flags & column->flag)) && column->component < bodies->dimensions)
            chosen[count++] = column;
    }
    return count;
}

static kith_status write_rows(FILE *stream, const kith_bodies *bodies, struct poll_state *poll)
{
    const struct csv_column *columns[csv_column_count];
    const int32_t count = choose_columns(bodies, columns);
    if (units_are_known(&bodies->units)) {
        fputs("# ", stream);
        units_write(stream, &bodies->units);
        fputc('\n', stream);
    }
    for (int32_t k = 0; k < count; k++)
        fprintf(stream, "%s%s", k ? "," : "", columns[k]->name);
    fputc('\n', stream);
    for (int64_t i = 0; i < bodies->count; i++) {
        KITH_TRY(kith_check_poll_at(poll, i));
        for (int32_t k = 0; k < count; k++) {
            if (k)
                fputc(',', stream);
            write_field[columns[k]->kind](stream, columns[k], bodies, i);
        }
        fputc('\n', stream);
    }
    return KITH_OK;
}

static kith_status check_names(const kith_bodies *bodies, const char *path)
{
    for (int64_t i = 0; bodies->name && i < bodies->count; i++)
        if (strpbrk(bodies->name[i], "\r\n"))
            return kith_fail(KITH_INVALID_ARGUMENT,
                             "%s: the name of body %lld (from 0) has a line break, which CSV "
                             "cannot hold; rename the body",
                             path, (long long)i);
    return KITH_OK;
}

kith_status csv_write(const kith_bodies *bodies, const char *path,
                      const kith_write_options *options)
{
    struct poll_state poll = {.poll = options->poll, .user = options->poll_user};
    KITH_TRY(check_names(bodies, path));
    kith_output *output = NULL;
    KITH_TRY(kith_output_open(path, &output));
    const kith_status status = write_rows(kith_output_stream(output), bodies, &poll);
    if (status == KITH_OK)
        return kith_output_finish(output);
    kith_output_discard(output);
    return status;
}
