#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include "cli.h"

/* Shows a progress bar on stderr while a context works, if stderr is a terminal and not quiet;
 * SIGINT, SIGTERM and SIGHUP cancel the context. */
void progress_begin(kith_context *context, bool quiet);

/* Removes the bar and gives the signals back. */
void progress_end(kith_context *context);

/* The signal that cancelled the context, or 0. */
int progress_signal(void);

/* The exit code that belongs to that signal; exit_failed without one. */
int progress_exit_code(void);

/* From then on SIGHUP, unless it is ignored, ends the program as SIGTERM does. */
void progress_heed_hangup(void);

#endif
