#ifndef PAIRS_KD_SEARCH_H
#define PAIRS_KD_SEARCH_H

#include "pairs/kd_kernel.h"
#include "pairs/pairs_kernel.h"

/* Pairs of points of 1 to 16 dimensions in open space: the targets of a leaf of a k-d tree at a
 * time are compared with the leaves that may be near enough. */

/* One of the nearest points of a target. */
struct pairs_kd_neighbor {
    double distance; /* as it is listed */
    int32_t j;
};

/* What one thread needs for a leaf of targets, and the rows that it has found so far. */
struct pairs_kd_lane {
    struct pairs_buffer leaves, found, squares, nearest, rows;
    int64_t room;     /* of a target in `found`: a power of two */
    int64_t rows_end; /* elements of `rows` */
    int64_t counts[pairs_points_of_leaf];
    double limits[pairs_points_of_leaf + 16]; /* or as many floats */
    kith_status status;
};

struct pairs_kd_workspace {
    struct pairs_kd_forest points, targets;
    struct pairs_buffer parts;
    struct pairs_kd_lane *lanes;
    int32_t lane_count;
};

/* The targets of a leaf: a task. */
struct pairs_kd_part {
    int32_t system, leaf;
    int32_t lane; /* that has their rows; −1: none */
    int64_t at;
};

struct pairs_kd_search {
    kith_context *context;
    const struct pairs_problem *problem;
    const struct pairs_kd_kernels *kernels;
    pairs_sort_narrow *sort;
    struct pairs_kd_workspace *workspace;
    const struct pairs_kd_tree *points, *targets; /* of each system; the same without queries */
    kith_pairs *pairs;
};

/* Rows of a leaf's targets, in order; lane->found and lane->counts have them. Errors:
 * KITH_OUT_OF_MEMORY, KITH_CANCELLED. */
kith_status pairs_kd_find_near(const struct pairs_kd_search *search,
                               const struct pairs_kd_part *part, struct pairs_kd_lane *lane);
kith_status pairs_kd_find_nearest(const struct pairs_kd_search *search,
                                  const struct pairs_kd_part *part, struct pairs_kd_lane *lane);

/* A meeting of the targets of a part, with room for their rows. */
struct pairs_kd_meeting pairs_kd_meeting_of(const struct pairs_kd_search *search,
                                            const struct pairs_kd_part *part,
                                            struct pairs_kd_lane *lane);

/* Reserves memory for more pairs in the rows of a meeting; existing rows are kept. */
kith_status pairs_kd_make_room(int64_t more, struct pairs_kd_lane *lane,
                               struct pairs_kd_meeting *meeting);

/* The distance of a target from a point, given their rows, as lists store it; r2 comes from the
 * kernels. The distance is accurate even where r2 has underflowed. */
double pairs_kd_distance(const struct pairs_problem *problem, int64_t i, int64_t j, double r2);

/* An r² below this may have lost digits. */
static inline double pairs_kd_least_square(kith_dtype dtype)
{
    return dtype == KITH_F32 ? 0x1p-100 : 0x1p-900;
}

/* The maximum number of nearest points that a target of a system can list. */
static inline int64_t pairs_kd_most_nearest(const struct pairs_problem *problem, int64_t system)
{
    const int64_t points = problem->systems[system].point_count - (problem->two_sets ? 0 : 1);
    return points < problem->nearest ? points : problem->nearest;
}

/* Writes the row of target i, its partners in order. */
void pairs_kd_write_row(const struct pairs_problem *problem, int64_t i, const int32_t *partners,
                        int64_t count, const kith_pairs *pairs);

/* The list of a problem of any number of dimensions, in open space. Errors: those of
 * kith_pairs_compute. */
kith_status pairs_kd_cpu(kith_context *context, const struct pairs_problem *problem,
                         pairs_sort_narrow *sort, kith_pairs *pairs,
                         struct pairs_kd_workspace **workspace);
void pairs_kd_workspace_free(struct pairs_kd_workspace *workspace);

#endif
