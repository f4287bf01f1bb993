/* The tree itself, and that every pair of points is counted once. */

#include "testing.h"

#include "device/context.h"
#include "tree/accept_kernel.h"
#include "tree/accuracy.h"
#include "tree/pull_kernel.h"
#include "tree/solve.h"
#include "tree_on_cpu.h"

static struct tree_scene scene;

static struct sort_points points_of(const struct tree_scene *of)
{
    return (struct sort_points){
        KITH_F64, of->dimensions, of->count, {of->x[0], of->x[1], of->x[2]}};
}

static double distance(const struct octree *tree, int64_t k, const double center[3])
{
    double r2 = 0;
    for (int c = 0; c < 3; c++) {
        const double d = ((const double *)tree->position[c])[k] - center[c];
        r2 += d * d;
    }
    return sqrt(r2);
}

static void check_cell(const struct octree *tree, int32_t index, int32_t leaf)
{
    const struct octree_cell *cell = &tree->cell[index];
    const struct octree_sphere *sphere = &tree->sphere[index];
    double weight = 0;
    for (int64_t k = cell->first; k < cell->first + cell->count; k++) {
        assert_true(distance(tree, k, sphere->center) <= sphere->radius * (1 + 1e-12));
        weight += fabs(((const double *)tree->weight)[k]);
    }
    assert_true(fabs(weight - tree->weight_sum[index]) <= 1e-12 * weight);
    if (cell->children == 0) {
        assert_true(cell->count <= leaf || cell->level == morton_levels(tree->dimensions));
        return;
    }
    assert_in_range(cell->children, 2, 1 << tree->dimensions);
    assert_true(cell->child > index);
    int32_t next = cell->first;
    for (int32_t j = cell->child; j < cell->child + cell->children; j++) {
        assert_int_equal(tree->cell[j].parent, index);
        assert_int_equal(tree->cell[j].first, next);
        assert_true(tree->cell[j].level > cell->level);
        next += tree->cell[j].count;
    }
    assert_int_equal(next, cell->first + cell->count);
}

static void test_cells_are_parted_among_their_children(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("test_cells_are_parted");
    kith_context *context = context_with(1);
    struct octree tree = {0};
    for (int32_t kind = 0; kind < scene_kinds; kind++)
        for (int32_t dimensions = 2; dimensions <= 3; dimensions++) {
            scene_fill(&scene, &numbers, scene_names[kind], dimensions, 3000);
            const struct sort_points points = points_of(&scene);
            assert_ok(octree_build_cpu(context, &points, scene.weight, 20, &tree));
            assert_int_equal(tree.cell[0].count, 3000);
            for (int32_t k = 0; k < tree.cell_count; k++)
                check_cell(&tree, k, 20);
        }
    octree_free(&tree);
    kith_context_free(context);
}

static void test_a_tree_has_the_same_bits_for_every_number_of_threads(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("test_a_tree_has_the_same_bits");
    struct octree trees[2] = {{0}};
    scene_fill(&scene, &numbers, "plummer", 3, scene_most);
    const struct sort_points points = points_of(&scene);
    for (int32_t k = 0; k < 2; k++) {
        kith_context *context = context_with(k == 0 ? 1 : 3);
        assert_ok(octree_build_cpu(context, &points, scene.weight, 8, &trees[k]));
        kith_context_free(context);
    }
    const size_t cells = (size_t)trees[0].cell_count;
    assert_int_equal(trees[1].cell_count, cells);
    assert_memory_equal(trees[0].cell, trees[1].cell, cells * sizeof *trees[0].cell);
    assert_memory_equal(trees[0].sphere, trees[1].sphere, cells * sizeof *trees[0].sphere);
    octree_free(&trees[0]);
    octree_free(&trees[1]);
}

/* How many sources each target has met. */
struct counting {
    const struct octree *targets, *sources;
    double met[scene_most];
    int64_t points, bodies; /* uneven pairs, from both sides */
};

static void count_sources(struct counting *counting, int32_t target, const int32_t *sources,
                          int64_t count)
{
    const struct octree_cell *cell = &counting->targets->cell[target];
    for (int64_t k = 0; k < count; k++)
        for (int32_t i = cell->first; i < cell->first + cell->count; i++)
            counting->met[i] += counting->sources->cell[sources[k]].count;
}

static void count_far(void *user, int32_t target, const int32_t *sources, int64_t count)
{
    count_sources(user, target, sources, count);
}

static void count_bodies(void *user, int32_t target, const int32_t *leaves, int64_t count)
{
    count_sources(user, target, leaves, count);
    __atomic_fetch_add(&((struct counting *)user)->bodies, count, __ATOMIC_RELAXED);
}

static void descend(void *user, int32_t target)
{
    (void)user;
    (void)target;
}

static void count_leaf(void *user, struct tree_walker *walker, int32_t target,
                       const struct cell_list *far, const struct cell_list *points,
                       const struct cell_list *near)
{
    (void)walker;
    count_sources(user, target, far->cell, far->count);
    count_sources(user, target, points->cell, points->count);
    count_sources(user, target, near->cell, near->count);
    __atomic_fetch_add(&((struct counting *)user)->points, points->count, __ATOMIC_RELAXED);
}

static int64_t uneven_pairs;

/* By radii alone, or by a rule that takes no expansions of larger targets, but points. */
static void check_counts(kith_context *context, const struct octree *tree, enum tree_walk walk,
                         bool has_points)
{
    enum { order = 2 };
    static const double as_point[order + 1] = {1, 1, 1};
    static struct counting counting;
    counting = (struct counting){.targets = tree, .sources = tree};
    struct tree_side *side = calloc((size_t)tree->cell_count, sizeof *side);
    double *power = calloc((size_t)tree->cell_count, (order + 1) * sizeof *power);
    for (int32_t k = 0; k < tree->cell_count; k++) {
        memcpy(side[k].center, tree->sphere[k].center, sizeof side[k].center);
        side[k].radius = side[k].size = tree->sphere[k].radius;
    }
    const struct tree_sides sides = {tree, side, power};
    struct tree_rule rule = {.walk = walk, .theta = 0.7};
    if (has_points) {
        rule.order = order;
        rule.angle = 0.1;
        rule.as_point = as_point;
    }
    const struct tree_actions actions = {.far_to_leaves = walk == tree_walk_groups,
                                         .far = count_far,
                                         .bodies = count_bodies,
                                         .descend = descend,
                                         .leaf = count_leaf,
                                         .user = &counting};
    struct tree_counts counts;
    assert_ok(tree_walk_cpu(context, &rule, &sides, &sides, &actions, 1, &counts));
    for (int64_t i = 0; i < tree->count; i++)
        assert_true(counting.met[i] == (double)tree->count); /* itself in its own leaf */
    assert_int_equal(counting.points, counting.bodies);
    uneven_pairs += counting.points;
    free(side);
    free(power);
}

static void test_every_target_meets_every_source_once(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("test_every_target_meets_every_source");
    static const int64_t sizes[] = {1, 2, 7, 8, 9, 3000};
    kith_context *context = context_with(2);
    struct octree tree = {0};
    for (int32_t kind = 0; kind < scene_kinds; kind++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            scene_fill(&scene, &numbers, scene_names[kind], 3, sizes[s]);
            const struct sort_points points = points_of(&scene);
            assert_ok(octree_build_cpu(context, &points, scene.weight, 8, &tree));
            check_counts(context, &tree, tree_walk_mutual, false);
            check_counts(context, &tree, tree_walk_mutual, true);
            check_counts(context, &tree, tree_walk_groups, false);
        }
    assert_true(uneven_pairs > 1000);
    octree_free(&tree);
    kith_context_free(context);
}

static void test_acceptance_is_symmetric(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("test_acceptance_is_symmetric");
    static const double as_point[] = {1, 1, 3};
    const struct tree_rule rule = {.walk = tree_walk_mutual,
                                   .order = 2,
                                   .theta = 0.8,
                                   .share = 1e-3,
                                   .coherent = 1,
                                   .as_point = as_point};
    int64_t uneven = 0;
    for (int32_t turn = 0; turn < 10000; turn++) {
        struct tree_side side[2];
        double power[2][3];
        for (int k = 0; k < 2; k++) {
            scene_gaussian(&numbers, 3, side[k].center);
            side[k].radius = random_uniform(&numbers, 0, 1);
            side[k].weight = power[k][0] = random_uniform(&numbers, 0, 1);
            side[k].size = side[k].radius;
            side[k].field = side[k].potential = turn % 2 ? 0.01 : 1000;
            power[k][1] = 0;
            power[k][2] = side[k].radius * side[k].weight;
        }
        const enum tree_verdict verdict = tree_judge(&rule, &side[0], power[0], &side[1], power[1]);
        assert_int_equal(verdict, tree_judge(&rule, &side[1], power[1], &side[0], power[0]));
        uneven += verdict == tree_is_uneven;
        assert_true(tree_splits_source(&side[0], 3, &side[1], 4) !=
                    tree_splits_source(&side[1], 4, &side[0], 3));
    }
    assert_true(uneven > 50);
}

/* With the instruction set of the context: KITH_ISA takes the others. */
static void test_acceptance_of_several_sources_is_that_of_each(void **state)
{
    (void)state;
    enum { order = 5, sides = 40, bins = 64, turns = 1600 };
    static struct tree_decay_row rows[bins];
    struct random_numbers numbers = random_numbers_begin("test_acceptance_of_several_sources");
    struct tree_side side[sides];
    double power[sides * (order + 1)];
    int32_t cells[accept_lanes];
    int64_t accepted[2] = {0}, uneven = 0;
    static const double as_point[order + 1] = {1, 0.5, 2, 1, 1, 1};
    kith_context *context = context_with(1);
#define ADDRESS(isa) tree_accept_##isa,
    static tree_accept_kernel *const each_isa[] = {KITH_EACH_ISA(ADDRESS)};
#undef ADDRESS
    for (int k = 0; k < sides; k++) {
        scene_gaussian(&numbers, 1, side[k].center);
        side[k].radius = k % 5 ? random_uniform(&numbers, 0, 1) : 0;
        side[k].weight = random_uniform(&numbers, 0, 1);
        side[k].size = k % 2 ? 1 : side[k].radius;
        side[k].field = random_uniform(&numbers, 0, 1);
        side[k].potential = random_uniform(&numbers, 0, 3);
        for (int32_t n = 0; n <= order; n++)
            power[k * (order + 1) + n] = side[k].weight * pow(side[k].radius, n);
    }
    for (int k = 0; k < bins; k++) {
        for (int j = 0; j < tree_decay_angles; j++)
            rows[k].field[j] = k % 9 ? random_uniform(&numbers, 0, 1) : (double)INFINITY;
        rows[k].slope = random_uniform(&numbers, 0, 1);
        rows[k].noise = random_uniform(&numbers, 0, 1e-5);
    }
    const struct tree_decay decay = {expansion_bin_of(0x1p-6), bins, 0.5, rows};
    for (int32_t turn = 0; turn < turns; turn++) {
        const struct tree_rule rule = {.walk = (enum tree_walk)(turn % 3),
                                       .order = turn % 7 ? order : 0,
                                       .theta = 0.8,
                                       .share = 1e-3,
                                       .coherent = 0.02,
                                       .softening2 = turn % 4 ? 0 : 0.1,
                                       .as_point = turn % 3 == tree_walk_mutual ? as_point : NULL,
                                       .decay = turn < turns / 2 ? NULL : &decay};
        const int32_t count = 1 + turn % accept_lanes, target = turn % sides;
        const bool is_leaf = turn % 5 > 1;
        uint8_t found[accept_lanes];
        for (int32_t k = 0; k < count; k++)
            cells[k] = (int32_t)random_uniform(&numbers, 0, sides);
        each_isa[context->isa](&rule, &side[target], &power[target * (order + 1)], is_leaf, side,
                               power, cells, count, found);
        for (int32_t k = 0; k < count; k++) {
            const struct tree_side *source = &side[cells[k]];
            enum tree_verdict expected =
                tree_judge(&rule, &side[target], &power[target * (order + 1)], source,
                           &power[cells[k] * (order + 1)]);
            if (!is_leaf && side[target].radius > source->radius && expected == tree_is_uneven)
                expected = tree_is_open;
            assert_int_equal(found[k], expected);
            accepted[turn / (turns / 2)] += found[k] == tree_is_far;
            uneven += found[k] == tree_is_uneven;
        }
    }
    assert_true(uneven > 100);
    assert_in_range(accepted[0], 2000, 12000);
    assert_in_range(accepted[1], 500, 12000);
    kith_context_free(context);
}

static void test_orders_of_several_sources_are_those_of_each(void **state)
{
    (void)state;
    enum { p = 17, sides = 40, most = 75, turns = 600 };
    struct random_numbers numbers = random_numbers_begin("test_orders_of_several_sources");
    kith_context *context = context_with(1);
    struct tree_side side[sides];
    struct tree_orders orders;
    double power[sides * (p + 1)];
    int64_t counts[p + 1] = {0};
    for (int k = 0; k < sides; k++) {
        scene_gaussian(&numbers, 3, side[k].center);
        side[k].radius = k % 5 ? random_uniform(&numbers, 0, 1) : 0;
        side[k].size = k % 2 ? 1 : fmax(side[k].radius, 1e-3);
        side[k].weight = random_uniform(&numbers, 0, 1);
        side[k].field = random_uniform(&numbers, 0, 3);
        side[k].potential = random_uniform(&numbers, 0, 3);
        for (int32_t n = 0; n <= p; n++)
            power[k * (p + 1) + n] = side[k].weight * pow(side[k].radius / side[k].size, n) *
                                     tgamma(p + 1) / (tgamma(n + 1) * tgamma(p - n + 1));
    }
    tree_make_orders(&(struct tree_request){.error = 1e-6, .order = p}, &orders);
    for (int32_t turn = 0; turn < turns; turn++) {
        const struct tree_rule rule = {
            .walk = turn % 3 ? tree_walk_mutual : tree_walk_one_way, .order = p, .share = 1e-6};
        const int32_t count = 1 + turn % most, target = turn % sides;
        int32_t cells[most];
        uint8_t found[most];
        for (int32_t k = 0; k < count; k++)
            do
                cells[k] = (int32_t)random_uniform(&numbers, 0, sides);
            while (cells[k] == target);
        tree_order_kernel_of(context->isa)(&rule, &orders, &side[target], &power[target * (p + 1)],
                                           side, power, cells, count, found);
        for (int32_t k = 0; k < count; k++) {
            const int32_t source = cells[k];
            const struct tree_side *a = &side[target], *b = &side[source];
            assert_int_equal(found[k], tree_find_order(&rule, &orders, a, &power[target * (p + 1)],
                                                       b, &power[source * (p + 1)]));
            if (rule.walk == tree_walk_mutual) /* one order for both directions */
                assert_int_equal(found[k],
                                 tree_find_order(&rule, &orders, b, &power[source * (p + 1)], a,
                                                 &power[target * (p + 1)]));
            counts[found[k]]++;
        }
    }
    for (int32_t q = 0; q <= p; q++)
        assert_true(q >= 5 && q % 2 == 1 ? counts[q] > 100 : counts[q] == 0);
    kith_context_free(context);
}

static void test_the_pull_of_several_sources_is_that_of_each(void **state)
{
    (void)state;
    enum { sides = 40, most = 35, turns = 1000 };
    struct random_numbers numbers = random_numbers_begin("test_the_pull_of_several_sources");
    kith_context *context = context_with(1);
    tree_pull_kernel *const add = tree_pull_kernel_of(context->isa);
    struct tree_side side[sides];
    double net[sides];
    int32_t cells[most];
    for (int32_t k = 0; k < sides; k++) {
        side[k] = (struct tree_side){.radius = k % 3 ? random_uniform(&numbers, 0, 1) : 0};
        scene_gaussian(&numbers, 3, side[k].center);
        side[k].weight = random_uniform(&numbers, 0, 1);
        net[k] = random_uniform(&numbers, -1, 1) * side[k].weight;
    }
    for (int32_t turn = 0; turn < turns; turn++) {
        const int32_t target = turn % sides, count = turn % most;
        const enum expansion_law law = turn % 2 ? expansion_inverse : expansion_logarithm;
        const double softening2 = turn % 3 ? 0 : 0.1;
        const bool is_near = turn / 2 % 2;
        struct tree_pull expected = {{1, -2, 3}, 1, 0.5, 2}, found = expected;
        for (int32_t k = 0; k < count; k++) { /* the target, too */
            cells[k] = k % 9 ? (int32_t)random_uniform(&numbers, 0, sides) : target;
            tree_add_pull(&side[target], &side[cells[k]], net[cells[k]], softening2, law, is_near,
                          &expected);
        }
        add(&side[target], side, net, cells, count, softening2, law, is_near, &found);
        assert_memory_equal(&found, &expected, sizeof found);
    }
    kith_context_free(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cells_are_parted_among_their_children),
        cmocka_unit_test(test_a_tree_has_the_same_bits_for_every_number_of_threads),
        cmocka_unit_test(test_every_target_meets_every_source_once),
        cmocka_unit_test(test_acceptance_is_symmetric),
        cmocka_unit_test(test_acceptance_of_several_sources_is_that_of_each),
        cmocka_unit_test(test_orders_of_several_sources_are_those_of_each),
        cmocka_unit_test(test_the_pull_of_several_sources_is_that_of_each),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
