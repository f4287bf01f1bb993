/* The possible arguments: an option's choices, words of the tables that --help shows, files,
 * folders. */

#include "describe.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static void add_word(struct described_values *values, const char *text, size_t length)
{
    if (length > 0 && values->count < described_most_values)
        snprintf(values->words[values->count++], described_bytes, "%.*s", (int)length, text);
}

/* Names as tables show them: "csv (.csv)", "yukawa:L", "lennard-jones[:EPS,SIGMA]". */
static void add_name(struct described_values *values, const char *name)
{
    const size_t length = strcspn(name, " [:");
    add_word(values, name, length + (name[length] == ':'));
}

/* The table of --help that lists what the argument stands for: "Systems" for SYSTEM. */
static bool add_table(const struct description *description, const char *argument,
                      struct described_values *values)
{
    for (int k = 0; k < description->table_count; k++) {
        const struct described_table *table = &description->tables[k];
        if (strncasecmp(table->title, argument, strlen(argument)) != 0)
            continue;
        for (int i = 0; i < table->count; i++)
            add_name(values, table->rows[i].name);
        return true;
    }
    return false;
}

static void add_choices(struct described_values *values, const struct choices *choices)
{
    for (int64_t k = 0; choice_at(choices, k); k++)
        add_name(values, choice_at(choices, k));
}

static bool is_one_of(const char *word, const char *const *words)
{
    for (; *words; words++)
        if (strcmp(word, *words) == 0)
            return true;
    return false;
}

static void add_files(const char *argument, struct described_values *values)
{
    static const char *const files[] = {"FILE",    "OTHER",   "RUN",  "MATRIX",
                                        "PICTURE", "PROGRAM", "PAGE", NULL};
    const bool lists = strstr(argument, "..."); /* as "N,..." */
    values->folder |= strcmp(argument, "FOLDER") == 0;
    values->file |= is_one_of(argument, files) || (strchr(argument, '.') && !lists);
}

void describe_option_values(const struct described_option *option, struct described_values *values)
{
    *values = (struct described_values){0};
    if (option->choices)
        add_choices(values, option->choices);
    else if (option->argument)
        add_files(option->argument, values);
}

/* One of the words that --help shows for them: "FILE", "[SYSTEM...]", "[forces|matrix]". */
static void add_argument(const struct description *description, const char *word,
                         struct described_values *values)
{
    if (islower((unsigned char)*word))
        add_name(values, word);
    else if (strlen(word) == 1) /* A and B of kith convert */
        values->file = true;
    else if (!add_table(description, word, values) || strcmp(word, "MATRIX") == 0)
        add_files(word, values);
    if (strcmp(word, "FILE") == 0 && description->takes_kinds)
        add_choices(values, &choices_of_kinds);
}

void describe_argument_values(const struct description *description,
                              struct described_values *values)
{
    static const char between[] = " \n[]|";
    *values = (struct described_values){0};
    bool is_option = false; /* "--dt D" is no argument, and neither is its D */
    for (const char *at = description->arguments; *(at += strspn(at, between));) {
        const size_t length = strcspn(at, between);
        char word[described_bytes];
        snprintf(word, sizeof word, "%.*s", (int)length, at);
        if (strstr(word, "..."))
            *strstr(word, "...") = '\0';
        const bool belongs = is_option;
        is_option = *word == '-';
        if (!is_option && !belongs)
            add_argument(description, word, values);
        at += length;
    }
}

char *describe_briefly(const char *text)
{
    const char *end = text + strlen(text);
    for (const char *cut = text; *cut; cut++)
        if (*cut == ';' || strncmp(cut, " (", 2) == 0 || strncmp(cut, ": see", 5) == 0) {
            end = cut;
            break;
        }
    return strndup(text, (size_t)(end - text));
}
