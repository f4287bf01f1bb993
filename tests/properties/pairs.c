/* Lists of pairs: the same, bit for bit, by every method, instruction set and number of threads,
 * and by their definition. */

#include "property.h"

#include "pairs_definition.h"

/* The array's numbers in a layout of its own. */
static kith_array laid_anew(struct property *p, kith_array dense)
{
    if (kith_array_is_none(dense))
        return dense;
    const kith_array laid =
        any_layout(p, dense.dtype, dense.ndim, dense.shape[0], dense.shape[1]).array;
    for (int64_t i = 0; laid.data && i < laid.shape[0]; i++)
        for (int64_t c = 0; c < (laid.ndim == 2 ? laid.shape[1] : 1); c++)
            array_put(laid, i, c, array_get(dense, i, c));
    return laid;
}

static void assert_same_array(const char *what, kith_array a, kith_array b)
{
    assert_int_equal(a.ndim, b.ndim);
    if (a.ndim > 0)
        assert_same_bits(what, a, b);
}

static void assert_same_list(const kith_pairs *a, const kith_pairs *b)
{
    assert_int_equal(a->row_count, b->row_count);
    assert_same_array("offsets", a->offsets, b->offsets);
    assert_int_equal(a->count, b->count);
    assert_same_array("i", a->i, b->i);
    assert_same_array("j", a->j, b->j);
    assert_same_array("shifts", a->shifts, b->shifts);
    assert_same_array("vectors", a->vectors, b->vectors);
    assert_same_array("distances", a->distances, b->distances);
}

static kith_pairs_method any_method(struct property *p)
{
    static const kith_pairs_method methods[] = {KITH_PAIRS_AUTO, KITH_PAIRS_CELLS,
                                                KITH_PAIRS_BRUTE_FORCE};
    return methods[whole(p, 0, 2)];
}

static struct scene any_scene(struct property *p)
{
    return random_scene(&p->random, any_size(p, 150), random_uniform(&p->random, 0.5, 20));
}

/* The scene's options with its arrays in layouts of their own. */
static kith_pairs_options laid_options(struct property *p, const struct scene *s)
{
    kith_pairs_options options = options_of(s);
    options.queries = laid_anew(p, s->queries);
    options.radii = laid_anew(p, s->radii);
    options.query_radii = laid_anew(p, s->query_radii);
    options.method = any_method(p);
    return options;
}

void pairs_are_those_of_the_definition(struct property *p)
{
    struct scene s = any_scene(p);
    kith_pairs_options options = laid_options(p, &s), some = options_of(&s);
    const kith_array positions = laid_anew(p, s.positions);
    struct expectation expected = expect(&s);
    kith_pairs *found = NULL, *other = NULL;
    assert_ok(counted(kith_pairs_compute(p->context, &options, positions, s.cells, &found)));
    assert_is_expected(&s, found, &expected, "a random scene");
    /* The same list, and then less of it, in the same memory. */
    some.method = any_method(p);
    assert_ok(counted(kith_pairs_compute(p->other, &some, s.positions, s.cells, &other)));
    assert_same_list(other, found);
    some.quantities = (unsigned)whole(p, 0, 2 * KITH_PAIRS_COUNTS - 1);
    assert_ok(counted(kith_pairs_compute(p->other, &some, positions, s.cells, &other)));
    assert_int_equal(other->count, found->count);
    assert_same_array("offsets", other->offsets, found->offsets);
    if (!kith_array_is_none(other->j))
        assert_same_array("j", other->j, found->j);
    kith_pairs_free(found);
    kith_pairs_free(other);
    expectation_free(&expected);
    scene_free(&s);
}

/* The nearest of a row are the first of its pairs by distance, j and shift. */
static int compare_nearness(const void *a, const void *b)
{
    const struct pair *first = a, *second = b;
    if (first->i != second->i)
        return first->i < second->i ? -1 : 1;
    if (first->distance != second->distance)
        return first->distance < second->distance ? -1 : 1;
    return compare_pairs(a, b);
}

static void assert_nearest(const struct scene *s, int64_t k, const kith_pairs *found)
{
    struct expectation expected = expect(s);
    int64_t at = 0, row_begin = 0;
    qsort(expected.list.pairs, (size_t)expected.list.count, sizeof *expected.list.pairs,
          compare_nearness);
    for (int64_t n = 0; n < expected.list.count; n++) {
        if (n > 0 && expected.list.pairs[n].i != expected.list.pairs[n - 1].i)
            row_begin = n;
        if (n - row_begin >= k)
            continue;
        const struct pair pair = pair_at(found, at++, s->dimensions);
        if (!is_same_pair(&pair, &expected.list.pairs[n], s->dimensions))
            fail_msg("nearest %lld is (%lld, %lld) at %.17g, not (%lld, %lld) at %.17g",
                     (long long)at - 1, (long long)pair.i, (long long)pair.j, pair.distance,
                     (long long)expected.list.pairs[n].i, (long long)expected.list.pairs[n].j,
                     expected.list.pairs[n].distance);
    }
    assert_int_equal(at, found->count);
    expectation_free(&expected);
}

void nearest_points_are_those_of_the_definition(struct property *p)
{
    struct scene s = any_scene(p);
    const int64_t k = whole(p, 0, chance(p, 0.1) ? 100 : 12);
    kith_pairs *found = NULL, *other = NULL;
    free(s.radii.data), free(s.query_radii.data);
    free(s.exclusions.data), free(s.exclusion_offsets.data);
    s.radii = s.query_radii = s.exclusions = s.exclusion_offsets = kith_array_none();
    s.options.half = false;
    kith_pairs_options options = laid_options(p, &s);
    const kith_array positions = laid_anew(p, s.positions);
    assert_ok(counted(kith_pairs_nearest(p->context, &options, positions, s.cells, k, &found)));
    assert_nearest(&s, k, found);
    options.cutoff = 0;
    const kith_status status =
        counted(kith_pairs_nearest(p->context, &options, positions, s.cells, k, &found));
    if (status == KITH_UNSUPPORTED) { /* far apart along the open axes of a cell that is tiny */
        assert_true(has_fields(kith_error_message(), "cutoff"));
        kith_pairs_free(found);
        scene_free(&s);
        return;
    }
    assert_ok(status);
    options.method = any_method(p);
    assert_ok(counted(kith_pairs_nearest(p->other, &options, positions, s.cells, k, &other)));
    assert_same_list(found, other);
    kith_pairs_free(found);
    kith_pairs_free(other);
    scene_free(&s);
}

/* What a kept list has within the cutoff is what a new list has. */
static void assert_has_pairs(const kith_pairs *kept, const kith_pairs *anew, double cutoff)
{
    int64_t within = 0;
    for (int64_t k = 0; k < kept->count; k++)
        within += array_get(kept->distances, k, 0) < cutoff;
    assert_int_equal(within, anew->count);
}

void lists_are_kept_as_they_would_be_made(struct property *p)
{
    struct scene s = any_scene(p);
    kith_pairs_options options = options_of(&s), exact = options;
    kith_pairs *kept = NULL, *anew = NULL;
    options.skin = options.cutoff * random_uniform(&p->random, 0, 0.5);
    options.method = any_method(p);
    const bool has_radii = !kith_array_is_none(options.radii);
    for (int turn = 0; turn < 4 && !has_radii; turn++) {
        bool rebuilt = false;
        const kith_status status =
            counted(kith_pairs_update(p->context, &options, s.positions, s.cells, &kept, &rebuilt));
        const kith_status expected =
            counted(kith_pairs_compute(p->other, &exact, s.positions, s.cells, &anew));
        assert_int_equal(status, expected);
        if (status != KITH_OK)
            break;
        const double cutoff =
            s.dtype == KITH_F32 ? (double)(float)s.options.cutoff : s.options.cutoff;
        if (rebuilt)
            assert_has_pairs(kept, anew, cutoff);
        for (int64_t i = 0; i < s.n; i++)
            for (int64_t c = 0; c < s.dimensions; c++)
                array_put(s.positions, i, c,
                          array_get(s.positions, i, c) +
                              options.skin * random_uniform(&p->random, -0.2, 0.2));
    }
    kith_pairs_free(kept);
    kith_pairs_free(anew);
    scene_free(&s);
}
