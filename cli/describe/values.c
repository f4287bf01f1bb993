/* The possible arguments of an option: words of the tables and lists that --help shows, or of
 * the library's tables; files, folders. */

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

static bool is_title_of(const char *title, const char *word)
{
    return word && *word && strncasecmp(title, word, strlen(word)) == 0;
}

/* The table of --help that lists what the argument stands for: "Formats" for FORMAT, "Integrators"
 * for --integrator. */
static bool add_table(const struct description *description, const char *argument,
                      const char *option, struct described_values *values)
{
    for (int k = 0; k < description->table_count; k++) {
        const struct described_table *table = &description->tables[k];
        if (!is_title_of(table->title, argument) && !is_title_of(table->title, option))
            continue;
        for (int i = 0; i < table->count; i++)
            add_name(values, table->rows[i].name);
        return true;
    }
    return false;
}

/* The length of a word that could be typed, at the start of text: "double", or "cuda:K". */
static size_t word_length(const char *text)
{
    size_t length = 0;
    while (islower((unsigned char)text[length]) || isdigit((unsigned char)text[length]) ||
           text[length] == '-')
        length++;
    if (length > 0 && text[length] == ':' && isupper((unsigned char)text[length + 1]))
        length += 2;
    return length;
}

/* The separator of a list, as "a, b or c", at the start of text: its length, or 0. */
static size_t separator_length(const char *text)
{
    static const char *const separators[] = {", or ", ", ", " or ", " and ", NULL};
    for (const char *const *separator = separators; *separator; separator++)
        if (strncmp(text, *separator, strlen(*separator)) == 0)
            return strlen(*separator);
    return 0;
}

/* The words of a list that a text begins with, "single or double (default: double)"; at least one
 * must follow another. A last one of several words, "or a number", is left out. */
static bool add_listed(const char *text, struct described_values *values)
{
    struct described_values found = {0};
    for (;;) {
        const size_t length = word_length(text), next = separator_length(text + length);
        const bool ends =
            text[length] == '\0' || text[length] == ';' || strncmp(text + length, " (", 2) == 0;
        if (length == 0 || (next == 0 && !ends))
            break;
        char word[described_bytes];
        snprintf(word, sizeof word, "%.*s", (int)length, text);
        add_name(&found, word);
        if (ends)
            break;
        text += length + next;
    }
    if (found.count < 2)
        return false;
    *values = found;
    return true;
}

/* The same after a colon: "a value a row: sum or min". */
static bool add_listed_anywhere(const char *text, struct described_values *values)
{
    const char *colon = strstr(text, ": ");
    return add_listed(text, values) || (colon && add_listed(colon + 2, values));
}

static void add_laws(struct described_values *values)
{
    int64_t count = 0;
    const kith_law_info *laws = kith_law_list(&count);
    for (int64_t k = 0; k < count; k++) {
        char name[described_bytes];
        snprintf(name, sizeof name, "%s%s", laws[k].name,
                 *laws[k].arguments && *laws[k].arguments != '[' ? ":" : "");
        add_name(values, name);
    }
}

static void add_kinds(struct described_values *values)
{
    int64_t count = 0;
    const kith_initial *kinds = kith_initial_list(&count);
    for (int64_t k = 0; k < count; k++)
        add_name(values, kinds[k].name);
}

static void add_formats(struct described_values *values)
{
    int64_t count = 0;
    const kith_format *formats = kith_format_list(&count);
    for (int64_t k = 0; k < count; k++)
        add_name(values, formats[k].name);
}

static void add_integrators(struct described_values *values)
{
    int64_t count = 0;
    const kith_integrator *integrators = kith_integrator_list(&count);
    for (int64_t k = 0; k < count; k++)
        add_name(values, integrators[k].name);
}

static void add_solvers(struct described_values *values)
{
    add_name(values, "auto");
    for (int64_t k = 0; kith_solver_at(k); k++)
        add_name(values, kith_solver_describe(kith_solver_at(k)).name);
}

/* What the library knows, where --help has no table of it. */
static bool add_known(const char *argument, const char *option, struct described_values *values)
{
    static const struct {
        const char *argument, *option;
        void (*add)(struct described_values *values);
    } known[] = {{"LAW", "law", add_laws},          {"NAME", "integrator", add_integrators},
                 {"SOLVER", "solver", add_solvers}, {"FORMAT", "from", add_formats},
                 {"FORMAT", "to", add_formats},     {"KIND", NULL, add_kinds}};
    for (size_t k = 0; k < sizeof known / sizeof known[0]; k++)
        if (strcmp(argument, known[k].argument) == 0 &&
            (!known[k].option || (option && strcmp(option, known[k].option) == 0))) {
            known[k].add(values);
            return true;
        }
    return false;
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
    static const char *const files[] = {"FILE",   "OTHER",   "A",       "B",    "RUN",
                                        "MATRIX", "PICTURE", "PROGRAM", "PAGE", NULL};
    const bool lists = strstr(argument, "..."); /* as "N,..." */
    values->folder |= strcmp(argument, "FOLDER") == 0;
    values->file |= is_one_of(argument, files) || (strchr(argument, '.') && !lists);
}

void describe_option_values(const struct description *description,
                            const struct described_option *option, struct described_values *values)
{
    const char *argument = option->argument;
    *values = (struct described_values){0};
    if (!argument)
        return;
    add_files(argument, values);
    if (values->file || values->folder)
        return;
    if (!add_table(description, argument, option->names[0], values) &&
        !add_listed_anywhere(option->text, values))
        add_known(argument, option->names[0], values);
    if (strcmp(argument, "LAW") == 0)
        add_name(values, "expr:");
}

/* Whether FILE may be a kind of kith make too. */
static bool takes_kinds(const struct description *description)
{
    for (int k = 0; k < description->option_count; k++)
        if (strstr(description->options[k].text, "kind of kith make"))
            return true;
    return false;
}

/* One of the words that --help shows for them: "FILE", "[SYSTEM...]", "[forces|matrix]". */
static void add_argument(const struct description *description, const char *word,
                         struct described_values *values)
{
    if (islower((unsigned char)*word))
        add_name(values, word);
    else if (!add_table(description, word, NULL, values) || strcmp(word, "MATRIX") == 0)
        add_files(word, values);
    if (strcmp(word, "FILE") == 0 && takes_kinds(description))
        add_kinds(values);
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
