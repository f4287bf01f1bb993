/* The topics of kith help: a text each, and the table of the library that belongs to it. */

#include "topics.h"

#include <string.h>

#include "cli.h"
#include "law_options.h"

extern const char topic_accuracy[], topic_devices[], topic_formats[], topic_formulas[],
    topic_laws[], topic_units[];

const struct topic topics[] = {
    {"units", "units of inputs and results, and G", topic_units, NULL},
    {"formats", "files that each command reads and writes", topic_formats, cli_format_help},
    {"laws", "interactions: gravity, coulomb, lennard-jones ...", topic_laws, law_help_table},
    {"accuracy", "error bounds, precision, solvers, time steps", topic_accuracy, cli_solver_help},
    {"devices", "CPU and GPU, threads, instruction sets", topic_devices, NULL},
    {"formulas", "laws as expressions: names, operators, functions", topic_formulas, NULL},
    {0}};

const struct topic *topic_named(const char *name)
{
    for (const struct topic *topic = topics; topic->name; topic++)
        if (strcmp(topic->name, name) == 0)
            return topic;
    return NULL;
}
