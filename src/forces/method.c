#include "forces/method.h"

#include "device/context.h"

static const char *name_of(kith_forces_method method)
{
    return method == KITH_FORCES_SPLIT       ? "split"
           : method == KITH_FORCES_SYMMETRIC ? "symmetric"
           : method == KITH_FORCES_TILE_P    ? "tile-p"
           : method == KITH_FORCES_TENSOR    ? "tensor"
                                             : "tile-p2";
}

static kith_status check_range(const char *name, int32_t value, int32_t most)
{
    if (value < 0 || value > most)
        return kith_fail(KITH_INVALID_ARGUMENT, "%s is %d; give 1 to %d, or 0 for the usual one",
                         name, (int)value, (int)most);
    return KITH_OK;
}

kith_status forces_check_way(const struct forces_way *way, const kith_law *law)
{
    const bool has_unroll = way->method == KITH_FORCES_TILE_P;
    const bool has_block = has_unroll || way->method == KITH_FORCES_TILE_P2;
    if (law && (has_block || way->method == KITH_FORCES_TENSOR))
        return kith_fail(
            KITH_UNSUPPORTED,
            "method is %s, which supports only forces of gravity, but what is summed is the law "
            "%.60s; use auto",
            name_of(way->method), kith_law_text(law));
    if (way->block != 0 && !has_block)
        return kith_fail(
            KITH_INVALID_ARGUMENT,
            "block is %d, but only the methods tile-p and tile-p2 have one; leave it 0",
            (int)way->block);
    if (way->unroll != 0 && !has_unroll)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "unroll is %d, but only the method tile-p has one; leave it 0",
                         (int)way->unroll);
    KITH_TRY(check_range("block", way->block, has_unroll ? 1024 : 32));
    KITH_TRY(check_range("unroll", way->unroll, 32));
    if (way->unroll & (way->unroll - 1))
        return kith_fail(KITH_INVALID_ARGUMENT, "unroll is %d; give 1, 2, 4, 8, 16 or 32",
                         (int)way->unroll);
    return KITH_OK;
}

kith_status forces_check_derivative(const struct forces_way *way)
{
    if (way->method > KITH_FORCES_DIRECT)
        return kith_fail(KITH_UNSUPPORTED, "method is %s, which has no derivatives; use auto",
                         name_of(way->method));
    return KITH_OK;
}

static kith_status check_symmetric_law(const kith_law *law, bool on_cpu)
{
    struct law_view view;
    if (!law)
        return KITH_OK;
    law_look(law, &view);
    if (!on_cpu && !forces_ring_has_law(&view))
        return kith_fail(KITH_UNSUPPORTED,
                         "method is symmetric, which on a GPU does not support formulas or laws "
                         "without a force, but the law is '%.60s'; use split",
                         kith_law_text(law));
    if (!view.is_symmetric)
        return kith_fail(
            KITH_UNSUPPORTED,
            "method is symmetric, and the law is '%.60s', whose V(i, j) is not known to "
            "be V(j, i); use split",
            kith_law_text(law));
    return KITH_OK;
}

static kith_status check_symmetric(const struct forces_problem *problem, bool on_cpu)
{
    KITH_TRY(check_symmetric_law(problem->law, on_cpu));
    if (!problem->self)
        return kith_fail(KITH_UNSUPPORTED,
                         "method is symmetric, but the targets are not the sources; use split");
    if (problem->jerk[0] || problem->potential_rate)
        return kith_fail(KITH_UNSUPPORTED,
                         "method is symmetric, which does not compute the jerk; use split");
    if (problem->target_half_softening2 && !on_cpu)
        return kith_fail(KITH_UNSUPPORTED, "method is symmetric, which on a GPU supports only one "
                                           "softening for all bodies; use split");
    return KITH_OK;
}

static kith_status check_tiles(const struct forces_problem *problem)
{
    if (problem->jerk[0] || problem->target_half_softening2)
        return kith_fail(KITH_UNSUPPORTED, "method is %s, which has %s; use split",
                         name_of(problem->way.method),
                         problem->jerk[0] ? "no jerk" : "one softening for all bodies");
    return KITH_OK;
}

static kith_status check_tensor(const struct forces_problem *problem, bool on_cpu)
{
    if (on_cpu)
        return kith_fail(KITH_UNSUPPORTED,
                         "method is tensor, which only GPUs have; use auto, split or symmetric");
    if (problem->dtype != KITH_F32)
        return kith_fail(KITH_UNSUPPORTED,
                         "method is tensor, which computes in single precision, but the arrays are "
                         "double; use symmetric, or give single precision");
    if (!problem->self)
        return kith_fail(KITH_UNSUPPORTED,
                         "method is tensor, but the targets are not the sources; use split");
    if (problem->jerk[0])
        return kith_fail(KITH_UNSUPPORTED,
                         "method is tensor, which does not compute the jerk; use split");
    if (problem->target_half_softening2)
        return kith_fail(KITH_UNSUPPORTED,
                         "method is tensor, which has one softening for all bodies; use split");
    return KITH_OK;
}

kith_status forces_check_method(const struct forces_problem *problem, bool on_cpu)
{
    switch (problem->way.method) {
    case KITH_FORCES_TILE_P:
    case KITH_FORCES_TILE_P2:
        if (on_cpu)
            return kith_fail(KITH_UNSUPPORTED,
                             "method is %s, which only GPUs have; use auto, split or symmetric",
                             name_of(problem->way.method));
        return check_tiles(problem);
    case KITH_FORCES_SYMMETRIC:
        return check_symmetric(problem, on_cpu);
    case KITH_FORCES_TENSOR:
        return check_tensor(problem, on_cpu);
    default:
        return KITH_OK;
    }
}

int64_t forces_least_symmetric(const kith_context *context, kith_dtype dtype, int64_t in_float,
                               int64_t in_double)
{
    const kith_tuning *tuning = &context->tuning;
    const int64_t found = dtype == KITH_F64 ? tuning->forces_least_symmetric_double
                                            : tuning->forces_least_symmetric_single;
    return found > 0 ? found : dtype == KITH_F64 ? in_double : in_float;
}
