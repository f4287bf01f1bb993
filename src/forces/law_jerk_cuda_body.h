/* Force by any law, and the rates at which it and the value change, on a GPU, for one precision
 * (law/for_each_real_cuda.h): in the loop of tiles, a target per thread. A sum over a tile is added
 * in double: a float result is then good however close one of the sources is. */

#include "forces/law_pull_cuda_body.h"

template <enum law_kind kind, enum law_weighting weighting> struct NAME(law_jerk_in_tiles)
{
    typedef REAL real;
    typedef double total;
    typedef struct NAME(law_place) target;
    typedef struct NAME(law_pull) sums;
    enum { block = law_motion_block, targets = 1, unroll = 2, one_loop = true };
    enum { values = law_jerk_values, first = 0, end = values };

    struct constants {
        struct NAME(law_constants) law;
        bool wants_value_rate;
    };

    struct tile {
        struct NAME(law_place) source[block];
    };

    static __device__ __forceinline__ REAL at(const sums &sums, int v)
    {
        return v < 3 ? sums.force[v] : v < 6 ? sums.rate[v - 3] : sums.value_rate;
    }

    static __device__ __forceinline__ constants load(const struct law_sums_problem &problem)
    {
        return {NAME(law_load)(&problem.numbers), problem.value_rate != nullptr};
    }

    static __device__ __forceinline__ void load_target(const struct law_sums_problem &problem,
                                                       long long row, target &target)
    {
        NAME(law_load_target)(&problem, row, &target);
    }

    static __device__ __forceinline__ void load_source(const struct law_sums_problem &problem,
                                                       long long j, tile &tile, int k)
    {
        NAME(law_load_source)(&problem, j, &tile.source[k]);
    }

    static __device__ __forceinline__ bool leaves_self_out(const struct law_sums_problem &problem)
    {
        return problem.self;
    }

    static __device__ __forceinline__ void add(const constants &constants, const target &target,
                                               const tile &tile, int k, bool omit, sums &sums)
    {
        if (!omit)
            NAME(law_add_pull)
        (law_form{kind, weighting}, {true, false, constants.wants_value_rate}, &constants.law,
         &target, &tile.source[k], &sums);
    }
};

#ifdef LAW_CUSTOM_BODY
extern "C" __global__ void __launch_bounds__(law_motion_block)
    NAME(law_jerk_custom)(const struct law_sums_problem problem, REAL *partial, long long room,
                          long long part_sources)
{
    typedef struct NAME(law_jerk_in_tiles)<law_custom, law_unweighted> pair;
    __shared__ pair::tile tile;
    sum_tiles<pair>(problem, partial, room, part_sources, tile);
}
#else
template <enum law_kind kind>
__global__ void __launch_bounds__(law_motion_block)
    NAME(law_jerk_kernel)(const struct law_sums_problem problem, REAL *partial, long long room,
                          long long part_sources)
{
    typedef struct NAME(law_jerk_in_tiles)<kind, LAW_SUMS_WEIGHTING(kind)> pair;
    __shared__ typename pair::tile tile;
    sum_tiles<pair>(problem, partial, room, part_sources, tile);
}
#endif
