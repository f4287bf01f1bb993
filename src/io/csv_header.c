#include "io/csv_header.h"

#include <string.h>
#include <strings.h>

#include "core/numbers.h"
#include "io/bodies.h"

#define MEMBER(name) offsetof(kith_bodies, name)

const struct csv_column csv_columns[csv_column_count] = {
    [csv_name] = {"name", NULL, csv_text, KITH_NAME, MEMBER(name), -1},
    [csv_id] = {"id", NULL, csv_integer, KITH_ID, MEMBER(id), -1},
    [csv_mass] = {"m", "mass", csv_real, KITH_MASS, MEMBER(mass), -1},
    [csv_x] = {"x", NULL, csv_real, 0, MEMBER(position), 0},
    [csv_y] = {"y", NULL, csv_real, 0, MEMBER(position), 1},
    [csv_z] = {"z", NULL, csv_real, 0, MEMBER(position), 2},
    [csv_vx] = {"vx", NULL, csv_real, KITH_VELOCITY, MEMBER(velocity), 0},
    [csv_vy] = {"vy", NULL, csv_real, KITH_VELOCITY, MEMBER(velocity), 1},
    [csv_vz] = {"vz", NULL, csv_real, KITH_VELOCITY, MEMBER(velocity), 2},
    [csv_charge] = {"q", "charge", csv_real, KITH_CHARGE, MEMBER(charge), -1},
    [csv_softening] = {"eps", "softening", csv_real, KITH_SOFTENING, MEMBER(softening), -1},
    [csv_radius] = {"radius", NULL, csv_real, KITH_RADIUS, MEMBER(radius), -1},
    [csv_epsilon] = {"epsilon", NULL, csv_real, KITH_EPSILON, MEMBER(epsilon), -1},
    [csv_sigma] = {"sigma", NULL, csv_real, KITH_SIGMA, MEMBER(sigma), -1},
};

static const char known_columns[] =
    "x, y, z, vx, vy, vz, m (mass), q (charge), eps (softening), radius, epsilon, sigma, id, "
    "name";

static const char blanks[] = " \t";

/* Reads a field that begins with a quote; *end is the separator after it, or the end. */
static kith_status unquote(char *field, char separator, char **end)
{
    char *from = field + 1;
    char *to = field;
    while (*from && (*from != '"' || from[1] == '"')) {
        from += *from == '"';
        *to++ = *from++;
    }
    if (!*from)
        return kith_fail(KITH_BAD_FORMAT, "a quote is not closed on its line");
    *end = from + 1;
    if (separator == ',')
        *end += strspn(*end, blanks);
    if (**end && (separator == ',' ? **end != ',' : !strchr(blanks, **end)))
        return kith_fail(KITH_BAD_FORMAT,
                         "'%.20s' follows a closing quote; double quotes that "
                         "belong to the text",
                         *end);
    *to = 0;
    return KITH_OK;
}

static char *trim(char *field, char *end)
{
    while (end > field && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    return end;
}

char csv_separator(const char *line)
{
    const char *first = line + strspn(line, blanks);
    const char *end = first + strcspn(first, blanks);
    return !strchr(line, ',') && end[strspn(end, blanks)] ? ' ' : ',';
}

kith_status csv_split(char *line, char separator, int32_t capacity, char **fields, int32_t *count)
{
    *count = 0;
    for (bool more = true; more;) {
        char *field = line + strspn(line, blanks);
        const bool quoted = *field == '"';
        char *end = separator == ',' ? strchrnul(field, ',') : field + strcspn(field, blanks);
        if (quoted)
            KITH_TRY(unquote(field, separator, &end));
        more = separator == ',' ? *end == ',' : end[strspn(end, blanks)] != 0;
        line = end + 1;
        if (!quoted)
            *trim(field, end) = 0;
        if (*count < capacity)
            fields[*count] = field;
        ++*count;
    }
    return KITH_OK;
}

static kith_status find_other(const char *field, const char *const *others,
                              struct csv_header *header, int32_t *column)
{
    const int32_t found = bodies_find_name(others, field);
    *column = csv_skipped;
    for (int32_t k = 0; found >= 0 && k < header->other_count; k++)
        if (strcmp(header->other[k], field) == 0)
            return kith_fail(KITH_BAD_FORMAT,
                             "column '%.40s' is given twice; name each column once", field);
    if (found >= 0) {
        *column = csv_column_count + header->other_count;
        header->other[header->other_count++] = others[found];
    }
    return KITH_OK;
}

static kith_status find_column(const char *field, const char *const *others,
                               struct csv_header *header, int32_t *column)
{
    for (int32_t k = 0; k < csv_column_count; k++)
        if (strcasecmp(csv_columns[k].name, field) == 0 ||
            (csv_columns[k].alias && strcasecmp(csv_columns[k].alias, field) == 0)) {
            *column = k;
            return KITH_OK;
        }
    if (others)
        return find_other(field, others, header, column);
    return kith_fail(KITH_BAD_FORMAT, "column '%.40s' is unknown; the known ones are %s", field,
                     known_columns);
}

static bool all_numbers(char *const *fields, int32_t count)
{
    double value = 0;
    for (int32_t k = 0; k < count; k++)
        if (!parse_real(fields[k], &value))
            return false;
    return true;
}

static kith_status check_completeness(const bool *present)
{
    static const enum csv_index required[] = {csv_x, csv_y};
    for (int32_t k = 0; k < 2; k++)
        if (!present[required[k]])
            return kith_fail(KITH_BAD_FORMAT,
                             "column %s is missing; x and y must be there, and z "
                             "in three dimensions",
                             csv_columns[required[k]].name);
    if (!present[csv_vx] && !present[csv_vy] && !present[csv_vz])
        return KITH_OK;
    if (present[csv_vz] && !present[csv_z])
        return kith_fail(KITH_BAD_FORMAT, "column vz is there, but z is missing");
    for (enum csv_index k = csv_vx; k <= csv_vz; k++)
        if (!present[k] && (k != csv_vz || present[csv_z]))
            return kith_fail(KITH_BAD_FORMAT,
                             "column %s is missing; give all components of the velocity or none",
                             csv_columns[k].name);
    return KITH_OK;
}

kith_status csv_header_parse(char *const *fields, int32_t count, const char *const *others,
                             struct csv_header *header)
{
    *header = (struct csv_header){0};
    const int32_t most = others ? csv_most_fields : (int32_t)csv_column_count;
    const int32_t stored = count < most ? count : most;
    if (all_numbers(fields, stored))
        return kith_fail(KITH_BAD_FORMAT, "the header is missing; name the columns in the first "
                                          "line, for example x,y,z,vx,vy,vz,m");
    bool present[csv_column_count] = {false};
    for (int32_t k = 0; k < stored; k++) {
        int32_t column = csv_skipped;
        KITH_TRY(find_column(fields[k], others, header, &column));
        header->column[k] = column;
        if (column < 0 || column >= csv_column_count)
            continue;
        if (present[column])
            return kith_fail(KITH_BAD_FORMAT,
                             "column '%.40s' is given twice; name each column once", fields[k]);
        present[column] = true;
        header->flags |= csv_columns[column].flag;
    }
    if (count > stored && others)
        return kith_fail(KITH_BAD_FORMAT, "there are %d columns; give at most %d", (int)count,
                         csv_most_fields);
    if (count > stored)
        return kith_fail(KITH_BAD_FORMAT, "there are %d columns; the known ones are %s", (int)count,
                         known_columns);
    KITH_TRY(check_completeness(present));
    header->fields = count;
    header->dimensions = present[csv_z] ? 3 : 2;
    return KITH_OK;
}
