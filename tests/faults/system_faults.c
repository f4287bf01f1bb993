/* A disk that fails when a test wants it: a library to preload (LD_PRELOAD), which stands before
 * the calls that write files.
 *
 *   KITH_TEST_FAULT    n:WHAT, the n-th of those calls (1, 2, …; 0: none) meets WHAT: enospc, eio,
 *                      eintr, or short, a write that takes only a part. A + behind: all after it
 *                      too
 *   KITH_TEST_COUNT    a file that the number of the calls is written to at the end
 *   KITH_TEST_JOURNAL  a file with a line for each call: write PATH,
 *                      cut PATH, sync PATH, link FROM TO, rename FROM TO, create PATH; what has no
 *                      name yet is #FILE in its directory
 *
 * Only a program called kith is meddled with, none that it starts. Calls on files that are open for
 * reading only, on pipes and on standard output are left alone. */

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { most_files = 256, path_bytes = 1024 };

/* What is open for writing, and directories. */
static char paths[most_files][path_bytes];
static FILE *streams[most_files]; /* those that stand for a descriptor */

static atomic_llong calls;
static long long failing;
static int fault_error; /* 0: a short write */
static bool is_lasting, is_on;
static const char *count_file;
static int journal = -1;

static void note(const char *what, const char *path, const char *second)
{
    char line[3 * path_bytes];
    if (journal < 0)
        return;
    const int length = snprintf(line, sizeof line, "%s %s%s%s\n", what, path, second ? " " : "",
                                second ? second : "");
    (void)!syscall(SYS_write, journal, line, (size_t)length);
}

/* Counts a call; true if it shall fail, with errno set. */
static bool meets_fault(void)
{
    const long long number = atomic_fetch_add(&calls, 1) + 1;
    const bool met = failing > 0 && (number == failing || (is_lasting && number > failing));
    if (met && fault_error)
        errno = fault_error;
    return met;
}

static bool fails(void)
{
    return meets_fault() && fault_error;
}

static bool is_ours(int file)
{
    return is_on && file >= 0 && file < most_files && paths[file][0];
}

static void remember(int file, const char *path, int flags)
{
    struct stat found;
    if (!is_on || file < 0 || file >= most_files || fstat(file, &found) != 0)
        return;
    paths[file][0] = 0;
    if (S_ISDIR(found.st_mode) || (S_ISREG(found.st_mode) && (flags & O_ACCMODE) != O_RDONLY))
        snprintf(paths[file], path_bytes, (flags & O_TMPFILE) == O_TMPFILE ? "%s/#%d" : "%s", path,
                 file);
}

static void stop(void)
{
    is_on = false;
}

/* What runs after main is not the program's: tools that count write their files there. Once main
 * runs, exit calls this before the destructors of the program. */
static void stop_after_main(void)
{
    static atomic_flag known = ATOMIC_FLAG_INIT;
    if (!atomic_flag_test_and_set(&known))
        (void)!atexit(stop);
}

/* open is open64 here: off_t has 64 bits. */
int open(const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    const mode_t mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;
    va_end(more);
    const bool counted = is_on && (flags & O_ACCMODE) != O_RDONLY;
    if (counted)
        stop_after_main();
    if (counted && fails())
        return -1;
    const int file = (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
    remember(file, path, flags);
    if (counted && file >= 0 && (flags & (O_CREAT | O_TRUNC)))
        note("create", path, NULL);
    return file;
}

/* As much of a write as the fault lets through, or −1. */
static ssize_t allowed(size_t bytes)
{
    if (!meets_fault())
        return (ssize_t)bytes;
    return fault_error ? -1 : (ssize_t)(bytes + 1) / 2;
}

ssize_t write(int file, const void *data, size_t bytes)
{
    ssize_t taken = (ssize_t)bytes;
    if (is_ours(file)) {
        taken = allowed(bytes);
        note("write", paths[file], NULL);
    }
    return taken < 0 ? -1 : (ssize_t)syscall(SYS_write, file, data, (size_t)taken);
}

ssize_t pwrite(int file, const void *data, size_t bytes, off_t offset)
{
    ssize_t taken = (ssize_t)bytes;
    if (is_ours(file)) {
        taken = allowed(bytes);
        note("write", paths[file], NULL);
    }
    return taken < 0 ? -1 : (ssize_t)syscall(SYS_pwrite64, file, data, (size_t)taken, offset);
}

ssize_t copy_file_range(int from, off_t *from_offset, int to, off_t *to_offset, size_t bytes,
                        unsigned flags)
{
    if (is_ours(to)) {
        note("write", paths[to], NULL);
        if (meets_fault()) {
            if (fault_error)
                return -1;
            bytes = bytes > 1000 ? 1000 : bytes;
        }
    }
    return (ssize_t)syscall(SYS_copy_file_range, from, from_offset, to, to_offset, bytes, flags);
}

/* So that files are copied in the same way on every file system. */
int ioctl(int file, unsigned long request, ...)
{
    va_list more;
    va_start(more, request);
    void *argument = va_arg(more, void *);
    va_end(more);
    if (is_ours(file)) {
        errno = EOPNOTSUPP;
        return -1;
    }
    return (int)syscall(SYS_ioctl, file, request, argument);
}

int ftruncate(int file, off_t bytes)
{
    if (is_ours(file)) {
        if (fails())
            return -1;
        note("cut", paths[file], NULL);
    }
    return (int)syscall(SYS_ftruncate, file, bytes);
}

/* Nothing is brought to the disk: the power does not go here. */
int fsync(int file)
{
    if (is_ours(file)) {
        if (fails())
            return -1;
        note("sync", paths[file], NULL);
        return 0;
    }
    return (int)syscall(SYS_fsync, file);
}

int rename(const char *from, const char *to)
{
    if (is_on) {
        if (fails())
            return -1;
        note("rename", from, to);
    }
    return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

/* A file without a name gets one. */
int linkat(int old_directory, const char *old, int directory, const char *path, int flags)
{
    int file = -1;
    if (is_on && sscanf(old, "/proc/self/fd/%d", &file) == 1 && is_ours(file)) {
        if (fails())
            return -1;
        note("link", paths[file], path);
        snprintf(paths[file], path_bytes, "%s", path);
    }
    return (int)syscall(SYS_linkat, old_directory, old, directory, path, flags);
}

int fchmod(int file, mode_t mode)
{
    return is_ours(file) && fails() ? -1 : (int)syscall(SYS_fchmod, file, mode);
}

/* The file is closed in any case, as Linux does it. */
int close(int file)
{
    const bool counted = is_ours(file), failed = counted && fails();
    const int error = errno;
    if (counted)
        paths[file][0] = 0;
    const int result = (int)syscall(SYS_close, file);
    if (!failed)
        return result;
    errno = error;
    return -1;
}

/* glibc's own streams write past these functions; so what is opened for writing becomes a stream
 * with functions of its own, which goes on after a short write and stops at an error as glibc's do.
 */
static int file_of(void *cookie)
{
    return (int)((FILE **)cookie - streams);
}

static ssize_t stream_write(void *cookie, const char *data, size_t bytes)
{
    size_t put = 0;
    while (put < bytes) {
        const ssize_t part = write(file_of(cookie), data + put, bytes - put);
        if (part < 0)
            break;
        put += (size_t)part;
    }
    return (ssize_t)put;
}

static int stream_seek(void *cookie, off64_t *offset, int whence)
{
    const off_t at = lseek(file_of(cookie), *offset, whence);
    *offset = at;
    return at < 0 ? -1 : 0;
}

static int stream_close(void *cookie)
{
    streams[file_of(cookie)] = NULL;
    return close(file_of(cookie));
}

FILE *fdopen(int file, const char *mode)
{
    static FILE *(*original)(int, const char *);
    if (!original)
        *(void **)&original = dlsym(RTLD_NEXT, "fdopen");
    if (!is_ours(file) || mode[0] != 'w')
        return original(file, mode);
    const cookie_io_functions_t functions = {NULL, stream_write, stream_seek, stream_close};
    streams[file] = fopencookie(&streams[file], mode, functions);
    return streams[file];
}

int fileno(FILE *stream)
{
    static int (*original)(FILE *);
    if (!original)
        *(void **)&original = dlsym(RTLD_NEXT, "fileno");
    for (int k = 0; k < most_files; k++)
        if (streams[k] && streams[k] == stream)
            return k;
    return original(stream);
}

static int error_of(const char *name)
{
    if (strncmp(name, "enospc", 6) == 0)
        return ENOSPC;
    if (strncmp(name, "eintr", 5) == 0)
        return EINTR;
    return strncmp(name, "short", 5) == 0 ? 0 : EIO;
}

__attribute__((constructor)) static void obey_environment(void)
{
    const char *fault = getenv("KITH_TEST_FAULT"), *path = getenv("KITH_TEST_JOURNAL");
    if (strcmp(program_invocation_short_name, "kith") != 0)
        return;
    const char *what = fault ? strchr(fault, ':') : NULL;
    failing = fault ? atoll(fault) : 0;
    fault_error = what ? error_of(what + 1) : 0;
    is_lasting = fault && strchr(fault, '+') != NULL;
    count_file = getenv("KITH_TEST_COUNT");
    if (path)
        journal = (int)syscall(SYS_openat, AT_FDCWD, path,
                               O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    is_on = true;
}

__attribute__((destructor)) static void tell_count(void)
{
    char text[32];
    is_on = false;
    if (!count_file)
        return;
    const int length = snprintf(text, sizeof text, "%lld", (long long)atomic_load(&calls));
    const int file = (int)syscall(SYS_openat, AT_FDCWD, count_file,
                                  O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file >= 0)
        (void)!syscall(SYS_write, file, text, (size_t)length);
}
