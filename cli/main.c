/* kith: the program. Finds the command and hands over. */

#include "cli.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device_choice.h"
#include "help.h"
#include "job.h"
#include "json.h"
#include "progress.h"
#include "streams.h"

static bool output_is_checked;

/* Help and versions end the program where they are printed. */
static void check_output(void)
{
    if (output_is_checked || (fflush(stdout) == 0 && !ferror(stdout)))
        return;
    cli_fail_stdout("kith");
    _exit(exit_failed);
}

/* Replaces a stream that the caller has closed, which the next file would take, by an unusable
 * one. */
static void open_closed_streams(void)
{
    for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; descriptor++)
        if (fcntl(descriptor, F_GETFD) < 0)
            (void)!open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

/* Copies of a command that are independent of each other would write the same files. These divide
 * their work over the ranks of a job. */
static int run_once(const char *name, const struct command *command, int argc, char **argv)
{
    const struct launcher launcher = launcher_find();
    const bool is_divided =
        command->run == command_run || command->run == command_forces ||
        (command->run == command_bench && argc > 1 && strcmp(argv[1], "ranks") == 0);
    int code = exit_ok;
    if (launcher_has_several(&launcher))
        code = is_divided
                   ? job_begin(name, &launcher)
                   : launcher_refuse(name, &launcher,
                                     "MPI does not divide the work of this command; start it "
                                     "once, without mpirun or srun");
    return code == exit_ok ? command->run(argc, argv) : code;
}

static int run_command(const struct command *command, int argc, char **argv)
{
    char name[64];
    snprintf(name, sizeof name, "kith %s", command->name);
    argv[0] = name;
    argp_program_version = "kith";
    json_begin();
    const int code = run_once(name, command, argc, argv);
    output_is_checked = true;
    /* A full disk shows when the last words leave the buffer. */
    if (code == exit_ok && (fflush(stdout) != 0 || ferror(stdout)))
        return cli_fail_stdout(name);
    if (code == exit_ok)
        cli_print_choice();
    return code;
}

static void print_version(FILE *stream, struct argp_state *state)
{
    (void)state;
    fprintf(stream, "kith %s\n", kith_version());
}

int main(int argc, char **argv)
{
    open_closed_streams();
    atexit(check_output);
    progress_heed_hangup();
    argp_program_version_hook = print_version;
    if (argc < 2) {
        help_print(stderr);
        return exit_usage;
    }
    const char *word = argv[1];
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "-?") == 0) {
        help_print(stdout);
        return exit_ok;
    }
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
        print_version(stdout, NULL);
        return exit_ok;
    }
    const struct command *command = command_named(program_commands, word);
    return command ? run_command(command, argc - 1, argv + 1)
                   : command_fail_unknown("kith", program_commands, "command", word);
}
