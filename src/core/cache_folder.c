#include "core/cache_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/memory.h"

static const char remedy[] = "set XDG_CACHE_HOME to a folder of your own";

kith_status cache_check_own(const char *path)
{
    struct stat info;
    if (lstat(path, &info) != 0)
        return kith_fail(KITH_IO_ERROR, "cache folder %s: %s; %s", path, strerror(errno), remedy);
    if (!S_ISDIR(info.st_mode))
        return kith_fail(KITH_IO_ERROR, "cache folder %s is no folder (or a link); %s", path,
                         remedy);
    if (info.st_uid != geteuid())
        return kith_fail(KITH_IO_ERROR, "cache folder %s is another user's; %s", path, remedy);
    if (info.st_mode & (S_IWGRP | S_IWOTH))
        return kith_fail(KITH_IO_ERROR,
                         "cache folder %s can be written by others; make it yours with chmod 700",
                         path);
    return KITH_OK;
}

/* Makes a folder and those above it, for this user alone. */
static kith_status make_folders(char *path)
{
    for (char *slash = strchr(path + 1, '/');; slash = strchr(slash + 1, '/')) {
        if (slash)
            *slash = 0;
        const bool failed = mkdir(path, S_IRWXU) != 0 && errno != EEXIST;
        if (failed)
            return kith_fail(KITH_IO_ERROR, "folder %s cannot be made: %s; %s", path,
                             strerror(errno), remedy);
        if (!slash)
            return KITH_OK;
        *slash = '/';
    }
}

kith_status cache_folder_path(char path[cache_path_bytes])
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    const bool is_set = cache && cache[0] == '/'; /* relative paths are to be ignored, says XDG */
    if (!is_set && !(home && home[0] == '/'))
        return kith_fail(KITH_IO_ERROR, "there is no cache folder, as HOME is not set; %s", remedy);
    const int length = is_set ? snprintf(path, cache_path_bytes, "%s/kith", cache)
                              : snprintf(path, cache_path_bytes, "%s/.cache/kith", home);
    if (length >= cache_path_bytes / 2) /* room for names in it */
        return kith_fail(KITH_IO_ERROR, "the path of the cache folder is too long; %s", remedy);
    return KITH_OK;
}

kith_status cache_folder(char path[cache_path_bytes])
{
    KITH_TRY(cache_folder_path(path));
    KITH_TRY(make_folders(path));
    return cache_check_own(path);
}

bool cache_file_is_own(const char *path)
{
    struct stat info;
    return lstat(path, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == geteuid() &&
           !(info.st_mode & (S_IWGRP | S_IWOTH));
}

kith_status cache_make_workshop(const char *parent, char path[cache_path_bytes])
{
    snprintf(path, cache_path_bytes, "%s/build-XXXXXX", parent);
    if (!mkdtemp(path))
        return kith_fail(KITH_IO_ERROR, "a folder in %s cannot be made: %s", parent,
                         strerror(errno));
    return KITH_OK;
}

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *place)
{
    (void)info, (void)type, (void)place;
    return remove(path);
}

void cache_remove(const char *path)
{
    nftw(path, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

kith_status cache_write(const char *folder, const char *name, const void *text, int64_t bytes)
{
    char path[cache_path_bytes];
    const char *last = strrchr(name, '/');
    if (last) {
        snprintf(path, sizeof path, "%s/%.*s", folder, (int)(last - name), name);
        KITH_TRY(make_folders(path));
    }
    snprintf(path, sizeof path, "%s/%s", folder, name);
    const int file =
        open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (file < 0)
        return kith_fail(KITH_IO_ERROR, "%s: %s", path, strerror(errno));
    const char *at = text;
    while (bytes > 0) {
        const ssize_t written = write(file, at, (size_t)bytes);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            break;
        at += written;
        bytes -= written;
    }
    const int error = errno;
    if (close(file) != 0 || bytes > 0)
        return kith_fail(KITH_IO_ERROR, "%s cannot be written: %s", path, strerror(error));
    return KITH_OK;
}

kith_status cache_publish(const char *made, const char *path)
{
    const int file = open(made, O_RDONLY | O_CLOEXEC);
    int error = file < 0 || fsync(file) != 0 ? errno : 0;
    if (file >= 0)
        close(file);
    if (!error && rename(made, path) != 0)
        error = errno;
    if (error)
        return kith_fail(KITH_IO_ERROR, "%s cannot be written: %s", path, strerror(error));
    return KITH_OK;
}

kith_status cache_read(const char *path, void **data, int64_t *bytes)
{
    *data = NULL;
    FILE *file = fopen(path, "rb");
    struct stat info;
    if (!file || fstat(fileno(file), &info) != 0) {
        const int error = errno;
        if (file)
            fclose(file);
        return kith_fail(KITH_IO_ERROR, "%s: %s", path, strerror(error));
    }
    *bytes = info.st_size;
    kith_status status = kith_allocate(*bytes, 1, "file of the cache", data);
    if (status == KITH_OK && fread(*data, 1, (size_t)*bytes, file) != (size_t)*bytes) {
        free(*data);
        *data = NULL;
        status = kith_fail(KITH_IO_ERROR, "%s cannot be read", path);
    }
    fclose(file);
    return status;
}
