/* Jobs of several ranks, as threads of this process: the results have the bits of one rank. */

#include "ranks_of_threads.h"

#include <math.h>

#include "forces_system.h"
#include "ranks/bodies.h"
#include "simulating.h"

/* Forces on the bodies of a system, by one rank. */
struct forces_rank {
    const struct system *system;
    kith_forces_options options;
    double *result; /* n × (D + 1), D accelerations and a potential */
    kith_status status;
    bool cancels; /* this rank is asked to stop before it begins */
    char message[200];
};

static kith_status compute_forces(void *argument, kith_context *context)
{
    struct forces_rank *rank = argument;
    const struct system *s = rank->system;
    kith_array a = kith_array_matrix(rank->result, s->dtype, s->n, s->dimensions);
    kith_array phi = kith_array_vector(
        (char *)rank->result + s->dimensions * kith_dtype_bytes(s->dtype), s->dtype, s->n);
    a.strides[0] = phi.strides[0] = s->dimensions + 1;
    if (rank->cancels)
        kith_context_cancel(context);
    rank->status = kith_forces_compute(context, &rank->options, NULL, PARTICLES_OF(s), a, phi);
    if (rank->status != KITH_OK)
        snprintf(rank->message, sizeof rank->message, "%s", kith_error_message());
    return rank->status;
}

static size_t bytes_of(const struct system *s)
{
    return (size_t)(s->n * (s->dimensions + 1) * kith_dtype_bytes(s->dtype));
}

/* Each rank has its own results, which begin as NaN. */
static void compute_on_ranks(int32_t size, const struct forces_rank *like,
                             struct forces_rank ranks[most_ranks])
{
    for (int32_t k = 0; k < size; k++) {
        ranks[k] = *like;
        ranks[k].result = malloc(bytes_of(like->system) + 1);
        memset(ranks[k].result, 0xff, bytes_of(like->system));
    }
    do_ranks(size, compute_forces, ranks, sizeof ranks[0]);
}

static void free_results(int32_t size, struct forces_rank *ranks)
{
    for (int32_t k = 0; k < size; k++)
        free(ranks[k].result);
}

static struct system random_system(struct random_numbers *numbers, kith_dtype dtype, int64_t n,
                                   int64_t dimensions)
{
    struct system s = system_create(dtype, n, dimensions);
    for (int64_t k = 0; k < n * dimensions; k++)
        put(s.x, k, random_uniform(numbers, -1, 1));
    for (int64_t k = 0; k < n; k++) {
        put(s.m, k, random_uniform(numbers, 0.5, 1));
        put(s.softening, k, random_uniform(numbers, 0.01, 0.02));
    }
    return s;
}

static void check_same_bits(const struct forces_rank *like, int32_t size)
{
    struct forces_rank alone = *like, ranks[most_ranks];
    kith_context *context = cpu_context(1);
    alone.result = calloc(1, bytes_of(like->system) + 1);
    compute_forces(&alone, context);
    if (alone.status != KITH_OK)
        fail_msg("%s", alone.message);
    kith_context_free(context);
    compute_on_ranks(size, like, ranks);
    for (int32_t k = 0; k < size; k++) {
        if (ranks[k].status != KITH_OK)
            fail_msg("rank %d of %d: %s", (int)k, (int)size, ranks[k].message);
        if (memcmp(alone.result, ranks[k].result, bytes_of(like->system)) != 0)
            fail_msg("rank %d of %d: %lld bodies have other bits", (int)k, (int)size,
                     (long long)like->system->n);
    }
    free_results(size, ranks);
    free(alone.result);
}

static void test_forces_have_the_bits_of_one_rank(void **state)
{
    (void)state;
    static const char *const laws[] = {NULL, NULL, "yukawa:2", "expr:m_i * m_j / (1 + r2)"};
    static const kith_forces_method methods[] = {KITH_FORCES_AUTO, KITH_FORCES_SPLIT};
    struct random_numbers numbers = random_numbers_begin("forces over ranks");
    for (int k = 0; k < 24; k++) {
        const int64_t n =
            k == 0 ? 0 : (int64_t)random_uniform(&numbers, 1, k % 6 == 5 ? 5000 : 2500);
        const int32_t size = (int32_t)random_uniform(&numbers, 1, most_ranks + 1);
        struct system s = random_system(&numbers, k % 2 ? KITH_F32 : KITH_F64, n, 2 + k % 3 / 2);
        s.softened = k % 5 == 0;
        kith_law *law = NULL;
        if (laws[k % 4] && k < 16) /* a formula has to be compiled */
            assert_ok(kith_law_parse(k % 4 == 3 && k > 4 ? "coulomb" : laws[k % 4], 0, NULL, &law));
        struct forces_rank like = {.system = &s,
                                   .options = {.softening = s.softened ? 0 : 0.01,
                                               .law = law,
                                               .method = methods[k / 4 % 2]}};
        check_same_bits(&like, size);
        kith_law_free(law);
        system_free(&s);
    }
}

/* More ranks than tiles: some have none. */
static void test_ranks_may_be_empty(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("empty ranks");
    for (int k = 0; k < 3; k++) {
        struct system s = random_system(&numbers, KITH_F64, k == 2 ? 1024 : 1 + 511 * k, 3);
        const struct forces_rank like = {.system = &s,
                                         .options = {.method = KITH_FORCES_SYMMETRIC}};
        check_same_bits(&like, most_ranks);
        system_free(&s);
    }
}

static void test_one_rank_that_is_cancelled_cancels_all(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("cancelled rank");
    struct system s = random_system(&numbers, KITH_F64, 1500, 3);
    struct forces_rank ranks[most_ranks];
    for (int32_t k = 0; k < 5; k++)
        ranks[k] =
            (struct forces_rank){.system = &s, .result = malloc(bytes_of(&s)), .cancels = k == 3};
    do_ranks(5, compute_forces, ranks, sizeof ranks[0]);
    for (int32_t k = 0; k < 5; k++)
        assert_int_equal(ranks[k].status, KITH_CANCELLED);
    free_results(5, ranks);
    system_free(&s);
}

static void test_one_rank_that_fails_ends_all(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("failed rank");
    struct system s = random_system(&numbers, KITH_F64, 1500, 3), bad = s;
    struct forces_rank ranks[most_ranks];
    bad.x = new_matrix(KITH_F64, s.n, 3);
    memcpy(bad.x.data, s.x.data, (size_t)s.n * 3 * sizeof(double));
    put(bad.x, 7, (double)NAN);
    for (int32_t k = 0; k < 4; k++)
        ranks[k] =
            (struct forces_rank){.system = k == 2 ? &bad : &s, .result = malloc(bytes_of(&s))};
    do_ranks(4, compute_forces, ranks, sizeof ranks[0]);
    for (int32_t k = 0; k < 4; k++) {
        assert_int_equal(ranks[k].status, k == 2 ? KITH_INVALID_ARGUMENT : KITH_IO_ERROR);
        assert_non_null(strstr(ranks[k].message, k == 2 ? "row 2" : "another rank"));
    }
    free(bad.x.data);
    free_results(4, ranks);
    system_free(&s);
}

static void test_solvers_that_do_not_divide_their_work_are_refused(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("refused solver");
    struct system s = random_system(&numbers, KITH_F64, 1500, 3);
    struct forces_rank ranks[most_ranks];
    const struct forces_rank like = {.system = &s, .options = {.solver = solver_named("fmm")}};
    compute_on_ranks(3, &like, ranks);
    for (int32_t k = 0; k < 3; k++) {
        assert_int_equal(ranks[k].status, KITH_UNSUPPORTED);
        assert_non_null(strstr(ranks[k].message, "solver is fmm"));
    }
    free_results(3, ranks);
    system_free(&s);
}

/* Steps of a simulation, by one rank. */
struct simulation_rank {
    const kith_bodies *start;
    const char *integrator;
    kith_bodies *end;
    kith_diagnostics diagnostics;
    kith_status status;
};

static kith_status take_steps(void *argument, kith_context *context)
{
    struct simulation_rank *rank = argument;
    const kith_simulation_options options = {
        .dt = 0.001, .integrator = rank->integrator, .forces.softening = 0.02};
    kith_simulation *simulation = NULL;
    rank->status = kith_simulation_create(context, &options, rank->start, &simulation);
    if (rank->status == KITH_OK)
        rank->status = kith_simulation_step(simulation, 2);
    if (rank->status == KITH_OK)
        rank->status = kith_simulation_diagnose(simulation, &rank->diagnostics);
    if (rank->status == KITH_OK)
        rank->status = kith_simulation_get_bodies(simulation, rank->end);
    kith_simulation_free(simulation);
    return rank->status;
}

static void check_steps(const char *integrator, int64_t n, int32_t size)
{
    struct simulation_rank alone = {.integrator = integrator}, ranks[most_ranks];
    kith_bodies *start = made("plummer", (kith_initial_options){.count = n, .count_given = true});
    alone.start = start;
    assert_ok(kith_bodies_create(n, 3, KITH_VELOCITY, &alone.end));
    kith_context *context = cpu_context(1);
    take_steps(&alone, context);
    kith_context_free(context);
    assert_int_equal(alone.status, KITH_OK);
    for (int32_t k = 0; k < size; k++) {
        ranks[k] = (struct simulation_rank){.start = start, .integrator = integrator};
        assert_ok(kith_bodies_create(n, 3, KITH_VELOCITY, &ranks[k].end));
    }
    do_ranks(size, take_steps, ranks, sizeof ranks[0]);
    const size_t bytes = (size_t)n * 3 * sizeof(double);
    for (int32_t k = 0; k < size; k++) {
        assert_int_equal(ranks[k].status, KITH_OK);
        assert_memory_equal(ranks[k].end->position, alone.end->position, bytes);
        assert_memory_equal(ranks[k].end->velocity, alone.end->velocity, bytes);
        assert_memory_equal(&ranks[k].diagnostics, &alone.diagnostics, sizeof alone.diagnostics);
        kith_bodies_free(ranks[k].end);
    }
    kith_bodies_free(alone.end);
    kith_bodies_free(start);
}

static void test_simulations_have_the_bits_of_one_rank(void **state)
{
    (void)state;
    static const char *const integrators[] = {"leapfrog", "rk4", "hermite4", "ias15"};
    for (int32_t k = 0; k < 4; k++)
        check_steps(integrators[k], 1100 + 100 * k, 2 + 2 * k);
    check_steps("leapfrog", 100, 3); /* so few are computed by each rank */
}

struct shared_rank {
    kith_bodies *bodies;
    kith_status status, read;
};

static kith_status share(void *argument, kith_context *context)
{
    struct shared_rank *rank = argument;
    rank->status = ranks_share_bodies(context, rank->read, &rank->bodies);
    return rank->status;
}

static void test_bodies_of_the_first_rank_come_to_all(void **state)
{
    (void)state;
    struct shared_rank ranks[3] = {{0}};
    kith_bodies *read = made("solar-system", (kith_initial_options){0});
    ranks[0].bodies = read;
    do_ranks(3, share, ranks, sizeof ranks[0]);
    for (int32_t k = 0; k < 3; k++) {
        const kith_bodies *bodies = ranks[k].bodies;
        assert_int_equal(ranks[k].status, KITH_OK);
        assert_int_equal(bodies->count, read->count);
        assert_memory_equal(&bodies->units, &read->units, sizeof read->units);
        assert_memory_equal(bodies->velocity, read->velocity,
                            (size_t)read->count * 3 * sizeof(double));
        assert_memory_equal(bodies->name, read->name, (size_t)read->count * sizeof *read->name);
        assert_true(!bodies->charge == !read->charge);
    }
    for (int32_t k = 0; k < 3; k++)
        kith_bodies_free(ranks[k].bodies);
    struct shared_rank failed[3] = {{.read = KITH_BAD_FORMAT}};
    do_ranks(3, share, failed, sizeof failed[0]);
    for (int32_t k = 0; k < 3; k++) {
        assert_int_equal(failed[k].status, k == 0 ? KITH_BAD_FORMAT : KITH_IO_ERROR);
        assert_null(failed[k].bodies);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forces_have_the_bits_of_one_rank),
        cmocka_unit_test(test_ranks_may_be_empty),
        cmocka_unit_test(test_one_rank_that_is_cancelled_cancels_all),
        cmocka_unit_test(test_one_rank_that_fails_ends_all),
        cmocka_unit_test(test_solvers_that_do_not_divide_their_work_are_refused),
        cmocka_unit_test(test_simulations_have_the_bits_of_one_rank),
        cmocka_unit_test(test_bodies_of_the_first_rank_come_to_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
