/* What the cache keeps: files in use, not every file that ever was. */

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/cache_folder.h"

enum { name_bytes = 64 };

struct file {
    char name[name_bytes];
    struct timespec used;
    int64_t bytes;
};

struct files {
    struct file *each;
    int64_t count, room;
};

static int compare_use(const void *a, const void *b)
{
    const struct timespec *one = &((const struct file *)a)->used;
    const struct timespec *other = &((const struct file *)b)->used;
    if (one->tv_sec != other->tv_sec)
        return one->tv_sec < other->tv_sec ? 1 : -1;
    return (one->tv_nsec < other->tv_nsec) - (one->tv_nsec > other->tv_nsec);
}

/* False if memory runs out. */
static bool add(struct files *files, const char *name, const struct stat *info)
{
    if (files->count == files->room) {
        const int64_t room = 2 * files->room + 256;
        struct file *each = realloc(files->each, (size_t)room * sizeof *each);
        if (!each)
            return false;
        files->each = each;
        files->room = room;
    }
    struct file *file = &files->each[files->count++];
    snprintf(file->name, sizeof file->name, "%s", name);
    file->used = info->st_mtim;
    file->bytes = info->st_size;
    return true;
}

/* Adds an entry of the folder, if it is a file of the kind. */
static bool look_at(const char *folder, const char *name, const char *beginning,
                    struct files *files)
{
    char path[cache_path_bytes];
    struct stat info;
    if (strncmp(name, beginning, strlen(beginning)) != 0 || strlen(name) >= name_bytes)
        return true;
    snprintf(path, sizeof path, "%.*s/%s", cache_path_bytes / 2, folder, name);
    return lstat(path, &info) != 0 || !S_ISREG(info.st_mode) || add(files, name, &info);
}

static void remove_oldest(const char *folder, struct files *files, int64_t most_bytes)
{
    char path[cache_path_bytes];
    int64_t bytes = 0;
    if (files->count > 0)
        qsort(files->each, (size_t)files->count, sizeof *files->each, compare_use);
    for (int64_t k = 0; k < files->count; k++) {
        bytes += files->each[k].bytes;
        if (bytes <= most_bytes)
            continue;
        snprintf(path, sizeof path, "%.*s/%s", cache_path_bytes / 2, folder, files->each[k].name);
        remove(path);
    }
}

void cache_limit(const char *folder, const char *beginning, int64_t most_bytes)
{
    struct files files = {0};
    DIR *directory = opendir(folder);
    bool done = directory != NULL;
    for (const struct dirent *entry; done && (entry = readdir(directory));)
        done = look_at(folder, entry->d_name, beginning, &files);
    if (directory)
        closedir(directory);
    if (done)
        remove_oldest(folder, &files, most_bytes);
    free(files.each);
}
