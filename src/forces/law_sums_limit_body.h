/* The arithmetic of the sums of forces alone, for measurements; part of law_sums_kernel_body.h. */

/* Targets whose numbers the compiler must not know, or it would compute the vectors but once. */
SIMD_INLINE struct NAME(targets) NAME(any_targets)(void)
{
    struct NAME(targets) targets = {0};
    SIMD_UNROLL
    for (int c = 0; c < 3; c++)
        SIMD_LAUNDER(targets.x[c]);
    SIMD_LAUNDER(targets.softening2);
    return targets;
}

/* The pairs of one source with a block of targets, again and again. */
SIMD_INLINE long long NAME(limit)(const struct law_form form,
                                  const struct law_sums_problem *problem, long long turns)
{
    const struct variant variant = {form, law_sums_force, 0, 1};
    const struct NAME(law_constants) law = NAME(law_load)(&problem->numbers);
    struct NAME(source) source = {.x = {3, 4, 5}, .weight = 1};
    struct NAME(targets) targets[wide];
    struct NAME(sums) sums[wide];
    SIMD_UNROLL
    for (int k = 0; k < wide; k++) {
        targets[k] = NAME(any_targets)();
        sums[k] = (struct NAME(sums)){0};
    }
    for (long long turn = 0; turn < turns; turn++) {
        SIMD_UNROLL
        for (int c = 0; c < 3; c++)
            SIMD_LAUNDER(source.x[c]);
        SIMD_UNROLL
        for (int k = 0; k < wide; k++)
            NAME(add_pairs)(variant, false, false, &law, &source, &targets[k], &sums[k]);
    }
    SIMD_UNROLL
    for (int k = 0; k < wide; k++)
        SIMD_UNROLL
    for (int c = 0; c < 3; c++)
        SIMD_LAUNDER(sums[k].value[c]);
    return turns * NAME(block);
}
