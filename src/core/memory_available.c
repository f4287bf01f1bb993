/* The memory that this process may still allocate, by /proc and /sys. */

#include "core/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "kith/build.h"

enum { text_bytes = 8192, path_bytes = 4096 };

static int64_t least_of(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The first bytes of a file; false if it cannot be read. */
static bool read_text(const char *root, const char *path, char text[text_bytes])
{
    char full[path_bytes];
    if (snprintf(full, sizeof full, "%s%s", root, path) >= (int)sizeof full)
        return false;
    const int file = open(full, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    const ssize_t count = read(file, text, text_bytes - 1);
    close(file);
    text[count > 0 ? count : 0] = 0;
    return count > 0;
}

/* The number after a word that begins a line; without a word, the text's first. */
static bool number_after(const char *text, const char *word, int64_t *number)
{
    const size_t length = strlen(word);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, word, length) != 0)
            continue;
        char *end = NULL;
        errno = 0;
        *number = strtoll(line + length, &end, 10);
        return end != line + length && errno == 0;
    }
    return false;
}

/* The files of a memory controller, of version 1 and 2 of control groups. */
struct controller {
    const char *folder, *limit, *usage, *cache;
};

static const struct controller controllers[] = {
    {"/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
     "total_inactive_file "},
    {"/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file "}};

static bool read_of_group(const char *root, const struct controller *controller, const char *group,
                          const char *name, char text[text_bytes])
{
    char path[path_bytes];
    return snprintf(path, sizeof path, "%s%s/%s", controller->folder, group, name) <
               (int)sizeof path &&
           read_text(root, path, text);
}

/* Of one group: its limit, less what is used; files that are only cached are given back. */
static int64_t left_of_group(const char *root, const struct controller *controller,
                             const char *group)
{
    char text[text_bytes];
    int64_t limit = 0, usage = 0, cache = 0;
    if (!read_of_group(root, controller, group, controller->limit, text) ||
        !number_after(text, "", &limit) || /* "max" */
        !read_of_group(root, controller, group, controller->usage, text) ||
        !number_after(text, "", &usage))
        return INT64_MAX;
    if (read_of_group(root, controller, group, "memory.stat", text))
        number_after(text, controller->cache, &cache);
    const int64_t used = usage > cache ? usage - cache : 0;
    return limit > used ? limit - used : 0;
}

/* A group's limit holds for those below it. In a container the path may be the one outside of it,
 * and only the top group is visible. */
static int64_t left_of_groups(const char *root, const struct controller *controller, char *group)
{
    int64_t left = INT64_MAX;
    for (;;) {
        left = least_of(left, left_of_group(root, controller, group));
        char *last = strrchr(group, '/');
        if (!last)
            return left;
        *last = 0;
    }
}

/* Lines are hierarchy:controllers:path; version 2 has the hierarchy 0 and no controllers. */
static int64_t left_in_groups(const char *root)
{
    char text[text_bytes], *rest = text;
    int64_t left = INT64_MAX;
    if (!read_text(root, "/proc/self/cgroup", text))
        return left;
    for (char *line; (line = strsep(&rest, "\n"));) {
        char *path = line;
        strsep(&path, ":");
        const char *names = strsep(&path, ":");
        if (!path)
            continue;
        bool has_memory = false;
        for (const char *name = names; (name = strstr(name, "memory")); name++)
            has_memory = has_memory ||
                         ((name == names || name[-1] == ',') && (name[6] == 0 || name[6] == ','));
        if (!*names || has_memory)
            left = least_of(left, left_of_groups(root, &controllers[!*names], path));
    }
    return left;
}

int64_t kith_memory_available_below(const char *root)
{
    char text[text_bytes];
    int64_t left = INT64_MAX, available = 0, swap = 0;
    if (read_text(root, "/proc/meminfo", text) && number_after(text, "MemAvailable:", &available)) {
        number_after(text, "SwapFree:", &swap);
        left = (available + swap) * 1024;
    }
    return least_of(left, left_in_groups(root));
}

int64_t kith_memory_available(void)
{
    int64_t left = kith_memory_available_below(""), pages = 0;
    struct rlimit limit;
    char text[text_bytes];
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur > INT64_MAX)
        return left;
    if (read_text("", "/proc/self/statm", text))
        number_after(text, "", &pages);
    const int64_t used = pages * sysconf(_SC_PAGESIZE), most = (int64_t)limit.rlim_cur;
    return least_of(left, most > used ? most - used : 0);
}
