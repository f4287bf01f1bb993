/* The sum over pairs within the cutoff on a GPU (short.h). A block has 32 particles that follow
 * each other along the cells, so lie near each other: a thread of each of its warps has one of
 * them. The warps share what may be within the cutoff of any of the 32. Each lists its share, marks
 * for each particle which of the list are within the cutoff, and adds those: then no thread waits
 * for another one, except at the end of a list, and no sum is shared. */

#include "mesh/place_cuda.cuh"
#include "mesh/split_cuda.cuh"
#include "mesh/sum_cuda.cuh"

enum { warps = 2, threads = 32 * warps };

/* φ, ∇φ, and the virial xx, yy, zz, yz, xz, xy; in units of the cutoff. */
template <typename real, bool has_virial> struct near_sums {
    enum { count = has_virial ? 10 : 4 };
    real of[count];
};

/* A particle of a list: in units of the cutoff from the middle of the block's; and |x|²/2. */
template <typename real> struct alignas(4 * sizeof(real)) listed {
    real x[3], half_square;
};

template <typename real> struct list {
    enum { room = sizeof(real) == sizeof(float) ? 320 : 256 };
    struct listed<real> of[room];
    real w[room];
    int32_t slot[room];
    unsigned near[room / 32 + 1][32]; /* a bit for each of the list, for each thread; an end */
};

/* The block's particles: their cells, and a box around them; and the one of a thread. */
template <typename real> struct cluster {
    int low[3], high[3];
    double middle[3];
    float half[3];
    struct pair_place<real> own;
    int32_t slot; /* −1: none */
};

/* Slots first … end − 1 at an image, and the middle of the block's particles as seen from it. */
template <typename real> struct run {
    int32_t first, end;
    struct pair_place<real> middle;
};

static __device__ int floor_divided(int a, int b)
{
    return a / b - (a % b < 0);
}

template <typename real>
static __device__ struct cluster<real> find_cluster(const struct pme_cuda_problem &problem) {
    const int64_t own = (int64_t)blockIdx.x * 32 + threadIdx.x % 32, last = problem.count - 1;
    const int64_t slot = own < last ? own : last;
    struct cluster<real> cluster;
    int cell[3];
    cluster.slot = own <= last ? (int32_t)own : -1;
    cluster.own = ((const struct pair_place<real> *)problem.places)[slot];
    pme_cuda_cell_at(&problem.cells, (int64_t)problem.keys[0][slot], cell);
    const struct pair_place<real> first = place_of_lane(cluster.own, 0);
    for (int c = 0; c < 3; c++) {
        const float x = (float)separation(first, cluster.own, c);
        const float low = warp_least(x), high = warp_largest(x);
        cluster.middle[c] = coordinate(first, c) + 0.5 * (double)(low + high);
        cluster.half[c] = 0.5f * (high - low);
        cluster.low[c] = warp_least(cell[c]) - problem.cells.reach[c];
        cluster.high[c] = warp_largest(cell[c]) + problem.cells.reach[c];
    }
    return cluster;
}

/* Parts of a row of cells, one in each image along it, around a cluster. */
template <typename real>
static __device__ int pieces_of(const struct pme_cuda_problem &problem,
                                const struct cluster<real> &cluster)
{
    return floor_divided(cluster.high[2], problem.cells.count[2]) -
           floor_divided(cluster.low[2], problem.cells.count[2]) + 1;
}

/* Run number k of those around a cluster. */
template <typename real>
static __device__ struct run<real> run_of(const struct pme_cuda_problem &problem,
                                          const struct cluster<real> &cluster, int pieces, int k) {
    const int *count = problem.cells.count;
    const int piece = k % pieces, row = k / pieces, wide = cluster.high[1] - cluster.low[1] + 1;
    int at[3] = {cluster.low[0] + row / wide, cluster.low[1] + row % wide, 0};
    int32_t image[3];
    for (int c = 0; c < 2; c++) {
        image[c] = floor_divided(at[c], count[c]);
        at[c] -= image[c] * count[c];
    }
    image[2] = floor_divided(cluster.low[2], count[2]) + piece;
    const int start = image[2] * count[2];
    int from = (cluster.low[2] > start ? cluster.low[2] : start) - start;
    int to = (cluster.high[2] < start + count[2] ? cluster.high[2] : start + count[2] - 1) - start;
    struct run<real> run;
    double middle[3];
    for (int c = 0; c < 3; c++)
        middle[c] =
            cluster.middle[c] - pairs_translation(&problem.lattice, image, c) * problem.per_cutoff;
    run.middle = pair_place_of<real>(problem, middle, 0);
    at[2] = from;
    const int64_t one = pme_cuda_cell_number(&problem.cells, at);
    at[2] = to;
    const int64_t other = pme_cuda_cell_number(&problem.cells, at);
    run.first = problem.begin[0][one < other ? one : other];
    run.end = problem.begin[0][(one < other ? other : one) + 1];
    return run;
}

/* d of a near pair without what rounding took: its image is the one that d, rounded, is near. */
template <typename real>
static __device__ void refine(const struct pme_cuda_problem &problem, int32_t slot, int32_t from,
                              real d[3])
{
    const struct pair_place<real> *places = (const struct pair_place<real> *)problem.places;
    double inside[3], moved[3];
    int32_t image[3];
    for (int c = 0; c < 3; c++) {
        inside[c] = coordinate(places[from], c) - coordinate(places[slot], c);
        moved[c] = ((double)d[c] - inside[c]) * problem.cutoff;
    }
    for (int k = 0; k < 3; k++)
        image[k] = (int32_t)rint(pairs_fraction(&problem.lattice, moved, k));
    for (int c = 0; c < 3; c++)
        d[c] =
            (real)(inside[c] + pairs_translation(&problem.lattice, image, c) * problem.per_cutoff);
}

/* Of a pair d apart, in units of the cutoff. */
template <typename real, bool has_virial, int terms>
static __device__ void add_pair(const struct smooth<real> &smooth, const real d[3], real r2, real w,
                                struct near_sums<real, has_virial> &sums)
{
    real value, factor;
    split_pair<terms>(smooth, r2, root_of(r2), &value, &factor);
    const real pull = w * factor;
    sums.of[0] = fma(w, value, sums.of[0]);
#pragma unroll
    for (int c = 0; c < 3; c++) {
        sums.of[1 + c] = fma(pull, d[c], sums.of[1 + c]);
        if (has_virial) {
            const real along = pull * d[c];
            sums.of[4 + c] = fma(along, d[c], sums.of[4 + c]);
            sums.of[7 + (c + 2) % 3] = fma(along, d[(c + 1) % 3], sums.of[7 + (c + 2) % 3]);
        }
    }
}

/* Which of 32 are within the cutoff; the highest bit is the first. */
template <typename real>
static __device__ unsigned bits_of(const struct listed<real> of[32], const real at[3])
{
    unsigned near = 0;
#pragma unroll
    for (int bit = 0; bit < 32; bit++) {
        const struct listed<real> one = of[bit];
        const real x = one.x[0] - at[0], y = one.x[1] - at[1], z = one.x[2] - at[2];
        near = 2 * near + (fma(z, z, fma(y, y, x * x)) < (real)1);
    }
    return near;
}

/* The same by the sign of (r² − 1)/2 = |b|²/2 − a·b − (1 − |a|²)/2, whose rounding moves the cutoff
 * a little. */
static __device__ unsigned bits_by_product(const struct listed<float> of[32], const float at[3])
{
    const float own = 0.5f - 0.5f * (at[0] * at[0] + at[1] * at[1] + at[2] * at[2]);
    unsigned near = 0;
#pragma unroll
    for (int bit = 0; bit < 32; bit++) {
        const struct listed<float> one = of[bit];
        const float beyond =
            fmaf(-at[0], one.x[0],
                 fmaf(-at[1], one.x[1], fmaf(-at[2], one.x[2], one.half_square - own)));
        near = __funnelshift_l(__float_as_uint(beyond), near, 1);
    }
    return near;
}

/* The bits of a warp's list for the particle of each thread; the rest of its last 32 are far away.
 */
template <int terms, typename real>
static __device__ void mark(const real at[3], int count, struct list<real> &list)
{
    const int lane = (int)threadIdx.x % 32, whole = (count + 31) / 32 * 32;
    if (count + lane < whole)
        list.of[count + lane] = {{(real)1e9, (real)1e9, (real)1e9}, (real)1e19};
    __syncwarp();
    for (int k = 0; k < whole / 32; k++)
        if constexpr (terms == by_exponential)
            list.near[k][lane] = bits_by_product(list.of + 32 * k, at);
        else
            list.near[k][lane] = bits_of(list.of + 32 * k, at);
    list.near[whole / 32][lane] = 1;
}

/* From an address in shared memory, which the compiler would form again for each pair. */
static __device__ struct listed<float> listed_at(unsigned address, float) {
    struct listed<float> one;
    asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(one.x[0]), "=f"(one.x[1]), "=f"(one.x[2]), "=f"(one.half_square)
                 : "r"(address)
                 : "memory");
    return one;
}

static __device__ struct listed<double>
listed_at(unsigned address, double) {
    struct listed<double> one;
    asm volatile("ld.shared.v2.f64 {%0, %1}, [%3]; ld.shared.f64 %2, [%3 + 16];"
                 : "=d"(one.x[0]), "=d"(one.x[1]), "=d"(one.x[2])
                 : "r"(address)
                 : "memory");
    return one;
}

static __device__ float
weight_at(unsigned address, float)
{
    float w;
    asm volatile("ld.shared.f32 %0, [%1];" : "=f"(w) : "r"(address) : "memory");
    return w;
}

static __device__ double weight_at(unsigned address, double)
{
    double w;
    asm volatile("ld.shared.f64 %0, [%1];" : "=d"(w) : "r"(address) : "memory");
    return w;
}

/* Adds those of a warp's list that are near the particle of each thread. The particle itself, or
 * one at the same place, adds what the waves have too much. */
template <typename real, bool has_virial, int terms>
static __device__ void add_list(const struct pme_cuda_problem &problem,
                                const struct smooth<real> &smooth, const real at[3], int32_t slot,
                                int count, struct list<real> &list,
                                struct near_sums<real, has_virial> &sums)
{
    const int lane = (int)threadIdx.x % 32, last = (count + 31) / 32 - 1;
    const unsigned of = (unsigned)__cvta_generic_to_shared(list.of);
    const unsigned of_w = (unsigned)__cvta_generic_to_shared(list.w);
    mark<terms>(at, count, list);
    int k = -1;
    unsigned near = 0;
    while (slot >= 0) {
        if (near == 0) {
            do
                near = list.near[++k][lane];
            while (near == 0);
            if (k > last)
                break;
        }
        const int bit = 31 - __clz((int)near);
        const unsigned number = (unsigned)(32 * k + 31 - bit);
        near ^= 1u << bit;
        const struct listed<real> one = listed_at(of + number * sizeof one, (real)0);
        real w = weight_at(of_w + number * sizeof w, (real)0);
        real d[3];
        for (int c = 0; c < 3; c++)
            d[c] = one.x[c] - at[c];
        real r2 = fma(d[2], d[2], fma(d[1], d[1], d[0] * d[0]));
        if (r2 < smooth.near2) {
            const int32_t from = list.slot[number];
            if (sizeof(real) == sizeof(float) && (r2 > 0 || from != slot))
                refine(problem, slot, from, d);
            r2 = fma(d[2], d[2], fma(d[1], d[1], d[0] * d[0]));
            if (!(r2 > s2_floor<real>())) { /* 1/r³ may overflow */
                sums.of[0] = fma(-w, smooth.at_zero, sums.of[0]);
                w = 0;
                r2 = 1;
            }
        }
        add_pair<real, has_virial, terms>(smooth, d, r2, w, sums);
    }
    __syncwarp();
}

/* Puts those of 32 slots that may be within the cutoff into a warp's list. */
template <typename real>
static __device__ int list_some(const struct pme_cuda_problem &problem,
                                const struct pair_place<real> &middle, const float half[3],
                                int64_t slot, int32_t end, int count, struct list<real> &list)
{
    const int lane = (int)threadIdx.x % 32;
    bool is_near = slot < end;
    struct listed<real> one = {
    };
    real w = 0;
    if (is_near) {
        const struct pair_place<real> place =
            ((const struct pair_place<real> *)problem.places)[slot];
        float gap2 = 0;
        for (int c = 0; c < 3; c++) {
            one.x[c] = separation(middle, place, c);
            const float gap = fmaxf(0, fabsf((float)one.x[c]) - half[c]);
            gap2 = fmaf(gap, gap, gap2);
        }
        one.half_square =
            (real)0.5 * fma(one.x[2], one.x[2], fma(one.x[1], one.x[1], one.x[0] * one.x[0]));
        w = place.w;
        is_near = gap2 < 1.0001f;
    }
    const unsigned near = __ballot_sync(whole_warp, is_near);
    const int to = count + __popc(near & ((1u << lane) - 1));
    if (is_near) {
        list.of[to] = one;
        list.w[to] = w;
        list.slot[to] = (int32_t)slot;
    }
    return count + __popc(near);
}

/* The sums of the particle of a thread over the share of its warp. */
template <typename real, bool has_virial, int terms>
static __device__ void add_share(const struct pme_cuda_problem &problem,
                                 const struct smooth<real> &smooth,
                                 const struct cluster<real> &cluster, struct list<real> &list,
                                 struct near_sums<real, has_virial> &sums)
{
    const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
    const int pieces = pieces_of(problem, cluster);
    const int runs =
        (cluster.high[0] - cluster.low[0] + 1) * (cluster.high[1] - cluster.low[1] + 1) * pieces;
    const struct pair_place<real> middle = pair_place_of<real>(problem, cluster.middle, 0);
    real at[3];
    int count = 0;
    for (int c = 0; c < 3; c++)
        at[c] = separation(middle, cluster.own, c);
    for (int base = 0; base < runs; base += 32) {
        struct run<real> own = {
        };
        if (base + lane < runs)
            own = run_of(problem, cluster, pieces, base + lane);
        for (int k = 0; k < 32 && base + k < runs; k++) {
            const int32_t first = __shfl_sync(whole_warp, own.first, k);
            const int32_t end = __shfl_sync(whole_warp, own.end, k);
            const struct pair_place<real> seen = place_of_lane(own.middle, k);
            for (int64_t from = first; from < end; from += threads) {
                count = list_some<real>(problem, seen, cluster.half, from + lane * warps + warp,
                                        end, count, list);
                if (count <= list.room - 32)
                    continue;
                add_list<real, has_virial, terms>(problem, smooth, at, cluster.slot, count, list,
                                                  sums);
                count = 0;
            }
        }
    }
    add_list<real, has_virial, terms>(problem, smooth, at, cluster.slot, count, list, sums);
}

/* What threads add up, once their lists are done with. */
template <typename real, bool has_virial> union working {
    struct list<real> lists[warps];
    real of_warp[warps][near_sums<real, has_virial>::count][32];
};

/* In units of length again, to the row of the particle; of all warps, in one order. */
template <typename real, bool has_virial>
static __device__ void
store(const struct pme_cuda_problem &problem, const struct cluster<real> &cluster,
      const struct near_sums<real, has_virial> &sums, union working<real, has_virial> &working)
{
    enum { values = near_sums<real, has_virial>::count };
    real(*of_warp)[values][32] = working.of_warp;
    const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
    const double per_length = problem.per_cutoff;
    __syncthreads();
    for (int k = 0; k < values; k++)
        of_warp[warp][k][lane] = sums.of[k];
    __syncthreads();
    if (warp > 0)
        return;
    double whole[values];
    for (int k = 0; k < values; k++) {
        whole[k] = 0;
        for (int from = 0; from < warps; from++)
            whole[k] += (double)of_warp[from][k][lane];
    }
    if (cluster.slot >= 0) {
        double *to = problem.sums[problem.order_of[0][cluster.slot]];
        to[0] = whole[0] * per_length;
        for (int c = 0; c < 3; c++)
            to[1 + c] = whole[1 + c] * per_length * per_length;
    }
    for (int k = 0; k < 6 && has_virial; k++) {
        const double own = cluster.slot >= 0 ? 0.5 * (double)cluster.own.w *
                                                   whole[has_virial ? 4 + k : 0] * per_length
                                             : 0;
        const double sum = warp_sum(own);
        if (lane == 0)
            problem.parts[(int64_t)blockIdx.x * 6 + k] = sum;
    }
}

template <typename real, bool has_virial, int terms>
static __global__ void __launch_bounds__(threads)
    sum_near(const struct pme_cuda_problem problem, const struct smooth<real> smooth)
{
    __shared__ union working<real, has_virial> working;
    const struct cluster<real> cluster = find_cluster<real>(problem);
    struct near_sums<real, has_virial> sums = {
    };
    add_share<real, has_virial, terms>(problem, smooth, cluster, working.lists[threadIdx.x / 32],
                                       sums);
    store<real, has_virial>(problem, cluster, sums, working);
}

/* By an exponential where that is good enough; else with the smallest number of terms that is not
 * below. */
template <typename real, bool has_virial>
static kith_status launch(kith_context *context, const struct pme_cuda_problem *problem,
                          const struct smooth<real> &smooth, unsigned blocks)
{
    const int terms = problem->split.terms;
    auto *kernel = terms <= 24   ? sum_near<real, has_virial, 24>
                   : terms <= 32 ? sum_near<real, has_virial, 32>
                                 : sum_near<real, has_virial, split_most_terms>;
    if constexpr (sizeof(real) == sizeof(float))
        if (problem->mesh_dtype == KITH_F32)
            kernel = sum_near<real, has_virial, by_exponential>;
    kernel<<<blocks, threads, 0, cuda_stream(context)>>>(*problem, smooth);
    return cuda_check_launch("summing near pairs");
}

template <typename real>
static kith_status start(kith_context *context, const struct pme_cuda_problem *problem)
{
    const unsigned blocks = (unsigned)((problem->count + 31) / 32);
    const struct smooth<real> smooth = smooth_of<real>(*problem);
    if (!problem->delivery.wants_totals)
        return launch<real, false>(context, problem, smooth, blocks);
    KITH_TRY((launch<real, true>(context, problem, smooth, blocks)));
    return pme_cuda_add_parts(cuda_stream(context), blocks, 6, problem->parts,
                              problem->totals + pme_cuda_pairs);
}

kith_status pme_cuda_sum_near(kith_context *context, const struct pme_cuda_problem *problem)
{
    return problem->pair_dtype == KITH_F64 ? start<double>(context, problem)
                                           : start<float>(context, problem);
}
