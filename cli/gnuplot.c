/* Running gnuplot, and writing text that it takes as text. */

#include "gnuplot.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child.h"
#include "cli.h"

/* Starts a program with three files as its standard streams; 0, or why that failed.
 *
 * Files, not pipes: neither side can block the other or be killed by SIGPIPE. The input is named as
 * an argument too, where /dev has it: gnuplot reads its standard input a byte at a time. */
static int spawn(const char *program, FILE *input, FILE *output, FILE *errors, pid_t *child)
{
    FILE *const streams[3] = {input, output, errors};
    char name[] = "gnuplot", no_settings[] = "--default-settings", from[] = "/dev/stdin";
    char *const arguments[] = {name, no_settings, access(from, R_OK) == 0 ? from : NULL, NULL};
    posix_spawn_file_actions_t actions;
    int reason = posix_spawn_file_actions_init(&actions);
    if (reason != 0)
        return reason;
    for (int k = 0; k < 3 && reason == 0; k++)
        reason = posix_spawn_file_actions_adddup2(&actions, fileno(streams[k]), k);
    if (reason == 0)
        reason = posix_spawnp(child, program, &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    return reason;
}

static void fail_to_start(const char *command, const char *program, int reason)
{
    if (reason == ENOENT)
        cli_fail_with(
            command,
            "gnuplot is not installed: program '%s' was not found; install it (apt install "
            "gnuplot-nox) or name one in KITH_GNUPLOT",
            program);
    else
        cli_fail_with(command, "cannot start '%s': %s; install gnuplot (apt install gnuplot-nox)",
                      program, strerror(reason));
}

bool gnuplot_run(const char *command, FILE *script, FILE *picture)
{
    const char *named = getenv("KITH_GNUPLOT");
    const char *program = named && *named ? named : "gnuplot";
    FILE *errors = tmpfile();
    if (!errors || fflush(script) != 0 || ferror(script)) {
        cli_fail_with(command, "cannot write a temporary file: %s", strerror(errno));
        if (errors)
            fclose(errors);
        return false;
    }
    rewind(script);
    pid_t child = 0;
    const int reason = spawn(program, script, picture, errors, &child);
    bool done = false;
    if (reason != 0)
        fail_to_start(command, program, reason);
    else if (!child_wait(child))
        child_fail_with_last_line(command, program, errors);
    else
        done = true;
    fclose(errors);
    return done;
}

/* Bytes of the UTF-8 character at text, or 0 if the bytes are not one (RFC 3629). */
static int utf8_bytes(const unsigned char *text)
{
    static const unsigned smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    if (text[0] < 0x80)
        return 1;
    const int bytes = text[0] >= 0xf0 ? 4 : text[0] >= 0xe0 ? 3 : 2;
    if (text[0] < 0xc2 || text[0] > 0xf4)
        return 0;
    unsigned character = text[0] & (0x7fu >> bytes);
    for (int k = 1; k < bytes; k++) {
        if ((text[k] & 0xc0) != 0x80)
            return 0;
        character = character << 6 | (text[k] & 0x3fu);
    }
    const bool surrogate = character >= 0xd800 && character <= 0xdfff;
    return character < smallest[bytes] || character > 0x10ffff || surrogate ? 0 : bytes;
}

static bool is_plain(unsigned char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || strchr(" .,:+-/=()", byte);
}

/* The characters of a text, each with a prefix if it is one of the marked. */
static void write_characters(FILE *script, const char *text, const char *marked, const char *prefix)
{
    const unsigned char *byte = (const unsigned char *)text;
    while (*byte) {
        const int bytes = utf8_bytes(byte);
        if (strchr(marked, *byte))
            fputs(prefix, script);
        if (bytes == 0)
            fputc('?', script);
        else if (*byte < 0x20 || *byte == 0x7f)
            fputc(' ', script);
        else if (is_plain(*byte))
            fputc(*byte, script);
        else
            for (int k = 0; k < bytes; k++)
                fprintf(script, "\\%03o", byte[k]);
        byte += bytes ? bytes : 1;
    }
}

void gnuplot_write_text(FILE *script, const char *text)
{
    fputc('"', script);
    write_characters(script, text, "", "");
    fputc('"', script);
}

void gnuplot_write_in_enhanced(FILE *script, const char *text)
{
    write_characters(script, text, "^_{}@&~\\", "\\134");
}
