/* The figures of all benchmarks in one form, from their JSON. */

#include "bench_figures.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/printable.h"

static double number(const cJSON *object, const char *key)
{
    const cJSON *item = cJSON_GetObjectItem(object, key);
    return cJSON_IsNumber(item) ? item->valuedouble : NAN;
}

static const char *word(const cJSON *object, const char *key)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItem(object, key));
    return text ? text : "";
}

/* A report's names go to terminals, JSON and pages. */
static void escape(char *text, size_t bytes)
{
    char given[sizeof((struct figure *)NULL)->panel];
    snprintf(given, sizeof given, "%s", text);
    make_printable(given, text, bytes);
}

/* Takes a figure unless its rate is none. False without memory. */
static bool add(struct figures *figures, struct figure figure)
{
    if (!isfinite(figure.rate) || figure.rate <= 0)
        return true;
    if (figures->count == figures->room) {
        const int64_t room = figures->room ? 2 * figures->room : 128;
        struct figure *moved = realloc(figures->at, (size_t)room * sizeof *moved);
        if (!moved)
            return false;
        figures->at = moved;
        figures->room = room;
    }
    escape(figure.panel, sizeof figure.panel);
    escape(figure.what, sizeof figure.what);
    escape(figure.series, sizeof figure.series);
    figures->at[figures->count++] = figure;
    return true;
}

/* Machines differ in how many there are, so all are called so. */
static void name_threads(const cJSON *machine, double threads, char *text, size_t bytes)
{
    if (isnan(threads))
        text[0] = 0;
    else if (threads == 1)
        snprintf(text, bytes, ", 1 thread");
    else if (threads == number(machine, "cores"))
        snprintf(text, bytes, ", all threads");
    else
        snprintf(text, bytes, ", %.0f threads", threads);
}

/* A row of bench forces; the instruction set is the machine's. */
static bool take_forces_row(struct figures *figures, const cJSON *machine, const cJSON *row,
                            bool is_steps)
{
    struct figure figure = {.capability = "forces", .size = number(row, "bodies")};
    const char *panel = !is_steps                     ? "Forces: all pairs"
                        : number(row, "systems") == 1 ? "Steps: one system"
                                                      : "Steps: an ensemble";
    const char *measured = word(row, "measured");
    char threads[32];
    name_threads(machine, number(row, "threads"), threads, sizeof threads);
    snprintf(figure.panel, sizeof figure.panel, "%s", panel);
    snprintf(figure.series, sizeof figure.series, "%.16s %.8s%.20s%s%.16s", word(row, "program"),
             word(row, "precision"), threads, *measured ? ", " : "", measured);
    figure.unit = is_steps ? "steps/s" : "interactions/s";
    figure.rate = number(row, is_steps ? "steps_per_second" : "interactions_per_second");
    return add(figures, figure);
}

static bool take_forces(struct figures *figures, const cJSON *machine, const cJSON *part)
{
    const cJSON *row = NULL;
    bool done = true;
    cJSON_ArrayForEach(row, cJSON_GetObjectItem(part, "forces")) done =
        done && take_forces_row(figures, machine, row, false);
    cJSON_ArrayForEach(row, cJSON_GetObjectItem(part, "steps")) done =
        done && take_forces_row(figures, machine, row, true);
    return done;
}

static bool take_matrix(struct figures *figures, const cJSON *machine, const cJSON *part)
{
    (void)machine;
    const cJSON *row = NULL;
    bool done = true;
    cJSON_ArrayForEach(row, cJSON_GetObjectItem(part, "rows"))
    {
        struct figure figure = {.capability = "matrix", .size = number(row, "particles")};
        const char *what = word(row, "what"), *law = word(row, "law");
        const bool is_product = strcmp(what, "V b") == 0, is_fill = strcmp(what, "fill") == 0;
        snprintf(figure.panel, sizeof figure.panel, "Matrix: %s, %.8s",
                 is_product ? "times a vector" : "its elements", word(part, "precision"));
        snprintf(figure.series, sizeof figure.series, "%.30s%s%.30s",
                 is_product || is_fill ? "kith" : what, *law ? " " : "", law);
        figure.unit = "pairs/s";
        figure.rate = number(row, "pairs_per_second");
        done = done && add(figures, figure);
    }
    return done;
}

static bool take_pairs_row(struct figures *figures, const cJSON *row)
{
    static const char *const precisions[] = {"double", "single"};
    struct figure figure = {.capability = "pairs", .unit = "pairs/s"};
    bool done = true;
    figure.size = number(row, "points");
    snprintf(figure.panel, sizeof figure.panel, "Pairs: %.40s", word(row, "system"));
    for (int k = 0; k < 2; k++) {
        const cJSON *one = cJSON_GetObjectItem(row, precisions[k]);
        figure.rate = number(one, "pairs_per_second");
        snprintf(figure.series, sizeof figure.series, "kith %s", precisions[k]);
        done = done && add(figures, figure);
    }
    const double pairs = number(cJSON_GetObjectItem(row, "double"), "pairs");
    const cJSON *peer = NULL;
    cJSON_ArrayForEach(peer, cJSON_GetObjectItem(row, "peer_seconds"))
    {
        figure.rate = pairs / peer->valuedouble;
        snprintf(figure.series, sizeof figure.series, "%.60s", peer->string);
        done = done && add(figures, figure);
    }
    return done;
}

static bool take_pairs(struct figures *figures, const cJSON *machine, const cJSON *part)
{
    (void)machine;
    const cJSON *row = NULL;
    bool done = true;
    cJSON_ArrayForEach(row, cJSON_GetObjectItem(part, "systems")) done =
        done && take_pairs_row(figures, row);
    return done;
}

static bool take_collisions(struct figures *figures, const cJSON *machine, const cJSON *part)
{
    (void)machine;
    const cJSON *row = NULL;
    bool done = true;
    cJSON_ArrayForEach(row, cJSON_GetObjectItem(part, "rows"))
    {
        struct figure figure = {.capability = "collisions", .unit = "beads/s"};
        figure.size = number(row, "beads");
        figure.rate = number(row, "beads_per_second");
        const char *kind = word(row, "kind");
        snprintf(figure.panel, sizeof figure.panel, "Collisions: %s%.40s",
                 strcmp(kind, "64 beads") == 0 ? "chains of " : "", kind);
        snprintf(figure.series, sizeof figure.series, "%.60s", word(row, "method"));
        done = done && add(figures, figure);
    }
    return done;
}

/* A matrix of bench sparse, or on a GPU of one precision. */
static bool take_sparse_row(struct figures *figures, const cJSON *row)
{
    const char *precision = word(row, "precision");
    const double flop = 2 * number(row, "nonzeros");
    struct figure figure = {.capability = "sparse", .unit = "flop/s"};
    figure.size = number(row, "nonzeros");
    snprintf(figure.panel, sizeof figure.panel, "Sparse: matrix times vector%s%.8s",
             *precision ? ", " : "", precision);
    snprintf(figure.what, sizeof figure.what, "%.30s", word(row, "matrix"));
    snprintf(figure.series, sizeof figure.series, "kith");
    figure.rate = flop / number(row, "seconds");
    bool done = add(figures, figure);
    const cJSON *peers = cJSON_GetObjectItem(row, "peer_seconds"), *peer = NULL;
    if (!peers)
        peers = cJSON_GetObjectItem(row, "peers");
    cJSON_ArrayForEach(peer, peers)
    {
        snprintf(figure.series, sizeof figure.series, "%.60s", peer->string);
        figure.rate = flop / peer->valuedouble;
        done = done && add(figures, figure);
    }
    return done;
}

static bool take_sparse(struct figures *figures, const cJSON *machine, const cJSON *part)
{
    (void)machine;
    const cJSON *row = NULL, *rows = cJSON_GetObjectItem(part, "matrices");
    bool done = true;
    if (!rows)
        rows = cJSON_GetObjectItem(part, "rows");
    cJSON_ArrayForEach(row, rows) done = done && take_sparse_row(figures, row);
    return done;
}

static const struct {
    const char *capability;
    bool (*take)(struct figures *figures, const cJSON *machine, const cJSON *part);
} takers[] = {{"forces", take_forces},
              {"matrix", take_matrix},
              {"pairs", take_pairs},
              {"collisions", take_collisions},
              {"sparse", take_sparse}};

bool figures_take(const cJSON *report, struct figures *figures)
{
    const cJSON *machine = cJSON_GetObjectItem(report, "machine");
    const cJSON *parts = cJSON_GetObjectItem(report, "capabilities");
    bool done = true;
    *figures = (struct figures){0};
    for (size_t k = 0; k < sizeof takers / sizeof takers[0]; k++) {
        const bool is_it = strcmp(word(report, "capability"), takers[k].capability) == 0;
        const cJSON *part = is_it ? report : cJSON_GetObjectItem(parts, takers[k].capability);
        if (part)
            done = done && takers[k].take(figures, machine, part);
    }
    return done;
}

static bool is_of_panel(const struct figure *one, const struct figure *other)
{
    return strcmp(one->panel, other->panel) == 0;
}

static bool is_of_series(const struct figure *one, const struct figure *other)
{
    return is_of_panel(one, other) && strcmp(one->series, other->series) == 0;
}

static bool is_of_row(const struct figure *one, const struct figure *other)
{
    return is_of_panel(one, other) && strcmp(one->what, other->what) == 0 &&
           (*one->what || one->size == other->size);
}

static int compare_orders(const void *one, const void *other)
{
    const struct figure *a = one, *b = other;
    return (a->row_place > b->row_place) - (a->row_place < b->row_place);
}

/* The first figure that is like figure k. */
static int64_t first_like(const struct figures *figures, int64_t k,
                          bool (*alike)(const struct figure *one, const struct figure *other))
{
    for (int64_t i = 0; i < k; i++)
        if (alike(&figures->at[i], &figures->at[k]))
            return i;
    return k;
}

void figures_arrange(struct figures *figures)
{
    struct figure *at = figures->at;
    for (int64_t k = 0; k < figures->count; k++)
        at[k].row_place = first_like(figures, k, is_of_panel) * figures->count + k;
    if (figures->count > 0)
        qsort(at, (size_t)figures->count, sizeof *at, compare_orders);
    int64_t series = 0, rows = 0;
    for (int64_t k = 0; k < figures->count; k++) {
        if (k == 0 || !is_of_panel(&at[k - 1], &at[k]))
            series = rows = 0;
        const int64_t like = first_like(figures, k, is_of_series),
                      row = first_like(figures, k, is_of_row);
        at[k].series_place = like == k ? series++ : at[like].series_place;
        at[k].row_place = row == k ? rows++ : at[row].row_place;
    }
}

void figures_free(struct figures *figures)
{
    free(figures->at);
    *figures = (struct figures){0};
}

/* Divides by thousands; the prefix of what is left, or 0. */
static char take_prefix(double *value)
{
    static const char prefixes[] = "kMGTPE";
    char prefix = 0;
    for (int k = 0; fabs(*value) >= 999.5 && prefixes[k]; k++) {
        *value /= 1000;
        prefix = prefixes[k];
    }
    return prefix;
}

enum { text_count = 8, text_bytes = 32 };

const char *figure_text(double value)
{
    static char texts[text_count][text_bytes];
    static int next;
    char *text = texts[next++ % text_count];
    const char prefix = take_prefix(&value);
    snprintf(text, text_bytes, "%.3g%s%.1s", value, prefix ? " " : "", &prefix);
    return text;
}

const char *figure_size(double size)
{
    static char texts[text_count][text_bytes];
    static int next;
    char *text = texts[next++ % text_count];
    const char prefix = size < 10000 ? 0 : take_prefix(&size);
    snprintf(text, text_bytes, "%.4g%.1s", size, &prefix);
    return text;
}
