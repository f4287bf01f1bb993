#ifndef CLI_USAGE_H
#define CLI_USAGE_H

#include <argp.h>

/* Parses the arguments as getopt_long will, and ends the program with exit_usage and one line at
 * the first option that it would refuse: an unknown one, with the nearest name; one that has no
 * value, has one too many, or is cut so short that it may be several. */
void usage_check_options(const struct argp *argp, int argc, char **argv);

#endif
