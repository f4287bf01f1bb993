#ifndef PAIRS_SEARCH_H
#define PAIRS_SEARCH_H

#include "core/status.h"
#include "pairs/cells.h"
#include "pairs/memory.h"
#include "pairs/pairs_kernel.h"

/* The search for pairs on the CPU: points sorted into cells, and cell ranges to search. */

/* The points of a system, or its targets, in the order of their cells; those of one cell in that of
 * their rows. */
struct pairs_bin {
    int64_t first, count;       /* rows of the caller's array */
    struct pairs_points points; /* sorted */
    int32_t *wraps;             /* n of each row, three by three; NULL if not needed */
    int64_t cell_count;         /* cells, or with keys: those that have points */
    int32_t *begin;             /* cell_count + 1: where the points of a cell begin */
    int64_t *key;               /* ascending numbers of the cells that have points, or NULL */

    void *unsorted;  /* wrapped coordinates and radius, four by four, by row */
    void *sorted[4]; /* points' arrays, to be written */
    int32_t *index;
    int32_t *cell;      /* of each row */
    int32_t *histogram; /* room for most_cells each part */
};

/* The state of the search in one system. */
struct pairs_search {
    const struct pairs_problem *problem;
    const struct pairs_lattice *lattice;
    struct pairs_grid grid;
    int64_t stride[3];                /* of the cells' numbers */
    int64_t most_cells;               /* that there is room for */
    bool crowded;                     /* these cells are too few */
    bool targets_are_points;          /* in spite of bins of their own: i is left out at T = 0 */
    struct pairs_bin points, targets; /* the same without queries */
    struct pairs_uneven **uneven;     /* the workspace's */
};

/* What one thread needs for a cell and its rows. */
struct pairs_lane {
    struct pairs_buffer runs, candidates, arranged, found, keys, row;
    struct pairs_buffer rows; /* of small systems, one after the other: this many int32 */
    int64_t rows_end;
    kith_status status;
};

/* Of the points, of the queries, and of both. */
enum { pairs_set_count = 2 };

struct pairs_workspace {
    struct pairs_buffer bins[pairs_set_count], searches, chunks;
    struct pairs_buffer rounds[4]; /* of the nearest points */
    struct pairs_uneven *uneven;   /* NULL until points are so unevenly spread */
    struct pairs_kd_workspace *kd; /* of points that are not of the plane or space */
    struct pairs_lane *lanes;
    int32_t lane_count;
};

/* Sorts all systems into cells. workspace->searches has one for each system. Errors:
 * KITH_INVALID_ARGUMENT (a bad number), KITH_OUT_OF_MEMORY. */
kith_status pairs_bin_systems(kith_context *context, const struct pairs_problem *problem,
                              const kith_pairs *pairs, struct pairs_workspace *workspace);

/* Sorts one system, whose bins have their memory. Unless it is alone it is only marked if it is too
 * crowded for its cells. */
kith_status pairs_bin_system(kith_context *context, struct pairs_search *search, int32_t threads,
                             bool alone);

/* Chooses cells whose number is not bounded, for a system whose bins have their unsorted
 * coordinates, and sorts the rows by cell: index, begin and cell_count. After the points have been
 * gathered, pairs_keep_occupied. One call at a time of a workspace. */
kith_status pairs_bin_sparsely(kith_context *context, int32_t threads, struct pairs_search *search,
                               double edge, double reach, const double low[3], const double high[3],
                               const double typical[3]);

/* Writes the bins' keys where their unsorted coordinates were. */
void pairs_keep_occupied(struct pairs_search *search);

void pairs_uneven_free(struct pairs_uneven *uneven);

/* What there is to be of candidates besides: shifts, an order by index. */
struct pairs_candidates_wanted {
    bool shifts, arranged;
};

/* All that the targets of a cell are to be compared with; cell is its index in the bin of targets.
 */
kith_status pairs_find_candidates(const struct pairs_kernels *kernels,
                                  const struct pairs_search *search, int64_t cell,
                                  struct pairs_candidates_wanted wanted, struct pairs_lane *lane,
                                  struct pairs_candidates *candidates);

/* Gives the cells their numbers: the last axis of the space varies fastest, so that cells after
 * each other along it are so in memory. */
static inline void pairs_number_cells(struct pairs_search *search)
{
    const int64_t *count = search->grid.count;
    const bool flat = search->problem->dimensions == 2; /* count[2] is 1 */
    search->stride[0] = count[1] * count[2];
    search->stride[1] = count[2];
    search->stride[2] = flat ? count[0] * count[1] : 1;
}

/* A wrapped point as a bin has it, unsorted. */
static inline void pairs_unsorted_point(const struct pairs_search *search,
                                        const struct pairs_bin *bin, int64_t row, double x[3])
{
    for (int c = 0; c < 3; c++)
        x[c] = search->problem->dtype == KITH_F32
                   ? (double)((const float *)bin->unsorted)[4 * row + c]
                   : ((const double *)bin->unsorted)[4 * row + c];
}

#endif
