#include "io/working_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/file_names.h"

enum { host_bytes = 65, most_attempts = 10000, copy_bytes = 1 << 20 };

static kith_status fail_to_write(const struct working_file *file, int error)
{
    return kith_fail(KITH_IO_ERROR, "%s: cannot be written: %s", file->output, strerror(error));
}

/* What the names of all working files of this output on this host begin with, up to the PID. */
static char *name_prefix(const char *target)
{
    char host[host_bytes] = "";
    if (gethostname(host, sizeof host - 1) != 0 || strchr(host, '/'))
        host[0] = 0;
    char *prefix = NULL;
    if (asprintf(&prefix, ".%s.kith-%s-", target + path_directory_length(target), host) < 0)
        return NULL;
    return prefix;
}

static bool is_left_by_the_dead(const char *name, const char *prefix)
{
    const size_t length = strlen(prefix);
    if (strncmp(name, prefix, length) != 0)
        return false;
    char *end = NULL;
    errno = 0;
    const long process = strtol(name + length, &end, 10);
    return errno == 0 && process > 0 && *end == '-' && kill((pid_t)process, 0) != 0 &&
           errno == ESRCH;
}

static void remove_stale(const char *target, const char *prefix)
{
    char *name = path_directory(target);
    DIR *directory = name ? opendir(name) : NULL;
    free(name);
    if (!directory)
        return;
    for (struct dirent *entry; (entry = readdir(directory));)
        if (is_left_by_the_dead(entry->d_name, prefix))
            unlinkat(dirfd(directory), entry->d_name, 0);
    closedir(directory);
}

/* The last number distinguishes two runs in one process. */
static kith_status create(struct working_file *file, const char *prefix)
{
    const int length = path_directory_length(file->target);
    char *name = NULL;
    for (int attempt = 0; attempt < most_attempts; attempt++) {
        if (asprintf(&name, "%.*s%s%ld-%d", length, file->target, prefix, (long)getpid(), attempt) <
            0)
            return kith_fail(KITH_OUT_OF_MEMORY, "%s: no memory for a file name", file->output);
        const int descriptor = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (descriptor >= 0) {
            close(descriptor);
            file->path = name;
            return KITH_OK;
        }
        free(name);
        if (errno != EEXIST)
            break;
    }
    return kith_fail(KITH_IO_ERROR, "%s: cannot create a file in directory '%.*s': %s",
                     file->output, length ? length : 1, length ? file->target : ".",
                     strerror(errno));
}

static kith_status name_copy(struct working_file *file)
{
    char *name = NULL;
    if (asprintf(&name, "%s-copy", file->path) < 0)
        return kith_fail(KITH_OUT_OF_MEMORY, "%s: no memory for a file name", file->output);
    file->copy = name;
    return KITH_OK;
}

static kith_status set_up(const char *output, struct working_file *file)
{
    KITH_TRY(path_copy(output, &file->output));
    struct stat found;
    const bool exists = stat(output, &found) == 0;
    if (exists && !S_ISREG(found.st_mode))
        return kith_fail(KITH_IO_ERROR,
                         "%s: cannot be written: not a regular file; give the name of one", output);
    if (exists && access(output, W_OK) != 0)
        return fail_to_write(file, errno);
    char *resolved = exists ? realpath(output, NULL) : NULL;
    const kith_status status = path_copy(resolved ? resolved : output, &file->target);
    free(resolved);
    KITH_TRY(status);

    char *prefix = name_prefix(file->target);
    if (!prefix)
        return kith_fail(KITH_OUT_OF_MEMORY, "%s: no memory for a file name", output);
    remove_stale(file->target, prefix);
    const kith_status created = create(file, prefix);
    free(prefix);
    KITH_TRY(created);
    if (exists)
        (void)!chmod(file->path, found.st_mode & 07777);
    return name_copy(file);
}

kith_status working_file_open(const char *output, struct working_file *file)
{
    *file = (struct working_file){0};
    const kith_status status = set_up(output, file);
    if (status != KITH_OK)
        working_file_close(file);
    return status;
}

/* 0 or an error number. */
static int copy_by_hand(int from, int to)
{
    char *buffer = malloc(copy_bytes);
    if (!buffer)
        return ENOMEM;
    int error = 0;
    for (ssize_t got; !error && (got = read(from, buffer, copy_bytes)) != 0;) {
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            error = errno;
        for (ssize_t put = 0, done; !error && put < got; put += done) {
            done = write(to, buffer + put, (size_t)(got - put));
            if (done < 0 && errno != EINTR)
                error = errno;
            done = done < 0 ? 0 : done;
        }
    }
    free(buffer);
    return error;
}

/* Shares the blocks if the file system can; else lets the kernel copy; else copies. */
static int copy_content(int from, int to)
{
    if (ioctl(to, FICLONE, from) == 0)
        return 0;
    for (;;) {
        const ssize_t copied = copy_file_range(from, NULL, to, NULL, (size_t)1 << 30, 0);
        if (copied < 0 && errno == EINTR)
            continue;
        if (copied < 0 && (errno == EXDEV || errno == EINVAL || errno == ENOSYS ||
                           errno == EOPNOTSUPP || errno == EPERM))
            return copy_by_hand(from, to);
        if (copied <= 0)
            return copied < 0 ? errno : 0;
    }
}

/* Makes `to` the same as `from`, with its permissions. */
static kith_status copy_file(const struct working_file *file, const char *from, const char *to)
{
    struct stat found;
    const int source = open(from, O_RDONLY | O_CLOEXEC);
    if (source < 0 || fstat(source, &found) != 0) {
        const int error = errno;
        if (source >= 0)
            close(source);
        return kith_fail(KITH_IO_ERROR, "%s: cannot be read: %s", file->output, strerror(error));
    }
    const int sink = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, found.st_mode & 07777);
    int error = sink < 0 ? errno : copy_content(source, sink);
    if (sink >= 0) {
        (void)!fchmod(sink, found.st_mode & 07777);
        if (close(sink) != 0 && !error)
            error = errno;
    }
    close(source);
    return error ? fail_to_write(file, error) : KITH_OK;
}

kith_status working_file_start_from_output(struct working_file *file)
{
    return copy_file(file, file->target, file->path);
}

kith_status working_file_copy(struct working_file *file)
{
    return copy_file(file, file->path, file->copy);
}

static kith_status publish(const struct working_file *file, const char *path)
{
    const int error = file_publish(path, file->target);
    return error ? fail_to_write(file, error) : KITH_OK;
}

kith_status working_file_publish_copy(const struct working_file *file)
{
    return publish(file, file->copy);
}

static void forget_names(struct working_file *file)
{
    free(file->path);
    free(file->copy);
    file->path = file->copy = NULL;
}

kith_status working_file_publish(struct working_file *file)
{
    KITH_TRY(publish(file, file->path));
    forget_names(file);
    return KITH_OK;
}

void working_file_close(struct working_file *file)
{
    if (file->path)
        unlink(file->path);
    if (file->copy)
        unlink(file->copy);
    free(file->output);
    free(file->target);
    forget_names(file);
    *file = (struct working_file){0};
}
