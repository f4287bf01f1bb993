/* kith view: a run in a browser. */

#include "view.h"

#include <signal.h>
#include <string.h>

#include "options.h"

struct view_command {
    const char *path;
    kith_view_options options;
    int64_t system;
    bool system_given;
};

static const char documentation[] =
    "Show the run in the H5MD file RUN in a browser, at a printed address on this machine; "
    "Ctrl-C ends it.\v"
    "Examples:\n"
    "  kith run six --dt 0.001 --until 20 --every 20 -o run.h5\n"
    "  kith view run.h5\n"
    "  kith view run.h5 --port 8000\n\n"
    "The page needs a browser with WebGL 2. It plays the frames; Space pauses, arrows and the "
    "mouse "
    "rotate the view, H shows all keys. On a terminal with a display the browser opens.\n"
    "The address has a random token, and only this machine reaches it. From another machine: "
    "ssh -L 8000:127.0.0.1:8000 HOST, with --port 8000.";

int32_t view_parse_port(const char *option, const char *text, const struct argp_state *state)
{
    return (int32_t)cli_parse_range(option, text, 0, 65535, state);
}

static void set_port(void *options, const char *option, const char *text,
                     const struct argp_state *state)
{
    ((struct view_command *)options)->options.port = view_parse_port(option, text, state);
}

static void check(void *options, const struct argp_state *state)
{
    if (!((const struct view_command *)options)->path)
        cli_usage_error(state, "RUN is missing: the H5MD file to show");
}

#define AT(member) OPTION_AT(struct view_command, member)
static const struct option_row option_rows[] = {
    {NULL, "RUN", NULL, AT(path)},
    {"port", "PORT", "of the address (default: 0, any free port)", .set = set_port},
    {"system", "K", "of an ensemble, counted from 0 (default: all, together)", AT(system),
     OPTION_GIVEN(struct view_command, system_given)},
    {0}};

static const struct parser parser = {option_rows, NULL, check, "RUN", documentation, NULL};

/* Prints the address of a view, and shows it in a browser on a terminal with a display. */
static void announce(const char *command, const kith_view *view)
{
    fprintf(stderr, "%s: view at %s\n", command, kith_view_address(view));
    view_show_in_browser(kith_view_address(view));
}

int view_open_bodies(const char *command, const kith_view_options *view_options,
                     const kith_bodies *bodies, kith_view **view)
{
    if (kith_view_open(view_options, bodies, view) != KITH_OK)
        return cli_fail(command);
    announce(command, *view);
    return exit_ok;
}

int view_open_last(const char *command, const kith_view_options *view_options, const char *path,
                   kith_view **view)
{
    kith_trajectory *trajectory = NULL;
    kith_bodies *bodies = NULL;
    int code = exit_failed;
    if (kith_trajectory_open(path, &trajectory) == KITH_OK &&
        kith_trajectory_read(trajectory, kith_trajectory_frames(trajectory) - 1, &bodies) ==
            KITH_OK)
        code = view_open_bodies(command, view_options, bodies, view);
    else
        cli_fail(command);
    kith_bodies_free(bodies);
    kith_trajectory_close(trajectory);
    return code;
}

/* Waits for a signal: the page is served by another thread. */
static int serve(const char *command, const struct view_command *options_given,
                 kith_trajectory *trajectory)
{
    kith_view *view = NULL;
    sigset_t signals;
    int number = 0;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    if (kith_view_open_trajectory(&options_given->options, trajectory, &view) != KITH_OK)
        return cli_fail(command);
    announce(command, view);
    while (sigwait(&signals, &number) != 0)
        continue;
    kith_view_close(view);
    return number == SIGINT ? exit_interrupted : exit_terminated;
}

int command_view(int argc, char **argv)
{
    struct view_command view = {0};
    kith_trajectory *trajectory = NULL;
    int code = exit_failed;
    cli_parse(&parser, argc, argv, &view);

    view.options.title = view.path;
    if (strcmp(view.path, "-") == 0)
        return cli_fail_with(
            argv[0], "RUN is -, but a run is H5MD, which cannot be read from a stream; give "
                     "the file by its name");
    if (kith_trajectory_open(view.path, &trajectory) != KITH_OK ||
        (view.system_given && kith_trajectory_choose_system(trajectory, view.system) != KITH_OK))
        cli_fail(argv[0]);
    else
        code = serve(argv[0], &view, trajectory);
    kith_trajectory_close(trajectory);
    return code;
}
