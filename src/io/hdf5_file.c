#include "io/hdf5_file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/memory.h"
#include "io/hdf5_driver.h"
#include "io/hdf5_links.h"
#include "io/output.h"

enum { reason_bytes = 256, memory_increment = 4 << 20 };

/* Guards HDF5's global state, not any of kith's. */
static pthread_mutex_t hdf5_mutex = PTHREAD_MUTEX_INITIALIZER;

void hdf5_begin(struct hdf5_session *session)
{
    pthread_mutex_lock(&hdf5_mutex);
    H5Eget_auto2(H5E_DEFAULT, &session->report, &session->report_data);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

void hdf5_end(const struct hdf5_session *session)
{
    H5Eset_auto2(H5E_DEFAULT, session->report, session->report_data);
    pthread_mutex_unlock(&hdf5_mutex);
}

/* Takes the innermost error, which is the first one that HDF5 shows. The system's own words are
 * inside it as "error message = '…'". */
static herr_t take_reason(unsigned depth, const H5E_error2_t *error, void *text)
{
    if (depth > 0 || !error->desc)
        return 0;
    static const char system_words[] = "error message = '";
    const char *found = strstr(error->desc, system_words);
    const char *start = found ? found + sizeof system_words - 1 : error->desc;
    const char *end = found ? strchr(start, '\'') : NULL;
    const size_t length = end ? (size_t)(end - start) : strlen(start);
    snprintf(text, reason_bytes, "%.*s", (int)length, start);
    return 0;
}

void hdf5_fail_message(const char *format, ...)
{
    char reason[reason_bytes] = "HDF5 gives no reason";
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_reason, reason);

    char words[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    kith_fail_message("%s: %s", words, reason);
}

/* Reports the system's errors as such: a missing file is not a bad format. */
static kith_status check_is_file(const char *path)
{
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat found;
    if (descriptor < 0 || fstat(descriptor, &found) != 0) {
        const int error = errno;
        if (descriptor >= 0)
            close(descriptor);
        return kith_fail(KITH_IO_ERROR, "cannot be opened: %s", strerror(error));
    }
    close(descriptor);
    if (!S_ISREG(found.st_mode))
        return kith_fail(KITH_IO_ERROR, "cannot be opened: not a regular file, as HDF5 needs one");
    if (found.st_size == 0)
        return kith_fail(KITH_BAD_FORMAT, "the file is empty");
    return KITH_OK;
}

/* The format's low bound makes superblock 0 and old-style groups; that is all this room writes. */
static hid_t file_access(void)
{
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
    H5Pset_libver_bounds(access, H5F_LIBVER_EARLIEST, H5F_LIBVER_LATEST);
    return access;
}

static const char damaged[] = "damaged HDF5 file";

/* A file of another format is distinguished from a damaged one. Byte 0 is where all but files with
 * a user block, which HDF5 then opens, have the signature. */
static bool has_signature(const char *path)
{
    static const char signature[8] = "\211HDF\r\n\032\n";
    char first[sizeof signature] = {0};
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    const bool has = descriptor >= 0 && read(descriptor, first, sizeof first) == sizeof first &&
                     memcmp(first, signature, sizeof first) == 0;
    if (descriptor >= 0)
        close(descriptor);
    return has;
}

static kith_status fail_to_read(const char *path)
{
    if (has_signature(path))
        return hdf5_fail(KITH_BAD_FORMAT, "%s", damaged);
    return kith_fail(KITH_BAD_FORMAT, "not an HDF5 file; give one, as kith run -o FILE.h5 writes");
}

kith_status hdf5_open(const char *path, hid_t *file)
{
    *file = H5I_INVALID_HID;
    KITH_TRY(check_is_file(path));
    const hid_t access = file_access();
    const hid_t opened = H5Fopen(path, H5F_ACC_RDONLY, access);
    kith_status status = opened < 0 ? fail_to_read(path) : KITH_OK;
    H5Pclose(access);
    if (status == KITH_OK && (status = hdf5_refuse_links_out(opened)) != KITH_OK)
        H5Fclose(opened);
    else
        *file = opened;
    return status;
}

/* Why a file did not open: the system's reason if there is one, else HDF5's. */
static kith_status fail_to_open(int error, kith_status otherwise, const char *what)
{
    if (error)
        return kith_fail(error == ENOMEM ? KITH_OUT_OF_MEMORY : KITH_IO_ERROR,
                         "cannot be written: %s", strerror(error));
    return hdf5_fail(otherwise, "%s", what);
}

kith_status hdf5_open_to_write(const char *path, int *error, hid_t *file)
{
    *file = H5I_INVALID_HID;
    const hid_t access = file_access();
    hid_t driver = H5I_INVALID_HID;
    kith_status status = hdf5_use_steady_driver(access, error, &driver);
    if (status == KITH_OK && (*file = H5Fopen(path, H5F_ACC_RDWR, access)) < 0) {
        status = fail_to_open(*error, KITH_BAD_FORMAT, damaged);
        H5FDunregister(driver);
    }
    H5Pclose(access);
    return status;
}

kith_status hdf5_create(const char *path, int *error, hid_t *file)
{
    *file = H5I_INVALID_HID;
    const hid_t access = file_access();
    hid_t driver = H5I_INVALID_HID;
    kith_status status = hdf5_use_steady_driver(access, error, &driver);
    if (status == KITH_OK && (*file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access)) < 0) {
        status = fail_to_open(*error, KITH_IO_ERROR, "cannot be created");
        H5FDunregister(driver);
    }
    H5Pclose(access);
    return status;
}

herr_t hdf5_close_written(hid_t file)
{
    const hid_t access = H5Fget_access_plist(file);
    const hid_t driver = H5Pget_driver(access);
    H5Pclose(access);
    const herr_t result = H5Fclose(file);
    if (result >= 0 && driver >= 0)
        H5FDunregister(driver);
    return result;
}

kith_status hdf5_create_in_memory(hid_t *file)
{
    const hid_t access = file_access();
    H5Pset_fapl_core(access, memory_increment, 0);
    *file = H5Fcreate("memory", H5F_ACC_TRUNC, H5P_DEFAULT, access);
    const kith_status status =
        *file < 0 ? hdf5_fail(KITH_OUT_OF_MEMORY, "HDF5 file in memory") : KITH_OK;
    H5Pclose(access);
    return status;
}

static kith_status take_image(hid_t file, void **image, size_t *bytes)
{
    *image = NULL;
    H5Fflush(file, H5F_SCOPE_GLOBAL);
    const ssize_t needed = H5Fget_file_image(file, NULL, 0);
    if (needed < 0)
        return hdf5_fail(KITH_INTERNAL_ERROR, "HDF5 file in memory");
    KITH_TRY(kith_allocate(needed, 1, "HDF5 file in memory", image));
    *bytes = (size_t)needed;
    if (H5Fget_file_image(file, *image, *bytes) < 0) {
        free(*image);
        return hdf5_fail(KITH_INTERNAL_ERROR, "HDF5 file in memory");
    }
    return KITH_OK;
}

kith_status hdf5_save(hid_t file, const char *path)
{
    void *image = NULL;
    size_t bytes = 0;
    KITH_TRY(take_image(file, &image, &bytes));

    kith_output *output = NULL;
    kith_status status = kith_output_open(path, &output);
    if (status == KITH_OK) {
        fwrite(image, 1, bytes, kith_output_stream(output));
        status = kith_output_finish(output);
    }
    free(image);
    return status;
}
