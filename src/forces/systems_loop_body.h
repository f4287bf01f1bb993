/* The loop of small systems for one precision: as many systems as a vector has lanes, side by side,
 * and in each of them every pair once, by any pair function. The including body has defined
 *
 *   struct systems_variant          what the loop is compiled for
 *   struct systems_constants        what is the same for all pairs
 *   struct place                    body i of each system
 *   struct pull                     its sums
 *   copy_pull                       the sums that are summed
 *   pull_together                   adds pair i, j of each system to the sums of both
 *
 * (systems_block.h, law_systems_kernel_body.h). A body is an array of vectors, so that a block of
 * few bodies is a few kilobytes in one piece, whatever the stride of the problem's arrays. Bringing
 * a block in and out costs one strided pass over the state; a pair costs no shuffle, and the
 * arithmetic fills every lane. */

struct block {
    int32_t bodies;
    struct place place[systems_most_bodies];
    struct pull pull[systems_most_bodies];
};

SIMD_INLINE void block_evaluate(const struct systems_variant variant,
                                const struct systems_constants *constants, struct block *block)
{
    const struct pull none = {0};
    for (int32_t i = 0; i < block->bodies; i++)
        copy_pull(variant, &none, &block->pull[i]);
    for (int32_t i = 0; i < block->bodies; i++) {
        const struct place *place = &block->place[i];
        struct pull pull;
        copy_pull(variant, &block->pull[i], &pull);
        for (int32_t j = i + 1; j < block->bodies; j++)
            pull_together(variant, constants, place, &block->place[j], &pull, &block->pull[j]);
        copy_pull(variant, &pull, &block->pull[i]);
    }
}
