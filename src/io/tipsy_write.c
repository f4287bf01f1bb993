#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/bytes.h"
#include "io/format.h"
#include "io/output.h"
#include "io/tipsy.h"

static int32_t species_of(const kith_bodies *bodies, int64_t i)
{
    for (int32_t s = 0; bodies->name && s < tipsy_species_count; s++)
        if (strcmp(bodies->name[i], tipsy_species[s].name) == 0)
            return s;
    return tipsy_dark;
}

/* Names are kept if they are those of species. */
unsigned tipsy_holds(const kith_bodies *bodies)
{
    bool keeps_names = true;
    for (int64_t i = 0; bodies->name && keeps_names && i < bodies->count; i++)
        keeps_names = strcmp(bodies->name[i], tipsy_species[species_of(bodies, i)].name) == 0;
    return KITH_VELOCITY | KITH_MASS | KITH_SOFTENING | (keeps_names ? (unsigned)KITH_NAME : 0u);
}

static void fill(const kith_bodies *bodies, int64_t i, const struct tipsy_species *species,
                 double word[tipsy_max_words])
{
    const int32_t d = bodies->dimensions;
    memset(word, 0, sizeof *word * tipsy_max_words);
    word[0] = bodies->mass ? bodies->mass[i] : 1;
    for (int32_t k = 0; k < d; k++) {
        word[1 + k] = bodies->position[i * d + k];
        word[4 + k] = bodies->velocity ? bodies->velocity[i * d + k] : 0;
    }
    word[species->softening] = bodies->softening ? bodies->softening[i] : 0;
}

/* A double beyond this rounds to an infinite float. */
static const double largest = (double)FLT_MAX + 0x1p103;

static kith_status check_range(const kith_bodies *bodies, const char *path)
{
    for (int64_t i = 0; i < bodies->count; i++) {
        double word[tipsy_max_words];
        fill(bodies, i, &tipsy_species[species_of(bodies, i)], word);
        for (int32_t k = 0; k < tipsy_max_words; k++)
            if (fabs(word[k]) >= largest)
                return kith_fail(KITH_INVALID_ARGUMENT,
                                 "%s: body %lld (from 0) has the number %g, and Tipsy's are single "
                                 "precision, up to 3.4e38; choose other units or another format",
                                 path, (long long)i, word[k]);
    }
    if (bodies->count > INT32_MAX)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "%s: %lld bodies, and Tipsy holds at most %d; choose another format", path,
                         (long long)bodies->count, INT32_MAX);
    return KITH_OK;
}

static void write_big_endian(FILE *stream, void *words, int64_t count, int64_t bytes_each)
{
    if (!machine_is_big_endian())
        swap_bytes(words, count, bytes_each);
    fwrite(words, (size_t)bytes_each, (size_t)count, stream);
}

static void write_header(FILE *stream, const kith_bodies *bodies)
{
    double time = bodies->time;
    /* The total, the dimensions, the species, the padding. */
    int32_t counts[6] = {(int32_t)bodies->count, bodies->dimensions, 0, 0, 0, 0};
    for (int64_t i = 0; i < bodies->count; i++)
        counts[2 + species_of(bodies, i)]++;
    write_big_endian(stream, &time, 1, sizeof time);
    write_big_endian(stream, counts, 6, sizeof counts[0]);
}

static void write_records(FILE *stream, const kith_bodies *bodies, int32_t s)
{
    const struct tipsy_species *species = &tipsy_species[s];
    for (int64_t i = 0; i < bodies->count; i++) {
        if (species_of(bodies, i) != s)
            continue;
        double word[tipsy_max_words];
        float record[tipsy_max_words];
        fill(bodies, i, species, word);
        for (int32_t k = 0; k < species->words; k++)
            record[k] = (float)word[k];
        write_big_endian(stream, record, species->words, sizeof record[0]);
    }
}

kith_status tipsy_write(const kith_bodies *bodies, const char *path,
                        const kith_write_options *options)
{
    (void)options;
    KITH_TRY(check_range(bodies, path));
    kith_output *output = NULL;
    KITH_TRY(kith_output_open(path, &output));
    FILE *stream = kith_output_stream(output);
    write_header(stream, bodies);
    for (int32_t s = 0; s < tipsy_species_count; s++)
        write_records(stream, bodies, s);
    return kith_output_finish(output);
}
