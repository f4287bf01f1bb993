#ifndef PAIRS_PREPARE_CUDA_CUH
#define PAIRS_PREPARE_CUDA_CUH

#include "pairs/search_cuda.cuh"

/* How large the parts of a search are. */
struct pairs_plan {
    uint32_t places;
    bool folded;      /* one of the grids is */
    bool open;        /* one has open axes of many cells */
    bool many_images; /* a point may be a target's partner at several translations */
    bool with_shifts;
    int64_t mask_bytes; /* 0: no masks are requested */
    int64_t scratch_bytes;
};

/* All of a search but its memory and grids. */
template <typename real>
void pairs_begin_search(const struct pairs_problem *problem,
                        struct pairs_cuda_search<real> *search);

/* The grids of all systems, for pairs up to `search` apart. */
kith_status pairs_make_grids(const struct pairs_problem *problem, double search,
                             struct pairs_folded_grid *grids, struct pairs_plan *plan);

/* Whether the device may give each cell a place (open_axes_cuda.cu); allocates a table for it. */
bool pairs_may_unfold(const struct pairs_problem *problem, struct pairs_plan *plan);

/* Gives the search its memory, and the masks what is left. */
template <typename real>
kith_status pairs_lay_out(kith_context *context, struct pairs_plan *plan,
                          struct pairs_cuda_search<real> *search, char **scratch);

/* The largest radii and the first bad ones, into the counters. */
template <typename real>
kith_status pairs_measure_radii(kith_context *context,
                                const struct pairs_cuda_search<real> &search);

#endif
