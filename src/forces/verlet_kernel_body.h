/* Forces by a Verlet list, for one precision (law/for_each_real.h): a particle in all lanes meets a
 * cluster, a particle a lane. */

/* A vector of reals has lanes for this many vectors of 64-bit integers. */
enum { NAME(lanes) = SIMD_BYTES / sizeof(REAL), NAME(parts) = NAME(lanes) * 8 / SIMD_BYTES };

struct NAME(verlet_particle) {
    VREAL at[3], weight;
};

/* What is the same for all pairs, in registers: what is stored might be memory of the problem. */
struct NAME(verlet_constants) {
    struct NAME(law_constants) law;
    const REAL *position, *weights;
    VREAL softening2, limit, slope;
    vdouble magic;
};

struct NAME(verlet_sums) {
    vbits force[3 * NAME(parts)];
    VMASK largest; /* magnitude of F/d, its bits */
};

/* The pairs of a particle with the slots of a cluster that are within the cutoff, and for which
 * `left_out` is less than 0. */
SIMD_INLINE void NAME(verlet_meet)(const struct law_form form, const int is_shifted,
                                   const struct NAME(verlet_constants) * constants,
                                   const struct NAME(verlet_particle) * particle, int cluster,
                                   const VREAL *left_out, unsigned long long *force,
                                   struct NAME(verlet_sums) * sums)
{
    const long long first = (long long)cluster * 3 * NAME(lanes);
    const REAL *position = constants->position + first;
    const VREAL zero = simd_all((REAL)0);
    struct NAME(law_pair) pair;
    SIMD_UNROLL
    for (int c = 0; c < 3; c++)
        pair.d[c] = simd_load(position + c * NAME(lanes)) - particle->at[c];
    const VREAL r2 = (pair.d[0] * pair.d[0] + pair.d[1] * pair.d[1]) + pair.d[2] * pair.d[2];
    pair.s2 = r2 + constants->softening2;
    pair.w_i = pair.w_j = pair.q_i = pair.q_j = simd_all((REAL)1);
    if (form.weighting != law_unweighted) {
        const VREAL weight = constants->weights
                                 ? simd_load(constants->weights + (long long)cluster * NAME(lanes))
                                 : pair.w_j;
        /* The same from either side, to the bit. */
        pair.w_i =
            form.weighting == law_sum ? particle->weight + weight : particle->weight * weight;
        pair.w_j = form.weighting == law_sum ? zero : pair.w_j;
    }
    VREAL factor = NAME(law_factor)(form, &constants->law, &pair);
    if (is_shifted) {
        VREAL less = constants->slope * simd_unless_equal(r2, zero, simd_rsqrt(r2));
        if (form.weighting == law_product)
            less = less * pair.w_i;
        factor = factor - simd_unless_equal(pair.s2, zero, less);
    }
    factor = NAME(verlet_below)(r2, constants->limit, factor);
    if (left_out)
        factor = NAME(verlet_below)(*left_out, zero, factor);
    sums->largest = NAME(verlet_larger)(sums->largest, (VMASK)simd_fabs(factor));
    SIMD_UNROLL
    for (int c = 0; c < 3; c++) {
        SIMD_UNROLL
        for (int k = 0; k < NAME(parts); k++) {
            const vbits bits = (vbits)NAME(verlet_round)(factor, pair.d[c], constants->magic, k);
            unsigned long long *at =
                force + first + c * NAME(lanes) + k * (NAME(lanes) / NAME(parts));
            vbits there;
            memcpy(&there, at, sizeof there);
            there -= bits;
            memcpy(at, &there, sizeof there);
            sums->force[c * NAME(parts) + k] += bits;
        }
    }
}

/* The particle's own sum, to its slot. */
SIMD_INLINE void NAME(verlet_store)(const struct NAME(verlet_sums) * sums, int slot,
                                    unsigned long long zeros, unsigned long long *force)
{
    const long long at = (long long)(slot / NAME(lanes)) * 3 * NAME(lanes) + slot % NAME(lanes);
    SIMD_UNROLL
    for (int c = 0; c < 3; c++) {
        vbits all = sums->force[c * NAME(parts)];
        SIMD_UNROLL
        for (int k = 1; k < NAME(parts); k++)
            all += sums->force[c * NAME(parts) + k];
        force[at + c * NAME(lanes)] += verlet_sum_lanes(all) - zeros;
    }
}

SIMD_INLINE double NAME(verlet_sum)(const enum law_kind kind, const int is_shifted,
                                    const struct verlet_problem *problem,
                                    const struct verlet_segment *segments, long long count,
                                    const int *entries, unsigned long long *force)
{
    const struct law_form form = {kind, kind == law_constant ? problem->weighting
                                                             : LAW_SUMS_WEIGHTING(kind)};
    const struct NAME(verlet_constants)
        constants = {.law = NAME(law_load)(&problem->numbers),
                     .position = problem->position,
                     .weights = problem->weight,
                     .softening2 = simd_all((REAL)problem->softening2),
                     .limit = simd_all((REAL)problem->limit),
                     .slope = simd_all((REAL)problem->slope_at_cutoff),
                     .magic = simd_all(problem->magic)};
    unsigned long long zero;
    memcpy(&zero, &problem->magic, sizeof zero);
    VMASK largest = {0};
    for (long long s = 0; s < count; s++) {
        const struct verlet_segment *segment = &segments[s];
        const int slot = segment->slot, own = slot / NAME(lanes), lane = slot % NAME(lanes);
        const REAL *at = constants.position + (long long)own * 3 * NAME(lanes) + lane;
        const double *translation = problem->translations[segment->translation];
        struct NAME(verlet_particle) particle;
        struct NAME(verlet_sums) sums = {0};
        SIMD_UNROLL
        for (int c = 0; c < 3; c++)
            particle.at[c] = simd_all(at[c * NAME(lanes)] - (REAL)translation[c]);
        particle.weight = simd_all(constants.weights ? constants.weights[slot] : (REAL)1);
        if (segment->is_own) {
            VREAL number = simd_all((REAL)0);
            SIMD_UNROLL
            for (int k = 0; k < NAME(lanes); k++)
                number[k] = (REAL)k;
            const VREAL left_out = simd_all((REAL)lane) - number;
            NAME(verlet_meet)
            (form, is_shifted, &constants, &particle, own, &left_out, force, &sums);
        }
        for (int k = 0; k < segment->count; k++) {
            const int other = entries[segment->begin + k];
            NAME(verlet_meet)(form, is_shifted, &constants, &particle, other, NULL, force, &sums);
        }
        const unsigned long long met =
            (unsigned long long)segment->count + (unsigned long long)segment->is_own;
        NAME(verlet_store)(&sums, slot, zero * met * (unsigned long long)NAME(lanes), force);
        largest = NAME(verlet_larger)(largest, sums.largest);
    }
    VMASK most = largest;
    for (int k = 1; k < NAME(lanes); k++)
        most[0] = most[k] > most[0] ? most[k] : most[0];
    REAL magnitude;
    memcpy(&magnitude, &most, sizeof magnitude);
    return (double)magnitude;
}

#define DEFINE_VARIANT(name, kind, is_shifted)                                                     \
    static __attribute__((noinline)) double NAME(name)(                                            \
        const struct verlet_problem *problem, const struct verlet_segment *segments,               \
        long long count, const int *entries, unsigned long long *force)                            \
    {                                                                                              \
        return NAME(verlet_sum)(kind, is_shifted, problem, segments, count, entries, force);       \
    }
#define DEFINE_KERNEL(linkage, name, kind)                                                         \
    DEFINE_VARIANT(name##_plain, kind, 0)                                                          \
    DEFINE_VARIANT(name##_shifted, kind, 1)                                                        \
    linkage double NAME(name)(const struct verlet_problem *problem,                                \
                              const struct verlet_segment *segments, long long count,              \
                              const int *entries, unsigned long long *force)                       \
    {                                                                                              \
        return problem->slope_at_cutoff != 0                                                       \
                   ? NAME(name##_shifted)(problem, segments, count, entries, force)                \
                   : NAME(name##_plain)(problem, segments, count, entries, force);                 \
    }

#ifdef LAW_CUSTOM_BODY
__attribute__((visibility("default"))) verlet_kernel NAME(verlet_custom);
DEFINE_KERNEL(, verlet_custom, law_custom)
#else
#define DEFINE(kind) DEFINE_KERNEL(static, verlet_##kind, law_##kind)
LAW_EACH_BUILT_IN(DEFINE)
#undef DEFINE

static long long NAME(verlet_search)(const void *position, const double at[3], double limit,
                                     const int *clusters, long long count, int *found)
{
    const VREAL x = simd_all((REAL)at[0]), y = simd_all((REAL)at[1]), z = simd_all((REAL)at[2]);
    const VREAL most = simd_all((REAL)limit);
    long long number = 0;
    for (long long k = 0; k < count; k++) {
        const REAL *of = (const REAL *)position + (long long)clusters[k] * 3 * NAME(lanes);
        const VREAL dx = simd_load(of) - x, dy = simd_load(of + NAME(lanes)) - y;
        const VREAL dz = simd_load(of + 2 * NAME(lanes)) - z;
        found[number] = clusters[k];
        number += NAME(lanes_below)(simd_fma(dx, dx, simd_fma(dy, dy, dz * dz)), most) != 0;
    }
    return number;
}
#endif
#undef DEFINE_VARIANT
#undef DEFINE_KERNEL
