/* Scratch memory on the device that recorded steps use: kept while they may be replayed, given back
 * after. */

#include "gpu_simulating.h"

#include "device/context.h"
#include "device/cuda_state.h"
#include "simulation/integrator.h"

enum {
    steps = 12,           /* more than are taken before one is recorded */
    spare_bytes = 4 << 20 /* what the pool may add to what is asked of it */
};

static kith_simulation *begin_many(kith_context *context, struct random_numbers *random, int64_t n)
{
    /* Not a composition: many steps of those are one call of the backend. */
    const struct simulated_case the = {KITH_F32, n, 0, 3, common, "rk4"};
    kith_bodies *bodies = random_bodies(random, &the);
    kith_simulation *simulation = begin_under(context, &the, NULL, 1e-4, bodies);
    kith_bodies_free(bodies);
    return simulation;
}

static void step_recorded(kith_simulation *simulation)
{
    assert_ok(kith_simulation_step(simulation, steps));
    assert_non_null(simulation->recording.made);
}

static int64_t bytes_in_use(kith_context *context)
{
    uint64_t bytes = 0;
    assert_ok(kith_context_synchronize(context));
    assert_cuda(cudaMemPoolGetAttribute(cuda_state_of(context)->pool, cudaMemPoolAttrUsedMemCurrent,
                                        &bytes));
    return (int64_t)bytes;
}

static int64_t bytes_of_blocks(kith_context *context)
{
    const struct cuda_state *state = cuda_state_of(context);
    return state->scratch.bytes + state->arrays.bytes + state->workspace.bytes;
}

static void test_cuda_memory_of_forgotten_recordings_is_given_back(void **state)
{
    kith_context *context = new_gpu_context(NULL);
    int64_t before = 0;
    for (int64_t n = 20000; n <= 50000; n += 10000) {
        kith_simulation *simulation = begin_many(context, *state, n);
        step_recorded(simulation);
        assert_true(bytes_of_blocks(context) > before); /* the blocks were outgrown */
        before = bytes_of_blocks(context);
        kith_simulation_free(simulation);
        assert_true(bytes_in_use(context) <= bytes_of_blocks(context) + spare_bytes);
        assert_null(cuda_state_of(context)->kept);
    }
    kith_context_free(context);
}

/* Of simulations that overlap in time, too: only the oldest one's end gives its memory back. */
static void test_cuda_memory_of_a_living_recording_stays(void **state)
{
    struct random_numbers same = *(struct random_numbers *)*state;
    kith_context *context = new_gpu_context(NULL), *alone = new_gpu_context(NULL);
    kith_simulation *first = begin_many(context, *state, 20000),
                    *expected = begin_many(alone, &same, 20000);
    step_recorded(first);
    kith_simulation *second = begin_many(context, *state, 50000);
    step_recorded(second);
    assert_non_null(cuda_state_of(context)->kept);
    step_recorded(first);
    assert_ok(kith_simulation_step(expected, 2 * steps));

    kith_bodies *here = NULL, *there = NULL;
    assert_ok(kith_bodies_create(20000, 3, KITH_VELOCITY | KITH_MASS, &here));
    assert_ok(kith_bodies_create(20000, 3, KITH_VELOCITY | KITH_MASS, &there));
    assert_ok(kith_simulation_get_bodies(first, here));
    assert_ok(kith_simulation_get_bodies(expected, there));
    assert_memory_equal(here->position, there->position, 3 * 20000 * sizeof(double));

    kith_simulation_free(first);
    assert_null(cuda_state_of(context)->kept);
    kith_simulation_free(second);
    assert_true(bytes_in_use(context) <= bytes_of_blocks(context) + spare_bytes);
    kith_simulation_free(expected);
    kith_context_free(context);
    kith_context_free(alone);
    kith_bodies_free(here);
    kith_bodies_free(there);
}

/* The caller's graph may be replayed at any time, so that its memory stays with the context. */
static void test_cuda_memory_of_the_callers_graphs_stays(void **state)
{
    kith_context *context = new_gpu_context(NULL);
    cudaStream_t stream = kith_context_stream(context);
    struct system s = system_random(*state, KITH_F32, 20000, 3), there = gpu_system(&s, false);
    cudaGraph_t graph = NULL;
    system_compute(context, NULL, &there);
    assert_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    system_compute(context, NULL, &there);
    assert_cuda(cudaStreamEndCapture(stream, &graph));
    for (int64_t n = 20000; n <= 50000; n += 30000) {
        kith_simulation *simulation = begin_many(context, *state, n);
        step_recorded(simulation);
        kith_simulation_free(simulation);
    }
    const struct cuda_kept *kept = cuda_state_of(context)->kept;
    assert_non_null(kept);
    for (; kept; kept = kept->next)
        assert_true(kept->block.captured && kept->block.recordings == 0);
    assert_cuda(cudaGraphDestroy(graph));
    gpu_system_free(&there);
    system_free(&s);
    kith_context_free(context);
}

int main(void)
{
    if (gpu_is_absent("cuda_recordings"))
        return exit_skipped;
    struct random_numbers random = random_numbers_begin("cuda_recordings");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_cuda_memory_of_forgotten_recordings_is_given_back, &random),
        cmocka_unit_test_prestate(test_cuda_memory_of_a_living_recording_stays, &random),
        cmocka_unit_test_prestate(test_cuda_memory_of_the_callers_graphs_stays, &random),
    };
    return cmocka_run_group_tests_name("cuda_recordings", tests, NULL, NULL);
}
