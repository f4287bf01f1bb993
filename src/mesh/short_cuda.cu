/* The sum over pairs within the cutoff on a GPU (short.h): a warp for some particles of a cell. Its
 * threads search the cells around it, and queue what is within the cutoff of each particle, so that
 * in what takes long, the sum of 32 pairs at a time, no thread waits. */

#include "mesh/pme_cuda.h"
#include "mesh/sum_cuda.cuh"

enum { threads = 256, warps = threads / 32, targets = 4, room = 64 };

/* The polynomials of split.h, of terms up to a multiple of `step`. */
enum { step = 4 };
template <typename real> struct smooth {
    int terms;
    real value[split_most_terms], factor[split_most_terms];
};

/* φ, ∇φ, and the virial xx, yy, zz, yz, xz, xy; in units of the cutoff. */
template <typename real, bool has_virial> struct near_sums {
    enum { count = has_virial ? 10 : 4 };
    real of[count];
};

/* Slots first … end − 1 at an image, which lies t away. */
struct run {
    int32_t first, end;
    double t[3];
};

/* Of each target the particles within the cutoff that wait, and which thread knows their image. */
struct queue {
    int32_t slot[targets][room];
    uint8_t of_lane[targets][room];
};

static __device__ int floor_divided(int a, int b)
{
    return a / b - (a % b < 0);
}

/* Run number k of the cells around one. */
static __device__ struct run run_of(const struct pme_cuda_problem &problem, const int cell[3],
                                    int k)
{
    const struct pme_cuda_cells &cells = problem.cells;
    const int piece = k % cells.pieces, row = k / cells.pieces, wide = 2 * cells.reach[1] + 1;
    const int low = cell[2] - cells.reach[2], high = cell[2] + cells.reach[2];
    int at[2] = {cell[0] - cells.reach[0] + row / wide, cell[1] - cells.reach[1] + row % wide};
    int32_t image[3];
    for (int c = 0; c < 2; c++) {
        image[c] = floor_divided(at[c], cells.count[c]);
        at[c] -= image[c] * cells.count[c];
    }
    image[2] = floor_divided(low, cells.count[2]) + piece;
    const int start = image[2] * cells.count[2];
    const int from = (low > start ? low : start) - start;
    const int to = (high < start + cells.count[2] ? high + 1 : start + cells.count[2]) - start;
    struct run run = {};
    for (int c = 0; c < 3; c++)
        run.t[c] = pairs_translation(&problem.lattice, image, c);
    if (from >= to)
        return run;
    const int32_t *begin =
        problem.begin[0] + ((int64_t)at[0] * cells.count[1] + at[1]) * cells.count[2];
    run.first = begin[from];
    run.end = begin[to];
    return run;
}

static __device__ float root_of(float r2)
{
    const float root = rsqrtf(r2); /* to a few ulps; a step of Newton's for the last */
    return root * fmaf(-0.5f * r2 * root, root, 1.5f);
}

static __device__ double root_of(double r2)
{
    return rsqrt(r2);
}

/* Of a pair d apart, in units of the cutoff; at d = 0 the particle itself, or one there. */
template <typename real, bool has_virial>
static __device__ void add_pair(const struct smooth<real> &smooth, const real d[3], real w,
                                struct near_sums<real, has_virial> *sums)
{
    const real r2 = fma(d[2], d[2], fma(d[1], d[1], d[0] * d[0]));
    if (!(r2 < (real)1))
        return;
    const real least = sizeof(real) == sizeof(float) ? (real)1e-36 : (real)1e-300;
    const real z = fma((real)2, r2, (real)-1), root = r2 > least ? root_of(r2) : (real)0;
    real value = 0, factor = 0;
    for (int k = smooth.terms - step; k >= 0; k -= step) {
#pragma unroll
        for (int m = step - 1; m >= 0; m--) {
            value = fma(value, z, smooth.value[k + m]);
            factor = fma(factor, z, smooth.factor[k + m]);
        }
    }
    const real root2 = root * root; /* its cube may be out of range */
    sums->of[0] = fma(w, root - value, sums->of[0]);
#pragma unroll
    for (int c = 0; c < 3; c++) {
        const real along = w * fma(-factor, d[c], root2 * (root * d[c]));
        sums->of[1 + c] += along;
        if (has_virial) {
            sums->of[4 + c] = fma(along, d[c], sums->of[4 + c]);
            sums->of[7 + (c + 2) % 3] = fma(along, d[(c + 1) % 3], sums->of[7 + (c + 2) % 3]);
        }
    }
}

/* The first `count` that wait, from `head` on, for target k of the warp, which is in a slot. */
template <typename real, bool has_virial>
static __device__ void
add_queued(const struct pme_cuda_problem &problem, const struct smooth<real> &smooth, int64_t slot,
           const struct run &run, bool any_moved, const struct queue &queue, int k, int head,
           int count, struct near_sums<real, has_virial> *sums)
{
    const struct pme_cuda_place *places = (const struct pme_cuda_place *)problem.places;
    const int lane = (int)threadIdx.x % 32, at = (head + lane) % room;
    const bool is_one = lane < count;
    const int from = is_one ? queue.of_lane[k][at] : 0;
    double t[3] = {0, 0, 0};
    for (int c = 0; c < 3 && any_moved; c++)
        t[c] = __shfl_sync(0xffffffffu, run.t[c], from);
    if (!is_one)
        return;
    const struct pme_cuda_place own = places[slot], other = places[queue.slot[k][at]];
    const double scale = 1 / problem.cutoff;
    real d[3];
    for (int c = 0; c < 3; c++)
        d[c] = (real)(((other.x[c] - own.x[c]) + t[c]) * scale);
    add_pair<real, has_virial>(smooth, d, (real)other.w, sums);
}

/* Those of up to 32 runs, of which each thread knows one, for the targets of a bit each from a slot
 * on; all are added. */
template <typename real, bool has_virial>
static __device__ void add_runs(const struct pme_cuda_problem &problem,
                                const struct smooth<real> &smooth, int64_t slot, unsigned which,
                                const struct run &run, int count, struct queue &queue,
                                struct near_sums<real, has_virial> sums[targets])
{
    const unsigned all = 0xffffffffu;
    const int lane = (int)threadIdx.x % 32;
    const bool any_moved = __any_sync(all, run.t[0] != 0 || run.t[1] != 0 || run.t[2] != 0);
    int head[targets] = {}, queued[targets] = {};
    float from[targets][3], limit2[targets]; /* as far from a run's points as its image is */
#pragma unroll
    for (int t = 0; t < targets; t++) {
        const bool is_one = which >> t & 1;
        const struct pme_cuda_place own =
            ((const struct pme_cuda_place *)problem.places)[is_one ? slot + t : slot];
        limit2[t] = is_one ? (float)problem.limit2 : -1;
        for (int c = 0; c < 3; c++)
            from[t][c] = (float)(own.x[c] - run.t[c]);
    }
    for (int k = 0; k < count; k++) {
        const int32_t first = __shfl_sync(all, run.first, k), end = __shfl_sync(all, run.end, k);
        if (first >= end)
            continue;
        float at[targets][3];
#pragma unroll
        for (int t = 0; t < targets; t++)
            for (int c = 0; c < 3; c++)
                at[t][c] = __shfl_sync(all, from[t][c], k);
        for (int32_t base = first; base < end; base += 32) {
            const bool is_there = base + lane < end;
            const float4 point = ((const float4 *)problem.points)[is_there ? base + lane : first];
#pragma unroll
            for (int t = 0; t < targets; t++) {
                const float dx = point.x - at[t][0], dy = point.y - at[t][1],
                            dz = point.z - at[t][2];
                const bool is_near = is_there && fmaf(dz, dz, fmaf(dy, dy, dx * dx)) < limit2[t];
                const unsigned near = __ballot_sync(all, is_near);
                if (is_near) {
                    const int to = (head[t] + queued[t] + __popc(near & ((1u << lane) - 1))) % room;
                    queue.slot[t][to] = base + lane;
                    queue.of_lane[t][to] = (uint8_t)k;
                }
                queued[t] += __popc(near);
            }
            __syncwarp();
#pragma unroll
            for (int t = 0; t < targets; t++) {
                if (queued[t] < 32)
                    continue;
                add_queued(problem, smooth, slot + t, run, any_moved, queue, t, head[t], 32,
                           &sums[t]);
                head[t] = (head[t] + 32) % room;
                queued[t] -= 32;
            }
            __syncwarp();
        }
    }
#pragma unroll
    for (int t = 0; t < targets; t++)
        add_queued(problem, smooth, slot + t, run, any_moved, queue, t, head[t], queued[t],
                   &sums[t]);
    __syncwarp();
}

/* In units of length again, to the row of the particle; the virial is added to that of its warp. */
template <typename real, bool has_virial>
static __device__ void store(const struct pme_cuda_problem &problem, int64_t slot,
                             struct near_sums<real, has_virial> &sums, double virial[6])
{
    const double per_length = 1 / problem.cutoff;
#pragma unroll
    for (int k = 0; k < near_sums<real, has_virial>::count; k++)
        sums.of[k] = sum_of_lanes(sums.of[k], 32);
    if (slot >= problem.count)
        return;
    if (threadIdx.x % 32 == 0) {
        double *to = problem.sums[problem.order_of[0][slot]];
        to[0] = (double)sums.of[0] * per_length;
        for (int c = 0; c < 3; c++)
            to[1 + c] = (double)sums.of[1 + c] * per_length * per_length;
    }
    if (!has_virial)
        return;
    const double half_weight = 0.5 * ((const struct pme_cuda_place *)problem.places)[slot].w;
    for (int k = 0; k < 6; k++)
        virial[k] += half_weight * (double)sums.of[has_virial ? 4 + k : 0] * per_length;
}

/* Of the warps of the block. */
static __device__ void store_virial(const struct pme_cuda_problem &problem, const double virial[6])
{
    __shared__ double of_warp[warps][6];
    for (int k = 0; k < 6 && threadIdx.x % 32 == 0; k++)
        of_warp[threadIdx.x / 32][k] = virial[k];
    __syncthreads();
    if (threadIdx.x >= 6)
        return;
    double sum = 0;
    for (int warp = 0; warp < warps; warp++)
        sum += of_warp[warp][threadIdx.x];
    problem.parts[(int64_t)blockIdx.x * 6 + threadIdx.x] = sum;
}

/* Targets of one cell, those of a bit each from a slot on. */
template <typename real, bool has_virial>
static __device__ void add_cell(const struct pme_cuda_problem &problem,
                                const struct smooth<real> &smooth, int64_t slot, unsigned which,
                                int number, struct queue &queue,
                                struct near_sums<real, has_virial> sums[targets])
{
    const struct pme_cuda_cells &cells = problem.cells;
    const int lane = (int)threadIdx.x % 32;
    const int cell[3] = {number / (cells.count[1] * cells.count[2]),
                         number / cells.count[2] % cells.count[1], number % cells.count[2]};
    const int runs = (2 * cells.reach[0] + 1) * (2 * cells.reach[1] + 1) * cells.pieces;
    for (int first = 0; first < runs; first += 32) {
        const int count = runs - first < 32 ? runs - first : 32;
        struct run run = {};
        if (lane < count)
            run = run_of(problem, cell, first + lane);
        add_runs<real, has_virial>(problem, smooth, slot, which, run, count, queue, sums);
    }
}

template <typename real, bool has_virial>
static __global__ void __launch_bounds__(threads)
    sum_near(const struct pme_cuda_problem problem, const struct smooth<real> smooth)
{
    __shared__ struct queue queues[warps];
    const int64_t slot = ((int64_t)blockIdx.x * warps + threadIdx.x / 32) * targets;
    struct near_sums<real, has_virial> sums[targets] = {
    };
    double virial[6] = {0, 0, 0, 0, 0, 0};
    unsigned left = 0;
    for (int t = 0; t < targets; t++)
        left |= slot + t < problem.count ? 1u << t : 0;
    while (left) {
        const int number = (int)problem.keys[0][slot + __ffs((int)left) - 1];
        unsigned which = 0;
        for (int t = 0; t < targets; t++)
            if (left >> t & 1 && (int)problem.keys[0][slot + t] == number)
                which |= 1u << t;
        left &= ~which;
        add_cell<real, has_virial>(problem, smooth, slot, which, number, queues[threadIdx.x / 32],
                                   sums);
    }
#pragma unroll
    for (int t = 0; t < targets; t++)
        store<real, has_virial>(problem, slot + t, sums[t], virial);
    if (has_virial)
        store_virial(problem, virial);
}

template <typename real>
static kith_status start(kith_context *context, const struct pme_cuda_problem *problem)
{
    const cudaStream_t stream = cuda_stream(context);
    const int64_t of_block = warps * targets;
    const unsigned blocks = (unsigned)((problem->count + of_block - 1) / of_block);
    struct smooth<real> smooth = {
    };
    smooth.terms = (problem->split.terms + step - 1) / step * step;
    for (int k = 0; k < problem->split.terms; k++) {
        smooth.value[k] = (real)problem->split.value[k];
        smooth.factor[k] = (real)problem->split.factor[k];
    }
    if (!problem->delivery.wants_totals) {
        sum_near<real, false><<<blocks, threads, 0, stream>>>(*problem, smooth);
        return cuda_check_launch("summing near pairs");
    }
    sum_near<real, true><<<blocks, threads, 0, stream>>>(*problem, smooth);
    KITH_TRY(cuda_check_launch("summing near pairs"));
    return pme_cuda_add_parts(context, blocks, 6, problem->parts, problem->totals + pme_cuda_pairs);
}

kith_status pme_cuda_sum_near(kith_context *context, const struct pme_cuda_problem *problem)
{
    return problem->pair_dtype == KITH_F64 ? start<double>(context, problem)
                                           : start<float>(context, problem);
}
