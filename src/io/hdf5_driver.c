#include "io/hdf5_driver.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#endif

#include "core/memory.h"
#include "io/hdf5_file.h"

/* A write that the disk did not take. */
struct patch {
    struct patch *earlier;
    haddr_t address;
    size_t size;
    unsigned char data[];
};

struct steady_file {
    H5FD_t common; /* HDF5's own; first */
    int descriptor;
    haddr_t end_of_addresses, end_of_file;
    struct patch *last;
    int *error;
};

/* What the access property list carries. */
struct steady_info {
    int *error;
};

static H5FD_t *steady_open(const char *name, unsigned flags, hid_t access, haddr_t most)
{
    (void)most;
    const struct steady_info *info = H5Pget_driver_info(access);
    struct steady_file *file = NULL;
    struct stat found;
    if (!info)
        return NULL;
    if (kith_allocate(1, sizeof *file, "HDF5 file", &file) != KITH_OK) {
        *info->error = ENOMEM;
        return NULL;
    }
    file->error = info->error;
    const int access_mode = (flags & H5F_ACC_RDWR) ? O_RDWR : O_RDONLY;
    const int creation = (flags & H5F_ACC_CREAT) ? O_CREAT : 0;
    const int truncation = (flags & H5F_ACC_TRUNC) ? O_TRUNC : 0;
    file->descriptor = open(name, access_mode | creation | truncation | O_CLOEXEC, 0666);
    if (file->descriptor < 0 || fstat(file->descriptor, &found) != 0) {
        *file->error = errno;
        if (file->descriptor >= 0)
            close(file->descriptor);
        free(file);
        return NULL;
    }
    file->end_of_file = (haddr_t)found.st_size;
    return &file->common;
}

static herr_t steady_close(H5FD_t *common)
{
    struct steady_file *file = (struct steady_file *)common;
    if (close(file->descriptor) != 0 && !*file->error)
        *file->error = errno;
    while (file->last) {
        struct patch *earlier = file->last->earlier;
        free(file->last);
        file->last = earlier;
    }
    free(file);
    return 0;
}

static herr_t steady_query(const H5FD_t *common, unsigned long *features)
{
    (void)common;
    *features = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA |
                H5FD_FEAT_DATA_SIEVE | H5FD_FEAT_AGGREGATE_SMALLDATA;
    return 0;
}

static haddr_t steady_get_eoa(const H5FD_t *common, H5FD_mem_t type)
{
    (void)type;
    return ((const struct steady_file *)common)->end_of_addresses;
}

static herr_t steady_set_eoa(H5FD_t *common, H5FD_mem_t type, haddr_t address)
{
    (void)type;
    ((struct steady_file *)common)->end_of_addresses = address;
    return 0;
}

static haddr_t steady_get_eof(const H5FD_t *common, H5FD_mem_t type)
{
    (void)type;
    return ((const struct steady_file *)common)->end_of_file;
}

/* Lays the patches over what was read, the earliest first. */
static void overlay(const struct patch *patch, haddr_t address, size_t size, unsigned char *buffer)
{
    if (!patch)
        return;
    overlay(patch->earlier, address, size, buffer);
    const haddr_t begin = patch->address > address ? patch->address : address;
    const haddr_t patch_end = patch->address + patch->size, read_end = address + size;
    const haddr_t end = patch_end < read_end ? patch_end : read_end;
    if (begin < end)
        memcpy(buffer + (begin - address), patch->data + (begin - patch->address), end - begin);
}

/* Past the end of the file zeros are read, as far as HDF5 has reserved addresses. */
static herr_t steady_read(H5FD_t *common, H5FD_mem_t type, hid_t transfer, haddr_t address,
                          size_t size, void *buffer)
{
    (void)type, (void)transfer;
    const struct steady_file *file = (const struct steady_file *)common;
    size_t got = 0;
    while (got < size) {
        const ssize_t part = pread(file->descriptor, (unsigned char *)buffer + got, size - got,
                                   (off_t)(address + got));
        if (part < 0 && errno == EINTR)
            continue;
        if (part < 0)
            return -1;
        if (part == 0)
            break;
        got += (size_t)part;
    }
    memset((unsigned char *)buffer + got, 0, size - got);
    overlay(file->last, address, size, buffer);
    return 0;
}

static void keep(struct steady_file *file, haddr_t address, size_t size, const void *buffer)
{
    struct patch *patch = NULL;
    const int64_t bytes = (int64_t)(sizeof *patch + size);
    if (kith_allocate(bytes, 1, "write that failed", &patch) != KITH_OK)
        return;
    *patch = (struct patch){.earlier = file->last, .address = address, .size = size};
    memcpy(patch->data, buffer, size);
    file->last = patch;
}

static herr_t steady_write(H5FD_t *common, H5FD_mem_t type, hid_t transfer, haddr_t address,
                           size_t size, const void *buffer)
{
    (void)type, (void)transfer;
    struct steady_file *file = (struct steady_file *)common;
    size_t put = 0;
    while (put < size && !*file->error) {
        const ssize_t part = pwrite(file->descriptor, (const unsigned char *)buffer + put,
                                    size - put, (off_t)(address + put));
        if (part < 0 && errno != EINTR)
            *file->error = errno;
        put += part > 0 ? (size_t)part : 0;
    }
    if (*file->error)
        keep(file, address, size, buffer);
    if (address + size > file->end_of_file)
        file->end_of_file = address + size;
    return 0;
}

/* The file ends where HDF5's addresses do. */
static herr_t steady_truncate(H5FD_t *common, hid_t transfer, hbool_t closing)
{
    (void)transfer, (void)closing;
    struct steady_file *file = (struct steady_file *)common;
    if (file->end_of_addresses == file->end_of_file)
        return 0;
    if (!*file->error && ftruncate(file->descriptor, (off_t)file->end_of_addresses) != 0)
        *file->error = errno;
    file->end_of_file = file->end_of_addresses;
    return 0;
}

static const H5FD_class_t steady_class = {
#if H5_VERSION_GE(1, 13, 0)
    .version = H5FD_CLASS_VERSION,
    .value = 511, /* the last of those for drivers that are not registered with HDF5's makers */
#endif
    .name = "kith",
    .maxaddr = (haddr_t)INT64_MAX,
    .fc_degree = H5F_CLOSE_STRONG,
    .fapl_size = sizeof(struct steady_info),
    .open = steady_open,
    .close = steady_close,
    .query = steady_query,
    .get_eoa = steady_get_eoa,
    .set_eoa = steady_set_eoa,
    .get_eof = steady_get_eof,
    .read = steady_read,
    .write = steady_write,
    .truncate = steady_truncate,
    .fl_map = H5FD_FLMAP_DICHOTOMY,
};

kith_status hdf5_use_steady_driver(hid_t access, int *error, hid_t *driver)
{
    const struct steady_info info = {error};
    *error = 0;
    *driver = H5FDregister(&steady_class);
    if (*driver >= 0 && H5Pset_driver(access, *driver, &info) >= 0)
        return KITH_OK;
    const kith_status status =
        hdf5_fail(KITH_INTERNAL_ERROR, "HDF5 does not take kith's file driver");
    if (*driver >= 0)
        H5FDunregister(*driver);
    *driver = H5I_INVALID_HID;
    return status;
}
