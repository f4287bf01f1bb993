#include "io/h5md_box.h"

#include <stdlib.h>
#include <string.h>

#include "io/hdf5_data.h"
#include "io/hdf5_file.h"

enum { word_bytes = 16, most_words = 3 };

/* Reads a list of words, of fixed or of variable length. */
static kith_status read_words(hid_t attribute, hid_t type, int64_t count,
                              char words[most_words][word_bytes])
{
    const hid_t text = H5Tcopy(H5T_C_S1);
    H5Tset_cset(text, H5Tget_cset(type));
    herr_t result = 0;
    if (H5Tis_variable_str(type) > 0) {
        char *pointers[most_words] = {0};
        H5Tset_size(text, H5T_VARIABLE);
        result = H5Aread(attribute, text, pointers);
        for (int64_t k = 0; k < count; k++) {
            strncat(words[k], pointers[k] ? pointers[k] : "", word_bytes - 1);
            H5free_memory(pointers[k]);
        }
    } else {
        H5Tset_size(text, word_bytes);
        result = H5Aread(attribute, text, words);
    }
    H5Tclose(text);
    return result < 0 ? hdf5_fail(KITH_BAD_FORMAT, "attribute boundary of box cannot be read")
                      : KITH_OK;
}

static kith_status read_boundary(hid_t box, kith_bodies *bodies)
{
    if (H5Aexists(box, "boundary") <= 0)
        return KITH_OK;
    char words[most_words][word_bytes] = {{0}};
    const hid_t attribute = H5Aopen(box, "boundary", H5P_DEFAULT);
    const hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
    const int64_t count = H5Sget_simple_extent_npoints(space);
    const bool usable = H5Tget_class(type) == H5T_STRING && count <= most_words &&
                        (count == 1 || count >= bodies->dimensions);
    kith_status status = KITH_OK;
    if (usable)
        status = read_words(attribute, type, count, words);
    else
        status =
            kith_fail(KITH_BAD_FORMAT, "attribute boundary of box is not one word per dimension");
    H5Sclose(space);
    H5Tclose(type);
    H5Aclose(attribute);
    for (int k = 0; k < most_words; k++)
        bodies->periodic[k] =
            k < bodies->dimensions && strcmp(words[count == 1 ? 0 : k], "periodic") == 0;
    return status;
}

/* Picks the frame's edges out of D, D × D, F × D or F × D × D numbers, D being 2 or 3. */
static kith_status read_edges(const struct h5md_reader *reader, hid_t box, int64_t frame,
                              kith_bodies *bodies)
{
    const bool series = hdf5_is_group(box, "edges");
    const char *path = series ? "edges/value" : "edges";
    struct hdf5_shape shape;
    KITH_TRY(hdf5_shape_of(box, path, &shape));
    const int axis = series ? 1 : 0;
    const hsize_t dimensions = shape.rank > axis ? shape.size[axis] : 0;
    const bool matrix = shape.rank == axis + 2;
    if ((!matrix && shape.rank != axis + 1) || (matrix && shape.size[axis + 1] != dimensions) ||
        dimensions < (hsize_t)bodies->dimensions || dimensions > 3)
        return kith_fail(KITH_BAD_FORMAT, "dataset box/%s does not fit %d dimensions", path,
                         (int)bodies->dimensions);
    if (series && shape.size[0] != 1 && shape.size[0] != (hsize_t)reader->frames)
        return kith_fail(KITH_BAD_FORMAT, "dataset box/%s has %lld frames, and positions have %lld",
                         path, (long long)shape.size[0], (long long)reader->frames);

    hsize_t first[hdf5_max_rank] = {0};
    if (series) {
        first[0] = shape.size[0] == 1 ? 0 : (hsize_t)frame;
        shape.size[0] = 1;
    }
    double edges[9] = {0};
    KITH_TRY(hdf5_read(box, path, H5T_NATIVE_DOUBLE, first, shape, edges));
    bodies->cell[8] = 1;
    for (int32_t row = 0; row < bodies->dimensions; row++)
        for (int32_t k = 0; k < bodies->dimensions; k++)
            bodies->cell[3 * row + k] = matrix     ? edges[row * (int32_t)dimensions + k]
                                        : row == k ? edges[row]
                                                   : 0;
    bodies->has_cell = true;
    return KITH_OK;
}

kith_status h5md_read_box(const struct h5md_reader *reader, int64_t frame, kith_bodies *bodies)
{
    if (!hdf5_exists(reader->particles, "box/edges"))
        return KITH_OK;
    const hid_t box = H5Gopen2(reader->particles, "box", H5P_DEFAULT);
    kith_status status = read_boundary(box, bodies);
    if (status == KITH_OK)
        status = read_edges(reader, box, frame, bodies);
    H5Gclose(box);
    return status;
}
