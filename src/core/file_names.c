#include "core/file_names.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/memory.h"

kith_status path_copy(const char *path, char **copy)
{
    const size_t bytes = strlen(path) + 1;
    KITH_TRY(kith_allocate((int64_t)bytes, 1, "file name", copy));
    memcpy(*copy, path, bytes);
    return KITH_OK;
}

int path_directory_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (int)(slash - path) + 1 : 0;
}

char *path_directory(const char *path)
{
    const int length = path_directory_length(path);
    return length > 0 ? strndup(path, (size_t)length) : strdup(".");
}

/* 0 or an error number. */
static int synchronize(const char *path, int flags)
{
    const int descriptor = open(path, flags | O_CLOEXEC);
    if (descriptor < 0)
        return errno;
    const int error = fsync(descriptor) != 0 ? errno : 0;
    close(descriptor);
    return error;
}

int file_replace(const char *made, const char *target)
{
    if (rename(made, target) != 0)
        return errno;
    /* The new name lasts when the directory is on the disk; not all file systems report it. */
    char *directory = path_directory(target);
    if (directory)
        synchronize(directory, O_RDONLY | O_DIRECTORY);
    free(directory);
    return 0;
}

int file_publish(const char *made, const char *target)
{
    const int error = synchronize(made, O_RDWR);
    return error ? error : file_replace(made, target);
}
