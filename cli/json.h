#ifndef CLI_JSON_H
#define CLI_JSON_H

#include <cjson/cJSON.h>
#include <stdint.h>

#include "kith/tuning.h"

/* To be called before any other: watches over the memory of objects. */
void json_begin(void);

/* Adds a number with as many digits as give the same bits when read; null if it is infinite or NaN.
 */
void json_add_real(cJSON *object, const char *key, double value);

/* Adds an integer with all its digits. */
void json_add_count(cJSON *object, const char *key, int64_t value);

/* A tuning's numbers by their names. */
cJSON *json_of_tuning(const kith_tuning *tuning);

/* Prints the object on standard output and frees it; returns an exit code. An object that is
 * incomplete because memory ran out is not printed. */
int json_print(const char *command, cJSON *object);

#endif
