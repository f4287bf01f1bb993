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

/* "give one of a, b or c". */
static void list_names(int64_t count, const char *(*name)(int64_t k), char *text, size_t bytes)
{
    size_t used = (size_t)snprintf(text, bytes, "give ");
    for (int64_t k = 0; k < count && used < bytes; k++)
        used += (size_t)snprintf(text + used, bytes - used, "%s%s",
                                 k == 0           ? count > 2 ? "one of " : ""
                                 : k + 1 == count ? " or "
                                                  : ", ",
                                 name(k));
}

int64_t cli_parse_name(const char *option, const char *text, int64_t count,
                       const char *(*name)(int64_t k), const struct argp_state *state)
{
    struct nearest nearest = nearest_to(text);
    for (int64_t k = 0; k < count; k++) {
        if (strcmp(text, name(k)) == 0)
            return k;
        nearest_offer(&nearest, name(k));
    }
    char all[512];
    list_names(count, name, all, sizeof all);
    cli_usage_error(state, "%s is '%s'; %s", option, text, nearest_hint(&nearest, all));
}

/* The table and its length: a function for the name in row k, and one for the number of rows. */
#define DEFINE_NAMES(one, many, type, list)                                                        \
    const char *name_of_##one(int64_t k)                                                           \
    {                                                                                              \
        int64_t count = 0;                                                                         \
        const type *table = list(&count);                                                          \
        return table[k].name;                                                                      \
    }                                                                                              \
    int64_t count_of_##many(void)                                                                  \
    {                                                                                              \
        int64_t count = 0;                                                                         \
        list(&count);                                                                              \
        return count;                                                                              \
    }

DEFINE_NAMES(format, formats, kith_format, kith_format_list)
DEFINE_NAMES(integrator, integrators, kith_integrator, kith_integrator_list)
DEFINE_NAMES(isa, isas, kith_isa, kith_isa_list)
DEFINE_NAMES(kind, kinds, kith_initial, kith_initial_list)

const char *cli_parse_format(const char *option, const char *text, const struct argp_state *state)
{
    return name_of_format(cli_parse_name(option, text, count_of_formats(), name_of_format, state));
}
