/* Names that can be mistaken for each other: the nearest to a mistyped one, and tables of them. */

#include "names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Longer words are compared by their beginnings. */
enum { most_letters = 40 };

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* Optimal string alignment, a row a letter of the word; case does not count. */
static int distance_of(const char *word, const char *other)
{
    int row[3][most_letters + 1];
    const int length = (int)strnlen(word, most_letters),
              columns = (int)strnlen(other, most_letters);
    for (int j = 0; j <= columns; j++)
        row[0][j] = j;
    for (int i = 1; i <= length; i++) {
        int *now = row[i % 3];
        const int *above = row[(i + 2) % 3], *before = row[(i + 1) % 3];
        now[0] = i;
        for (int j = 1; j <= columns; j++) {
            const int differs = (word[i - 1] | 32) != (other[j - 1] | 32);
            now[j] = least(least(above[j], now[j - 1]) + 1, above[j - 1] + differs);
            if (i > 1 && j > 1 && word[i - 1] == other[j - 2] && word[i - 2] == other[j - 1])
                now[j] = least(now[j], before[j - 2] + 1);
        }
    }
    return row[length % 3][columns];
}

struct nearest nearest_to(const char *word)
{
    const int letters = (int)strnlen(word, most_letters);
    return (struct nearest){word, NULL, (letters < 6 ? 1 : letters / 3) + 1};
}

void nearest_offer(struct nearest *nearest, const char *candidate)
{
    const size_t length = strlen(nearest->word);
    const bool begins = length > 2 && strncmp(nearest->word, candidate, length) == 0;
    const int distance = begins ? 1 : distance_of(nearest->word, candidate);
    if (length < 2 || distance >= nearest->distance)
        return;
    nearest->found = candidate;
    nearest->distance = distance;
}

const char *nearest_hint(const struct nearest *nearest, const char *otherwise)
{
    static char text[96];
    if (!nearest->found)
        return otherwise;
    snprintf(text, sizeof text, "did you mean '%.60s'?", nearest->found);
    return text;
}

const char *choice_at(const struct choices *choices, int64_t k)
{
    int64_t words = 0;
    while (words < choices_most_words && choices->words[words])
        if (words++ == k)
            return choices->words[k];
    const char *name = NULL, *description = NULL;
    return choices->row && choices->row(k - words, &name, &description) ? name : NULL;
}

/* "give one of a, b or c". */
static void list_choices(const struct choices *choices, char *text, size_t bytes)
{
    size_t used = (size_t)snprintf(text, bytes, "give %s", choice_at(choices, 2) ? "one of " : "");
    for (int64_t k = 0; choice_at(choices, k) && used < bytes; k++)
        used += (size_t)snprintf(text + used, bytes - used, "%s%s",
                                 k == 0                      ? ""
                                 : choice_at(choices, k + 1) ? ", "
                                                             : " or ",
                                 choice_at(choices, k));
}

int64_t cli_parse_choice(const char *option, const char *text, const struct choices *choices,
                         const struct argp_state *state)
{
    struct nearest nearest = nearest_to(text);
    for (int64_t k = 0; choice_at(choices, k); k++) {
        if (strcmp(text, choice_at(choices, k)) == 0)
            return k;
        nearest_offer(&nearest, choice_at(choices, k));
    }
    char all[512];
    list_choices(choices, all, sizeof all);
    cli_usage_error(state, "%s is '%s'; %s", option, text, nearest_hint(&nearest, all));
}

const char *cli_parse_word(const char *option, const char *text, const struct choices *choices,
                           const struct argp_state *state)
{
    return choice_at(choices, cli_parse_choice(option, text, choices, state));
}

/* Row k of a table of the library. */
#define DEFINE_CHOICES(many, argument, type, list)                                                 \
    static bool row_of_##many(int64_t k, const char **name, const char **description)              \
    {                                                                                              \
        int64_t count = 0;                                                                         \
        const type *table = list(&count);                                                          \
        if (k >= count)                                                                            \
            return false;                                                                          \
        *name = table[k].name;                                                                     \
        *description = table[k].description;                                                       \
        return true;                                                                               \
    }                                                                                              \
    const struct choices choices_of_##many = {argument, {NULL}, row_of_##many};

DEFINE_CHOICES(formats, "FORMAT", kith_format, kith_format_list)
DEFINE_CHOICES(integrators, "NAME", kith_integrator, kith_integrator_list)
DEFINE_CHOICES(kinds, "KIND", kith_initial, kith_initial_list)
