#ifndef CLI_BENCH_MACHINE_H
#define CLI_BENCH_MACHINE_H

#include <cjson/cJSON.h>

/* What was measured on: version and compiler of kith, processor, cores. */
void machine_print(void);
void machine_add(cJSON *object); /* as the key "machine" */

/* Seconds that the cores have worked so far, all together, for whomever; NaN if the system does not
 * tell. */
double machine_work(void);

#endif
