#ifndef CLI_MACHINE_H
#define CLI_MACHINE_H

#include <cjson/cJSON.h>

#include "kith/array.h"

/* What was measured on: version and compiler of kith, processor, cores; and the device, if it is no
 * CPU. */
void machine_print(kith_device device);
void machine_add(cJSON *object, kith_device device); /* as the key "machine" */

/* Seconds that the cores have worked so far, all together, for all programs; NaN if the system does
 * not report it. */
double machine_work(void);

#endif
