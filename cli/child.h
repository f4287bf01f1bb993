#ifndef CLI_CHILD_H
#define CLI_CHILD_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

/* Waits until a program that was started ends; whether it ended well. */
bool child_wait(pid_t child);

/* Prints that a program failed, with the last nonempty line of its output, where most programs put
 * the reason. */
void child_fail_with_last_line(const char *command, const char *program, FILE *errors);

#endif
