/* libFuzzer target: a reader must take any bytes and give bodies or an error, never a crash.
 *
 * Compiled once a format, with KITH_FUZZ_FORMAT its name. */

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kith/kith.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const int file = memfd_create("kith-fuzz", 0);
    if (file < 0 || write(file, data, size) != (ssize_t)size)
        abort();
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);

    const kith_read_options options = {.format = KITH_FUZZ_FORMAT};
    kith_bodies *bodies = NULL;
    const kith_status status = kith_bodies_read(path, &options, &bodies);
    if ((status == KITH_OK) != (bodies != NULL) || (bodies && kith_bodies_check(bodies) != KITH_OK))
        abort();
    kith_bodies_free(bodies);
    close(file);
    return 0;
}
