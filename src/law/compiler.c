#include "law/compiler.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Splits text into words; $CC may carry options, as in "gcc -m64". */
static void split(struct compiler *compiler)
{
    char *rest = NULL;
    compiler->count = 0;
    for (char *word = strtok_r(compiler->text, " \t", &rest);
         word && compiler->count < compiler_most_words; word = strtok_r(NULL, " \t", &rest))
        compiler->word[compiler->count++] = word;
}

/* Whether a program can be run, by its path or somewhere on the PATH. */
static int is_program(const char *name)
{
    const char *path = getenv("PATH");
    if (strchr(name, '/') || !path)
        return access(name, X_OK) == 0;
    char candidate[4096];
    for (const char *at = path; *at;) {
        const size_t length = strcspn(at, ":");
        const int written = snprintf(candidate, sizeof candidate, "%.*s/%s", (int)length, at, name);
        if (length > 0 && written < (int)sizeof candidate && access(candidate, X_OK) == 0)
            return 1;
        at += length + (at[length] == ':');
    }
    return 0;
}

kith_status compiler_find(struct compiler *compiler)
{
    static const char *const usual[] = {"cc", "gcc", "clang"};
    const char *wanted = getenv("CC");
    if (wanted && strlen(wanted) < compiler_bytes) {
        snprintf(compiler->text, sizeof compiler->text, "%s", wanted);
        split(compiler);
        if (compiler->count > 0 && is_program(compiler->word[0]))
            return KITH_OK;
        if (compiler->count > 0)
            return kith_fail(
                KITH_UNSUPPORTED,
                "CC is '%.200s', which is not an executable program; unset it or name a C "
                "compiler",
                wanted);
    }
    for (size_t k = 0; k < sizeof usual / sizeof usual[0]; k++) {
        if (!is_program(usual[k]))
            continue;
        snprintf(compiler->text, sizeof compiler->text, "%s", usual[k]);
        split(compiler);
        return KITH_OK;
    }
    return kith_fail(
        KITH_UNSUPPORTED,
        "a formula is compiled when it is used, but no C compiler (cc, gcc or clang) "
        "was found on the PATH; install one, name one in CC, or use a built-in law or the "
        "method reference");
}

/* The first line of the compiler's messages that names an error. */
static void first_error(const char *messages, char *line, size_t bytes)
{
    FILE *file = fopen(messages, "r");
    snprintf(line, bytes, "it says nothing");
    char read[512];
    while (file && fgets(read, sizeof read, file)) {
        const char *error = strstr(read, "error");
        if (!error)
            continue;
        snprintf(line, bytes, "%s", error);
        line[strcspn(line, "\n")] = 0;
        break;
    }
    if (file)
        fclose(file);
}

static int spawn(char *const *argv, const char *messages, pid_t *child)
{
    posix_spawn_file_actions_t actions;
    if (posix_spawn_file_actions_init(&actions) != 0)
        return ENOMEM;
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, messages, O_WRONLY | O_CREAT | O_EXCL,
                                     0600);
    posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
    const int error = posix_spawnp(child, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

kith_status compiler_run(const struct compiler *compiler, const char *const *options,
                         const char *messages)
{
    enum { most = 64 };
    char *argv[most + 1];
    int count = 0;
    for (; count < compiler->count; count++)
        argv[count] = compiler->word[count];
    if (count == 0)
        return kith_fail(KITH_INTERNAL_ERROR, "no compiler was found before it was started");
    for (; *options && count < most; options++)
        memcpy(&argv[count++], options, sizeof *options); /* spawn writes to none of them */
    argv[count] = NULL;

    pid_t child = 0;
    const int error = spawn(argv, messages, &child);
    if (error)
        return kith_fail(KITH_UNSUPPORTED, "the C compiler %s cannot be started: %s", argv[0],
                         strerror(error));
    int result = 0;
    while (waitpid(child, &result, 0) < 0)
        if (errno != EINTR)
            return KITH_OK; /* another thread has waited for it: the output shows whether it
                               succeeded */
    if (WIFEXITED(result) && WEXITSTATUS(result) == 0)
        return KITH_OK;
    char line[400];
    first_error(messages, line, sizeof line);
    return kith_fail(KITH_INTERNAL_ERROR,
                     "the C compiler %s refuses the code of a formula: %s; name another one in CC",
                     argv[0], line);
}
