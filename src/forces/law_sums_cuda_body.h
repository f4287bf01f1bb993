/* Sums over pairs by any law on a GPU, for one precision (law/for_each_real_cuda.h): force and
 * value in the loop of tiles. */

/* What is read of every source, side by side so that one load fetches it. */
struct NAME(law_source) {
    alignas(4 * sizeof(REAL)) REAL x[3];
    REAL weight;
};

/* What only some laws and options need. */
struct NAME(law_source_more) {
    REAL charge, half_softening2;
};

LAW_INLINE REAL NAME(law_element)(const void *column, long long i, double otherwise)
{
    return column ? ((const REAL *)column)[i] : (REAL)otherwise;
}

/* per_body: half of ε² from the target and half from the source. */
template <enum law_kind kind, enum law_weighting weighting, enum law_sums which, bool per_body,
          bool central>
struct NAME(law_in_tiles) {
    typedef REAL real, total;
    typedef struct NAME(law_constants) constants;
    enum { block = law_sums_block, targets = LAW_SUMS_TARGETS(REAL), unroll = 4 };
    enum { values = law_sums_values, one_loop = false };
    enum { first = which == law_sums_value ? 3 : 0, end = which == law_sums_force ? 3 : 4 };
    static constexpr bool is_custom = kind == law_custom;

    struct target {
        REAL x[3], weight, charge, softening2;
    };

    struct tile {
        struct NAME(law_source) source[block];
        struct NAME(law_source_more) more[block];
    };

    struct sums {
        REAL value[values];
    };

    static __device__ __forceinline__ REAL at(const sums &sums, int v)
    {
        return sums.value[v];
    }

    static __device__ __forceinline__ constants load(const struct law_sums_problem &problem)
    {
        return NAME(law_load)(&problem.numbers);
    }

    static __device__ __forceinline__ void load_target(const struct law_sums_problem &problem,
                                                       long long row, target &target)
    {
        for (int c = 0; c < 3; c++)
            target.x[c] = NAME(law_element)(problem.target_position[c], row, 0);
        target.softening2 = (REAL)problem.softening2;
        if (per_body)
            target.softening2 += NAME(law_element)(problem.target_half_softening2, row, 0);
        target.weight = 1;
        if (weighting == law_sum || is_custom)
            target.weight = NAME(law_element)(problem.target_weight, row, 1);
        if (is_custom)
            target.charge = NAME(law_element)(problem.target_charge, row, 1);
    }

    static __device__ __forceinline__ void load_source(const struct law_sums_problem &problem,
                                                       long long j, tile &tile, int k)
    {
        for (int c = 0; c < 3; c++)
            tile.source[k].x[c] = NAME(law_element)(problem.source_position[c], j, 0);
        tile.source[k].weight = NAME(law_element)(problem.source_weight, j, 1);
        if (is_custom)
            tile.more[k].charge = NAME(law_element)(problem.source_charge, j, 1);
        if (per_body)
            tile.more[k].half_softening2 = NAME(law_element)(problem.source_half_softening2, j, 0);
    }

    /* Without softening a central force of i = j is 0 by itself. */
    static __device__ __forceinline__ bool leaves_self_out(const struct law_sums_problem &problem)
    {
        return problem.self && (which != law_sums_force || !central || problem.softening2 > 0);
    }

    static __device__ __forceinline__ void add(const constants &law, const target &target,
                                               const tile &tile, int k, bool omit, sums &sums)
    {
        constexpr struct law_form form = {kind, weighting};
        struct NAME(law_pair) pair;
        pair.s2 = target.softening2;
        if (per_body)
            pair.s2 += tile.more[k].half_softening2;
        for (int c = 0; c < 3; c++) {
            pair.d[c] = tile.source[k].x[c] - target.x[c];
            pair.s2 = law_fma(pair.d[c], pair.d[c], pair.s2);
        }
        pair.w_i = target.weight;
        pair.w_j = tile.source[k].weight;
        if (is_custom) {
            pair.q_i = target.charge;
            pair.q_j = tile.more[k].charge;
        }
        if (which != law_sums_value && central) {
            const REAL of_pair = NAME(law_factor)(form, &law, &pair);
            const REAL factor = omit ? (REAL)0 : of_pair;
            for (int c = 0; c < 3; c++)
                sums.value[c] = law_fma(factor, pair.d[c], sums.value[c]);
        } else if (which != law_sums_value) {
            REAL force[3];
            NAME(law_force)(form, &law, &pair, force);
            for (int c = 0; c < 3; c++)
                sums.value[c] += omit ? (REAL)0 : force[c];
        }
        if (which != law_sums_force) {
            const REAL value = NAME(law_value)(form, &law, &pair);
            sums.value[3] += omit ? (REAL)0 : value;
        }
    }
};

#ifdef LAW_CUSTOM_BODY
#define LAW_CUSTOM_SUMS(name, sums, per_body, central)                                             \
    extern "C" __global__ void __launch_bounds__(law_sums_block)                                   \
        NAME(law_sums_##name)(const struct law_sums_problem problem, REAL *partial,                \
                              long long room, long long part_sources)                              \
    {                                                                                              \
        typedef struct NAME(law_in_tiles)<law_custom, law_unweighted, sums, per_body, central>     \
            pair;                                                                                  \
        __shared__ pair::tile tile;                                                                \
        sum_tiles<pair>(problem, partial, room, part_sources, tile);                               \
    }
LAW_CUSTOM_SUMS(custom_force, law_sums_force, false, true)
LAW_CUSTOM_SUMS(custom_value, law_sums_value, false, true)
LAW_CUSTOM_SUMS(custom_both, law_sums_both, false, true)
LAW_CUSTOM_SUMS(custom_any, law_sums_both, true, false)
#undef LAW_CUSTOM_SUMS
#else
template <enum law_kind kind, enum law_weighting weighting, enum law_sums sums, bool per_body>
LAW_INLINE void NAME(law_sums)(const struct law_sums_problem &problem, REAL *partial,
                               long long room, long long part_sources)
{
    typedef struct NAME(law_in_tiles)<kind, weighting, sums, per_body, true> pair;
    __shared__ typename pair::tile tile;
    sum_tiles<pair>(problem, partial, room, part_sources, tile);
}

template <enum law_kind kind, enum law_sums sums, bool per_body>
__global__ void __launch_bounds__(law_sums_block)
    NAME(law_sums_kernel)(const struct law_sums_problem problem, REAL *partial, long long room,
                          long long part_sources)
{
    if (kind == law_constant && problem.weighting == law_sum)
        NAME(law_sums)<kind, law_sum, sums, per_body>(problem, partial, room, part_sources);
    else if (kind == law_constant && problem.weighting == law_product)
        NAME(law_sums)<kind, law_product, sums, per_body>(problem, partial, room, part_sources);
    else
        NAME(law_sums)<kind, LAW_SUMS_WEIGHTING(kind), sums, per_body>(problem, partial, room,
                                                                       part_sources);
}
#endif
