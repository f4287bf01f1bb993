/* A conversation with a Python process, a line each way: bench/conversation.py lists the requests.
 */

#include "bench_peers.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"

struct peers {
    const char *command, *python;
    bool quiet;
    pid_t child;
    int socket;
    FILE *answers;
    char answer[512];
    char versions[4][32];
    int version_count;
};

/* Runs the second of two texts as a script, with the first as the module that it imports. */
static const char beginning[] = "import sys, types\n"
                                "conversation = types.ModuleType('conversation')\n"
                                "exec(sys.argv[1], conversation.__dict__)\n"
                                "sys.modules['conversation'] = conversation\n"
                                "exec(sys.argv[2], {'__name__': '__main__'})\n";

/* One socket is both streams of the child: unlike a pipe, it can be told not to raise SIGPIPE. */
static int spawn(char *const arguments[], int socket, pid_t *child)
{
    posix_spawn_file_actions_t actions;
    int reason = posix_spawn_file_actions_init(&actions);
    if (reason != 0)
        return reason;
    for (int stream = 0; stream < 2 && reason == 0; stream++)
        reason = posix_spawn_file_actions_adddup2(&actions, socket, stream);
    if (reason == 0)
        reason = posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    if (reason == 0)
        reason = posix_spawnp(child, arguments[0], &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    return reason;
}

static int run_script(const char *python, const char *script, int socket, pid_t *child)
{
    const char *const words[] = {python, "-u", "-c", beginning, bench_conversation, script};
    enum { count = sizeof words / sizeof words[0] };
    char *arguments[count + 1] = {NULL};
    int reason = 0;
    for (int k = 0; k < count; k++) {
        arguments[k] = strdup(words[k]);
        reason = arguments[k] ? reason : ENOMEM;
    }
    if (reason == 0)
        reason = spawn(arguments, socket, child);
    for (int k = 0; k < count; k++)
        free(arguments[k]);
    return reason;
}

static struct peers *fail_to_start(struct peers *peers, const char *command, const char *python,
                                   int reason)
{
    cli_fail_with(command, "cannot start '%s': %s; name a Python with --python or KITH_PYTHON",
                  python, strerror(reason));
    peers_end(peers);
    return NULL;
}

struct peers *peers_start(const char *command, const char *python, const char *script, bool quiet)
{
    struct peers *peers = calloc(1, sizeof *peers);
    int ends[2];
    if (!peers || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return fail_to_start(peers, command, python, errno);
    *peers =
        (struct peers){.command = command, .python = python, .quiet = quiet, .socket = ends[0]};
    peers->answers = fdopen(ends[0], "r");
    int reason = peers->answers ? run_script(python, script, ends[1], &peers->child) : errno;
    close(ends[1]);
    return reason == 0 ? peers : fail_to_start(peers, command, python, reason);
}

void peers_end(struct peers *peers)
{
    if (!peers)
        return;
    if (peers->answers)
        fclose(peers->answers); /* the end of its input ends the child */
    while (peers->child > 0 && waitpid(peers->child, NULL, 0) < 0 && errno == EINTR)
        continue;
    free(peers);
}

/* A child that is gone shows when its answer is read. */
static void send_text(const struct peers *peers, const char *text, size_t bytes)
{
    while (bytes > 0) {
        const ssize_t sent = send(peers->socket, text, bytes, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0)
            return;
        text += sent;
        bytes -= (size_t)sent;
    }
}

static void ask(const struct peers *peers, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void ask(const struct peers *peers, const char *format, ...)
{
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    send_text(peers, line, strlen(line));
}

/* The answer's words after this one; NULL if it is another, or none. */
static const char *answer_after(struct peers *peers, const char *word)
{
    if (!fgets(peers->answer, sizeof peers->answer, peers->answers))
        strcpy(peers->answer, "error it ended without an answer");
    peers->answer[strcspn(peers->answer, "\n")] = 0;
    const size_t length = strlen(word);
    return strncmp(peers->answer, word, length) == 0 ? peers->answer + length : NULL;
}

static const char *complaint(const struct peers *peers)
{
    const bool told = strncmp(peers->answer, "error ", 6) == 0;
    return told ? peers->answer + 6 : peers->answer;
}

const char *peers_version(struct peers *peers, const char *name)
{
    ask(peers, "peer %s\n", name);
    const char *version = answer_after(peers, "version ");
    if (version) {
        char *kept = peers->versions[peers->version_count++];
        snprintf(kept, sizeof peers->versions[0], "%s", version);
        return kept;
    }
    if (strcmp(peers->answer, "missing") == 0)
        cli_note(peers->quiet, peers->command,
                 "%s is not installed; get it with: %s -m pip install %s", name, peers->python,
                 name);
    else
        cli_note(peers->quiet, peers->command, "%s is left out: %s says: %s", name, peers->python,
                 complaint(peers));
    return NULL;
}

/* The request with all bodies, on the heap. */
static char *bodies_text(const kith_bodies *bodies, double softening, double dt, size_t *bytes)
{
    char *text = NULL;
    FILE *stream = open_memstream(&text, bytes);
    if (!stream)
        return NULL;
    fprintf(stream, "bodies %" PRId64 " %.17g %.17g\n", bodies->count, softening, dt);
    for (int64_t i = 0; i < bodies->count; i++) {
        fprintf(stream, "%.17g", bodies->mass ? bodies->mass[i] : 1);
        for (int k = 0; k < 3; k++)
            fprintf(stream, " %.17g", bodies->position[3 * i + k]);
        for (int k = 0; k < 3; k++)
            fprintf(stream, " %.17g", bodies->velocity ? bodies->velocity[3 * i + k] : 0);
        fputc('\n', stream);
    }
    fclose(stream);
    return text;
}

bool peers_use(struct peers *peers, const kith_bodies *bodies, double softening, double dt)
{
    size_t bytes = 0;
    char *text = bodies_text(bodies, softening, dt, &bytes);
    if (!text) {
        cli_fail_with(peers->command, "no memory for %lld bodies", (long long)bodies->count);
        return false;
    }
    send_text(peers, text, bytes);
    free(text);
    if (answer_after(peers, "ok"))
        return true;
    cli_fail_with(peers->command, "%s does not take the bodies: %s", peers->python,
                  complaint(peers));
    return false;
}

static bool use_file(struct peers *peers, const char *request, const char *path)
{
    ask(peers, "%s %s\n", request, path);
    if (answer_after(peers, "ok"))
        return true;
    cli_fail_with(peers->command, "%s does not take the %s: %s", peers->python, request,
                  complaint(peers));
    return false;
}

bool peers_use_matrix(struct peers *peers, const char *path)
{
    return use_file(peers, "matrix", path);
}

bool peers_use_points(struct peers *peers, const char *path)
{
    return use_file(peers, "system", path);
}

double peers_seconds(struct peers *peers, const char *name, int32_t threads, int64_t calls)
{
    ask(peers, "time %s %d %" PRId64 "\n", name, (int)threads, calls);
    const char *text = answer_after(peers, "seconds ");
    char *end = NULL;
    const double seconds = text ? strtod(text, &end) : -1;
    if (text && end != text && seconds >= 0)
        return seconds;
    cli_fail_with(peers->command, "%s cannot time %s: %s", peers->python, name, complaint(peers));
    return -1;
}

double peers_work(const struct peers *peers)
{
    clockid_t clock = 0;
    struct timespec worked = {0};
    if (peers && clock_getcpuclockid(peers->child, &clock) == 0)
        clock_gettime(clock, &worked);
    return (double)worked.tv_sec + 1e-9 * (double)worked.tv_nsec;
}
