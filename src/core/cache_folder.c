#include "core/cache_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/file_names.h"
#include "core/memory.h"

static const char remedy[] = "set XDG_CACHE_HOME to a folder of your own";

kith_status cache_check_own(const char *path)
{
    struct stat info;
    if (lstat(path, &info) != 0)
        return kith_fail(KITH_IO_ERROR, "cache folder %s: %s; %s", path, strerror(errno), remedy);
    if (!S_ISDIR(info.st_mode))
        return kith_fail(KITH_IO_ERROR, "cache folder %s is a link or not a folder; %s", path,
                         remedy);
    if (info.st_uid != geteuid())
        return kith_fail(KITH_IO_ERROR, "cache folder %s belongs to another user; %s", path,
                         remedy);
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
            return kith_fail(KITH_IO_ERROR, "folder %s cannot be created: %s; %s", path,
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
        return kith_fail(KITH_IO_ERROR, "the cache folder is not known, as HOME is not set; %s",
                         remedy);
    if (!is_set && access(home, F_OK) != 0)
        return kith_fail(KITH_IO_ERROR, "HOME is %s: %s; %s", home, strerror(errno), remedy);
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

/* Nothing is compiled for a day. A folder that is gone already was removed by another program. */
static void remove_abandoned(const char *parent)
{
    enum { day = 24 * 60 * 60 };
    DIR *folder = opendir(parent);
    for (const struct dirent *entry; folder && (entry = readdir(folder));) {
        char path[cache_path_bytes];
        struct stat info;
        if (strncmp(entry->d_name, "build-", 6) != 0 || strlen(entry->d_name) != 12)
            continue;
        snprintf(path, sizeof path, "%s/%s", parent, entry->d_name);
        if (lstat(path, &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == geteuid() &&
            time(NULL) - info.st_mtime > day)
            cache_remove(path);
    }
    if (folder)
        closedir(folder);
}

static kith_status make_workshop(const char *parent, char path[cache_path_bytes])
{
    snprintf(path, cache_path_bytes, "%s/build-XXXXXX", parent);
    if (!mkdtemp(path))
        return kith_fail(KITH_IO_ERROR, "a folder in %s cannot be created: %s; %s", parent,
                         strerror(errno), remedy);
    return KITH_OK;
}

kith_status cache_make_workshop(const char *parent, char path[cache_path_bytes])
{
    remove_abandoned(parent);
    return make_workshop(parent, path);
}

kith_status cache_make_temporary_workshop(char path[cache_path_bytes])
{
    const char *wanted = getenv("TMPDIR");
    const bool is_given = wanted && wanted[0] == '/' && strlen(wanted) < cache_path_bytes / 2;
    if (is_given && make_workshop(wanted, path) == KITH_OK)
        return KITH_OK;
    return make_workshop("/tmp", path);
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

/* Writes all of a file that was opened, and closes it. */
static kith_status write_all(const char *path, int file, const void *data, int64_t bytes)
{
    const char *at = data;
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
    return write_all(path, file, text, bytes);
}

uint64_t cache_hash(const void *data, int64_t bytes)
{
    const unsigned char *at = data;
    uint64_t hash = 0xcbf29ce484222325u;
    for (int64_t k = 0; k < bytes; k++)
        hash = (hash ^ at[k]) * 0x100000001b3u;
    return hash;
}

/* "\nkith law KEY HASH\n": of one length. */
enum { seal_bytes = 10 + (cache_key_bytes - 1) + 1 + 16 + 1 };

static void write_seal(const char *key, const void *data, int64_t bytes, char seal[seal_bytes + 1])
{
    snprintf(seal, seal_bytes + 1, "\nkith law %32.32s %016" PRIx64 "\n", key,
             cache_hash(data, bytes));
}

kith_status cache_seal(const char *path, const char *key)
{
    void *data = NULL;
    int64_t bytes = 0;
    char seal[seal_bytes + 1];
    KITH_TRY(cache_read(path, &data, &bytes));
    write_seal(key, data, bytes, seal);
    free(data);
    const int file = open(path, O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC);
    if (file < 0)
        return kith_fail(KITH_IO_ERROR, "%s: %s", path, strerror(errno));
    return write_all(path, file, seal, seal_bytes);
}

void cache_read_sealed(const char *path, const char *key, void **data, int64_t *bytes)
{
    char seal[seal_bytes + 1];
    *data = NULL;
    if (!cache_file_is_own(path) || cache_read(path, data, bytes) != KITH_OK)
        return;
    *bytes -= seal_bytes;
    if (*bytes > 0) {
        write_seal(key, *data, *bytes, seal);
        if (memcmp((char *)*data + *bytes, seal, seal_bytes) == 0) {
            (void)utimensat(AT_FDCWD, path, NULL, AT_SYMLINK_NOFOLLOW);
            return;
        }
    }
    free(*data);
    *data = NULL;
}

kith_status cache_publish(const char *made, const char *path)
{
    const int error = file_publish(made, path);
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
