/* The rates at which forces by laws change; to be included after law_body.h, with the same
 * definitions.
 *
 *     F = f(s²) d,   dF/dt = f u + g (d·u) d,   g(s²) = (df/ds)/s
 *
 * is the force of a pair of weights 1 whose d changes at the rate u = v_j − v_i, and how it
 * changes, as ds/dt = d·u / s. */

#ifdef LAW_CUSTOM_BODY
#define LAW_CUSTOM(function, otherwise) function
#else
#define LAW_CUSTOM(function, otherwise) otherwise
#endif

/* The rate of the force on i, of every law, while d changes at the rate u; 0 for s² = 0. */
LAW_INLINE void NAME(law_rate)(const struct law_form form, const struct NAME(law_constants) * law,
                               const struct NAME(law_pair) * pair, const VREAL u[3], VREAL rate[3])
{
    const VREAL *d = pair->d;
    if (form.kind == law_custom) {
        LAW_CUSTOM(NAME(law_custom_rate)(law, pair, u, rate), (void)rate);
    } else {
        const VREAL f = NAME(law_factor_apart)(form, law, pair);
        const VREAL g = NAME(law_weighted)(form, pair, NAME(law_g)(form.kind, law, pair->s2));
        const VREAL along_d = g * law_fma(d[0], u[0], law_fma(d[1], u[1], d[2] * u[2]));
        for (int c = 0; c < 3; c++)
            rate[c] = law_fma(f, u[c], along_d * d[c]);
    }
    for (int c = 0; c < 3; c++)
        rate[c] = law_unless_equal(pair->s2, law_all((REAL)0), rate[c]);
}

#undef LAW_CUSTOM
