/* The k nearest points, in rounds: a search within a radius for the targets that are left, which is
 * enlarged for those that find too few. How many a target has in the end is known before. */

#include "pairs/nearest_cpu.h"

#include <string.h>

#include "device/context.h"
#include "device/threads.h"
#include "pairs/list.h"
#include "pairs/nearest_radius.h"
#include "pairs/rows.h"
#include "pairs/stage.h"
#include "sort/search.h"

static const double seconds_of_row = 1e-6;

/* Of a cell, which may have all of them. */
enum { targets_between_looks = 64 };

/* Larger from round to round, and sooner so later: the last ones are few and far away. */
static const double factors[] = {2, 2, 4, 8};

/* All rounds; search is the problem of the present one. */
struct rounds {
    kith_context *context;
    const struct pairs_problem *problem;
    const struct pairs_kernels *kernels;
    struct pairs_workspace *workspace;
    kith_pairs *pairs;
    struct pairs_problem search;
    struct pairs_system *systems;
    double radius;   /* in the caller's unit */
    int64_t left;    /* targets */
    int32_t *rows;   /* theirs, ascending */
    bool *done;      /* of the search's targets */
    void *positions; /* theirs, dense */
    bool last;       /* nothing is farther away */
    atomic_llong next;
};

static kith_status take_memory(struct rounds *rounds)
{
    const struct pairs_problem *problem = rounds->problem;
    const int64_t rows = problem->targets.shape[0];
    const int64_t bytes[] = {
        problem->system_count * (int64_t)sizeof(struct pairs_system),
        rows * (int64_t)sizeof(int32_t),
        rows * (int64_t)sizeof(bool),
        rows * problem->dimensions * kith_dtype_bytes(problem->dtype),
    };
    struct pairs_buffer *buffers = rounds->workspace->rounds;
    for (int k = 0; k < 4; k++)
        KITH_TRY(pairs_host_buffer_grow(&buffers[k], bytes[k] + 1, "the nearest points"));
    rounds->systems = buffers[0].data;
    rounds->rows = buffers[1].data;
    rounds->done = buffers[2].data;
    rounds->positions = buffers[3].data;
    return KITH_OK;
}

/* Points of a system that a target of it may list; unbounded in a periodic cell. */
static int64_t available(const struct pairs_problem *problem, const struct pairs_system *system)
{
    const bool *periodic = system->lattice.periodic;
    if ((periodic[0] || periodic[1] || periodic[2]) && system->point_count > 0)
        return INT64_MAX;
    return system->point_count - (problem->two_sets ? 0 : 1);
}

/* With a cutoff the counts of all pairs are there already. */
static void shorten_rows(const struct pairs_problem *problem, kith_pairs *pairs)
{
    int64_t *offsets = pairs->offsets.data;
    const bool counted = isfinite(problem->cutoff);
    int64_t before = offsets[0] = 0;
    for (int64_t s = 0; s < problem->system_count; s++) {
        const struct pairs_system *system = &problem->systems[s];
        const int64_t most = available(problem, system);
        for (int64_t i = system->first_target; i < system->first_target + system->target_count;
             i++) {
            int64_t count = counted ? offsets[i + 1] - before : most;
            before = offsets[i + 1];
            count = count < problem->nearest ? count : problem->nearest;
            offsets[i + 1] = offsets[i] + count;
        }
    }
}

static int64_t wanted(const struct rounds *rounds, int64_t i)
{
    const int64_t *offsets = rounds->pairs->offsets.data;
    return offsets[i + 1] - offsets[i];
}

/* All targets that need any points are unfinished in the beginning. */
static void begin_rounds(struct rounds *rounds)
{
    for (int64_t i = 0; i < rounds->pairs->row_count; i++)
        if (wanted(rounds, i) > 0)
            rounds->rows[rounds->left++] = (int32_t)i;
}

static void scale_lattice(struct pairs_lattice *lattice, double factor)
{
    for (int k = 0; k < 3; k++) {
        /* Vectors along which space is open have length 1 in any unit. */
        const double own = lattice->periodic[k] ? factor : 1;
        lattice->height[k] *= own;
        for (int c = 0; c < 3; c++) {
            lattice->basis[k][c] *= own;
            lattice->inverse[c][k] /= own;
        }
    }
}

/* Systems of the same points and of the targets that are left, in the search's unit. */
static void set_up_systems(struct rounds *rounds)
{
    const struct pairs_problem *problem = rounds->problem;
    int64_t next = 0;
    for (int64_t s = 0; s < problem->system_count; s++) {
        struct pairs_system *system = &rounds->systems[s];
        *system = problem->systems[s];
        scale_lattice(&system->lattice, problem->unit / rounds->search.unit);
        const int64_t end = system->first_target + system->target_count;
        system->first_target = next;
        while (next < rounds->left && rounds->rows[next] < end)
            next++;
        system->target_count = next - system->first_target;
    }
}

static void copy_positions(struct rounds *rounds)
{
    const struct pairs_problem *problem = rounds->problem;
    const kith_array from = problem->targets;
    const int64_t each = kith_dtype_bytes(problem->dtype);
    char *to = rounds->positions;
    for (int64_t k = 0; k < rounds->left; k++)
        for (int32_t c = 0; c < problem->dimensions; c++, to += each)
            memcpy(to,
                   (const char *)from.data +
                       (rounds->rows[k] * from.strides[0] + c * from.strides[1]) * each,
                   (size_t)each);
}

static kith_status set_up_search(struct rounds *rounds)
{
    const struct pairs_problem *problem = rounds->problem;
    struct pairs_problem *search = &rounds->search;
    *search = *problem;
    search->two_sets = true;
    search->systems = rounds->systems;
    copy_positions(rounds);
    search->targets =
        kith_array_matrix(rounds->positions, problem->dtype, rounds->left, problem->dimensions);
    rounds->last = rounds->radius / problem->unit >= problem->cutoff;
    if (!rounds->last) {
        search->unit = ldexp(1, ilogb(rounds->radius));
        search->cutoff = rounds->radius / search->unit;
        if (problem->dtype == KITH_F32) {
            search->cutoff = (double)(float)search->cutoff;
            search->limit = (double)pairs_limit_float((float)search->cutoff);
        } else {
            search->limit = pairs_limit_double(search->cutoff);
        }
    }
    set_up_systems(rounds);
    memset(rounds->done, 0, (size_t)rounds->left);
    return pairs_bin_systems(rounds->context, search, rounds->pairs, rounds->workspace);
}

/* Marks leave out a target itself: a target's index has to be its row. */
static void number_targets(struct rounds *rounds)
{
    struct pairs_search *searches = rounds->workspace->searches.data;
    for (int64_t s = 0; s < rounds->search.system_count; s++) {
        searches[s].targets_are_points = !rounds->problem->two_sets;
        for (int64_t k = 0; k < searches[s].targets.count; k++)
            searches[s].targets.index[k] = rounds->rows[searches[s].targets.index[k]];
    }
}

static int64_t place_of_row(const struct rounds *rounds, int32_t row)
{
    return search_32(rounds->rows, 0, rounds->left, row);
}

static kith_status do_cell(struct rounds *rounds, const struct pairs_search *search, int64_t cell,
                           struct pairs_lane *lane)
{
    const int64_t begin = search->targets.begin[cell], end = search->targets.begin[cell + 1];
    const struct pairs_candidates_wanted wanted_shifts = {
        .shifts = !kith_array_is_none(rounds->pairs->shifts)};
    struct pairs_candidates candidates;
    if (begin == end)
        return KITH_OK;
    KITH_TRY(
        pairs_find_candidates(rounds->kernels, search, cell, wanted_shifts, lane, &candidates));
    const int32_t *rows = search->targets.index;
    for (int64_t k = begin; k < end; k++) {
        bool found = false;
        if ((k - begin) % targets_between_looks == targets_between_looks - 1)
            KITH_TRY(kith_context_check_cancelled(rounds->context));
        const int64_t place = place_of_row(rounds, rows[k]);
        KITH_TRY(pairs_write_nearest(rounds->kernels, search, &candidates, k,
                                     place - search->targets.first, wanted(rounds, rows[k]), lane,
                                     rounds->pairs, &found));
        rounds->done[place] = found;
    }
    return KITH_OK;
}

/* A lane takes cells until none is left. */
static void take_cells(void *argument, int64_t lane_number)
{
    enum { cells_at_once = 16 };
    struct rounds *rounds = argument;
    struct pairs_lane *lane = &rounds->workspace->lanes[lane_number];
    const struct pairs_search *searches = rounds->workspace->searches.data;
    int64_t system = 0, before = 0; /* cells of the systems before */
    for (;;) {
        const int64_t begin = atomic_fetch_add(&rounds->next, cells_at_once);
        for (int64_t k = begin; k < begin + cells_at_once; k++) {
            while (system < rounds->search.system_count &&
                   k - before >= searches[system].targets.cell_count)
                before += searches[system++].targets.cell_count;
            if (system == rounds->search.system_count || kith_context_stops(rounds->context))
                return;
            lane->status = do_cell(rounds, &searches[system], k - before, lane);
            if (lane->status != KITH_OK)
                return;
        }
    }
}

static kith_status do_round(struct rounds *rounds)
{
    KITH_TRY(set_up_search(rounds));
    number_targets(rounds);
    const int32_t threads =
        kith_threads_for(rounds->context, seconds_of_row * (double)rounds->left);
    atomic_store(&rounds->next, 0);
    KITH_TRY(kith_for_each(rounds->context, threads, threads, take_cells, rounds));
    for (int32_t k = 0; k < threads; k++)
        if (rounds->workspace->lanes[k].status != KITH_OK)
            return kith_fail(rounds->workspace->lanes[k].status,
                             "no memory for the points around a point");
    int64_t left = 0;
    for (int64_t k = 0; k < rounds->left; k++)
        if (!rounds->done[k])
            rounds->rows[left++] = rounds->rows[k];
    rounds->left = left;
    return KITH_OK;
}

static kith_status do_rounds(struct rounds *rounds)
{
    enum { factor_count = sizeof factors / sizeof factors[0] };
    begin_rounds(rounds);
    if (rounds->left == 0)
        return KITH_OK;
    rounds->radius = pairs_guess_radius(rounds->problem, rounds->problem->nearest);
    for (int round = 0; rounds->left > 0; round++) {
        KITH_TRY(do_round(rounds));
        rounds->radius *= factors[round < factor_count ? round : factor_count - 1];
        if (rounds->left > 0 && (rounds->last || !isfinite(rounds->radius)))
            return kith_fail(KITH_INTERNAL_ERROR, "%lld points did not find their nearest",
                             (long long)rounds->left);
    }
    return KITH_OK;
}

kith_status pairs_nearest_cpu(kith_context *context, const struct pairs_problem *problem,
                              const struct pairs_kernels *kernels,
                              struct pairs_workspace *workspace, kith_pairs *pairs)
{
    struct rounds rounds = {.context = context,
                            .problem = problem,
                            .kernels = kernels,
                            .workspace = workspace,
                            .pairs = pairs};
    shorten_rows(problem, pairs);
    KITH_TRY(pairs_list_reserve(((const int64_t *)pairs->offsets.data)[pairs->row_count], pairs));
    if (problem->count_only)
        return KITH_OK;
    KITH_TRY(take_memory(&rounds));
    return do_rounds(&rounds);
}
