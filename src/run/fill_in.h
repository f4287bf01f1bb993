#ifndef RUN_FILL_IN_H
#define RUN_FILL_IN_H

#include "io/run_file.h"
#include "kith/run.h"

/* For a run that is resumed without bodies: options that are zero are taken from the file. */
void run_fill_in(const struct run_parameters *past, const kith_run_options *options,
                 struct run_parameters *parameters);

#endif
