/* Pictures of a sparse matrix: where its entries are, and how long its rows. */

#include <math.h>
#include <stdlib.h>

#include "plot.h"
#include "plot_style.h"

enum { cells_of_longer_side = 160, longest_linear = 200 };

/* The rows of the matrix in the file that is to be drawn. */
struct matrix {
    int64_t rows, columns, nonzeros;
    int64_t *row_start;
    int32_t *column;
    char note[96];
};

static void release(struct matrix *matrix)
{
    free(matrix->row_start);
    free(matrix->column);
}

static bool take_rows(const struct plot *plot, kith_sparse *sparse, struct matrix *matrix)
{
    kith_sparse_info info;
    if (kith_sparse_describe(sparse, KITH_SPARSE_AS_IS, &info) != KITH_OK) {
        cli_fail(plot->command);
        return false;
    }
    *matrix = (struct matrix){info.rows, info.columns, info.nonzeros, NULL, NULL, ""};
    snprintf(matrix->note, sizeof matrix->note, "%lld × %lld, %lld entries", (long long)info.rows,
             (long long)info.columns, (long long)info.nonzeros);
    matrix->row_start = plot_allocate(plot, info.rows + 1, sizeof *matrix->row_start);
    matrix->column = plot_allocate(plot, info.nonzeros, sizeof *matrix->column);
    if (!matrix->row_start || !matrix->column)
        return false;
    if (kith_sparse_copy_csr(sparse, matrix->row_start, matrix->column, NULL) != KITH_OK)
        cli_fail(plot->command);
    else if (info.rows == 0 || info.columns == 0)
        cli_fail_with(plot->command, "%s is a matrix of %lld × %lld: nothing to draw", plot->input,
                      (long long)info.rows, (long long)info.columns);
    else
        return true;
    return false;
}

static bool read_matrix(const struct plot *plot, struct matrix *matrix)
{
    const kith_context_options on_cpu = {.device = {KITH_CPU, 0}};
    const kith_sparse_options as_rows = {.format = KITH_SPARSE_CSR};
    kith_context *context = NULL;
    kith_sparse *sparse = NULL;
    bool taken = false;
    if (kith_context_create(&on_cpu, &context) != KITH_OK ||
        kith_sparse_read(context, &as_rows, plot->input, &sparse) != KITH_OK)
        cli_fail(plot->command);
    else
        taken = take_rows(plot, sparse, matrix);
    kith_sparse_free(sparse);
    kith_context_free(context);
    return taken;
}

static struct axis axis_of(struct span span, double steps, const char *symbol)
{
    const struct unit unit = unit_of(&span, 1, "");
    const struct span scaled = {span.low * unit.factor, span.high * unit.factor};
    return (struct axis){scaled, tic_step(fabs(scaled.high - scaled.low), steps), symbol, unit};
}

/* A grid of cells over the matrix, with the number of entries in each. */
struct grid {
    int64_t up, across;   /* cells */
    double height, width; /* of a cell, in rows and columns */
    int64_t *count;
    int64_t most;
};

static bool count_entries(const struct plot *plot, const struct matrix *matrix, struct grid *grid)
{
    const int64_t longer = matrix->rows > matrix->columns ? matrix->rows : matrix->columns;
    const double side = fmax(1, (double)longer / cells_of_longer_side);
    *grid = (struct grid){.up = (int64_t)ceil((double)matrix->rows / side),
                          .across = (int64_t)ceil((double)matrix->columns / side)};
    grid->height = (double)matrix->rows / (double)grid->up;
    grid->width = (double)matrix->columns / (double)grid->across;
    grid->count = plot_allocate(plot, grid->up * grid->across, sizeof *grid->count);
    for (int64_t i = 0; grid->count && i < matrix->rows; i++)
        for (int64_t k = matrix->row_start[i]; k < matrix->row_start[i + 1]; k++) {
            const int64_t row = (int64_t)(((double)i + 0.5) / grid->height);
            const int64_t column = (int64_t)(((double)matrix->column[k] + 0.5) / grid->width);
            const int64_t count = ++grid->count[row * grid->across + column];
            grid->most = count > grid->most ? count : grid->most;
        }
    return grid->count != NULL;
}

static unsigned color_of(const struct plot *plot, const struct grid *grid, int64_t count)
{
    const double density = grid->most > 1 ? log((double)count) / log((double)grid->most) : 1;
    return theme_density(theme_of(plot), density);
}

/* Cells of one color that lie side by side are one box. */
static void write_cells(FILE *script, const struct plot *plot, const struct grid *grid,
                        const struct unit units[2])
{
    fprintf(script, "$cells << end_of_cells\n");
    for (int64_t row = 0; row < grid->up; row++)
        for (int64_t first = 0, end; first < grid->across; first = end) {
            const int64_t *count = grid->count + row * grid->across;
            end = first + 1;
            if (count[first] == 0)
                continue;
            const unsigned color = color_of(plot, grid, count[first]);
            while (end < grid->across && count[end] > 0 &&
                   color_of(plot, grid, count[end]) == color)
                end++;
            fprintf(script, "%.10g %.10g %.10g %.10g %u\n",
                    (double)first * grid->width * units[0].factor,
                    (double)end * grid->width * units[0].factor,
                    (double)row * grid->height * units[1].factor,
                    (double)(row + 1) * grid->height * units[1].factor, color);
        }
    fprintf(script, "end_of_cells\n"
                    "unset key\n"
                    "set style fill solid 1 noborder\n"
                    "plot $cells using (($1+$2)/2):(($3+$4)/2):1:2:3:4:5 with boxxyerror "
                    "linecolor rgb variable\n");
}

static void draw_grid(const struct plot *plot, const struct matrix *matrix, const struct grid *grid,
                      FILE *script)
{
    const double shape = (double)matrix->rows / (double)matrix->columns;
    const struct margins margins = {6, 2, 3.9, 2.6};
    struct box box;
    const struct canvas canvas =
        style_lay_out(plot, margins, 1, fmin(fmax(shape, 0.2), 2), 0, &box);
    const struct axis axes[2] = {
        axis_of((struct span){0, (double)matrix->columns}, box.width / (7 * canvas.em), "column"),
        axis_of((struct span){(double)matrix->rows, 0}, box.height / (3.5 * canvas.em), "row")};
    style_begin(script, plot, canvas, "");
    style_header(script, plot, canvas, box, matrix->note);
    style_axes(script, plot, canvas, box, axes);
    write_cells(script, plot, grid, (const struct unit[]){axes[0].unit, axes[1].unit});
}

int plot_draw_spy(const struct plot *plot, kith_trajectory *trajectory, FILE *script)
{
    (void)trajectory;
    struct matrix matrix = {0};
    struct grid grid = {0};
    const bool drawn = read_matrix(plot, &matrix) && count_entries(plot, &matrix, &grid);
    if (drawn)
        draw_grid(plot, &matrix, &grid, script);
    free(grid.count);
    release(&matrix);
    return drawn ? exit_ok : exit_failed;
}

static int compare_lengths(const void *left, const void *right)
{
    const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

/* Steps of the part of rows, in percent, that have at least this many entries. */
static void write_lengths(FILE *script, const int64_t *length, int64_t rows, double least)
{
    int64_t longer = rows; /* than all before */
    fprintf(script, "$lengths << end_of_lengths\n%.10g 100\n", least);
    for (int64_t k = 0; k < rows; k++) {
        if (k + 1 < rows && length[k + 1] == length[k])
            continue;
        const double at = fmax((double)length[k], least);
        fprintf(script, "%.10g %.10g\n", at, 100 * (double)longer / (double)rows);
        longer = rows - k - 1;
        fprintf(script, "%.10g %.10g\n", at, 100 * (double)longer / (double)rows);
    }
    fprintf(script, "end_of_lengths\n");
}

static void draw_lengths(const struct plot *plot, const struct matrix *matrix,
                         const int64_t *length, FILE *script)
{
    const int64_t longest = length[matrix->rows - 1];
    const bool logarithmic = longest > longest_linear;
    const double least = logarithmic ? 1 : 0;
    const struct theme *theme = theme_of(plot);
    const struct margins margins = {6, 2, 3.9, 2.6};
    struct box box;
    const struct canvas canvas = style_lay_out(plot, margins, 1, 0.6, 0, &box);
    struct axis axes[2] = {axis_of((struct span){least, fmax((double)longest * 1.02, least + 1)},
                                   box.width / (7 * canvas.em), "entries"),
                           axis_of((struct span){0, 100}, box.height / (3.5 * canvas.em),
                                   "rows with at least as many  (%)")};
    if (logarithmic) {
        axes[0].span = (struct span){least, (double)longest * 1.1};
        axes[0].unit = (struct unit){0, 1, ""};
    }
    style_begin(script, plot, canvas, "");
    style_header(script, plot, canvas, box, matrix->note);
    style_axes(script, plot, canvas, box, axes);
    if (logarithmic)
        fprintf(script, "set logscale x\nset xtics autofreq\nset format x '%%g'\n");
    write_lengths(script, length, matrix->rows, least);
    fprintf(script,
            "unset key\n"
            "plot 100.0/3 with lines linecolor rgb '#%06x', $lengths using 1:2 with lines "
            "linecolor rgb '#%06x'\n",
            theme->faint, theme->body[0]);
}

int plot_draw_row_lengths(const struct plot *plot, kith_trajectory *trajectory, FILE *script)
{
    (void)trajectory;
    struct matrix matrix = {0};
    int64_t *length = NULL;
    if (read_matrix(plot, &matrix))
        length = plot_allocate(plot, matrix.rows, sizeof *length);
    for (int64_t i = 0; length && i < matrix.rows; i++)
        length[i] = matrix.row_start[i + 1] - matrix.row_start[i];
    const bool drawn = length != NULL;
    if (drawn) {
        qsort(length, (size_t)matrix.rows, sizeof *length, compare_lengths);
        draw_lengths(plot, &matrix, length, script);
    }
    free(length);
    release(&matrix);
    return drawn ? exit_ok : exit_failed;
}
