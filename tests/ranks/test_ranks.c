/* Jobs of several ranks, as threads of this process: the results have the bits of one rank. */

#include "jobs.h"

#include "ranks/bodies.h"

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

/* Options of every solver that divides its work. */
static kith_forces_options solver_options(int k)
{
    static const char *const names[] = {"direct", "fmm", "tree", "cutoff"};
    return (kith_forces_options){.solver = solver_named(names[k]), .cutoff = k == 3 ? 0.3 : 0};
}
enum { solvers = 4 };

static void test_one_rank_that_is_cancelled_cancels_all(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("cancelled rank");
    struct system s = random_system(&numbers, KITH_F64, 2500, 3);
    struct forces_rank ranks[most_ranks];
    for (int solver = 0; solver < solvers; solver++) {
        const struct forces_rank like = {.system = &s, .options = solver_options(solver)};
        for (int32_t k = 0; k < 5; k++) {
            ranks[k] = like;
            ranks[k].result = malloc(bytes_of(&like));
            ranks[k].cancels = k == 3;
        }
        do_ranks(5, compute_forces, ranks, sizeof ranks[0]);
        for (int32_t k = 0; k < 5; k++)
            assert_int_equal(ranks[k].status, KITH_CANCELLED);
        free_results(5, ranks);
    }
    system_free(&s);
}

static void test_one_rank_that_fails_ends_all(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("failed rank");
    struct system s = random_system(&numbers, KITH_F64, 2500, 3), bad = s;
    struct forces_rank ranks[most_ranks];
    bad.x = new_matrix(KITH_F64, s.n, 3);
    memcpy(bad.x.data, s.x.data, (size_t)s.n * 3 * sizeof(double));
    put(bad.x, 7, (double)NAN);
    for (int solver = 0; solver < solvers; solver++) {
        const struct forces_rank like = {.system = &s, .options = solver_options(solver)};
        for (int32_t k = 0; k < 4; k++) {
            ranks[k] = like;
            ranks[k].result = malloc(bytes_of(&like));
            ranks[k].system = k == 2 ? &bad : &s;
        }
        do_ranks(4, compute_forces, ranks, sizeof ranks[0]);
        for (int32_t k = 0; k < 4; k++) {
            assert_int_equal(ranks[k].status, k == 2 ? KITH_INVALID_ARGUMENT : KITH_IO_ERROR);
            assert_true(has_fields(ranks[k].message, k == 2 ? "2 positions nan" : "rank"));
        }
        free_results(4, ranks);
    }
    free(bad.x.data);
    system_free(&s);
}

static void test_solvers_that_do_not_divide_their_work_are_refused(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("refused solver");
    struct system s = random_system(&numbers, KITH_F64, 1500, 3);
    struct forces_rank ranks[most_ranks];
    const struct forces_rank like = {.system = &s,
                                     .options = {.solver = solver_named("reference")}};
    compute_on_ranks(3, &like, ranks);
    for (int32_t k = 0; k < 3; k++) {
        assert_int_equal(ranks[k].status, KITH_UNSUPPORTED);
        assert_true(has_fields(ranks[k].message, "solver reference"));
    }
    free_results(3, ranks);
    system_free(&s);
}

static void test_simulations_have_the_bits_of_one_rank(void **state)
{
    (void)state;
    static const char *const integrators[] = {"leapfrog", "rk4", "hermite4", "ias15", NULL};
    for (int32_t k = 0; k < 5; k++) {
        const int64_t n = k == 4 ? 100 : 1100 + 100 * k; /* so few are computed by each rank */
        kith_bodies *start =
            made("plummer", (kith_initial_options){.count = n, .count_given = true});
        const kith_simulation_options options = {
            .dt = 0.001, .integrator = integrators[k], .forces.softening = 0.02};
        check_steps(start, &options, 2, 2 + 2 * k);
        kith_bodies_free(start);
    }
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

static void test_every_column_of_the_first_rank_comes_to_all(void **state)
{
    (void)state;
    enum { n = 7, bits = KITH_RADIUS | KITH_EPSILON | KITH_SIGMA | 63 };
    struct random_numbers numbers = random_numbers_begin("columns");
    struct shared_rank ranks[3] = {{0}};
    assert_ok(kith_bodies_create(n, 3, bits, &ranks[0].bodies));
    kith_bodies *read = ranks[0].bodies;
    double *const columns[] = {read->mass,   read->charge,  read->softening,
                               read->radius, read->epsilon, read->sigma};
    for (int k = 0; k < 6; k++)
        for (int i = 0; i < n; i++)
            columns[k][i] = random_uniform(&numbers, 0, 1);
    for (int i = 0; i < n; i++)
        read->id[i] = i + 5;
    for (int k = 0; k < 3 * n; k++)
        read->position[k] = read->velocity[k] = random_uniform(&numbers, -1, 1);
    do_ranks(3, share, ranks, sizeof ranks[0]);
    for (int k = 1; k < 3; k++) {
        const kith_bodies *bodies = ranks[k].bodies;
        const double *const shared[] = {bodies->mass,   bodies->charge,  bodies->softening,
                                        bodies->radius, bodies->epsilon, bodies->sigma};
        for (int c = 0; c < 6; c++) {
            assert_non_null(shared[c]);
            assert_memory_equal(shared[c], columns[c], n * sizeof(double));
        }
        assert_memory_equal(bodies->position, read->position, 3 * n * sizeof(double));
        assert_memory_equal(bodies->velocity, read->velocity, 3 * n * sizeof(double));
        assert_memory_equal(bodies->id, read->id, n * sizeof *read->id);
        assert_non_null(bodies->name);
    }
    for (int k = 0; k < 3; k++)
        kith_bodies_free(ranks[k].bodies);
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

static kith_status note_where_messages_are(void *argument, kith_context *context)
{
    *(bool *)argument = context->ranks->takes_device_memory;
    return KITH_OK;
}

/* Those of all ranks but one, which may be any; then those of all. */
static void test_messages_are_on_devices_if_the_libraries_of_all_ranks_take_them(void **state)
{
    (void)state;
    enum { size = 3 };
    for (int32_t other = 0; other <= size; other++) {
        bool found[size];
        for (int32_t k = 0; k < size; k++) {
            takes_device_memory[k] = k != other;
            found[k] = other < size; /* wrong */
        }
        do_ranks(size, note_where_messages_are, found, sizeof found[0]);
        for (int32_t k = 0; k < size; k++)
            assert_int_equal(found[k], other == size);
    }
    memset(takes_device_memory, 0, sizeof takes_device_memory);
}

static void test_a_context_joins_one_job(void **state)
{
    (void)state;
    struct world world = {.size = 1};
    static struct thread_rank alone;
    alone.world = &world;
    pthread_barrier_init(&world.barrier, NULL, 1);
    kith_messages lacking = library_of_threads, on_host = library_of_threads;
    lacking.wait = NULL;
    on_host.takes_device_memory = NULL;
    kith_context *context = NULL;
    assert_ok(kith_context_create(&(kith_context_options){.device = {KITH_CPU, 0}}, &context));
    const struct {
        const kith_messages *messages;
        int32_t size, rank;
        const char *argument;
    } wrong[] = {{NULL, 1, 0, "messages"},
                 {&lacking, 1, 0, "messages"},
                 {&library_of_threads, 0, 0, "size"},
                 {&library_of_threads, 2, 2, "rank"},
                 {&library_of_threads, 2, -1, "rank"}};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        assert_int_equal(
            kith_context_join(context, wrong[k].messages, &alone, wrong[k].size, wrong[k].rank),
            KITH_INVALID_ARGUMENT);
        assert_true(has_fields(kith_error_message(), wrong[k].argument));
    }
    assert_ok(kith_context_join(context, &on_host, &alone, 1, 0));
    assert_false(context->ranks->takes_device_memory);
    assert_int_equal(kith_context_join(context, &library_of_threads, &alone, 1, 0),
                     KITH_INVALID_ARGUMENT);
    assert_true(has_fields(kith_error_message(), "context"));
    kith_context_free(context);
    pthread_barrier_destroy(&world.barrier);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forces_have_the_bits_of_one_rank),
        cmocka_unit_test(test_ranks_may_be_empty),
        cmocka_unit_test(test_messages_are_on_devices_if_the_libraries_of_all_ranks_take_them),
        cmocka_unit_test(test_a_context_joins_one_job),
        cmocka_unit_test(test_one_rank_that_is_cancelled_cancels_all),
        cmocka_unit_test(test_one_rank_that_fails_ends_all),
        cmocka_unit_test(test_solvers_that_do_not_divide_their_work_are_refused),
        cmocka_unit_test(test_simulations_have_the_bits_of_one_rank),
        cmocka_unit_test(test_bodies_of_the_first_rank_come_to_all),
        cmocka_unit_test(test_every_column_of_the_first_rank_comes_to_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
