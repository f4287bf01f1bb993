/* MEGNO and the Lyapunov time against time, of a table of kith megno. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/numbers.h"
#include "io/csv_header.h"
#include "io/text.h"
#include "plot_style.h"

enum { table_columns = 4, first_rows = 256 };
enum { column_time, column_megno, column_mean, column_growth };

static const char *const column_names[table_columns] = {"time", "megno", "mean_megno", "growth"};

struct megno_table {
    double *value; /* rows × columns */
    int64_t rows, room;
};

static double at(const struct megno_table *table, int64_t row, int column)
{
    return table->value[row * table_columns + column];
}

/* The next line that is neither blank nor a comment, divided. */
static kith_status next_fields(struct text *text, char **fields, int32_t *count)
{
    bool found = false;
    *count = 0;
    do {
        const kith_status status = text_next(text, &found);
        if (status != KITH_OK || !found)
            return status;
    } while (!text->line[strspn(text->line, " \t")] || *text->line == '#');
    return csv_split(text->line, ',', csv_most_fields, fields, count);
}

static kith_status add_row(struct megno_table *table, char *const *fields, int32_t count,
                           const int32_t *place)
{
    if (table->rows == table->room) {
        const int64_t room = table->room > 0 ? 2 * table->room : first_rows;
        void *grown = realloc(table->value, (size_t)(room * table_columns) * sizeof(double));
        if (!grown)
            return kith_fail(KITH_OUT_OF_MEMORY, "out of memory: %lld rows", (long long)room);
        table->value = grown;
        table->room = room;
    }
    double *row = table->value + table->rows * table_columns;
    for (int k = 0; k < table_columns; k++)
        if (place[k] >= count || !parse_real(fields[place[k]], &row[k]))
            return kith_fail(KITH_BAD_FORMAT, "%s is '%.40s'; give a finite number",
                             column_names[k], place[k] < count ? fields[place[k]] : "");
    if (table->rows > 0 && !(row[column_time] > at(table, table->rows - 1, column_time)))
        return kith_fail(KITH_BAD_FORMAT, "time is %.15g, which is not after the time before it",
                         row[column_time]);
    table->rows++;
    return KITH_OK;
}

static kith_status find_columns(char *const *fields, int32_t count, int32_t *place)
{
    for (int k = 0; k < table_columns; k++) {
        for (place[k] = 0; place[k] < count; place[k]++)
            if (strcmp(fields[place[k]], column_names[k]) == 0)
                break;
        if (place[k] == count)
            return kith_fail(KITH_BAD_FORMAT,
                             "the file has no column %s; give a CSV file that kith megno wrote",
                             column_names[k]);
    }
    return KITH_OK;
}

static kith_status read_rows(struct text *text, struct megno_table *table)
{
    char *fields[csv_most_fields];
    int32_t count = 0, place[table_columns];
    kith_status status = next_fields(text, fields, &count);
    const int32_t columns = count;
    if (status == KITH_OK)
        status = find_columns(fields, count < csv_most_fields ? count : csv_most_fields, place);
    while (status == KITH_OK) {
        status = next_fields(text, fields, &count);
        if (status != KITH_OK || count == 0)
            break;
        if (count == columns)
            status = add_row(table, fields, count, place);
        else
            status = kith_fail(KITH_BAD_FORMAT, "expected %d fields, found %d", (int)columns,
                               (int)count);
    }
    if (status == KITH_BAD_FORMAT)
        return kith_fail_within(status, "line %lld: ", (long long)text->number);
    return status;
}

static kith_status read_table(const char *path, struct megno_table *table)
{
    struct text text;
    kith_status status = text_open(path, &text);
    if (status == KITH_OK) {
        status = read_rows(&text, table);
        text_close(&text);
    }
    if (status == KITH_OK && table->rows < 2)
        status = kith_fail(KITH_BAD_FORMAT, "there are %lld rows; give at least 2",
                           (long long)table->rows);
    if (status != KITH_OK)
        return kith_fail_within(status, "%s: ", path);
    return KITH_OK;
}

/* The time since the start over the growth; NaN while nothing grows. Rows are at equal times, the
 * first after one of them. */
static double lyapunov_time(const struct megno_table *table, int64_t k)
{
    const double first = at(table, 0, column_time);
    const double interval =
        (at(table, table->rows - 1, column_time) - first) / (double)(table->rows - 1);
    const double growth = at(table, k, column_growth);
    return growth > 0 ? (at(table, k, column_time) - first + interval) / growth : (double)NAN;
}

static struct span widened(struct span span)
{
    const double margin = span.high > span.low ? 0.06 * (span.high - span.low) : 0.5;
    return (struct span){span.low - margin, span.high + margin};
}

static struct span span_of_megno(const struct megno_table *table)
{
    struct span span = {0, 4}; /* with 2, of regular orbits, in the middle */
    for (int64_t k = 0; k < table->rows; k++)
        for (int c = column_megno; c <= column_mean; c++) {
            span.low = fmin(span.low, at(table, k, c));
            span.high = fmax(span.high, at(table, k, c));
        }
    return span;
}

static struct span span_of_lyapunov(const struct megno_table *table)
{
    struct span span = {INFINITY, -INFINITY};
    for (int64_t k = 0; k < table->rows; k++) {
        const double time = lyapunov_time(table, k);
        span.low = time < span.low ? time : span.low;
        span.high = time > span.high ? time : span.high;
    }
    if (!(span.low <= span.high))
        return (struct span){1, 10};
    return span.high > span.low ? span : (struct span){span.low / 2, span.high * 2};
}

static void write_data(FILE *script, const struct megno_table *table, const double factors[2])
{
    fprintf(script, "$megno << end_of_megno\n");
    for (int64_t k = 0; k < table->rows; k++)
        fprintf(script, "%.10g %.8g %.8g %.8g\n", at(table, k, column_time) * factors[0],
                at(table, k, column_megno), at(table, k, column_mean),
                lyapunov_time(table, k) * factors[1]);
    fprintf(script, "end_of_megno\n");
}

static void write_axes(FILE *script, const struct plot *plot, struct canvas canvas, struct box box,
                       const struct axis axes[2], bool is_last)
{
    style_axes(script, plot, canvas, box, axes);
    if (!is_last)
        fprintf(script, "set format x ''\nunset label 3\n");
}

static struct axis axis_of(struct span span, const char *symbol, struct unit unit, double steps)
{
    const struct span scaled = {span.low * unit.factor, span.high * unit.factor};
    return (struct axis){scaled, tic_step(scaled.high - scaled.low, steps), symbol, unit};
}

/* MEGNO above, the Lyapunov time below. */
static void draw(const struct plot *plot, const struct megno_table *table, FILE *script)
{
    const struct theme *theme = theme_of(plot);
    const struct margins margins = {6.4, 2, 3.9, plot->title ? 2.6 : 1.4};
    struct box all;
    const struct canvas canvas = style_lay_out(plot, margins, 1, 0.75, 0, &all);
    const double gap = 1.2 * canvas.em, height = (all.height - gap) / 2;
    const struct box below = {all.left, all.bottom, all.width, height};
    const struct box above = {all.left, all.bottom + height + gap, all.width, height};
    const struct span time = {at(table, 0, column_time), at(table, table->rows - 1, column_time)};
    const struct span megno = widened(span_of_megno(table)), lyapunov = span_of_lyapunov(table);
    const struct unit unit = unit_of(&time, 1, ""), none = {0, 1, ""};
    const double room[2] = {all.width / (7 * canvas.em), height / (2.5 * canvas.em)};
    const struct axis across = axis_of(time, "time", unit, room[0]);
    const struct axis upper[2] = {across, axis_of(megno, "MEGNO", none, room[1])};
    const struct axis lower[2] = {across, axis_of(lyapunov, "Lyapunov time", none, room[1])};
    style_begin(script, plot, canvas, "");
    style_header(script, plot, canvas, all, NULL);
    write_data(script, table, (const double[]){unit.factor, 1});
    fprintf(script, "set multiplot\n");
    write_axes(script, plot, canvas, above, upper, false);
    fprintf(
        script,
        "set key top left Left reverse samplen 1.4 textcolor rgb '#%06x'\n"
        "plot 2 with lines linecolor rgb '#%06x' title '2, of regular orbits', \\\n"
        "$megno using 1:2 with lines linecolor rgb '#%06x' title 'MEGNO', \\\n"
        "$megno using 1:3 with lines linewidth 1.8 linecolor rgb '#%06x' title 'mean of MEGNO'\n"
        "unset key\nunset label\n",
        theme->foreground, theme->faint, theme->body[0], theme->body[1]);
    write_axes(script, plot, canvas, below, lower, true);
    style_logarithmic_axis(script, lyapunov);
    fprintf(script, "plot $megno using 1:4 with lines linewidth 1.4 linecolor rgb '#%06x'\n",
            theme->body[0]);
    fprintf(script, "unset multiplot\n");
}

int plot_draw_megno(const struct plot *plot, kith_trajectory *trajectory, FILE *script)
{
    (void)trajectory;
    struct megno_table table = {0};
    const kith_status status = read_table(plot->input, &table);
    if (status == KITH_OK && table.rows >= 2)
        draw(plot, &table, script);
    free(table.value);
    return status == KITH_OK ? exit_ok : cli_fail(plot->command);
}
