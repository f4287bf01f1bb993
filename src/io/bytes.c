#include "io/bytes.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

kith_status read_bytes(FILE *stream, void *memory, int64_t bytes, const char *what)
{
    errno = 0;
    const size_t got = fread(memory, 1, (size_t)bytes, stream);
    if (got == (size_t)bytes)
        return KITH_OK;
    if (ferror(stream))
        return kith_fail(KITH_IO_ERROR, "cannot be read: %s", strerror(errno ? errno : EIO));
    return kith_fail(KITH_BAD_FORMAT, "the file is truncated: it ends at offset %lld, in %s",
                     (long long)ftello(stream), what);
}

kith_status seek_to(FILE *stream, int64_t offset)
{
    if (fseeko(stream, offset, SEEK_SET) != 0)
        return kith_fail(KITH_IO_ERROR, "cannot be read from offset %lld: %s", (long long)offset,
                         strerror(errno));
    return KITH_OK;
}

bool input_bytes_left(FILE *stream, int64_t *bytes)
{
    struct stat found;
    if (fstat(fileno(stream), &found) != 0 || !S_ISREG(found.st_mode))
        return false;
    *bytes = found.st_size - ftello(stream);
    return true;
}
