/* Completion for fish. */

#include "describe.h"

#include <stdlib.h>
#include <string.h>

static const char head[] =
    "# Completes command lines of kith in fish. Written with kith, from the tables of its options.\n"
    "\n"
    "function __kith_needs_command\n"
    "    test (count (commandline -opc)) -eq 1\n"
    "end\n"
    "\n"
    "# Whether the command is this one, and its part the second argument.\n"
    "function __kith_is\n"
    "    set -l words (commandline -opc)\n"
    "    test \"$words[2]\" = \"$argv[1]\"; or return 1\n"
    "    test -z \"$argv[2]\"; or test \"$words[3]\" = \"$argv[2]\"\n"
    "end\n"
    "\n"
    "# Whether it is this one, and no part of it has been named.\n"
    "function __kith_is_alone\n"
    "    set -l words (commandline -opc)\n"
    "    test \"$words[2]\" = \"$argv[1]\"; and not contains -- \"$words[3]\" $argv[2..-1]\n"
    "end\n"
    "\n"
    "complete -c kith -f\n"
    "complete -c kith -n __kith_needs_command -l help -d 'list the commands'\n"
    "complete -c kith -n __kith_needs_command -l version -d 'show the version'\n";

static void put(FILE *stream, const char *text)
{
    for (; *text; text++) {
        if (*text == '\'' || *text == '\\')
            fputc('\\', stream);
        fputc(*text, stream);
    }
}

static void begin(const struct description *description, FILE *stream)
{
    const char *name = strchr(description->name, ' ') + 1;
    fprintf(stream, "complete -c kith -n '__kith_is%s %s", description->parts ? "_alone" : "",
            name);
    for (const struct command *part = description->parts; part && part->name; part++)
        fprintf(stream, " %s", part->name);
    fprintf(stream, "'");
}

static void put_words(FILE *stream, const struct described_values *values)
{
    if (values->count == 0)
        return;
    fprintf(stream, " -a '");
    for (int k = 0; k < values->count; k++) {
        fprintf(stream, "%s", k > 0 ? " " : "");
        put(stream, values->words[k]);
    }
    fprintf(stream, "'");
}

static void write_option(const struct description *description,
                         const struct described_option *option, FILE *stream)
{
    char *briefly = describe_briefly(option->row->text);
    begin(description, stream);
    if (option->row->letter)
        fprintf(stream, " -s '%c'", option->row->letter);
    fprintf(stream, " -l %s", option->row->name);
    if (option->argument) {
        struct described_values values;
        describe_option_values(option->row, &values);
        if (values.folder)
            fprintf(stream, " -x -a '(__fish_complete_directories)'");
        else
            fprintf(stream, "%s", values.file ? " -r -F" : " -x");
        put_words(stream, &values);
    }
    fprintf(stream, " -d '");
    put(stream, briefly ? briefly : "");
    fprintf(stream, "'\n");
    free(briefly);
}

static void write_command(const struct description *description, FILE *stream)
{
    struct described_values values;
    for (int k = 0; k < description->option_count; k++)
        write_option(description, &description->options[k], stream);
    describe_argument_values(description, &values);
    if (values.file || values.count > 0) {
        begin(description, stream);
        fprintf(stream, "%s", values.file ? " -F" : "");
        put_words(stream, &values);
        fprintf(stream, "\n");
    }
}

static void write_names(const char *condition, const struct command *table, FILE *stream)
{
    for (const struct command *command = table; command->name; command++) {
        fprintf(stream, "complete -c kith -n '%s' -a %s -d '", condition, command->name);
        put(stream, command->description);
        fprintf(stream, "'\n");
    }
}

bool fish_write(FILE *stream)
{
    fprintf(stream, "%s", head);
    write_names("__kith_needs_command", program_commands, stream);
    for (const struct command *command = program_commands; command->name; command++) {
        char condition[1024];
        int length = snprintf(condition, sizeof condition, "__kith_is_alone %s", command->name);
        for (const struct command *part = command->parts; part && part->name; part++)
            length +=
                snprintf(condition + length, sizeof condition - (size_t)length, " %s", part->name);
        if (command->parts)
            write_names(condition, command->parts, stream);
    }
    return describe_all(write_command, stream);
}
