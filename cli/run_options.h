#ifndef CLI_RUN_OPTIONS_H
#define CLI_RUN_OPTIONS_H

#include "cli.h"
#include "device_choice.h"
#include "forces_command.h"
#include "law_options.h"

struct run_options {
    struct common_options common;
    struct input_options input;
    struct law_options law;
    struct cutoff_options cutoff;
    struct ewald_options ewald;
    struct cli_advice advice;
    kith_run_options run;
    bool until_given;
    bool ensemble_given;
    bool restitution_given;
    int64_t systems; /* of --ensemble */
    char *units;     /* the words that run.units points into */
    bool view_given;
    kith_view_options view; /* of --view */
};

extern const struct parser run_parser;

#endif
