/* Trees, cutoffs and boxes over ranks, as threads of this process: the bits of one rank. */

#include "jobs.h"

#include "tree_scene.h"

static struct system system_of_scene(struct random_numbers *numbers, const char *kind,
                                     kith_dtype dtype, int64_t n, int32_t dimensions)
{
    static struct tree_scene scene;
    struct system s = system_create(dtype, n, dimensions);
    scene_fill(&scene, numbers, kind, dimensions, n);
    for (int64_t i = 0; i < n; i++) {
        for (int32_t c = 0; c < dimensions; c++)
            put(s.x, i * dimensions + c, scene.x[c][i]);
        put(s.m, i, scene.weight[i]);
    }
    return s;
}

static int32_t random_size(struct random_numbers *numbers)
{
    return (int32_t)random_uniform(numbers, 2, most_ranks + 1);
}

/* Every distribution, by both solvers: with an error or an angle, softened or not. */
static void test_trees_have_the_bits_of_one_rank(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("trees over ranks");
    for (int k = 0; k < 2 * scene_kinds; k++) {
        const int32_t dimensions = random_uniform(&numbers, 0, 1) < 0.25 ? 2 : 3;
        const kith_dtype dtype = random_uniform(&numbers, 0, 1) < 0.25 ? KITH_F32 : KITH_F64;
        const int64_t n = (int64_t)random_uniform(&numbers, 1, 6000);
        const bool by_angle = random_uniform(&numbers, 0, 1) < 0.25;
        struct system s =
            system_of_scene(&numbers, scene_names[k % scene_kinds], dtype, n, dimensions);
        struct forces_rank like = {
            .system = &s,
            .options = {.solver = solver_named(k % 2 ? "tree" : "fmm"),
                        .softening = random_uniform(&numbers, 0, 1) < 0.5 ? 0.01 : 0}};
        if (by_angle)
            like.options.accuracy = (kith_accuracy){.theta = 0.6, .order = 4};
        else
            like.options.accuracy.error = pow(10, -random_uniform(&numbers, 2, 5));
        check_same_bits(&like, random_size(&numbers));
        system_free(&s);
    }
}

/* Cells of a lattice of equal masses are of exactly the same size: of two, that which is first in
 * the tree of one process is split. */
static void test_cells_of_one_size_are_split_as_by_one_rank(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("lattices over ranks");
    for (int k = 0; k < 4; k++) {
        struct system s = system_of_scene(&numbers, "lattice", KITH_F64, 4096, 3);
        for (int64_t i = 0; i < s.n; i++)
            put(s.m, i, 1);
        const struct forces_rank like = {
            .system = &s, .options = {.solver = solver_named("fmm"), .accuracy.theta = 0.8}};
        check_same_bits(&like, random_size(&numbers));
        system_free(&s);
    }
}

static void test_targets_of_trees_have_the_bits_of_one_rank(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("targets over ranks");
    kith_law *law = NULL;
    assert_ok(kith_law_parse("yukawa:0.2", 0, NULL, &law));
    for (int k = 0; k < 8; k++) {
        const kith_dtype dtype = k % 3 == 2 ? KITH_F32 : KITH_F64;
        const int32_t dimensions = k == 4 ? 2 : 3;
        const int64_t n = k == 6 ? 1 : (int64_t)random_uniform(&numbers, 1, 4000);
        const int64_t n_targets = k == 7 ? 1 : (int64_t)random_uniform(&numbers, 1, 4000);
        struct system s = system_of_scene(&numbers, "plummer", dtype, n, dimensions);
        struct system targets = system_of_scene(&numbers, "cube", dtype, n_targets, dimensions);
        const struct forces_rank like = {.system = &s,
                                         .targets = &targets,
                                         .options = {.solver = solver_named(k % 2 ? "tree" : "fmm"),
                                                     .law = k % 4 == 3 ? law : NULL,
                                                     .softening = 0.01,
                                                     .accuracy.error = 1e-3}};
        check_same_bits(&like, random_size(&numbers));
        system_free(&targets);
        system_free(&s);
    }
    kith_law_free(law);
}

/* A softening per body, of bodies and of targets of their own. */
static void test_softenings_of_bodies_have_the_bits_of_one_rank(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("softenings over ranks");
    for (int k = 0; k < 8; k++) {
        const kith_dtype dtype = k % 3 == 2 ? KITH_F32 : KITH_F64;
        struct system s = system_of_scene(&numbers, scene_names[k % scene_kinds], dtype,
                                          (int64_t)random_uniform(&numbers, 1, 5000), 3);
        struct system targets =
            system_of_scene(&numbers, "cube", dtype, (int64_t)random_uniform(&numbers, 1, 4000), 3);
        for (int64_t i = 0; i < s.n; i++)
            put(s.softening, i, random_uniform(&numbers, 0, 0.1));
        for (int64_t i = 0; i < targets.n; i++)
            put(targets.softening, i, random_uniform(&numbers, 0, 0.1));
        s.softened = targets.softened = true;
        const struct forces_rank like = {
            .system = &s,
            .targets = k % 2 ? &targets : NULL,
            .options = {.solver = solver_named("tree"),
                        .accuracy.error = pow(10, -random_uniform(&numbers, 2, 4))}};
        check_same_bits(&like, random_size(&numbers));
        system_free(&targets);
        system_free(&s);
    }
}

/* More ranks than branches: some have none. One place is a single leaf, which all compute. */
static void test_ranks_without_branches(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("ranks without branches");
    static const char *const kinds[] = {"cube", "one place", "two clusters"};
    static const int64_t counts[] = {0, 1, 1024, 1025, 2100};
    for (int k = 0; k < 15; k++) {
        struct system s = system_of_scene(&numbers, kinds[k % 3], KITH_F64, counts[k / 3], 3);
        const struct forces_rank like = {
            .system = &s,
            .options = {.solver = solver_named(k % 2 ? "tree" : "fmm"), .accuracy.error = 1e-3}};
        check_same_bits(&like, most_ranks);
        system_free(&s);
    }
}

/* The solver that an accuracy chooses is the same on all ranks. */
static void test_an_accuracy_alone_has_the_bits_of_one_rank(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("accuracy over ranks");
    for (int k = 0; k < 2; k++) {
        struct system s = system_of_scene(&numbers, "plummer", KITH_F64, k ? 8000 : 300, 3);
        const struct forces_rank like = {.system = &s, .options.accuracy.error = 1e-2};
        check_same_bits(&like, 3);
        system_free(&s);
    }
}

static kith_cell random_cell(struct random_numbers *numbers)
{
    kith_cell cell = {.periodic = {true, true, random_uniform(numbers, 0, 1) < 0.5}};
    for (int k = 0; k < 3; k++)
        cell.vectors[k][k] = random_uniform(numbers, 1.5, 3);
    cell.vectors[1][0] = random_uniform(numbers, -0.3, 0.3);
    return cell;
}

/* In a cell and in open space, by gravity and a law, of even and of clustered bodies; with targets
 * of their own at times. */
static void test_cutoffs_have_the_bits_of_one_rank(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("cutoffs over ranks");
    kith_law *law = NULL;
    assert_ok(kith_law_parse("yukawa:0.2", 0, NULL, &law));
    for (int k = 0; k < 12; k++) {
        const kith_dtype dtype = k % 4 == 3 ? KITH_F32 : KITH_F64;
        const int64_t n = (int64_t)random_uniform(&numbers, 1, 5000);
        const kith_cell cell = random_cell(&numbers);
        struct system s =
            system_of_scene(&numbers, k % 3 ? "cube" : "nested clusters", dtype, n, 3);
        struct system targets = system_of_scene(&numbers, "cube", dtype,
                                                1 + (int64_t)random_uniform(&numbers, 0, 3000), 3);
        const struct forces_rank like = {.system = &s,
                                         .targets = k % 6 == 5 ? &targets : NULL,
                                         .options = {.solver = solver_named("cutoff"),
                                                     .law = k % 2 ? law : NULL,
                                                     .softening = 0.01,
                                                     .cutoff = random_uniform(&numbers, 0.05, 0.3),
                                                     .cell = k % 3 ? &cell : NULL}};
        check_same_bits(&like, random_size(&numbers));
        system_free(&targets);
        system_free(&s);
    }
    kith_law_free(law);
}

/* Steps of a liquid: its lists are rebuilt several times, and divided by the entries of the ones
 * before. Half of the box is empty at first, so that ranks have unequal work. */
static void test_steps_in_a_box_have_the_bits_of_one_rank(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("box over ranks");
    kith_law *law = NULL;
    assert_ok(kith_law_parse("lennard-jones", 0, NULL, &law));
    for (int k = 0; k < 3; k++) {
        const int64_t n = k == 2 ? 500 : (int64_t)random_uniform(&numbers, 1100, 2500);
        kith_bodies *start = made("fcc", (kith_initial_options){.count = 4 * 10 * 10 * 10,
                                                                .count_given = true,
                                                                .density = 0.8,
                                                                .temperature = 2});
        kith_cell cell = {.periodic = {true, true, true}};
        for (int c = 0; c < 9; c++)
            cell.vectors[c / 3][c % 3] = start->cell[c];
        start->count = n;
        const kith_simulation_options options = {
            .dt = 0.004,
            .skin = k == 0 ? 0.2 : 0,
            .forces = {.law = law, .cutoff = 2.5, .cell = &cell}};
        check_steps(start, &options, 25, random_size(&numbers));
        start->count = 4 * 10 * 10 * 10;
        kith_bodies_free(start);
    }
    kith_law_free(law);
}

/* From the second step on the work is divided as it was measured. */
static void test_steps_by_a_tree_have_the_bits_of_one_rank(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("steps by a tree");
    for (int k = 0; k < 3; k++) {
        const int64_t n = (int64_t)random_uniform(&numbers, 3000, 5000);
        kith_bodies *start =
            made("plummer", (kith_initial_options){.count = n, .count_given = true});
        const kith_simulation_options options = {
            .dt = 0.01,
            .softening_of_bodies = k == 2,
            .forces = {.solver = solver_named(k ? "tree" : "fmm"),
                       .softening = 0.02,
                       .accuracy.error = 1e-3}};
        start->softening = k == 2 ? malloc((size_t)n * sizeof *start->softening) : NULL;
        for (int64_t i = 0; i < n && k == 2; i++)
            start->softening[i] = random_uniform(&numbers, 0, 0.1);
        check_steps(start, &options, 4, random_size(&numbers));
        kith_bodies_free(start);
    }
}

/* The unit of the charges is that of all: one rank has the large ones, which are at one place. */
static void test_large_charges_have_the_bits_of_one_rank(void **state)
{
    (void)state;
    enum { n = 3000, large = 5 };
    static const char *const names[] = {"fmm", "tree"};
    struct random_numbers numbers = random_numbers_begin("large charges over ranks");
    kith_law *law = NULL;
    assert_ok(kith_law_parse("coulomb", 0, NULL, &law));
    for (int k = 0; k < 2; k++) {
        kith_bodies *start =
            made("plummer", (kith_initial_options){.count = n, .count_given = true});
        start->charge = malloc(n * sizeof *start->charge);
        for (int64_t i = 0; i < n; i++)
            start->charge[i] = i < large ? 100 : random_uniform(&numbers, -0.1, 0.1);
        for (int64_t i = 0; i < 3 * large; i++)
            start->position[i] = start->position[i % 3];
        const kith_simulation_options options = {
            .dt = 1e-5,
            .forces = {.law = law, .solver = solver_named(names[k]), .accuracy.error = 1e-3}};
        check_steps(start, &options, 2, random_size(&numbers));
        kith_bodies_free(start);
    }
    kith_law_free(law);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_trees_have_the_bits_of_one_rank),
        cmocka_unit_test(test_cells_of_one_size_are_split_as_by_one_rank),
        cmocka_unit_test(test_targets_of_trees_have_the_bits_of_one_rank),
        cmocka_unit_test(test_softenings_of_bodies_have_the_bits_of_one_rank),
        cmocka_unit_test(test_ranks_without_branches),
        cmocka_unit_test(test_an_accuracy_alone_has_the_bits_of_one_rank),
        cmocka_unit_test(test_cutoffs_have_the_bits_of_one_rank),
        cmocka_unit_test(test_steps_in_a_box_have_the_bits_of_one_rank),
        cmocka_unit_test(test_steps_by_a_tree_have_the_bits_of_one_rank),
        cmocka_unit_test(test_large_charges_have_the_bits_of_one_rank),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
