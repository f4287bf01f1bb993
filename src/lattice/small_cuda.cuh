#ifndef COLLISIONS_SMALL_CUDA_CUH
#define COLLISIONS_SMALL_CUDA_CUH

/* A few beads, in one launch of one block: a table with open addressing in shared memory. */

#include "lattice/lattice_cuda.cuh"

enum { small_most = 4096, small_block = 1024 };

template <typename coordinate>
__global__ void __launch_bounds__(small_block)
    count_small(const struct collisions_problem problem, struct counting *counting, unsigned slots)
{
    extern __shared__ unsigned small_table[]; /* slots beads + 1, then slots counts */
    unsigned *const first = small_table, *const times = small_table + slots;
    for (unsigned s = threadIdx.x; s < 2 * slots; s += small_block)
        small_table[s] = 0;
    if (threadIdx.x == 0)
        counting->collisions = 0;
    __syncthreads();
    unsigned long long collisions = 0;
    for (unsigned i = threadIdx.x; i < problem.count; i += small_block) {
        const struct site site = load_site<coordinate>(problem, i);
        unsigned at = (unsigned)hash_of(site) & (slots - 1);
        for (;; at = (at + 1) & (slots - 1)) {
            const unsigned there = atomicCAS(&first[at], 0u, i + 1);
            if (there == 0 || is_same(load_site<coordinate>(problem, there - 1), site))
                break;
        }
        collisions += atomicAdd(&times[at], 1u);
    }
    add_of_block(collisions, counting);
}

static inline void count_few(cudaStream_t stream, const struct collisions_problem &problem,
                             struct counting *counting)
{
    unsigned slots = 64;
    while (slots < 2 * problem.count)
        slots *= 2;
    const size_t shared = 2 * slots * sizeof(unsigned);
    void (*const kernel)(const struct collisions_problem, struct counting *, unsigned) =
        problem.dtype == KITH_I32 ? count_small<int32_t> : count_small<int64_t>;
    if (shared > 32 * 1024)
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared);
    kernel<<<1, small_block, shared, stream>>>(problem, counting, slots);
}

#endif
