/* Laws for sums over j, taken apart; to be included after law_body.h, with the same definitions. */

#ifdef LAW_CUSTOM_BODY
#define LAW_CUSTOM(function, otherwise) function
#else
#define LAW_CUSTOM(function, otherwise) otherwise
#endif

/* Sums over j take out what depends on i alone and multiply by it at the end: of a formula its
 * outer part, else the weight of i where weights are multiplied. Such kernels have a w_i of 1 in
 * their pairs, unless the law has a formula or sums of weights. */
LAW_INLINE VREAL NAME(law_outer_of_value)(const struct law_form form,
                                          const struct NAME(law_constants) * law,
                                          const struct NAME(law_pair) * target)
{
    (void)law;
    if (form.kind == law_custom)
        return LAW_CUSTOM(NAME(law_custom_value_outer)(law, target), target->w_i);
    return form.weighting == law_product ? target->w_i : law_all((REAL)1);
}

LAW_INLINE VREAL NAME(law_outer_of_factor)(const struct law_form form,
                                           const struct NAME(law_constants) * law,
                                           const struct NAME(law_pair) * target)
{
    (void)law;
    if (form.kind == law_custom)
        return LAW_CUSTOM(NAME(law_custom_factor_outer)(law, target), target->w_i);
    return form.weighting == law_product ? target->w_i : law_all((REAL)1);
}

/* As law_factor_apart, without the outer part. */
LAW_INLINE VREAL NAME(law_inner_factor)(const struct law_form form,
                                        const struct NAME(law_constants) * law,
                                        const struct NAME(law_pair) * pair)
{
    if (form.kind == law_custom)
        return LAW_CUSTOM(NAME(law_custom_factor_inner)(law, pair), pair->s2);
    return NAME(law_factor_apart)(form, law, pair);
}

/* As law_value, without the outer part. */
LAW_INLINE VREAL NAME(law_inner_value)(const struct law_form form,
                                       const struct NAME(law_constants) * law,
                                       const struct NAME(law_pair) * pair)
{
    if (form.kind != law_custom)
        return NAME(law_value)(form, law, pair);
    const VREAL value = LAW_CUSTOM(NAME(law_custom_value_inner)(law, pair), pair->s2);
    return law->diverges ? law_unless_equal(pair->s2, law_all((REAL)0), value) : value;
}

/* The same for a given inner factor; 0 for s² = 0 if the factor was 0. */
LAW_INLINE VREAL NAME(law_inner_value_of)(const struct law_form form,
                                          const struct NAME(law_constants) * law,
                                          const struct NAME(law_pair) * pair, VREAL inner_factor)
{
    if (form.kind == law_inverse)
        return -(inner_factor * pair->s2);
    if (form.kind == law_custom && LAW_CUSTOM(NAME(law_custom_value_follows), 0))
        return inner_factor * pair->s2;
    return NAME(law_inner_value)(form, law, pair);
}

#undef LAW_CUSTOM
