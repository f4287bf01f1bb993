#ifndef FORCES_VERLET_LIST_H
#define FORCES_VERLET_LIST_H

/* The list: clusters of particles, a tree of their boxes, and which clusters a particle may be
 * within a distance of. */

#include "cells/geometry.h"
#include "forces/verlet_excluded.h"
#include "forces/verlet_kernel.h"
#include "kith/context.h"

typedef float verlet_corner __attribute__((vector_size(16))); /* the fourth is 0 */

/* Rounded outwards. */
struct verlet_box {
    verlet_corner low, high;
};

/* A particle when the list was made. */
struct verlet_point {
    double x[3]; /* wrapped */
    int64_t row;
};

/* Clusters that may have slots within the distance. */
struct verlet_candidates {
    int *clusters;
    int64_t count, room;
};

/* The segments of some clusters, and the entries of these. */
struct verlet_task {
    struct verlet_segment *segments;
    int *entries;
    int64_t segment_count, segment_room, entry_count, entry_room;
    int64_t
        first_with_ghosts; /* the segments from there on have ghosts as entries, the others none */
    struct verlet_segment *with_ghosts; /* as they are found */
    int64_t with_ghosts_count, with_ghosts_room;
    struct verlet_candidates of_group, of_cluster;
    kith_status status;
};

/* Of the particles of one rank, their clusters are followed by those of ghosts: particles of other
 * ranks, which are in pairs with them and not with each other. */
struct verlet_list {
    int64_t count, clusters, task_count;
    int64_t ghosts, all_clusters;
    int64_t cluster_room, task_room;
    int64_t first_task, end_task; /* those that are searched: all, or a rank's */
    int lanes;        /* slots of a cluster; only the last of either kind may lack some */
    int particles;    /* of a segment; only the last of either kind may lack one */
    kith_dtype dtype; /* of positions */
    struct verlet_point *points; /* by slot */
    void *position;              /* verlet_kernel.h; slots that are not there are far away */
    struct verlet_box *boxes;    /* of the two trees' nodes, before their children */
    int32_t *leaves;             /* the node of each cluster */
    struct verlet_task *tasks;
    struct verlet_excluded excluded;
    int32_t (*images)[3];
    double (*translations)[3];
    int64_t image_count;
};

enum { verlet_clusters_a_task = 32 };

/* Where the x of a slot is among the positions; y and z follow lanes and 2 · lanes later. */
static inline int64_t verlet_place(const struct verlet_list *list, int64_t slot)
{
    return slot + 2 * (slot & -(int64_t)list->lanes); /* lanes is a power of two */
}

/* The slot of the first ghost. */
static inline int64_t verlet_first_ghost(const struct verlet_list *list)
{
    return list->clusters * list->lanes;
}

/* Makes room for count particles and a number of ghosts, whose points the caller fills in. The list
 * has lanes and dtype, and may be empty. Errors: KITH_OUT_OF_MEMORY. */
kith_status verlet_list_resize(int64_t count, int64_t ghosts, struct verlet_list *list);
void verlet_list_free(struct verlet_list *list);

/* Arranges list->points as slots, and fills in the boxes and the positions. */
kith_status verlet_list_arrange(kith_context *context, struct verlet_list *list);

/* Makes the segments of the tasks from first_task to end_task − 1: pairs within a distance, at the
 * images. Errors: KITH_OUT_OF_MEMORY, KITH_CANCELLED. */
kith_status verlet_list_search(kith_context *context, verlet_search *search, double distance,
                               struct verlet_list *list);

#endif
