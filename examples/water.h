/* Water as particles: a particle is a column of water of volume V that moves with the flow
 * (smoothed-particle hydrodynamics). Its depth is a sum over its neighbors, and from the energy
 * E = ½ Σ v² V + ½ g Σ h V + g Σ b V follows its acceleration, b the height of the bed
 * (Rodriguez-Paz & Bonet 2005, Comput. Struct. 83, 1396):
 *
 *     h_i = Σ_j V_j W(r_ij),      a_i = −Σ_j V_j (g + Π_ij) ∇W(r_ij) − g ∇b(x_i)
 *
 * with Wendland's W of support R (1995; Dehnen & Aly 2012, Mon. Not. R. Astron. Soc. 425, 1068) and
 * a viscosity Π that spreads shocks over some particles (after Ata & Soulaïmani 2005, Int. J.
 * Numer. Methods Fluids 47, 139; with R in place of r, so that no pair needs a division). Every
 * term of the sum acts on i and j with opposite signs: on a level bed momentum stays zero, and
 * volume is what the particles carry. The force does not depend on h, which Π alone uses: with the
 * depths of the step before in Π, one sum over the pairs makes accelerations and depths.
 *
 * The bed is a formula: of its slope, or of its height, of which the sum then makes the slope,
 *
 *     ∇b(x_i) = Σ_j A_j (b_j − b_i) ∇W(r_ij),     1/A_j = Σ_k W(r_jk)
 *
 * so that water on a lattice that is level is at rest exactly. At the edge of the water the sum
 * lacks particles: a bed that falls dry has the formula of its slope. Walls are columns of water at
 * rest behind a line, with the depth of the water near them (Adami, Hu & Adams 2012, J. Comput.
 * Phys. 231, 7057), at which particles bounce.
 *
 * All arrays are on the context's device. A step is kith_sums_compute and kith_columns_update. */

#ifndef WATER_H
#define WATER_H

#include <math.h>

#include "example.h"

static const double pi = 3.14159265358979323846;
static const double gravity = 9.81; /* m/s² */
static const double courant = 0.15; /* of R a step, by the fastest wave */

enum { steps_a_survey = 8 }; /* after which the fastest wave is looked for again */

/* The columns: rows of one matrix on the device. The sums are next to each other. */
enum column {
    of_x,
    of_y,
    of_vx,
    of_vy,
    of_V,
    of_s,
    of_A,
    of_b,
    of_ax,
    of_ay,
    of_h,
    of_n,
    of_wet,
    of_area,
    column_count
};
static const char *const column_names[] = {"x", "y",  "vx", "vy", "V", "s",   "A",
                                           "b", "ax", "ay", "h",  "n", "wet", "area"};

/* What a particle is at the start. */
struct particle {
    double x, y, volume, area;
};

struct water {
    kith_context *context;
    kith_dtype dtype;
    kith_cell cell;     /* all zeros: open space */
    double reach;       /* the kernel's R */
    double norm;        /* W = norm (1 − r/R)⁴ (1 + 4 r/R) */
    double left, right; /* walls, if there are any */
    const char *bed;    /* b, m, and −g ∇b, m/s²: formulas in x_i and y_i; NULL: level */
    const char *fall[2];

    struct particle *start; /* the water, then walls; of `room` */
    int64_t count, walls, rows, room;

    kith_array columns; /* column_count × rows */
    double time, half;  /* velocities are behind the positions by half a step of this length */
    int64_t steps, pair_count;
};

/* s is √(g/h) of water and −√(g/h) of walls, along which water slips. */
static const kith_named_formula lets[] = {
    {"near", "fmax(1 - r / R, 0)"},
    {"cube", "near * near * near"},
    {"W", "norm * near * cube * (1 + 4 * r / R)"},
    {"approach", "(vx_i - vx_j) * dx + (vy_i - vy_j) * dy"},
    {"viscosity", "alpha * fmin(s_i, s_j) / R * approach"},
    {"slope", "-20 / (R * R) * norm * cube"}, /* W'/r, and −∇_i W = slope · d */
    {"pull", "slope * V_j * (g + fmax(viscosity, 0))"},
    {"meeting", "(vx_i - vx_j) * dx + (s_i * s_j > 0 ? (vy_i - vy_j) * dy : 0)"},
    {"damping", "alpha * fmin(fabs(s_i), fabs(s_j)) / R * meeting"},
    {"pull_on_bed", "slope * (V_j * (g + damping) + g * A_j * (b_j - b_i))"},
};
enum { let_count = sizeof lets / sizeof *lets };

static const kith_named_formula sums[] = {
    {"ax", "pull * dx"}, {"ay", "pull * dy"}, {"h", "V_j * W"}};

/* With walls or a bed: the particles' number, and of the water near a wall volume and area. Here
 * particles that part have a viscosity too, and walls: without, motions of the lattice over a bed
 * grow, and those at a wall, whose depth is that of the step before. */
static const kith_named_formula more_sums[] = {{"ax", "pull_on_bed * dx"},
                                               {"ay", "pull_on_bed * dy"},
                                               {"h", "V_j * W"},
                                               {"n", "W"},
                                               {"wet", "s_j > 0 ? V_j * W : 0"},
                                               {"area", "s_j > 0 ? V_j * s_j * s_j / g * W : 0"}};
enum { sum_count = 3, more_sum_count = 6 };

/* A column of some of the rows. */
static inline kith_array column_of(const struct water *water, enum column k, int64_t first,
                                   int64_t count)
{
    const int64_t bytes = kith_dtype_bytes(water->dtype);
    kith_array column =
        kith_array_vector((char *)water->columns.data + ((int64_t)k * water->rows + first) * bytes,
                          water->dtype, count);
    column.device = water->columns.device;
    return column;
}

/* `count` columns from k on as a matrix with a row a particle. */
static inline kith_array matrix_of(const struct water *water, enum column k, int64_t rows,
                                   int64_t count)
{
    kith_array matrix = column_of(water, k, 0, rows);
    matrix.ndim = 2;
    matrix.shape[1] = count;
    matrix.strides[1] = water->rows;
    return matrix;
}

/* The columns that formulas of sums use. */
static inline kith_particles particles_of(const struct water *water, int64_t rows)
{
    kith_particles particles = {.positions = matrix_of(water, of_x, rows, 2)};
    static const enum column used[] = {of_x, of_y, of_vx, of_vy, of_V, of_s, of_A, of_b};
    for (size_t k = 0; k < sizeof used / sizeof *used; k++)
        particles.columns[k] =
            (kith_particle_column){column_names[used[k]], column_of(water, used[k], 0, rows)};
    return particles;
}

static inline kith_sums_options sums_options_of(const struct water *water,
                                                kith_law_parameter parameters[4])
{
    parameters[0] = (kith_law_parameter){"R", water->reach};
    parameters[1] = (kith_law_parameter){"norm", water->norm};
    parameters[2] = (kith_law_parameter){"g", gravity};
    parameters[3] = (kith_law_parameter){"alpha", 2};
    return (kith_sums_options){.cutoff = water->reach,
                               .cell = &water->cell,
                               .let_count = let_count,
                               .lets = lets,
                               .parameter_count = 4,
                               .parameters = parameters};
}

/* Accelerations and depths at the particles' positions. */
static inline void sum_water(struct water *water, int64_t *pair_count)
{
    kith_law_parameter parameters[4];
    kith_sums_options options = sums_options_of(water, parameters);
    const bool has_more = water->walls > 0 || water->bed;
    const int64_t outputs = has_more ? more_sum_count : sum_count;
    const kith_particles particles = particles_of(water, water->rows);
    options.include_self = true;
    options.pair_count = pair_count;
    must(kith_sums_compute(water->context, &options, NULL, &particles, outputs,
                           has_more ? more_sums : sums,
                           matrix_of(water, of_ax, water->rows, outputs)));
}

/* Updates columns of some rows. */
static inline void update(const struct water *water, int64_t first, int64_t rows,
                          const kith_update_options *options, int64_t count,
                          const kith_named_formula *updates)
{
    kith_particle_column columns[column_count];
    for (int k = 0; k < column_count; k++)
        columns[k] =
            (kith_particle_column){column_names[k], column_of(water, (enum column)k, first, rows)};
    must(kith_columns_update(water->context, options, column_count, columns, count, updates));
}

/* Walls have the mean depth of the water near them. */
static inline void update_walls(const struct water *water)
{
    static const kith_named_formula depth[] = {{"V", "area_i > 0 ? A_i * wet_i / area_i : 0"},
                                               {"s", "area_i > 0 ? -sqrt(g * area_i / wet_i) : 0"}};
    const kith_law_parameter g = {"g", gravity};
    const kith_update_options options = {.parameter_count = 1, .parameters = &g};
    if (water->walls > 0)
        update(water, water->count, water->walls, &options, 2, depth);
}

/* Velocities by the accelerations over `kick`, then positions over `drift`. */
static inline void move(struct water *water, double kick, double drift)
{
    const kith_law_parameter parameters[] = {{"kick", kick},
                                             {"drift", drift},
                                             {"g", gravity},
                                             {"left", water->left},
                                             {"right", water->right}};
    const bool has_walls = water->walls > 0;
    const kith_named_formula motion[] = {
        {"fall_x", water->fall[0] ? water->fall[0] : "0"},
        {"fall_y", water->fall[1] ? water->fall[1] : "0"},
        {"u", "vx_i + kick * (ax_i + fall_x)"},
        {"v", "vy_i + kick * (ay_i + fall_y)"},
        {"to", "x_i + drift * u"},
    };
    const kith_named_formula updates[] = {
        {"vx", has_walls ? "to < left || to > right ? -u : u" : "u"},
        {"vy", "v"},
        {"x", has_walls ? "to < left ? 2 * left - to : to > right ? 2 * right - to : to" : "to"},
        {"y", "y_i + drift * v"},
        {"s", "sqrt(g / h_i)"},
        {"A", "1 / n_i"},
    };
    const kith_update_options options = {
        .let_count = 5, .lets = motion, .parameter_count = 5, .parameters = parameters};
    update(water, 0, water->count, &options, water->bed ? 6 : 5, updates);
    if (water->bed)
        update(water, 0, water->rows, NULL, 1, &(kith_named_formula){"b", water->bed});
}

/* A number of the water as a whole: a reduction of a formula in its columns, as NAME_j. */
static inline double survey(const struct water *water, kith_sums_reduction reduction,
                            const char *formula)
{
    const kith_named_formula output = {"whole", formula};
    const kith_law_parameter g = {"g", gravity};
    const kith_sums_options options = {
        .reduction = reduction, .parameter_count = 1, .parameters = &g};
    kith_particles particles = particles_of(water, water->count);
    particles.columns[8] = (kith_particle_column){"h", column_of(water, of_h, 0, water->count)};
    const kith_particles one = {.positions = matrix_of(water, of_x, 1, 2)};
    const bool narrow = water->dtype == KITH_F32;
    double result = 0;
    float narrow_result = 0;
    kith_array there = kith_array_none();
    must(kith_array_create(water->context, water->dtype, 1, 1, &there));
    must(kith_sums_compute(water->context, &options, &one, &particles, 1, &output, there));
    must(kith_array_copy(
        water->context, there,
        kith_array_matrix(narrow ? (void *)&narrow_result : &result, water->dtype, 1, 1)));
    kith_array_free(water->context, &there);
    return narrow ? (double)narrow_result : result;
}

/* A step that no wave uses to cross a fraction of R. */
static inline double step_length(const struct water *water)
{
    return courant * water->reach /
           survey(water, KITH_SUMS_MAX, "sqrt(vx_j * vx_j + vy_j * vy_j) + sqrt(g * h_j)");
}

/* Leapfrog: velocities are known between the positions. */
static inline void step(struct water *water, double dt)
{
    move(water, (water->half + dt) / 2, dt);
    water->half = dt;
    sum_water(water, NULL);
    update_walls(water);
    water->time += dt;
    water->steps++;
}

/* Lets the water flow until the end, and brings the velocities to that time. */
static inline void flow(struct water *water, double end)
{
    double dt = 0;
    for (int64_t k = 0; water->time < end; k++) {
        if (k % steps_a_survey == 0)
            dt = step_length(water);
        const double left = end - water->time;
        step(water, left > dt ? dt : left);
        if (left <= dt)
            water->time = end;
    }
    move(water, water->half / 2, 0);
    water->half = 0;
}

/* Adds a particle to the start: water first, then walls. */
static inline void add_particle(struct water *water, int64_t *kind, struct particle particle)
{
    const int64_t at = water->count + water->walls;
    if (at == water->room) {
        water->room = 2 * at + 1000;
        struct particle *more = room_for(water->room, sizeof *more);
        if (at > 0)
            memcpy(more, water->start, (size_t)at * sizeof *more);
        free(water->start);
        water->start = more;
    }
    water->start[at] = particle;
    ++*kind;
}

/* One number of a column, in host memory of the water's precision. */
static inline void put(const struct water *water, void *host, enum column k, int64_t row,
                       double value)
{
    const int64_t at = (int64_t)k * water->rows + row;
    if (water->dtype == KITH_F32)
        ((float *)host)[at] = (float)value;
    else
        ((double *)host)[at] = value;
}

static inline double get(const struct water *water, const void *host, enum column k, int64_t row)
{
    const int64_t at = (int64_t)k * water->rows + row;
    return water->dtype == KITH_F32 ? (double)((const float *)host)[at]
                                    : ((const double *)host)[at];
}

/* Brings the particles to the device, at rest, with their depths. */
static inline void water_begin(struct water *water)
{
    water->rows = water->count + water->walls;
    void *host = room_for(column_count * water->rows, sizeof(double));
    for (int64_t row = 0; row < water->rows; row++) {
        const struct particle *start = &water->start[row];
        put(water, host, of_x, row, start->x);
        put(water, host, of_y, row, start->y);
        put(water, host, of_V, row, start->volume);
        put(water, host, of_A, row, start->area);
    }
    must(kith_array_create(water->context, water->dtype, column_count, water->rows,
                           &water->columns));
    must(kith_array_copy(water->context,
                         kith_array_matrix(host, water->dtype, column_count, water->rows),
                         water->columns));
    free(host);
    sum_water(water, &water->pair_count); /* n and h */
    move(water, 0, 0);                    /* √(g/h), and the bed's height */
    sum_water(water, NULL);
}

/* All columns, in host memory that the caller frees. */
static inline void *water_on_host(const struct water *water)
{
    void *host = room_for(column_count * water->rows, sizeof(double));
    must(kith_array_copy(water->context, water->columns,
                         kith_array_matrix(host, water->dtype, column_count, water->rows)));
    return host;
}

/* The depths at points: n of x, then n of y. */
static inline void sum_depths_at(const struct water *water, int64_t n, const double *points,
                                 double *depths)
{
    const kith_named_formula depth = {"h", "V_j * W"};
    const kith_particles sources = particles_of(water, water->rows);
    kith_law_parameter parameters[4];
    kith_sums_options options = sums_options_of(water, parameters);
    kith_array there = kith_array_none();
    struct water as_rows = {.dtype = water->dtype, .rows = n};
    void *host = room_for(3 * n, sizeof(double));
    for (int64_t k = 0; k < 2 * n; k++)
        put(&as_rows, host, (enum column)(k / n), k % n, points[k]);
    must(kith_array_create(water->context, water->dtype, 3, n, &there));
    must(kith_array_copy(water->context, kith_array_matrix(host, water->dtype, 3, n), there));
    as_rows.columns = there;
    const kith_particles targets = {.positions = matrix_of(&as_rows, of_x, n, 2)};
    must(kith_sums_compute(water->context, &options, &targets, &sources, 1, &depth,
                           matrix_of(&as_rows, of_vx, n, 1)));
    must(kith_array_copy(water->context, there, kith_array_matrix(host, water->dtype, 3, n)));
    for (int64_t k = 0; k < n; k++)
        depths[k] = get(&as_rows, host, of_vx, k);
    kith_array_free(water->context, &there);
    free(host);
}

/* The kernel's support, and its integral 1. */
static inline void set_reach(struct water *water, double reach)
{
    water->reach = reach;
    water->norm = 7 / (pi * reach * reach);
}

/* The support, and as normalization that a square lattice of this spacing has the sum 1: water on
 * it that is level is level exactly. */
static inline void set_reach_on_lattice(struct water *water, double reach, double spacing)
{
    const int most = (int)(reach / spacing) + 1;
    double sum = 0;
    for (int i = -most; i <= most; i++)
        for (int j = -most; j <= most; j++) {
            const double q = spacing * hypot(i, j) / reach;
            sum += q < 1 ? pow(1 - q, 4) * (1 + 4 * q) : 0;
        }
    water->reach = reach;
    water->norm = 1 / (sum * spacing * spacing);
}

static inline void water_free(struct water *water)
{
    kith_array_free(water->context, &water->columns);
    free(water->start);
}

#endif
