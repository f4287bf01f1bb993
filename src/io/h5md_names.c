#include "io/h5md_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "io/h5md_layout.h"
#include "io/hdf5_data.h"
#include "io/hdf5_file.h"

/* A dataset outside of the file counts as names, so that reading them reports the error. */
static bool has_name_dataset(const struct h5md_reader *reader)
{
    hid_t dataset = H5I_INVALID_HID;
    if (!hdf5_exists(reader->particles, "name") || hdf5_is_group(reader->particles, "name"))
        return false;
    const kith_status status = hdf5_open_dataset(reader->particles, "name", &dataset);
    if (status != KITH_OK)
        return status == KITH_UNSUPPORTED;
    const hid_t type = H5Dget_type(dataset), space = H5Dget_space(dataset);
    const bool text = H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0 &&
                      H5Sget_simple_extent_ndims(space) == 1 &&
                      H5Sget_simple_extent_npoints(space) == reader->rows;
    H5Sclose(space);
    H5Tclose(type);
    H5Dclose(dataset);
    return text;
}

static const char *species_path(const struct h5md_reader *reader)
{
    return hdf5_is_group(reader->particles, "species") ? "species/value" : "species";
}

static bool has_species(const struct h5md_reader *reader)
{
    struct hdf5_shape shape;
    const char *path = species_path(reader);
    if (hdf5_exists(reader->file, H5MD_PARAMETERS "/dimensions") ||
        !hdf5_exists(reader->particles, path))
        return false;
    const kith_status status = hdf5_shape_of(reader->particles, path, &shape);
    return status == KITH_OK || status == KITH_UNSUPPORTED;
}

bool h5md_has_names(const struct h5md_reader *reader)
{
    return has_name_dataset(reader) || has_species(reader);
}

static kith_status read_name_dataset(const struct h5md_reader *reader, kith_name *names)
{
    hid_t dataset = H5I_INVALID_HID;
    KITH_TRY(hdf5_open_dataset(reader->particles, "name", &dataset));
    const hid_t stored = H5Dget_type(dataset), type = H5Tcopy(stored);
    H5Tclose(stored);
    H5Dclose(dataset);
    H5Tset_size(type, KITH_NAME_BYTES);
    const hsize_t first = (hsize_t)reader->first_row;
    const kith_status status = hdf5_read(reader->particles, "name", type, &first,
                                         (struct hdf5_shape){1, {(hsize_t)reader->count}}, names);
    for (int64_t i = 0; i < reader->count; i++)
        names[i][KITH_NAME_BYTES - 1] = 0;
    H5Tclose(type);
    return status;
}

/* The words of an enumeration, with the number of each. */
struct words {
    int count;
    int64_t *number;
    kith_name *word;
};

static kith_status take_words(hid_t type, struct words *words)
{
    const hid_t base = H5Tget_super(type);
    const size_t base_bytes = H5Tget_size(base);
    kith_status status = KITH_OK;
    for (int k = 0; status == KITH_OK && k < words->count; k++) {
        unsigned char number[64] = {0};
        char *word = H5Tget_member_name(type, (unsigned)k);
        if (!word || base_bytes > sizeof number ||
            H5Tget_member_value(type, (unsigned)k, number) < 0 ||
            H5Tconvert(base, H5T_NATIVE_INT64, 1, number, NULL, H5P_DEFAULT) < 0)
            status = hdf5_fail(KITH_BAD_FORMAT, "the words of dataset species cannot be read");
        memcpy(&words->number[k], number, sizeof words->number[k]);
        snprintf(words->word[k], KITH_NAME_BYTES, "%s", word ? word : "");
        H5free_memory(word);
    }
    H5Tclose(base);
    return status;
}

/* No words unless species is an enumeration. */
static kith_status read_words(const struct h5md_reader *reader, struct words *words)
{
    hid_t dataset = H5I_INVALID_HID;
    KITH_TRY(hdf5_open_dataset(reader->particles, species_path(reader), &dataset));
    const hid_t type = H5Dget_type(dataset);
    const int count = H5Tget_class(type) == H5T_ENUM ? H5Tget_nmembers(type) : 0;
    words->count = count > 0 ? count : 0;
    kith_status status =
        kith_allocate(words->count, sizeof *words->number, "species", &words->number);
    if (status == KITH_OK)
        status = kith_allocate(words->count, sizeof *words->word, "species", &words->word);
    if (status == KITH_OK)
        status = take_words(type, words);
    H5Tclose(type);
    H5Dclose(dataset);
    return status;
}

/* Neighbors are mostly of one species: the last word found is tried first. */
static void name_species(const struct words *words, const int64_t *species, int64_t count,
                         kith_name *names)
{
    int last = 0;
    for (int64_t i = 0; i < count; i++) {
        int k = last;
        if (k >= words->count || words->number[k] != species[i])
            for (k = 0; k < words->count && words->number[k] != species[i];)
                k++;
        if (k < words->count)
            memcpy(names[i], words->word[last = k], KITH_NAME_BYTES);
        else
            snprintf(names[i], KITH_NAME_BYTES, "%lld", (long long)species[i]);
    }
}

static kith_status read_species(const struct h5md_reader *reader, int64_t frame, kith_name *names)
{
    struct words words = {0};
    int64_t *species = NULL;
    KITH_TRY(kith_allocate(reader->count, sizeof *species, "species", &species));
    kith_status status = h5md_read_integers(reader, "species", frame, species);
    if (status == KITH_OK)
        status = read_words(reader, &words);
    if (status == KITH_OK)
        name_species(&words, species, reader->count, names);
    free(words.number);
    free(words.word);
    free(species);
    return status;
}

kith_status h5md_read_names(const struct h5md_reader *reader, int64_t frame, kith_name *names)
{
    return has_name_dataset(reader) ? read_name_dataset(reader, names)
                                    : read_species(reader, frame, names);
}
