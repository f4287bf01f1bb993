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

static void add_option(const struct argp_option *option, const char *heading)
{
    if (described.option_count == described_most_options)
        _exit(exit_failed);
    described.options[described.option_count] = (struct described_option){
        .names = {option->name},
        .letter = option->key > ' ' && option->key < 0x7f ? (char)option->key : '\0',
        .argument = option->arg,
        .choices = option->flags & option_has_choices ? (const void *)option->arg : NULL,
        .text = option->doc ? option->doc : ""};
    copy_title(described.options[described.option_count++].heading, heading);
    described.takes_kinds |= option->flags & option_of_kinds;
}

static void add_alias(const char *name)
{
    struct described_option *option = &described.options[described.option_count - 1];
    for (int k = 0; k < described_most_names; k++)
        if (!option->names[k]) {
            option->names[k] = name;
            return;
        }
    _exit(exit_failed);
}

/* A row with a text alone is the heading of those after it. */
static void add_options(const struct argp *argp, const char *heading)
{
    for (const struct argp_option *option = argp->options;
         option && (option->name || option->key || option->doc); option++) {
        if (!option->name && !option->key)
            heading = option->doc;
        else if (option->flags & (OPTION_HIDDEN | OPTION_DOC))
            continue;
        else if (option->flags & OPTION_ALIAS)
            add_alias(option->name);
        else
            add_option(option, heading);
    }
    for (const struct argp_child *child = argp->children; child && child->argp; child++)
        add_options(child->argp, child->header ? child->header : heading);
}

/* A part of the help as the command's filter makes it. */
static const char *filtered(const struct argp *argp, int key, const char *text)
{
    const char *made = argp->help_filter ? argp->help_filter(key, text, NULL) : text;
    return made ? made : "";
}

static void add_texts(const struct argp *argp)
{
    const char *documentation = argp->doc ? argp->doc : "";
    char *before = copied(documentation), *split = strchr(before, '\v');
    const char *after = split ? split + 1 : "";
    if (split)
        *split = '\0';
    described.before = filtered(argp, ARGP_KEY_HELP_PRE_DOC, before);
    char *whole = NULL;
    if (asprintf(&whole, "%s\n%s", filtered(argp, ARGP_KEY_HELP_POST_DOC, after),
                 filtered(argp, ARGP_KEY_HELP_EXTRA, NULL)) < 0)
        _exit(exit_failed);
    described.after = whole;
    described.arguments = argp->args_doc ? argp->args_doc : "";
}

void __wrap_cli_parse(const struct argp *argp, int argc, char **argv, void *input);

void __wrap_cli_parse(const struct argp *argp, int argc, char **argv, void *input)
{
    (void)argc, (void)argv, (void)input;
    static const struct argp_option always[] = {{"help", '?', NULL, 0, "show the options", 0},
                                                {"version", 'V', NULL, 0, "show the version", 0},
                                                {0}};
    static const struct argp help_argp = {always, NULL, NULL, NULL, NULL, NULL, NULL};
    add_options(argp, "");
    add_options(&help_argp, "Help");
    add_texts(argp);
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
