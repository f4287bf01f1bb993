/* The systems of an ensemble: the files of a directory, or made one by one. */

#include "load_ensemble.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "streams.h"

bool load_is_directory(const char *path)
{
    struct stat found;
    return stat(path, &found) == 0 && S_ISDIR(found.st_mode);
}

/* Systems that will be joined. */
struct loading {
    const char *command;
    const struct input_options *input;
    int64_t systems;
    kith_bodies **each;
    char **paths;
};

static void *allocate(const struct loading *loading, int64_t count, size_t bytes)
{
    void *memory = calloc(count > 0 ? (size_t)count : 1, bytes);
    if (!memory)
        cli_fail_with(loading->command, "out of memory for %lld systems", (long long)count);
    return memory;
}

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static int compare_entries(const struct dirent **one, const struct dirent **other)
{
    return strcmp((*one)->d_name, (*other)->d_name);
}

/* Keeps the paths of regular files. */
static int take_entries(struct loading *loading, struct dirent **entries, int count)
{
    loading->paths = allocate(loading, count, sizeof *loading->paths);
    for (int k = 0; loading->paths && k < count; k++) {
        struct stat found;
        char *path = NULL;
        if (asprintf(&path, "%s/%s", loading->input->path, entries[k]->d_name) < 0)
            return cli_fail_with(loading->command, "out of memory for %d file names", count);
        if (stat(path, &found) == 0 && S_ISREG(found.st_mode))
            loading->paths[loading->systems++] = path;
        else
            free(path);
    }
    return loading->paths ? exit_ok : exit_failed;
}

static int list_files(struct loading *loading)
{
    const char *directory = loading->input->path;
    struct dirent **entries = NULL;
    const int count = scandir(directory, &entries, is_visible, compare_entries);
    if (count < 0)
        return cli_fail_with(loading->command, "%s: cannot be read: %s", directory,
                             strerror(errno));
    const int code = take_entries(loading, entries, count);
    for (int k = 0; k < count; k++)
        free(entries[k]);
    free(entries);
    if (code == exit_ok && loading->systems == 0)
        return cli_fail_with(loading->command, "%s: the directory has no files", directory);
    return code;
}

/* What kith_ensemble_join would refuse, with the files' names. */
static int check_like_first(const struct loading *loading, int64_t s)
{
    const kith_bodies *first = loading->each[0], *other = loading->each[s];
    const char *first_path = loading->paths[0], *path = loading->paths[s];
    if (other->count != first->count)
        return cli_fail_with(loading->command,
                             "%s has %lld bodies and %s has %lld; the systems of an ensemble need "
                             "the same number",
                             path, (long long)other->count, first_path, (long long)first->count);
    if (other->dimensions != first->dimensions)
        return cli_fail_with(loading->command,
                             "%s has %d dimensions and %s has %d; the systems of an ensemble need "
                             "the same",
                             path, (int)other->dimensions, first_path, (int)first->dimensions);
    if (other->time != first->time)
        return cli_fail_with(loading->command,
                             "%s is at time %.15g and %s at %.15g; the systems of an ensemble need "
                             "the same",
                             path, other->time, first_path, first->time);
    if (!other->softening != !first->softening)
        return cli_fail_with(loading->command,
                             "only one of %s and %s gives softening lengths; give all or none",
                             path, first_path);
    return exit_ok;
}

static int read_files(struct loading *loading, const char *output)
{
    const struct input_options *input = loading->input;
    const kith_read_options read = {.format = input->format,
                                    .frame = input->frame,
                                    .system = input->system,
                                    .system_given = input->system_given};
    for (int64_t s = 0; s < loading->systems; s++) {
        if (cli_check_output(loading->command, loading->paths[s], input->format, output) != exit_ok)
            return exit_failed;
        if (kith_bodies_read(loading->paths[s], &read, &loading->each[s]) != KITH_OK)
            return cli_fail(loading->command);
        if (input->gravitational_constant != 0) /* in place of those of the files */
            loading->each[s]->units.gravitational_constant = input->gravitational_constant;
        if (check_like_first(loading, s) != exit_ok ||
            load_check_open(loading->command, input, loading->paths[s], loading->each[s]) !=
                exit_ok)
            return exit_failed;
    }
    return exit_ok;
}

static int make_systems(struct loading *loading)
{
    kith_initial_options initial = loading->input->initial;
    for (int64_t s = 0; s < loading->systems; s++, initial.seed++)
        if (kith_initial_make(loading->input->path, &initial, &loading->each[s]) != KITH_OK)
            return cli_fail(loading->command);
    return exit_ok;
}

static int check_input(const struct loading *loading, bool directory, int64_t systems)
{
    const struct input_options *input = loading->input;
    if (!directory && !load_is_kind(input->path))
        return cli_fail_with(loading->command,
                             "%s is neither a kind of kith make nor a directory of files; "
                             "--ensemble needs one of them",
                             input->path);
    if (directory && (input->seed_given || input->initial.count_given))
        return cli_fail_with(loading->command, "%s is a directory; leave out --number and --seed",
                             input->path);
    if (!directory && input->system_given)
        return cli_fail_with(loading->command, "%s is a kind of kith make; leave --system out",
                             input->path);
    if (directory && systems >= 0 && systems != loading->systems)
        return cli_fail_with(loading->command,
                             "%s has %lld files, and --ensemble is %lld; give that number or leave "
                             "--ensemble out",
                             input->path, (long long)loading->systems, (long long)systems);
    return exit_ok;
}

static int load_each(struct loading *loading, bool directory, int64_t systems, const char *output)
{
    if (directory && list_files(loading) != exit_ok)
        return exit_failed;
    if (!directory)
        loading->systems = systems;
    if (check_input(loading, directory, systems) != exit_ok)
        return exit_failed;
    loading->each = allocate(loading, loading->systems, sizeof(kith_bodies *));
    if (!loading->each)
        return exit_failed;
    return directory ? read_files(loading, output) : make_systems(loading);
}

int load_ensemble(const char *command, const struct input_options *input, int64_t systems,
                  const char *output, bool quiet, struct ensemble_input *ensemble)
{
    struct loading loading = {.command = command, .input = input};
    *ensemble = (struct ensemble_input){0};
    int code = load_each(&loading, load_is_directory(input->path), systems, output);
    if (code == exit_ok &&
        kith_ensemble_join(loading.systems, (const kith_bodies *const *)loading.each,
                           &ensemble->bodies) != KITH_OK)
        code = cli_fail(command);
    for (int64_t s = 0; loading.each && s < loading.systems; s++)
        kith_bodies_free(loading.each[s]);
    free(loading.each);
    ensemble->systems = loading.systems;
    ensemble->paths = loading.paths;
    if (code != exit_ok)
        return code;
    return load_check_columns(command, input, input->path, quiet, ensemble->bodies);
}

void ensemble_input_free(struct ensemble_input *ensemble)
{
    kith_bodies_free(ensemble->bodies);
    for (int64_t s = 0; ensemble->paths && s < ensemble->systems; s++)
        free(ensemble->paths[s]);
    free(ensemble->paths);
}
