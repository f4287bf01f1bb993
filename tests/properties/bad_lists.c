/* Bad calls of pairs, collisions and sparse matrices. */

#include "spoil.h"

static void add_pairs_options(struct slots *slots, kith_pairs_options *options)
{
    slot_add(slots, REAL, &options->cutoff);
    slot_add(slots, REAL, &options->skin);
    slot_add(slots, INT32, &options->quantities);
    slot_add(slots, INT32, &options->method);
    slot_add(slots, INT64, &options->memory_limit);
    slot_add(slots, ARRAY, &options->queries);
    slot_add(slots, ARRAY, &options->radii);
    slot_add(slots, ARRAY, &options->query_radii);
    slot_add(slots, ARRAY, &options->exclusion_offsets);
    slot_add(slots, ARRAY, &options->exclusions);
    slot_add(slots, ARRAY, &options->system_offsets);
    slot_add(slots, ARRAY, &options->query_system_offsets);
}

static kith_pairs_options good_options(struct property *p, kith_dtype dtype, int64_t n, int64_t d)
{
    kith_pairs_options options = {.cutoff = 0.5, .quantities = (unsigned)whole(p, 0, 63)};
    options.half = chance(p, 0.2);
    if (chance(p, 0.2))
        options.queries = roomy_array(p, dtype, 2, 4, d);
    else if (chance(p, 0.3))
        options.radii = roomy_array(p, dtype, 1, n, 1);
    if (chance(p, 0.2)) {
        options.system_offsets = roomy_array(p, KITH_I64, 1, 2, 1);
        array_put(options.system_offsets, 0, 0, 0);
        array_put(options.system_offsets, 1, 0, (double)n);
    }
    return options;
}

void bad_pairs(struct property *p)
{
    const kith_dtype dtype = any_real(p);
    const int64_t n = whole(p, 0, 9), d = whole(p, 2, 3);
    kith_array positions = roomy_array(p, dtype, 2, n, d);
    kith_pairs_options options = good_options(p, dtype, n, d);
    const kith_pairs_options *given = &options;
    enum { most_systems = 16 }; /* that spoiled offsets may describe */
    kith_cell cell = {{{1, 0, 0}, {0.2, 1.1, 0}, {0, 0.1, 0.9}}, {true, true, d == 3}};
    kith_cell cells[most_systems];
    const kith_cell *in = chance(p, 0.6) ? cells : NULL;
    kith_context *context = p->context;
    kith_pairs *list = NULL, **to = &list;
    int64_t k = whole(p, 0, 5);
    struct slots slots = {0};
    slot_add(&slots, ARRAY, &positions);
    add_pairs_options(&slots, &options);
    slot_add(&slots, POINTER, &given);
    slot_add(&slots, POINTER, &context);
    slot_add(&slots, POINTER, &to);
    slot_add(&slots, REAL, &cell.vectors[whole(p, 0, 2)][whole(p, 0, 2)]);
    slot_add(&slots, INT64, &k);
    spoil(p, &slots);
    for (int s = 0; s < most_systems; s++)
        cells[s] = cell;
    const int64_t way = whole(p, 0, 2);
    const kith_status status =
        way == 0   ? counted(kith_pairs_compute(context, given, positions, in, to))
        : way == 1 ? counted(kith_pairs_nearest(context, given, positions, in, k, to))
                   : counted(kith_pairs_update(context, given, positions, in, to, NULL));
    assert_told("a function of kith/pairs.h", status);
    if (status != KITH_OK)
        assert_null(list);
    kith_pairs_free(list);
}

void bad_collisions(struct property *p)
{
    const int64_t n = whole(p, 0, 9);
    kith_array beads = roomy_array(p, chance(p, 0.5) ? KITH_I32 : KITH_I64, 2, n, whole(p, 2, 3));
    kith_collisions_options options = {(kith_collisions_method)whole(p, 0, 10)};
    char letters[16] = "HPHPPHHPHPH";
    letters[n] = 0;
    kith_context *context = p->context;
    const char *sequence = letters;
    int64_t count = 0, *to = &count;
    kith_collisions_method method, *chosen = &method;
    kith_collisions_promise *promise = NULL, **to_promise = &promise;
    kith_collisions_groups *groups = NULL, **to_groups = &groups;
    kith_collisions_summary summary;
    struct slots slots = {0};
    slot_add(&slots, ARRAY, &beads);
    slot_add(&slots, INT32, &options.method);
    slot_add(&slots, POINTER, &context);
    slot_add(&slots, TEXT, &sequence);
    slot_add(&slots, POINTER, &to);
    slot_add(&slots, POINTER, &chosen);
    slot_add(&slots, POINTER, &to_promise);
    slot_add(&slots, POINTER, &to_groups);
    spoil(p, &slots);
    assert_told("kith_collisions_count",
                counted(kith_collisions_count(context, &options, beads, to)));
    assert_told("kith_collisions_choose",
                counted(kith_collisions_choose(context, &options, beads, chosen)));
    assert_told("kith_collisions_launch",
                counted(kith_collisions_launch(context, &options, beads, to_promise)));
    assert_told("kith_collisions_fetch", counted(kith_collisions_fetch(promise, to)));
    assert_told("kith_collisions_group", counted(kith_collisions_group(context, beads, to_groups)));
    assert_told("kith_collisions_summarize",
                counted(kith_collisions_summarize(context, beads, &summary)));
    assert_told("kith_collisions_pairs", counted(kith_collisions_pairs(groups, NULL)));
    assert_told("kith_contacts_count", counted(kith_contacts_count(context, beads, sequence, to)));
    assert_told("kith_hp_energy", counted(kith_hp_energy(context, beads, sequence, to)));
    kith_collisions_promise_free(promise);
    kith_collisions_groups_free(groups);
}

void bad_batches(struct property *p)
{
    const int64_t count = whole(p, 0, 4), length = whole(p, 0, 6), d = whole(p, 2, 3);
    kith_array flat = roomy_array(p, KITH_I32, 2, count * length, d), beads = flat;
    kith_array offsets = kith_array_none();
    kith_array collisions = roomy_array(p, KITH_I64, 1, count, 1);
    kith_array contacts = roomy_array(p, KITH_I64, 1, count, 1);
    kith_context *context = p->context;
    const char *sequence = NULL;
    if (chance(p, 0.5)) {
        offsets = roomy_array(p, KITH_I64, 1, count + 1, 1);
        for (int64_t b = 0; b <= count; b++)
            array_put(offsets, b, 0, (double)(b * length));
    } else {
        beads = (kith_array){flat.data, flat.device,        3,
                             KITH_I32,  {count, length, d}, {length * d, d, 1}};
    }
    struct slots slots = {0};
    slot_add(&slots, ARRAY, &beads);
    slot_add(&slots, ARRAY, &offsets);
    slot_add(&slots, ARRAY, &collisions);
    slot_add(&slots, ARRAY, &contacts);
    slot_add(&slots, POINTER, &context);
    slot_add(&slots, TEXT, &sequence);
    spoil(p, &slots);
    assert_told(
        "kith_collisions_batch",
        counted(kith_collisions_batch(context, beads, offsets, sequence, collisions, contacts)));
}

static kith_status call_create(struct property *p, kith_context *context,
                               const kith_sparse_options *options, int64_t size[2], kith_array a[4],
                               const char *path, kith_sparse **to)
{
    switch (whole(p, 0, 4)) {
    case 0:
        return kith_sparse_create_csr(context, options, size[1], a[0], a[1], a[2], to);
    case 1:
        return kith_sparse_create_dense(context, options, a[3], to);
    case 2:
        return kith_sparse_read(context, options, path, to);
    default:
        return kith_sparse_create_coo(context, options, size[0], size[1], a[0], a[1], a[2], to);
    }
}

void bad_sparse(struct property *p)
{
    const kith_dtype dtype = any_real(p), whole_dtype = chance(p, 0.5) ? KITH_I32 : KITH_I64;
    kith_array a[] = {roomy_array(p, whole_dtype, 1, 9, 1), roomy_array(p, whole_dtype, 1, 9, 1),
                      roomy_array(p, dtype, 1, 9, 1), roomy_array(p, dtype, 2, 4, 5)};
    int64_t size[2] = {4, 5};
    kith_sparse_options options = {.format = (kith_sparse_format)whole(p, 0, 7)};
    const kith_sparse_options *given = &options;
    kith_context *context = p->context;
    const char *path = "/nonexistent/a.mtx";
    kith_sparse *sparse = NULL, **to = &sparse;
    struct slots slots = {0};
    for (int k = 0; k < 4; k++)
        slot_add(&slots, ARRAY, &a[k]);
    slot_add(&slots, INT64, &size[0]);
    slot_add(&slots, INT64, &size[1]);
    slot_add(&slots, INT32, &options.format);
    slot_add(&slots, INT32, &options.kernel);
    slot_add(&slots, INT32, &options.block);
    slot_add(&slots, INT32, &options.index_base);
    slot_add(&slots, INT32, &options.dtype);
    slot_add(&slots, POINTER, &given);
    slot_add(&slots, POINTER, &context);
    slot_add(&slots, POINTER, &to);
    slot_add(&slots, TEXT, &path);
    spoil(p, &slots);
    const kith_status status = counted(call_create(p, context, given, size, a, path, to));
    assert_told("making a sparse matrix", status);
    if (to)
        assert_int_equal(status == KITH_OK, sparse != NULL);
    kith_sparse_free(sparse);
}

void bad_products(struct property *p)
{
    const kith_dtype dtype = any_real(p);
    const int64_t vectors = whole(p, 1, 3);
    const kith_array dense = roomy_array(p, dtype, 2, 6, 5);
    kith_sparse *sparse = NULL;
    assert_ok(counted(kith_sparse_create_dense(p->context, NULL, dense, &sparse)));
    kith_sparse *of = sparse;
    kith_array x = roomy_array(p, dtype, vectors == 1 ? 1 : 2, 5, vectors);
    kith_array y = roomy_array(p, dtype, vectors == 1 ? 1 : 2, 6, vectors);
    int32_t operation = KITH_SPARSE_AS_IS;
    double alpha = 1, beta = 0;
    kith_sparse_info info, *to = &info;
    const char *path = "/nonexistent/a.mtx";
    struct slots slots = {0};
    slot_add(&slots, ARRAY, &x);
    slot_add(&slots, ARRAY, &y);
    slot_add(&slots, INT32, &operation);
    slot_add(&slots, REAL, &alpha);
    slot_add(&slots, REAL, &beta);
    slot_add(&slots, POINTER, &of);
    slot_add(&slots, POINTER, &to);
    slot_add(&slots, TEXT, &path);
    spoil(p, &slots);
    assert_told(
        "kith_sparse_multiply",
        counted(kith_sparse_multiply(of, (kith_sparse_operation)operation, alpha, x, beta, y)));
    assert_told("kith_sparse_describe",
                counted(kith_sparse_describe(of, (kith_sparse_operation)operation, to)));
    assert_told("kith_sparse_copy_csr", counted(kith_sparse_copy_csr(of, NULL, NULL, NULL)));
    assert_told("kith_sparse_write", counted(kith_sparse_write(of, path)));
    kith_sparse_free(sparse);
}
