/* Sums of diagnostics for one instruction set, eight bodies at a time in as many vectors as hold
 * them. */

#include <string.h>

#include "core/simd.h"
#include "simulation/diagnostics_sums.h"

enum { vector_lanes = SIMD_BYTES / (int)sizeof(double), vectors = sum_lanes / vector_lanes };

/* Eight numbers. */
struct eight {
    vdouble part[vectors];
};

struct lanes {
    struct eight sum, lost;
};

/* The columns of eight bodies. */
struct bodies {
    const double *position[3], *velocity[3], *acceleration[3], *mass, *potential;
};

/* Adds a vector of terms to its lanes. The rounding errors are exact, as Neumaier's: Knuth 1997,
 * The Art of Computer Programming 2, §4.2.2, theorem B. */
SIMD_INLINE void add(struct lanes *lanes, vdouble term, const int32_t part)
{
    const vdouble sum = lanes->sum.part[part], total = sum + term, added = total - sum;
    lanes->lost.part[part] += (sum - (total - added)) + (term - added);
    lanes->sum.part[part] = total;
}

SIMD_INLINE vdouble part_of(const double *numbers, const int32_t part)
{
    vdouble vector;
    memcpy(&vector, numbers + part * vector_lanes, sizeof vector);
    return vector;
}

SIMD_INLINE void add_in_space(const struct bodies *bodies, const bool is_energy,
                              struct lanes sums[SUMS_OF_BODIES])
{
    SIMD_UNROLL
    for (int32_t h = 0; h < vectors; h++) {
        const vdouble mass = part_of(bodies->mass, h);
        vdouble x[3], v[3];
        add(&sums[MASS], mass, h);
        if (bodies->potential) {
            const vdouble potential = part_of(bodies->potential, h);
            add(&sums[TWICE_POTENTIAL], is_energy ? potential : mass * potential, h);
        }
        SIMD_UNROLL
        for (int32_t k = 0; k < 3; k++) {
            x[k] = part_of(bodies->position[k], h);
            v[k] = part_of(bodies->velocity[k], h);
        }
        SIMD_UNROLL
        for (int32_t k = 0; k < 3; k++) {
            const int32_t p = (k + 1) % 3, q = (k + 2) % 3;
            add(&sums[TWICE_KINETIC], mass * v[k] * v[k], h);
            add(&sums[MOMENT + k], mass * x[k], h);
            add(&sums[MOMENTUM + k], mass * v[k], h);
            add(&sums[ANGULAR_MOMENTUM + k], mass * x[p] * v[q], h);
            add(&sums[ANGULAR_MOMENTUM + k], -mass * x[q] * v[p], h);
        }
    }
}

SIMD_INLINE void add_in_frame(const struct bodies *bodies, const struct system_view *view,
                              struct lanes sums[SUMS_OF_BODIES])
{
    SIMD_UNROLL
    for (int32_t h = 0; h < vectors; h++) {
        const vdouble mass = part_of(bodies->mass, h);
        SIMD_UNROLL
        for (int32_t k = 0; k < 3; k++) {
            const vdouble x = part_of(bodies->position[k], h) - view->center[k];
            const vdouble v = part_of(bodies->velocity[k], h) - view->center_velocity[k];
            add(&sums[TWICE_KINETIC_IN_FRAME], mass * v * v, h);
            add(&sums[VIRIAL_IN_FRAME], mass * x * part_of(bodies->acceleration[k], h), h);
        }
    }
}

SIMD_INLINE void add_bodies(const struct bodies *bodies, const struct system_view *view,
                            const bool in_frame, struct lanes sums[SUMS_OF_BODIES])
{
    if (in_frame)
        add_in_frame(bodies, view, sums);
    else
        add_in_space(bodies, view->potential_is_energy, sums);
}

static struct bodies bodies_at(const struct system_view *view, int64_t i)
{
    struct bodies bodies = {.mass = view->mass + i,
                            .potential = view->potential ? view->potential + i : NULL};
    for (int32_t k = 0; k < 3; k++) {
        bodies.position[k] = view->position[k] + i;
        bodies.velocity[k] = view->velocity[k] + i;
        bodies.acceleration[k] = view->acceleration[k] + i;
    }
    return bodies;
}

/* Copies of a column of fewer than eight bodies, or of those of an ensemble, to their lanes. */
static const double *copy(const struct system_view *view, const double *column, int64_t begin,
                          int64_t count, int32_t lane, double copies[sum_lanes])
{
    for (int32_t l = 0; l < sum_lanes; l++)
        copies[l] = 0;
    for (int64_t k = 0; k < count; k++)
        copies[lane + k] = column[(begin + k) * view->step];
    return copies;
}

/* Bodies without mass, at the center and at rest, add nothing. */
static struct bodies copies_of(const struct system_view *view, int64_t begin, int64_t count,
                               int32_t lane, double copies[sum_columns][sum_lanes])
{
    struct bodies bodies = {.mass = copy(view, view->mass, begin, count, lane, copies[0])};
    if (view->potential)
        bodies.potential = copy(view, view->potential, begin, count, lane, copies[1]);
    for (int32_t k = 0; k < 3; k++) {
        bodies.position[k] = copy(view, view->position[k], begin, count, lane, copies[2 + k]);
        bodies.velocity[k] = copy(view, view->velocity[k], begin, count, lane, copies[5 + k]);
        bodies.acceleration[k] =
            copy(view, view->acceleration[k], begin, count, lane, copies[8 + k]);
    }
    return bodies;
}

SIMD_INLINE void sum_bodies(const struct system_view *view, const bool in_frame, int64_t begin,
                            int64_t end, struct lane_sums *to)
{
    const int32_t first = in_frame ? SUMS_IN_SPACE : 0;
    const int32_t past = in_frame ? SUMS_OF_BODIES : SUMS_IN_SPACE;
    struct lanes sums[SUMS_OF_BODIES];
    for (int32_t k = first; k < past; k++) {
        memcpy(&sums[k].sum, to->sum[k], sizeof sums[k].sum);
        memcpy(&sums[k].lost, to->lost[k], sizeof sums[k].lost);
    }
    for (int64_t i = begin; i < end;) {
        const int32_t lane = (int32_t)((view->first + i) % sum_lanes);
        for (; view->step == 1 && lane == 0 && end - i >= sum_lanes; i += sum_lanes) {
            const struct bodies bodies = bodies_at(view, i);
            add_bodies(&bodies, view, in_frame, sums);
        }
        const int64_t here = end - i < sum_lanes - lane ? end - i : sum_lanes - lane;
        if (here > 0) {
            double copies[sum_columns][sum_lanes];
            const struct bodies bodies = copies_of(view, i, here, lane, copies);
            add_bodies(&bodies, view, in_frame, sums);
            i += here;
        }
    }
    for (int32_t k = first; k < past; k++) {
        memcpy(to->sum[k], &sums[k].sum, sizeof sums[k].sum);
        memcpy(to->lost[k], &sums[k].lost, sizeof sums[k].lost);
    }
}

static void sum_in_space(const struct system_view *view, int64_t begin, int64_t end,
                         struct lane_sums *sums)
{
    sum_bodies(view, false, begin, end, sums);
}

static void sum_in_frame(const struct system_view *view, int64_t begin, int64_t end,
                         struct lane_sums *sums)
{
    sum_bodies(view, true, begin, end, sums);
}

const struct sum_kernels KITH_ISA_SYMBOL(diagnostics_sums) = {
    {sum_in_space, 0, SUMS_IN_SPACE}, {sum_in_frame, SUMS_IN_SPACE, SUMS_OF_BODIES}};
