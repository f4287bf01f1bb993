/* Unknown options, reported before getopt does, with the nearest name. */

#include "options.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* What argp adds to each parser. */
static const struct option_row added[] = {{"help", .letter = '?'},
                                          {.name = "usage"},
                                          {"version", .letter = 'V'},
                                          {"program-name", .argument = "NAME"},
                                          {"HANG", .argument = "SECS", .optional = true},
                                          {0}};
static const struct parser added_parser = {.rows = added};

/* Looking for an option by its long name, which may be cut short, or by its letter. */
struct search {
    const char *name;
    size_t length;
    int letter;
    int matches;                    /* that the name begins; 1 if it is one's own */
    const struct option_row *found; /* of an old name the option that it names */
    bool is_old;
    struct nearest nearest;
};

/* What argp has for its makers: a program may hang, or have another name. */
static bool is_for_makers(const struct option_row *option)
{
    return strcmp(option->name, "HANG") == 0 || strcmp(option->name, "program-name") == 0;
}

static void look_at(struct search *search, const struct option_row *option,
                    const struct option_row *real)
{
    if (search->letter) {
        if (option->letter == search->letter)
            search->found = real;
        return;
    }
    if (!option->old && !is_for_makers(option))
        nearest_offer(&search->nearest, option->name);
    if (strncmp(option->name, search->name, search->length) != 0)
        return;
    const bool exact = strlen(option->name) == search->length;
    if (search->matches < 0) /* an exact match was before */
        return;
    search->matches = exact ? -1 : search->matches + 1;
    search->found = real;
    search->is_old = option->old;
}

static void look_through(struct search *search, const struct parser *parser)
{
    const struct option_row *real = NULL;
    for (const struct option_row *row = parser->rows; row->name || row->argument; row++) {
        if (!row->name)
            continue;
        if (!row->old)
            real = row;
        look_at(search, row, real);
    }
    for (const struct option_group *group = parser->groups; group && group->parser; group++)
        look_through(search, group->parser);
}

static bool wants_value(const struct option_row *option)
{
    return option_argument(option) && !option->optional;
}

/* The hint if no option is near. */
static const char *where_to_look(const struct argp_state *state)
{
    static char text[96];
    snprintf(text, sizeof text, "%s --help lists the options", state->name);
    return text;
}

static const char *hint_of(const struct search *search, const struct argp_state *state)
{
    static char text[96];
    if (!search->nearest.found)
        return where_to_look(state);
    snprintf(text, sizeof text, "did you mean '--%.60s'?", search->nearest.found);
    return text;
}

/* "--name" or "--name=value"; true if its value is the next argument. */
static bool check_long(const struct parser *parser, const struct argp_state *state,
                       const char *word, bool is_last)
{
    char name[64];
    const char *equals = strchr(word, '=');
    const size_t length = equals ? (size_t)(equals - word) : strlen(word);
    snprintf(name, sizeof name, "%.*s", (int)length, word);
    struct search search = {.name = word, .length = length, .nearest = nearest_to(name)};
    look_through(&search, parser);
    look_through(&search, &added_parser);
    if (search.matches > 1)
        cli_usage_error(state, "'--%s' may be several options; write it out (%s)", name,
                        where_to_look(state));
    if (!search.found || is_for_makers(search.found))
        cli_usage_error(state, "'--%s' is not a valid option; %s", name, hint_of(&search, state));
    if (search.is_old)
        cli_usage_error(state, "'--%s' is not a valid option; did you mean '--%s'?", name,
                        search.found->name);
    if (equals && !option_argument(search.found))
        cli_usage_error(state, "--%s takes no value; leave out '=' and what follows", name);
    if (!equals && wants_value(search.found) && is_last)
        cli_usage_error(state, "--%s has no value; give %s", name, option_argument(search.found));
    return !equals && wants_value(search.found);
}

/* Of a character in UTF-8, which may be no letter of an option. */
static int character_bytes(const char *at)
{
    int bytes = 1;
    while (bytes < 4 && (at[bytes] & 0xc0) == 0x80)
        bytes++;
    return bytes;
}

/* "-abc" or "-oFILE"; true if the last one's value is the next argument. */
static bool check_letters(const struct parser *parser, const struct argp_state *state,
                          const char *letters, bool is_last)
{
    for (const char *at = letters; *at; at++) {
        struct search search = {.letter = (unsigned char)*at};
        look_through(&search, parser);
        look_through(&search, &added_parser);
        if (!search.found) {
            cli_usage_error(state, "'-%.*s' is not a valid option; %s", character_bytes(at), at,
                            where_to_look(state));
            return false;
        }
        if (option_argument(search.found) && at[1])
            return false;
        if (wants_value(search.found) && is_last)
            cli_usage_error(state, "-%c has no value; give %s", *at, option_argument(search.found));
        if (wants_value(search.found))
            return true;
    }
    return false;
}

void usage_check_options(const struct parser *parser, int argc, char **argv)
{
    const struct argp_state state = {.name = argv[0]};
    for (int k = 1; k < argc; k++) {
        const char *word = argv[k];
        const bool is_last = k + 1 == argc;
        if (strcmp(word, "--") == 0)
            return;
        if (strncmp(word, "--", 2) == 0)
            k += check_long(parser, &state, word + 2, is_last);
        else if (word[0] == '-' && word[1])
            k += check_letters(parser, &state, word + 1, is_last);
    }
}
