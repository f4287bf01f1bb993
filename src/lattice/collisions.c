#include "kith/collisions.h"

#include <stdlib.h>

#include "core/arguments.h"
#include "core/memory.h"
#include "device/context.h"
#include "lattice/arguments.h"
#include "lattice/backend.h"

static const kith_collisions_method_info methods[] = {
    [KITH_COLLISIONS_AUTO] = {"auto", "chosen by the number of beads, their spread and the device"},
    [KITH_COLLISIONS_N_STEPS_SINGLE_ROW] =
        {"n-steps-single-row", "all pairs: one thread per bead, which visits all later beads"},
    [KITH_COLLISIONS_N_STEPS_MULTI_ROW] = {"n-steps-multi-row",
                                           "all pairs: one block of threads per pair of segments"},
    [KITH_COLLISIONS_HALF_STEPS_SINGLE_ROW] =
        {"half-steps-single-row", "all pairs: one thread per bead, which visits half of the ring"},
    [KITH_COLLISIONS_SINGLE_STEPS_ALL_THREADS] = {"single-steps-all-threads",
                                                  "all pairs: N² threads, half of them idle"},
    [KITH_COLLISIONS_SINGLE_STEPS_HALF_THREADS] = {"single-steps-half-threads",
                                                   "all pairs: N (N − 1) / 2 threads"},
    [KITH_COLLISIONS_ALL_PAIRS] = {"all-pairs", "all pairs by the fastest method of the device"},
    [KITH_COLLISIONS_LINEAR] = {"linear", "one counter per site, in an array or a table; O(N)"},
    [KITH_COLLISIONS_HASH] = {"hash",
                              "partitioned by a hash, counted in tables that fit a cache; O(N)"},
    [KITH_COLLISIONS_SORT] = {"sort", "radix sort of the sites, then ranges of equal ones; O(N)"},
    [KITH_COLLISIONS_REFERENCE] = {"reference", "the definition as two loops, on the host; O(N²)"},
};

enum { method_count = sizeof methods / sizeof methods[0] };

const kith_collisions_method_info *kith_collisions_method_list(int64_t *count)
{
    if (count)
        *count = method_count;
    return methods;
}

/* What every call on beads begins with. */
static kith_status begin(kith_context *context, const kith_collisions_options *options,
                         kith_array beads, kith_collisions_method *method,
                         struct collisions_problem *problem, bool *on_host)
{
    *method = options ? options->method : KITH_COLLISIONS_AUTO;
    KITH_TRY(kith_check_pointer(context, "context"));
    if ((unsigned)*method >= method_count)
        return kith_fail(KITH_INVALID_ARGUMENT, "method is %d; give a kith_collisions_method",
                         (int)*method);
    return collisions_check_beads(context, beads, problem, on_host);
}

static const struct collisions_backend *backend_of(const kith_context *context)
{
    return collisions_backend_of(context);
}

kith_status kith_collisions_count(kith_context *context, const kith_collisions_options *options,
                                  kith_array beads, int64_t *count)
{
    DEVICE_SCOPE(scope);
    KITH_TRY(device_enter(context, &scope));
    KITH_TRY(kith_check_pointer(count, "count"));
    struct collisions_problem problem;
    kith_collisions_method method;
    bool on_host = false;
    *count = 0;
    KITH_TRY(begin(context, options, beads, &method, &problem, &on_host));
    KITH_TRY(kith_context_check_cancelled(context));
    if (problem.count < 2)
        return KITH_OK;
    return backend_of(context)->count(context, &problem, on_host, method, count);
}

kith_status kith_collisions_choose(kith_context *context, const kith_collisions_options *options,
                                   kith_array beads, kith_collisions_method *method)
{
    DEVICE_SCOPE(scope);
    KITH_TRY(device_enter(context, &scope));
    KITH_TRY(kith_check_pointer(method, "method"));
    struct collisions_problem problem;
    bool on_host = false;
    KITH_TRY(begin(context, options, beads, method, &problem, &on_host));
    if (*method != KITH_COLLISIONS_AUTO)
        return KITH_OK;
    return backend_of(context)->choose(context, &problem, on_host, method);
}

struct kith_collisions_promise {
    kith_context *context;
    struct collisions_promise_state *state; /* NULL: fewer than two beads */
};

kith_status kith_collisions_launch(kith_context *context, const kith_collisions_options *options,
                                   kith_array beads, kith_collisions_promise **promise)
{
    DEVICE_SCOPE(scope);
    KITH_TRY(device_enter(context, &scope));
    KITH_TRY(kith_check_pointer(promise, "promise"));
    struct collisions_problem problem;
    kith_collisions_method method;
    bool on_host = false;
    *promise = NULL;
    KITH_TRY(begin(context, options, beads, &method, &problem, &on_host));

    struct kith_collisions_promise *made = NULL;
    KITH_TRY(kith_allocate(1, sizeof *made, "a promise", &made));
    made->context = context;
    const kith_status status =
        problem.count < 2
            ? KITH_OK
            : backend_of(context)->launch(context, &problem, on_host, method, &made->state);
    if (status != KITH_OK) {
        free(made);
        return status;
    }
    *promise = made;
    return KITH_OK;
}

kith_status kith_collisions_fetch(kith_collisions_promise *promise, int64_t *count)
{
    KITH_TRY(kith_check_pointer(count, "count"));
    *count = 0;
    KITH_TRY(kith_check_pointer(promise, "promise"));
    DEVICE_SCOPE(scope);
    KITH_TRY(device_enter(promise->context, &scope));
    if (!promise->state)
        return KITH_OK;
    return backend_of(promise->context)->fetch(promise->context, promise->state, count);
}

void kith_collisions_promise_free(kith_collisions_promise *promise)
{
    if (!promise)
        return;
    DEVICE_SCOPE(scope);
    (void)device_enter(promise->context, &scope);
    if (promise->state)
        backend_of(promise->context)->release(promise->context, promise->state);
    free(promise);
}
