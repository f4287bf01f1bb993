#ifndef RUN_FILL_IN_H
#define RUN_FILL_IN_H

#include "io/run_file.h"
#include "kith/run.h"

/* Of a run that is resumed without bodies: what the options leave at zero is what the file says. */
void run_fill_in(const struct run_parameters *past, const kith_run_options *options,
                 struct run_parameters *parameters);

#endif
