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

/* What becomes of a file's records: the bodies, and the words where potentials are. */
struct target {
    kith_bodies *bodies;
    int32_t *potential;
};

static void store(const unsigned char *record, const struct tipsy_species *species,
                  const struct target *target, int64_t i)
{
    kith_bodies *bodies = target->bodies;
    const int32_t d = bodies->dimensions;
    float word[tipsy_max_words];
    memcpy(word, record, sizeof word[0] * (size_t)species->words);
    bodies->mass[i] = word[0];
    for (int32_t k = 0; k < d; k++) {
        bodies->position[i * d + k] = word[1 + k];
        bodies->velocity[i * d + k] = word[4 + k];
    }
    bodies->softening[i] = word[species->softening];
    memcpy(&target->potential[i], &word[species->words - 1], sizeof target->potential[i]);
    if (bodies->name)
        snprintf(bodies->name[i], KITH_NAME_BYTES, "%s", species->name);
}

static kith_status check_record(const struct target *target, int64_t i, int64_t offset)
{
    const kith_bodies *bodies = target->bodies;
    const int32_t d = bodies->dimensions;
    bool finite = isfinite(bodies->mass[i]) && isfinite(bodies->softening[i]);
    for (int32_t k = 0; k < d; k++)
        finite = finite && isfinite(bodies->position[i * d + k]) &&
                 isfinite(bodies->velocity[i * d + k]);
    if (!finite || bodies->softening[i] < 0)
        return kith_fail(KITH_BAD_FORMAT, "the record of body %lld (from 0) at offset %lld has %s",
                         (long long)i, (long long)offset,
                         finite ? "a negative softening" : "a number that is not finite");
    return KITH_OK;
}

static kith_status read_records(FILE *stream, const struct tipsy_header *header,
                                const struct target *target)
{
    int64_t i = 0;
    int64_t offset = header->bytes;
    for (int32_t s = 0; s < tipsy_species_count; s++) {
        const struct tipsy_species *species = &tipsy_species[s];
        for (int64_t k = 0; k < header->count[s]; k++, i++, offset += species->words * 4) {
            unsigned char record[tipsy_max_words * 4];
            KITH_TRY(read_bytes(stream, record, species->words * 4, "a record"));
            if (header->swapped)
                swap_bytes(record, species->words, 4);
            store(record, species, target, i);
            KITH_TRY(check_record(target, i, offset));
        }
    }
    return KITH_OK;
}

static int compare(const void *a, const void *b)
{
    const int32_t left = *(const int32_t *)a;
    const int32_t right = *(const int32_t *)b;
    return (left > right) - (left < right);
}

/* Some programs keep ids where potentials belong (NVIDIA's nbody sample does). Potentials are
 * negative or, if not computed, all zero; ids are neither, and distinct. */
static kith_status look_for_ids(const struct target *target)
{
    kith_bodies *bodies = target->bodies;
    const int64_t n = bodies->count;
    int32_t *sorted = NULL;
    KITH_TRY(kith_allocate(n, sizeof *sorted, "ids", &sorted));
    if (n > 0) {
        memcpy(sorted, target->potential, sizeof *sorted * (size_t)n);
        qsort(sorted, (size_t)n, sizeof *sorted, compare);
    }
    bool are_ids = n > 0 && sorted[0] >= 0 && sorted[n - 1] > 0;
    for (int64_t k = 1; are_ids && k < n; k++)
        are_ids = sorted[k] != sorted[k - 1];
    free(sorted);
    if (!are_ids)
        return KITH_OK;
    KITH_TRY(kith_bodies_add_columns(bodies, KITH_ID));
    for (int64_t i = 0; i < n; i++)
        bodies->id[i] = target->potential[i];
    return KITH_OK;
}

/* Bodies without softening are written with zeros. */
static void drop_zero_softening(kith_bodies *bodies)
{
    for (int64_t i = 0; i < bodies->count; i++)
        if (bodies->softening[i] != 0)
            return;
    free(bodies->softening);
    bodies->softening = NULL;
}

/* Names only where they carry information: dark is the default when writing. */
static unsigned columns_of(const struct tipsy_header *header)
{
    const bool only_dark = header->count[tipsy_gas] == 0 && header->count[tipsy_star] == 0;
    return KITH_VELOCITY | KITH_MASS | KITH_SOFTENING | (only_dark ? 0u : (unsigned)KITH_NAME);
}

static kith_status read_file(FILE *stream, kith_bodies **bodies)
{
    struct tipsy_header header = {0};
    KITH_TRY(read_header(stream, &header));
    int64_t count = 0;
    for (int32_t s = 0; s < tipsy_species_count; s++)
        count += header.count[s];
    KITH_TRY(kith_bodies_create(count, header.dimensions, columns_of(&header), bodies));
    (*bodies)->time = header.time;

    struct target target = {*bodies, NULL};
    KITH_TRY(kith_allocate(count, sizeof *target.potential, "potentials", &target.potential));
    kith_status status = read_records(stream, &header, &target);
    if (status == KITH_OK)
        status = look_for_ids(&target);
    free(target.potential);
    if (status == KITH_OK)
        drop_zero_softening(*bodies);
    return status;
}

kith_status tipsy_read(const char *path, const kith_read_options *options, kith_bodies **bodies)
{
    (void)options;
    FILE *stream = NULL;
    KITH_TRY(open_input(path, &stream));
    const kith_status status = read_file(stream, bodies);
    fclose(stream);
    return status;
}
