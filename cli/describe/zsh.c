/* Completion for zsh, by its _arguments. */

#include "describe.h"

#include <stdlib.h>
#include <string.h>

static const char head[] =
    "#compdef kith\n"
    "# Completes command lines of kith in zsh. Written with kith, from the tables of its options.\n"
    "\n"
    "# Words, and files.\n"
    "_kith_words_and_files()\n"
    "{\n"
    "    compadd -- \"$@\"\n"
    "    _files\n"
    "}\n"
    "\n"
    "# Words; those that end in a colon continue after it.\n"
    "_kith_words()\n"
    "{\n"
    "    compadd -- ${@:#*:}\n"
    "    compadd -S '' -- ${(M)@:#*:}\n"
    "}\n\n";

/* Inside single quotes; of _arguments' characters those in special are escaped. */
static void put(FILE *stream, const char *text, const char *special)
{
    for (; *text; text++) {
        if (*text == '\'')
            fprintf(stream, "'\\'");
        else if (strchr(special, *text))
            fputc('\\', stream);
        fputc(*text, stream);
    }
}

static void put_words(FILE *stream, const struct described_values *values)
{
    for (int k = 0; k < values->count; k++) {
        fputc(' ', stream);
        put(stream, values->words[k], ":\\");
    }
}

/* What an argument may be: a function that completes it, or a blank. */
static void put_action(FILE *stream, const struct described_values *values)
{
    if (values->count > 0)
        fprintf(stream, " %s", values->file ? "_kith_words_and_files" : "_kith_words");
    else
        fprintf(stream, "%s", values->file ? "_files" : values->folder ? "_files -/" : " ");
    put_words(stream, values);
}

/* The long name of an option, or its letter, which excludes the long one. */
static void write_name(const struct described_option *option, int letter, FILE *stream)
{
    const char *name = option->row->name;
    char *briefly = describe_briefly(option->row->text);
    fprintf(stream, " \\\n        '");
    if (option->row->letter)
        fprintf(stream, "(-%c --%s)", option->row->letter, name);
    if (letter)
        fprintf(stream, "-%c%s", letter, option->argument ? "+" : "");
    else
        fprintf(stream, "--%s%s", name, option->argument ? "=" : "");
    fprintf(stream, "[");
    put(stream, briefly ? briefly : "", "[]:\\");
    fprintf(stream, "]");
    if (option->argument) {
        struct described_values values;
        describe_option_values(option->row, &values);
        fprintf(stream, ":");
        put(stream, option->argument, ":\\");
        fprintf(stream, ":");
        put_action(stream, &values);
    }
    fprintf(stream, "'");
    free(briefly);
}

static void write_command(const struct description *description, FILE *stream)
{
    const char *name = strchr(description->name, ' ') + 1;
    struct described_values values;
    fprintf(stream, "_kith_");
    for (const char *at = name; *at; at++)
        fputc(*at == ' ' ? '_' : *at, stream);
    fprintf(stream, "()\n{\n    _arguments -s -S");
    for (int k = 0; k < description->option_count; k++) {
        const struct described_option *option = &description->options[k];
        if (option->row->letter)
            write_name(option, option->row->letter, stream);
        write_name(option, 0, stream);
    }
    describe_argument_values(description, &values);
    if (values.count > 0 || values.file) {
        fprintf(stream, " \\\n        '*:");
        put(stream, description->arguments, ":\\");
        fprintf(stream, ":");
        put_action(stream, &values);
        fprintf(stream, "'");
    }
    if (description->option_count == 0)
        fprintf(stream, " '--help[show the options]'");
    fprintf(stream, "\n}\n\n");
}

static void write_choice(const char *name, const struct command *table, FILE *stream)
{
    fprintf(stream, "    local -a %s=(", name);
    for (const struct command *command = table; command->name; command++) {
        fprintf(stream, "\n        '%s:", command->name);
        put(stream, command->description, ":\\");
        fprintf(stream, "'");
    }
    fprintf(stream, ")\n");
}

/* Of a command with parts: their names, then what they take. */
static void write_parts(const struct command *command, FILE *stream)
{
    fprintf(stream, "_kith_parts_of_%s()\n{\n", command->name);
    write_choice("parts", command->parts, stream);
    fprintf(stream,
            "    if (( CURRENT == 2 )); then\n        _describe -t commands 'part' parts\n"
            "        _kith_%s\n        return\n    fi\n"
            "    if (( ! $+functions[_kith_%s_$words[2]] )); then\n        _kith_%s\n"
            "        return\n    fi\n"
            "    shift words\n    (( CURRENT-- ))\n    _kith_%s_$words[1]\n}\n\n",
            command->name, command->name, command->name, command->name);
}

bool zsh_write(FILE *stream)
{
    fprintf(stream, "%s", head);
    const bool fine = describe_all(write_command, stream);
    for (const struct command *command = program_commands; command->name; command++)
        if (command->parts)
            write_parts(command, stream);
    fprintf(stream, "_kith()\n{\n");
    write_choice("commands", program_commands, stream);
    fprintf(stream,
            "    if (( CURRENT == 2 )); then\n        _describe -t commands 'command' commands\n"
            "        _arguments '--help[list the commands]' '--version[show the version]'\n"
            "        return\n    fi\n"
            "    shift words\n    (( CURRENT-- ))\n"
            "    if (( $+functions[_kith_parts_of_$words[1]] )); then\n"
            "        _kith_parts_of_$words[1]\n"
            "    elif (( $+functions[_kith_$words[1]] )); then\n        _kith_$words[1]\n"
            "    fi\n}\n\n_kith \"$@\"\n");
    return fine;
}
