/* Options as rows of tables: argp's own tables are made of them. */

#include "options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { most_parsers = 16, first_key = 0x1000 };

/* A parser, what it fills in, and its form for argp. */
struct made {
    const struct parser *parser;
    char *options;
    struct argp argp;
    struct argp_option rows[parser_most_rows + 1];
    struct argp_child children[parser_most_groups + 1];
    struct made *parts[parser_most_groups];
    int part_count;
    bool is_command; /* not a group's */
};

const char *option_argument(const struct option_row *row)
{
    return row->choices ? row->choices->argument : row->argument;
}

static void set_integer(const struct option_row *row, void *value, const char *option,
                        const char *text, const struct argp_state *state)
{
    const int64_t most = row->most ? row->most : INT64_MAX;
    const int64_t number = row->least < 0 ? cli_parse_integer(option, text, state)
                           : row->least > 0 || row->most > 0
                               ? cli_parse_range(option, text, row->least, most, state)
                               : cli_parse_count(option, text, state);
    if (row->kind == option_int32)
        *(int32_t *)value = (int32_t)number;
    else if (row->kind == option_int64)
        *(int64_t *)value = number;
    else
        *(uint64_t *)value = (uint64_t)number;
}

static void set_typed(const struct option_row *row, void *value, const char *option,
                      const char *text, const struct argp_state *state)
{
    switch (row->kind) {
    case option_flag:
        *(bool *)value = true;
        return;
    case option_text:
        *(const char **)value =
            row->choices ? cli_parse_word(option, text, row->choices, state) : text;
        return;
    case option_real:
        *(double *)value = row->positive ? cli_parse_positive(option, text, state)
                                         : cli_parse_real(option, text, state);
        return;
    case option_enumeration:
        *(unsigned *)value = (unsigned)cli_parse_choice(option, text, row->choices, state);
        return;
    default:
        set_integer(row, value, option, text, state);
    }
}

static void set(const struct made *made, const struct option_row *row, const char *text,
                const struct argp_state *state)
{
    char option[32];
    snprintf(option, sizeof option, "--%s", row->name ? row->name : row->argument);
    const char *name = row->name ? option : row->argument;
    if (row->set)
        row->set(made->options + row->offset, name, text, state);
    else
        set_typed(row, made->options + row->offset, name, text, state);
    if (row->given)
        *(bool *)(made->options + row->given - 1) = true;
}

/* "give one FILE", "give A and B". */
static _Noreturn void refuse_argument(const struct parser *parser, const char *text,
                                      const struct argp_state *state)
{
    const char *first = NULL, *last = NULL;
    for (const struct option_row *row = parser->rows; row->name || row->argument; row++)
        if (!row->name) {
            first = first ? first : row->argument;
            last = row->argument;
        }
    if (first == last)
        cli_usage_error(state, "unexpected argument '%s'; give one %s", text, first);
    cli_usage_error(state, "unexpected argument '%s'; give %s and %s", text, first, last);
}

static bool takes_arguments(const struct parser *parser)
{
    bool takes = false;
    for (const struct option_row *row = parser->rows; row->name || row->argument; row++)
        takes = takes || !row->name;
    for (const struct option_group *group = parser->groups; group && group->parser; group++)
        takes = takes || takes_arguments(group->parser);
    return takes;
}

/* Texts take one argument each, a function all that are left. */
static error_t take_argument(const struct made *made, const char *text,
                             const struct argp_state *state)
{
    bool has_any = false;
    for (const struct option_row *row = made->parser->rows; row->name || row->argument; row++) {
        if (row->name)
            continue;
        has_any = true;
        if (row->set || !*(const char **)(made->options + row->offset)) {
            set(made, row, text, state);
            return 0;
        }
    }
    if (has_any)
        refuse_argument(made->parser, text, state);
    if (made->is_command && !takes_arguments(made->parser))
        cli_usage_error(state, "unexpected argument '%s'; %s takes none", text, state->name);
    return ARGP_ERR_UNKNOWN;
}

static int key_of(const struct made *made, const struct option_row *row)
{
    return row->letter ? row->letter : first_key + (int)(row - made->parser->rows);
}

static error_t parse(int key, char *text, struct argp_state *state)
{
    const struct made *made = state->input;
    const struct parser *parser = made->parser;
    switch (key) {
    case ARGP_KEY_INIT:
        state->err_stream = NULL; /* argp would add a second line to each error */
        for (int k = 0; k < made->part_count; k++)
            state->child_inputs[k] = made->parts[k];
        return 0;
    case ARGP_KEY_ARG:
        return take_argument(made, text, state);
    case ARGP_KEY_END:
        if (parser->check)
            parser->check(made->options, state);
        return 0;
    default:
        break;
    }
    for (const struct option_row *row = parser->rows; row->name || row->argument; row++)
        if (row->name && !row->old && key_of(made, row) == key) {
            set(made, row, text, state);
            return 0;
        }
    return ARGP_ERR_UNKNOWN;
}

static char *filter_help(int key, const char *text, void *input)
{
    const struct made *made = input;
    if (key == ARGP_KEY_HELP_EXTRA && made && made->parser->tables)
        return made->parser->tables();
    return key == ARGP_KEY_HELP_DUP_ARGS_NOTE ? NULL : (char *)text;
}

static void make_rows(struct made *made)
{
    struct argp_option *to = made->rows;
    for (const struct option_row *row = made->parser->rows; row->name || row->argument; row++) {
        if (!row->name)
            continue;
        const int flags = (row->optional ? OPTION_ARG_OPTIONAL : 0) |
                          (row->old ? OPTION_ALIAS | OPTION_HIDDEN : 0);
        *to++ = (struct argp_option){
            row->name, row->old ? 0 : key_of(made, row), option_argument(row), flags, row->text, 0};
    }
}

static struct made *make_argp(struct made **next, const struct parser *parser, void *options)
{
    struct made *made = (*next)++;
    *made = (struct made){.parser = parser, .options = options};
    make_rows(made);
    for (const struct option_group *group = parser->groups; group && group->parser; group++) {
        struct made *part = make_argp(next, group->parser, made->options + group->offset);
        made->children[made->part_count] =
            (struct argp_child){&part->argp, 0, group->heading, group->order};
        made->parts[made->part_count++] = part;
    }
    made->argp =
        (struct argp){made->rows,  parse, parser->arguments, parser->documentation, made->children,
                      filter_help, NULL};
    return made;
}

void cli_parse(const struct parser *parser, int argc, char **argv, void *options)
{
    error_t error = ENOMEM;
    usage_check_options(parser, argc, argv);
    setenv("ARGP_HELP_FMT", "no-dup-args-note", 0);
    struct made *all = calloc(most_parsers, sizeof *all), *next = all;
    if (all) {
        make_argp(&next, parser, options)->is_command = true;
        error = argp_parse(&all->argp, argc, argv, 0, NULL, all);
    }
    free(all);
    if (error == ENOMEM)
        exit(cli_fail_with(argv[0], "no memory for the command line"));
    if (error != 0)
        cli_usage_error(&(struct argp_state){.name = argv[0]},
                        "unexpected argument; %s --help shows the usage", argv[0]);
}
