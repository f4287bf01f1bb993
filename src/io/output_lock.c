#include "io/output_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { holder_bytes = 128 };

/* DIRECTORY/.NAME.kith-lock of what the output is or leads to. */
static char *path_of_lock(const char *output)
{
    char *resolved = realpath(output, NULL), *path = NULL;
    const char *target = resolved ? resolved : output, *slash = strrchr(target, '/');
    const int directory = slash ? (int)(slash - target) + 1 : 0;
    if (asprintf(&path, "%.*s.%s.kith-lock", directory, target, target + directory) < 0)
        path = NULL;
    free(resolved);
    return path;
}

static void write_holder(int descriptor)
{
    char host[65] = "", text[holder_bytes];
    if (gethostname(host, sizeof host - 1) != 0)
        host[0] = 0;
    const int length = snprintf(text, sizeof text, "process %ld on %s", (long)getpid(), host);
    if (ftruncate(descriptor, 0) == 0)
        (void)!pwrite(descriptor, text, (size_t)length, 0);
}

static kith_status fail_held(const char *output, int descriptor)
{
    char holder[holder_bytes] = "";
    if (pread(descriptor, holder, sizeof holder - 1, 0) <= 0)
        snprintf(holder, sizeof holder, "another process");
    return kith_fail(KITH_IO_ERROR,
                     "%s: %s is writing to it; wait for its end, or write to another file", output,
                     holder);
}

/* The holder before may have removed the file between its opening and its locking. */
static bool is_at(int descriptor, const char *path)
{
    struct stat open_one, there;
    return fstat(descriptor, &open_one) == 0 && lstat(path, &there) == 0 &&
           open_one.st_dev == there.st_dev && open_one.st_ino == there.st_ino;
}

/* Locks the file at path, which is made if need be: *descriptor is then open, else −1. */
static kith_status lock_file(const char *output, const char *path, int *descriptor)
{
    for (;;) {
        *descriptor = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (*descriptor < 0)
            return KITH_OK;
        const int error = flock(*descriptor, LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
        if (!error && is_at(*descriptor, path))
            return KITH_OK;
        const kith_status status = error == EWOULDBLOCK ? fail_held(output, *descriptor) : KITH_OK;
        close(*descriptor);
        *descriptor = -1;
        if (error && error != EWOULDBLOCK)
            unlink(path);
        if (error)
            return status;
    }
}

kith_status output_lock_take(const char *output, struct output_lock *lock)
{
    *lock = (struct output_lock){.path = path_of_lock(output)};
    if (!lock->path)
        return kith_fail(KITH_OUT_OF_MEMORY, "%s: no memory for a file name", output);
    const kith_status status = lock_file(output, lock->path, &lock->descriptor);
    if (lock->descriptor >= 0) {
        write_holder(lock->descriptor);
        return KITH_OK;
    }
    free(lock->path);
    *lock = (struct output_lock){0};
    return status;
}

void output_lock_release(struct output_lock *lock)
{
    if (!lock->path)
        return;
    unlink(lock->path);
    close(lock->descriptor);
    free(lock->path);
    *lock = (struct output_lock){0};
}
