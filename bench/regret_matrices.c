#include "regret_matrices.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

struct maker {
    struct regret_matrix *to;
    int64_t room, row;
    uint64_t random;
    bool failed;
};

static uint64_t next(struct maker *maker)
{
    uint64_t z = maker->random += 0x9e3779b97f4a7c15u; /* splitmix64 */
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static double unit(struct maker *maker)
{
    return (double)(next(maker) >> 11) * 0x1p-53;
}

static int64_t below(struct maker *maker, int64_t n)
{
    return (int64_t)(unit(maker) * (double)n);
}

static void add(struct maker *maker, int64_t column, double value)
{
    struct regret_matrix *to = maker->to;
    if (maker->failed || column < 0 || column >= to->columns)
        return;
    if (to->nonzeros == maker->room) {
        maker->room = 2 * maker->room + 1024;
        void *columns = realloc(to->column, (size_t)maker->room * sizeof *to->column);
        if (columns)
            to->column = columns;
        void *values = realloc(to->value, (size_t)maker->room * sizeof *to->value);
        if (values)
            to->value = values;
        maker->failed = !columns || !values;
        if (maker->failed)
            return;
    }
    to->column[to->nonzeros] = (int32_t)column;
    to->value[to->nonzeros++] = value;
}

static void end_row(struct maker *maker)
{
    maker->to->start[++maker->row] = maker->to->nonzeros;
}

/* Lengths of rows: one; powers, from a to half of the columns; mostly a, of one in ten b; evenly
 * a to b. Columns are random in a window around the diagonal; of planes around three diagonals. */
enum kind {
    of_one,
    of_powers,
    of_two,
    of_range,
    stencil,
    band,
    blocks,
    shuffled_stencil,
    world,
    planes
};

struct shape {
    const char *name;
    enum kind kind;
    double low, high;       /* rows */
    double a, b;            /* lengths; exponent; points of a stencil; size of blocks */
    double window, columns; /* of rows' columns, 0: all; per row, 0: 1 */
};

static const struct shape shapes[] = {
    {"uniform 5", of_one, 2e4, 1e6, 5, 0, 0, 0},
    {"uniform 7 window", of_one, 2e4, 1e6, 7, 0, 3000, 0},
    {"uniform 12", of_one, 1e4, 4e5, 12, 0, 0, 0},
    {"uniform 20 window", of_one, 1e4, 3e5, 20, 0, 20000, 0},
    {"uniform 28", of_one, 5e3, 1e5, 28, 0, 0, 0},
    {"uniform 40 window", of_one, 5e3, 1e5, 40, 0, 500, 0},
    {"uniform 56", of_one, 3e3, 8e4, 56, 0, 0, 0},
    {"uniform 80", of_one, 1e3, 5e4, 80, 0, 0, 0},
    {"uniform 112", of_one, 1e3, 5e4, 112, 0, 0, 0},
    {"uniform 112 window", of_one, 1e3, 1e5, 112, 0, 2000, 0},
    {"uniform 200", of_one, 1e3, 2e4, 200, 0, 0, 0},
    {"uniform 400", of_one, 300, 6e3, 400, 0, 0, 0},
    {"few long rows", of_one, 20, 300, 3000, 0, 0, 50},
    {"tall", of_one, 1e5, 1e6, 3, 0, 0, 1e-4},
    {"powers 1.6", of_powers, 1e4, 1e5, 1, 1.6, 0, 0},
    {"powers 1.9", of_powers, 2e4, 3e5, 1, 1.9, 0, 0},
    {"powers 2.2", of_powers, 2e4, 6e5, 2, 2.2, 0, 0},
    {"powers 2.8", of_powers, 2e4, 6e5, 4, 2.8, 0, 0},
    {"powers 3.4", of_powers, 2e4, 4e5, 8, 3.4, 0, 0},
    {"powers 2.2 window", of_powers, 2e4, 6e5, 2, 2.2, 2000, 0},
    {"powers 2.8 window", of_powers, 2e4, 4e5, 5, 2.8, 300, 0},
    {"powers 1.9 wide", of_powers, 2e3, 3e4, 2, 1.9, 0, 30},
    {"two 4 40", of_two, 2e4, 4e5, 4, 40, 0, 0},
    {"two 4 40 window", of_two, 2e4, 4e5, 4, 40, 400, 0},
    {"two 10 120", of_two, 1e4, 1e5, 10, 120, 0, 0},
    {"two 10 120 window", of_two, 1e4, 1e5, 10, 120, 5000, 0},
    {"two 2 300", of_two, 1e4, 1e5, 2, 300, 0, 0},
    {"range 1 16", of_range, 2e4, 6e5, 1, 16, 0, 0},
    {"range 1 16 window", of_range, 2e4, 6e5, 1, 16, 200, 0},
    {"range 20 100", of_range, 5e3, 1e5, 20, 100, 0, 0},
    {"range 20 100 window", of_range, 5e3, 1e5, 20, 100, 3000, 0},
    {"range 0 3", of_range, 5e4, 1e6, 0, 3, 0, 0},
    {"stencil 2D 5", stencil, 2e4, 1e6, 2, 0, 0, 0},
    {"stencil 3D 7", stencil, 2e4, 1e6, 3, 0, 0, 0},
    {"stencil 2D 9", stencil, 2e4, 1e6, 2, 1, 0, 0},
    {"stencil 3D 27", stencil, 1e4, 3e5, 3, 1, 0, 0},
    {"stencil 2D 5 shuffled", shuffled_stencil, 2e4, 5e5, 2, 0, 0, 0},
    {"stencil 3D 27 shuffled", shuffled_stencil, 1e4, 1e5, 3, 1, 0, 0},
    {"band 9 arrow 3", band, 1e4, 3e5, 9, 3, 0, 0},
    {"band 60 arrow 1", band, 1e4, 1e5, 60, 1, 0, 0},
    {"band 3 arrow 20", band, 1e4, 1e5, 3, 20, 0, 0},
    {"blocks 2 of 9", blocks, 2e4, 3e5, 2, 9, 60, 0},
    {"blocks 3 of 14", blocks, 1e4, 1.5e5, 3, 14, 60, 0},
    {"blocks 3 of 27 far", blocks, 1e4, 8e4, 3, 27, 0, 0},
    {"blocks 4 of 6", blocks, 1e4, 2e5, 4, 6, 200, 0},
    {"blocks 6 of 20", blocks, 1e4, 6e4, 6, 20, 40, 0},
    {"small world 8", world, 2e4, 6e5, 8, 0.02, 0, 0},
    {"small world 20", world, 1e4, 2e5, 20, 0.3, 0, 0},
    {"large uniform 16", of_one, 6e5, 1.5e6, 16, 0, 3000, 0},
    {"large uniform 60", of_one, 2e5, 4e5, 60, 0, 3000, 0},
    {"large planes 1 16", planes, 1.2e6, 2e6, 1, 16, 100, 0},
    {"large planes 12 16", planes, 1e6, 1.5e6, 12, 16, 100, 0},
    {"large range 1 16", of_range, 1.2e6, 2e6, 1, 16, 400, 0},
    {"large powers 2.8", of_powers, 8e5, 1.5e6, 5, 2.8, 300000, 0},
};

int32_t regret_matrices(void)
{
    return (int32_t)(sizeof shapes / sizeof shapes[0]);
}

const char *regret_matrix_name(int32_t k)
{
    return shapes[k].name;
}

static int64_t length_of(struct maker *maker, const struct shape *shape)
{
    const double u = unit(maker);
    switch (shape->kind) {
    case of_powers:
        return (int64_t)fmin(shape->a * pow(1 - u, -1 / (shape->b - 1)),
                             (double)maker->to->columns / 2);
    case of_two:
        return (int64_t)(u < 0.1 ? shape->b : shape->a);
    case of_range:
    case planes:
        return (int64_t)(shape->a + u * (shape->b + 1 - shape->a));
    default:
        return (int64_t)shape->a;
    }
}

static int64_t near(struct maker *maker, int64_t i, double window, int64_t columns)
{
    return window == 0 ? below(maker, columns) : i + (int64_t)((unit(maker) - 0.5) * window);
}

static void make_lengths(struct maker *maker, const struct shape *shape)
{
    const int64_t columns = maker->to->columns;
    for (int64_t i = 0; i < maker->to->rows; i++) {
        const int64_t length = length_of(maker, shape);
        const int64_t apart = shape->kind == planes ? columns / 10 : 0;
        for (int64_t k = 0; k < length; k++)
            add(maker, near(maker, i, shape->window, columns) + (k % 3 - 1) * apart, unit(maker));
        end_row(maker);
    }
}

/* Laplacians: symmetric. order: new numbers of the points, or NULL. */
static void make_stencil(struct maker *maker, const struct shape *shape, const int32_t *order,
                         const int32_t *point)
{
    const int64_t n = maker->to->rows;
    const int dimensions = (int)shape->a, depth = dimensions > 2 ? 1 : 0;
    const int64_t side = (int64_t)floor(pow((double)n, 1.0 / dimensions) + 1e-9);
    for (int64_t row = 0; row < n; row++) {
        const int64_t at = point ? point[row] : row;
        for (int dz = -depth; dz <= depth; dz++)
            for (int dy = -1; dy <= 1; dy++)
                for (int dx = -1; dx <= 1; dx++) {
                    const int64_t x = at % side + dx, y = at / side % side + dy;
                    const int64_t z = at / side / side + dz, to = (z * side + y) * side + x;
                    const int far = abs(dx) + abs(dy) + abs(dz);
                    if ((far > 1 && shape->b == 0) || x < 0 || x >= side || y < 0 || y >= side ||
                        z < 0 || to >= n)
                        continue;
                    add(maker, order ? order[to] : to, far == 0 ? 26 : -1.0 / far);
                }
        end_row(maker);
    }
}

static void make_shuffled(struct maker *maker, const struct shape *shape)
{
    const int64_t n = maker->to->rows;
    int32_t *order = malloc((size_t)n * sizeof *order), *point = calloc((size_t)n, sizeof *point);
    maker->failed = !order || !point;
    for (int64_t i = 0; i < n && !maker->failed; i++) { /* inside-out shuffle */
        const int64_t j = below(maker, i + 1);
        order[i] = order[j];
        order[j] = (int32_t)i;
    }
    for (int64_t i = 0; i < n && !maker->failed; i++)
        point[order[i]] = (int32_t)i;
    if (!maker->failed)
        make_stencil(maker, shape, order, point);
    free(order);
    free(point);
}

static void make_band(struct maker *maker, const struct shape *shape)
{
    const int64_t n = maker->to->rows, dense = (int64_t)shape->b;
    int64_t diagonal[64];
    const int count = (int)shape->a;
    for (int d = 0; d < count; d++)
        diagonal[d] = below(maker, 4 * count) - 2 * count;
    for (int64_t i = 0; i < n; i++) {
        for (int d = 0; d < count; d++)
            add(maker, i + diagonal[d], unit(maker));
        for (int64_t k = 0; k < n / 2 && i % (n / dense) == n / dense / 2; k++)
            add(maker, below(maker, n), unit(maker));
        end_row(maker);
    }
}

/* Nodes with a times a blocks for b neighbors. */
static void make_blocks(struct maker *maker, const struct shape *shape)
{
    const int64_t size = (int64_t)shape->a, nodes = maker->to->rows / size;
    for (int64_t i = 0; i < nodes; i++) {
        int64_t node[32] = {0};
        for (int k = 0; k < (int)shape->b; k++)
            node[k] = near(maker, i, shape->window, nodes);
        for (int64_t r = 0; r < size; r++) {
            for (int k = 0; k < (int)shape->b; k++)
                for (int64_t c = 0; c < size && node[k] >= 0 && node[k] < nodes; c++)
                    add(maker, node[k] * size + c, unit(maker));
            end_row(maker);
        }
    }
    while (maker->row < maker->to->rows)
        end_row(maker);
}

/* A ring of a neighbors, some of which are anywhere (Watts & Strogatz 1998). */
static void make_world(struct maker *maker, const struct shape *shape)
{
    const int64_t n = maker->to->rows;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t k = -(int64_t)shape->a / 2; k <= (int64_t)shape->a / 2; k++)
            add(maker, unit(maker) < shape->b ? below(maker, n) : (i + k + n) % n, unit(maker));
        end_row(maker);
    }
}

int regret_matrix_make(int32_t k, uint64_t seed, struct regret_matrix *made)
{
    const struct shape *shape = &shapes[k];
    struct maker maker = {.to = made, .random = seed * 1000003 + (uint64_t)k};
    const double rows = floor(shape->low * pow(shape->high / shape->low, unit(&maker)));
    *made = (struct regret_matrix){.name = shape->name, .rows = (int64_t)rows};
    made->columns = (int64_t)fmax(20, rows * (shape->columns > 0 ? shape->columns : 1));
    made->start = calloc((size_t)made->rows + 1, sizeof *made->start);
    if (!made->start)
        return 0;
    switch (shape->kind) {
    case stencil:
        make_stencil(&maker, shape, NULL, NULL);
        break;
    case shuffled_stencil:
        make_shuffled(&maker, shape);
        break;
    case band:
        make_band(&maker, shape);
        break;
    case blocks:
        make_blocks(&maker, shape);
        break;
    case world:
        make_world(&maker, shape);
        break;
    default:
        make_lengths(&maker, shape);
    }
    return !maker.failed;
}

void regret_matrix_free(struct regret_matrix *matrix)
{
    free(matrix->start);
    free(matrix->column);
    free(matrix->value);
}
