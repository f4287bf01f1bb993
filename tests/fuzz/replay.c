/* Feeds the files of folders to a fuzz target, as libFuzzer would: for builds without it. */

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"

enum { seconds_for_a_file = 20, path_bytes = 4096 };

/* Memory that a damaged file asks for beyond this is refused, which a target takes for a fault. The
 * sanitizers need addresses without end. */
static void limit_memory(void)
{
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(__clang__)
    const struct rlimit limit = {(rlim_t)1 << 30, (rlim_t)1 << 30};
    setrlimit(RLIMIT_AS, &limit);
#endif
}

static void replay(const char *path, long size)
{
    unsigned char *data = malloc((size_t)size + 1);
    FILE *file = fopen(path, "rb");
    if (!data || !file || fread(data, 1, (size_t)size, file) != (size_t)size) {
        perror(path);
        exit(1);
    }
    fclose(file);
    fprintf(stderr, "%s\n", path); /* the last line before a crash */
    alarm(seconds_for_a_file);
    LLVMFuzzerTestOneInput(data, (size_t)size);
    alarm(0);
    free(data);
}

static int replay_folder(const char *folder)
{
    int count = 0;
    DIR *directory = opendir(folder);
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        char path[path_bytes];
        struct stat found;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (stat(path, &found) != 0 || !S_ISREG(found.st_mode))
            continue;
        replay(path, (long)found.st_size);
        count++;
    }
    if (directory)
        closedir(directory);
    return count;
}

int main(int argc, char **argv)
{
    int count = 0;
    limit_memory();
    for (int k = 1; k < argc; k++)
        count += replay_folder(argv[k]);
    printf("%d files\n", count);
    return count > 0 ? 0 : 1;
}
