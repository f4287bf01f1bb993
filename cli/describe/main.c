/* kith-describe: writes the manual pages and the completion scripts of kith, when it is built.
 *
 *     kith-describe FOLDER
 *
 * FOLDER gets man/kith.1, man/kith-run.1 … and completions/kith.bash, _kith and kith.fish. */

#include "describe.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

enum { path_bytes = 4096 };

static FILE *create(const char *folder, const char *room, const char *name)
{
    char path[path_bytes];
    snprintf(path, sizeof path, "%s/%s", folder, room);
    FILE *file = NULL;
    if (mkdir(path, 0777) == 0 || errno == EEXIST) {
        snprintf(path, sizeof path, "%s/%s/%s", folder, room, name);
        file = fopen(path, "w");
    }
    if (!file)
        fprintf(stderr, "kith-describe: %s cannot be written: %s\n", path, strerror(errno));
    return file;
}

static bool finish(FILE *file, bool fine)
{
    const bool whole = !ferror(file);
    if (fclose(file) == 0 && whole)
        return fine;
    fprintf(stderr, "kith-describe: a file cannot be written: %s\n", strerror(errno));
    return false;
}

/* The page of "kith bench forces" is kith-bench-forces.1. */
static bool write_page(const char *folder, const struct command *command, const char *name)
{
    char page[128];
    snprintf(page, sizeof page, "%s.1", name);
    for (char *blank = strchr(page, ' '); blank; blank = strchr(blank, ' '))
        *blank = '-';
    FILE *file = create(folder, "man", page);
    return file && finish(file, describe_command(command, name, manual_write, file));
}

static bool write_pages(const char *folder)
{
    FILE *file = create(folder, "man", "kith.1");
    if (!file)
        return false;
    manual_write_program(file);
    bool fine = finish(file, true);
    for (const struct command *command = program_commands; fine && command->name; command++) {
        char name[128];
        snprintf(name, sizeof name, "kith %s", command->name);
        fine = write_page(folder, command, name);
        for (const struct command *part = command->parts; fine && part && part->name; part++) {
            snprintf(name, sizeof name, "kith %s %s", command->name, part->name);
            fine = write_page(folder, part, name);
        }
    }
    return fine;
}

static bool write_script(const char *folder, const char *name, bool (*write)(FILE *stream))
{
    FILE *file = create(folder, "completions", name);
    return file && finish(file, write(file));
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: kith-describe FOLDER\n");
        return exit_usage;
    }
    const char *folder = argv[1];
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
        fprintf(stderr, "kith-describe: %s cannot be made: %s\n", folder, strerror(errno));
        return exit_failed;
    }
    const bool fine = write_pages(folder) && write_script(folder, "kith.bash", bash_write) &&
                      write_script(folder, "_kith", zsh_write) &&
                      write_script(folder, "kith.fish", fish_write);
    return fine ? exit_ok : exit_failed;
}
