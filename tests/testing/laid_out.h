#ifndef TESTS_LAID_OUT_H
#define TESTS_LAID_OUT_H

/* Problems for a backend with all their arrays in one block of memory: one system, or an ensemble
 * (forces/problem.h has the layout). */

#include "forces_system.h"

#include "core/memory.h"
#include "device/context.h"
#include "device/services.h"
#include "forces/backend.h"
#include "forces/forces_reference.h"
#include "forces/problem.h"

/* The columns, components one after the other. */
enum {
    X = 0,
    V = 3,
    MASS = 6,
    HALF_SOFTENING2,
    CHARGE,
    A,
    PHI = A + 3,
    JERK_OF,
    COLUMNS = JERK_OF + 3
};

struct laid_out {
    struct forces_problem problem; /* asks for everything */
    void *memory;
};

/* Where body i of system s is in a column; s is 0 where there is one system. */
static inline int64_t laid_out_at(const struct forces_problem *problem, int64_t i, int64_t s)
{
    return problem->system_count > 0 ? i * problem->system_stride + s : i;
}

static inline int64_t laid_out_column_count(const struct forces_problem *problem)
{
    return problem->system_count > 0 ? problem->target_count * problem->system_stride
                                     : kith_padded(problem->target_count);
}

static inline kith_array laid_out_column(const struct laid_out *from, int64_t k)
{
    const int64_t count = laid_out_column_count(&from->problem);
    const kith_dtype dtype = from->problem.dtype;
    return kith_array_vector((char *)from->memory + k * count * kith_dtype_bytes(dtype), dtype,
                             count);
}

static inline double laid_out_get(const struct laid_out *from, int64_t k, int64_t i, int64_t s)
{
    const kith_array column = laid_out_column(from, k);
    if (!column.data)
        abort(); /* what clang-tidy cannot know */
    return get(column, laid_out_at(&from->problem, i, s));
}

static inline void laid_out_put(struct laid_out *to, int64_t k, int64_t i, int64_t s, double value)
{
    put(laid_out_column(to, k), laid_out_at(&to->problem, i, s), value);
}

/* All zero; systems 0 for one system. */
static inline struct laid_out laid_out_create(kith_dtype dtype, int64_t n, int64_t systems,
                                              int32_t dimensions)
{
    struct laid_out made = {.problem = {.dtype = dtype,
                                        .dimensions = dimensions,
                                        .self = true,
                                        .target_count = n,
                                        .source_count = n,
                                        .system_count = systems,
                                        .system_stride = systems > 0 ? kith_padded(systems) : 0,
                                        .gravitational_constant = 3}};
    struct forces_problem *problem = &made.problem;
    assert_ok(kith_allocate(COLUMNS * laid_out_column_count(problem) + 1, kith_dtype_bytes(dtype),
                            "test", &made.memory));
    for (int32_t c = 0; c < dimensions; c++) {
        problem->target_position[c] = problem->source_position[c] =
            laid_out_column(&made, X + c).data;
        problem->target_velocity[c] = problem->source_velocity[c] =
            laid_out_column(&made, V + c).data;
        problem->acceleration[c] = laid_out_column(&made, A + c).data;
        problem->jerk[c] = laid_out_column(&made, JERK_OF + c).data;
    }
    problem->source_mass = laid_out_column(&made, MASS).data;
    problem->potential = laid_out_column(&made, PHI).data;
    return made;
}

static inline void laid_out_free(struct laid_out *made)
{
    free(made->memory);
}

/* ε_i²/2 of bodies, which are in their column, instead of one ε². */
static inline void laid_out_soften_by_bodies(struct laid_out *made)
{
    made->problem.softening2 = 0;
    made->problem.target_half_softening2 = made->problem.source_half_softening2 =
        laid_out_column(made, HALF_SOFTENING2).data;
}

/* Another law than gravity; NULL: gravity as it was. */
static inline void laid_out_obey(struct laid_out *made, const kith_law *law)
{
    struct forces_problem *problem = &made->problem;
    problem->law = law;
    problem->target_mass = law ? problem->source_mass : NULL;
    problem->target_charge = problem->source_charge =
        law ? laid_out_column(made, CHARGE).data : NULL;
    problem->gravitational_constant = law ? 1 : problem->gravitational_constant;
}

static inline int64_t laid_out_systems(const struct laid_out *made)
{
    return made->problem.system_count > 0 ? made->problem.system_count : 1;
}

/* A coordinate in [−1, 1] of a body somewhere in a cell of its own (i < 81), so that no two come
 * close: close pairs blow rounding up. */
static inline double laid_out_coordinate(struct random_numbers *random, int32_t dimensions,
                                         int64_t i, int64_t c)
{
    const int64_t side = dimensions == 2 ? 9 : 5, cells = dimensions == 2 ? 81 : 125;
    const int64_t cell = i * 37 % cells;
    const int64_t place = c == 0 ? cell % side : c == 1 ? cell / side % side : cell / (side * side);
    return 2 * ((double)place + random_uniform(random, 0.2, 0.8)) / (double)side - 1;
}

/* Numbers that a float holds too: positions as above, velocities and charges in [−1, 1], masses
 * and ε_i²/2 in [0.01, 1]. */
static inline void laid_out_fill(struct laid_out *made, struct random_numbers *random)
{
    const int32_t dimensions = made->problem.dimensions;
    for (int64_t i = 0; i < made->problem.target_count; i++)
        for (int64_t s = 0; s < laid_out_systems(made); s++) {
            for (int64_t c = 0; c < dimensions; c++) {
                laid_out_put(made, X + c, i, s,
                             (float)laid_out_coordinate(random, dimensions, i, c));
                laid_out_put(made, V + c, i, s, (float)random_uniform(random, -1, 1));
            }
            laid_out_put(made, MASS, i, s, (float)random_uniform(random, 0.01, 1));
            laid_out_put(made, HALF_SOFTENING2, i, s, (float)random_uniform(random, 0.01, 1));
            laid_out_put(made, CHARGE, i, s, (float)random_uniform(random, -1, 1));
        }
}

/* System s of another, first of so many alike (0: alone), in a precision of its own. All columns
 * are copied. */
static inline struct laid_out laid_out_copy(const struct laid_out *from, int64_t s,
                                            kith_dtype dtype, int64_t systems)
{
    const struct forces_problem *problem = &from->problem;
    struct laid_out made =
        laid_out_create(dtype, problem->target_count, systems, problem->dimensions);
    made.problem.softening2 = problem->softening2;
    made.problem.gravitational_constant = problem->gravitational_constant;
    if (problem->source_half_softening2)
        laid_out_soften_by_bodies(&made);
    laid_out_obey(&made, problem->law);
    for (int64_t k = 0; k < COLUMNS; k++)
        for (int64_t i = 0; i < problem->target_count; i++)
            for (int64_t to = 0; to < laid_out_systems(&made); to++)
                laid_out_put(&made, k, i, to, laid_out_get(from, k, i, s));
    return made;
}

/* The same, with memory of its own. */
static inline struct laid_out laid_out_clone(const struct laid_out *from)
{
    const struct forces_problem *problem = &from->problem;
    struct laid_out made = laid_out_create(problem->dtype, problem->target_count,
                                           problem->system_count, problem->dimensions);
    made.problem.softening2 = problem->softening2;
    made.problem.gravitational_constant = problem->gravitational_constant;
    if (problem->source_half_softening2)
        laid_out_soften_by_bodies(&made);
    laid_out_obey(&made, problem->law);
    if (from->memory)
        memcpy(
            made.memory, from->memory,
            (size_t)(COLUMNS * laid_out_column_count(problem) * kith_dtype_bytes(problem->dtype)));
    return made;
}

/* ‖system s of a − the system b‖ / ‖b‖ over the columns from first on; 0 if all are 0. */
static inline double laid_out_difference(const struct laid_out *a, int64_t s,
                                         const struct laid_out *b, int64_t first, int64_t columns)
{
    double difference2 = 0, norm2 = 0;
    for (int64_t k = first; k < first + columns; k++)
        for (int64_t i = 0; i < b->problem.target_count; i++) {
            const double expected = laid_out_get(b, k, i, 0);
            const double difference = laid_out_get(a, k, i, s) - expected;
            difference2 += difference * difference;
            norm2 += expected * expected;
        }
    return difference2 == 0 ? 0 : sqrt(difference2 / norm2);
}

/* ‖column‖ of all rows of system 0. */
static inline double laid_out_norm(const struct laid_out *made, int64_t first, int64_t columns)
{
    double norm2 = 0;
    for (int64_t k = first; k < first + columns; k++)
        for (int64_t i = 0; i < made->problem.target_count; i++) {
            const double value = laid_out_get(made, k, i, 0);
            norm2 += value * value;
        }
    return sqrt(norm2);
}

/* Where a pointer into the memory of a problem leads in a copy of it. */
static inline void *moved_to(const struct laid_out *made, void *copy, const void *pointer)
{
    return pointer ? (char *)copy + ((const char *)pointer - (const char *)made->memory) : NULL;
}

static inline struct forces_problem moved_problem(const struct laid_out *made, void *copy)
{
    struct forces_problem moved = made->problem;
    for (int c = 0; c < 3; c++) {
        moved.target_position[c] = moved.source_position[c] =
            moved_to(made, copy, moved.target_position[c]);
        moved.target_velocity[c] = moved.source_velocity[c] =
            moved_to(made, copy, moved.target_velocity[c]);
        moved.acceleration[c] = moved_to(made, copy, moved.acceleration[c]);
        moved.jerk[c] = moved_to(made, copy, moved.jerk[c]);
    }
    moved.source_mass = moved_to(made, copy, moved.source_mass);
    moved.target_mass = moved_to(made, copy, moved.target_mass);
    moved.target_charge = moved.source_charge = moved_to(made, copy, moved.target_charge);
    moved.target_half_softening2 = moved.source_half_softening2 =
        moved_to(made, copy, moved.target_half_softening2);
    moved.potential = moved_to(made, copy, moved.potential);
    return moved;
}

/* By the context's backend, in a copy in its memory. */
static inline void laid_out_compute(kith_context *context, struct laid_out *made)
{
    const struct device_services *services = context->services;
    const int64_t bytes =
        COLUMNS * laid_out_column_count(&made->problem) * kith_dtype_bytes(made->problem.dtype);
    void *copy = NULL;
    assert_ok(services->allocate(context, bytes, 1, "test", &copy));
    assert_ok(services->copy_in(context, copy, made->memory, bytes));
    const struct forces_problem moved = moved_problem(made, copy);
    assert_ok(forces_backend_of(context)->evaluate(context, &moved));
    assert_ok(services->copy_out(context, made->memory, copy, bytes));
    services->release(context, copy);
}

/* Solves it by the reference. */
static inline void laid_out_solve(struct laid_out *made)
{
    kith_context *context = new_context(NULL, 1);
    assert_ok(forces_reference(context, &made->problem));
    kith_context_free(context);
}

#endif
