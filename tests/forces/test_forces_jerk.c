/* The jerk, which integrators ask the backend for (forces/problem.h). */

#include "forces_system.h"

#include "core/memory.h"
#include "device/context.h"
#include "forces/backend.h"
#include "forces/forces_reference.h"
#include "forces/problem.h"

enum { columns = 15 }; /* x, v, m, ε²/2, a, φ, jerk */

/* A problem with all its columns in one block. */
struct moving {
    struct forces_problem problem;
    void *memory;
};

static kith_array column(const struct moving *moving, int64_t k)
{
    const kith_dtype dtype = moving->problem.dtype;
    const int64_t n = moving->problem.source_count;
    char *data = (char *)moving->memory + k * kith_padded(n) * kith_dtype_bytes(dtype);
    return kith_array_vector(data, dtype, n);
}

static struct moving moving_create(kith_dtype dtype, int64_t n, int32_t dimensions,
                                   double softening)
{
    struct moving made = {.problem = {.dtype = dtype,
                                      .dimensions = dimensions,
                                      .self = true,
                                      .target_count = n,
                                      .source_count = n,
                                      .gravitational_constant = 3,
                                      .softening2 = softening * softening}};
    assert_ok(
        kith_allocate(columns * kith_padded(n), kith_dtype_bytes(dtype), "test", &made.memory));
    struct forces_problem *problem = &made.problem;
    for (int32_t c = 0; c < dimensions; c++) {
        problem->target_position[c] = problem->source_position[c] = column(&made, c).data;
        problem->target_velocity[c] = problem->source_velocity[c] = column(&made, 3 + c).data;
        problem->acceleration[c] = column(&made, 8 + c).data;
        problem->jerk[c] = column(&made, 12 + c).data;
    }
    problem->source_mass = column(&made, 6).data;
    problem->potential = column(&made, 11).data;
    return made;
}

static void use_softening_of_bodies(struct moving *moving)
{
    moving->problem.softening2 = 0;
    moving->problem.target_half_softening2 = moving->problem.source_half_softening2 =
        column(moving, 7).data;
}

/* The same numbers in another precision; results are not copied. */
static struct moving moving_copy(const struct moving *from, kith_dtype dtype)
{
    const struct forces_problem *problem = &from->problem;
    struct moving made =
        moving_create(dtype, problem->source_count, problem->dimensions, sqrt(problem->softening2));
    made.problem.softening2 = problem->softening2;
    if (problem->source_half_softening2)
        use_softening_of_bodies(&made);
    for (int64_t k = 0; k < 8; k++)
        for (int64_t i = 0; i < problem->source_count; i++)
            put(column(&made, k), i, get(column(from, k), i));
    return made;
}

/* Numbers that a float holds too. */
static struct moving moving_random(struct random_numbers *random, int64_t n, int32_t dimensions,
                                   double softening)
{
    struct moving made = moving_create(KITH_F64, n, dimensions, softening);
    for (int64_t k = 0; k < 8; k++)
        for (int64_t i = 0; i < n; i++)
            put(column(&made, k), i, (float)random_uniform(random, k < 6 ? -1 : 0.01, 1));
    return made;
}

/* Compares a vector (or the potential) that takes the columns from first on. */
static void assert_same(const struct moving *moving, const struct moving *expected, int64_t first,
                        int64_t count)
{
    double difference2 = 0, norm2 = 0;
    for (int64_t k = first; k < first + count; k++)
        for (int64_t i = 0; i < moving->problem.source_count; i++) {
            const double value = get(column(expected, k), i);
            const double difference = get(column(moving, k), i) - value;
            difference2 += difference * difference;
            norm2 += value * value;
        }
    /* One close pair can make the whole norm, where nothing averages out: in units of the
       rounding error u, v/r³ is off by 9 u and 3 (r·v) r/r⁵ by up to 45 u, in all 54 u. */
    const double bound = moving->problem.dtype == KITH_F64 ? 1e-13 : 54 * 0x1p-24;
    assert_near(sqrt(difference2), 0, bound * sqrt(norm2));
}

static void compare(const struct moving *moving)
{
    kith_context *plain = new_context(NULL, 1);
    assert_ok(forces_reference(plain, &moving->problem));
    kith_context_free(plain);
    int64_t isa_count = 0;
    for (int64_t k = 0; kith_isa_list(&isa_count) && k < isa_count; k++) {
        if (!kith_isa_list(&isa_count)[k].supported)
            continue;
        kith_context *context = new_context(kith_isa_list(&isa_count)[k].name, 2);
        for (kith_dtype dtype = KITH_F64; dtype <= KITH_F32; dtype++) {
            struct moving fast = moving_copy(moving, dtype);
            assert_ok(forces_backend_of(context)->evaluate(context, &fast.problem));
            assert_same(&fast, moving, 8, 3);
            assert_same(&fast, moving, 11, 1);
            assert_same(&fast, moving, 12, 3);
            free(fast.memory);
        }
        kith_context_free(context);
    }
}

static void test_jerk_of_every_kernel_agrees_with_the_reference(void **state)
{
    struct random_numbers *random = *state;
    static const int64_t sizes[] = {1, 2, 6, 33, 64, 129, 500};
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++)
        for (int32_t dimensions = 2; dimensions <= 3; dimensions++) {
            struct moving soft = moving_random(random, sizes[k], dimensions, 0.1);
            compare(&soft);
            soft.problem.softening2 = 0;
            compare(&soft);
            use_softening_of_bodies(&soft);
            compare(&soft);
            free(soft.memory);
        }
}

static void test_jerk_leaves_coincident_pairs_out(void **state)
{
    struct random_numbers *random = *state;
    struct moving moving = moving_random(random, 100, 3, 0);
    for (int64_t k = 0; k < 3; k++)
        for (int64_t i = 0; i < 100; i++)
            put(column(&moving, k), i, floor(3 * get(column(&moving, k), i)));
    compare(&moving);
    free(moving.memory);
}

/* Moves all bodies by h times their velocities and computes. */
static struct moving drifted(const struct moving *moving, double h)
{
    struct moving made = moving_copy(moving, KITH_F64);
    for (int64_t k = 0; k < 3; k++)
        for (int64_t i = 0; i < made.problem.source_count; i++)
            put(column(&made, k), i, get(column(&made, k), i) + h * get(column(&made, 3 + k), i));
    kith_context *context = new_context(NULL, 1);
    assert_ok(forces_backend_of(context)->evaluate(context, &made.problem));
    kith_context_free(context);
    return made;
}

static void test_jerk_is_the_rate_of_change_of_the_acceleration(void **state)
{
    struct random_numbers *random = *state;
    const double h = 1e-5;
    struct moving now = moving_random(random, 40, 3, 0.3);
    struct moving at = drifted(&now, 0), before = drifted(&now, -h), after = drifted(&now, h);
    for (int64_t c = 0; c < 3; c++) {
        const kith_array slope = column(&now, 8 + c);
        for (int64_t i = 0; i < 40; i++)
            put(slope, i,
                (get(column(&after, 8 + c), i) - get(column(&before, 8 + c), i)) / (2 * h));
        assert_less(relative_difference(column(&at, 12 + c), slope), 1e-7);
    }
    free(now.memory);
    free(at.memory);
    free(before.memory);
    free(after.memory);
}

int main(void)
{
    struct random_numbers random = random_numbers_begin("forces_jerk");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_jerk_of_every_kernel_agrees_with_the_reference, &random),
        cmocka_unit_test_prestate(test_jerk_leaves_coincident_pairs_out, &random),
        cmocka_unit_test_prestate(test_jerk_is_the_rate_of_change_of_the_acceleration, &random),
    };
    return cmocka_run_group_tests_name("forces_jerk", tests, NULL, NULL);
}
