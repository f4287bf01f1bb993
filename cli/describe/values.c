/* The possible arguments: choices, files, folders. */

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

void describe_option_values(const struct option_row *row, struct described_values *values)
{
    *values = (struct described_values){0};
    if (row->choices)
        add_choices(values, row->choices);
    else if (row->argument)
        add_files(row->argument, values);
}

void describe_argument_values(const struct description *description,
                              struct described_values *values)
{
    *values = (struct described_values){0};
    for (int k = 0; k < description->word_count; k++) {
        const struct option_row *row = description->words[k];
        if (row->choices)
            add_choices(values, row->choices);
        else
            values->file = true;
        if (strcmp(row->argument, "FILE") == 0 && description->takes_kinds)
            add_choices(values, &choices_of_kinds);
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
