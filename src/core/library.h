#ifndef CORE_LIBRARY_H
#define CORE_LIBRARY_H

#include <stdint.h>

/* Libraries that are opened when they are first needed. They are never closed: their threads may
 * still run, and opening one again costs time and leaks. */

/* A function of a library, and the pointer that is to hold its address. */
struct library_function {
    void *pointer;
    const char *name;
};

/* Opens the first that is found of the names, on the path of libraries, and of `toolkit`, a file in
 * lib64 of a CUDA toolkit ($CUDA_HOME, $CUDA_PATH, /usr/local/cuda); NULL: only the names. NULL if
 * none is found. */
void *library_open(const char *const *names, int32_t count, const char *toolkit);

/* Fills the pointers. The name of the first function that the library does not have, or NULL; with
 * a handle of NULL it has none. */
const char *library_find(void *handle, const struct library_function *functions, int32_t count);

#endif
