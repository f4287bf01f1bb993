#ifndef FUZZ_FUZZ_H
#define FUZZ_FUZZ_H

/* What the fuzz targets share. Each is a file with LLVMFuzzerTestOneInput, which takes any bytes:
 * as a file, a formula, a command line. It is linked with libFuzzer (./dev fuzz), or with replay.c,
 * which feeds it the files of tests/corpus. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kith/kith.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A file with these bytes, valid until the next call: its path ends in the name, which must always
 * be the same one. */
const char *fuzz_file(const uint8_t *data, size_t size, const char *name);

/* Makes a folder of its own, in memory where the system has it there; the caller removes it. */
void fuzz_folder(char *made, size_t bytes);

/* Aborts, with the words and the library's message, unless the condition holds. */
void fuzz_require(bool condition, const char *words);

/* What may come of reading damaged bytes: a result or a reason. Out of memory is not one, as files
 * here are small. */
void fuzz_check(kith_status status, bool has_result);

#endif
