/* Forces by a Verlet list, for one real type: the particles of a segment, one
 * or two, meet a cluster. Lane k · slots + s is that of particle k and slot s. */

/* A vector of reals has lanes for as many vectors of 64-bit integers as a segment has particles. */
enum { cluster_slots = SIMD_BYTES / 8, segment_particles = REAL_LANES / cluster_slots };

/* Clusters that a particle meets before their forces are added up. */
enum { met_room = 32 };

#include "forces/shift_body.h"

struct verlet_particles {
    VREAL at[3], weight, charge;
    VMASK row;
};

/* What is the same for all pairs, in registers: what is stored might be memory of the problem. */
struct verlet_constants {
    struct NAME(law_constants) law;
    const REAL *position, *weights, *charges;
    const REAL *rows; /* their bits */
    enum cutoff_shift shift;
    VREAL softening2, cutoff, limit, slope;
    struct verlet_units units;
    vdouble value_magic;
};

/* Clusters with slots within the cutoff of a particle, and F/d of these: all that is to be added
 * up, and far apart from what it is computed of, so that a processor need not wait for it. */
struct verlet_met {
    VREAL factor[met_room];
    int cluster[met_room];
    int count;
};

struct verlet_lane_sums {
    vbits force[3][segment_particles], value;
    VMASK largest, largest_value; /* magnitudes of F/d and V, their bits */
};

SIMD_INLINE VREAL verlet_some(const REAL *column, int cluster)
{
    return column ? verlet_load(column + (long long)cluster * cluster_slots) : simd_all((REAL)1);
}

/* The columns of a custom law, of the particle with the lower row first: so a pair has the same
 * bits from either side. */
SIMD_INLINE void verlet_order(const struct verlet_constants *constants,
                              const struct verlet_particles *particle, int cluster,
                              struct NAME(law_pair) * pair)
{
    const VREAL weight = verlet_some(constants->weights, cluster);
    const VREAL charge = verlet_some(constants->charges, cluster);
    const VMASK row = (VMASK)verlet_load(constants->rows + (long long)cluster * cluster_slots);
    const VMASK is_first = particle->row < row;
    pair->w_i = law_select(is_first, particle->weight, weight);
    pair->w_j = law_select(is_first, weight, particle->weight);
    pair->q_i = law_select(is_first, particle->charge, charge);
    pair->q_j = law_select(is_first, charge, particle->charge);
}

/* The pairs of a particle with the slots of a cluster that are within the cutoff, and for which
 * `left_out` is less than 0: values are added up, and the cluster to those met. */
SIMD_INLINE void verlet_meet(const struct law_form form, const struct verlet_variant variant,
                             const struct verlet_constants *constants,
                             const struct verlet_particles *particle, int cluster,
                             const VREAL *left_out, struct verlet_met *met,
                             struct verlet_lane_sums *sums)
{
    const REAL *position = constants->position + (long long)cluster * 3 * cluster_slots;
    const VREAL zero = simd_all((REAL)0);
    struct NAME(law_pair) pair;
    SIMD_UNROLL
    for (int c = 0; c < 3; c++)
        pair.d[c] = verlet_load(position + c * cluster_slots) - particle->at[c];
    const VREAL r2 = (pair.d[0] * pair.d[0] + pair.d[1] * pair.d[1]) + pair.d[2] * pair.d[2];
    pair.s2 = r2 + constants->softening2;
    pair.w_i = pair.w_j = pair.q_i = pair.q_j = simd_all((REAL)1);
    if (form.kind == law_custom && constants->rows)
        verlet_order(constants, particle, cluster, &pair);
    if (form.weighting != law_unweighted) {
        const VREAL weight = verlet_some(constants->weights, cluster);
        /* The same from either side, to the bit. */
        pair.w_i =
            form.weighting == law_sum ? particle->weight + weight : particle->weight * weight;
        pair.w_j = form.weighting == law_sum ? zero : pair.w_j;
    }
    VREAL factor = NAME(law_factor)(form, &constants->law, &pair), value = zero;
    if (variant.has_value)
        value = NAME(law_value)(form, &constants->law, &pair);
    if (form.kind == law_custom ? variant.is_shifted : variant.has_value && variant.is_shifted) {
        VREAL of_this_law = factor;
        shift_pair(form, constants->shift, constants->cutoff, &constants->law, &pair, r2,
                   &of_this_law, &value);
        factor = form.kind == law_custom ? of_this_law : factor;
    }
    if (form.kind != law_custom && variant.is_shifted &&
        (!variant.has_value || constants->shift == cutoff_shift_force)) {
        VREAL less = constants->slope * simd_unless_equal(r2, zero, simd_rsqrt(r2));
        if (form.weighting == law_product)
            less = less * pair.w_i;
        factor = factor - simd_unless_equal(pair.s2, zero, less);
    }
    factor = verlet_below(r2, constants->limit, factor);
    if (left_out)
        factor = verlet_below(*left_out, zero, factor);
    sums->largest = verlet_larger(sums->largest, (VMASK)simd_fabs(factor));
    if (variant.has_value) {
        value = verlet_below(r2, constants->limit, value);
        if (left_out)
            value = verlet_below(*left_out, zero, value);
        sums->largest_value = verlet_larger(sums->largest_value, (VMASK)simd_fabs(value));
        sums->value += (vbits)(verlet_part(value, 0) + constants->value_magic);
    }
    met->factor[met->count] = verlet_in_units(&constants->units, factor);
    met->cluster[met->count] = cluster;
    met->count += OF_REAL(lanes_below)(r2, constants->limit) != 0;
}

/* Adds the forces of the clusters met, to the particle's and, with the opposite sign, to theirs. */
SIMD_INLINE void verlet_add_met(const struct verlet_constants *constants,
                                const struct verlet_particles *particle, struct verlet_met *met,
                                unsigned long long *force, struct verlet_lane_sums *sums)
{
    for (int m = 0; m < met->count; m++) {
        const long long first = (long long)met->cluster[m] * 3 * cluster_slots;
        const VREAL factor = met->factor[m];
        SIMD_UNROLL
        for (int c = 0; c < 3; c++) {
            const long long place = first + c * cluster_slots;
            const VREAL d = verlet_load(constants->position + place) - particle->at[c];
            vbits there;
            memcpy(&there, force + place, sizeof there);
            SIMD_UNROLL
            for (int k = 0; k < segment_particles; k++) {
                const vbits bits = verlet_round(&constants->units, factor, d, k);
                there -= bits;
                sums->force[c][k] += bits;
            }
            memcpy(force + place, &there, sizeof there);
        }
    }
    met->count = 0;
}

/* The particles' own sums, to their slots, and to what is summed across their translation. */
SIMD_INLINE void verlet_store(const struct verlet_variant variant,
                              const struct verlet_lane_sums *sums,
                              const struct verlet_segment *segment, unsigned long long value_zeros,
                              unsigned long long *force, struct verlet_sums *all)
{
    const long long at = (long long)(segment->slot / cluster_slots) * 3 * cluster_slots +
                         segment->slot % cluster_slots;
    SIMD_UNROLL
    for (int c = 0; c < 3; c++) {
        SIMD_UNROLL
        for (int k = 0; k < segment_particles; k++) {
            if (k >= segment->particles)
                break;
            const unsigned long long sum = verlet_sum_lanes(sums->force[c][k]);
            force[at + k + c * cluster_slots] += sum;
            if (variant.has_value)
                verlet_add_wide(&all->across[segment->translation][c], sum);
        }
    }
    if (variant.has_value)
        verlet_add_wide(&all->energy, verlet_sum_lanes(sums->value) - value_zeros);
}

/* Less than 0 in the lanes of slots after each particle, of which this is the first one's, but for
 * those that are left out. */
SIMD_INLINE VREAL verlet_slots_after(int slot, unsigned left_out)
{
    VREAL number = simd_all((REAL)0);
    SIMD_UNROLL
    for (int k = 0; k < REAL_LANES; k++) {
        const int later = k % cluster_slots - k / cluster_slots;
        number[k] = (REAL)later;
    }
    VREAL after = simd_all((REAL)slot) - number;
    for (int k = 0; left_out != 0 && k < REAL_LANES; k++)
        after[k] = (left_out >> k & 1) ? (REAL)1 : after[k];
    return after;
}

/* The particles of a segment. A second one that is not there is far away. */
SIMD_INLINE struct verlet_particles verlet_take_particles(const enum law_kind kind,
                                                          const struct verlet_constants *constants,
                                                          const struct verlet_segment *segment,
                                                          const double translation[3])
{
    const long long slot = segment->slot;
    const int next = segment->particles - 1; /* the second, or the first again */
    const REAL *at =
        constants->position + slot / cluster_slots * 3 * cluster_slots + slot % cluster_slots;
    const REAL *weights = constants->weights, *charges = constants->charges;
    const VREAL one = simd_all((REAL)1);
    struct verlet_particles all = {.weight = one, .charge = one};
    SIMD_UNROLL
    for (int c = 0; c < 3; c++, at += cluster_slots)
        all.at[c] = verlet_both(at[0] - (REAL)translation[c], next > 0 || segment_particles == 1
                                                                  ? at[next] - (REAL)translation[c]
                                                                  : (REAL)-verlet_far_away);
    if (weights)
        all.weight = verlet_both(weights[slot], weights[slot + next]);
    if (kind == law_custom && constants->rows) {
        all.row = (VMASK)verlet_both(constants->rows[slot], constants->rows[slot + next]);
        if (charges)
            all.charge = verlet_both(charges[slot], charges[slot + next]);
    }
    return all;
}

/* The largest lane of magnitudes. */
SIMD_INLINE double verlet_largest(VMASK magnitudes)
{
    REAL magnitude;
    for (int k = 1; k < REAL_LANES; k++)
        magnitudes[0] = magnitudes[k] > magnitudes[0] ? magnitudes[k] : magnitudes[0];
    memcpy(&magnitude, &magnitudes, sizeof magnitude);
    return (double)magnitude;
}

SIMD_INLINE void verlet_sum(const enum law_kind kind, const struct verlet_variant variant,
                            const struct verlet_problem *problem,
                            const struct verlet_segment *segments, long long count,
                            const int *entries, unsigned long long *force, struct verlet_sums *all)
{
    const struct law_form form = {kind, kind == law_constant ? problem->weighting
                                                             : LAW_SUMS_WEIGHTING(kind)};
    const struct verlet_constants constants = {.law = NAME(law_load)(&problem->numbers),
                                               .position = problem->position,
                                               .weights = problem->weight,
                                               .charges = problem->charge,
                                               .rows = problem->row,
                                               .shift = problem->shift,
                                               .softening2 = simd_all((REAL)problem->softening2),
                                               .cutoff = simd_all((REAL)problem->cutoff),
                                               .limit = simd_all((REAL)problem->limit),
                                               .slope = simd_all((REAL)problem->slope_at_cutoff),
                                               .units = verlet_units_of(problem->magic),
                                               .value_magic = simd_all(problem->value_magic)};
    unsigned long long value_zero;
    memcpy(&value_zero, &problem->value_magic, sizeof value_zero);
    VMASK largest = {0}, largest_value = {0};
    struct verlet_met met;
    for (long long s = 0; s < count; s++) {
        const struct verlet_segment *segment = &segments[s];
        const struct verlet_particles particle = verlet_take_particles(
            kind, &constants, segment, problem->translations[segment->translation]);
        struct verlet_lane_sums sums = {0};
        met.count = 0;
        if (segment->is_own || segment->left_out) {
            const int own = segment->slot / cluster_slots;
            const int first = segment->is_own ? own : entries[segment->begin];
            const VREAL left_out = verlet_slots_after(
                segment->is_own ? segment->slot % cluster_slots : -segment_particles,
                segment->left_out);
            verlet_meet(form, variant, &constants, &particle, first, &left_out, &met, &sums);
        }
        int k = !segment->is_own && segment->left_out;
        do {
            const int room = k + met_room - 1; /* there may be one */
            const int end = segment->count < room ? segment->count : room;
            for (; k < end; k++)
                verlet_meet(form, variant, &constants, &particle, entries[segment->begin + k], NULL,
                            &met, &sums);
            verlet_add_met(&constants, &particle, &met, force, &sums);
        } while (k < segment->count);
        const unsigned long long values =
            ((unsigned long long)segment->count + (unsigned long long)segment->is_own) *
            (unsigned long long)REAL_LANES;
        verlet_store(variant, &sums, segment, value_zero * values, force, all);
        largest = verlet_larger(largest, sums.largest);
        if (variant.has_value)
            largest_value = verlet_larger(largest_value, sums.largest_value);
    }
    all->largest = verlet_larger_number(all->largest, verlet_largest(largest));
    all->largest_value = verlet_larger_number(all->largest_value, verlet_largest(largest_value));
}

#define DEFINE_VARIANT(name, kind, is_shifted, has_value)                                          \
    static __attribute__((noinline)) void name(                                                    \
        const struct verlet_problem *problem, const struct verlet_segment *segments,               \
        long long count, const int *entries, unsigned long long *force, struct verlet_sums *sums)  \
    {                                                                                              \
        const struct verlet_variant variant = {is_shifted, has_value};                             \
        verlet_sum(kind, variant, problem, segments, count, entries, force, sums);                 \
    }
/* Values are summed in double precision only. */
#define DEFINE_KERNEL(name, kind)                                                                  \
    DEFINE_VARIANT(name##_plain, kind, 0, 0)                                                       \
    DEFINE_VARIANT(name##_shifted, kind, 1, 0)                                                     \
    DEFINE_VARIANT(name##_plain_value, kind, 0, sizeof(REAL) == sizeof(double))                    \
    DEFINE_VARIANT(name##_shifted_value, kind, 1, sizeof(REAL) == sizeof(double))                  \
    static void name(const struct verlet_problem *problem, const struct verlet_segment *segments,  \
                     long long count, const int *entries, unsigned long long *force,               \
                     struct verlet_sums *sums)                                                     \
    {                                                                                              \
        if (sums->across && sizeof(REAL) == sizeof(double))                                        \
            (problem->shift == cutoff_shift_none ? name##_plain_value : name##_shifted_value)(     \
                problem, segments, count, entries, force, sums);                                   \
        else                                                                                       \
            (problem->shift == cutoff_shift_force ? name##_shifted : name##_plain)(                \
                problem, segments, count, entries, force, sums);                                   \
    }

#ifdef LAW_CUSTOM_BODY
__attribute__((visibility("default"))) verlet_kernel OF_REAL(verlet_custom);
DEFINE_KERNEL(any_custom, law_custom)
void OF_REAL(verlet_custom)(const struct verlet_problem *problem,
                            const struct verlet_segment *segments, long long count,
                            const int *entries, unsigned long long *force, struct verlet_sums *sums)
{
    any_custom(problem, segments, count, entries, force, sums);
}
#else
#define DEFINE(kind) DEFINE_KERNEL(verlet_##kind, law_##kind)
LAW_EACH_BUILT_IN(DEFINE)
#undef DEFINE

static long long verlet_find(const void *position, const double (*at)[3], double limit,
                             const int *clusters, long long count, int *found)
{
    const double *second = at[segment_particles - 1];
    const VREAL x = verlet_both((REAL)at[0][0], (REAL)second[0]);
    const VREAL y = verlet_both((REAL)at[0][1], (REAL)second[1]);
    const VREAL z = verlet_both((REAL)at[0][2], (REAL)second[2]);
    const VREAL most = simd_all((REAL)limit);
    long long number = 0;
    for (long long k = 0; k < count; k++) {
        const REAL *of = (const REAL *)position + (long long)clusters[k] * 3 * cluster_slots;
        const VREAL dx = verlet_load(of) - x, dy = verlet_load(of + cluster_slots) - y;
        const VREAL dz = verlet_load(of + 2 * cluster_slots) - z;
        found[number] = clusters[k];
        number += OF_REAL(lanes_below)(simd_fma(dx, dx, simd_fma(dy, dy, dz * dz)), most) != 0;
    }
    return number;
}
#endif
#undef DEFINE_VARIANT
#undef DEFINE_KERNEL
