/* Whole steps of small systems under any law on a GPU, for one precision
 * (law/for_each_real_cuda.h).
 *
 * Some lanes of a warp have a system, and each of them the state of some of its bodies in
 * registers. Positions go through shared memory that belongs to the warp alone: no barrier of the
 * block. A target's sources are added in the order of their numbers. */

#include "law/law_parts_body.h"

/* What is read of every source, side by side so that one load fetches it. */
struct NAME(law_source) {
    alignas(4 * sizeof(REAL)) REAL x[3];
    REAL weight;
};

struct NAME(law_source_more) {
    REAL charge, half_softening2;
};

/* A body of a lane. After the last one of a system nothing has weight. */
struct NAME(law_body) {
    REAL x[3], v[3], a[3];
    REAL lost_x[3], lost_v[3]; /* what did not fit into x and v */
    REAL weight, charge, half_softening2;
    REAL scale; /* a is scale times the sum over sources */
};

/* The places of a system in shared memory. */
struct NAME(law_system) {
    struct NAME(law_source) * source;
    struct NAME(law_source_more) * more;
    int bodies;
    bool is_kept; /* not another lane's, done again */
};

LAW_INLINE REAL NAME(law_element)(const void *column, long long i, double otherwise)
{
    return column ? ((const REAL *)column)[i] : (REAL)otherwise;
}

/* What the sum over sources is multiplied by; a mass may be so small that this is out of range, in
 * either direction, or NaN where the weight is 0 as well: an empty sum stays 0. */
LAW_INLINE REAL NAME(law_scale)(const struct law_form form, REAL weight, REAL mass)
{
    const REAL most = sizeof(REAL) == sizeof(float) ? (REAL)0x1p127 : (REAL)0x1p1023;
    const bool is_outer = form.kind != law_custom && form.weighting == law_product;
    const REAL scale = (is_outer ? weight : (REAL)1) / mass;
    if (!(scale < most))
        return most;
    return scale > -most ? scale : -most;
}

LAW_INLINE void NAME(law_load_body)(const struct law_form form,
                                    const struct law_steps_problem *problem, bool is_body,
                                    long long at, struct NAME(law_body) * body)
{
    const struct law_sums_problem *sums = &problem->sums;
    *body = NAME(law_body){};
    if (!is_body)
        return;
    for (int c = 0; c < 3; c++) {
        body->x[c] = NAME(law_element)(problem->position[c], at, 0);
        body->v[c] = NAME(law_element)(problem->velocity[c], at, 0);
        body->lost_x[c] = NAME(law_element)(problem->lost_position[c], at, 0);
        body->lost_v[c] = NAME(law_element)(problem->lost_velocity[c], at, 0);
        if (problem->keeps_acceleration)
            body->a[c] = NAME(law_element)(sums->acceleration[c], at, 0);
    }
    body->weight = NAME(law_element)(sums->target_weight, at, 1);
    body->charge = NAME(law_element)(sums->target_charge, at, 1);
    body->half_softening2 =
        NAME(law_element)(sums->target_half_softening2, at, sums->softening2 / 2);
    body->scale = NAME(law_scale)(form, body->weight, NAME(law_element)(sums->target_mass, at, 1));
}

LAW_INLINE void NAME(law_store_body)(const struct law_steps_problem *problem, long long at,
                                     const struct NAME(law_body) * body)
{
    for (int c = 0; c < 3; c++) {
        if (!problem->position[c])
            continue;
        ((REAL *)problem->position[c])[at] = body->x[c];
        ((REAL *)problem->velocity[c])[at] = body->v[c];
        ((REAL *)problem->lost_position[c])[at] = body->lost_x[c];
        ((REAL *)problem->lost_velocity[c])[at] = body->lost_v[c];
        if (problem->keeps_acceleration)
            ((REAL *)problem->sums.acceleration[c])[at] = body->a[c];
    }
}

/* Adds source j to the sum of a target, number i. */
LAW_INLINE void NAME(law_add_source)(const struct law_form form,
                                     const struct NAME(law_constants) * law,
                                     const struct NAME(law_source) * source,
                                     const struct NAME(law_source_more) * more, bool is_self,
                                     const struct NAME(law_body) * target, REAL sum[3])
{
    struct NAME(law_pair) pair;
    pair.s2 = target->half_softening2 + more->half_softening2;
    for (int c = 0; c < 3; c++) {
        pair.d[c] = source->x[c] - target->x[c];
        pair.s2 = law_fma(pair.d[c], pair.d[c], pair.s2);
    }
    pair.w_j = source->weight;
    if (form.kind == law_custom) {
        REAL force[3];
        pair.w_i = target->weight;
        pair.q_i = target->charge;
        pair.q_j = more->charge;
        NAME(law_force)(form, law, &pair, force);
        for (int c = 0; c < 3; c++)
            sum[c] += is_self ? (REAL)0 : force[c];
        return;
    }
    /* Of i = j the factor may be out of range, where the softening is small; times 0 it would be
     * NaN. */
    pair.w_i = 1;
    const REAL of_pair = NAME(law_factor)(form, law, &pair);
    const REAL factor = is_self ? (REAL)0 : of_pair;
    for (int c = 0; c < 3; c++)
        sum[c] = law_fma(factor, pair.d[c], sum[c]);
}

/* The forces at the lanes' positions. */
LAW_INLINE void NAME(law_evaluate)(const struct law_form form,
                                   const struct NAME(law_constants) * law,
                                   const struct NAME(law_system) * system, int lane, int lanes,
                                   struct NAME(law_body) body[law_steps_targets])
{
    REAL sum[law_steps_targets][3] = {};
    __syncwarp();
    if (system->is_kept)
#pragma unroll
        for (int t = 0; t < law_steps_targets; t++)
#pragma unroll
            for (int c = 0; c < 3; c++)
                system->source[t * lanes + lane].x[c] = body[t].x[c];
    __syncwarp();
#pragma unroll 2
    for (int j = 0; j < system->bodies; j++) {
        const struct NAME(law_source) source = system->source[j];
        const struct NAME(law_source_more) more = system->more[j];
#pragma unroll
        for (int t = 0; t < law_steps_targets; t++)
            NAME(law_add_source)
        (form, law, &source, &more, t * lanes + lane == j, &body[t], sum[t]);
    }
#pragma unroll
    for (int t = 0; t < law_steps_targets; t++)
#pragma unroll
        for (int c = 0; c < 3; c++)
            body[t].a[c] = sum[t][c] * body[t].scale + (REAL)0; /* no −0 of an empty sum */
}

/* sum += change, which includes what was lost before; lost = what of that did not fit (Kahan 1965,
 * Commun. ACM 8, 40). */
LAW_INLINE void NAME(law_add_exactly)(REAL change, REAL *sum, REAL *lost)
{
    const REAL before = *sum;
    *sum = before + change;
    *lost = change - (*sum - before);
}

/* The stages first … end − 1: v += kick·a, then x += drift·v. A step's kicks are collected in what
 * was lost, and added to v at its end. */
LAW_INLINE void NAME(law_run_stages)(const struct NAME(composition_program) * program, int first,
                                     int end, struct NAME(law_body) body[law_steps_targets])
{
    for (int k = first; k < end; k++) {
        const REAL kick = program->kick[k], drift = program->drift[k];
#pragma unroll
        for (int t = 0; t < law_steps_targets; t++)
#pragma unroll
            for (int c = 0; c < 3; c++) {
                struct NAME(law_body) *b = &body[t];
                if (kick != 0)
                    b->lost_v[c] = law_fma(kick, b->a[c], b->lost_v[c]);
                if (drift != 0)
                    NAME(law_add_exactly)
                (law_fma(drift, b->v[c] + b->lost_v[c], b->lost_x[c]), &b->x[c], &b->lost_x[c]);
                if (k == program->stage_count - 1)
                    NAME(law_add_exactly)(b->lost_v[c], &b->v[c], &b->lost_v[c]);
            }
    }
}

LAW_INLINE void NAME(law_go_on)(const struct law_form form, const struct law_steps_problem *problem,
                                const struct NAME(composition_program) * program,
                                const struct NAME(law_system) * system, int lane,
                                struct NAME(law_body) body[law_steps_targets])
{
    const struct NAME(law_constants) law = NAME(law_load)(&problem->sums.numbers);
    NAME(law_run_stages)(program, 0, program->evaluation[0], body);
    for (long long step = 1; step <= problem->steps; step++)
        for (int e = 0; e < program->evaluation_count; e++) {
            NAME(law_evaluate)(form, &law, system, lane, problem->lanes, body);
            NAME(law_run_stages)
            (program, program->evaluation[e], COMPOSITION_END(program, e, step == problem->steps),
             body);
        }
}

/* Lanes that are left over in a warp do its last system once more, lanes after the last system
 * that one; neither is kept. */
LAW_INLINE void NAME(law_steps)(const struct law_form form, const struct law_steps_problem *problem,
                                const struct NAME(composition_program) * program)
{
    __shared__ struct NAME(law_source) source[law_steps_warps][law_steps_places];
    __shared__ struct NAME(law_source_more) more[law_steps_warps][law_steps_places];
    const struct law_sums_problem *sums = &problem->sums;
    const int warp = threadIdx.x / 32, of_warp = threadIdx.x % 32;
    const int lanes = problem->lanes, systems = 32 / lanes;
    const bool is_left_over = of_warp >= systems * lanes;
    const int group = is_left_over ? systems - 1 : of_warp / lanes, lane = of_warp % lanes;
    const long long s = ((long long)blockIdx.x * law_steps_warps + warp) * systems + group;
    const long long last = sums->system_count - 1;
    const int first = group * (lanes * law_steps_targets + 1);
    const struct NAME(law_system)
        system = {&source[warp][first], &more[warp][first], (int)sums->target_count, !is_left_over};
    struct NAME(law_body) body[law_steps_targets];
#pragma unroll
    for (int t = 0; t < law_steps_targets; t++) {
        const int i = t * lanes + lane;
        NAME(law_load_body)
        (form, problem, i < system.bodies, i * sums->system_stride + (s < last ? s : last),
         &body[t]);
        if (system.is_kept) {
            system.source[i].weight = body[t].weight;
            system.more[i] = {body[t].charge, body[t].half_softening2};
        }
    }
    NAME(law_go_on)(form, problem, program, &system, lane, body);
#pragma unroll
    for (int t = 0; t < law_steps_targets; t++) {
        const int i = t * lanes + lane;
        if (i < system.bodies && system.is_kept && s <= last)
            NAME(law_store_body)(problem, i * sums->system_stride + s, &body[t]);
    }
}

#ifdef LAW_CUSTOM_BODY
extern "C" __global__ void __launch_bounds__(law_steps_warps * 32)
    NAME(law_steps_custom)(const struct law_steps_problem problem,
                           const struct NAME(composition_program) program)
{
    NAME(law_steps)(law_form{law_custom, law_unweighted}, &problem, &program);
}
#else
/* The constant is the only kind that the table has with several weightings, and has no force. */
template <enum law_kind kind>
__global__ void __launch_bounds__(law_steps_warps * 32)
    NAME(law_steps_kernel)(const struct law_steps_problem problem,
                           const struct NAME(composition_program) program)
{
    NAME(law_steps)(law_form{kind, LAW_SUMS_WEIGHTING(kind)}, &problem, &program);
}
#endif
