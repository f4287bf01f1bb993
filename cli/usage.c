/* Unknown options, reported before getopt does, with the nearest name. */

#include "usage.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "names.h"

/* What argp adds to each parser. */
static const struct argp_option added[] = {
    {"help", '?', NULL, 0, NULL, 0},
    {"usage", 1, NULL, 0, NULL, 0},
    {"version", 'V', NULL, 0, NULL, 0},
    {"program-name", 1, "NAME", OPTION_HIDDEN, NULL, 0},
    {"HANG", 1, "SECS", OPTION_HIDDEN | OPTION_ARG_OPTIONAL, NULL, 0},
    {0}};
static const struct argp added_argp = {added, NULL, NULL, NULL, NULL, NULL, NULL};

/* Looking for an option by its long name, which may be cut short, or by its letter. */
struct search {
    const char *name;
    size_t length;
    int letter;
    int matches;                     /* that the name begins; 1 if it is one's own */
    const struct argp_option *found; /* aliases: the option that they name */
    bool is_old;                     /* the match is a hidden alias: the name of another release */
    struct nearest nearest;
};

static bool is_end(const struct argp_option *option)
{
    return !option->key && !option->name && !option->doc && !option->group;
}

static void look_at(struct search *search, const struct argp_option *option,
                    const struct argp_option *real)
{
    const int key = option->key;
    if (search->letter) {
        if (key == search->letter && key <= 127 && isprint(key))
            search->found = real;
        return;
    }
    if (!option->name)
        return;
    if (!(option->flags & OPTION_HIDDEN))
        nearest_offer(&search->nearest, option->name);
    if (strncmp(option->name, search->name, search->length) != 0)
        return;
    const bool exact = strlen(option->name) == search->length;
    if (search->matches < 0) /* an exact match was before */
        return;
    search->matches = exact ? -1 : search->matches + 1;
    search->found = real;
    search->is_old = (option->flags & OPTION_ALIAS) && (option->flags & OPTION_HIDDEN);
}

static void look_through(struct search *search, const struct argp *argp)
{
    const struct argp_option *real = NULL;
    for (const struct argp_option *option = argp->options; option && !is_end(option); option++) {
        if (!(option->flags & OPTION_ALIAS))
            real = option;
        look_at(search, option, real);
    }
    for (const struct argp_child *child = argp->children; child && child->argp; child++)
        look_through(search, child->argp);
}

static bool wants_value(const struct argp_option *option)
{
    return option->arg && !(option->flags & OPTION_ARG_OPTIONAL);
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

/* argp lets a program hang, for its makers. */
static bool is_for_makers(const struct argp_option *option)
{
    return strcmp(option->name ? option->name : "", "HANG") == 0;
}

/* "--name" or "--name=value"; true if its value is the next argument. */
static bool check_long(const struct argp *argp, const struct argp_state *state, const char *word,
                       bool is_last)
{
    char name[64];
    const char *equals = strchr(word, '=');
    const size_t length = equals ? (size_t)(equals - word) : strlen(word);
    snprintf(name, sizeof name, "%.*s", (int)length, word);
    struct search search = {.name = word, .length = length, .nearest = nearest_to(name)};
    look_through(&search, argp);
    look_through(&search, &added_argp);
    if (!search.found || is_for_makers(search.found))
        cli_usage_error(state, "'--%s' is not a valid option; %s", name, hint_of(&search, state));
    if (search.matches > 1)
        cli_usage_error(state, "'--%s' may be several options; write it out (%s)", name,
                        where_to_look(state));
    if (search.is_old)
        cli_usage_error(state, "'--%s' is not a valid option; did you mean '--%s'?", name,
                        search.found->name);
    if (equals && !search.found->arg)
        cli_usage_error(state, "--%s takes no value; leave out '=' and what follows", name);
    if (!equals && wants_value(search.found) && is_last)
        cli_usage_error(state, "--%s has no value; give %s", name, search.found->arg);
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
static bool check_letters(const struct argp *argp, const struct argp_state *state,
                          const char *letters, bool is_last)
{
    for (const char *at = letters; *at; at++) {
        struct search search = {.letter = (unsigned char)*at};
        look_through(&search, argp);
        look_through(&search, &added_argp);
        if (!search.found) {
            cli_usage_error(state, "'-%.*s' is not a valid option; %s", character_bytes(at), at,
                            where_to_look(state));
            return false;
        }
        if (search.found->arg && at[1])
            return false;
        if (wants_value(search.found) && is_last)
            cli_usage_error(state, "-%c has no value; give %s", *at, search.found->arg);
        if (wants_value(search.found))
            return true;
    }
    return false;
}

void usage_check_options(const struct argp *argp, int argc, char **argv)
{
    const struct argp_state state = {.name = argv[0]};
    for (int k = 1; k < argc; k++) {
        const char *word = argv[k];
        const bool is_last = k + 1 == argc;
        if (strcmp(word, "--") == 0)
            return;
        if (strncmp(word, "--", 2) == 0)
            k += check_long(argp, &state, word + 2, is_last);
        else if (word[0] == '-' && word[1])
            k += check_letters(argp, &state, word + 1, is_last);
    }
}
