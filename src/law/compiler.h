#ifndef LAW_COMPILER_H
#define LAW_COMPILER_H

#include "core/status.h"

/* The system's C compiler: $CC, else cc, gcc or clang on the PATH. */
enum { compiler_most_words = 8, compiler_bytes = 512 };

struct compiler {
    char text[compiler_bytes];       /* the words one after the other */
    char *word[compiler_most_words]; /* into text; the first is the program */
    int count;
};

/* Errors: KITH_UNSUPPORTED: none was found. */
kith_status compiler_find(struct compiler *compiler);

/* Runs the compiler with options, NULL after the last, and no shell; it writes its messages to a
 * new file. Errors: KITH_INTERNAL_ERROR (it fails: with its first error), KITH_UNSUPPORTED,
 * KITH_IO_ERROR. */
kith_status compiler_run(const struct compiler *compiler, const char *const *options,
                         const char *messages);

#endif
