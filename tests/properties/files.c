/* Files: what is written is what is read, to the last bit where the format holds doubles. */

#include "property.h"

#include <float.h>
#include <unistd.h>

/* A number of any size, the ends of the range among them. */
static double any_number(struct property *p)
{
    static const double ends[] = {0.0,     -0.0,     5e-324, -5e-324, DBL_MIN,
                                  DBL_MAX, -DBL_MAX, 0.1,    1.0,     0x1.fffffffffffffp-1};
    if (chance(p, 0.2))
        return ends[whole(p, 0, 9)];
    return random_uniform(&p->random, -1, 1) * pow(10, random_uniform(&p->random, -300, 300));
}

static kith_bodies *any_bodies(struct property *p, int64_t count, int32_t dimensions)
{
    static const char *const names[] = {"Sun", "H", "C1", "X", "Äpfel", "a_b-c"};
    const unsigned columns =
        (unsigned)whole(p, 0, 2 * KITH_NAME - 1) | (whole(p, 0, 1) ? (unsigned)KITH_RADIUS : 0);
    kith_bodies *bodies = NULL;
    assert_ok(counted(kith_bodies_create(count, dimensions, columns, &bodies)));
    for (int64_t k = 0; k < count * dimensions; k++) {
        bodies->position[k] = any_number(p);
        if (bodies->velocity)
            bodies->velocity[k] = any_number(p);
    }
    for (int64_t i = 0; i < count; i++) {
        if (bodies->mass)
            bodies->mass[i] = any_number(p);
        if (bodies->charge)
            bodies->charge[i] = any_number(p);
        if (bodies->softening)
            bodies->softening[i] = fabs(any_number(p));
        if (bodies->radius)
            bodies->radius[i] = fabs(any_number(p));
        if (bodies->id)
            bodies->id[i] = whole(p, 0, 1 << 30) * whole(p, -(1 << 30), 1 << 30);
        if (bodies->name)
            snprintf(bodies->name[i], sizeof bodies->name[i], "%s", names[whole(p, 0, 5)]);
    }
    return bodies;
}

static void assert_same_numbers(const char *what, const double *a, const double *b, int64_t count)
{
    if (!a || !b)
        return;
    for (int64_t k = 0; k < count; k++)
        if (memcmp(&a[k], &b[k], sizeof a[k]) != 0)
            fail_msg("%s: number %lld is %.17g, and %.17g was written", what, (long long)k, b[k],
                     a[k]);
}

static void assert_same_bodies(const kith_bodies *a, const kith_bodies *b)
{
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->dimensions, b->dimensions);
    assert_same_numbers("position", a->position, b->position, a->count * a->dimensions);
    assert_same_numbers("velocity", a->velocity, b->velocity, a->count * a->dimensions);
    assert_same_numbers("mass", a->mass, b->mass, a->count);
    assert_same_numbers("charge", a->charge, b->charge, a->count);
    assert_same_numbers("softening", a->softening, b->softening, a->count);
    for (int64_t i = 0; a->id && b->id && i < a->count; i++)
        assert_int_equal(a->id[i], b->id[i]);
    for (int64_t i = 0; a->name && b->name && i < a->count; i++)
        assert_string_equal(a->name[i], b->name[i]);
}

static void assert_tables_come_back(struct property *p)
{
    const int64_t rows = any_size(p, 60), columns = whole(p, 1, 4);
    const struct laid_array laid = any_layout(p, KITH_F64, 2, rows, columns);
    kith_array found = {0};
    char path[64];
    snprintf(path, sizeof path, "property-%d.npy", (int)getpid());
    for (int64_t i = 0; laid.array.data && i < rows; i++)
        for (int64_t c = 0; c < columns; c++)
            array_put(laid.array, i, c, any_number(p));
    assert_ok(counted(kith_npy_write(path, laid.array)));
    assert_ok(counted(kith_npy_read(path, &found)));
    remove(path);
    if (rows > 0)
        assert_same_bits("npy", laid.array, found);
    free(found.data);
}

void files_give_back_what_was_written(struct property *p)
{
    static const char *const with_hdf5[] = {"csv", "npy", "xyz", "h5"};
    const int64_t formats = kith_build_has_hdf5() ? 4 : 3;
    const char *extension = with_hdf5[whole(p, 0, formats - 1)];
    kith_bodies *bodies = any_bodies(p, any_size(p, 40), (int32_t)whole(p, 2, 3)), *found = NULL;
    char path[64];
    unsigned dropped = 0;
    snprintf(path, sizeof path, "property-%d.%s", (int)getpid(), extension);
    assert_ok(counted(kith_format_drops(bodies, path, NULL, &dropped)));
    assert_ok(counted(kith_bodies_write(bodies, path, NULL)));
    assert_ok(counted(kith_bodies_read(path, NULL, &found)));
    remove(path);
    assert_same_bodies(bodies, found);
    kith_bodies_free(bodies);
    kith_bodies_free(found);
    assert_tables_come_back(p);
}
