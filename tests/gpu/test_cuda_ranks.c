/* Ranks that compute on GPUs, as threads of this process: on one GPU, or by turns on all. */

#include "../ranks/jobs.h"

#include <dlfcn.h>
#include <math.h>

#include "device/context.h"
#include "gpu_testing.h"
#include "liquid.h"
#include "ranks/device_parts.h"

static void test_direct_sums_of_ranks_have_the_bits_of_one_gpu(void **state)
{
    static const struct {
        int64_t n;
        kith_dtype dtype;
        int32_t ranks;
    } cases[] = {
        {0, KITH_F64, 2},     {1, KITH_F64, 3},      {2, KITH_F32, 2},
        {9001, KITH_F64, 2},  {65537, KITH_F64, 3},  {65537, KITH_F64, 2},
        {65537, KITH_F32, 2}, {126979, KITH_F32, 5}, {270001, KITH_F64, 2},
    };
    for (size_t c = 0; c < (test_is_quick() ? 5 : sizeof cases / sizeof cases[0]); c++) {
        struct system s = system_random(*state, cases[c].dtype, cases[c].n, 3);
        const struct forces_rank like = {.system = &s, .options.softening = 0.01};
        check_same_bits(&like, cases[c].ranks);
        system_free(&s);
    }
}

/* By request, and where auto takes it. */
static void test_tensor_cores_of_ranks_have_the_bits_of_one_gpu(void **state)
{
    for (int k = 0; k < (test_is_quick() ? 2 : 4); k++) {
        struct system s = system_random(*state, KITH_F32, k < 2 ? 66001 + k : 262145, 3);
        const struct forces_rank like = {
            .system = &s,
            .options = {.softening = 0.01, .method = k < 2 ? KITH_FORCES_TENSOR : KITH_FORCES_AUTO},
            .without_potential = k % 2 == 0};
        check_same_bits(&like, 2 + k % 2);
        system_free(&s);
    }
}

static void test_trees_of_ranks_have_the_bits_of_one_gpu(void **state)
{
    for (int32_t ranks = 2; ranks <= 3 && !test_is_quick(); ranks++) {
        struct system s = system_random(*state, KITH_F32, 524289 + 1000 * ranks, 3);
        const struct forces_rank like = {
            .system = &s, .options.solver = solver_named("fmm"), .options.accuracy.error = 1e-3};
        check_same_bits(&like, ranks);
        system_free(&s);
    }
}

/* Steps by trees of slices, whether or not they are worth it, with a checkpoint on the way. */
static kith_status step_slices(void *argument, kith_context *context)
{
    struct slice_rank *rank = argument;
    const struct ranks *ranks = context->ranks;
    const int64_t first = ranks_first(rank->start->count, ranks->size, ranks->rank);
    const int64_t end = ranks_first(rank->start->count, ranks->size, ranks->rank + 1);
    const kith_bodies own = bodies_rows(rank->start, first, end - first);
    assert_ok(kith_bodies_create(own.count, own.dimensions, KITH_VELOCITY, &rank->end));
    rank->status = step_slice(rank, context, &own);
    if (rank->status != KITH_OK)
        snprintf(rank->message, sizeof rank->message, "%s", kith_error_message());
    return rank->status;
}

/* Of positions; of a slice those from row `first` on. */
static double difference_of(const kith_bodies *found, const kith_bodies *exact, int64_t first)
{
    const int64_t d = exact->dimensions;
    double largest = 0;
    for (int64_t k = 0; k < found->count * d; k++)
        largest = worse_of(largest, fabs(found->position[k] - exact->position[first * d + k]));
    return largest;
}

/* The forces of each rank's rows are those of the bodies wherever they are: direct sums lead to the
 * same places, and the states of a checkpoint to the same diagnostics. */
static void test_steps_of_slices_by_trees_are_those_of_direct_sums(void **state)
{
    (void)state;
    static const struct {
        const char *solver;
        kith_dtype precision;
        int32_t ranks;
    } cases[] = {
        {"fmm", KITH_F64, 2}, {"fmm", KITH_F32, 3}, {"tree", KITH_F64, 3}, {"fmm", KITH_F64, 5}};
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c += test_is_quick() ? 3 : 1) {
        kith_bodies *start =
            made("plummer", (kith_initial_options){.count = test_is_quick() ? 2001 : 20011});
        kith_simulation_options options = {
            .dt = 0.01, .precision = KITH_F64, .forces.softening = 0.05};
        struct simulation_rank alone = {.start = start, .options = options, .steps = 10};
        struct slice_rank ranks[most_ranks] = {0};
        assert_ok(kith_bodies_create(start->count, 3, KITH_VELOCITY, &alone.end));
        kith_context *context = context_of_one();
        if (take_steps(&alone, context) != KITH_OK)
            fail_msg("%s", alone.message);
        kith_context_free(context);
        options.precision = cases[c].precision;
        options.forces.solver = solver_named(cases[c].solver);
        options.forces.accuracy.error = 1e-4;
        for (int32_t k = 0; k < cases[c].ranks; k++)
            ranks[k] = (struct slice_rank){.start = start, .options = options, .steps = 10};
        do_ranks(cases[c].ranks, step_slices, ranks, sizeof ranks[0]);
        for (int32_t k = 0; k < cases[c].ranks; k++) {
            if (ranks[k].status != KITH_OK)
                fail_msg("rank %d of %d: %s", (int)k, (int)cases[c].ranks, ranks[k].message);
            const int64_t first = ranks_first(start->count, cases[c].ranks, k);
            assert_true(difference_of(ranks[k].end, alone.end, first) < 1e-4);
            assert_memory_equal(&ranks[k].kept, &ranks[k].restored, sizeof ranks[k].kept);
            assert_true(fabs(ranks[k].last.total_energy / alone.diagnostics.total_energy - 1) <
                        1e-3);
            kith_bodies_free(ranks[k].end);
        }
        kith_bodies_free(alone.end);
        kith_bodies_free(start);
    }
}

/* Each rank computes all. */
static void test_sums_within_a_cutoff_of_ranks_have_the_bits_of_one_gpu(void **state)
{
    struct system s = system_random(*state, KITH_F64, 9001, 3);
    const struct forces_rank like = {.system = &s,
                                     .options = {.solver = solver_named("cutoff"), .cutoff = 0.1}};
    check_same_bits(&like, 2);
    system_free(&s);
}

static void test_steps_of_ranks_have_the_bits_of_one_gpu(void **state)
{
    (void)state;
    const kith_initial_options plummer = {.count = 65537, .count_given = true};
    const kith_simulation_options options = {.dt = 0.001, .forces.softening = 0.02};
    kith_bodies *start = made("plummer", plummer);
    check_steps(start, &options, test_is_quick() ? 1 : 3, 2);
    kith_bodies_free(start);
}

/* Each rank has a slab of the cell, from 524 288 particles on. */
static void test_steps_within_a_cutoff_of_ranks_have_the_bits_of_one_gpu(void **state)
{
    static const struct {
        struct liquid_case liquid;
        int32_t ranks;
        int64_t steps;
    } runs[] = {
        {{KITH_F32, "lennard-jones", 0, 81, 3, 1, 0, 0}, 2, 40},
        {{KITH_F64, "lennard-jones", 0, 81, 3, 1, 0, 0}, 3, 23},
        {{KITH_F32, "lennard-jones", 1, 82, 3, 1, 0, 0}, 5, 20},
        {{KITH_F32, "lennard-jones", 0, 725, 2, 1, 5, 0}, 3, 40},
        {{KITH_F32, "lennard-jones", 0, 81, 3, 1.7, 20, 0}, 4, 40}, /* slabs are cut again */
        {{KITH_F32, "yukawa:1", 0, 83, 3, 1, 0, 6000}, 3, 10},      /* across more than a slab */
        {{KITH_F32, "lennard-jones", 0, 20, 3, 1, 0, 0}, 3, 40},
    };
    for (size_t c = 0; c < sizeof runs / sizeof runs[0] && !test_is_quick(); c++) {
        kith_bodies *bodies = liquid(*state, &runs[c].liquid);
        kith_law *law = NULL;
        assert_ok(kith_law_parse(runs[c].liquid.law, 0, NULL, &law));
        const kith_simulation_options options = liquid_options(&runs[c].liquid, law);
        assert_int_equal(check_steps(bodies, &options, runs[c].steps, runs[c].ranks),
                         bodies->count >= 1 << 19); /* by slices, too */
        kith_law_free(law);
        kith_bodies_free(bodies);
    }
}

static bool nccl_is_there(void)
{
    return dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL) != NULL;
}

/* Messages of a library that takes memory of GPUs: any two addresses. */
static void *copy_anywhere(void *to, const void *from, size_t bytes)
{
    assert_int_equal(cudaMemcpy(to, from, bytes, cudaMemcpyDefault), cudaSuccess);
    return to;
}

/* How ranks exchange: by the host's memory, by the GPUs', or by NCCL. */
enum passage { by_host, by_device, by_nccl, passages };

static void begin_passage(enum passage passage)
{
    for (int32_t k = 0; k < most_ranks; k++)
        takes_device_memory[k] = passage == by_device;
    copy_message = passage == by_device ? copy_anywhere : memcpy;
    exchanged_before = passage == by_nccl ? (int64_t)1 << 30 : 0;
}

/* Ghosts, and particles that change their rank, too. */
static void check_steps_by(enum passage passage, void **state)
{
    static const struct liquid_case liquids[] = {
        {KITH_F32, "lennard-jones", 0, 81, 3, 1, 0, 0},
        {KITH_F64, "lennard-jones", 0, 81, 3, 1.7, 20, 0},
        {KITH_F32, "lennard-jones", 1, 82, 3, 1, 0, 0},
    };
    begin_passage(passage);
    for (size_t c = 0; c < sizeof liquids / sizeof liquids[0] && !test_is_quick(); c++) {
        kith_bodies *bodies = liquid(*state, &liquids[c]);
        kith_law *law = NULL;
        assert_ok(kith_law_parse(liquids[c].law, 0, NULL, &law));
        const kith_simulation_options options = liquid_options(&liquids[c], law);
        for (int32_t ranks = 2; ranks <= 3 && (passage != by_nccl || ranks <= gpus_of_ranks);
             ranks++)
            assert_true(check_steps(bodies, &options, 100, ranks));
        kith_law_free(law);
        kith_bodies_free(bodies);
    }
    begin_passage(by_host);
}

static void test_steps_within_a_cutoff_by_nccl_have_the_bits_of_one_gpu(void **state)
{
    if (gpus_of_ranks < 2 || !nccl_is_there())
        skip();
    check_steps_by(by_nccl, state);
}

static void test_steps_within_a_cutoff_by_device_memory_have_the_bits_of_one_gpu(void **state)
{
    check_steps_by(by_device, state);
}

/* Each rank sends each other two messages, of lengths that depend on both, some of them empty. */
enum { message_room = 300007, exchanges = 4 };

struct exchanging_rank {
    bool by_nccl, is_right;
};

static int64_t message_bytes(int32_t from, int32_t to, int32_t number)
{
    return (int64_t)(7 * from + 5 * to + 3 * number) % 4 * (message_room / 3);
}

static char message_byte(int32_t from, int32_t to, int32_t number, int64_t k)
{
    return (char)(k * 31 + 7 * from + 11 * to + 13 * number + 1);
}

static kith_status exchange_again(kith_context *context, char *there, char *here, bool *is_right)
{
    const struct device_services *services = context->services;
    const int32_t size = context->ranks->size, rank = context->ranks->rank;
    const int64_t all = (int64_t)size * 4 * message_room;
    struct ranks_device_message messages[4 * most_ranks];
    int32_t count = 0;
    memset(here, 0, (size_t)all);
    for (int32_t k = 0; k < 4 * size; k++) {
        const int32_t other = k / 4, number = k % 2;
        const bool is_sent = k % 4 < 2;
        const int32_t from = is_sent ? rank : other, to = is_sent ? other : rank;
        if (other != rank)
            messages[count++] =
                (struct ranks_device_message){there + (int64_t)k * message_room,
                                              message_bytes(from, to, number), other, 17, is_sent};
        for (int64_t b = 0; is_sent && b < message_room; b++)
            here[k * (int64_t)message_room + b] = message_byte(from, to, number, b);
    }
    KITH_TRY(services->copy_in(context, there, here, all));
    KITH_TRY(ranks_exchange_on_device(context, KITH_OK, messages, count));
    KITH_TRY(services->copy_out(context, here, there, all));
    for (int32_t k = 0; k < 4 * size; k++)
        for (int64_t b = 0; k % 4 >= 2 && b < message_room; b++) {
            const bool has_come = k / 4 != rank && b < message_bytes(k / 4, rank, k % 2);
            *is_right &= here[k * (int64_t)message_room + b] ==
                         (has_come ? message_byte(k / 4, rank, k % 2, b) : 0);
        }
    return KITH_OK;
}

static kith_status exchange_often(void *argument, kith_context *context)
{
    struct exchanging_rank *rank = argument;
    const int64_t all = (int64_t)context->ranks->size * 4 * message_room;
    void *there = NULL;
    DEVICE_SCOPE(scope);
    KITH_TRY(device_enter(context, &scope));
    KITH_TRY(context->services->allocate(context, all, 1, "test", &there));
    char *here = malloc((size_t)all);
    kith_status status = KITH_OK;
    rank->is_right = true;
    for (int k = 0; k < exchanges && status == KITH_OK; k++)
        status = exchange_again(context, there, here, &rank->is_right);
    rank->by_nccl = context->ranks->nccl_is_used;
    context->services->release(context, there);
    free(here);
    return status;
}

static void test_messages_have_the_same_bytes_by_any_passage(void **state)
{
    (void)state;
    for (enum passage passage = by_host; passage < passages; passage++)
        for (int32_t size = 2; size <= gpus_of_ranks + 1; size++) {
            struct exchanging_rank ranks[most_ranks] = {{0}};
            begin_passage(passage);
            do_ranks(size, exchange_often, ranks, sizeof ranks[0]);
            begin_passage(by_host);
            for (int32_t k = 0; k < size; k++) {
                assert_true(ranks[k].is_right);
                assert_int_equal(ranks[k].by_nccl,
                                 passage == by_nccl && nccl_is_there() && size <= gpus_of_ranks);
            }
        }
}

/* Element e of an array is e, of bytes each; every rank has its own part and NaN elsewhere. */
enum { gathered_elements = 2000003, gathers = 4 };

struct gathering_rank {
    double *here; /* on the host */
    bool by_nccl, is_right;
};

static kith_status gather_again(kith_context *context, double *here, void *there)
{
    const struct device_services *services = context->services;
    const int64_t first =
        ranks_first(gathered_elements, context->ranks->size, context->ranks->rank);
    const int64_t end =
        ranks_first(gathered_elements, context->ranks->size, context->ranks->rank + 1);
    for (int64_t e = 0; e < gathered_elements; e++)
        here[e] = e >= first && e < end ? (double)e : NAN;
    KITH_TRY(services->copy_in(context, there, here, gathered_elements * (int64_t)sizeof *here));
    KITH_TRY(ranks_gather_on_device(context, KITH_OK, there, gathered_elements, sizeof *here));
    return services->copy_out(context, here, there, gathered_elements * (int64_t)sizeof *here);
}

static kith_status gather_often(void *argument, kith_context *context)
{
    struct gathering_rank *rank = argument;
    double *here = rank->here;
    void *there = NULL;
    DEVICE_SCOPE(scope);
    KITH_TRY(device_enter(context, &scope));
    KITH_TRY(context->services->allocate(context, gathered_elements, sizeof *here, "test", &there));
    rank->is_right = true;
    for (int k = 0; k < gathers; k++) {
        KITH_TRY(gather_again(context, here, there));
        for (int64_t e = 0; e < gathered_elements; e++)
            rank->is_right &= here[e] == (double)e;
    }
    rank->by_nccl = context->ranks->nccl_is_used;
    context->services->release(context, there);
    return KITH_OK;
}

/* One rank, and one on each GPU; with more ranks than GPUs NCCL refuses, and messages do it. */
static void check_gathers_by(enum passage passage)
{
    const bool is_there = nccl_is_there();
    begin_passage(passage);
    exchanged_before = ((int64_t)1 << 30) - 2 * gathered_elements * (int64_t)sizeof(double);
    for (int32_t size = 1; size <= gpus_of_ranks + 1; size++) {
        struct gathering_rank ranks[most_ranks] = {{0}};
        for (int32_t k = 0; k < size; k++)
            ranks[k].here = malloc(gathered_elements * sizeof *ranks[k].here);
        do_ranks(size, gather_often, ranks, sizeof ranks[0]);
        for (int32_t k = 0; k < size; k++) {
            free(ranks[k].here);
            assert_true(ranks[k].is_right);
            assert_int_equal(ranks[k].by_nccl, is_there && size <= gpus_of_ranks);
        }
    }
    begin_passage(by_host);
}

/* Of each, what is left of the first GiB; then it is NCCL. */
static void test_gathers_have_the_same_bytes_by_any_passage(void **state)
{
    (void)state;
    check_gathers_by(by_host);
    check_gathers_by(by_device);
    if (!nccl_is_there())
        skip();
}

static void test_a_rank_that_fails_ends_all(void **state)
{
    struct system s = system_random(*state, KITH_F64, 65537, 3);
    struct forces_rank ranks[most_ranks];
    put(s.x, 3 * 4711, (double)NAN);
    const struct forces_rank direct = {.system = &s, .options.softening = 0.01};
    compute_on_ranks(2, &direct, ranks);
    for (int32_t k = 0; k < 2; k++) {
        assert_int_equal(ranks[k].status, KITH_INVALID_ARGUMENT);
        assert_true(has_fields(ranks[k].message, "4711 nan"));
    }
    free_results(2, ranks);
    system_free(&s);
}

int main(void)
{
    if (gpu_is_absent("test_cuda_ranks"))
        return exit_skipped;
    struct random_numbers numbers = random_numbers_begin("ranks on GPUs");
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess)
        return 1;
    gpus_of_ranks = devices;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_direct_sums_of_ranks_have_the_bits_of_one_gpu, &numbers),
        cmocka_unit_test_prestate(test_tensor_cores_of_ranks_have_the_bits_of_one_gpu, &numbers),
        cmocka_unit_test_prestate(test_trees_of_ranks_have_the_bits_of_one_gpu, &numbers),
        cmocka_unit_test(test_steps_of_slices_by_trees_are_those_of_direct_sums),
        cmocka_unit_test_prestate(test_sums_within_a_cutoff_of_ranks_have_the_bits_of_one_gpu,
                                  &numbers),
        cmocka_unit_test_prestate(test_steps_of_ranks_have_the_bits_of_one_gpu, &numbers),
        cmocka_unit_test_prestate(test_steps_within_a_cutoff_of_ranks_have_the_bits_of_one_gpu,
                                  &numbers),
        cmocka_unit_test_prestate(test_steps_within_a_cutoff_by_nccl_have_the_bits_of_one_gpu,
                                  &numbers),
        cmocka_unit_test_prestate(
            test_steps_within_a_cutoff_by_device_memory_have_the_bits_of_one_gpu, &numbers),
        cmocka_unit_test(test_messages_have_the_same_bytes_by_any_passage),
        cmocka_unit_test(test_gathers_have_the_same_bytes_by_any_passage),
        cmocka_unit_test_prestate(test_a_rank_that_fails_ends_all, &numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
