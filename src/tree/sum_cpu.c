/* The force pass: far cells through their expansions, near ones point by point. */

#include <string.h>

#include "core/isa.h"
#include "core/memory.h"
#include "core/reals.h"
#include "device/context.h"
#include "tree/accept_kernel.h"
#include "tree/solve.h"

/* Of one thread: a target and a coefficient; a target that is only counted. */
static const double seconds_of_term = 20e-9, seconds_of_count = 100e-9;

struct sum_run {
    const struct tree_sides *targets, *sources;
    const struct tree_rule *rule;
    const struct tree_expansions *expansions;
    tree_order_kernel *find_orders;
    const struct tree_near_kernels *near;
    void *columns[5];               /* of the sources, as those of struct gathered */
    struct expansion_bodies bodies; /* the targets */
    struct expansion_field field;
    uint8_t *stratum;
    double softening2;
    int64_t real;
    bool self;
    const struct tree_essential *essential; /* of the sources, over ranks, or NULL */
};

const struct tree_near_kernels *tree_near_kernels_of(const kith_context *context, kith_dtype dtype)
{
#define IN_FLOAT(isa)  &tree_near_float_##isa,
#define IN_DOUBLE(isa) &tree_near_double_##isa,
    static const struct tree_near_kernels *const in_float[] = {KITH_EACH_ISA(IN_FLOAT)};
    static const struct tree_near_kernels *const in_double[] = {KITH_EACH_ISA(IN_DOUBLE)};
#undef IN_FLOAT
#undef IN_DOUBLE
    return (dtype == KITH_F32 ? in_float : in_double)[context->isa];
}

/* M2L of each pair by the order that it needs, of as many sources at a time as there is room for.
 */
static void far_by_orders(const struct sum_run *run, int32_t target, const int32_t *sources,
                          int64_t count)
{
    enum { most = 1024 };
    const struct tree_expansions *all = run->expansions;
    const int32_t terms = run->rule->order + 1;
    const double *power =
        run->targets->power ? run->targets->power + (int64_t)target * terms : NULL;
    for (int64_t first = 0; first < count; first += most) {
        const int32_t left = count - first < most ? (int32_t)(count - first) : most;
        int32_t sorted[most], counts[expansion_max_order + 1] = {0}, at[expansion_max_order + 1];
        uint8_t orders[most];
        run->find_orders(run->rule, all->orders, &run->targets->side[target], power,
                         run->sources->side, run->sources->power, sources + first, left, orders);
        for (int32_t k = 0; k < left; k++)
            counts[orders[k]]++;
        for (int32_t q = 0, before = 0; q < terms; q++) {
            at[q] = before;
            before += counts[q];
        }
        for (int32_t k = 0; k < left; k++)
            sorted[at[orders[k]]++] = sources[first + k];
        all->operators->m2l_by_orders(&all->expansion, all->records, all->locals,
                                      all->target_record + target, sorted, counts);
    }
}

static void far(void *user, int32_t target, const int32_t *sources, int64_t count)
{
    const struct sum_run *run = user;
    const struct tree_expansions *all = run->expansions;
    if (count > 0 && all->orders)
        far_by_orders(run, target, sources, count);
    else if (count > 0)
        all->operators->m2l(&all->expansion, all->records, all->locals, all->target_record + target,
                            sources, count);
}

static void descend(void *user, int32_t target)
{
    const struct sum_run *run = user;
    const struct tree_expansions *all = run->expansions;
    const struct octree_cell *cell = &run->targets->tree->cell[target];
    if (all->locals)
        all->operators->l2l(&all->expansion, all->records, all->locals, all->target_record + target,
                            all->target_record + cell->child, cell->children);
}

static void *at(const struct sum_run *run, const void *column, int64_t k)
{
    return (char *)column + k * run->real;
}

/* The bodies of source leaves act on a target's expansion. */
static void bodies(void *user, int32_t target, const int32_t *leaves, int64_t count)
{
    enum { at_once = 64 };
    const struct sum_run *run = user;
    const struct tree_expansions *all = run->expansions;
    const struct octree *tree = run->sources->tree;
    struct expansion_part parts[at_once];
    int32_t filled = 0;
    for (int64_t k = 0; k < count; k++) {
        const struct octree_cell *cell = &tree->cell[leaves[k]];
        const int64_t other = run->essential ? cell->first - tree_first_other(run->essential) : -1;
        const void *column[4];
        for (int32_t c = 0; c < 4; c++)
            column[c] = other >= 0 ? at(run, run->essential->others[c], other)
                                   : at(run, c < 3 ? tree->position[c] : tree->weight, cell->first);
        parts[filled++] = (struct expansion_part){
            {{column[0], column[1], run->bodies.x[2] ? column[2] : NULL}, column[3]}, cell->count};
        if (filled == at_once || k + 1 == count) {
            all->operators->p2l(&all->expansion, all->records, all->locals,
                                all->target_record + target, parts, filled);
            filled = 0;
        }
    }
}

/* The near points of a leaf, put together: columns x, y, z, weight and half softening, of this
 * many. */
struct gathered {
    char *column[5];
    int64_t count;
};

static void gather_points(const struct sum_run *run, int64_t first, int64_t end,
                          struct gathered *gathered)
{
    const int64_t real = run->real, count = end - first;
    const int64_t other = run->essential ? first - tree_first_other(run->essential) : -1;
    void *const *columns = other >= 0 ? run->essential->others : run->columns;
    const int64_t offset = (other >= 0 ? other : first) * real;
    const bool softened = run->columns[4];
    const void *from[5];
    void *to[5];
    if (count <= 0)
        return;
    for (int32_t c = 0; c < 4 + softened; c++) {
        from[c] = (const char *)columns[c] + offset;
        to[c] = gathered->column[c] + gathered->count * real;
    }
    run->near->copy_columns(to, from, softened, count * real);
    gathered->count += count;
}

/* Cells as points: their centers and sums of weights, the first coefficients of their records. */
static void gather_cells(const struct sum_run *run, const struct cell_list *cells,
                         struct gathered *gathered)
{
    enum { x, y, z, weight = expansion_header };
    const int64_t length = expansion_record_length(&run->expansions->expansion);
#define GATHER(TYPE)                                                                               \
    for (int64_t k = 0; k < cells->count; k++) {                                                   \
        const TYPE *record = (const TYPE *)run->expansions->records + cells->cell[k] * length;     \
        const int64_t to = gathered->count + k;                                                    \
        ((TYPE *)(void *)gathered->column[0])[to] = record[x];                                     \
        ((TYPE *)(void *)gathered->column[1])[to] = record[y];                                     \
        ((TYPE *)(void *)gathered->column[2])[to] = record[z];                                     \
        ((TYPE *)(void *)gathered->column[3])[to] = record[weight];                                \
    }
    if (run->real == sizeof(double))
        GATHER(double)
    else
        GATHER(float)
#undef GATHER
    const struct tree_softening *softening = run->expansions->softenings[1]->of_cell;
    for (int64_t k = 0; k < cells->count && softening; k++)
        real_set(run->real == sizeof(double) ? KITH_F64 : KITH_F32, gathered->column[4],
                 gathered->count + k, softening[cells->cell[k]].mean);
    gathered->count += cells->count;
}

/* Room for this many points; false: no memory. */
static bool make_room(const struct sum_run *run, struct tree_walker *walker, int64_t count,
                      struct gathered *gathered)
{
    const int64_t room = kith_padded(count + kith_padding) * run->real;
    char *memory = tree_walker_room(walker, 5 * room);
    *gathered = (struct gathered){.count = 0};
    for (int32_t c = 0; c < 5 && memory; c++)
        gathered->column[c] = memory + c * room;
    return memory != NULL;
}

/* Zeros that pad points to whole vectors. */
static void pad(const struct sum_run *run, const struct gathered *gathered)
{
    for (int32_t c = 0; c < 5; c++)
        memset(gathered->column[c] + gathered->count * run->real, 0,
               (size_t)(kith_padding * run->real));
}

/* The leaf's own points first, if they are among the sources, and each point once. */
static bool gather_near(const struct sum_run *run, struct tree_walker *walker,
                        const struct octree_cell *leaf, const struct cell_list *near,
                        const struct cell_list *points, struct gathered *gathered)
{
    const struct octree_cell *cells = run->sources->tree->cell;
    const int64_t first = leaf->first, end = first + leaf->count;
    int64_t count = points->count;
    for (int64_t k = 0; k < near->count; k++)
        count += cells[near->cell[k]].count;
    if (!make_room(run, walker, count, gathered))
        return false;
    if (run->self)
        gather_points(run, first, end, gathered);
    for (int64_t k = 0; k < near->count; k++) {
        const struct octree_cell *cell = &cells[near->cell[k]];
        const int64_t from = cell->first;
        int64_t to = from + cell->count;
        for (; k + 1 < near->count && cells[near->cell[k + 1]].first == to; k++)
            to += cells[near->cell[k + 1]].count; /* what lies next to each other, at once */
        if (run->self && from <= first && end <= to) {
            gather_points(run, from, first, gathered);
            gather_points(run, end, to, gathered);
        } else {
            gather_points(run, from, to, gathered);
        }
    }
    gather_cells(run, points, gathered);
    pad(run, gathered);
    return true;
}

/* are_near: from the leaf's own points on. */
static void sum_near(const struct sum_run *run, const struct octree_cell *leaf,
                     const struct gathered *gathered, bool are_near)
{
    const int64_t vector = run->near->lanes;
    const int64_t padded = (gathered->count + vector - 1) / vector * vector;
    struct tree_near near = {.targets = leaf->count,
                             .sources_padded = padded,
                             .self = are_near && run->self,
                             .rough = are_near && run->expansions->rough,
                             .law = run->expansions->expansion.law,
                             .softening2 = run->softening2,
                             .weight = gathered->column[3],
                             .potential = at(run, run->field.potential, leaf->first)};
    const void *of_targets = run->expansions->softenings[0]->of_point;
    if (of_targets) {
        near.target_softening2 = at(run, of_targets, leaf->first);
        near.source_softening2 = gathered->column[4];
    }
    for (int32_t c = 0; c < 3; c++) {
        near.target[c] = at(run, run->targets->tree->position[c], leaf->first);
        near.source[c] = gathered->column[c];
        near.gradient[c] = at(run, run->field.gradient[c], leaf->first);
    }
    run->near->sum(&near);
}

/* Cells that act as points: as exactly as the leaf's bodies act on them, so that momentum is
 * conserved. */
static void sum_points(const struct sum_run *run, struct tree_walker *walker,
                       const struct octree_cell *leaf, const struct cell_list *points)
{
    struct gathered gathered;
    if (!make_room(run, walker, points->count, &gathered))
        return;
    gather_cells(run, points, &gathered);
    pad(run, &gathered);
    sum_near(run, leaf, &gathered, false);
}

/* sum_near of a law that is neither 1/s nor ln s. */
static void sum_near_by_law(const struct sum_run *run, const struct octree_cell *leaf,
                            const struct gathered *gathered)
{
    struct tree_near_law near = run->expansions->near;
    near.targets = leaf->count;
    near.sources = gathered->count;
    near.self = run->self;
    near.weight = gathered->column[3];
    near.potential = at(run, run->field.potential, leaf->first);
    for (int32_t c = 0; c < 3; c++) {
        near.target[c] = at(run, run->targets->tree->position[c], leaf->first);
        near.source[c] = gathered->column[c];
        near.gradient[c] = at(run, run->field.gradient[c], leaf->first);
    }
    run->expansions->near_law(&near);
}

/* Whether far cells that have an error act on a leaf: those of one point have none. */
static bool has_far(const struct sum_run *run, int32_t target, const struct cell_list *far_cells)
{
    const struct tree_expansions *all = run->expansions;
    const struct octree_cell *cells = run->sources->tree->cell;
    if (!all->locals) {
        for (int64_t k = 0; k < far_cells->count; k++)
            if (cells[far_cells->cell[k]].count > 1)
                return true;
        return false;
    }
    const int64_t length = expansion_local_length(&all->expansion);
    const int64_t first = (all->target_record + target) * length;
    for (int64_t k = first; k < first + length; k++)
        if (real_get(all->dtype, all->locals, k) != 0)
            return true;
    return false;
}

static void leaf(void *user, struct tree_walker *walker, int32_t target,
                 const struct cell_list *far_cells, const struct cell_list *points,
                 const struct cell_list *near_cells)
{
    const struct sum_run *run = user;
    const struct tree_expansions *all = run->expansions;
    const struct octree_cell *cell = &run->targets->tree->cell[target];
    const struct cell_list none = {0}, *far_points = all->points ? far_cells : &none;
    struct gathered gathered;
    if (run->stratum)
        memset(run->stratum + cell->first,
               points->count > 0 || has_far(run, target, far_cells) ? 1 + cell->level : 0,
               (size_t)cell->count);
    if (all->locals)
        all->operators->l2p(&all->expansion, all->records, all->locals, all->target_record + target,
                            &run->bodies, cell->first, cell->count, &run->field);
    else if (far_cells->count > 0 && !all->points)
        all->operators->m2p(&all->expansion, all->records, far_cells->cell, far_cells->count,
                            &run->bodies, cell->first, cell->count, &run->field);
    if (points->count > 0)
        sum_points(run, walker, cell, points);
    if (near_cells->count + far_points->count == 0 ||
        !gather_near(run, walker, cell, near_cells, far_points, &gathered))
        return;
    if (all->near_law)
        sum_near_by_law(run, cell, &gathered);
    else
        sum_near(run, cell, &gathered, true);
}

static void pass_far(void *user, int32_t target, const int32_t *sources, int64_t count)
{
    (void)user;
    (void)target;
    (void)sources;
    (void)count;
}

static void pass_cell(void *user, int32_t target)
{
    (void)user;
    (void)target;
}

static void pass_leaf(void *user, struct tree_walker *walker, int32_t target,
                      const struct cell_list *far_cells, const struct cell_list *points,
                      const struct cell_list *near_cells)
{
    (void)user;
    (void)points;
    (void)walker;
    (void)target;
    (void)far_cells;
    (void)near_cells;
}

kith_status tree_count_cpu(kith_context *context, const struct tree_rule *rule,
                           const struct tree_sides *targets, const struct tree_sides *sources,
                           const struct tree_essential *of_targets,
                           const struct tree_essential *of_sources)
{
    struct tree_counts counts;
    const struct tree_actions actions = {.far_to_leaves = rule->walk == tree_walk_groups,
                                         .far = pass_far,
                                         .bodies = pass_far,
                                         .descend = pass_cell,
                                         .leaf = pass_leaf,
                                         .targets = of_targets,
                                         .sources = of_sources};
    return tree_walk_cpu(context, rule, targets, sources, &actions,
                         seconds_of_count * (double)targets->tree->count, &counts);
}

kith_status tree_sum_cpu(kith_context *context, const struct tree_problem *problem,
                         const struct tree_rule *rule, const struct tree_sides *targets,
                         const struct tree_sides *sources, const struct tree_essential *of_targets,
                         const struct tree_essential *of_sources,
                         const struct tree_expansions *expansions, struct tree_state *state,
                         struct tree_counts *counts)
{
    const struct octree *tree = targets->tree;
    const struct octree *of = sources->tree;
    const bool plane = problem->dimensions == 2;
    struct sum_run run = {
        .targets = targets,
        .sources = sources,
        .rule = rule,
        .expansions = expansions,
        .find_orders = tree_order_kernel_of(context->isa),
        .near = tree_near_kernels_of(context, problem->dtype),
        .columns = {of->position[0], of->position[1], of->position[2], of->weight,
                    expansions->softenings[1]->of_point},
        .bodies = {{tree->position[0], tree->position[1], plane ? NULL : tree->position[2]},
                   tree->weight},
        .field = {state->potential, {state->gradient[0], state->gradient[1], state->gradient[2]}},
        .stratum = state->stratum,
        .softening2 = problem->softening2,
        .real = kith_dtype_bytes(problem->dtype),
        .self = problem->self,
        .essential = of_sources};
    const struct tree_actions actions = {.far_to_leaves = rule->walk == tree_walk_groups,
                                         .far = far,
                                         .bodies = bodies,
                                         .descend = descend,
                                         .leaf = leaf,
                                         .user = &run,
                                         .targets = of_targets,
                                         .sources = of_sources};
    const double seconds =
        seconds_of_term * (double)tree->count * (double)expansion_count(&expansions->expansion);
    return tree_walk_cpu(context, rule, targets, sources, &actions, seconds, counts);
}
