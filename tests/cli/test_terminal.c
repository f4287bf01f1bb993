/* The program on a terminal: the bar of a run's progress, and the help. */

#include "testing.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "program.h"

/* A terminal of the test's own: what is written to its name is read from the number returned. */
static int open_terminal(const char **name)
{
    const int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    assert_true(terminal >= 0 && grantpt(terminal) == 0 && unlockpt(terminal) == 0);
    *name = ptsname(terminal);
    assert_non_null(*name);
    return terminal;
}

/* Reads what is there, and waits for at most a tenth of a second. */
static size_t read_some(int terminal, char *text, size_t room)
{
    struct pollfd ready = {.fd = terminal, .events = POLLIN};
    if (poll(&ready, 1, 100) <= 0)
        return 0;
    const ssize_t got = read(terminal, text, room);
    return got > 0 ? (size_t)got : 0;
}

/* What a command of the shell writes to the stream on a terminal of this kind. It is read while the
 * command runs: a terminal keeps a few kilobytes, and the command waits where they are full. */
static const char *on_terminal(const char *kind, const char *command, int stream)
{
    static char text[1 << 16];
    char script[1024];
    const char *name = NULL;
    const int terminal = open_terminal(&name), other = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
    assert_true(other >= 0); /* or all is lost when the program closes its end */
    snprintf(script, sizeof script, "cd '%s' && TERM=%s \"$KITH_PROGRAM\" %s %d>%s",
             program_folder(), kind, command, stream, name);
    const pid_t shell = fork();
    assert_true(shell >= 0);
    if (shell == 0)
        _exit(system(script) == 0 ? 0 : 1);
    size_t length = 0;
    int status = 0;
    for (bool has_ended = false; !has_ended;) {
        has_ended = waitpid(shell, &status, WNOHANG) == shell;
        for (size_t got = 1; got > 0; length += got)
            got = read_some(terminal, text + length, sizeof text - 1 - length);
    }
    if (status != 0)
        fail_msg("'%s' failed", script);
    text[length] = 0;
    close(other);
    close(terminal);
    return text;
}

static void assert_shows(const char *text, const char *words, bool wanted)
{
    if ((strstr(text, words) != NULL) != wanted)
        fail_msg("'%s' is %s: %s", words, wanted ? "not shown" : "shown", text);
}

static const char steps[] = "run six --dt 1e-4 --until 1 --threads 1 >out.txt";

static void test_a_run_shows_its_progress_on_a_terminal(void **state)
{
    (void)state;
    const char *text = on_terminal("xterm", steps, 2);
    assert_shows(text, "% [", true);
    assert_shows(text, " of 10000 steps", true);
    assert_shows(text, " left", true);
    const char *last = strrchr(text, '\r');
    assert_non_null(last);
    assert_string_equal(last, "\r\033[K"); /* the bar goes when the run is over */
}

static void test_a_quiet_run_or_a_dumb_terminal_shows_none(void **state)
{
    (void)state;
    char quiet[128];
    snprintf(quiet, sizeof quiet, "%s -q", steps);
    assert_string_equal(on_terminal("xterm", quiet, 2), "");
    assert_shows(on_terminal("dumb", steps, 2), "\033", false);
    assert_shows(on_terminal("''", steps, 2), "\033", false);
}

static void test_help_on_a_terminal_has_all_its_words(void **state)
{
    (void)state;
    assert_shows(on_terminal("xterm", "run --help", 1), "--integrator", true);
    assert_shows(on_terminal("dumb", "--help", 1), "collisions", true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_run_shows_its_progress_on_a_terminal),
        cmocka_unit_test(test_a_quiet_run_or_a_dumb_terminal_shows_none),
        cmocka_unit_test(test_help_on_a_terminal_has_all_its_words),
    };
    return cmocka_run_group_tests_name("terminal", tests, NULL, NULL);
}
