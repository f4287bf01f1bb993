/* From the sums of a block to the outputs; part of law_sums_kernel_body.h. */

/* The outer parts, which were left out of the sums. */
struct outer {
    REAL factor[block_targets], value[block_targets];
};

static void find_outer(const struct law_form form, const int central,
                       const struct law_sums_problem *problem,
                       const struct NAME(law_constants) * law, long long begin, struct outer *outer)
{
    for (int k = 0; k < block_targets; k += REAL_LANES) {
        VREAL factor = simd_all((REAL)1);
        struct NAME(law_pair) target;
        target.w_i = elements(problem->target_weight, begin + k, 1);
        if (form.kind == law_custom)
            target.q_i = elements(problem->target_charge, begin + k, 1);
        if (central)
            factor = NAME(law_outer_of_factor)(form, law, &target);
        const VREAL value = NAME(law_outer_of_value)(form, law, &target);
        simd_store(outer->factor + k, factor);
        simd_store(outer->value + k, value);
    }
}

/* A sum times its outer part, over what it is divided by. */
static void store_value(const REAL *restrict outer, const void *divisor, void *to, long long begin,
                        const double *restrict total)
{
    for (int lane = 0; lane < block_targets; lane++) {
        const double m = (double)element(divisor, begin + lane, 1);
        /* + 0: no −0 of an empty sum. After the last body masses are 0. */
        ((REAL *)to)[begin + lane] =
            m != 0 ? (REAL)((double)outer[lane] * total[lane] / m + 0.0) : 0;
    }
}

static void store_block(const struct law_form form, const int central,
                        const struct law_sums_problem *problem,
                        const struct NAME(law_constants) * law, long long begin,
                        const struct totals *totals)
{
    struct outer outer;
    find_outer(form, central, problem, law, begin, &outer);
    for (int c = 0; c < 3; c++)
        if (problem->acceleration[c])
            store_value(outer.factor, problem->target_mass, problem->acceleration[c], begin,
                        totals->value[c]);
    if (problem->value)
        store_value(outer.value, NULL, problem->value, begin, totals->value[3]);
}
