/* What was measured to be the fastest, a small text file a device:
 *
 *     kith tuning 1
 *     device NVIDIA H200, sm_90, 132 multiprocessors
 *     forces_least_symmetric_single 8449
 *     …
 *     check 93fe61b7a4a2de2c
 *
 * The last line is a hash of the lines before it: a file that is cut off or was changed by hand
 * is not used. */

#include "kith/tuning.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/arguments.h"
#include "core/cache_folder.h"
#include "core/isa.h"
#include "core/processor.h"
#include "core/status.h"

/* A number of the file. */
struct entry {
    const char *name;
    size_t offset; /* in kith_tuning */
    int64_t most;
};

#define ENTRY(name, most)                                                                          \
    {                                                                                              \
#name, offsetof(kith_tuning, name), most                                                   \
    }
static const struct entry entries[] = {
    ENTRY(forces_least_symmetric_single, INT64_MAX),
    ENTRY(forces_least_symmetric_double, INT64_MAX),
    ENTRY(threads, 4096),
    ENTRY(matrix_block, 1024),
};
enum { entry_count = sizeof entries / sizeof entries[0] };

enum { name_bytes = 400, text_bytes = 2048 };

static const char heading[] = "kith tuning 1\ndevice ";

static int64_t *value_of(kith_tuning *tuning, const struct entry *entry)
{
    return (int64_t *)((char *)tuning + entry->offset);
}

/* The keys by which a tuning is found. */
static kith_status name_device(kith_device device, char name[name_bytes])
{
    kith_device_info info;
    if (device.kind == KITH_CPU) {
        char model[128];
        int32_t isa = 0;
        int64_t count = 0;
        KITH_TRY(kith_isa_choose(&isa));
        processor_name(model, sizeof model);
        snprintf(name, name_bytes, "%s, %s, %d cores", model, kith_isa_list(&count)[isa].name,
                 processor_cores());
        return KITH_OK;
    }
    if (!kith_device_describe(device, &info))
        return kith_fail(KITH_NO_DEVICE,
                         "device is %d of kind %d, which this machine does not have",
                         (int)device.index, (int)device.kind);
    snprintf(name, name_bytes, "%s, %s, %d multiprocessors", info.name, info.architecture,
             (int)info.multiprocessors);
    return KITH_OK;
}

static void path_of(const char *folder, const char *name, char path[cache_path_bytes])
{
    snprintf(path, cache_path_bytes, "%.3000s/tuning-%016" PRIx64, folder,
             cache_hash(name, (int64_t)strlen(name)));
}

static size_t write_text(const char *name, const kith_tuning *tuning, char text[text_bytes])
{
    kith_tuning copy = *tuning;
    int length = snprintf(text, text_bytes, "%s%s\n", heading, name);
    for (int k = 0; k < entry_count; k++)
        length += snprintf(text + length, text_bytes - (size_t)length, "%s %" PRId64 "\n",
                           entries[k].name, *value_of(&copy, &entries[k]));
    length += snprintf(text + length, text_bytes - (size_t)length, "check %016" PRIx64 "\n",
                       cache_hash(text, length));
    return (size_t)length;
}

/* Only what write_text writes for these numbers and this device is taken. */
static bool read_text(const char *text, size_t bytes, const char *name, kith_tuning *tuning)
{
    char expected[text_bytes];
    const char *at = text;
    for (int k = 0; k < entry_count; k++) {
        char *end = NULL;
        const char *found = strstr(at, entries[k].name);
        if (!found)
            return false;
        errno = 0;
        const int64_t value = strtoll(found + strlen(entries[k].name), &end, 10);
        if (errno != 0 || value < 0 || value > entries[k].most)
            return false;
        *value_of(tuning, &entries[k]) = value;
        at = end;
    }
    const size_t length = write_text(name, tuning, expected);
    return length == bytes && memcmp(text, expected, bytes) == 0;
}

static kith_status read_file(const char *path, const char *name, kith_tuning *tuning)
{
    void *data = NULL;
    int64_t bytes = 0;
    char text[text_bytes] = "";
    KITH_TRY(cache_read(path, &data, &bytes));
    const bool fits = bytes < (int64_t)sizeof text;
    if (fits && bytes > 0)
        memcpy(text, data, (size_t)bytes);
    free(data);
    kith_tuning read = {0};
    if (!fits || !read_text(text, (size_t)bytes, name, &read))
        return kith_fail(KITH_BAD_FORMAT,
                         "tuning %s is damaged and is ignored; run kith tune again, or remove it",
                         path);
    *tuning = read;
    return KITH_OK;
}

kith_status kith_tuning_read(kith_device device, kith_tuning *tuning)
{
    KITH_TRY(kith_check_pointer(tuning, "tuning"));
    *tuning = (kith_tuning){0};
    const char *wanted = getenv("KITH_TUNING");
    if (wanted && strcmp(wanted, "off") == 0)
        return KITH_OK;
    char name[name_bytes], folder[cache_path_bytes], path[cache_path_bytes];
    struct stat info;
    KITH_TRY(name_device(device, name));
    if (cache_folder_path(folder) != KITH_OK)
        return KITH_OK; /* no folder, no tuning */
    path_of(folder, name, path);
    if (lstat(path, &info) != 0 && (errno == ENOENT || errno == ENOTDIR))
        return KITH_OK;
    KITH_TRY(cache_check_own(folder));
    if (!cache_file_is_own(path))
        return kith_fail(KITH_IO_ERROR,
                         "tuning %s is not a file of this user alone and is ignored; remove it",
                         path);
    return read_file(path, name, tuning);
}

static kith_status check_numbers(const kith_tuning *tuning)
{
    kith_tuning copy = *tuning;
    for (int k = 0; k < entry_count; k++) {
        const int64_t value = *value_of(&copy, &entries[k]);
        if (value < 0 || value > entries[k].most)
            return kith_fail(KITH_INVALID_ARGUMENT, "%s is %" PRId64 "; give 0 to %" PRId64,
                             entries[k].name, value, entries[k].most);
    }
    return KITH_OK;
}

/* Whole or not at all: another process may read at any time. */
static kith_status replace(const char *folder, const char *path, const char *text, size_t bytes)
{
    char workshop[cache_path_bytes], made[cache_path_bytes + 8];
    KITH_TRY(cache_make_workshop(folder, workshop));
    kith_status status = cache_write(workshop, "tuning", text, (int64_t)bytes);
    snprintf(made, sizeof made, "%s/tuning", workshop);
    if (status == KITH_OK)
        status = cache_publish(made, path);
    cache_remove(workshop);
    return status;
}

kith_status kith_tuning_write(kith_device device, const kith_tuning *tuning)
{
    KITH_TRY(kith_check_pointer(tuning, "tuning"));
    char name[name_bytes], folder[cache_path_bytes], path[cache_path_bytes], text[text_bytes];
    KITH_TRY(check_numbers(tuning));
    KITH_TRY(name_device(device, name));
    KITH_TRY(cache_folder(folder));
    path_of(folder, name, path);
    return replace(folder, path, text, write_text(name, tuning, text));
}

kith_status kith_tuning_forget(kith_device device)
{
    char name[name_bytes], folder[cache_path_bytes], path[cache_path_bytes];
    KITH_TRY(name_device(device, name));
    if (cache_folder_path(folder) != KITH_OK)
        return KITH_OK;
    path_of(folder, name, path);
    if (unlink(path) != 0 && errno != ENOENT && errno != ENOTDIR)
        return kith_fail(KITH_IO_ERROR, "tuning %s cannot be removed: %s", path, strerror(errno));
    return KITH_OK;
}
