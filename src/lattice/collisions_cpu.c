/* The CPU's part of the room: chooses and counts. */

#include <stdlib.h>

#include "device/context.h"
#include "lattice/arguments.h"
#include "lattice/backend.h"
#include "lattice/batch_cpu.h"
#include "lattice/collisions_cpu.h"
#include "lattice/collisions_reference.h"
#include "lattice/cpu_methods.h"
#include "lattice/promise_cpu.h"

/* What auto goes by, from measurements on cores with caches of 1 MB: this few beads are compared
 * pair by pair sooner than a table is set up; a counter for each of this many sites is found fast
 * by beads that jump; a table of this few beads is; this many are worth another thread. */
enum {
    most_of_all_pairs = 96,
    most_near_sites = 1 << 23,
    most_of_table = 8192,
    least_of_threads = 1 << 17
};

/* Of the keys that are sorted faster than hashed: three passes of ten bits. */
enum { most_sorted_bits = 30 };

static kith_status count_by_reference(kith_context *context,
                                      const struct collisions_problem *problem,
                                      const struct collisions_box *box, int64_t *count)
{
    (void)box;
    return collisions_count_by_reference(context, problem, count);
}

static collisions_cpu_method *const methods[] = {
    [KITH_COLLISIONS_N_STEPS_SINGLE_ROW] = collisions_n_steps_single_row_cpu,
    [KITH_COLLISIONS_N_STEPS_MULTI_ROW] = collisions_n_steps_multi_row_cpu,
    [KITH_COLLISIONS_HALF_STEPS_SINGLE_ROW] = collisions_half_steps_cpu,
    [KITH_COLLISIONS_SINGLE_STEPS_ALL_THREADS] = collisions_all_threads_cpu,
    [KITH_COLLISIONS_SINGLE_STEPS_HALF_THREADS] = collisions_half_threads_cpu,
    [KITH_COLLISIONS_ALL_PAIRS] = collisions_all_pairs_cpu,
    [KITH_COLLISIONS_LINEAR] = collisions_linear_cpu,
    [KITH_COLLISIONS_HASH] = collisions_hash_cpu,
    [KITH_COLLISIONS_SORT] = collisions_sort_cpu,
    [KITH_COLLISIONS_REFERENCE] = count_by_reference,
};

/* Of beads spread over the array, whether most have the one that follows them within a block of
 * the linear method's. */
static bool is_like_a_chain(const struct collisions_problem *problem)
{
    enum { samples = 64, near = 4 };
    const int64_t step = problem->count > samples ? problem->count / samples : 1;
    int64_t looked = 0, close = 0;
    for (int64_t i = 0; i + 1 < problem->count; i += step, looked++) {
        bool is_close = true;
        for (int64_t c = 0; c < problem->dimensions; c++) {
            const int64_t a = collisions_coordinate(problem, i, c);
            const int64_t b = collisions_coordinate(problem, i + 1, c);
            is_close &= (a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a) <= near;
        }
        close += is_close;
    }
    return close * 4 >= looked * 3;
}

/* Of beads that are not a chain: hashing uses all threads. */
static kith_collisions_method choose_for_scattered(const kith_context *context,
                                                   const struct collisions_problem *problem,
                                                   const struct collisions_box *box)
{
    const int64_t n = problem->count;
    const bool alone = context->threads == 1 || n < least_of_threads;
    return alone && n > most_of_table && box->total_bits <= most_sorted_bits ? KITH_COLLISIONS_SORT
                                                                             : KITH_COLLISIONS_HASH;
}

static kith_collisions_method choose_for(const kith_context *context,
                                         const struct collisions_problem *problem,
                                         const struct collisions_box *box)
{
    const bool few_sites = collisions_sites_are_few(problem, box);
    if (few_sites && collisions_box_sites(box) <= most_near_sites)
        return KITH_COLLISIONS_LINEAR;
    if (problem->count <= most_of_all_pairs)
        return KITH_COLLISIONS_ALL_PAIRS;
    return is_like_a_chain(problem) ? KITH_COLLISIONS_LINEAR
                                    : choose_for_scattered(context, problem, box);
}

static kith_status choose(kith_context *context, const struct collisions_problem *problem,
                          bool on_host, kith_collisions_method *method)
{
    (void)on_host;
    struct collisions_problem dense = *problem;
    void *copy = NULL;
    KITH_TRY(collisions_make_dense(&dense, &copy));
    const struct collisions_box box = collisions_box_of(context, &dense);
    *method = choose_for(context, &dense, &box);
    free(copy);
    return KITH_OK;
}

kith_status collisions_count_cpu(kith_context *context, const struct collisions_problem *problem,
                                 bool on_host, kith_collisions_method method, int64_t *count)
{
    (void)on_host;
    struct collisions_problem dense = *problem;
    void *copy = NULL;
    KITH_TRY(collisions_make_dense(&dense, &copy));
    const struct collisions_box box = collisions_box_of(context, &dense);
    const kith_collisions_method chosen =
        method == KITH_COLLISIONS_AUTO ? choose_for(context, &dense, &box) : method;
    const kith_status status = methods[chosen](context, &dense, &box, count);
    free(copy);
    return status;
}

const struct collisions_backend collisions_cpu = {
    .count = collisions_count_cpu,
    .choose = choose,
    .launch = collisions_launch_cpu,
    .fetch = collisions_fetch_cpu,
    .release = collisions_release_cpu,
    .batch = collisions_batch_cpu,
};
