/* Completion for bash. */

#include "describe.h"

#include <string.h>

static const char head[] =
    "# Completes command lines of kith in bash. Written with kith, from the tables of its options.\n"
    "\n"
    "_kith_words()\n"
    "{\n"
    "    mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -W \"$1\" -- \"$word\")\n"
    "    # No blank after a word that continues after its colon or equals sign.\n"
    "    case ${COMPREPLY[0]-} in *[=:]) compopt -o nospace ;; esac\n"
    "}\n"
    "\n"
    "_kith_files() # -f or -d\n"
    "{\n"
    "    compopt -o filenames\n"
    "    mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen \"$1\" -- \"$word\")\n"
    "}\n"
    "\n"
    "_kith()\n"
    "{\n"
    "    # bash parts words at '=' and ':' too.\n"
    "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}\n"
    "    if [ \"$word\" = = ]; then\n"
    "        word=\n"
    "    elif [ \"$before\" = = ]; then\n"
    "        before=${COMP_WORDS[COMP_CWORD - 2]}\n"
    "    fi\n"
    "    COMPREPLY=()\n"
    "    if [ \"$word\" = : ] || [ \"$before\" = : ]; then return; fi\n"
    "\n"
    "    local command=${COMP_WORDS[1]} options\n";

/* Of a command with parts the second word is taken with the first: "bench forces". */
static void write_commands(FILE *stream)
{
    fprintf(stream, "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
                    "        _kith_words \"");
    for (const struct command *command = program_commands; command->name; command++)
        fprintf(stream, "%s ", command->name);
    fprintf(stream, "--help --version\"\n        return\n    fi\n");
    for (const struct command *command = program_commands; command->name; command++) {
        if (!command->parts)
            continue;
        fprintf(stream,
                "    if [ \"$command\" = %s ]; then\n        case ${COMP_WORDS[2]} in\n        ",
                command->name);
        for (const struct command *part = command->parts; part->name; part++)
            fprintf(stream, "%s%s", part->name, part[1].name ? " | " : "");
        fprintf(stream, ") [ \"$COMP_CWORD\" -eq 2 ] || command=\"$command ${COMP_WORDS[2]}\" ;;\n"
                        "        esac\n    fi\n");
    }
    fprintf(stream, "    case $command in\n");
}

static void write_words(const struct described_values *values, FILE *stream)
{
    fprintf(stream, "_kith_words \"");
    for (int k = 0; k < values->count; k++)
        fprintf(stream, "%s%s", k > 0 ? " " : "", values->words[k]);
    fprintf(stream, "\"; ");
}

static void write_values(const struct described_values *values, FILE *stream)
{
    if (values->count > 0)
        write_words(values, stream);
    if (values->file || values->folder)
        fprintf(stream, "_kith_files %s; ", values->file ? "-f" : "-d");
}

/* The case of an option that takes an argument, if the word before is one. */
static void write_option(const struct described_option *option, FILE *stream)
{
    struct described_values values;
    if (!option->argument)
        return;
    describe_option_values(option->row, &values);
    fprintf(stream, "        --%s", option->row->name);
    if (option->row->letter)
        fprintf(stream, " | -%c", option->row->letter);
    fprintf(stream, ") ");
    write_values(&values, stream);
    fprintf(stream, "return ;;\n");
}

static void write_part_names(const struct description *description, FILE *stream)
{
    struct described_values parts = {0};
    for (const struct command *part = description->parts; part && part->name; part++)
        snprintf(parts.words[parts.count++], described_bytes, "%s", part->name);
    if (parts.count > 0)
        write_words(&parts, stream);
}

/* The case of a command: sets the options, and completes everything else. */
static void write_command(const struct description *description, FILE *stream)
{
    struct described_values values;
    fprintf(stream, "    '%s')\n        options=\"", strchr(description->name, ' ') + 1);
    for (int k = 0; k < description->option_count; k++) {
        const struct described_option *option = &description->options[k];
        fprintf(stream, "%s--%s%s", k > 0 ? " " : "", option->row->name,
                option->argument ? "=" : "");
    }
    fprintf(stream, "\"\n        case $before in\n");
    for (int k = 0; k < description->option_count; k++)
        write_option(&description->options[k], stream);
    fprintf(stream, "        esac\n        case $word in\n        -*) ;;\n        *) ");
    describe_argument_values(description, &values);
    write_values(&values, stream);
    write_part_names(description, stream);
    fprintf(stream, "return ;;\n        esac\n        ;;\n");
}

bool bash_write(FILE *stream)
{
    fprintf(stream, "%s", head);
    write_commands(stream);
    const bool fine = describe_all(write_command, stream);
    fprintf(stream, "    *) return ;;\n    esac\n    _kith_words \"$options\"\n}\n\n"
                    "complete -F _kith kith\n");
    return fine;
}
