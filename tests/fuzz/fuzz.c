#include "fuzz.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[64], path[128];

static void remove_file(void)
{
    unlink(path);
    rmdir(folder);
}

/* HDF5 wants a file with a path, so one without (memfd_create) will not do. */
static int make_file(const char *name)
{
    fuzz_folder(folder, sizeof folder);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    const int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    fuzz_require(file >= 0, "no file can be made");
    atexit(remove_file);
    return file;
}

void fuzz_folder(char *made, size_t bytes)
{
    snprintf(made, bytes, "/dev/shm/kith-fuzz-XXXXXX");
    if (mkdtemp(made))
        return;
    snprintf(made, bytes, "/tmp/kith-fuzz-XXXXXX");
    fuzz_require(mkdtemp(made) != NULL, "no folder can be made");
}

const char *fuzz_file(const uint8_t *data, size_t size, const char *name)
{
    static int file = -1;
    if (file < 0)
        file = make_file(name);
    fuzz_require(ftruncate(file, 0) == 0 && pwrite(file, data, size, 0) == (ssize_t)size,
                 "the file cannot be written");
    return path;
}

void fuzz_require(bool condition, const char *words)
{
    if (condition)
        return;
    fprintf(stderr, "%s: %s\n", words, kith_error_message());
    abort();
}

void fuzz_check(kith_status status, bool has_result)
{
    fuzz_require((status == KITH_OK) == has_result, "a status and a result that differ");
    fuzz_require(status != KITH_OUT_OF_MEMORY, "more memory than such a file is worth");
    fuzz_require(status != KITH_INTERNAL_ERROR, "a bug of the library's own");
    fuzz_require(status == KITH_OK || kith_error_message()[0], "a failure without a message");
}
