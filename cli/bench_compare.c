/* kith bench --compare: the figures of two machines side by side. */

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_all.h"
#include "bench_figures.h"
#include "cli.h"
#include "core/printable.h"
#include "json.h"
#include "streams.h"

/* A file of kith bench --json. */
struct measured {
    const char *path;
    cJSON *report;
    struct figures figures;
};

/* The whole file, with a zero at its end, on the heap; NULL after telling why not. */
static char *read_text(const char *command, const char *path)
{
    FILE *file = fopen(path, "r");
    char *text = NULL;
    size_t room = 0;
    if (file && getdelim(&text, &room, EOF, file) < 0) {
        free(text);
        text = ferror(file) ? NULL : strdup("");
    }
    if (!text)
        cli_fail_with(command, "%s: cannot be read: %s", path, strerror(errno));
    if (file)
        fclose(file);
    return text;
}

static bool read_measured(const char *command, struct measured *measured)
{
    if (cli_take_plain_input(command, &measured->path, NULL) != exit_ok)
        return false;
    char *text = read_text(command, measured->path);
    if (!text)
        return false;
    measured->report = cJSON_Parse(text);
    free(text);
    if (!measured->report || !figures_take(measured->report, &measured->figures) ||
        measured->figures.count == 0) {
        cli_fail_with(command, "%s has no figures of kith bench; give what kith bench --json wrote",
                      measured->path);
        return false;
    }
    figures_arrange(&measured->figures);
    return true;
}

static bool is_same(const struct figure *one, const struct figure *other)
{
    return strcmp(one->panel, other->panel) == 0 && strcmp(one->what, other->what) == 0 &&
           strcmp(one->series, other->series) == 0 && one->size == other->size &&
           strcmp(one->unit, other->unit) == 0;
}

static const struct figure *find(const struct figures *figures, const struct figure *wanted)
{
    for (int64_t k = 0; k < figures->count; k++)
        if (is_same(&figures->at[k], wanted))
            return &figures->at[k];
    return NULL;
}

static const char *word(const cJSON *report, const char *key)
{
    const cJSON *machine = cJSON_GetObjectItem(report, "machine");
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItem(machine, key));
    return text ? text : "?";
}

static void print_machine(char letter, const struct measured *measured)
{
    const cJSON *report = measured->report;
    const char *gpu =
        cJSON_GetStringValue(cJSON_GetObjectItem(cJSON_GetObjectItem(report, "machine"), "gpu"));
    char line[1024], printable[sizeof line];
    snprintf(line, sizeof line, "%s: %s%s%s, kith %s", measured->path, word(report, "processor"),
             gpu ? ", " : "", gpu ? gpu : "", word(report, "version"));
    make_printable(line, printable, sizeof printable);
    printf("%c  %s\n", letter, printable);
}

static void print_row(const struct figure *a, const struct figure *b)
{
    char row[48];
    snprintf(row, sizeof row, "%s", *a->what ? a->what : figure_size(a->size));
    printf("  %-40.40s %12.12s %9s %9s %7.2f\n", a->series, row, figure_text(a->rate),
           figure_text(b->rate), b->rate / a->rate);
}

/* What is in both files: how many, and the sum of the logarithms of b over a. */
struct sums {
    int64_t count;
    double logarithms;
};

static struct sums print_both(const struct measured *a, const struct measured *b, cJSON *rows)
{
    struct sums sums = {0};
    const char *panel = "";
    for (int64_t k = 0; k < a->figures.count; k++) {
        const struct figure *one = &a->figures.at[k], *other = find(&b->figures, one);
        if (!other)
            continue;
        if (!rows && strcmp(panel, one->panel) != 0)
            printf("\n%-55.55s %9s %9s %7s\n", one->panel, "A", "B", "B/A");
        panel = one->panel;
        sums.count++;
        sums.logarithms += log(other->rate / one->rate);
        if (!rows) {
            print_row(one, other);
            continue;
        }
        cJSON *row = cJSON_CreateObject();
        cJSON_AddStringToObject(row, "panel", one->panel);
        cJSON_AddStringToObject(row, "what", one->what);
        cJSON_AddStringToObject(row, "series", one->series);
        json_add_real(row, "size", one->size);
        cJSON_AddStringToObject(row, "unit", one->unit);
        json_add_real(row, "a", one->rate);
        json_add_real(row, "b", other->rate);
        json_add_real(row, "ratio", other->rate / one->rate);
        cJSON_AddItemToArray(rows, row);
    }
    return sums;
}

static int64_t count_common(const struct measured *a, const struct measured *b)
{
    int64_t count = 0;
    for (int64_t k = 0; k < a->figures.count; k++)
        count += find(&b->figures, &a->figures.at[k]) != NULL;
    return count;
}

static int check_fit(const char *command, const struct measured *a, const struct measured *b)
{
    const bool quick[] = {cJSON_IsTrue(cJSON_GetObjectItem(a->report, "quick")),
                          cJSON_IsTrue(cJSON_GetObjectItem(b->report, "quick"))};
    if (quick[0] != quick[1])
        return cli_fail_with(command, "%s is of --quick and %s is not; measure both in one way",
                             quick[0] ? a->path : b->path, quick[0] ? b->path : a->path);
    if (count_common(a, b) == 0)
        return cli_fail_with(command,
                             "%s and %s have no figure in common; measure the same capabilities "
                             "and sizes",
                             a->path, b->path);
    return exit_ok;
}

static int compare(const char *command, const struct measured *a, const struct measured *b,
                   bool json)
{
    const int code = check_fit(command, a, b);
    if (code != exit_ok)
        return code;
    cJSON *object = json ? cJSON_CreateObject() : NULL;
    cJSON *rows = json ? cJSON_AddArrayToObject(object, "rows") : NULL;
    if (!json) {
        print_machine('A', a);
        print_machine('B', b);
    }
    const struct sums sums = print_both(a, b, rows);
    const double mean = exp(sums.logarithms / (double)sums.count);
    const int64_t only_a = a->figures.count - sums.count, only_b = b->figures.count - sums.count;
    if (!json) {
        printf("\nB is %.2f times as fast as A (geometric mean of %lld figures)\n", mean,
               (long long)sums.count);
        if (only_a + only_b > 0)
            printf("%lld figures of A and %lld of B have no counterpart\n", (long long)only_a,
                   (long long)only_b);
        return exit_ok;
    }
    json_add_real(object, "mean_ratio", mean);
    json_add_count(object, "only_in_a", only_a);
    json_add_count(object, "only_in_b", only_b);
    return json_print(command, object);
}

int bench_compare(const char *command, const char *const paths[2], bool json)
{
    struct measured a = {.path = paths[0]}, b = {.path = paths[1]};
    int code = exit_failed;
    if (read_measured(command, &a) && read_measured(command, &b))
        code = compare(command, &a, &b, json);
    figures_free(&a.figures);
    figures_free(&b.figures);
    cJSON_Delete(a.report);
    cJSON_Delete(b.report);
    return code;
}
