#include "program.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { max_arguments = 64, max_command = 8192 };

static char folder[] = "/tmp/kith-test-XXXXXX";
static bool folder_made;

static void remove_folder(void)
{
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    if (system(command) != 0)
        fprintf(stderr, "%s could not be removed\n", folder);
}

const char *program_folder(void)
{
    if (!folder_made) {
        if (!mkdtemp(folder)) {
            perror(folder);
            abort();
        }
        folder_made = true;
        atexit(remove_folder);
    }
    return folder;
}

const char *program_file(const char *name)
{
    static char paths[16][256];
    static int next;
    char *path = paths[next++ % 16];
    snprintf(path, sizeof paths[0], "%s/%s", program_folder(), name);
    return path;
}

void program_write(const char *name, const char *text)
{
    FILE *file = fopen(program_file(name), "w");
    if (!file) {
        perror(name);
        abort();
    }
    fputs(text, file);
    fclose(file);
}

char *program_read(const char *name)
{
    FILE *file = fopen(program_file(name), "r");
    if (!file)
        return NULL;
    char *text = NULL;
    size_t room = 0;
    if (getdelim(&text, &room, EOF, file) < 0 && text)
        text[0] = 0;
    fclose(file);
    return text;
}

bool program_exists(const char *name)
{
    return access(program_file(name), F_OK) == 0;
}

static pid_t spawn(char *command, const char *out, const char *err)
{
    char *arguments[max_arguments] = {getenv("KITH_PROGRAM")};
    int count = 1;
    for (char *rest = NULL, *word = strtok_r(command, " ", &rest);
         word && count < max_arguments - 1; word = strtok_r(NULL, " ", &rest))
        arguments[count++] = word;
    if (!arguments[0]) {
        fprintf(stderr, "KITH_PROGRAM is not set: run the tests through ctest\n");
        abort();
    }

    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, out, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_addopen(&actions, 2, err, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    pid_t process = 0;
    const int failed = posix_spawn(&process, arguments[0], &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed) {
        fprintf(stderr, "%s: %s\n", arguments[0], strerror(failed));
        abort();
    }
    return process;
}

/* "@name" in a command stands for the file of that name in the temporary folder. */
__attribute__((format(printf, 1, 0))) static void expand(const char *format, va_list values,
                                                         char *command)
{
    char given[max_command];
    vsnprintf(given, sizeof given, format, values);
    size_t used = 0;
    for (const char *at = given; *at && used < max_command - 64; at++)
        if (*at == '@')
            used += (size_t)snprintf(command + used, max_command - used, "%s/", program_folder());
        else
            command[used++] = *at;
    command[used] = 0;
}

static void read_into(char *text, size_t room, const char *name)
{
    FILE *file = fopen(program_file(name), "r");
    const size_t length = file ? fread(text, 1, room - 1, file) : 0;
    text[length] = 0;
    if (file)
        fclose(file);
}

struct program_result *program_run(const char *format, ...)
{
    static struct program_result result;
    char command[max_command];
    va_list values;
    va_start(values, format);
    expand(format, values, command);
    va_end(values);

    const pid_t process = spawn(command, program_file(".out"), program_file(".err"));
    int status = 0;
    while (waitpid(process, &status, 0) < 0 && errno == EINTR)
        continue;
    result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    read_into(result.out, sizeof result.out, ".out");
    read_into(result.err, sizeof result.err, ".err");
    return &result;
}

int program_start(const char *format, ...)
{
    char command[max_command];
    va_list values;
    va_start(values, format);
    expand(format, values, command);
    va_end(values);
    return spawn(command, "/dev/null", "/dev/null");
}

double program_json_number(const char *json, const char *key)
{
    char quoted[128];
    snprintf(quoted, sizeof quoted, "\"%s\":", key);
    const char *at = strstr(json, quoted);
    if (!at)
        return NAN;
    char *end = NULL;
    const double value = strtod(at + strlen(quoted), &end);
    return end == at + strlen(quoted) ? NAN : value;
}
