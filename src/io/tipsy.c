/* Tipsy binary files (N-Body Shop, University of Washington): a header, then gas, dark and star
 * records of 32-bit numbers. The standard order is big-endian; files in the order of the machine
 * that wrote them are common. */
#include "io/tipsy.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "io/bytes.h"
#include "io/format.h"
#include "io/stream.h"
#include "io/text.h"

const struct tipsy_species tipsy_species[tipsy_species_count] = {
    [tipsy_gas] = {"gas", 12, 9},
    [tipsy_dark] = {"dark", 9, 7},
    [tipsy_star] = {"star", 11, 9},
};

struct tipsy_header {
    bool swapped;
    int64_t bytes; /* 28, or 32 with padding */
    double time;
    int32_t dimensions;
    int32_t count[tipsy_species_count];
};

static void decode(const unsigned char *raw, bool swapped, struct tipsy_header *header,
                   int32_t *total)
{
    unsigned char bytes[tipsy_header_bytes];
    memcpy(bytes, raw, sizeof bytes);
    if (swapped) {
        swap_bytes(bytes, 1, 8);
        swap_bytes(bytes + 8, 5, 4);
    }
    header->swapped = swapped;
    memcpy(&header->time, bytes, 8);
    memcpy(total, bytes + 8, 4);
    memcpy(&header->dimensions, bytes + 12, 4);
    memcpy(header->count, bytes + 16, sizeof header->count);
}

static int64_t bytes_of_records(const struct tipsy_header *header)
{
    int64_t bytes = 0;
    for (int32_t s = 0; s < tipsy_species_count; s++)
        bytes += header->count[s] * (int64_t)tipsy_species[s].words * 4;
    return bytes;
}

static bool is_plausible(const struct tipsy_header *header, int32_t total)
{
    int64_t sum = 0;
    for (int32_t s = 0; s < tipsy_species_count; s++) {
        if (header->count[s] < 0)
            return false;
        sum += header->count[s];
    }
    return sum == total && (header->dimensions == 2 || header->dimensions == 3) &&
           isfinite(header->time);
}

/* Tries both byte orders; the size of the file shows whether the header is padded. */
static kith_status understand(const unsigned char *raw, int64_t file_bytes,
                              struct tipsy_header *header)
{
    for (int32_t swapped = 0; swapped < 2; swapped++) {
        int32_t total = 0;
        decode(raw, swapped, header, &total);
        if (!is_plausible(header, total))
            continue;
        header->bytes = file_bytes - bytes_of_records(header);
        if (header->bytes == tipsy_header_bytes || header->bytes == tipsy_padded_bytes)
            return KITH_OK;
        return kith_fail(KITH_BAD_FORMAT,
                         "the header counts %d gas, %d dark and %d star records, which need %lld "
                         "bytes after it, and the file ends at offset %lld; it is %s",
                         (int)header->count[tipsy_gas], (int)header->count[tipsy_dark],
                         (int)header->count[tipsy_star], (long long)bytes_of_records(header),
                         (long long)file_bytes,
                         header->bytes < tipsy_padded_bytes ? "truncated" : "too long");
    }
    return kith_fail(
        KITH_BAD_FORMAT,
        "the numbers at offset 8 are not a Tipsy header in either byte order (bodies = "
        "gas + dark + star, in 2 or 3 dimensions)");
}

/* A file with a padded header that lost its last 4 bytes has the size of one without padding; what
 * is taken for the first mass is then the padding, which is 0. */
static kith_status check_first_mass(FILE *stream, const struct tipsy_header *header)
{
    if (header->bytes != tipsy_header_bytes || bytes_of_records(header) == 0)
        return KITH_OK;
    uint32_t mass = 0;
    KITH_TRY(read_bytes(stream, &mass, sizeof mass, "the first record"));
    if (mass == 0)
        return kith_fail(KITH_BAD_FORMAT,
                         "the file is truncated: the first mass at offset 28 is 0, "
                         "as if the header's padding were there and the last 4 "
                         "bytes missing");
    return KITH_OK;
}

static kith_status read_header(FILE *stream, struct tipsy_header *header)
{
    int64_t file_bytes = 0;
    if (!input_bytes_left(stream, &file_bytes))
        return kith_fail(KITH_UNSUPPORTED, "Tipsy is read from regular files only: the size of the "
                                           "file has its kind");
    unsigned char raw[tipsy_header_bytes];
    KITH_TRY(read_bytes(stream, raw, sizeof raw, "the header"));
    KITH_TRY(understand(raw, file_bytes, header));
    KITH_TRY(check_first_mass(stream, header));
    return seek_to(stream, header->bytes);
}

/* A file that is read some records at a time. */
struct tipsy_rows {
    FILE *stream;
    struct tipsy_header header;
    int64_t count; /* of all records */
    int64_t next;  /* the record where the stream is, and its offset */
    int64_t offset;
    bool has_softening, has_ids;
};

struct record {
    const struct tipsy_species *species;
    int64_t number, offset;
    float word[tipsy_max_words];
    int32_t potential; /* the last word */
};

static kith_status rewind_records(struct tipsy_rows *rows)
{
    rows->next = 0;
    rows->offset = rows->header.bytes;
    return seek_to(rows->stream, rows->offset);
}

static kith_status next_record(struct tipsy_rows *rows, struct record *record)
{
    unsigned char bytes[tipsy_max_words * 4];
    int64_t end = 0;
    int32_t s = 0;
    while ((end += rows->header.count[s]) <= rows->next)
        s++;
    const struct tipsy_species *species = &tipsy_species[s];
    KITH_TRY(read_bytes(rows->stream, bytes, species->words * 4, "a record"));
    if (rows->header.swapped)
        swap_bytes(bytes, species->words, 4);
    record->species = species;
    record->number = rows->next++;
    record->offset = rows->offset;
    rows->offset += species->words * 4;
    memcpy(record->word, bytes, sizeof record->word[0] * (size_t)species->words);
    memcpy(&record->potential, &record->word[species->words - 1], sizeof record->potential);
    return KITH_OK;
}

static kith_status check_record(const struct record *record, int32_t dimensions)
{
    const float softening = record->word[record->species->softening];
    bool finite = isfinite(record->word[0]) && isfinite(softening);
    for (int32_t k = 0; k < dimensions; k++)
        finite = finite && isfinite(record->word[1 + k]) && isfinite(record->word[4 + k]);
    if (!finite || softening < 0)
        return kith_fail(KITH_BAD_FORMAT, "the record of body %lld (from 0) at offset %lld has %s",
                         (long long)record->number, (long long)record->offset,
                         finite ? "a negative softening" : "a number that is not finite");
    return KITH_OK;
}

static void store(const struct record *record, kith_bodies *bodies, int64_t i)
{
    const int32_t d = bodies->dimensions;
    bodies->mass[i] = record->word[0];
    for (int32_t k = 0; k < d; k++) {
        bodies->position[i * d + k] = record->word[1 + k];
        bodies->velocity[i * d + k] = record->word[4 + k];
    }
    if (bodies->softening)
        bodies->softening[i] = record->word[record->species->softening];
    if (bodies->id)
        bodies->id[i] = record->potential;
    if (bodies->name)
        snprintf(bodies->name[i], KITH_NAME_BYTES, "%s", record->species->name);
}

/* Some programs keep ids where potentials belong (NVIDIA's nbody sample does). Potentials are
 * negative or, if not computed, all zero; ids are neither, and distinct. */
struct potentials {
    int32_t least, most;
};

/* Passes over all records: whether any body has a softening (bodies without are written with
 * zeros), and the range of the potentials. */
static kith_status inspect_records(struct tipsy_rows *rows, struct potentials *potentials)
{
    *potentials = (struct potentials){INT32_MAX, INT32_MIN};
    KITH_TRY(rewind_records(rows));
    while (rows->next < rows->count) {
        struct record record;
        KITH_TRY(next_record(rows, &record));
        KITH_TRY(check_record(&record, rows->header.dimensions));
        if (record.word[record.species->softening] != 0)
            rows->has_softening = true;
        if (record.potential < potentials->least)
            potentials->least = record.potential;
        if (record.potential > potentials->most)
            potentials->most = record.potential;
    }
    return KITH_OK;
}

/* Whether no two of the potentials from begin to begin + count − 1 are the same: a bit for each. */
static kith_status are_distinct(struct tipsy_rows *rows, int64_t begin, int64_t count,
                                uint64_t *bits, bool *distinct)
{
    KITH_TRY(rewind_records(rows));
    memset(bits, 0, (size_t)(count + 63) / 64 * sizeof *bits);
    for (*distinct = true; *distinct && rows->next < rows->count;) {
        struct record record;
        KITH_TRY(next_record(rows, &record));
        const int64_t k = record.potential - begin;
        if (k < 0 || k >= count)
            continue;
        *distinct = !(bits[k / 64] >> k % 64 & 1);
        bits[k / 64] |= UINT64_C(1) << k % 64;
    }
    return KITH_OK;
}

/* The most ids of a pass, which has a bit for each. */
enum { ids_at_once = 1 << 26 };

static kith_status look_for_ids(struct tipsy_rows *rows, const struct potentials *potentials)
{
    const int64_t range = (int64_t)potentials->most + 1;
    const int64_t at_once = range < ids_at_once ? range : ids_at_once;
    uint64_t *bits = NULL;
    if (potentials->least < 0 || potentials->most <= 0 || range < rows->count)
        return KITH_OK;
    KITH_TRY(kith_allocate((at_once + 63) / 64, sizeof *bits, "ids", &bits));
    kith_status status = KITH_OK;
    bool distinct = true;
    for (int64_t begin = 0; distinct && begin < range && status == KITH_OK; begin += at_once)
        status = are_distinct(rows, begin, at_once, bits, &distinct);
    free(bits);
    rows->has_ids = status == KITH_OK && distinct;
    return status;
}

static kith_status begin_rows(struct tipsy_rows *rows)
{
    struct potentials potentials;
    KITH_TRY(read_header(rows->stream, &rows->header));
    for (int32_t s = 0; s < tipsy_species_count; s++)
        rows->count += rows->header.count[s];
    KITH_TRY(inspect_records(rows, &potentials));
    KITH_TRY(look_for_ids(rows, &potentials));
    return rewind_records(rows);
}

/* Names only where they carry information: dark is the default when writing. */
static kith_status make_bodies(const struct tipsy_rows *rows, int64_t count, kith_bodies **bodies)
{
    const struct tipsy_header *header = &rows->header;
    const bool only_dark = header->count[tipsy_gas] == 0 && header->count[tipsy_star] == 0;
    const unsigned columns = (unsigned)KITH_VELOCITY | (unsigned)KITH_MASS |
                             (rows->has_softening ? (unsigned)KITH_SOFTENING : 0) |
                             (rows->has_ids ? (unsigned)KITH_ID : 0) |
                             (only_dark ? 0 : (unsigned)KITH_NAME);
    KITH_TRY(kith_bodies_create(count, header->dimensions, columns, bodies));
    (*bodies)->time = header->time;
    return KITH_OK;
}

static kith_status read_records(struct tipsy_rows *rows, kith_bodies *bodies)
{
    for (int64_t i = 0; i < bodies->count; i++) {
        struct record record;
        KITH_TRY(next_record(rows, &record));
        KITH_TRY(check_record(&record, rows->header.dimensions));
        store(&record, bodies, i);
    }
    return KITH_OK;
}

kith_status tipsy_read(const char *path, const kith_read_options *options, kith_bodies **bodies)
{
    struct tipsy_rows rows = {0};
    (void)options;
    KITH_TRY(open_input(path, &rows.stream));
    kith_status status = begin_rows(&rows);
    if (status == KITH_OK)
        status = make_bodies(&rows, rows.count, bodies);
    if (status == KITH_OK)
        status = read_records(&rows, *bodies);
    fclose(rows.stream);
    return status;
}

static kith_status open_rows(const char *path, const kith_read_options *options, kith_bodies **like,
                             int64_t *count, void **state)
{
    struct tipsy_rows *rows = NULL;
    (void)options;
    KITH_TRY(kith_allocate(1, sizeof *rows, "rows", &rows));
    const kith_status status = open_input(path, &rows->stream);
    if (status != KITH_OK) {
        free(rows);
        return status;
    }
    *state = rows;
    KITH_TRY(begin_rows(rows));
    *count = rows->count;
    return make_bodies(rows, 1, like);
}

static kith_status next_rows(void *state, int64_t first, kith_bodies *some)
{
    (void)first;
    return read_records(state, some);
}

static void close_rows(void *state)
{
    struct tipsy_rows *rows = state;
    if (rows)
        fclose(rows->stream);
    free(rows);
}

const struct stream_functions tipsy_stream = {open_rows, next_rows, close_rows};
