#ifndef IO_MARKET_H
#define IO_MARKET_H

#include <locale.h>
#include <string.h>

#include "core/status.h"
#include "sparse/product.h"

/* Matrix Market files: https://math.nist.gov/MatrixMarket/formats.html */

enum market_field { market_real, market_integer, market_pattern };
enum market_symmetry { market_general, market_symmetric, market_skew };

/* The lines of a file before its entries. */
struct market_header {
    bool array;
    enum market_field field;
    enum market_symmetry symmetry;
    int64_t rows, columns, entries; /* entries: those that the file shall have */
    int64_t lines;                  /* up to the size line */
};

/* A whole file, uncompressed, with zeros past its end. */
struct market_text {
    char *bytes;
    int64_t size;
};

/* Reads a file; of a file of unknown size, such as a pipe, only as much as shows an error. Messages
 * omit the path. Errors: KITH_IO_ERROR, KITH_UNSUPPORTED (.gz without zlib), KITH_BAD_FORMAT
 * (damaged .gz; a stream that is not a Matrix Market file), KITH_OUT_OF_MEMORY, KITH_CANCELLED. */
kith_status market_load(const kith_context *context, const char *path, struct market_text *text);

/* Whether a line, which ends with a newline or a zero, is empty or a comment. */
static inline bool market_is_empty(const char *line)
{
    while (*line == ' ' || *line == '\t' || *line == '\r' || *line == '\v' || *line == '\f')
        line++;
    return *line == 0 || *line == '\n' || *line == '%';
}

/* Where the line after this one begins; the text's end after the last line. */
static inline const char *market_next_line(const char *line, const char *end)
{
    const char *found = memchr(line, '\n', (size_t)(end - line));
    return found ? found + 1 : end;
}

kith_status market_fail_long_line(int64_t line_number);

/* Fails with KITH_BAD_FORMAT and the line's number if there is a zero byte from begin to end; begin
 * is in line first_line. */
kith_status market_check_text(const char *begin, const char *end, int64_t first_line);

/* The first line, and the one of sizes, whose number is header->lines. Errors: KITH_BAD_FORMAT,
 * KITH_UNSUPPORTED. */
kith_status market_banner_read(const char *line, struct market_header *header);
kith_status market_sizes_read(const char *line, struct market_header *header);

/* State of reading a text that may have no end. */
struct market_watch {
    struct market_header header;
    int64_t seen; /* bytes of whole lines that were read */
    int64_t lines, entries;
    int64_t empty_bytes; /* of comments and empty lines */
    bool has_sizes;
};

/* Parses the lines that have arrived since the last call. *enough: the text has more entries than
 * it may have, so that the rest need not be read. Errors: KITH_BAD_FORMAT, KITH_UNSUPPORTED. */
kith_status market_watch(struct market_watch *watch, const struct market_text *text, bool *enough);

/* Reads the header and sets *body to where the entries begin. Errors: KITH_BAD_FORMAT,
 * KITH_UNSUPPORTED. */
kith_status market_header_read(const struct market_text *text, struct market_header *header,
                               const char **body);

/* Entries as a file has them, those that symmetry implies included: 0-based. */
struct market_entries {
    int64_t count;
    int32_t *row, *column;
    double *value;
};

/* Reads them with all threads of the context. Free *entries with market_entries_release,
 * also after a failure. Errors: KITH_BAD_FORMAT, KITH_OUT_OF_MEMORY. */
kith_status market_entries_read(kith_context *context, const struct market_text *text,
                                const struct market_header *header, const char *body,
                                struct market_entries *entries);
void market_entries_release(struct market_entries *entries);

/* An entry, or why a line is invalid. */
struct market_entry {
    int64_t row, column; /* from 1 */
    double value;
};
enum market_fault {
    market_fine,
    market_no_index,
    market_outside,
    market_no_number,
    market_no_integer,
    market_surplus_words,
    market_above_diagonal,
    market_on_diagonal
};

/* Reads the line of an entry; of an array, number is its place in the file's order. */
enum market_fault market_line_read(const struct market_header *header, const char *line,
                                   int64_t number, locale_t locale, struct market_entry *entry);

/* The fault as a sentence that names the line. */
kith_status market_fail_at(const struct market_header *header, enum market_fault fault,
                           const char *line, int64_t line_number, const struct market_entry *entry);

#endif
