#ifndef TESTS_STAND_IN_H
#define TESTS_STAND_IN_H

#include <stdlib.h>

#include "program.h"

/* Writes "@python", a shell script that stands in for Python with the programs that kith bench
 * compares with: it answers as the scripts of bench/ do. Two of the answers are the test's, as
 * commands of the shell: to "peer $name", and to "time $name $rest". */
static inline void write_stand_in(const char *answer_to_peer, const char *answer_to_time)
{
    char text[1024], command[512];
    snprintf(text, sizeof text,
             "#!/bin/sh\n"
             "while read -r request name rest; do\n"
             "  case $request in\n"
             "  peer) %s ;;\n"
             "  bodies) k=0\n"
             "    while [ $k -lt $name ]; do read -r line; k=$((k + 1)); done\n"
             "    echo ok ;;\n"
             "  matrix | system) echo ok ;;\n"
             "  time) %s ;;\n"
             "  esac\n"
             "done\n",
             answer_to_peer, answer_to_time);
    program_write("python", text);
    snprintf(command, sizeof command, "chmod +x %s", program_file("python"));
    assert_int_equal(system(command), 0);
}

/* Every call takes it a second. */
static const char a_second_a_call[] = "echo seconds ${rest#* }";

#endif
