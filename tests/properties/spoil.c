#include "spoil.h"

#include <float.h>

enum { room_bytes = 1 << 18 };

void slot_add(struct slots *slots, enum slot_kind kind, void *at)
{
    assert_true(slots->count < most_slots);
    slots->slot[slots->count++] = (struct slot){kind, at};
}

kith_array roomy_array(struct property *p, kith_dtype dtype, int32_t ndim, int64_t rows,
                       int64_t columns)
{
    char *memory = case_memory(room_bytes);
    char *middle = memory + room_bytes / 2;
    memset(memory, 0, room_bytes);
    const kith_array array = ndim == 1 ? kith_array_vector(middle, dtype, rows)
                                       : kith_array_matrix(middle, dtype, rows, columns);
    const bool real = dtype == KITH_F64 || dtype == KITH_F32;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < (ndim == 2 ? columns : 1); j++)
            array_put(array, i, j,
                      real ? random_uniform(&p->random, 0.1, 1) : (double)whole(p, 0, 3));
    return array;
}

static double any_bad_real(struct property *p)
{
    static const double values[] = {NAN,    INFINITY, -INFINITY, -1,  0,      -0.0, 1e308,
                                    5e-324, DBL_MAX,  -DBL_MAX,  0.5, 1e-300, 1e30, 3};
    return values[whole(p, 0, sizeof values / sizeof values[0] - 1)];
}

static int32_t any_bad_int32(struct property *p)
{
    static const int32_t values[] = {-1, 0, 1, 2, 3, 7, 99, 5000, INT32_MAX, INT32_MIN};
    return values[whole(p, 0, sizeof values / sizeof values[0] - 1)];
}

static int64_t any_bad_int64(struct property *p)
{
    static const int64_t values[] = {-1, 0, 1, 3, INT64_MIN, INT64_MAX, 1LL << 60, (1LL << 62) + 1};
    return values[whole(p, 0, sizeof values / sizeof values[0] - 1)];
}

static int64_t any_few(struct property *p)
{
    static const int64_t values[] = {-1, 0, 1, 2, INT64_MIN, -INT64_MAX};
    return values[whole(p, 0, sizeof values / sizeof values[0] - 1)];
}

static const char *any_text(struct property *p)
{
    static char long_text[20000];
    static const char *const texts[] = {NULL,    "",           "nonsense", "%s%n%s",
                                        "expr:", "expr:r + (", "csv",      "..",
                                        "/",     long_text,    "\xff:\x01"};
    memset(long_text, 'r', sizeof long_text - 1);
    return texts[whole(p, 0, sizeof texts / sizeof texts[0] - 1)];
}

/* Whether its elements are in its memory still, after an earlier spoiling. */
static bool is_roomy(const kith_array *array)
{
    for (int k = 0; k < 2; k++)
        if (array->shape[k] > 100 || array->strides[k] > 100 || array->strides[k] < -100)
            return false;
    return array->data && (unsigned)array->dtype <= KITH_I32;
}

/* One of its numbers, where it is. */
static void spoil_number(struct property *p, kith_array *array)
{
    const int64_t rows = array->shape[0], columns = array->ndim == 2 ? array->shape[1] : 1;
    if (!is_roomy(array) || rows < 1 || columns < 1)
        return;
    const bool real = array->dtype == KITH_F64 || array->dtype == KITH_F32;
    array_put(*array, whole(p, 0, rows - 1), whole(p, 0, columns - 1),
              real ? any_bad_real(p) : (double)any_bad_int32(p));
}

static void spoil_array(struct property *p, kith_array *array, kith_array *other)
{
    const int k = (int)whole(p, 0, 1);
    switch (whole(p, 0, 9)) {
    case 0:
        array->data = NULL;
        return;
    case 1:
        array->ndim = any_bad_int32(p);
        return;
    case 2:
        array->dtype = (kith_dtype)any_bad_int32(p);
        return;
    case 3:
        array->device.kind = (kith_device_kind)any_bad_int32(p);
        array->device.index = any_bad_int32(p);
        return;
    case 4:
        array->shape[k] = chance(p, 0.5) ? any_bad_int64(p) : array->shape[k] + whole(p, -2, 2);
        return;
    case 5:
        array->strides[k] = chance(p, 0.5) ? any_bad_int64(p) : whole(p, -9, 9);
        return;
    case 6:
        array->shape[k] = 1LL << 60;
        array->strides[k] = 0;
        return;
    case 7:
        *array = kith_array_none();
        return;
    case 8:
        array->data = other->data;
        return;
    default:
        spoil_number(p, array);
    }
}

static kith_array *any_array(struct property *p, struct slots *slots, kith_array *own)
{
    const struct slot *slot = &slots->slot[whole(p, 0, slots->count - 1)];
    return slot->kind == ARRAY ? slot->at : own;
}

static void spoil_slot(struct property *p, struct slots *slots, const struct slot *slot)
{
    const double real = any_bad_real(p);
    const int32_t narrow = any_bad_int32(p);
    const int64_t wide = slot->kind == FEW ? any_few(p) : any_bad_int64(p);
    const char *text = any_text(p);
    void *null = NULL;
    switch (slot->kind) {
    case POINTER:
        memcpy(slot->at, &null, sizeof null);
        return;
    case ARRAY:
        spoil_array(p, slot->at, any_array(p, slots, slot->at));
        return;
    case REAL:
        memcpy(slot->at, &real, sizeof real);
        return;
    case INT32:
        memcpy(slot->at, &narrow, sizeof narrow);
        return;
    case INT64:
    case FEW:
        memcpy(slot->at, &wide, sizeof wide);
        return;
    case TEXT:
        memcpy(slot->at, &text, sizeof text);
    }
}

void spoil(struct property *p, struct slots *slots)
{
    const int64_t times = chance(p, 0.75) ? 1 : whole(p, 0, 3);
    for (int64_t k = 0; k < times; k++) {
        const int64_t chosen = whole(p, 0, slots->count - 1);
        spoil_slot(p, slots, &slots->slot[chosen]);
        if (getenv("KITH_TEST_CASE"))
            printf("argument %lld of %d is spoiled\n", (long long)chosen, slots->count);
    }
}

void assert_told(const char *call, kith_status status)
{
    const char *message = kith_error_message();
    if (status == KITH_OK)
        return;
    if ((unsigned)status >= KITH_INTERNAL_ERROR)
        fail_msg("%s returned '%s': %s", call, kith_status_name(status), message);
    if (!*message || strchr(message, '\n') || message[strlen(message) - 1] == '.')
        fail_msg("%s returned '%s' with the message '%s'", call, kith_status_name(status), message);
}

void bad_calls_are_told(struct property *p)
{
    static bad_call *const calls[] = {bad_forces,       bad_matrix,      bad_laws,   bad_pairs,
                                      bad_collisions,   bad_batches,     bad_sparse, bad_products,
                                      bad_steps,        bad_runs,        bad_bodies, bad_ensembles,
                                      bad_initial,      bad_simulations, bad_files,  bad_tables,
                                      bad_trajectories, bad_contexts,    bad_lists,  bad_orbits};
    calls[whole(p, 0, sizeof calls / sizeof calls[0] - 1)](p);
}
