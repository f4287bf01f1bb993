#ifndef PAIRS_MASKS_CUDA_CUH
#define PAIRS_MASKS_CUDA_CUH

/* Masks of hits, as a warp that fills a list reads them: in shared memory, each word with the
 * number of its row's pairs before it. */

#include "pairs/search_cuda.cuh"

/* A word of a mask, and how many of its row's pairs come before it. */
struct pairs_mask_word {
    uint32_t hits, before;
};

/* Words of masks that a warp has in shared memory. */
enum { mask_words_kept = 512 };

/* Calls use(number of the pair in its row, key) for each hit of a row of words in shared memory. */
template <typename key_type, typename user>
static __device__ __forceinline__ void for_each_hit(const struct pairs_mask_word *mask,
                                                    uint32_t words, const key_type *keys, user use)
{
    const uint32_t before = lanes_before(), own = before + 1;
    keys += threadIdx.x % warp_size;
    for (uint32_t w = 0; w < words; w += mask_step, keys += mask_step * warp_size) {
        const uint4 *const pair = (const uint4 *)(mask + w);
        const uint4 first = pair[0], second = pair[1];
        const uint32_t hits[mask_step] = {first.x, first.z, second.x, second.z};
        uint32_t number[mask_step] = {first.y, first.w, second.y, second.w};
        key_type key[mask_step];
#pragma unroll
        for (int k = 0; k < mask_step; k++) {
            key[k] = keys[k * warp_size]; /* any value, if not a hit */
            number[k] += __popc(hits[k] & before);
        }
#pragma unroll
        for (int k = 0; k < mask_step; k++)
            if (hits[k] & own)
                use(number[k], key[k]);
    }
}

/* Words of a mask that a lane has in registers. */
enum { mask_words_of_lane = mask_words_kept / warp_size };

/* The mask of a lane's target, if it is no longer. */
struct pairs_lane_mask {
    uint4 step[mask_words_of_lane / mask_step];
};

static __device__ __forceinline__ struct pairs_lane_mask load_mask(const uint32_t *masks,
                                                                   uint32_t words, uint32_t targets)
{
    const uint32_t lane = threadIdx.x % warp_size;
    struct pairs_lane_mask mine = {};
#pragma unroll
    for (uint32_t w = 0; w < mask_words_of_lane; w += mask_step)
        if (lane < targets && w < words && words <= mask_words_of_lane)
            mine.step[w / mask_step] = *(const uint4 *)(masks + lane * words + w);
    return mine;
}

static __device__ __forceinline__ void keep_mask(const struct pairs_lane_mask &mine, uint32_t words,
                                                 uint32_t targets, struct pairs_mask_word *kept)
{
    const uint32_t lane = threadIdx.x % warp_size;
    uint4 *const to = (uint4 *)(kept + lane * words);
    uint32_t before = 0;
#pragma unroll
    for (uint32_t w = 0; w < mask_words_of_lane; w += mask_step)
        if (lane < targets && w < words) {
            const uint4 hits = mine.step[w / mask_step];
            const uint32_t second = before + __popc(hits.x), third = second + __popc(hits.y);
            const uint32_t fourth = third + __popc(hits.z);
            to[w / 2] = make_uint4(hits.x, before, hits.y, second);
            to[w / 2 + 1] = make_uint4(hits.z, third, hits.w, fourth);
            before = fourth + __popc(hits.w);
        }
    __syncwarp();
}

/* The same for longer masks, all lanes a mask. */
static __device__ __forceinline__ void keep_masks(const uint32_t *masks, uint32_t words,
                                                  uint32_t targets, struct pairs_mask_word *kept)
{
    const uint32_t lane = threadIdx.x % warp_size;
    for (uint32_t t = 0; t < targets; t++) {
        uint32_t before = 0;
        for (uint32_t first = 0; first < words; first += warp_size) {
            const uint32_t w = first + lane;
            const uint32_t hits = w < words ? masks[t * words + w] : 0;
            const uint32_t own = __popc(hits);
            const uint32_t up_to = warp_sum_to(own);
            if (w < words)
                kept[t * words + w] = {hits, before + up_to - own};
            before += __shfl_sync(whole_warp, up_to, warp_size - 1);
        }
    }
    __syncwarp();
}

#endif
