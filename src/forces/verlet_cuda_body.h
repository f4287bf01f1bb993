/* Steps of particles by a Verlet list on a GPU, for one precision (law/for_each_real_cuda.h). */

/* What the force factor of a law at the cutoff takes away; weights 1 have it once and for all. */
LAW_INLINE REAL NAME(verlet_shift)(const struct law_form form, const struct verlet_cuda_step *step,
                                   const struct NAME(law_constants) * law,
                                   const struct NAME(law_pair) * pair, REAL r2)
{
    REAL slope = (REAL)step->slope_at_cutoff;
    if (form.kind == law_custom) {
        struct NAME(law_pair) last = *pair;
        last.s2 = (REAL)step->softening2 + (REAL)step->cutoff * (REAL)step->cutoff;
        slope = NAME(law_factor)(form, law, &last) * (REAL)step->cutoff;
    } else if (form.weighting == law_product) {
        slope = slope * pair->w_i * pair->w_j;
    }
    return r2 > (REAL)0 && pair->s2 != (REAL)0 ? slope * law_rsqrt(r2) : (REAL)0;
}

LAW_INLINE REAL NAME(verlet_element)(const void *column, long long k)
{
    return column ? ((const REAL *)column)[k] : (REAL)1;
}

/* What the compiler knows of a step: each combination is a loop of its own. */
struct NAME(verlet_form) {
    struct law_form law;
    bool is_orthogonal, is_shifted;
};

/* The force on i of a pair, in units, is added to sum; *fits becomes false if it is too large. */
LAW_INLINE void NAME(verlet_add_pair)(const struct NAME(verlet_form) form,
                                      const struct verlet_cuda_step *step,
                                      const struct NAME(law_constants) * law,
                                      const struct NAME(verlet_place) & own,
                                      const struct NAME(verlet_place) & other, long long slot,
                                      int partner, long long sum[3], bool *fits)
{
    struct NAME(law_pair) pair;
    verlet_separate<REAL>(step->edge, form.is_orthogonal, own, other, pair.d);
    const REAL r2 =
        law_fma(pair.d[2], pair.d[2], law_fma(pair.d[1], pair.d[1], pair.d[0] * pair.d[0]));
    pair.s2 = r2 + (REAL)step->softening2;
    pair.w_i = own.w;
    pair.w_j = other.w;
    if (form.law.kind == law_custom) {
        pair.w_i = NAME(verlet_element)(step->slot_weight, slot);
        pair.w_j = NAME(verlet_element)(step->slot_weight, partner);
        pair.q_i = NAME(verlet_element)(step->slot_charge, slot);
        pair.q_j = NAME(verlet_element)(step->slot_charge, partner);
    }
    REAL factor = NAME(law_factor)(form.law, law, &pair);
    if (form.is_shifted)
        factor -= NAME(verlet_shift)(form.law, step, law, &pair, r2);
    const REAL units = r2 < (REAL)step->limit ? factor * (REAL)step->units_of_force : (REAL)0;
    *fits &= fabs(units) <= (REAL)step->largest_factor;
#pragma unroll
    for (int c = 0; c < 3; c++)
        sum[c] += NAME(verlet_round)(units * pair.d[c]);
}

/* The forces on a slot, in units, by the threads that share it. */
LAW_INLINE void NAME(verlet_sum_row)(const struct NAME(verlet_form) form,
                                     const struct verlet_cuda_step *step, long long slot, int lane,
                                     long long sum[3], bool *fits)
{
    const struct NAME(law_constants) law = NAME(law_load)(&step->numbers);
    const struct NAME(verlet_place) *from = (const struct NAME(verlet_place) *)step->from;
    const struct NAME(verlet_place) own = from[slot];
    const int4 *row =
        (const int4 *)(step->list.partner + (slot - step->list.first) * step->list.room);
    const int vectors = (step->list.length[slot] + verlet_cuda_row_unit - 1) /
                        verlet_cuda_row_unit * verlet_cuda_lanes;
    for (int k = lane; k < vectors; k += verlet_cuda_lanes) {
        const int4 four = verlet_read_partners(row + k);
        const int partner[verlet_cuda_vector] = {four.x, four.y, four.z, four.w};
        struct NAME(verlet_place) other[verlet_cuda_vector];
#pragma unroll
        for (int p = 0; p < verlet_cuda_vector; p++)
            other[p] = from[partner[p]];
#pragma unroll
        for (int p = 0; p < verlet_cuda_vector; p++)
            NAME(verlet_add_pair)(form, step, &law, own, other[p], slot, partner[p], sum, fits);
    }
#pragma unroll
    for (int c = 0; c < 3; c++)
#pragma unroll
        for (int half = verlet_cuda_lanes / 2; half > 0; half /= 2)
            sum[c] += __shfl_xor_sync(0xffffffffU, sum[c], half, verlet_cuda_lanes);
}

/* sum += factor·change + lost, and lost what of that did not fit. */
LAW_INLINE void NAME(verlet_add)(double factor, REAL change, REAL *sum, REAL *lost)
{
    const REAL added = law_fma((REAL)factor, change, *lost), after = *sum + added;
    *lost = added - (after - *sum);
    *sum = after;
}

/* A drift; if it is noisy half of it, friction and noise, and the other half. */
LAW_INLINE void NAME(verlet_drift)(const struct verlet_cuda_step *step, bool noisy, double noise,
                                   REAL *velocity, REAL *at, REAL *lost)
{
    const double time = noisy ? step->drift / 2 : step->drift;
    NAME(verlet_add)(time, *velocity, at, lost);
    if (!noisy)
        return;
    *velocity = (REAL)fma(step->keep, (double)*velocity, noise);
    NAME(verlet_add)(time, *velocity, at, lost);
}

/* Where columns have a slot. */
LAW_INLINE long long NAME(verlet_in_column)(const struct verlet_cuda_step *step, long long slot)
{
    return step->is_by_slot ? slot - step->list.first : (long long)step->state.order[slot];
}

/* The acceleration by the sums, or before the first step that which was kept. */
LAW_INLINE REAL NAME(verlet_acceleration)(const struct verlet_cuda_step *step, long long sum,
                                          double mass, int c, long long slot)
{
    REAL *column = (REAL *)step->acceleration[c];
    if (!step->sums)
        return step->kicks ? column[NAME(verlet_in_column)(step, slot)] : (REAL)0;
    const REAL a = (REAL)((double)sum * step->unit / mass);
    if (!step->places)
        column[NAME(verlet_in_column)(step, slot)] = a;
    return a;
}

/* To this device and, if they are there, the others, which have no number yet or this one: kernels
 * after that do nothing. */
LAW_INLINE void NAME(verlet_report)(const struct verlet_cuda_step *step, bool has_moved,
                                    bool has_failed)
{
    struct verlet_cuda_control *own = &step->list.control[step->list.device];
    if (has_moved)
        atomicMin(&own->moved_in, step->number);
    if (has_failed)
        atomicMin(&own->failed_in, step->number);
    for (int k = 0; k < verlet_cuda_most_direct - 1 && step->control_there[k]; k++) {
        if (has_moved)
            *(volatile int *)&step->control_there[k]->moved_in = step->number;
        if (has_failed)
            *(volatile int *)&step->control_there[k]->failed_in = step->number;
    }
}

/* The place of a position, and whether the list still has all pairs. */
LAW_INLINE void NAME(verlet_put_place)(const struct verlet_cuda_step *step, long long slot,
                                       const REAL position[3])
{
    const struct NAME(verlet_place) then =
        ((const struct NAME(verlet_place) *)step->list.reference)[slot];
    const double x[3] = {(double)position[0], (double)position[1], (double)position[2]};
    struct NAME(verlet_place) place;
    const double farthest =
        verlet_find_place<REAL>(step->lattice, step->dimensions, step->open, x, &place);
    place.w = then.w;
    ((struct NAME(verlet_place) *)step->to)[slot] = place;
    const long long from_first = slot - step->list.first,
                    from_last = slot - (step->list.end - step->for_above);
    if (from_first < step->for_below)
        ((struct NAME(verlet_place) *)step->to_below)[from_first] = place;
    if (from_last >= 0)
        ((struct NAME(verlet_place) *)step->to_above)[from_last] = place;
    REAL d[3];
    verlet_separate<REAL>(step->edge, step->is_orthogonal, then, place, d);
    const REAL moved2 = law_fma(d[2], d[2], law_fma(d[1], d[1], d[0] * d[0]));
    struct verlet_cuda_control *control = &step->list.control[step->list.device];
    if (moved2 > (REAL)step->most_moved2 || farthest > verlet_frame_reach)
        NAME(verlet_report)(step, true, false);
    if (step->is_long_frame && farthest > verlet_frame_reach / 2 && control->far_in < step->number)
        atomicMax(&control->far_in, step->number);
    if (!isfinite(x[0] + x[1] + x[2]))
        NAME(verlet_report)(step, false, true);
}

/* What the first of the threads does with the sums. */
LAW_INLINE void NAME(verlet_finish)(const struct verlet_cuda_step *step, bool noisy, long long slot,
                                    const long long sum[3])
{
    struct NAME(verlet_vector) own[verlet_vectors];
#pragma unroll
    for (int k = 0; k < verlet_vectors; k++)
        own[k] = ((const struct NAME(verlet_vector) *)step->state.vector[k])[slot];
    struct NAME(verlet_vector) &at = own[verlet_position], &v = own[verlet_velocity];
    struct NAME(verlet_vector) &lost_at = own[verlet_lost_position];
    struct NAME(verlet_vector) &lost_v = own[verlet_lost_velocity];
    const double mass = (double)at.w;
    double normal[4] = {0, 0, 0, 0};
#ifndef LAW_CUSTOM_BODY
    if (noisy && step->moves) {
        const uint64_t key[2] = {step->noise_key[0], step->noise_key[1]};
        philox_normals(key, step->state.order[slot], step->noise_step, normal);
    }
#endif
#pragma unroll
    for (int c = 0; c < 3; c++) {
        if (c >= step->dimensions)
            break;
        const REAL a = NAME(verlet_acceleration)(step, sum[c], mass, c, slot);
        if (!step->kicks)
            continue;
        if (step->sums)
            NAME(verlet_add)(step->kick, a, &v.x[c], &lost_v.x[c]);
        if (step->moves)
            NAME(verlet_add)(step->kick, a, &v.x[c], &lost_v.x[c]);
        const double noise = noisy ? step->noise_kick / sqrt(mass) * normal[c] : 0;
        if (step->moves)
            NAME(verlet_drift)(step, noisy, noise, &v.x[c], &at.x[c], &lost_at.x[c]);
#pragma unroll
        for (int k = 0; k < verlet_vectors; k++)
            if (!step->moves)
                ((REAL *)step->column[k][c])[NAME(verlet_in_column)(step, slot)] = own[k].x[c];
    }
#pragma unroll
    for (int k = 0; k < verlet_vectors; k++)
        if (step->moves)
            ((struct NAME(verlet_vector) *)step->state.vector[k])[slot] = own[k];
    if (step->places)
        NAME(verlet_put_place)(step, slot, at.x);
}

LAW_INLINE void NAME(verlet_take_step)(const struct law_form form, bool noisy,
                                       const struct verlet_cuda_step *step)
{
    for (int device = 0; device < step->list.devices; device++) {
        const struct verlet_cuda_control *control = &step->list.control[device];
        if (control->moved_in < step->number || control->failed_in < step->number ||
            control->longest > step->list.room)
            return;
        if (step->is_long_frame && control->far_in < step->number - 1)
            return; /* and so do those that follow */
    }
    const int lane = (int)threadIdx.x % verlet_cuda_lanes;
    const long long own =
        step->list.first +
        ((long long)blockIdx.x * verlet_cuda_block + threadIdx.x) / verlet_cuda_lanes;
    const long long last = step->list.end - 1, slot = own < last ? own : last;
    long long sum[3] = {0, 0, 0};
    bool fits = true;
    if (!step->sums)
        fits = true;
    else if (step->is_orthogonal && step->is_shifted)
        NAME(verlet_sum_row)({form, true, true}, step, slot, lane, sum, &fits);
    else if (step->is_orthogonal)
        NAME(verlet_sum_row)({form, true, false}, step, slot, lane, sum, &fits);
    else if (step->is_shifted)
        NAME(verlet_sum_row)({form, false, true}, step, slot, lane, sum, &fits);
    else
        NAME(verlet_sum_row)({form, false, false}, step, slot, lane, sum, &fits);
    if (!fits)
        NAME(verlet_report)(step, false, true);
    if (lane == 0 && own <= last)
        NAME(verlet_finish)(step, noisy, slot, sum);
}

#ifdef LAW_CUSTOM_BODY
extern "C" __global__ void __launch_bounds__(verlet_cuda_block)
    NAME(verlet_custom)(const struct verlet_cuda_step step)
{
    NAME(verlet_take_step)({law_custom, law_unweighted}, false, &step);
}
#else
template <enum law_kind kind, bool noisy>
__global__ void __launch_bounds__(verlet_cuda_block,
                                  verlet_cuda_blocks(sizeof(REAL) == sizeof(float) ? 9 : 7))
    NAME(verlet_kernel)(const struct verlet_cuda_step step)
{
    wait_for_kernel_before();
    if (kind == law_constant && step.weighting == law_product)
        NAME(verlet_take_step)({kind, law_product}, noisy, &step);
    else
        NAME(verlet_take_step)({kind, LAW_SUMS_WEIGHTING(kind)}, noisy, &step);
}
#endif
