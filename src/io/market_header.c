#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "io/market.h"
#include "io/text.h"

/* The words of a line, cut to a usual length. */
enum { most_words = 6, word_bytes = 32 };
struct words {
    int count; /* of all, also of those that have no room */
    char word[most_words][word_bytes];
};

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

static void split(const char *line, struct words *words)
{
    *words = (struct words){0};
    for (const char *at = line; *at && *at != '\n';) {
        if (is_space(*at)) {
            at++;
            continue;
        }
        const char *start = at;
        while (*at && *at != '\n' && !is_space(*at))
            at++;
        if (words->count < most_words)
            snprintf(words->word[words->count], word_bytes, "%.*s", (int)(at - start), start);
        words->count++;
    }
}

static kith_status fail_at_first(const char *what, const char *found, const char *remedy)
{
    return kith_fail(KITH_BAD_FORMAT, "line 1: %s is '%s'; %s", what, found, remedy);
}

kith_status market_banner_read(const char *line, struct market_header *header)
{
    static const char byte_order_mark[] = "\xEF\xBB\xBF";
    struct words words;
    split(strncmp(line, byte_order_mark, 3) == 0 ? line + 3 : line, &words);
    if (strcasecmp(words.word[0], "%%MatrixMarket") != 0 || words.count < 5)
        return kith_fail(KITH_BAD_FORMAT,
                         "line 1: no Matrix Market banner; such a file begins with "
                         "'%%%%MatrixMarket matrix FORMAT FIELD SYMMETRY'");
    const char *object = words.word[1], *format = words.word[2], *field = words.word[3],
               *symmetry = words.word[4];
    if (strcasecmp(object, "matrix") != 0)
        return fail_at_first("the object", object, "only matrix is read");
    header->array = strcasecmp(format, "array") == 0;
    if (!header->array && strcasecmp(format, "coordinate") != 0)
        return fail_at_first("the format", format, "give coordinate or array");
    if (strcasecmp(field, "complex") == 0 || strcasecmp(symmetry, "hermitian") == 0)
        return kith_fail(KITH_UNSUPPORTED,
                         "line 1: the matrix is %s %s; complex matrices are not supported", field,
                         symmetry);
    const bool real = strcasecmp(field, "real") == 0 || strcasecmp(field, "double") == 0;
    if (!real && strcasecmp(field, "integer") != 0 && strcasecmp(field, "pattern") != 0)
        return fail_at_first("the field", field, "give real, integer or pattern");
    header->field = real                                ? market_real
                    : strcasecmp(field, "integer") == 0 ? market_integer
                                                        : market_pattern;
    if (header->array && header->field == market_pattern)
        return fail_at_first("the field of an array", field, "give real or integer");
    if (strcasecmp(symmetry, "general") == 0)
        header->symmetry = market_general;
    else if (strcasecmp(symmetry, "symmetric") == 0)
        header->symmetry = market_symmetric;
    else if (strcasecmp(symmetry, "skew-symmetric") == 0)
        header->symmetry = market_skew;
    else
        return fail_at_first("the symmetry", symmetry, "give general, symmetric or skew-symmetric");
    return KITH_OK;
}

static bool parse_size(const char *word, int64_t *size)
{
    char *end = NULL;
    errno = 0;
    *size = strtoll(word, &end, 10);
    return end != word && *end == 0 && errno == 0 && *size >= 0;
}

/* Entries that an array's file has: of a symmetric one only the lower triangle. */
static bool count_array(struct market_header *header)
{
    const int64_t n = header->rows;
    if (header->symmetry == market_general)
        return !__builtin_mul_overflow(header->rows, header->columns, &header->entries);
    if (n > sparse_most_rows)
        return false;
    header->entries = header->symmetry == market_skew ? n * (n - 1) / 2 : n * (n + 1) / 2;
    return true;
}

kith_status market_sizes_read(const char *line, struct market_header *header)
{
    struct words words;
    split(line, &words);
    const int expected = header->array ? 2 : 3;
    if (words.count != expected || !parse_size(words.word[0], &header->rows) ||
        !parse_size(words.word[1], &header->columns) ||
        (!header->array && !parse_size(words.word[2], &header->entries)))
        return kith_fail(KITH_BAD_FORMAT,
                         "line %lld: '%.*s' is not a size line; give %s, integers of at least 0",
                         (long long)header->lines, (int)strcspn(line, "\r\n"), line,
                         header->array ? "rows and columns" : "rows, columns and entries");
    if (header->rows > sparse_most_rows || header->columns > sparse_most_rows)
        return kith_fail(KITH_UNSUPPORTED,
                         "line %lld: the matrix is %lld x %lld; more than %d rows or columns are "
                         "not supported",
                         (long long)header->lines, (long long)header->rows,
                         (long long)header->columns, (int)sparse_most_rows);
    if (header->symmetry != market_general && header->rows != header->columns)
        return kith_fail(KITH_BAD_FORMAT,
                         "line %lld: the matrix is %lld x %lld and symmetric; give as many columns "
                         "as rows",
                         (long long)header->lines, (long long)header->rows,
                         (long long)header->columns);
    if (header->array && !count_array(header))
        return kith_fail(KITH_BAD_FORMAT, "line %lld: an array of %lld x %lld is too large",
                         (long long)header->lines, (long long)header->rows,
                         (long long)header->columns);
    return KITH_OK;
}

kith_status market_fail_long_line(int64_t line_number)
{
    return kith_fail(KITH_BAD_FORMAT,
                     "line %lld is longer than %d bytes; this is not a Matrix Market file",
                     (long long)line_number, text_longest_line);
}

kith_status market_check_text(const char *begin, const char *end, int64_t first_line)
{
    const char *found = memchr(begin, 0, (size_t)(end - begin));
    int64_t line_number = first_line;
    if (!found)
        return KITH_OK;
    for (const char *at = begin; (at = memchr(at, '\n', (size_t)(found - at))); at++)
        line_number++;
    return kith_fail(KITH_BAD_FORMAT, "line %lld has a zero byte; this is not a Matrix Market file",
                     (long long)line_number);
}

kith_status market_header_read(const struct market_text *text, struct market_header *header,
                               const char **body)
{
    const char *end = text->bytes + text->size;
    *header = (struct market_header){.lines = 1};
    const char *line = market_next_line(text->bytes, end);
    KITH_TRY(market_check_text(text->bytes, line, 1));
    KITH_TRY(market_banner_read(text->bytes, header));
    for (header->lines = 2; line < end && market_is_empty(line); header->lines++)
        line = market_next_line(line, end);
    if (line >= end)
        return kith_fail(KITH_BAD_FORMAT, "line %lld: the file ends before its size line",
                         (long long)header->lines - 1);
    KITH_TRY(market_check_text(text->bytes, market_next_line(line, end), 1));
    KITH_TRY(market_sizes_read(line, header));
    *body = market_next_line(line, end);
    return KITH_OK;
}
