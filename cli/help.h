#ifndef CLI_HELP_H
#define CLI_HELP_H

#include <stdio.h>

/* The commands and topics, and how to get help: kith help, kith --help. */
void help_print(FILE *stream);

#endif
