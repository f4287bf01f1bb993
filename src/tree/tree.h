#ifndef TREE_TREE_H
#define TREE_TREE_H

#include "kith/law.h"
#include "tree/expansion.h"
#include "tree/octree.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Sums over all sources, the far ones approximated:
 *
 *     φ_i = Σ_j w_j / s,     ∇φ_i = Σ_j w_j d / s³     d = x_j − x_i, s² = |d|² + ε²
 *     φ_i = Σ_j w_j ln s,    ∇φ_i = −Σ_j w_j d / s²    by the logarithm, in 2D
 *     φ_i = Σ_j w_j V(s),    ∇φ_i = −Σ_j w_j V' d / s  by any other law
 *
 * over the pairs with s² > 0 and, if self, i ≠ j. Columns of one dtype; the third is NULL in 2D.
 * With columns of half softenings, ε² is the sum of that of i and that of j: of groups on the CPU,
 * by 1/s, with the points of tree_choose. */
struct tree_problem {
    kith_dtype dtype;
    int32_t dimensions;
    enum expansion_law law;
    const kith_law *pair_law; /* of expansion_series: central; its weights are w_j */
    bool self;                /* the targets are the sources */
    bool is_slice;            /* and the columns have this rank's rows, from ranks_first on */
    int64_t target_count, source_count;
    const void *target_position[3], *source_position[3];
    const void *weight; /* NULL: ones */
    double softening2;
    const void *target_half_softening2, *source_half_softening2; /* both or none */
};

/* What is requested: an error, or an opening angle. */
struct tree_request {
    /* Groups of targets with their own walks (Barnes & Hut 1986; Barnes 1990), or the
     * fast multipole method (Greengard & Rokhlin 1987; Dehnen 2002). */
    bool groups;
    /* The error is the rms over the targets of |Δ∇φ_i| / max(|∇φ_i|, 0.1 Σ_j |∇φ_ij|), and of
     * Δφ_i / Σ_j |φ_ij|; by the logarithm, whose zero depends on the unit of length, of
     * Δφ_i / Σ_j |w_j| max(1, |ln s|). */
    double error;   /* 0: by theta; if that is 0 too, TREE_DEFAULT_ERROR */
    double theta;   /* 0: the largest, TREE_MOST_THETA */
    int32_t order;  /* 0: what is fastest for the error; with theta 4 */
    int32_t leaf;   /* points of a leaf; 0: what is fastest */
    bool estimates; /* the error is estimated (tree/estimate.h) */
    bool points;    /* of groups on the CPU: far cells act as points; set by tree_choose */
};

/* Largest opening angle: expansions of nearer cells converge too slowly. */
#define TREE_MOST_THETA    0.8
#define TREE_DEFAULT_ERROR 1e-4

/* What was chosen and done. */
struct tree_report {
    int32_t order, leaf;
    double theta;
    double error_requested; /* 0: an opening angle was wanted */
    double error_estimated; /* 0: not wanted */
    double near_per_target; /* pairs of points */
    double far_per_target;  /* expansions of cells: M2L, of groups M2P */
    int64_t cells;
};

/* Work along the curve of the points, as it was in the last call: of the points up to end[k],
 * sum[k]. Over ranks, which it is divided by (tree/work_ranks.h). */
struct tree_work {
    int64_t count, points;
    int64_t *end;
    double *sum;
};

/* Memory from call to call, and the results of the last. */
struct tree_state {
    struct octree sources, targets; /* targets only if they are not the sources */
    struct tree_report report;
    const struct octree *target_tree; /* in whose order the results are */
    void *potential, *gradient[3];    /* columns of the problem's dtype */
    uint8_t *stratum; /* of each target, for tree/estimate.h; NULL without an estimate */
    /* Over ranks: instead of target_tree, results are in the order of the problem, from target
     * slice_first on. */
    bool is_sliced;
    int64_t slice_first, slice_count;
    void *results, *records, *locals; /* memory */
    int64_t result_bytes, record_bytes, local_bytes;
    struct tree_work work;
};

/* The smallest error that can be requested in a precision. */
double tree_least_error(kith_dtype dtype);

/* Fills in the order, the leaf and the angle of a request. Only the problem's precision,
 * dimensions, law and softening count, and on a GPU how many sources it has. */
struct tree_request tree_choose(const struct tree_problem *problem,
                                const struct tree_request *request);

/* The same for a GPU, where near points cost less and expansions more. */
struct tree_request tree_choose_cuda(const struct tree_problem *problem,
                                     const struct tree_request *request);

/* The approximate time of tree_solve_cpu on one thread, for the choice of a solver: a model that
 * ignores the distribution of the points. */
double tree_seconds(const kith_context *context, const struct tree_problem *problem,
                    const struct tree_request *request);

/* The same of tree_solve_cuda, on an H200. */
double tree_seconds_cuda(const struct tree_problem *problem, const struct tree_request *request);

/* Solves the problem. Over ranks collective: all have the problem, and get the results.
 *
 *   request  filled in by tree_choose
 *   state    zeroed before the first call; free with tree_free, after an error too
 *
 * Errors: KITH_OUT_OF_MEMORY, KITH_CANCELLED; KITH_UNSUPPORTED (2^31 points or more; a law that is
 *         not smooth, or oscillates); those of law_compile_cpu and of ranks_agree.
 * Bits:   the same on every run and for every number of threads and ranks; of the estimated error
 *         not for every number of ranks, each of which adds up its own sources. */
kith_status tree_solve_cpu(kith_context *context, const struct tree_problem *problem,
                           const struct tree_request *request, struct tree_state *state);
void tree_free(struct tree_state *state);

/* Whether the memory of a solution should be kept for any later problem: taking it again takes
 * longer than a small tree. Not over ranks, whose division follows from the last call. It is
 * prepared for that. */
bool tree_may_keep(struct tree_state *state);

#ifdef __cplusplus
}
#endif

#endif
