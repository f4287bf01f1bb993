#include "io/hdf5_data.h"

#include <string.h>

#include "io/h5md_chunk.h"
#include "io/hdf5_file.h"

/* A chunk is the unit of compression and of reading: large enough to compress, small enough to read
 * one frame of a few bodies without many others. Level 1 deflates shuffled doubles nearly as far as
 * level 9 and several times as fast. */
enum { chunk_bytes_at_most = 1 << 20, deflate_level = 1 };

hid_t hdf5_real_in_memory(kith_dtype dtype)
{
    return dtype == KITH_F32 ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE;
}

hid_t hdf5_real_in_file(kith_dtype dtype)
{
    return dtype == KITH_F32 ? H5T_IEEE_F32LE : H5T_IEEE_F64LE;
}

static hsize_t elements_of(struct hdf5_shape shape)
{
    hsize_t elements = 1;
    for (int k = 0; k < shape.rank; k++)
        elements *= shape.size[k];
    return elements;
}

kith_status hdf5_make_group(hid_t parent, const char *path, hid_t *group)
{
    const hid_t links = H5Pcreate(H5P_LINK_CREATE);
    H5Pset_create_intermediate_group(links, 1);
    *group = hdf5_exists(parent, path) ? H5Gopen2(parent, path, H5P_DEFAULT)
                                       : H5Gcreate2(parent, path, links, H5P_DEFAULT, H5P_DEFAULT);
    const kith_status status =
        *group < 0 ? hdf5_fail(KITH_IO_ERROR, "group %s cannot be made", path) : KITH_OK;
    H5Pclose(links);
    return status;
}

static hid_t text_type(size_t bytes)
{
    const hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, bytes ? bytes : 1);
    H5Tset_cset(type, H5T_CSET_UTF8);
    return type;
}

kith_status hdf5_set_numbers(hid_t object, const char *name, hid_t file_type, hid_t memory_type,
                             struct hdf5_shape shape, const void *numbers)
{
    const hid_t space = H5Screate_simple(shape.rank, shape.size, NULL);
    const hid_t attribute = H5Acreate2(object, name, file_type, space, H5P_DEFAULT, H5P_DEFAULT);
    const bool written = attribute >= 0 && H5Awrite(attribute, memory_type, numbers) >= 0;
    const kith_status status =
        written ? KITH_OK : hdf5_fail(KITH_IO_ERROR, "attribute %s cannot be made", name);
    H5Sclose(space);
    if (attribute >= 0)
        H5Aclose(attribute);
    return status;
}

kith_status hdf5_set_text(hid_t object, const char *name, const char *text)
{
    const hid_t type = text_type(strlen(text));
    const kith_status status =
        hdf5_set_numbers(object, name, type, type, (struct hdf5_shape){0}, *text ? text : "\0");
    H5Tclose(type);
    return status;
}

/* Without the time of day, a file of the same data has the same bytes. */
static hid_t dataset_properties(void)
{
    const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_obj_track_times(properties, 0);
    return properties;
}

static kith_status make_dataset(hid_t parent, const char *name, hid_t type, hid_t space,
                                hid_t properties, hid_t *dataset)
{
    if (hdf5_exists(parent, name))
        H5Ldelete(parent, name, H5P_DEFAULT);
    *dataset = H5Dcreate2(parent, name, type, space, H5P_DEFAULT, properties, H5P_DEFAULT);
    return *dataset < 0 ? hdf5_fail(KITH_IO_ERROR, "dataset %s cannot be made", name) : KITH_OK;
}

kith_status hdf5_write(hid_t parent, const char *name, hid_t file_type, hid_t memory_type,
                       struct hdf5_shape shape, const void *data)
{
    const hid_t space = H5Screate_simple(shape.rank, shape.size, NULL);
    const hid_t properties = dataset_properties();
    hid_t dataset = H5I_INVALID_HID;
    kith_status status = make_dataset(parent, name, file_type, space, properties, &dataset);
    if (status == KITH_OK && elements_of(shape) > 0 &&
        H5Dwrite(dataset, memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0)
        status = hdf5_fail(KITH_IO_ERROR, "dataset %s cannot be written", name);
    H5Pclose(properties);
    H5Sclose(space);
    if (dataset >= 0 && H5Dclose(dataset) < 0 && status == KITH_OK)
        status = hdf5_fail(KITH_IO_ERROR, "dataset %s cannot be written", name);
    return status;
}

kith_status hdf5_write_text(hid_t parent, const char *name, const char *text)
{
    const hid_t type = text_type(strlen(text));
    const kith_status status =
        hdf5_write(parent, name, type, type, (struct hdf5_shape){0}, *text ? text : "\0");
    H5Tclose(type);
    return status;
}

kith_status hdf5_write_real(hid_t parent, const char *name, double value)
{
    return hdf5_write(parent, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, (struct hdf5_shape){0},
                      &value);
}

kith_status hdf5_write_integer(hid_t parent, const char *name, int64_t value)
{
    return hdf5_write(parent, name, H5T_STD_I64LE, H5T_NATIVE_INT64, (struct hdf5_shape){0},
                      &value);
}

/* [entries][rows][columns], rows cut so that the chunk keeps to its limit. */
static void choose_chunk(struct hdf5_shape frame, int64_t chunk_frames, size_t element_bytes,
                         hsize_t *chunk)
{
    chunk[0] = (hsize_t)(chunk_frames > 0 ? chunk_frames : 1);
    hsize_t row_elements = 1;
    for (int k = 0; k < frame.rank; k++) {
        chunk[k + 1] = frame.size[k] > 0 ? frame.size[k] : 1;
        row_elements *= k > 0 ? chunk[k + 1] : 1;
    }
    const hsize_t rows = chunk_bytes_at_most / (row_elements * element_bytes * chunk[0]);
    if (frame.rank > 0 && chunk[1] > rows)
        chunk[1] = rows > 0 ? rows : 1;
}

static void set_filters(hid_t properties)
{
    H5Pset_shuffle(properties);
    unsigned how = 0;
    if (H5Zfilter_avail(H5Z_FILTER_DEFLATE) > 0 &&
        H5Zget_filter_info(H5Z_FILTER_DEFLATE, &how) >= 0 &&
        (how & H5Z_FILTER_CONFIG_ENCODE_ENABLED))
        H5Pset_deflate(properties, deflate_level);
}

/* A dataset without data, closed like its space and properties. */
static kith_status make_empty(hid_t parent, const char *name, hid_t file_type, hid_t space,
                              hid_t properties)
{
    hid_t dataset = H5I_INVALID_HID;
    const kith_status status = make_dataset(parent, name, file_type, space, properties, &dataset);
    H5Pclose(properties);
    H5Sclose(space);
    if (dataset >= 0)
        H5Dclose(dataset);
    return status;
}

kith_status hdf5_make_series(hid_t parent, const char *name, hid_t file_type,
                             struct hdf5_shape frame, int64_t chunk_frames)
{
    hsize_t size[hdf5_max_rank] = {0}, largest[hdf5_max_rank] = {H5S_UNLIMITED};
    hsize_t chunk[hdf5_max_rank];
    for (int k = 0; k < frame.rank; k++) {
        size[k + 1] = frame.size[k];
        largest[k + 1] = frame.size[k] > 0 ? frame.size[k] : H5S_UNLIMITED;
    }
    choose_chunk(frame, chunk_frames, H5Tget_size(file_type), chunk);

    const hid_t space = H5Screate_simple(frame.rank + 1, size, largest);
    const hid_t properties = dataset_properties();
    H5Pset_chunk(properties, frame.rank + 1, chunk);
    set_filters(properties);
    return make_empty(parent, name, file_type, space, properties);
}

static kith_status open_with_shape(hid_t parent, const char *name, struct hdf5_shape *shape,
                                   hid_t *dataset)
{
    KITH_TRY(hdf5_open_dataset(parent, name, dataset));
    const hid_t space = H5Dget_space(*dataset);
    shape->rank = H5Sget_simple_extent_ndims(space);
    if (shape->rank <= hdf5_max_rank)
        H5Sget_simple_extent_dims(space, shape->size, NULL);
    H5Sclose(space);
    return KITH_OK;
}

static herr_t write_box(hid_t dataset, hid_t memory_type, const hsize_t *first,
                        struct hdf5_shape box, const void *data)
{
    const hid_t file_space = H5Dget_space(dataset);
    const hid_t memory_space = H5Screate_simple(box.rank, box.size, NULL);
    H5Sselect_hyperslab(file_space, H5S_SELECT_SET, first, NULL, box.size, NULL);
    const herr_t result =
        H5Dwrite(dataset, memory_type, memory_space, file_space, H5P_DEFAULT, data);
    H5Sclose(memory_space);
    H5Sclose(file_space);
    return result;
}

kith_status hdf5_make(hid_t parent, const char *name, hid_t file_type, struct hdf5_shape shape)
{
    const hid_t space = H5Screate_simple(shape.rank, shape.size, NULL);
    const hid_t properties = dataset_properties();
    return make_empty(parent, name, file_type, space, properties);
}

kith_status hdf5_write_box(hid_t dataset, const char *name, hid_t memory_type, const hsize_t *first,
                           struct hdf5_shape box, const void *data)
{
    if (elements_of(box) > 0 && write_box(dataset, memory_type, first, box, data) < 0)
        return hdf5_fail(KITH_IO_ERROR, "dataset %s cannot be written", name);
    return KITH_OK;
}

kith_status hdf5_append(hid_t parent, const char *name, hid_t memory_type, int64_t entries,
                        const void *data)
{
    struct hdf5_shape shape = {0};
    hid_t dataset = H5I_INVALID_HID;
    KITH_TRY(open_with_shape(parent, name, &shape, &dataset));

    const hsize_t first[hdf5_max_rank] = {shape.size[0]};
    shape.size[0] += (hsize_t)entries;
    herr_t result = H5Dset_extent(dataset, shape.size);
    shape.size[0] = (hsize_t)entries;
    if (result >= 0 && elements_of(shape) > 0)
        result = write_box(dataset, memory_type, first, shape, data);
    const kith_status status =
        result < 0 ? hdf5_fail(KITH_IO_ERROR, "dataset %s cannot be written", name) : KITH_OK;
    if (H5Dclose(dataset) < 0 && status == KITH_OK)
        return hdf5_fail(KITH_IO_ERROR, "dataset %s cannot be written", name);
    return status;
}

kith_status hdf5_chunk_of(hid_t parent, const char *name, int64_t *entries)
{
    hid_t dataset = H5I_INVALID_HID;
    KITH_TRY(hdf5_open_dataset(parent, name, &dataset));
    const hid_t properties = H5Dget_create_plist(dataset);
    hsize_t chunk[hdf5_max_rank] = {0};
    const int rank = H5Pget_chunk(properties, hdf5_max_rank, chunk);
    H5Pclose(properties);
    H5Dclose(dataset);
    if (rank < 1 || chunk[0] < 1 || chunk[0] > INT32_MAX)
        return kith_fail(KITH_BAD_FORMAT, "dataset %s has no chunks that kith could have made",
                         name);
    *entries = (int64_t)chunk[0];
    return KITH_OK;
}

/* These filters, in this order, and no others. */
static bool has_filters_of_kith(hid_t properties, int32_t *level)
{
    unsigned flags = 0, value = 0;
    size_t values = 1;
    if (H5Pget_nfilters(properties) != 2 ||
        H5Pget_filter2(properties, 0, &flags, NULL, NULL, 0, NULL, NULL) != H5Z_FILTER_SHUFFLE ||
        H5Pget_filter2(properties, 1, &flags, &values, &value, 0, NULL, NULL) !=
            H5Z_FILTER_DEFLATE ||
        values < 1)
        return false;
    *level = (int32_t)value;
    return true;
}

void hdf5_stored_chunk(hid_t dataset, hid_t file_type, int64_t frames, struct h5md_chunk *chunk)
{
    const hid_t properties = H5Dget_create_plist(dataset), type = H5Dget_type(dataset);
    const hid_t native = file_type == H5T_IEEE_F32LE ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE;
    hsize_t size[hdf5_max_rank] = {0};
    *chunk = (struct h5md_chunk){.real = (int32_t)H5Tget_size(file_type)};
    const bool fits = H5Pget_chunk(properties, hdf5_max_rank, size) == 3 &&
                      size[0] == (hsize_t)frames && size[2] == 3 &&
                      has_filters_of_kith(properties, &chunk->deflates) &&
                      H5Tequal(type, file_type) > 0 && H5Tequal(native, file_type) > 0;
    chunk->rows = fits && H5_VERSION_GE(1, 10, 3) ? frames * (int64_t)size[1] : 0;
    H5Tclose(type);
    H5Pclose(properties);
}

kith_status hdf5_write_chunk(hid_t dataset, const char *name, const hsize_t *first, int64_t bytes,
                             const void *stored)
{
#if H5_VERSION_GE(1, 10, 3)
    if (H5Dwrite_chunk(dataset, H5P_DEFAULT, 0, first, (size_t)bytes, stored) >= 0)
        return KITH_OK;
#else
    (void)dataset, (void)first, (void)bytes, (void)stored;
#endif
    return hdf5_fail(KITH_IO_ERROR, "dataset %s cannot be written", name);
}

kith_status hdf5_resize(hid_t parent, const char *name, int64_t entries)
{
    struct hdf5_shape shape = {0};
    hid_t dataset = H5I_INVALID_HID;
    KITH_TRY(open_with_shape(parent, name, &shape, &dataset));
    shape.size[0] = (hsize_t)entries;
    const kith_status status = H5Dset_extent(dataset, shape.size) < 0
                                   ? hdf5_fail(KITH_IO_ERROR, "dataset %s cannot be resized", name)
                                   : KITH_OK;
    H5Dclose(dataset);
    return status;
}
