/* Locally essential trees of random partitions, by ranks that are threads of this process: what
 * each target meets in a walk. */

#include "ranks_of_threads.h"

#include "random_numbers.h"
#include "tree/essential_ranks.h"
#include "tree_scene.h"

/* How branches are dealt to ranks. */
enum dealing { by_points, at_random, all_to_one, dealings };

enum { uneven_order = 2 };

struct essential_rank {
    const struct tree_scene *scene;
    struct tree_rule rule;
    int32_t leaf, most_points;
    enum dealing dealing;
    kith_status status;
    uint64_t seed; /* the same on all ranks */
    int64_t own, others, cells, cells_of_all;
    int64_t uneven;                  /* pairs */
    int64_t targets_with_other_sums; /* whose sources are not the N − 1 other points */
};

/* Of a walk: the points and the weights that targets meet, from what is there of the tree. */
struct meeting {
    const struct tree_essential *essential;
    const double *records; /* of each cell its weight */
    int64_t *points;       /* of each cell of this rank */
    double *weights;
    struct essential_rank *rank;
};

static void meet_far(void *user, int32_t target, const int32_t *sources, int64_t count)
{
    const struct meeting *meeting = user;
    for (int64_t k = 0; k < count; k++) {
        meeting->points[target] += meeting->essential->tree.cell[sources[k]].count;
        meeting->weights[target] += meeting->records[sources[k]];
    }
}

/* Σ of the weights of a source's points, which may be another rank's. */
static double weight_of_points(const struct tree_essential *essential,
                               const struct octree_cell *cell)
{
    const int64_t other = cell->first - tree_first_other(essential);
    const double *weight = other >= 0 ? essential->others[3] : essential->own.weight;
    double sum = 0;
    for (int64_t k = 0; k < cell->count; k++)
        sum += weight[(other >= 0 ? other : cell->first) + k];
    return sum;
}

static void meet_bodies(void *user, int32_t target, const int32_t *leaves, int64_t count)
{
    const struct meeting *meeting = user;
    for (int64_t k = 0; k < count; k++) {
        const struct octree_cell *cell = &meeting->essential->tree.cell[leaves[k]];
        meeting->points[target] += cell->count;
        meeting->weights[target] += weight_of_points(meeting->essential, cell);
    }
}

static void pass_on(void *user, int32_t target)
{
    const struct meeting *meeting = user;
    const struct octree_cell *cell = &meeting->essential->tree.cell[target];
    for (int32_t k = 0; k < cell->children; k++) {
        meeting->points[cell->child + k] = meeting->points[target];
        meeting->weights[cell->child + k] = meeting->weights[target];
    }
}

static void meet_near(void *user, struct tree_walker *walker, int32_t target,
                      const struct cell_list *far, const struct cell_list *cells,
                      const struct cell_list *near)
{
    const struct meeting *meeting = user;
    const struct tree_essential *essential = meeting->essential;
    const int64_t all = essential->division->points;
    int64_t points = meeting->points[target];
    double weight = meeting->weights[target], expected = 0;
    (void)walker;
    (void)far;
    for (int64_t k = 0; k < cells->count; k++) {
        points += essential->tree.cell[cells->cell[k]].count;
        weight += meeting->records[cells->cell[k]];
    }
    meeting->rank->uneven += cells->count;
    for (int64_t k = 0; k < near->count; k++) {
        const struct octree_cell *cell = &essential->tree.cell[near->cell[k]];
        points += cell->count;
        weight += weight_of_points(essential, cell);
    }
    for (int64_t i = 0; i < all; i++)
        expected += meeting->rank->scene->weight[i];
    /* A target is among its own leaf's points: N in all are N − 1 others. */
    if (points != all || fabs(weight - expected) > 1e-9 * fabs(expected))
        meeting->rank->targets_with_other_sums += essential->tree.cell[target].count;
}

static void deal(const struct essential_rank *rank, struct tree_division *division)
{
    struct random_numbers numbers = {rank->seed};
    const int32_t one = (int32_t)random_uniform(&numbers, 0, (double)division->branch_count);
    for (int32_t k = 0; k < division->branch_count && rank->dealing != by_points; k++) {
        const double u = random_uniform(&numbers, 0, 1);
        division->work[k] = rank->dealing == at_random ? pow(u, 8) : k == one;
    }
}

/* No multipoles, and fields that no error is large next to. */
static kith_status take_powers(struct tree_essential *essential)
{
    double *power = calloc((size_t)essential->base * (uneven_order + 1), sizeof *power);
    for (int32_t k = 0; k < essential->base; k++)
        essential->side[k].field = essential->side[k].potential = 1e100;
    const kith_status status = tree_essential_take_powers(essential, uneven_order + 1, power);
    free(power);
    return status;
}

static kith_status make_tree(struct essential_rank *rank, kith_context *context,
                             struct tree_division *division, struct tree_essential *essential)
{
    const struct tree_scene *scene = rank->scene;
    const struct ranks *ranks = context->ranks;
    const int64_t first = ranks_first(scene->count, ranks->size, ranks->rank);
    const struct sort_points slice = {
        .dtype = KITH_F64,
        .dimensions = scene->dimensions,
        .count = ranks_first(scene->count, ranks->size, ranks->rank + 1) - first,
        .position = {scene->x[0] + first, scene->x[1] + first, scene->x[2] + first}};
    KITH_TRY(tree_division_create(context, &slice, scene->weight + first, scene->count,
                                  rank->most_points, division));
    deal(rank, division);
    KITH_TRY(tree_essential_create(division, rank->leaf, essential));
    if (rank->rule.order > 0)
        KITH_TRY(take_powers(essential));
    return tree_essential_complete(essential, essential, &rank->rule);
}

static kith_status meet(struct essential_rank *rank, kith_context *context,
                        struct tree_essential *essential)
{
    const int64_t cells = essential->tree.cell_count, bytes = sizeof(double);
    double *records = calloc((size_t)cells, sizeof *records);
    struct meeting meeting = {.essential = essential,
                              .records = records,
                              .points = calloc((size_t)cells, sizeof *meeting.points),
                              .weights = calloc((size_t)cells, sizeof *meeting.weights),
                              .rank = rank};
    const struct tree_actions actions = {.far = meet_far,
                                         .bodies = meet_bodies,
                                         .descend = pass_on,
                                         .leaf = meet_near,
                                         .user = &meeting,
                                         .targets = essential,
                                         .sources = essential};
    struct tree_counts counts;
    for (int32_t k = 0; k < essential->base; k++)
        records[k] = essential->own.weight_sum[k];
    kith_status status = tree_essential_fetch(essential, bytes, records);
    if (status == KITH_OK) {
        const struct tree_sides sides = tree_essential_sides(essential);
        status = tree_walk_cpu(context, &rank->rule, &sides, &sides, &actions, 0, &counts);
    }
    rank->own = essential->own.count;
    rank->cells = cells;
    for (int32_t k = 0; k < cells; k++)
        rank->others += essential->near[k] && k >= essential->base;
    if (status == KITH_OK)
        rank->cells_of_all = tree_essential_cells(essential);
    free(records);
    free(meeting.points);
    free(meeting.weights);
    return status;
}

static kith_status meet_all(void *argument, kith_context *context)
{
    struct essential_rank *rank = argument;
    struct tree_division division = {0};
    struct tree_essential essential = {0};
    rank->status = make_tree(rank, context, &division, &essential);
    if (rank->status == KITH_OK)
        rank->status = meet(rank, context, &essential);
    tree_essential_free(&essential);
    tree_division_free(&division);
    return rank->status;
}

static struct tree_rule random_rule(struct random_numbers *numbers)
{
    static const enum tree_walk walks[] = {tree_walk_mutual, tree_walk_one_way, tree_walk_groups};
    return (struct tree_rule){.walk = walks[(int)random_uniform(numbers, 0, 3)],
                              .theta = random_uniform(numbers, 0.2, 0.8)};
}

/* By which larger targets take no expansions, but points. */
static struct tree_rule rule_with_points(void)
{
    static const double as_point[uneven_order + 1] = {1, 1, 1};
    return (struct tree_rule){.walk = tree_walk_mutual,
                              .order = uneven_order,
                              .theta = 0.7,
                              .share = 1,
                              .angle = 0.1,
                              .as_point = as_point};
}

/* Returns the uneven pairs. */
static int64_t check_meetings(struct random_numbers *numbers, const struct tree_scene *scene,
                              int32_t size, enum dealing dealing, bool has_points)
{
    struct essential_rank ranks[most_ranks];
    const struct essential_rank like = {.scene = scene,
                                        .rule =
                                            has_points ? rule_with_points() : random_rule(numbers),
                                        .leaf = (int32_t)random_uniform(numbers, 1, 20),
                                        .most_points = (int32_t)random_uniform(numbers, 20, 200),
                                        .dealing = dealing,
                                        .seed = (uint64_t)random_uniform(numbers, 0, 1e9)};
    int64_t own = 0, uneven = 0;
    for (int32_t k = 0; k < size; k++)
        ranks[k] = like;
    do_ranks(size, meet_all, ranks, sizeof ranks[0]);
    for (int32_t k = 0; k < size; k++) {
        assert_int_equal(ranks[k].status, KITH_OK);
        own += ranks[k].own;
        uneven += ranks[k].uneven;
        if (ranks[k].targets_with_other_sums > 0 || ranks[k].cells > ranks[k].cells_of_all)
            fail_msg("rank %d of %d: %lld of its %lld targets do not meet each of %lld points once",
                     (int)k, (int)size, (long long)ranks[k].targets_with_other_sums,
                     (long long)ranks[k].own, (long long)scene->count);
    }
    assert_int_equal(own, scene->count);
    return uneven;
}

/* Every distribution, in partitions of all kinds: some ranks have no points, and one may have all.
 */
static void test_every_target_meets_every_other_point_once(void **state)
{
    (void)state;
    static struct tree_scene scene;
    struct random_numbers numbers = random_numbers_begin("essential trees");
    const int rounds = 12;
    int64_t uneven = 0;
    for (int k = 0; k < rounds * scene_kinds; k++) {
        const int32_t dimensions = random_uniform(&numbers, 0, 1) < 0.25 ? 2 : 3;
        scene_fill(&scene, &numbers, scene_names[k % scene_kinds], dimensions,
                   (int64_t)random_uniform(&numbers, 1, 2000));
        for (int64_t i = 0; i < scene.count; i++) /* a far cell's weight is that of its points */
            scene.weight[i] = fabs(scene.weight[i]);
        const int32_t size = (int32_t)random_uniform(&numbers, 1, most_ranks + 1);
        uneven += check_meetings(&numbers, &scene, size, (enum dealing)(k / scene_kinds % dealings),
                                 k % 3 == 0);
    }
    assert_true(uneven > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_target_meets_every_other_point_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
