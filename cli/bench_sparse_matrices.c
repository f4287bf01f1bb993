/* The matrices of kith bench sparse: the kinds that formats and kernels differ on. */

#include "bench_sparse_matrices.h"

#include <stdlib.h>
#include <string.h>

#include "cli.h"

void bench_matrix_free(struct bench_matrix *matrix)
{
    free(matrix->row_start);
    free(matrix->column);
    free(matrix->value);
    *matrix = (struct bench_matrix){0};
}

/* Room for so many entries; rows are then filled one after the other by put and end_row. */
static bool begin(int64_t rows, int64_t columns, int64_t most, struct bench_matrix *matrix)
{
    *matrix = (struct bench_matrix){.columns = columns};
    matrix->row_start = calloc((size_t)rows + 1, sizeof *matrix->row_start);
    matrix->column = malloc((size_t)(most + 1) * sizeof *matrix->column);
    matrix->value = malloc((size_t)(most + 1) * sizeof *matrix->value);
    return matrix->row_start && matrix->column && matrix->value;
}

static void put(struct bench_matrix *matrix, int64_t column, double value)
{
    matrix->column[matrix->nonzeros] = (int32_t)column;
    matrix->value[matrix->nonzeros++] = value;
}

static void end_row(struct bench_matrix *matrix)
{
    matrix->row_start[++matrix->rows] = matrix->nonzeros;
}

/* SplitMix64 (Steele, Lea & Flood 2014). */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

static double uniform(uint64_t *state)
{
    return (double)(next_random(state) >> 11) * 0x1p-53;
}

static int64_t below(uint64_t *state, int64_t count)
{
    return (int64_t)(uniform(state) * (double)count);
}

static int compare_columns(const void *left, const void *right)
{
    const int32_t a = *(const int32_t *)left, b = *(const int32_t *)right;
    return (a > b) - (a < b);
}

/* The columns of the row that is being filled in order, each once. */
static void tidy_row(struct bench_matrix *matrix)
{
    const int64_t start = matrix->row_start[matrix->rows], count = matrix->nonzeros - start;
    int32_t *column = matrix->column + start;
    qsort(column, (size_t)count, sizeof *column, compare_columns);
    int64_t kept = 0;
    for (int64_t k = 0; k < count; k++)
        if (kept == 0 || column[k] != column[kept - 1])
            column[kept++] = column[k];
    matrix->nonzeros = start + kept;
}

/* The 7-point Laplacian on a grid of n³ points. */
static bool make_poisson(int64_t n, int64_t detail, struct bench_matrix *matrix)
{
    (void)detail;
    if (!begin(n * n * n, n * n * n, 7 * n * n * n, matrix))
        return false;
    for (int64_t i = 0; i < n * n * n; i++) {
        const int64_t z = i / (n * n), y = i / n % n, x = i % n;
        if (z > 0)
            put(matrix, i - n * n, -1);
        if (y > 0)
            put(matrix, i - n, -1);
        if (x > 0)
            put(matrix, i - 1, -1);
        put(matrix, i, 6);
        if (x < n - 1)
            put(matrix, i + 1, -1);
        if (y < n - 1)
            put(matrix, i + n, -1);
        if (z < n - 1)
            put(matrix, i + n * n, -1);
        end_row(matrix);
    }
    return true;
}

static bool make_random_of(int64_t rows, int64_t columns, int64_t each, struct bench_matrix *matrix)
{
    uint64_t state = 1;
    if (!begin(rows, columns, rows * each, matrix))
        return false;
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t k = 0; k < each; k++)
            put(matrix, below(&state, columns), uniform(&state) - 0.5);
        tidy_row(matrix);
        end_row(matrix);
    }
    return true;
}

static bool make_random(int64_t n, int64_t each, struct bench_matrix *matrix)
{
    return make_random_of(n, n, each, matrix);
}

static bool make_tall(int64_t n, int64_t each, struct bench_matrix *matrix)
{
    return make_random_of(n, n / 1000, each, matrix);
}

static bool make_wide(int64_t n, int64_t each, struct bench_matrix *matrix)
{
    return make_random_of(n / 1000, n, each * 1000, matrix);
}

/* Row and column of an R-MAT edge (Chakrabarti, Zhan & Faloutsos 2004; Graph 500's probabilities).
 */
static void rmat_edge(uint64_t *state, int64_t scale, int64_t *row, int64_t *column)
{
    *row = *column = 0;
    for (int64_t bit = 0; bit < scale; bit++) {
        const double u = uniform(state);
        *row = 2 * *row + (u >= 0.57 + 0.19);
        *column = 2 * *column + ((u >= 0.57 && u < 0.57 + 0.19) || u >= 0.57 + 0.19 + 0.19);
    }
}

/* Edges twice: first to count those of each row, then to put them there. */
static bool make_rmat(int64_t scale, int64_t edge_factor, struct bench_matrix *matrix)
{
    const int64_t n = (int64_t)1 << scale, edges = edge_factor * n;
    if (!begin(n, n, edges, matrix))
        return false;
    int64_t *next = calloc((size_t)n + 1, sizeof *next), row = 0, column = 0;
    int32_t *unsorted = calloc((size_t)edges + 1, sizeof *unsorted);
    uint64_t state = 1;
    for (int64_t k = 0; next && unsorted && k < edges; k++) {
        rmat_edge(&state, scale, &row, &column);
        next[row + 1]++;
    }
    for (int64_t i = 0; next && unsorted && i < n; i++)
        next[i + 1] += next[i];
    state = 1;
    for (int64_t k = 0; next && unsorted && k < edges; k++) {
        rmat_edge(&state, scale, &row, &column);
        unsorted[next[row]++] = (int32_t)column;
    }
    for (int64_t i = 0, k = 0; next && unsorted && i < n; i++) {
        for (; k < next[i]; k++)
            put(matrix, unsorted[k], 1);
        tidy_row(matrix);
        end_row(matrix);
    }
    const bool made = next && unsorted;
    free(next);
    free(unsorted);
    return made;
}

/* Rows of n blocks of 3 × 3, most of them near the diagonal as in a finite-element mesh. */
static bool make_blocks(int64_t n, int64_t each, struct bench_matrix *matrix)
{
    enum { size = 3, most = 64 };
    int32_t block[most];
    uint64_t state = 1;
    if (each > most || !begin(size * n, size * n, size * size * n * each, matrix))
        return false;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t k = 0; k < each; k++) {
            const int64_t far = i + below(&state, 2000) - 1000;
            block[k] = (int32_t)(k == 0 ? i : far < 0 ? -far : far >= n ? 2 * n - 2 - far : far);
        }
        qsort(block, (size_t)each, sizeof *block, compare_columns);
        for (int64_t r = 0; r < size; r++) {
            for (int64_t k = 0; k < each; k++)
                for (int64_t c = 0; c < size && (k == 0 || block[k] != block[k - 1]); c++)
                    put(matrix, (int64_t)size * block[k] + c, uniform(&state) - 0.5);
            end_row(matrix);
        }
    }
    return true;
}

/* A full first row, a full first column and the diagonal. */
static bool make_arrow(int64_t n, int64_t detail, struct bench_matrix *matrix)
{
    (void)detail;
    if (!begin(n, n, 3 * n, matrix))
        return false;
    for (int64_t i = 0; i < n; i++) {
        put(matrix, 0, 1);
        for (int64_t j = 1; i == 0 && j < n; j++)
            put(matrix, j, 1);
        if (i > 0)
            put(matrix, i, 2);
        end_row(matrix);
    }
    return true;
}

static bool make_band(int64_t n, int64_t width, struct bench_matrix *matrix)
{
    uint64_t state = 1;
    if (!begin(n, n, n * (2 * width + 1), matrix))
        return false;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = i - width; j <= i + width; j++)
            if (j >= 0 && j < n)
                put(matrix, j, uniform(&state) - 0.5);
        end_row(matrix);
    }
    return true;
}

/* Rows of a few entries, and a full one in the middle. */
static bool make_dense_row(int64_t n, int64_t each, struct bench_matrix *matrix)
{
    uint64_t state = 1;
    if (!begin(n, n, n * each + n, matrix))
        return false;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t k = 0; k < (i == n / 2 ? n : each); k++)
            put(matrix, i == n / 2 ? k : below(&state, n), 0.25);
        tidy_row(matrix);
        end_row(matrix);
    }
    return true;
}

/* Nine rows out of ten are empty. */
static bool make_empty_rows(int64_t n, int64_t each, struct bench_matrix *matrix)
{
    uint64_t state = 1;
    if (!begin(n, n, n * each / 10 + each, matrix))
        return false;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t k = 0; i % 10 == 0 && k < each; k++)
            put(matrix, below(&state, n), 1.5);
        tidy_row(matrix);
        end_row(matrix);
    }
    return true;
}

static const struct bench_matrix_kind kinds[] = {
    {"poisson-64", "7-point Laplacian, 64^3", 64, 0, 24, true, make_poisson},
    {"poisson-128", "7-point Laplacian, 128^3", 128, 0, 0, false, make_poisson},
    {"poisson-160", "7-point Laplacian, 160^3", 160, 0, 0, true, make_poisson},
    {"random", "1000000 rows of 16 anywhere", 1000000, 16, 20000, true, make_random},
    {"rmat", "R-MAT graph, scale 20, edge factor 16", 20, 16, 12, true, make_rmat},
    {"blocks", "300000 rows of 8 blocks of 3 x 3", 300000, 8, 5000, true, make_blocks},
    {"arrow", "first row, first column, diagonal of 1000000", 1000000, 0, 20000, true, make_arrow},
    {"band", "1000000 rows, 12 on each side of the diagonal", 1000000, 12, 20000, true, make_band},
    {"dense-row", "1000000 rows of 4, one full row", 1000000, 4, 20000, true, make_dense_row},
    {"empty-rows", "1000000 rows, nine of ten empty, else 32", 1000000, 32, 20000, true,
     make_empty_rows},
    {"tall", "2000000 rows of 8, 2000 columns", 2000000, 8, 40000, true, make_tall},
    {"wide", "2000 rows of 8000, 2000000 columns", 2000000, 8, 40000, true, make_wide},
};

const struct bench_matrix_kind *bench_matrix_kinds(int64_t *count)
{
    *count = sizeof kinds / sizeof kinds[0];
    return kinds;
}

const struct bench_matrix_kind *bench_matrix_kind_named(const char *name)
{
    int64_t count = 0;
    const struct bench_matrix_kind *kind = bench_matrix_kinds(&count);
    for (int64_t k = 0; k < count; k++)
        if (strcmp(kind[k].name, name) == 0)
            return &kind[k];
    return NULL;
}

/* The rows of a Matrix Market file. */
static bool read_matrix(const char *command, const char *path, struct bench_matrix *matrix)
{
    const kith_context_options cpu = {.device = {KITH_CPU, 0}};
    const kith_sparse_options rows = {.format = KITH_SPARSE_CSR};
    kith_context *context = NULL;
    kith_sparse *sparse = NULL;
    kith_sparse_info info;
    bool done = kith_context_create(&cpu, &context) == KITH_OK &&
                kith_sparse_read(context, &rows, path, &sparse) == KITH_OK &&
                kith_sparse_describe(sparse, KITH_SPARSE_AS_IS, &info) == KITH_OK;
    if (!done)
        cli_fail(command);
    if (done && !begin(info.rows, info.columns, info.nonzeros, matrix)) {
        cli_fail_with(command, "no memory for matrix %s", path);
        done = false;
    }
    if (done) {
        matrix->rows = info.rows;
        matrix->nonzeros = info.nonzeros;
        done = kith_sparse_copy_csr(sparse, matrix->row_start, matrix->column, matrix->value) ==
               KITH_OK;
    }
    kith_sparse_free(sparse);
    kith_context_free(context);
    return done;
}

bool bench_matrix_take(const char *command, const char *name, bool quick,
                       struct bench_matrix *matrix)
{
    const struct bench_matrix_kind *kind = bench_matrix_kind_named(name);
    if (!kind)
        return read_matrix(command, name, matrix);
    const int64_t size = quick && kind->quick_size > 0 ? kind->quick_size : kind->size;
    if (kind->make(size, kind->detail, matrix))
        return true;
    cli_fail_with(command, "no memory for matrix %s", name);
    return false;
}
