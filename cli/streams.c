/* "-" among the files of a command: standard input and standard output. */

#include "streams.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/format.h"
#include "names.h"

static const char stdin_path[] = "/dev/stdin", stdout_path[] = "/dev/stdout";

/* Whether the paths that read standard input read it from its beginning, again and again. */
static bool is_readable_again(void)
{
    struct stat found;
    return fstat(STDIN_FILENO, &found) == 0 && S_ISREG(found.st_mode) &&
           lseek(STDIN_FILENO, 0, SEEK_CUR) == 0;
}

/* 0, or errno. */
static int copy_to(FILE *file)
{
    char bytes[1 << 16];
    for (;;) {
        const ssize_t got = read(STDIN_FILENO, bytes, sizeof bytes);
        if (got == 0)
            return fflush(file) == 0 ? 0 : errno;
        if (got < 0 && errno != EINTR)
            return errno;
        if (got > 0 && fwrite(bytes, 1, (size_t)got, file) != (size_t)got)
            return errno;
    }
}

/* main replaces closed streams by unusable ones. */
static const char *reason_of(int error)
{
    return error == EBADF ? "it is closed" : strerror(error);
}

int cli_fail_stdout(const char *command)
{
    return cli_fail_with(command, "standard output cannot be written: %s", reason_of(errno));
}

/* Replaces standard input by a temporary file with its content. */
static int keep_input(const char *command)
{
    const bool is_open = fcntl(STDIN_FILENO, F_GETFD) >= 0;
    FILE *file = is_open ? tmpfile() : NULL;
    int error = file ? copy_to(file) : errno;
    if (!error && dup2(fileno(file), STDIN_FILENO) < 0)
        error = errno;
    if (file)
        fclose(file);
    return error ? cli_fail_with(command, "standard input cannot be read: %s", reason_of(error))
                 : exit_ok;
}

static bool is_whole_number(const char *line)
{
    const size_t blanks = strspn(line, " \t"), digits = strspn(line + blanks, "0123456789");
    const char *behind = line + blanks + digits;
    behind += strspn(behind, " \t\r");
    return digits > 0 && (*behind == '\n' || !*behind);
}

/* The format of what begins so; CSV if nothing else. */
static const char *format_of_content(const char *bytes, size_t count)
{
    if (count >= 6 && memcmp(bytes, "\x93NUMPY", 6) == 0)
        return "npy";
    if (count >= 4 && memcmp(bytes, "\x89HDF", 4) == 0)
        return "hdf5";
    if (memchr(bytes, 0, count)) /* no text: the header of Tipsy has small integers */
        return "tipsy";
    return is_whole_number(bytes) ? "xyz" : "csv";
}

static const char *look_at_input(void)
{
    char bytes[512] = {0};
    const ssize_t got = pread(STDIN_FILENO, bytes, sizeof bytes - 1, 0);
    return format_of_content(bytes, got > 0 ? (size_t)got : 0);
}

static bool is_stdin(const char *path)
{
    return strcmp(path, "-") == 0 || strcmp(path, stdin_path) == 0;
}

static bool is_read(const char *input, const char *format, const char *file)
{
    struct stat found;
    return stat(file, &found) == 0 && bodies_are_read_from(input, format, &found);
}

int cli_check_output(const char *command, const char *input, const char *format, const char *output)
{
    if (output && is_read(input, format, cli_output_path(output)))
        return cli_fail_with(command, "%s is both the input and the output; write to another file",
                             output);
    if (is_read(input, format, stdout_path))
        return cli_fail_with(
            command, "standard output is the input, %s; redirect it to another file", input);
    return exit_ok;
}

static int take(const char *command, const char **path)
{
    static bool is_taken;
    if (!is_stdin(*path))
        return exit_ok;
    if (is_taken) {
        cli_fail_with(command,
                      "two inputs are '-', but standard input can be read only once; give a file");
        return exit_usage;
    }
    is_taken = true;
    *path = stdin_path;
    return is_readable_again() ? exit_ok : keep_input(command);
}

int cli_take_plain_input(const char *command, const char **path, const char *output)
{
    const int code = take(command, path);
    return code == exit_ok ? cli_check_output(command, *path, NULL, output) : code;
}

/* The format of standard input, by its content. */
static int take_format(const char *command, const char **format)
{
    const char *seen = look_at_input();
    if (strcmp(seen, "hdf5") == 0)
        return cli_fail_with(command, "standard input is HDF5, which cannot be streamed; give the "
                                      "file by its name");
    if (!*format)
        *format = seen;
    return exit_ok;
}

int cli_take_input(const char *command, const char **path, const char **format, const char *output)
{
    const bool streams = is_stdin(*path);
    int code = take(command, path);
    if (code == exit_ok && streams)
        code = take_format(command, format);
    return code == exit_ok ? cli_check_output(command, *path, *format, output) : code;
}

const char *cli_output_path(const char *path)
{
    return strcmp(path, "-") == 0 ? stdout_path : path;
}

bool cli_is_stdout(const char *path)
{
    return path && strcmp(cli_output_path(path), stdout_path) == 0;
}

const char *cli_output_format(const char *path, const char *given)
{
    if (given)
        return given;
    const char *slash = strrchr(path, '/');
    if (strchr(slash ? slash : path, '.'))
        return NULL;
    struct stat found;
    const bool plain =
        strcmp(path, stdout_path) != 0 && (stat(path, &found) != 0 || S_ISREG(found.st_mode));
    return plain ? NULL : "csv";
}

const struct choices choices_of_tables = {"FORMAT", {"csv", "npy"}, NULL};
const struct choices choices_of_records = {"FORMAT", {"csv", "npy", "h5"}, NULL};

unsigned cli_note_dropped(bool quiet, const char *command, const char *path,
                          const kith_write_options *write, const kith_bodies *bodies)
{
    static const char *const names[] = {
        "velocities", "masses",  "charges",  "softening lengths",
        "ids",        "names",   "the cell", "the units and the gravitational constant",
        "radii",      "epsilon", "sigma"};
    unsigned dropped = 0;
    if (kith_format_drops(bodies, path, write, &dropped) != KITH_OK)
        return 0;
    for (unsigned k = 0; k < sizeof names / sizeof names[0]; k++)
        if (dropped & (1u << k))
            cli_note(quiet, command, "%s cannot store %s; left out", path, names[k]);
    return dropped;
}

void cli_check_stdout(const char *option, const char *output, const struct common_options *common,
                      const struct argp_state *state)
{
    if (common->json && cli_is_stdout(output))
        cli_usage_error(state, "%s and --json both want standard output; give %s a file", option,
                        option);
}

void cli_check_npy(const char *option, const char *output, const struct argp_state *state)
{
    const char *slash = output ? strrchr(output, '/') : NULL;
    const char *dot = output ? strrchr(slash ? slash : output, '.') : NULL;
    if (dot && strcasecmp(dot, ".npy") != 0)
        cli_usage_error(state, "%s is '%s', but the result is an NPY file; name it .npy", option,
                        output);
}

const char extensions_of_tables[] = "csv txt dat npy",
           extensions_of_records[] = "csv txt dat npy h5 hdf5";

const char *extensions_of_bodies(void)
{
    static char words[256];
    int64_t count = 0;
    const kith_format *formats = kith_format_list(&count);
    words[0] = 0;
    for (int64_t k = 0; k < count; k++) {
        const size_t used = strlen(words);
        snprintf(words + used, sizeof words - used, "%s%s", k ? " " : "", formats[k].extensions);
    }
    return words;
}

/* Whether it is one of the words; their list, as ".csv, .npy or .h5", is appended to the text. */
static bool list_extensions(const char *words, const char *wanted, char *text, size_t bytes)
{
    bool found = false;
    for (bool first = true; *words; first = false) {
        const size_t length = strcspn(words, " "), used = strlen(text);
        const bool last = !words[length];
        found = found ||
                (wanted && length == strlen(wanted) && strncasecmp(words, wanted, length) == 0);
        snprintf(text + used, bytes - used, "%s.%.*s",
                 first  ? ""
                 : last ? " or "
                        : ", ",
                 (int)length, words);
        words += length + !last;
    }
    return found;
}

void cli_check_extension(const char *option, const char *output, const char *to,
                         const char *extensions, const struct argp_state *state)
{
    if (!output || cli_is_stdout(output) || cli_output_format(output, to))
        return;
    const char *slash = strrchr(output, '/'), *dot = strrchr(slash ? slash : output, '.');
    char list[256] = "";
    if (!list_extensions(extensions, dot ? dot + 1 : NULL, list, sizeof list))
        cli_usage_error(state, "%s is '%s'; give a name that ends in %s", option, output, list);
}
