/* One entry: a line of a file. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "io/decimal.h"
#include "io/market.h"

static const char *skip_spaces(const char *at)
{
    while (*at == ' ' || *at == '\t' || *at == '\r' || *at == '\v' || *at == '\f')
        at++;
    return at;
}

static bool ends_word(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == 0 || c == '\v' || c == '\f';
}

/* An integer of at least 0, saturated; NULL if the text is not one. */
static const char *read_index(const char *at, int64_t *index)
{
    at = skip_spaces(at);
    const char *start = at;
    uint64_t value = 0;
    for (; *at >= '0' && *at <= '9'; at++)
        value = value < UINT64_C(1) << 58 ? 10 * value + (uint64_t)(*at - '0') : value;
    *index = (int64_t)value;
    return at > start && ends_word(*at) ? at : NULL;
}

static enum market_fault read_value(const struct market_header *header, const char **at,
                                    locale_t locale, double *value)
{
    *value = 1;
    if (header->field == market_pattern)
        return market_fine;
    const char *start = skip_spaces(*at);
    const char *end = decimal_read(start, locale, value);
    if (!end || !ends_word(*end))
        return market_no_number;
    if (header->field == market_integer &&
        (!isfinite(*value) || memchr(start, '.', (size_t)(end - start))))
        return market_no_integer;
    *at = end;
    return market_fine;
}

/* The place of an array's kth number: column by column, of a triangle from the diagonal down. */
static void place_in_array(const struct market_header *header, int64_t number,
                           struct market_entry *entry)
{
    const int64_t rows = header->rows;
    if (header->symmetry == market_general) {
        entry->row = number % rows + 1;
        entry->column = number / rows + 1;
        return;
    }
    const int64_t below = header->symmetry == market_skew;
    int64_t low = 0, high = rows; /* the column whose numbers begin at or before this one */
    while (high - low > 1) {
        const int64_t column = low + (high - low) / 2;
        if (column * (rows - below) - column * (column - 1) / 2 <= number)
            low = column;
        else
            high = column;
    }
    entry->column = low + 1;
    entry->row = number - (low * (rows - below) - low * (low - 1) / 2) + low + below + 1;
}

enum market_fault market_line_read(const struct market_header *header, const char *line,
                                   int64_t number, locale_t locale, struct market_entry *entry)
{
    const char *at = line;
    *entry = (struct market_entry){0};
    if (header->array) {
        place_in_array(header, number, entry);
    } else {
        at = read_index(at, &entry->row);
        at = at ? read_index(at, &entry->column) : NULL;
        if (!at)
            return market_no_index;
        if (entry->row < 1 || entry->row > header->rows || entry->column < 1 ||
            entry->column > header->columns)
            return market_outside;
    }
    const enum market_fault fault = read_value(header, &at, locale, &entry->value);
    if (fault != market_fine)
        return fault;
    at = skip_spaces(at);
    if (*at != 0 && *at != '\n')
        return market_surplus_words;
    if (header->symmetry != market_general && entry->column > entry->row)
        return market_above_diagonal;
    if (header->symmetry == market_skew && entry->column == entry->row)
        return market_on_diagonal;
    return market_fine;
}

kith_status market_fail_at(const struct market_header *header, enum market_fault fault,
                           const char *line, int64_t line_number, const struct market_entry *entry)
{
    enum { shown = 60 };
    const int all = (int)strcspn(line, "\r\n"), length = all < shown ? all : shown;
    const long long number = line_number;
    switch (fault) {
    case market_no_index:
        return kith_fail(KITH_BAD_FORMAT,
                         "line %lld: '%.*s' does not begin with a row and a column; give whole "
                         "numbers from 1",
                         number, length, line);
    case market_outside:
        return kith_fail(KITH_BAD_FORMAT,
                         "line %lld: entry (%lld, %lld) is outside the matrix of %lld x %lld",
                         number, (long long)entry->row, (long long)entry->column,
                         (long long)header->rows, (long long)header->columns);
    case market_no_integer:
        return kith_fail(KITH_BAD_FORMAT,
                         "line %lld: '%.*s' has no integer, and the matrix is of integers", number,
                         length, line);
    case market_surplus_words:
        return kith_fail(KITH_BAD_FORMAT, "line %lld: '%.*s' has more words than an entry", number,
                         length, line);
    case market_above_diagonal:
        return kith_fail(KITH_BAD_FORMAT,
                         "line %lld: entry (%lld, %lld) is above the diagonal of a %ssymmetric "
                         "matrix; give the lower triangle alone",
                         number, (long long)entry->row, (long long)entry->column,
                         header->symmetry == market_skew ? "skew-" : "");
    case market_on_diagonal:
        return kith_fail(KITH_BAD_FORMAT,
                         "line %lld: entry (%lld, %lld) is on the diagonal of a skew-symmetric "
                         "matrix, which is zero",
                         number, (long long)entry->row, (long long)entry->column);
    default:
        return kith_fail(KITH_BAD_FORMAT,
                         "line %lld: '%.*s' has no number where the value is expected", number,
                         length, line);
    }
}
