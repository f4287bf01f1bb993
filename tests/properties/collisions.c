/* Beads on a lattice, by every method. */

#include "property.h"

#include "beads.h"

static kith_array any_beads(struct property *p, int64_t n, int64_t dimensions)
{
    static const int64_t sides[] = {1, 2, 5, 30, 1000, INT64_C(1) << 30};
    const kith_dtype dtype = chance(p, 0.5) ? KITH_I32 : KITH_I64;
    const kith_array beads = any_layout(p, dtype, 2, n, dimensions).array;
    if (!beads.data)
        return beads;
    if (chance(p, 0.3))
        fill_walk(&p->random, beads);
    else if (chance(p, 0.2))
        fill_extremes(&p->random, beads);
    else
        fill_cube(&p->random, beads, chance(p, 0.5) ? -7 : INT32_MIN, sides[whole(p, 0, 5)]);
    return beads;
}

void collisions_are_those_of_the_reference(struct property *p)
{
    const kith_array beads = any_beads(p, any_size(p, 1100), whole(p, 2, 3));
    int64_t methods = 0, exact = -1;
    kith_collisions_method_list(&methods);
    methods -= p->on_gpu; /* the last is the reference, of which a GPU promises nothing */
    kith_collisions_options options = {KITH_COLLISIONS_REFERENCE};
    assert_ok(counted(kith_collisions_count(plain_context(), &options, beads, &exact)));
    for (int turn = 0; turn < 4; turn++) {
        kith_collisions_promise *promise = NULL;
        int64_t count = -1, promised = -1;
        options.method = (kith_collisions_method)whole(p, 0, methods - 1);
        kith_context *context = turn % 2 ? p->context : p->other;
        assert_ok(counted(kith_collisions_launch(p->context, &options, beads, &promise)));
        assert_ok(counted(kith_collisions_count(context, &options, beads, &count)));
        assert_ok(counted(kith_collisions_fetch(promise, &promised)));
        if (count != exact || promised != exact)
            fail_msg("%s: %lld and %lld, not %lld",
                     kith_collisions_method_list(&methods)[options.method].name, (long long)count,
                     (long long)promised, (long long)exact);
        kith_collisions_promise_free(promise);
    }
}

static int64_t pairs_at_distance(kith_array beads, const char *sequence, bool contacts)
{
    int64_t count = 0;
    for (int64_t i = 0; i < beads.shape[0]; i++)
        for (int64_t j = i + 1; j < beads.shape[0]; j++) {
            int64_t distance = 0;
            for (int64_t c = 0; c < beads.shape[1]; c++)
                distance += llabs(get_bead(beads, i, c) - get_bead(beads, j, c));
            const bool wanted = !sequence || (sequence[i] == 'H' && sequence[j] == 'H');
            count += contacts ? distance == 1 && j - i > 1 && wanted : distance == 0;
        }
    return count;
}

void batches_are_counted_as_each_alone(struct property *p)
{
    const int64_t count = whole(p, 0, 6), length = any_size(p, 90), d = whole(p, 2, 3);
    const kith_dtype dtype = chance(p, 0.5) ? KITH_I32 : KITH_I64;
    int64_t *data = case_memory((size_t)(count * length * d + 1) * sizeof *data);
    kith_array batch = {data, {KITH_CPU, 0}, 3, dtype, {count, length, d}, {length * d, d, 1}};
    char *sequence = chance(p, 0.5) ? case_memory((size_t)length + 1) : NULL;
    for (int64_t i = 0; sequence && i < length; i++)
        sequence[i] = chance(p, 0.6) ? 'H' : 'P';
    if (sequence)
        sequence[length] = 0;
    int64_t *collisions = case_memory((size_t)(count + 1) * sizeof *collisions);
    int64_t *contacts = case_memory((size_t)(count + 1) * sizeof *contacts);
    for (int64_t b = 0; b < count; b++) {
        const int64_t begin = b * length * d * kith_dtype_bytes(dtype);
        fill_walk(&p->random, kith_array_matrix((char *)data + begin, dtype, length, d));
    }
    assert_ok(counted(kith_collisions_batch(p->context, batch, kith_array_none(), sequence,
                                            kith_array_vector(collisions, KITH_I64, count),
                                            kith_array_vector(contacts, KITH_I64, count))));
    for (int64_t b = 0; b < count; b++) {
        const int64_t begin = b * length * d * kith_dtype_bytes(dtype);
        const kith_array one = kith_array_matrix((char *)data + begin, dtype, length, d);
        int64_t alone = -1;
        assert_int_equal(collisions[b], pairs_at_distance(one, NULL, false));
        assert_int_equal(contacts[b], pairs_at_distance(one, sequence, true));
        assert_ok(counted(kith_contacts_count(p->other, one, sequence, &alone)));
        assert_int_equal(contacts[b], alone);
    }
}

void groups_are_the_sites(struct property *p)
{
    const kith_array beads = any_beads(p, any_size(p, 300), whole(p, 2, 3));
    kith_collisions_groups *groups = NULL;
    int64_t exact = -1, written = 0;
    const kith_collisions_options options = {KITH_COLLISIONS_REFERENCE};
    assert_ok(counted(kith_collisions_count(plain_context(), &options, beads, &exact)));
    assert_ok(counted(kith_collisions_group(p->context, beads, &groups)));
    assert_int_equal(groups->collisions, exact);
    kith_collisions_summary summary;
    assert_ok(counted(kith_collisions_summarize(p->context, beads, &summary)));
    assert_int_equal(summary.collisions, exact);
    assert_int_equal(summary.sites, groups->sites);
    assert_int_equal(summary.max_at_site, groups->max_at_site);
    int64_t *pairs = case_memory((size_t)(2 * exact + 1) * sizeof *pairs);
    assert_ok(counted(kith_collisions_pairs(groups, pairs)));
    for (int64_t i = 0; i < beads.shape[0]; i++)
        for (int64_t j = i + 1; j < beads.shape[0]; j++) {
            bool same = true;
            for (int64_t c = 0; c < beads.shape[1]; c++)
                same = same && get_bead(beads, i, c) == get_bead(beads, j, c);
            if (!same)
                continue;
            assert_int_equal(pairs[2 * written], i);
            assert_int_equal(pairs[2 * written + 1], j);
            written++;
        }
    assert_int_equal(written, exact);
    kith_collisions_groups_free(groups);
}
