/* Passes over rows of coordinates, for one type of them: included by collisions_kernel.c. */

/* As many values as whole rows and whole vectors have: 16 rows. Lane k holds column
 * k mod columns. */
SIMD_INLINE void NAME(extent_of)(const COORDINATE *value, int64_t rows, const int64_t columns,
                                 int64_t low[3], int64_t high[3])
{
    enum { rows_at_once = 16, most_lanes = 3 * rows_at_once };
    const int64_t lanes = columns * rows_at_once;
    COORDINATE least[most_lanes], most[most_lanes];
    for (int64_t k = 0; k < lanes; k++)
        least[k] = most[k] = value[k % columns];
    int64_t row = 0;
    for (; row + rows_at_once <= rows; row += rows_at_once)
        for (int64_t k = 0; k < lanes; k++) {
            const COORDINATE x = value[row * columns + k];
            least[k] = x < least[k] ? x : least[k];
            most[k] = x > most[k] ? x : most[k];
        }
    for (int64_t k = row * columns; k < rows * columns; k++) {
        const COORDINATE x = value[k];
        const int64_t lane = k % columns;
        least[lane] = x < least[lane] ? x : least[lane];
        most[lane] = x > most[lane] ? x : most[lane];
    }
    for (int64_t c = 0; c < 3; c++)
        low[c] = high[c] = c < columns ? least[c] : 0;
    for (int64_t k = 0; k < lanes; k++) {
        const int64_t c = k % columns;
        low[c] = least[k] < low[c] ? least[k] : low[c];
        high[c] = most[k] > high[c] ? most[k] : high[c];
    }
}

static void NAME(extent)(const void *beads, int64_t rows, int64_t columns, int64_t low[3],
                         int64_t high[3])
{
    if (columns == 3)
        NAME(extent_of)(beads, rows, 3, low, high);
    else
        NAME(extent_of)(beads, rows, 2, low, high);
}

static void NAME(keys)(const void *beads, int64_t rows, int64_t columns, const uint64_t origin[3],
                       const uint64_t step[3], uint64_t *restrict keys)
{
    const COORDINATE *restrict value = beads;
    const uint64_t ax = step[0], ay = step[1], az = step[2];
    const uint64_t all = ax * origin[0] + ay * origin[1] + (columns == 3 ? az * origin[2] : 0);
    if (columns == 3)
        for (int64_t k = 0; k < rows; k++)
            keys[k] = ax * (uint64_t)value[3 * k] + ay * (uint64_t)value[3 * k + 1] +
                      az * (uint64_t)value[3 * k + 2] - all;
    else
        for (int64_t k = 0; k < rows; k++)
            keys[k] = ax * (uint64_t)value[2 * k] + ay * (uint64_t)value[2 * k + 1] - all;
}
