/* kith help: the commands and topics, the page of a topic, the help of a command. */

#include "help.h"

#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "options.h"
#include "topics.h"

enum { most_words = 2 }; /* kith help bench forces */

struct help_options {
    const char *words[most_words];
    int count;
};

static const char documentation[] =
    "Show the commands and topics, the help of a command, or the page of a topic.\v"
    "Examples:\n"
    "  kith help\n"
    "  kith help run\n"
    "  kith help bench forces\n"
    "  kith help laws";

static bool command_row(int64_t k, const char **name, const char **description)
{
    *name = program_commands[k].name;
    *description = program_commands[k].description;
    return *name;
}

static bool topic_row(int64_t k, const char **name, const char **description)
{
    *name = topics[k].name;
    *description = topics[k].summary;
    return *name;
}

static char *tables(void)
{
    return cli_join_help(cli_help_table("Commands:", command_row),
                         cli_help_table("Topics:", topic_row));
}

static void set_word(void *options, const char *option, const char *text,
                     const struct argp_state *state)
{
    struct help_options *help = options;
    (void)option;
    if (help->count == most_words)
        cli_usage_error(state, "unexpected argument '%s'; give one COMMAND or TOPIC", text);
    help->words[help->count++] = text;
}

static const struct choices commands = {"COMMAND", {NULL}, command_row};
static const struct choices topic_names = {"TOPIC", {NULL}, topic_row};
static const struct option_row option_rows[] = {
    {NULL, "COMMAND", .choices = &commands, .set = set_word},
    {NULL, "TOPIC", .choices = &topic_names, .set = set_word},
    {0}};

void help_print(FILE *stream)
{
    fprintf(stream,
            "Usage: kith COMMAND [OPTION...] ...\n"
            "%s\n\n"
            "Commands:\n",
            program_summary);
    for (const struct command *command = program_commands; command->name; command++)
        fprintf(stream, "  %-10s %s\n", command->name, command->description);
    fprintf(stream, "\nTopics:\n");
    for (const struct topic *topic = topics; topic->name; topic++)
        fprintf(stream, "  %-10s %s\n", topic->name, topic->summary);
    fprintf(stream,
            "\n"
            "kith help COMMAND, or kith COMMAND --help, shows the options of a command.\n"
            "kith help TOPIC shows the page of a topic. kith --version prints the version.\n\n"
            "Example:\n%s",
            program_examples);
    if (*KITH_HOMEPAGE_URL)
        fprintf(stream, "\nHome page and reports of errors: %s\n", KITH_HOMEPAGE_URL);
}

static int print_topic(const struct topic *topic)
{
    char *table = topic->table ? topic->table() : NULL;
    printf("%s", topic->text);
    if (table)
        printf("\n%s\n", table);
    free(table);
    return exit_ok;
}

static int fail_unknown(const char *command, const char *word)
{
    struct nearest nearest = nearest_to(word);
    for (const struct command *row = program_commands; row->name; row++)
        nearest_offer(&nearest, row->name);
    for (const struct topic *topic = topics; topic->name; topic++)
        nearest_offer(&nearest, topic->name);
    cli_fail_with(command, "'%s' is not a command or a topic; %s", word,
                  nearest_hint(&nearest, "kith help lists them"));
    return exit_usage;
}

/* As kith COMMAND --help, or kith COMMAND PART --help. */
static int run_help_of(const struct command *command, const struct help_options *help)
{
    static char option[] = "--help";
    char name[64], part[64];
    snprintf(name, sizeof name, "kith %s", command->name);
    snprintf(part, sizeof part, "%s", help->count > 1 ? help->words[1] : option);
    char *arguments[] = {name, part, option, NULL};
    arguments[help->count + 1] = NULL;
    return command->run(help->count + 1, arguments);
}

int command_help(int argc, char **argv)
{
    struct help_options help = {0};
    static const struct parser parser = {option_rows,       NULL,          NULL,
                                         "[COMMAND|TOPIC]", documentation, tables};
    cli_parse(&parser, argc, argv, &help);

    const char *word = help.count > 0 ? help.words[0] : NULL;
    const struct command *command = word ? command_named(program_commands, word) : NULL;
    const struct topic *topic = word ? topic_named(word) : NULL;
    if (help.count > 1 && !(command && command->parts)) {
        cli_fail_with(argv[0], "unexpected argument '%s'; give one COMMAND or TOPIC",
                      help.words[1]);
        return exit_usage;
    }
    if (command)
        return run_help_of(command, &help);
    if (topic)
        return print_topic(topic);
    if (word)
        return fail_unknown(argv[0], word);
    help_print(stdout);
    return exit_ok;
}
