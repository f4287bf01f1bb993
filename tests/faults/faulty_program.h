#ifndef FAULTS_FAULTY_PROGRAM_H
#define FAULTS_FAULTY_PROGRAM_H

/* Runs the program with one of the libraries of this folder before it. Include program.h before. */

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A run of which the n-th counted call fails; n = 0: none does. */
struct faulty_run {
    const struct program_result *result;
    int64_t calls; /* counted; −1 if the program did not come to its end */
};

/* library is the environment's name for it; variable and fault are what the libraries' heads say:
 * memory_faults.h, system_faults.c. */
static inline struct faulty_run run_faulty(const char *library, const char *variable,
                                           const char *fault, const char *command)
{
    struct faulty_run run = {.calls = -1};
    const char *path = getenv(library);
    if (!path)
        fail_msg("%s is not set: run the tests through ctest", library);
    remove(program_file(".count"));
    setenv(variable, fault, 1);
    setenv("KITH_TEST_COUNT", program_file(".count"), 1);
    setenv("LD_PRELOAD", path ? path : "", 1);
    run.result = program_run("%s", command);
    unsetenv("LD_PRELOAD");
    unsetenv("KITH_TEST_COUNT");
    unsetenv(variable);
    char *count = program_read(".count");
    if (count)
        run.calls = atoll(count);
    free(count);
    return run;
}

/* A file of any bytes, on the heap. */
struct content {
    char *bytes;
    size_t size;
};

static inline struct content content_of_file(const char *name)
{
    struct content content = {0};
    FILE *file = fopen(program_file(name), "rb");
    if (!file)
        return content;
    fseek(file, 0, SEEK_END);
    content.size = (size_t)ftell(file);
    rewind(file);
    content.bytes = malloc(content.size + 1);
    assert_int_equal(fread(content.bytes, 1, content.size, file), content.size);
    fclose(file);
    return content;
}

static inline bool is_content(const char *name, struct content expected)
{
    struct content found = content_of_file(name);
    const bool same = found.bytes && expected.bytes && found.size == expected.size &&
                      memcmp(found.bytes, expected.bytes, expected.size) == 0;
    free(found.bytes);
    return same;
}

/* Entries of a folder in the program's folder, hidden ones too. */
static inline int files_in(const char *name)
{
    int count = 0;
    DIR *directory = opendir(program_file(name));
    assert_non_null(directory);
    while (readdir(directory))
        count++;
    closedir(directory);
    return count - 2;
}

#endif
