/* Describes a command by running it without arguments up to the point where it would parse them.
 *
 * This program is linked so that the commands' calls of cli_parse and cli_help_table come here. A
 * command is run in a process of its own, which ends in cli_parse: what it describes lives on its
 * stack. */

#include "describe.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Of the one command that this process runs. */
static struct description described;
static describe_writer *writer;
static FILE *output;

static _Noreturn void write_and_exit(void)
{
    writer(&described, output);
    exit(fflush(output) == 0 && !ferror(output) ? exit_ok : exit_failed);
}

static char *copied(const char *text)
{
    char *copy = strdup(text);
    if (!copy)
        _exit(exit_failed);
    return copy;
}

/* Copies a title without what surrounds it in --help: line breaks and a colon. */
static void copy_title(char copy[described_bytes], const char *title)
{
    title += strspn(title, "\n");
    snprintf(copy, described_bytes, "%.*s", (int)strcspn(title, ":"), title);
}

char *__wrap_cli_help_table(const char *title, table_row *row);

/* Keeps the table's rows, and leaves them out of the text. */
char *__wrap_cli_help_table(const char *title, table_row *row)
{
    if (described.table_count == described_most_tables)
        _exit(exit_failed);
    struct described_table *table = &described.tables[described.table_count++];
    copy_title(table->title, title);
    const char *name = NULL, *text = NULL;
    for (int64_t k = 0; row(k, &name, &text); k++) {
        if (table->count == described_most_rows)
            _exit(exit_failed);
        table->rows[table->count++] = (struct described_row){copied(name), copied(text)};
    }
    return copied("");
}

static void add_option(const struct option_row *row, const char *heading)
{
    if (described.option_count == described_most_options)
        _exit(exit_failed);
    struct described_option *option = &described.options[described.option_count++];
    *option = (struct described_option){.row = row, .argument = option_argument(row)};
    copy_title(option->heading, heading);
    described.takes_kinds |= row->of_kinds;
}

static void add_word(const struct option_row *row)
{
    if (described.word_count == described_most_words)
        _exit(exit_failed);
    described.words[described.word_count++] = row;
}

static void add_options(const struct parser *parser, const char *heading)
{
    for (const struct option_row *row = parser->rows; row->name || row->argument; row++) {
        if (row->name && !row->old)
            add_option(row, heading);
        else if (!row->name)
            add_word(row);
    }
    for (const struct option_group *group = parser->groups; group && group->parser; group++)
        add_options(group->parser, group->heading ? group->heading : heading);
}

static void add_texts(const struct parser *parser)
{
    char *before = copied(parser->documentation), *split = strchr(before, '\v');
    char *whole = NULL, *tables = parser->tables ? parser->tables() : copied("");
    if (split)
        *split = '\0';
    described.before = before;
    if (asprintf(&whole, "%s\n%s", split ? split + 1 : "", tables ? tables : "") < 0)
        _exit(exit_failed);
    free(tables);
    described.after = whole;
    described.arguments = parser->arguments ? parser->arguments : "";
}

void __wrap_cli_parse(const struct parser *parser, int argc, char **argv, void *options);

void __wrap_cli_parse(const struct parser *parser, int argc, char **argv, void *options)
{
    (void)argc, (void)argv, (void)options;
    static const struct option_row always[] = {{"help", NULL, "show the options", .letter = '?'},
                                               {"version", NULL, "show the version", .letter = 'V'},
                                               {0}};
    static const struct parser of_help = {.rows = always};
    add_options(parser, "");
    add_options(&of_help, "Help");
    add_texts(parser);
    write_and_exit();
}

/* A command that only has parts and parses nothing itself lists them on these streams. */
static void silence(void)
{
    const int nothing = open("/dev/null", O_WRONLY);
    if (nothing < 0 || dup2(nothing, STDOUT_FILENO) < 0 || dup2(nothing, STDERR_FILENO) < 0)
        _exit(exit_failed);
}

static _Noreturn void run(const struct command *command, const char *name)
{
    char *arguments[] = {copied(name), NULL};
    described.name = name;
    described.summary = command->description;
    described.parts = command->parts;
    described.arguments = described.before = described.after = "";
    silence();
    command->run(1, arguments);
    if (!command->parts)
        _exit(exit_failed); /* it has not called cli_parse */
    write_and_exit();
}

bool describe_command(const struct command *command, const char *name, describe_writer *write,
                      FILE *stream)
{
    fflush(stream);
    const pid_t process = fork();
    if (process == 0) {
        writer = write;
        output = stream;
        run(command, name);
    }
    int status = 0;
    if (process < 0 || waitpid(process, &status, 0) != process || status != 0) {
        fprintf(stderr, "kith-describe: %s cannot be described\n", name);
        return false;
    }
    return true;
}

bool describe_all(describe_writer *write, FILE *stream)
{
    for (const struct command *command = program_commands; command->name; command++) {
        char name[128];
        snprintf(name, sizeof name, "kith %s", command->name);
        if (!describe_command(command, name, write, stream))
            return false;
        for (const struct command *part = command->parts; part && part->name; part++) {
            snprintf(name, sizeof name, "kith %s %s", command->name, part->name);
            if (!describe_command(part, name, write, stream))
                return false;
        }
    }
    return true;
}
