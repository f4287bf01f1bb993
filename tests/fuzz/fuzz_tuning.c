/* A damaged file of what kith tune found is not used, and what is used is in range. */

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"

static const kith_device cpu = {KITH_CPU, 0};
static char folder[64], path[512];

static void remove_folder(void)
{
    char inner[128];
    snprintf(inner, sizeof inner, "%s/kith", folder);
    unlink(path);
    rmdir(inner);
    rmdir(folder);
}

/* A cache folder of its own, and in it the file of this machine; its first two lines are the
 * heading. */
static size_t make_cache(char *heading, size_t bytes)
{
    const kith_tuning some = {300, 400, 1, 64};
    fuzz_folder(folder, sizeof folder);
    fuzz_require(setenv("XDG_CACHE_HOME", folder, 1) == 0, "no environment");
    fuzz_require(kith_tuning_write(cpu, &some) == KITH_OK, "no tuning can be written");
    char inner[128];
    snprintf(inner, sizeof inner, "%s/kith", folder);
    DIR *directory = opendir(inner);
    for (struct dirent *entry; directory && (entry = readdir(directory));)
        if (strncmp(entry->d_name, "tuning-", 7) == 0)
            snprintf(path, sizeof path, "%s/%.200s", inner, entry->d_name);
    if (directory)
        closedir(directory);
    atexit(remove_folder);
    FILE *file = fopen(path, "r");
    fuzz_require(file && fread(heading, 1, bytes, file) > 0, "no tuning is there");
    fclose(file);
    const char *numbers = strchr(strchr(heading, '\n') + 1, '\n') + 1;
    return (size_t)(numbers - heading);
}

static void try_text(const char *text, size_t bytes)
{
    const int file = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
    fuzz_require(file >= 0 && write(file, text, bytes) == (ssize_t)bytes, "no file");
    close(file);
    static const kith_tuning nothing;
    kith_tuning read = {0};
    const kith_status status = kith_tuning_read(cpu, &read);
    fuzz_check(status, status == KITH_OK);
    fuzz_require(status == KITH_OK || memcmp(&read, &nothing, sizeof read) == 0,
                 "numbers of a damaged file");
    fuzz_require(read.threads >= 0 && read.threads <= 4096 && read.matrix_block >= 0 &&
                     read.matrix_block <= 1024 && read.forces_least_symmetric_single >= 0 &&
                     read.forces_least_symmetric_double >= 0,
                 "numbers out of range");
}

/* FNV-1a, as the last line of the file has it: no chance would find it. */
static uint64_t hash_of(const char *text, size_t bytes)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t k = 0; k < bytes; k++)
        hash = (hash ^ (unsigned char)text[k]) * 0x100000001b3u;
    return hash;
}

/* The bytes by themselves, and as numbers in a file that is right otherwise. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char heading[4096];
    static size_t heading_bytes;
    if (!heading_bytes)
        heading_bytes = make_cache(heading, sizeof heading - 1);
    try_text((const char *)data, size);

    char *text = malloc(heading_bytes + size + 64);
    if (!text)
        abort();
    memcpy(text, heading, heading_bytes);
    memcpy(text + heading_bytes, data, size);
    const size_t length = heading_bytes + size;
    const int check = snprintf(text + length, 64, "check %016" PRIx64 "\n", hash_of(text, length));
    try_text(text, length + (size_t)check);
    free(text);
    return 0;
}
