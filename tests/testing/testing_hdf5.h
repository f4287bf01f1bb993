#ifndef TESTS_TESTING_HDF5_H
#define TESTS_TESTING_HDF5_H

/* What the tests of HDF5 files share: files put together by hand, and the comparison of two.
 * Include testing.h and testing_files.h before. */

#include <hdf5.h>
#include <stdbool.h>

static inline hid_t new_file(const char *path)
{
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(file >= 0);
    return file;
}

static inline void put_group(hid_t file, const char *path)
{
    const hid_t links = H5Pcreate(H5P_LINK_CREATE);
    H5Pset_create_intermediate_group(links, 1);
    H5Gclose(H5Gcreate2(file, path, links, H5P_DEFAULT, H5P_DEFAULT));
    H5Pclose(links);
}

/* Writes a dataset of rank 0 to 3; sizes end with −1. */
static inline void put_data(hid_t file, const char *path, hid_t type, hid_t memory_type,
                            const int *sizes, const void *data)
{
    hsize_t size[3] = {0};
    int rank = 0;
    for (; sizes[rank] >= 0; rank++)
        size[rank] = (hsize_t)sizes[rank];
    const hid_t links = H5Pcreate(H5P_LINK_CREATE);
    H5Pset_create_intermediate_group(links, 1);
    const hid_t space = H5Screate_simple(rank, size, NULL);
    const hid_t dataset = H5Dcreate2(file, path, type, space, links, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(dataset >= 0);
    if (data)
        assert_true(H5Dwrite(dataset, memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0);
    H5Dclose(dataset);
    H5Sclose(space);
    H5Pclose(links);
}

#define put_doubles(file, path, type, data, ...)                                                   \
    put_data(file, path, type, H5T_NATIVE_DOUBLE, (const int[]){__VA_ARGS__, -1}, data)

static inline void put_double(hid_t file, const char *path, double number)
{
    put_data(file, path, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, (const int[]){-1}, &number);
}

/* Writes an attribute of `count` numbers, or of one without a rank for count 0. */
static inline void put_attribute(hid_t file, const char *path, const char *name, hid_t type,
                                 hid_t memory_type, int count, const void *data)
{
    const hsize_t size = (hsize_t)count;
    const hid_t object = H5Oopen(file, path, H5P_DEFAULT);
    const hid_t space = count ? H5Screate_simple(1, &size, NULL) : H5Screate(H5S_SCALAR);
    if (H5Aexists(object, name) > 0)
        H5Adelete(object, name);
    const hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Awrite(attribute, memory_type, data) >= 0);
    H5Aclose(attribute);
    H5Sclose(space);
    H5Oclose(object);
}

static inline bool has_object(const char *path, const char *object)
{
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    assert_true(file >= 0);
    const bool found = H5Lexists(file, object, H5P_DEFAULT) > 0;
    H5Fclose(file);
    return found;
}

/* Reads copies of an HDF5 file in which the size of one datatype is 0 bytes, each in turn; whatever
 * reading says, it must come back. Returns how many datatypes there are. */
static inline int read_without_element_sizes(const char *path, const char *copy)
{
    static const struct {
        unsigned char bytes[12]; /* of the datatype message; the size is the fifth */
    } types[] = {{{0x11, 0x20, 0x1f, 0, 4, 0, 0, 0, 0, 0, 32, 0}},
                 {{0x11, 0x20, 0x3f, 0, 8, 0, 0, 0, 0, 0, 64, 0}},
                 {{0x10, 0x00, 0, 0, 4, 0, 0, 0, 0, 0, 32, 0}},
                 {{0x10, 0x08, 0, 0, 4, 0, 0, 0, 0, 0, 32, 0}},
                 {{0x10, 0x08, 0, 0, 8, 0, 0, 0, 0, 0, 64, 0}}};
    size_t bytes = 0;
    int found = 0;
    char *content = content_of(path, &bytes);
    for (size_t at = 0; at + sizeof types[0].bytes <= bytes; at++)
        for (size_t k = 0; k < sizeof types / sizeof types[0]; k++) {
            if (memcmp(content + at, types[k].bytes, sizeof types[k].bytes) != 0)
                continue;
            kith_bodies *bodies = NULL;
            content[at + 4] = 0;
            const kith_status status =
                kith_bodies_read(file_of_bytes(copy, content, bytes), NULL, &bodies);
            content[at + 4] = (char)types[k].bytes[4];
            assert_true(status == KITH_OK || status == KITH_BAD_FORMAT);
            kith_bodies_free(bodies);
            found++;
        }
    free(content);
    return found;
}

/* All numbers of a dataset as they are in the file; *bytes of them. Free it with free(). */
static inline void *bytes_of_dataset(hid_t dataset, size_t *bytes)
{
    const hid_t type = H5Dget_type(dataset), space = H5Dget_space(dataset);
    *bytes = H5Tget_size(type) * (size_t)H5Sget_simple_extent_npoints(space);
    void *data = calloc(1, *bytes + 1);
    if (*bytes > 0)
        assert_true(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0);
    H5Sclose(space);
    H5Tclose(type);
    return data;
}

/* Fails unless two groups hold the same datasets, bit for bit, but for those of a name. */
static inline void assert_same_groups(hid_t one, hid_t other, const char *except)
{
    H5G_info_t info = {0}, other_info = {0};
    assert_true(H5Gget_info(one, &info) >= 0 && H5Gget_info(other, &other_info) >= 0);
    assert_int_equal(info.nlinks, other_info.nlinks);
    for (hsize_t k = 0; k < info.nlinks; k++) {
        char name[128] = "";
        H5Lget_name_by_idx(one, ".", H5_INDEX_NAME, H5_ITER_INC, k, name, sizeof name, H5P_DEFAULT);
        if (strcmp(name, except) == 0)
            continue;
        const hid_t a = H5Oopen(one, name, H5P_DEFAULT), b = H5Oopen(other, name, H5P_DEFAULT);
        if (a < 0 || b < 0)
            fail_msg("%s is not in both files", name);
        if (H5Iget_type(a) == H5I_GROUP) {
            assert_same_groups(a, b, except);
        } else {
            size_t bytes = 0, other_bytes = 0;
            void *data = bytes_of_dataset(a, &bytes),
                 *other_data = bytes_of_dataset(b, &other_bytes);
            if (bytes != other_bytes || memcmp(data, other_data, bytes) != 0)
                fail_msg("dataset %s differs", name);
            free(data);
            free(other_data);
        }
        H5Oclose(a);
        H5Oclose(b);
    }
}

/* Fails unless two files hold the same datasets, bit for bit, but for those of a name. */
static inline void assert_same_files(const char *one, const char *other, const char *except)
{
    const hid_t a = H5Fopen(one, H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t b = H5Fopen(other, H5F_ACC_RDONLY, H5P_DEFAULT);
    assert_true(a >= 0 && b >= 0);
    assert_same_groups(a, b, except);
    H5Fclose(a);
    H5Fclose(b);
}

#endif
