#ifndef IO_CSV_HEADER_H
#define IO_CSV_HEADER_H

#include <stddef.h>

#include "core/status.h"
#include "kith/bodies.h"

/* The columns that a CSV file may have, in the order in which they are written. */
enum csv_index {
    csv_name,
    csv_id,
    csv_mass,
    csv_x,
    csv_y,
    csv_z,
    csv_vx,
    csv_vy,
    csv_vz,
    csv_charge,
    csv_softening,
    csv_radius,
    csv_epsilon,
    csv_sigma,
    csv_column_count
};

enum csv_kind { csv_text, csv_integer, csv_real };

struct csv_column {
    const char *name, *alias; /* the name is written, either read; NULL: no alias */
    enum csv_kind kind;
    unsigned flag;     /* kith_column, 0 for positions */
    size_t offset;     /* of the pointer in kith_bodies */
    int32_t component; /* of a vector; −1 for a scalar */
};

extern const struct csv_column csv_columns[csv_column_count];

enum { csv_most_fields = 256, csv_skipped = -1 };

/* The content of a header. */
struct csv_header {
    char separator; /* as csv_split's */
    int32_t fields;
    int32_t column[csv_most_fields]; /* of each field: a csv_index; csv_column_count + k, that is
                                        other column k; csv_skipped */
    int32_t dimensions;
    unsigned flags; /* kith_column */
    int32_t other_count;
    const char *other[KITH_MAX_OTHER_COLUMNS]; /* names of the caller's */
};

/* Parses the fields of the first line. others are kith_read_options' other_columns. Messages omit
 * the line. Errors: KITH_BAD_FORMAT. */
kith_status csv_header_parse(char *const *fields, int32_t count, const char *const *others,
                             struct csv_header *header);

/* ',' if the line has a comma, ' ' (spaces and tabs) if it has columns without. */
char csv_separator(const char *line);

/* Splits a line at its commas, or at its spaces and tabs, in place: spaces around a field and
 * quotes go, and a doubled quote in quotes is one. Stores up to capacity fields and counts all.
 * Errors: KITH_BAD_FORMAT (a quote that does not close, or closes before the end of a field). */
kith_status csv_split(char *line, char separator, int32_t capacity, char **fields, int32_t *count);

#endif
