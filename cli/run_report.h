#ifndef CLI_RUN_REPORT_H
#define CLI_RUN_REPORT_H

#include "cli.h"

/* Prints what a run did, as JSON or text; output is its file or NULL. For an ensemble, also its
 * systems. Returns an exit code. */
int run_report(const char *command, const struct common_options *common, const char *output,
               bool is_ensemble, const kith_run_summary *summary);

/* Prints that a signal ended the run, and how to continue. Returns exit_failed. */
int run_report_interrupted(const char *command, const char *output,
                           const kith_run_summary *summary);

#endif
