/* Bad calls of forces, matrices and laws. */

#include "spoil.h"

static kith_law *any_law(struct property *p)
{
    static const char *const texts[] = {"coulomb",    "yukawa:0.7", "power:2.5",
                                        "thin-plate", "sum",        "lennard-jones"};
    kith_law *law = NULL;
    if (chance(p, 0.5))
        assert_ok(kith_law_parse(texts[whole(p, 0, 5)], 0, NULL, &law));
    return law;
}

static void add_arrays(struct slots *slots, kith_array *arrays, int count)
{
    for (int k = 0; k < count; k++)
        slot_add(slots, ARRAY, &arrays[k]);
}

void bad_forces(struct property *p)
{
    enum {
        TARGETS,
        SOURCES,
        MASSES,
        CHARGES,
        SOFTENING,
        TARGET_MASSES,
        TARGET_CHARGES,
        TARGET_SOFTENING,
        ACCELERATION,
        POTENTIAL,
        TARGET_DIRECTIONS,
        SOURCE_DIRECTIONS,
        array_count
    };
    const kith_dtype dtype = any_real(p);
    const int64_t n = whole(p, 0, 9), m = whole(p, 0, 9), d = whole(p, 2, 3);
    const bool own = chance(p, 0.5);
    kith_array a[array_count] = {[TARGETS] =
                                     own ? kith_array_none() : roomy_array(p, dtype, 2, n, d),
                                 [SOURCES] = roomy_array(p, dtype, 2, m, d),
                                 [MASSES] = roomy_array(p, dtype, 1, m, 1),
                                 [ACCELERATION] = roomy_array(p, dtype, 2, own ? m : n, d),
                                 [POTENTIAL] = roomy_array(p, dtype, 1, own ? m : n, 1),
                                 [TARGET_DIRECTIONS] = roomy_array(p, dtype, 2, own ? m : n, d),
                                 [SOURCE_DIRECTIONS] = roomy_array(p, dtype, 2, m, d)};
    kith_context *context = p->context;
    kith_law *law = any_law(p);
    kith_forces_options options = {.softening = chance(p, 0.5) ? 0 : 0.1, .law = law};
    if (chance(p, 0.3))
        a[CHARGES] = roomy_array(p, dtype, 1, m, 1);
    const char *names[] = {"m", "q", "softening"};
    struct slots slots = {0};
    add_arrays(&slots, a, array_count);
    slot_add(&slots, POINTER, &context);
    slot_add(&slots, REAL, &options.gravitational_constant);
    slot_add(&slots, REAL, &options.softening);
    slot_add(&slots, INT32, &options.method);
    slot_add(&slots, INT32, &options.sum);
    slot_add(&slots, INT32, &options.block);
    slot_add(&slots, INT32, &options.unroll);
    spoil(p, &slots);
    if (chance(p, 0.05))
        names[whole(p, 0, 2)] = chance(p, 0.5) ? NULL : "mass";
    const kith_particles targets = {.positions = a[TARGETS],
                                    .columns = {{names[0], a[TARGET_MASSES]},
                                                {names[1], a[TARGET_CHARGES]},
                                                {names[2], a[TARGET_SOFTENING]}}};
    const kith_particles sources = {
        .positions = a[SOURCES],
        .columns = {{names[0], a[MASSES]}, {names[1], a[CHARGES]}, {names[2], a[SOFTENING]}}};
    const kith_forces_options *chosen = chance(p, 0.05) ? NULL : &options;
    if (chance(p, 0.6))
        assert_told("kith_forces_compute",
                    counted(kith_forces_compute(context, chosen, &targets,
                                                chance(p, 0.02) ? NULL : &sources, a[ACCELERATION],
                                                a[POTENTIAL])));
    else
        assert_told(
            "kith_forces_derivative",
            counted(kith_forces_derivative(context, chosen, &targets,
                                           chance(p, 0.02) ? NULL : &sources, a[TARGET_DIRECTIONS],
                                           a[SOURCE_DIRECTIONS], a[ACCELERATION], a[POTENTIAL])));
    kith_law_free(law);
}

/* One of the functions of kith/matrix.h with these arguments. */
static kith_status call_matrix(struct property *p, kith_context *context, const kith_law *law,
                               const kith_matrix_options *options, const kith_particles *rows,
                               const kith_particles *columns, kith_array *to, double bounds[2],
                               int32_t reduction)
{
    switch (whole(p, 0, 4)) {
    case 0:
        return kith_matrix_compute(context, law, options, rows, columns, to[0]);
    case 1:
        return kith_matrix_reduce(context, law, options, rows, columns,
                                  (kith_matrix_reduction)reduction,
                                  reduction == KITH_REDUCE_ARGMIN ? to[3] : to[1]);
    case 2:
        return kith_matrix_histogram(context, law, options, rows, columns, bounds[0], bounds[1],
                                     to[3]);
    case 3:
        return kith_matrix_multiply(context, law, options, rows, columns, to[2], to[1]);
    default:
        return kith_matrix_write(context, law, options, rows, columns, whole(p, -1, 9), NULL, NULL);
    }
}

void bad_matrix(struct property *p)
{
    const kith_dtype dtype = any_real(p);
    const int64_t n = whole(p, 0, 9), d = whole(p, 2, 3), m = chance(p, 0.5) ? whole(p, 0, 9) : n;
    kith_particles rows = {
        .positions = roomy_array(p, dtype, 2, n, d),
        .columns = {{"m", roomy_array(p, dtype, 1, n, 1)}, {"q", roomy_array(p, dtype, 1, n, 1)}}};
    kith_particles columns = {.positions = roomy_array(p, dtype, 2, m, d),
                              .columns = {{"m", kith_array_none()}}};
    const kith_particles *of_rows = &rows, *of_columns = m == n ? NULL : &columns;
    kith_array to[] = {roomy_array(p, dtype, 2, n, m), roomy_array(p, dtype, 1, n, 1),
                       roomy_array(p, dtype, 1, m, 1), roomy_array(p, KITH_I64, 1, n, 1)};
    kith_context *context = p->context;
    kith_law *law = any_law(p);
    kith_matrix_options options = {.softening = 0.1};
    double bounds[2] = {-1, 1};
    int32_t reduction = (int32_t)whole(p, 0, 3);
    struct slots slots = {0};
    add_arrays(&slots, to, 4);
    slot_add(&slots, ARRAY, &rows.positions);
    slot_add(&slots, ARRAY, &rows.columns[0].values);
    slot_add(&slots, ARRAY, &rows.columns[1].values);
    slot_add(&slots, ARRAY, &columns.positions);
    slot_add(&slots, ARRAY, &columns.columns[0].values);
    slot_add(&slots, POINTER, &of_rows);
    slot_add(&slots, POINTER, &context);
    slot_add(&slots, REAL, &options.softening);
    slot_add(&slots, REAL, &options.diagonal_value);
    slot_add(&slots, INT32, &options.diagonal);
    slot_add(&slots, INT32, &options.method);
    slot_add(&slots, INT32, &options.block);
    slot_add(&slots, INT32, &reduction);
    slot_add(&slots, REAL, &bounds[0]);
    slot_add(&slots, REAL, &bounds[1]);
    options.symmetric = chance(p, 0.2);
    spoil(p, &slots);
    assert_told("a function of kith/matrix.h",
                counted(call_matrix(p, context, law, &options, of_rows, of_columns, to, bounds,
                                    reduction)));
    kith_law_free(law);
}

/* What a law has to say of a pair, of its parameters and of itself. */
static void ask_law(struct property *p, kith_law *law)
{
    kith_law_pair pair = {{0.5, -0.25, 1}, 0.1, 1, 2, -1, 1};
    const kith_law_pair *of = &pair;
    const char *name = "L";
    double value = 0, force[3], *to = &value;
    struct slots slots = {0};
    for (int k = 0; k < 3; k++)
        slot_add(&slots, REAL, &pair.d[k]);
    slot_add(&slots, REAL, &pair.softening);
    slot_add(&slots, REAL, &pair.mass_i);
    slot_add(&slots, REAL, &pair.charge_j);
    slot_add(&slots, POINTER, &of);
    slot_add(&slots, POINTER, &law);
    slot_add(&slots, TEXT, &name);
    slot_add(&slots, REAL, &value);
    slot_add(&slots, POINTER, &to);
    spoil(p, &slots);
    assert_told("kith_law_evaluate",
                counted(kith_law_evaluate(law, of, to, chance(p, 0.5) ? force : NULL)));
    assert_told("kith_law_set", counted(kith_law_set(law, name, value)));
    assert_told("kith_law_get", counted(kith_law_get(law, name, to)));
    assert_non_null(kith_law_text(law));
}

void bad_laws(struct property *p)
{
    static const char *const texts[] = {"yukawa:0.7",  "lennard-jones:1,2",
                                        "gravity",     "expr:L*r + m_i",
                                        "morse:1,2,3", "expr:exp(-r/L) > 2"};
    kith_law_parameter parameters[2] = {{"L", 2}, {"k", 1}};
    const kith_law_parameter *given = parameters;
    const char *text = texts[whole(p, 0, 5)];
    int64_t count = whole(p, 0, 2);
    kith_law *law = NULL, *none = NULL, **to = &law;
    struct slots slots = {0};
    slot_add(&slots, TEXT, &text);
    slot_add(&slots, FEW, &count);
    slot_add(&slots, POINTER, &given);
    slot_add(&slots, TEXT, &parameters[0].name);
    slot_add(&slots, REAL, &parameters[0].value);
    slot_add(&slots, POINTER, &to);
    spoil(p, &slots);
    const kith_status status = counted(kith_law_parse(text, count, given, to));
    assert_told("kith_law_parse", status);
    if (to)
        assert_int_equal(status == KITH_OK, law != NULL);
    if (chance(p, 0.2)) /* nothing is compiled that has no text */
        assert_told("kith_law_compile",
                    counted(kith_law_compile(chance(p, 0.5) ? NULL : p->context, NULL, count, given,
                                             to ? &none : NULL)));
    else if (law || chance(p, 0.2))
        ask_law(p, law);
    kith_law_free(law);
}
