#include "io/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "core/file_names.h"
#include "core/memory.h"

struct kith_output {
    FILE *stream;
    char *path;      /* as given */
    char *target;    /* path with symbolic links followed: what is renamed to */
    char *temporary; /* the same as target if in place; empty while the file has no name */
    bool in_place;
    bool unnamed; /* until it is whole, so that nothing is left of it when the program is killed */
};

static void close_and_free(kith_output *output)
{
    if (output->stream)
        fclose(output->stream);
    if (output->temporary != output->target)
        free(output->temporary);
    free(output->target);
    free(output->path);
    free(output);
}

/* /dev/stdout is a link that may lead to a regular file, which belongs to the program that opened
 * it. What only lies in /dev/shm or below /proc/self/cwd is a file like any other. */
static bool is_written_in_place(const char *path, const struct stat *found)
{
    struct stat itself;
    const bool systems = strncmp(path, "/dev/", 5) == 0 || strncmp(path, "/proc/", 6) == 0;
    return !S_ISREG(found->st_mode) ||
           (systems && lstat(path, &itself) == 0 && S_ISLNK(itself.st_mode));
}

/* k of /dev/fd/k, 1 of /dev/stdout, … ; −1 for a path of its own. */
static int open_descriptor_of(const char *path)
{
    int descriptor = -1;
    if (strcmp(path, "/dev/stdout") == 0)
        return STDOUT_FILENO;
    if (strcmp(path, "/dev/stderr") == 0)
        return STDERR_FILENO;
    if (sscanf(path, "/dev/fd/%d", &descriptor) == 1 ||
        sscanf(path, "/proc/self/fd/%d", &descriptor) == 1)
        return descriptor;
    return -1;
}

static kith_status fail_to_write(const char *path, int error)
{
    const int descriptor = open_descriptor_of(path);
    if (error == EBADF)
        return kith_fail(KITH_IO_ERROR, "%s: cannot be written: %s is closed or read-only", path,
                         descriptor == STDOUT_FILENO   ? "standard output"
                         : descriptor == STDERR_FILENO ? "standard error"
                                                       : "it");
    return kith_fail(error == ENOMEM ? KITH_OUT_OF_MEMORY : KITH_IO_ERROR,
                     "%s: cannot be written: %s", path, strerror(error));
}

/* Opening /dev/stdout again would begin at the start of a file that others write to as well: what
 * is open already keeps its place. */
static int open_existing(const char *path)
{
    const int descriptor = open_descriptor_of(path);
    if (descriptor < 0)
        return open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    const int mode = fcntl(descriptor, F_GETFL);
    if (mode >= 0 && (mode & O_ACCMODE) == O_RDONLY)
        errno = EBADF; /* as write would say */
    if (mode < 0 || (mode & O_ACCMODE) == O_RDONLY)
        return -1;
    if (descriptor == STDOUT_FILENO)
        fflush(stdout);
    return fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
}

static kith_status open_in_place(kith_output *output)
{
    output->in_place = true;
    output->temporary = output->target;
    const int descriptor = open_existing(output->path);
    if (descriptor < 0)
        return fail_to_write(output->path, errno);
    output->stream = fdopen(descriptor, "w");
    if (!output->stream) {
        close(descriptor);
        return fail_to_write(output->path, ENOMEM);
    }
    return KITH_OK;
}

/* Gives the file that is open, or a new one where descriptor is below 0, an unused name next to the
 * target. Returns its descriptor, or −1. Not mkstemp, whose files only the owner may read.
 */
static int give_temporary_name(kith_output *output, int descriptor)
{
    const int directory_length = path_directory_length(output->target);
    char *name = output->temporary, link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    for (int attempt = 0; attempt < 10000; attempt++) {
        snprintf(name, (size_t)directory_length + 64, "%.*s.kith-%ld-%d.tmp", directory_length,
                 output->target, (long)getpid(), attempt);
        const int named = descriptor < 0 ? open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)
                          : linkat(AT_FDCWD, link, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0
                              ? descriptor
                              : -1;
        if (named >= 0)
            return named;
        if (errno != EEXIST)
            break;
    }
    name[0] = 0;
    return -1;
}

/* A file without a name in the target's directory, or −1 where the system has none. */
static int create_unnamed(const kith_output *output)
{
    char *directory = path_directory(output->target);
    const int descriptor = directory && access("/proc/self/fd", X_OK) == 0
                               ? open(directory, O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666)
                               : -1;
    free(directory);
    return descriptor;
}

static kith_status open_temporary(kith_output *output, const struct stat *old)
{
    const int directory_length = path_directory_length(output->target);
    KITH_TRY(kith_allocate(directory_length + 64, 1, "file name", &output->temporary));

    if (old && access(output->target, W_OK) != 0)
        return fail_to_write(output->path, errno);
    int descriptor = create_unnamed(output);
    output->unnamed = descriptor >= 0;
    if (!output->unnamed)
        descriptor = give_temporary_name(output, -1);
    if (descriptor < 0)
        return kith_fail(KITH_IO_ERROR, "%s: cannot create a file in directory '%.*s': %s",
                         output->path, directory_length > 0 ? directory_length : 1,
                         directory_length > 0 ? output->target : ".", strerror(errno));
    if (old)
        (void)!fchmod(descriptor, old->st_mode & 07777);
    output->stream = fdopen(descriptor, "wb");
    if (!output->stream) {
        close(descriptor);
        return fail_to_write(output->path, ENOMEM);
    }
    return KITH_OK;
}

static kith_status set_up(kith_output *output, const char *path)
{
    KITH_TRY(path_copy(path, &output->path));
    struct stat found;
    const bool exists = stat(path, &found) == 0;
    char *resolved = exists ? realpath(path, NULL) : NULL;
    const kith_status status = path_copy(resolved ? resolved : path, &output->target);
    free(resolved);
    KITH_TRY(status);
    /* A descriptor that is closed is no file to make: /dev/stdout is a link of the system's. */
    if (open_descriptor_of(path) >= 0 || (exists && is_written_in_place(path, &found)))
        return open_in_place(output);
    return open_temporary(output, exists ? &found : NULL);
}

kith_status kith_output_open(const char *path, kith_output **output)
{
    *output = NULL;
    kith_output *opened = NULL;
    KITH_TRY(kith_allocate(1, sizeof *opened, "output file", &opened));
    const kith_status status = set_up(opened, path);
    if (status != KITH_OK) {
        kith_output_discard(opened);
        return status;
    }
    *output = opened;
    return KITH_OK;
}

kith_status kith_output_check_room(const kith_output *output, int64_t bytes)
{
    struct statvfs disk;
    /* Some file systems do not report their size: then it is 0. */
    if (output->in_place || fstatvfs(fileno(output->stream), &disk) != 0 || disk.f_blocks == 0)
        return KITH_OK;
    const double available = (double)disk.f_bavail * (double)disk.f_frsize;
    if ((double)bytes <= available)
        return KITH_OK;
    return kith_fail(KITH_IO_ERROR,
                     "%s: %lld bytes are needed and %.0f are free on its disk; free some, or write "
                     "to another disk",
                     output->path, (long long)bytes, available);
}

FILE *kith_output_stream(kith_output *output)
{
    return output->stream;
}

/* Why an earlier write failed: stdio has forgotten it, but one byte more fails for the same reason.
 */
static int reason_of_failure(FILE *stream)
{
    return write(fileno(stream), "", 1) < 0 ? errno : EIO;
}

/* 0 or the first error; the stream is closed in any case. */
static int flush_and_close(kith_output *output)
{
    FILE *stream = output->stream;
    output->stream = NULL;
    int error = 0;
    if (ferror(stream))
        error = reason_of_failure(stream);
    else if (fflush(stream) != 0 || (!output->in_place && fsync(fileno(stream)) != 0) ||
             (output->unnamed && give_temporary_name(output, fileno(stream)) < 0))
        error = errno;
    if (fclose(stream) != 0 && !error)
        error = errno;
    return error;
}

kith_status kith_output_finish(kith_output *output)
{
    int error = flush_and_close(output);
    if (!error && !output->in_place)
        error = file_replace(output->temporary, output->target);
    if (error) {
        const kith_status status = fail_to_write(output->path, error);
        kith_output_discard(output);
        return status;
    }
    close_and_free(output);
    return KITH_OK;
}

void kith_output_discard(kith_output *output)
{
    if (!output)
        return;
    if (!output->in_place && output->temporary && output->temporary[0])
        unlink(output->temporary);
    close_and_free(output);
}
