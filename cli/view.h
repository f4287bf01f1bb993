#ifndef CLI_VIEW_H
#define CLI_VIEW_H

#include "cli.h"

/* The value of --view and --port. */
int32_t view_parse_port(const char *option, const char *text, const struct argp_state *state);

/* Opens a view of a run that starts with these bodies, prints its address on stderr and shows it if
 * that is a terminal with a display. Returns an exit code. */
int view_open_bodies(const char *command, const kith_view_options *options,
                     const kith_bodies *bodies, kith_view **view);

/* The same for a run that continues from the file of an earlier one. */
int view_open_last(const char *command, const kith_view_options *options, const char *path,
                   kith_view **view);

/* Starts the desktop's browser. Failures are silent: the address is printed anyway. */
void view_show_in_browser(const char *address);

#endif
