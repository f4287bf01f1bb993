#include <string.h>

#include "io/hdf5_data.h"
#include "io/hdf5_file.h"

enum { most_shrinking = 4096, most_number_bytes = 16, default_cache_bytes = 1 << 20 };

/* H5Lexists fails if a group on the way is missing, so each is inspected in turn. */
bool hdf5_exists(hid_t parent, const char *path)
{
    char part[256];
    for (const char *end = path; *end;) {
        end += strspn(end, "/");
        end += strcspn(end, "/");
        const size_t length = (size_t)(end - path);
        if (length >= sizeof part)
            return false;
        memcpy(part, path, length);
        part[length] = 0;
        if (H5Lexists(parent, part, H5P_DEFAULT) <= 0)
            return false;
    }
    return H5Oexists_by_name(parent, path, H5P_DEFAULT) > 0;
}

static H5O_type_t object_type(hid_t parent, const char *path)
{
    const hid_t object = hdf5_exists(parent, path) ? H5Oopen(parent, path, H5P_DEFAULT) : -1;
    if (object < 0)
        return H5O_TYPE_UNKNOWN;
    const H5I_type_t type = H5Iget_type(object);
    H5Oclose(object);
    return type == H5I_GROUP     ? H5O_TYPE_GROUP
           : type == H5I_DATASET ? H5O_TYPE_DATASET
                                 : H5O_TYPE_UNKNOWN;
}

bool hdf5_is_group(hid_t parent, const char *path)
{
    return object_type(parent, path) == H5O_TYPE_GROUP;
}

static kith_status check_storage(hid_t dataset, const char *path)
{
    const hid_t properties = H5Dget_create_plist(dataset), type = H5Dget_type(dataset);
    const bool is_inside =
        H5Pget_external_count(properties) == 0 && H5Pget_layout(properties) != H5D_VIRTUAL;
    const size_t element_bytes = H5Tget_size(type);
    H5Tclose(type);
    H5Pclose(properties);
    if (!is_inside)
        return kith_fail(KITH_UNSUPPORTED,
                         "dataset %s has its data in another file, which kith does not read; copy "
                         "them into this one",
                         path);
    if (element_bytes == 0)
        return kith_fail(KITH_BAD_FORMAT, "dataset %s has elements of 0 bytes", path);
    return KITH_OK;
}

kith_status hdf5_open_dataset(hid_t parent, const char *path, hid_t *dataset)
{
    *dataset = H5I_INVALID_HID;
    if (object_type(parent, path) != H5O_TYPE_DATASET)
        return kith_fail(KITH_BAD_FORMAT, "dataset %s is missing", path);
    const hid_t opened = H5Dopen2(parent, path, H5P_DEFAULT);
    if (opened < 0)
        return hdf5_fail(KITH_BAD_FORMAT, "dataset %s is damaged", path);
    const kith_status status = check_storage(opened, path);
    if (status == KITH_OK)
        *dataset = opened;
    else
        H5Dclose(opened);
    return status;
}

/* Bytes of a chunk that is stored by filters; 0: the data are not. */
static size_t filtered_chunk_bytes(hid_t dataset)
{
    hsize_t size[H5S_MAX_RANK];
    const hid_t properties = H5Dget_create_plist(dataset), type = H5Dget_type(dataset);
    size_t bytes = H5Tget_size(type);
    const bool is_filtered =
        H5Pget_layout(properties) == H5D_CHUNKED && H5Pget_nfilters(properties) > 0;
    const int rank = is_filtered ? H5Pget_chunk(properties, H5S_MAX_RANK, size) : 0;
    for (int k = 0; k < rank; k++)
        bytes *= (size_t)size[k];
    H5Tclose(type);
    H5Pclose(properties);
    return is_filtered ? bytes : 0;
}

kith_status hdf5_keep_open(hid_t parent, const char *path)
{
    hid_t dataset = H5I_INVALID_HID;
    KITH_TRY(hdf5_open_dataset(parent, path, &dataset));
    const size_t bytes = filtered_chunk_bytes(dataset);
    if (bytes <= default_cache_bytes)
        return KITH_OK;
    H5Dclose(dataset);
    const hid_t access = H5Pcreate(H5P_DATASET_ACCESS);
    H5Pset_chunk_cache(access, H5D_CHUNK_CACHE_NSLOTS_DEFAULT, bytes, H5D_CHUNK_CACHE_W0_DEFAULT);
    dataset = H5Dopen2(parent, path, access);
    H5Pclose(access);
    return dataset < 0 ? hdf5_fail(KITH_BAD_FORMAT, "dataset %s is damaged", path) : KITH_OK;
}

/* A size without stored data is damage; no memory must be requested for it. Filters shrink data by
 * no more than about a thousand (deflate: 1032). */
static bool has_its_data(hid_t dataset, hsize_t elements)
{
    if (elements == 0)
        return true;
    const hsize_t stored = H5Dget_storage_size(dataset);
    const hid_t properties = H5Dget_create_plist(dataset);
    const H5D_layout_t layout = H5Pget_layout(properties);
    H5Pclose(properties);
    const hid_t type = H5Dget_type(dataset);
    const hsize_t element_bytes = H5Tget_size(type);
    H5Tclose(type);
    const hsize_t shrinking = layout == H5D_CHUNKED ? most_shrinking : 1;
    return stored / element_bytes >= elements / shrinking && stored > 0;
}

/* False if 64 bits cannot count them: HDF5's own count overflows. */
static bool count_elements(const struct hdf5_shape *shape, int64_t *elements)
{
    bool counted = true;
    *elements = 1;
    for (int k = 0; k < shape->rank; k++) {
        if (shape->size[k] == 0) {
            *elements = 0;
            return true;
        }
        counted = counted && !__builtin_mul_overflow(*elements, shape->size[k], elements);
    }
    return counted;
}

static kith_status take_shape(hid_t dataset, const char *path, struct hdf5_shape *shape)
{
    const hid_t space = H5Dget_space(dataset);
    *shape = (struct hdf5_shape){.rank = H5Sget_simple_extent_ndims(space)};
    int64_t elements = 0;
    const bool usable =
        H5Sget_simple_extent_type(space) != H5S_NULL && shape->rank <= hdf5_max_rank;
    if (usable)
        H5Sget_simple_extent_dims(space, shape->size, NULL);
    H5Sclose(space);
    if (!usable || shape->rank < 0 || !count_elements(shape, &elements))
        return kith_fail(KITH_BAD_FORMAT, "dataset %s has an unsupported shape", path);
    if (!has_its_data(dataset, (hsize_t)elements))
        return kith_fail(KITH_BAD_FORMAT, "dataset %s has less data than its shape says", path);
    return KITH_OK;
}

static kith_status check_is_numbers(hid_t dataset, const char *path)
{
    const hid_t type = H5Dget_type(dataset);
    const H5T_class_t kind = H5Tget_class(type);
    const size_t bytes = H5Tget_size(type);
    H5Tclose(type);
    if (bytes > most_number_bytes)
        return kith_fail(KITH_BAD_FORMAT, "dataset %s has numbers of %zu bytes", path, bytes);
    if (kind != H5T_INTEGER && kind != H5T_FLOAT && kind != H5T_ENUM)
        return kith_fail(KITH_BAD_FORMAT, "dataset %s does not hold numbers", path);
    return KITH_OK;
}

kith_status hdf5_shape_of(hid_t parent, const char *path, struct hdf5_shape *shape)
{
    hid_t dataset = H5I_INVALID_HID;
    KITH_TRY(hdf5_open_dataset(parent, path, &dataset));
    kith_status status = check_is_numbers(dataset, path);
    if (status == KITH_OK)
        status = take_shape(dataset, path, shape);
    H5Dclose(dataset);
    return status;
}

static herr_t read_box(hid_t dataset, hid_t memory_type, const hsize_t *first,
                       struct hdf5_shape box, void *data)
{
    const hsize_t beginning[hdf5_max_rank] = {0};
    const hid_t file_space = H5Dget_space(dataset);
    const hid_t memory_space = H5Screate_simple(box.rank, box.size, NULL);
    if (box.rank > 0)
        H5Sselect_hyperslab(file_space, H5S_SELECT_SET, first ? first : beginning, NULL, box.size,
                            NULL);
    const herr_t result =
        H5Dread(dataset, memory_type, memory_space, file_space, H5P_DEFAULT, data);
    H5Sclose(memory_space);
    H5Sclose(file_space);
    return result;
}

kith_status hdf5_read(hid_t parent, const char *path, hid_t memory_type, const hsize_t *first,
                      struct hdf5_shape shape, void *data)
{
    for (int k = 0; k < shape.rank; k++)
        if (shape.size[k] == 0)
            return KITH_OK;
    hid_t dataset = H5I_INVALID_HID;
    KITH_TRY(hdf5_open_dataset(parent, path, &dataset));
    const kith_status status = read_box(dataset, memory_type, first, shape, data) < 0
                                   ? hdf5_fail(KITH_BAD_FORMAT, "dataset %s cannot be read", path)
                                   : KITH_OK;
    H5Dclose(dataset);
    return status;
}

static kith_status read_scalar(hid_t parent, const char *path, hid_t memory_type, void *value)
{
    struct hdf5_shape shape;
    KITH_TRY(hdf5_shape_of(parent, path, &shape));
    if (shape.rank != 0)
        return kith_fail(KITH_BAD_FORMAT, "dataset %s is not one number", path);
    return hdf5_read(parent, path, memory_type, NULL, shape, value);
}

kith_status hdf5_read_real(hid_t parent, const char *path, double *value)
{
    return read_scalar(parent, path, H5T_NATIVE_DOUBLE, value);
}

kith_status hdf5_read_integer(hid_t parent, const char *path, int64_t *value)
{
    return read_scalar(parent, path, H5T_NATIVE_INT64, value);
}

static kith_status read_text(hid_t dataset, const char *path, size_t bytes, char *text)
{
    const hid_t stored = H5Dget_type(dataset), type = H5Tcopy(stored);
    const hid_t space = H5Dget_space(dataset);
    H5Tclose(stored);
    const bool one = H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0 &&
                     H5Sget_simple_extent_npoints(space) == 1;
    H5Sclose(space);
    kith_status status = KITH_OK;
    if (!one)
        status = kith_fail(KITH_BAD_FORMAT, "dataset %s is not text of fixed length", path);
    else if (H5Tset_size(type, bytes) < 0 ||
             H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text) < 0)
        status = hdf5_fail(KITH_BAD_FORMAT, "dataset %s cannot be read", path);
    text[bytes - 1] = 0;
    H5Tclose(type);
    return status;
}

kith_status hdf5_read_text(hid_t parent, const char *path, size_t bytes, char *text)
{
    text[0] = 0;
    hid_t dataset = H5I_INVALID_HID;
    KITH_TRY(hdf5_open_dataset(parent, path, &dataset));
    const kith_status status = read_text(dataset, path, bytes, text);
    H5Dclose(dataset);
    return status;
}

kith_status hdf5_get_numbers(hid_t object, const char *name, hid_t memory_type, int64_t most,
                             void *numbers, int64_t *count)
{
    *count = 0;
    if (H5Aexists(object, name) <= 0)
        return KITH_OK;
    const hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
    const hid_t space = H5Aget_space(attribute), type = H5Aget_type(attribute);
    const hssize_t there = H5Sget_simple_extent_npoints(space);
    const size_t element_bytes = H5Tget_size(type);
    H5Tclose(type);
    H5Sclose(space);
    kith_status status = KITH_OK;
    if (element_bytes == 0)
        status = kith_fail(KITH_BAD_FORMAT, "attribute %s has elements of 0 bytes", name);
    else if (there < 0 || there > most)
        status = kith_fail(KITH_BAD_FORMAT, "attribute %s has %lld numbers, and %lld are possible",
                           name, (long long)there, (long long)most);
    else if (there > 0 && H5Aread(attribute, memory_type, numbers) < 0)
        status = hdf5_fail(KITH_BAD_FORMAT, "attribute %s cannot be read", name);
    else
        *count = there;
    H5Aclose(attribute);
    return status;
}
