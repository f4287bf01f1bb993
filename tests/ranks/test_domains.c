/* Particles in the boxes of ranks, as threads of this process: steps within a cutoff have the bits
 * of one rank. */

#include "jobs.h"

#include "ranks/boxes.h"

enum { partitions = 1000, most_points = 2000, most_parts = 40 };

/* As they may be: even, in a plane, in few places, or all in one. */
static void put_points(struct random_numbers *numbers, int kind, int64_t count, double (*x)[3])
{
    for (int64_t i = 0; i < count; i++)
        for (int c = 0; c < 3; c++) {
            const double even = random_uniform(numbers, -3, 5);
            x[i][c] = kind == 0             ? even
                      : kind == 1 && c == 1 ? 2
                      : kind == 2           ? floor(even)
                      : kind == 3           ? 0.5
                                            : even;
        }
}

/* A plane is within a bin, of 2^-24 of the extent, of where it halves the weight; that bin has at
 * most three of this number of even points. So a part has at most its share and, of each plane
 * above it, a fraction of that error: 2/3 of what the part before had at most. */
static void test_random_boxes_have_all_points_and_about_the_same_weight(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("boxes");
    static double x[most_points][3];
    static uint32_t weight[most_points];
    kith_context *context = cpu_context(1);
    for (int k = 0; k < partitions; k++) {
        const int32_t parts = (int32_t)random_uniform(&numbers, 1, most_parts);
        const int64_t count = (int64_t)random_uniform(&numbers, 0, most_points);
        struct ranks_boxes boxes;
        double load[most_parts] = {0}, total = 0, heaviest = 0;
        put_points(&numbers, k % 5, count, x);
        for (int64_t i = 0; i < count; i++) {
            weight[i] = k % 2 ? 1 : (uint32_t)random_uniform(&numbers, 1, 100);
            total += weight[i];
            heaviest = fmax(heaviest, weight[i]);
        }
        assert_ok(ranks_boxes_create(parts, &boxes));
        assert_ok(
            ranks_boxes_cut(context, count, (const double(*)[3])x, k % 2 ? NULL : weight, &boxes));
        for (int64_t i = 0; i < count; i++) {
            const int32_t part = ranks_box_of(&boxes, x[i]);
            assert_true(part >= 0 && part < parts);
            load[part] += weight[i];
        }
        for (int32_t part = 0; part < parts && (k % 5 == 0 || k % 5 == 4); part++)
            assert_true(load[part] <= total / parts + 3 * 3 * heaviest);
        ranks_boxes_free(&boxes);
    }
    kith_context_free(context);
}

/* Planes are the same for all ranks, whoever has the points: the boxes of one process. */
struct cut_rank {
    int64_t count;
    double (*x)[3];
    struct ranks_boxes boxes;
};

static kith_status cut(void *argument, kith_context *context)
{
    struct cut_rank *rank = argument;
    return ranks_boxes_cut(context, rank->count, (const double(*)[3])rank->x, NULL, &rank->boxes);
}

static void test_ranks_find_the_boxes_of_one_process(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("boxes of ranks");
    static double x[most_points][3];
    for (int k = 0; k < 10; k++) {
        const int32_t size = (int32_t)random_uniform(&numbers, 1, most_ranks + 1);
        struct cut_rank ranks[most_ranks] = {{0}}, alone = {most_points, x, {0}};
        put_points(&numbers, k % 5, most_points, x);
        kith_context *context = cpu_context(1);
        assert_ok(ranks_boxes_create(size, &alone.boxes));
        assert_ok(cut(&alone, context));
        kith_context_free(context);
        for (int32_t rank = 0; rank < size; rank++) {
            const int64_t first = ranks_first(most_points, size, rank);
            ranks[rank].x = x + first;
            ranks[rank].count = ranks_first(most_points, size, rank + 1) - first;
            assert_ok(ranks_boxes_create(size, &ranks[rank].boxes));
        }
        do_ranks(size, cut, ranks, sizeof ranks[0]);
        for (int32_t rank = 0; rank < size; rank++) {
            const struct ranks_boxes *boxes = &ranks[rank].boxes;
            assert_memory_equal(boxes->axis, alone.boxes.axis, (size_t)size * sizeof *boxes->axis);
            assert_memory_equal(boxes->at, alone.boxes.at, (size_t)size * sizeof *boxes->at);
            ranks_boxes_free(&ranks[rank].boxes);
        }
        ranks_boxes_free(&alone.boxes);
    }
}

static kith_bodies *liquid(double temperature, uint64_t seed)
{
    return made("fcc", (kith_initial_options){.count = 4 * 7 * 7 * 7,
                                              .count_given = true,
                                              .density = 0.8,
                                              .temperature = temperature,
                                              .seed = seed});
}

static kith_cell cell_of(const kith_bodies *bodies)
{
    kith_cell cell = {.periodic = {true, true, true}};
    for (int c = 0; c < 9; c++)
        cell.vectors[c / 3][c % 3] = bodies->cell[c];
    return cell;
}

static int32_t some_ranks(int k)
{
    static const int32_t sizes[] = {2, 3, 5, 8, most_ranks};
    return sizes[k % 5];
}

/* Each law takes other columns with the particles. Hot ones cross many boxes. */
static void test_laws_and_integrators_have_the_bits_of_one_rank(void **state)
{
    (void)state;
    static const struct {
        const char *law, *integrator;
        kith_dtype precision;
        kith_shift shift;
        double temperature, dt;
        int64_t steps;
    } cases[] = {
        {"lennard-jones", NULL, KITH_F64, KITH_SHIFT_NONE, 2, 0.004, 60},
        {"lennard-jones", "yoshida4", KITH_F32, KITH_SHIFT_FORCE, 1, 0.004, 15},
        {"lennard-jones", "leapfrog-dkd", KITH_F64, KITH_SHIFT_ENERGY, 30, 0.002, 60},
        {"yukawa:0.5", NULL, KITH_F64, KITH_SHIFT_FORCE, 200, 0.01, 60},
        {NULL, NULL, KITH_F64, KITH_SHIFT_NONE, 1, 0.01, 20},
        {"expr:(q_i - q_j) * (q_i - q_j) * m_i * m_j / (1 + r2)", "ruth3", KITH_F64,
         KITH_SHIFT_NONE, 3, 0.004, 6},
        {"expr:(q_i - q_j) * (q_i - q_j) * m_i * m_j / (1 + r2)", NULL, KITH_F32, KITH_SHIFT_NONE,
         3, 0.004, 6},
    };
    struct random_numbers numbers = random_numbers_begin("laws in boxes");
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        kith_bodies *start = liquid(cases[k].temperature, 7 + k);
        const kith_cell cell = cell_of(start);
        kith_law *law = NULL;
        if (cases[k].law)
            assert_ok(kith_law_parse(cases[k].law, 0, NULL, &law));
        assert_ok(kith_bodies_add_columns(start, KITH_MASS | KITH_CHARGE));
        for (int64_t i = 0; i < start->count; i++) {
            start->mass[i] = random_uniform(&numbers, 0.5, 2);
            start->charge[i] = random_uniform(&numbers, -1, 1);
        }
        const kith_simulation_options options = {.dt = cases[k].dt,
                                                 .integrator = cases[k].integrator,
                                                 .precision = cases[k].precision,
                                                 .forces = {.law = law,
                                                            .solver = solver_named("cutoff"),
                                                            .softening = law ? 0 : 0.1,
                                                            .shift = cases[k].shift,
                                                            .cutoff = 2.5,
                                                            .cell = &cell}};
        check_steps(start, &options, cases[k].steps, some_ranks((int)k));
        kith_law_free(law);
        kith_bodies_free(start);
    }
}

/* Of bodies with ε and σ of their own, with friction and noise, or one random factor. */
static void test_noise_and_mixed_laws_have_the_bits_of_one_rank(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("noise in boxes");
    kith_law *law = NULL;
    assert_ok(kith_law_parse("lennard-jones", 0, NULL, &law));
    for (int k = 0; k < 9; k++) {
        kith_bodies *start = liquid(1, 3);
        const kith_cell cell = cell_of(start);
        if (k % 2)
            assert_ok(kith_bodies_add_columns(start, KITH_EPSILON | KITH_SIGMA));
        for (int64_t i = 0; k % 2 && i < start->count; i++) {
            start->epsilon[i] = random_uniform(&numbers, 0.5, 1);
            start->sigma[i] = random_uniform(&numbers, 0.8, 1);
        }
        const kith_simulation_options options = {
            .dt = 0.004,
            .precision = k / 2 % 2 ? KITH_F32 : KITH_F64,
            .thermostat = {k < 4 ? KITH_THERMOSTAT_LANGEVIN : KITH_THERMOSTAT_BUSSI, 20, 0.1, 5},
            .forces = {.law = law, .cutoff = 2.2, .cell = &cell}};
        check_steps(start, &options, 30, some_ranks(k));
        kith_bodies_free(start);
    }
    kith_law_free(law);
}

/* Pairs that do not interact: bonded ones, or any. Of molecules the chain of four has them up to
 * its end; some pairs are there twice. Returns how many. */
static int64_t put_pairs(struct random_numbers *numbers, int kind, int64_t count,
                         int64_t (*pairs)[2])
{
    int64_t pair = 0;
    for (int64_t i = 0; i < count; i++)
        for (int64_t j = i + 1; j < i + 4; j++) {
            const bool is_bonded = kind == 0 ? j == i + 1 && i % 2 == 0 : j / 4 == i / 4;
            pairs[pair][0] = kind < 2 ? j : (int64_t)random_uniform(numbers, 0, (double)count);
            pairs[pair][1] = i;
            pair += j < count && (kind < 2 ? is_bonded : pairs[pair][0] != i);
        }
    for (int64_t k = 0; k < 20 && kind == 1; k++, pair++)
        memcpy(pairs[pair], pairs[7 * k], sizeof *pairs);
    return kind < 3 ? pair : 1;
}

/* The pairs move with hot particles. A cutoff of more than half of the cell has no list; of a
 * single pair most ranks have none. */
static void test_excluded_pairs_have_the_bits_of_one_rank(void **state)
{
    (void)state;
    static const struct {
        int pairs;
        double cutoff, temperature;
        kith_dtype precision;
        bool tail, is_open;
        int64_t steps;
    } cases[] = {
        {0, 2.5, 2, KITH_F64, false, false, 40},  {1, 2.5, 30, KITH_F64, true, false, 60},
        {2, 2.2, 30, KITH_F32, false, false, 60}, {3, 2.5, 2, KITH_F64, false, false, 10},
        {1, 2.5, 5, KITH_F32, true, false, 20},   {2, 2.5, 10, KITH_F64, false, true, 40},
        {1, 6.5, 2, KITH_F64, false, false, 4},
    };
    struct random_numbers numbers = random_numbers_begin("excluded pairs of ranks");
    static int64_t pairs[5000][2];
    kith_law *law = NULL;
    assert_ok(kith_law_parse("lennard-jones", 0, NULL, &law));
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        kith_bodies *start = liquid(cases[k].temperature, 5 + k);
        kith_cell cell = cell_of(start);
        const int64_t count = put_pairs(&numbers, cases[k].pairs, start->count, pairs);
        cell.periodic[k % 3] = !cases[k].is_open;
        const kith_simulation_options options = {
            .dt = 0.002,
            .precision = cases[k].precision,
            .forces = {.law = law,
                       .cutoff = cases[k].cutoff,
                       .tail = cases[k].tail,
                       .shift = cases[k].tail ? KITH_SHIFT_NONE : KITH_SHIFT_ENERGY,
                       .exclusions = kith_array_matrix(pairs, KITH_I64, count, 2),
                       .cell = &cell}};
        assert_true(check_steps(start, &options, cases[k].steps, some_ranks((int)k)));
        kith_bodies_free(start);
    }
    kith_law_free(law);
}

/* Open along some axes, or all; in a sheared cell; in two dimensions. */
static void test_other_cells_have_the_bits_of_one_rank(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("cells of ranks");
    kith_law *law = NULL;
    assert_ok(kith_law_parse("yukawa:0.3", 0, NULL, &law));
    for (int k = 0; k < 10; k++) {
        const int32_t dimensions = k % 5 == 4 ? 2 : 3;
        const int64_t n = (int64_t)random_uniform(&numbers, 1024, 1500);
        kith_cell cell = {.periodic = {k % 3 > 0, k % 3 > 1, k % 2 && dimensions == 3}};
        kith_bodies *start = NULL;
        assert_ok(kith_bodies_create(n, dimensions, KITH_VELOCITY, &start));
        for (int c = 0; c < dimensions; c++)
            cell.vectors[c][c] = random_uniform(&numbers, 4, 12);
        cell.vectors[1][0] = random_uniform(&numbers, -2, 2);
        for (int64_t i = 0; i < n * dimensions; i++) {
            start->position[i] = random_uniform(&numbers, -6, 9);
            start->velocity[i] = random_uniform(&numbers, -2, 2);
        }
        const kith_simulation_options options = {
            .dt = 0.02, .forces = {.law = law, .softening = 0.3, .cutoff = 1.5, .cell = &cell}};
        check_steps(start, &options, 40, some_ranks(k));
        kith_bodies_free(start);
    }
    kith_law_free(law);
}

/* In a corner of a large cell, at one point, and in one plane: ranks are empty, or begin so. */
static void test_crowded_bodies_have_the_bits_of_one_rank(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("crowded");
    kith_law *law = NULL;
    assert_ok(kith_law_parse("yukawa:0.3", 0, NULL, &law));
    for (int k = 0; k < 4; k++) {
        const int64_t n = 1100;
        const kith_cell cell = {.vectors = {{40, 0, 0}, {0, 50, 0}, {0, 0, 60}},
                                .periodic = {true, true, true}};
        kith_bodies *start = NULL;
        assert_ok(kith_bodies_create(n, 3, KITH_VELOCITY, &start));
        for (int64_t i = 0; i < n * 3; i++) {
            const double x = random_uniform(&numbers, 0, 1);
            start->position[i] = k == 1 || (k == 2 && i % 3 == 0) ? 39.99 : x;
            start->velocity[i] = k == 3 ? 0 : random_uniform(&numbers, -5, 5);
        }
        const kith_simulation_options options = {
            .dt = 0.01, .forces = {.law = law, .softening = 0.3, .cutoff = 1.5, .cell = &cell}};
        check_steps(start, &options, 40, some_ranks(k + 1));
        kith_bodies_free(start);
    }
    kith_law_free(law);
}

/* What a rank reads between its steps. */
struct reading_rank {
    const kith_bodies *start;
    kith_simulation_options options;
    kith_bodies *end;
    double sum;
    int64_t calls;
    kith_status status;
    bool has_views;
};

static bool count_call(void *user, kith_simulation *simulation)
{
    struct reading_rank *rank = user;
    kith_diagnostics diagnostics;
    rank->calls++;
    rank->status = kith_simulation_diagnose(simulation, &diagnostics);
    rank->sum += diagnostics.total_energy;
    return true;
}

/* Steps in pieces, with a heartbeat, a checkpoint that is restored, and views that are written to.
 */
static kith_status read_between_steps(void *argument, kith_context *context)
{
    struct reading_rank *rank = argument;
    kith_simulation *simulation = NULL;
    kith_checkpoint checkpoint = {0};
    kith_array view;
    kith_status status = kith_simulation_create(context, &rank->options, rank->start, &simulation);
    if (status == KITH_OK && rank->has_views)
        status = kith_simulation_view(simulation, KITH_SIMULATION_VELOCITY, &view);
    if (status == KITH_OK)
        status = kith_simulation_step(simulation, 7);
    if (status == KITH_OK && rank->has_views)
        ((double *)view.data)[5] *= 2;
    if (status == KITH_OK)
        status = kith_simulation_save(simulation, &checkpoint);
    if (status == KITH_OK)
        status = kith_simulation_step(simulation, 5);
    if (status == KITH_OK)
        status = kith_simulation_restore(simulation, &checkpoint);
    if (status == KITH_OK)
        status = kith_simulation_set_heartbeat(simulation, 3, count_call, rank);
    if (status == KITH_OK)
        status = kith_simulation_run(simulation, 0.1);
    if (status == KITH_OK)
        status = kith_simulation_get_bodies(simulation, rank->end);
    kith_simulation_free(simulation);
    kith_checkpoint_free(&checkpoint);
    if (status != KITH_OK)
        rank->status = status;
    return status;
}

static void test_what_is_read_between_steps_has_the_bits_of_one_rank(void **state)
{
    (void)state;
    kith_law *law = NULL;
    assert_ok(kith_law_parse("lennard-jones", 0, NULL, &law));
    for (int k = 0; k < 4; k++) {
        kith_bodies *start = liquid(2, 11);
        const kith_cell cell = cell_of(start);
        const struct reading_rank like = {
            .start = start,
            .has_views = k % 2,
            .options = {.dt = 0.003, .forces = {.law = law, .cutoff = 2.5, .cell = &cell}}};
        struct reading_rank alone = like, ranks[most_ranks];
        assert_ok(kith_bodies_create(start->count, 3, KITH_VELOCITY, &alone.end));
        kith_context *context = cpu_context(1);
        assert_ok(read_between_steps(&alone, context));
        kith_context_free(context);
        const int32_t size = some_ranks(k);
        for (int32_t rank = 0; rank < size; rank++) {
            ranks[rank] = like;
            assert_ok(kith_bodies_create(start->count, 3, KITH_VELOCITY, &ranks[rank].end));
        }
        do_ranks(size, read_between_steps, ranks, sizeof ranks[0]);
        for (int32_t rank = 0; rank < size; rank++) {
            assert_int_equal(ranks[rank].status, KITH_OK);
            assert_int_equal(ranks[rank].calls, alone.calls);
            assert_true(ranks[rank].sum == alone.sum);
            assert_same_state(ranks[rank].end, alone.end);
            kith_bodies_free(ranks[rank].end);
        }
        kith_bodies_free(alone.end);
        kith_bodies_free(start);
    }
    kith_law_free(law);
}

/* Forces of 10^300 and more have no unit: the steps go on without a list. */
static void test_forces_without_a_list_have_the_bits_of_one_rank(void **state)
{
    (void)state;
    kith_law *law = NULL;
    assert_ok(kith_law_parse("lennard-jones", 0, NULL, &law));
    kith_bodies *start = liquid(2, 11);
    const kith_cell cell = cell_of(start);
    for (int c = 0; c < 3; c++)
        start->position[3 * 900 + c] = start->position[3 * 100 + c] + (c == 0 ? 0 : 1e-24);
    const kith_simulation_options options = {.dt = 1e-305,
                                             .forces = {.law = law, .cutoff = 2.5, .cell = &cell}};
    check_steps(start, &options, 3, 3);
    kith_bodies_free(start);
    kith_law_free(law);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_boxes_have_all_points_and_about_the_same_weight),
        cmocka_unit_test(test_ranks_find_the_boxes_of_one_process),
        cmocka_unit_test(test_laws_and_integrators_have_the_bits_of_one_rank),
        cmocka_unit_test(test_noise_and_mixed_laws_have_the_bits_of_one_rank),
        cmocka_unit_test(test_excluded_pairs_have_the_bits_of_one_rank),
        cmocka_unit_test(test_other_cells_have_the_bits_of_one_rank),
        cmocka_unit_test(test_crowded_bodies_have_the_bits_of_one_rank),
        cmocka_unit_test(test_what_is_read_between_steps_has_the_bits_of_one_rank),
        cmocka_unit_test(test_forces_without_a_list_have_the_bits_of_one_rank),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
