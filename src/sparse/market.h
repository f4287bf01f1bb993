#ifndef SPARSE_MARKET_H
#define SPARSE_MARKET_H

#include <locale.h>

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

/* A whole file, uncompressed, with zeros behind its end. */
struct market_text {
    char *bytes;
    int64_t size;
};

/* Reads a file. Messages leave the path out. Errors: KITH_IO_ERROR, KITH_UNSUPPORTED (.gz without
 * zlib), KITH_BAD_FORMAT (damaged .gz), KITH_OUT_OF_MEMORY. */
kith_status market_load(const char *path, struct market_text *text);

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

/* Reads them with all threads of the context. What is in *entries goes with market_entries_release,
 * also after a failure. Errors: KITH_BAD_FORMAT, KITH_OUT_OF_MEMORY. */
kith_status market_entries_read(kith_context *context, const struct market_text *text,
                                const struct market_header *header, const char *body,
                                struct market_entries *entries);
void market_entries_release(struct market_entries *entries);

/* An entry, or why a line is none. */
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
