#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include "cli.h"

/* Shows a progress bar on stderr while a context works, if stderr is a terminal and not quiet;
 * SIGINT and SIGTERM cancel the context. */
void progress_begin(kith_context *context, bool quiet);

/* Removes the bar and gives the signals back. */
void progress_end(kith_context *context);

/* The signal that cancelled the context, or 0. */
int progress_signal(void);

#endif
