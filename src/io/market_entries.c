/* The entries of a file, by all threads: a pass that counts the lines of each chunk, and one that
 * reads them to their places. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "device/threads.h"
#include "io/market.h"
#include "io/text.h"

#ifndef MARKET_CHUNK_BYTES /* fewer for fuzzing, where files are short */
#define MARKET_CHUNK_BYTES (1 << 18)
#endif
enum { chunk_bytes = MARKET_CHUNK_BYTES };

/* A part of the text, from one line's start to another's. */
struct chunk {
    const char *begin, *end;
    int64_t lines, entries;          /* in it */
    int64_t first_line, first_entry; /* before it */
    int64_t long_line;               /* the first that is too long, from 1; 0 if none is */
    bool has_zero;                   /* a zero byte, which no text has */
    enum market_fault fault;         /* of its first bad line: */
    int64_t bad_line;
    const char *bad_text;
    struct market_entry bad_entry;
};

struct reading {
    const struct market_header *header;
    locale_t locale;
    int64_t wanted; /* entries to be stored: no more than the header says */
    int64_t chunk_count;
    struct chunk *chunks;
    struct market_entries *entries;
};

static void count_lines(void *argument, int64_t k)
{
    struct chunk *chunk = &((struct reading *)argument)->chunks[k];
    chunk->has_zero = memchr(chunk->begin, 0, (size_t)(chunk->end - chunk->begin));
    for (const char *line = chunk->begin, *next; line < chunk->end; line = next) {
        next = market_next_line(line, chunk->end);
        chunk->lines++;
        chunk->entries += !market_is_empty(line);
        if (next - line - (next[-1] == '\n') > text_longest_line && !chunk->long_line)
            chunk->long_line = chunk->lines;
    }
}

static void read_lines(void *argument, int64_t k)
{
    struct reading *reading = argument;
    struct chunk *chunk = &reading->chunks[k];
    struct market_entries *to = reading->entries;
    int64_t number = chunk->first_entry, line_number = chunk->first_line;
    for (const char *line = chunk->begin; line < chunk->end;
         line = market_next_line(line, chunk->end)) {
        line_number++;
        if (market_is_empty(line))
            continue;
        if (number >= reading->wanted)
            return;
        struct market_entry entry;
        chunk->fault = market_line_read(reading->header, line, number, reading->locale, &entry);
        if (chunk->fault != market_fine) {
            chunk->bad_line = line_number;
            chunk->bad_text = line;
            chunk->bad_entry = entry;
            return;
        }
        to->row[number] = (int32_t)(entry.row - 1);
        to->column[number] = (int32_t)(entry.column - 1);
        to->value[number++] = entry.value;
    }
}

static kith_status cut_into_chunks(const char *body, const char *end, struct reading *reading)
{
    const int64_t most = (end - body) / chunk_bytes + 1;
    KITH_TRY(kith_allocate(most, sizeof *reading->chunks, "parts of the text", &reading->chunks));
    for (const char *at = body; at < end;) {
        const char *stop = end - at > chunk_bytes ? market_next_line(at + chunk_bytes, end) : end;
        reading->chunks[reading->chunk_count++] = (struct chunk){.begin = at, .end = stop};
        at = stop;
    }
    return KITH_OK;
}

/* Lines and entries before each chunk, and all entries. */
static kith_status number_chunks(struct reading *reading, int64_t *entries)
{
    int64_t lines = reading->header->lines;
    *entries = 0;
    for (int64_t k = 0; k < reading->chunk_count; k++) {
        struct chunk *chunk = &reading->chunks[k];
        if (chunk->long_line)
            return market_fail_long_line(lines + chunk->long_line);
        if (chunk->has_zero)
            return market_check_text(chunk->begin, chunk->end, lines + 1);
        chunk->first_line = lines;
        chunk->first_entry = *entries;
        lines += chunk->lines;
        *entries += chunk->entries;
    }
    return KITH_OK;
}

/* The line of the first entry that there should not be. */
static int64_t line_of_entry(const struct reading *reading, int64_t wanted)
{
    for (int64_t k = 0; k < reading->chunk_count; k++) {
        const struct chunk *chunk = &reading->chunks[k];
        int64_t number = chunk->first_entry, line_number = chunk->first_line;
        if (number + chunk->entries <= wanted)
            continue;
        for (const char *line = chunk->begin; line < chunk->end;
             line = market_next_line(line, chunk->end)) {
            line_number++;
            if (!market_is_empty(line) && number++ == wanted)
                return line_number;
        }
    }
    return 0;
}

static kith_status check_chunks(const struct reading *reading, int64_t found)
{
    const struct market_header *header = reading->header;
    int64_t lines = header->lines;
    for (int64_t k = 0; k < reading->chunk_count; k++) {
        const struct chunk *chunk = &reading->chunks[k];
        lines += chunk->lines;
        if (chunk->fault != market_fine)
            return market_fail_at(header, chunk->fault, chunk->bad_text, chunk->bad_line,
                                  &chunk->bad_entry);
    }
    if (found < header->entries)
        return kith_fail(KITH_BAD_FORMAT,
                         "line %lld: the file ends after %lld entries; its size line (line %lld) "
                         "says %lld",
                         (long long)lines, (long long)found, (long long)header->lines,
                         (long long)header->entries);
    if (found > header->entries)
        return kith_fail(KITH_BAD_FORMAT,
                         "line %lld: one more entry than the %lld of the size line (line %lld); "
                         "there are at least %lld",
                         (long long)line_of_entry(reading, header->entries),
                         (long long)header->entries, (long long)header->lines, (long long)found);
    return KITH_OK;
}

/* Symmetric entries twice, but for the diagonal: the mirrored ones after those of the file. */
static void mirror(const struct market_header *header, struct market_entries *entries)
{
    const double sign = header->symmetry == market_skew ? -1 : 1;
    int64_t at = entries->count;
    for (int64_t k = 0; k < entries->count; k++) {
        if (entries->row[k] == entries->column[k])
            continue;
        entries->row[at] = entries->column[k];
        entries->column[at] = entries->row[k];
        entries->value[at++] = sign * entries->value[k];
    }
    entries->count = at;
}

/* Zeros of an array are not entries of the matrix. */
static void leave_zeros_out(struct market_entries *entries)
{
    int64_t kept = 0;
    for (int64_t k = 0; k < entries->count; k++) {
        if (entries->value[k] == 0)
            continue;
        entries->row[kept] = entries->row[k];
        entries->column[kept] = entries->column[k];
        entries->value[kept++] = entries->value[k];
    }
    entries->count = kept;
}

static kith_status allocate_entries(const struct market_header *header, int64_t count,
                                    struct market_entries *entries)
{
    const int64_t room = header->symmetry == market_general ? count : 2 * count;
    entries->count = count;
    KITH_TRY(kith_allocate(room, sizeof *entries->row, "the entries", &entries->row));
    KITH_TRY(kith_allocate(room, sizeof *entries->column, "the entries", &entries->column));
    return kith_allocate(room, sizeof *entries->value, "the entries", &entries->value);
}

static kith_status read_chunks(kith_context *context, struct reading *reading, double seconds)
{
    const int32_t threads = kith_threads_for(context, seconds);
    KITH_TRY(kith_for_each(context, threads, reading->chunk_count, count_lines, reading));
    int64_t found = 0;
    KITH_TRY(number_chunks(reading, &found));
    reading->wanted = found < reading->header->entries ? found : reading->header->entries;
    KITH_TRY(allocate_entries(reading->header, reading->wanted, reading->entries));
    KITH_TRY(kith_for_each(context, threads, reading->chunk_count, read_lines, reading));
    return check_chunks(reading, found);
}

kith_status market_entries_read(kith_context *context, const struct market_text *text,
                                const struct market_header *header, const char *body,
                                struct market_entries *entries)
{
    struct reading reading = {.header = header, .entries = entries};
    *entries = (struct market_entries){0};
    KITH_TRY(cut_into_chunks(body, text->bytes + text->size, &reading));
    reading.locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    kith_status status = kith_fail(KITH_OUT_OF_MEMORY, "the C locale: out of memory");
    if (reading.locale) {
        status = read_chunks(context, &reading, 3e-9 * (double)text->size);
        freelocale(reading.locale);
    }
    free(reading.chunks);
    if (status == KITH_OK && header->array)
        leave_zeros_out(entries);
    if (status == KITH_OK && header->symmetry != market_general)
        mirror(header, entries);
    return status;
}

void market_entries_release(struct market_entries *entries)
{
    free(entries->row);
    free(entries->column);
    free(entries->value);
}
