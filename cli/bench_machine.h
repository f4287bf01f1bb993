#ifndef CLI_BENCH_MACHINE_H
#define CLI_BENCH_MACHINE_H

#include <cjson/cJSON.h>

/* What was measured on: version and compiler of kith, processor, cores. */
void machine_print(void);
void machine_add(cJSON *object); /* as the key "machine" */

#endif
