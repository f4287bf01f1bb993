#include "../testing/particles.h"
#include "scenarios.h"

#include <stdlib.h>
#include <string.h>

enum { n = 7, dimensions = 3 };

/* Points near each other, none in one place. */
static const double points[n * dimensions] = {
    0, 0, 0, 1, 0.5, 0, 0.25, 1.5, 0.75, 2, 0.5, 1.25, 1.5, 1.5, 0.5, 0.5, 2.5, 1, 2.5, 2, 2};
static const double masses[n] = {1, 2, 0.5, 1.5, 1, 0.25, 3};
static const float narrow_points[n * dimensions] = {0,    0,     0,    1,    0.5F,  0,    0.25F,
                                                    1.5F, 0.75F, 2,    0.5F, 1.25F, 1.5F, 1.5F,
                                                    0.5F, 0.5F,  2.5F, 1,    2.5F,  2,    2};

void fold(struct call *call, const void *data, int64_t bytes)
{
    const unsigned char *at = data;
    for (int64_t k = 0; k < bytes; k++)
        call->digest = (call->digest ^ at[k]) * 0x100000001b3u;
}

kith_status scenario_run(const struct scenario *scenario, const kith_context_options *options,
                         const char *folder, uint64_t *digest)
{
    struct call call = {.folder = folder, .digest = 0xcbf29ce484222325u};
    kith_status status = kith_context_create(options, &call.context);
    if (status == KITH_OK)
        status = scenario->run(&call);
    kith_context_free(call.context);
    *digest = call.digest;
    return status;
}

/* An array has no const, for those that are written; these are only read. */
static void *as_data(const void *numbers)
{
    void *data = NULL;
    memcpy(&data, &numbers, sizeof data);
    return data;
}

static kith_array doubles(const double *values, int64_t count)
{
    return kith_array_vector(as_data(values), KITH_F64, count);
}

static kith_array positions(void)
{
    return kith_array_matrix(as_data(points), KITH_F64, n, dimensions);
}

static kith_status forces_by(struct call *call, const kith_forces_options *options)
{
    double acceleration[n * dimensions] = {0}, potential[n] = {0};
    const kith_status status = kith_forces_compute(
        call->context, options, NULL, PARTICLES(positions(), {"m", doubles(masses, n)}),
        kith_array_matrix(acceleration, KITH_F64, n, dimensions),
        kith_array_vector(potential, KITH_F64, n));
    fold(call, acceleration, sizeof acceleration);
    fold(call, potential, sizeof potential);
    return status;
}

static kith_status forces(struct call *call)
{
    const kith_solver *reference = NULL;
    kith_status status = kith_solver_find("reference", &reference);
    const kith_forces_options each[] = {{.softening = 0.1},
                                        {.softening = 0.1, .solver = reference},
                                        {.softening = 0.1, .method = KITH_FORCES_SPLIT},
                                        {.softening = 0.1, .method = KITH_FORCES_SYMMETRIC}};
    for (int k = 0; k < 4 && status == KITH_OK; k++)
        status = forces_by(call, &each[k]);
    return status;
}

static kith_status narrow_forces(struct call *call)
{
    float acceleration[n * dimensions] = {0};
    const kith_status status = kith_forces_compute(
        call->context, NULL, NULL,
        POINTS(kith_array_matrix(as_data(narrow_points), KITH_F32, n, dimensions)),
        kith_array_matrix(acceleration, KITH_F32, n, dimensions), kith_array_none());
    fold(call, acceleration, sizeof acceleration);
    return status;
}

static kith_status forces_by_law(struct call *call)
{
    kith_law *law = NULL;
    kith_status status = kith_law_parse("yukawa:2.5", 0, NULL, &law);
    const kith_forces_options options = {.law = law, .softening = 0.1};
    if (status == KITH_OK)
        status = forces_by(call, &options);
    kith_law_free(law);
    return status;
}

static kith_status laws(struct call *call)
{
    const kith_law_parameter parameter = {"a", 2};
    const kith_law_pair pair = {{1, -2, 0.5}, 0, 2, 3, -1, 1};
    double value = 0, force[3] = {0};
    kith_law *law = NULL;
    kith_status status = kith_law_parse("expr:-m_i*m_j/(r + a)*exp(-r/a)", 1, &parameter, &law);
    if (status == KITH_OK)
        status = kith_law_evaluate(law, &pair, &value, force);
    if (status == KITH_OK)
        status = kith_law_set(law, "a", 3);
    kith_law_free(law);
    fold(call, &value, sizeof value);
    fold(call, force, sizeof force);
    return status;
}

static kith_status matrix(struct call *call)
{
    double values[n * n] = {0}, sums[n] = {0}, product[n] = {0};
    int64_t counts[4] = {0};
    const kith_particles particles = {.positions = positions(),
                                      .columns = {{"m", doubles(masses, n)}}};
    kith_law *law = NULL;
    kith_status status = kith_law_parse("gravity", 0, NULL, &law);
    if (status == KITH_OK)
        status = kith_matrix_compute(call->context, law, NULL, &particles, NULL,
                                     kith_array_matrix(values, KITH_F64, n, n));
    if (status == KITH_OK)
        status = kith_matrix_reduce(call->context, law, NULL, &particles, NULL, KITH_REDUCE_SUM,
                                    kith_array_vector(sums, KITH_F64, n));
    if (status == KITH_OK)
        status = kith_matrix_histogram(call->context, law, NULL, &particles, NULL, -2, 0,
                                       kith_array_vector(counts, KITH_I64, 4));
    if (status == KITH_OK)
        status = kith_matrix_multiply(call->context, law, NULL, &particles, NULL,
                                      doubles(masses, n), kith_array_vector(product, KITH_F64, n));
    kith_law_free(law);
    fold(call, values, sizeof values);
    fold(call, sums, sizeof sums);
    fold(call, counts, sizeof counts);
    fold(call, product, sizeof product);
    return status;
}

static void fold_pairs(struct call *call, const kith_pairs *pairs)
{
    if (!pairs)
        return;
    fold(call, pairs->i.data, pairs->count * 8);
    fold(call, pairs->j.data, pairs->count * 8);
    fold(call, pairs->distances.data, pairs->count * 8);
}

static const kith_cell cell = {{{3, 0, 0}, {0, 3, 0}, {0, 0, 3}}, {true, true, true}};

static kith_status pairs(struct call *call)
{
    static const kith_pairs_method methods[] = {KITH_PAIRS_CELLS, KITH_PAIRS_BRUTE_FORCE,
                                                KITH_PAIRS_REFERENCE};
    const int count = kith_context_device(call->context).kind == KITH_CPU ? 3 : 2;
    kith_status status = KITH_OK;
    for (int k = 0; k < count && status == KITH_OK; k++) {
        const kith_pairs_options options = {.cutoff = 1.5,
                                            .quantities = KITH_PAIRS_I | KITH_PAIRS_J |
                                                          KITH_PAIRS_SHIFTS | KITH_PAIRS_VECTORS |
                                                          KITH_PAIRS_DISTANCES,
                                            .method = methods[k]};
        kith_pairs *found = NULL;
        status = kith_pairs_compute(call->context, &options, positions(), &cell, &found);
        if (status == KITH_OK)
            fold_pairs(call, found);
        kith_pairs_free(found);
    }
    return status;
}

/* By a list of pairs, with energies at some steps; on a CPU without two pairs. */
static kith_status steps_within_a_cutoff(struct call *call)
{
    int64_t excluded[2][2] = {{0, 1}, {3, 4}};
    kith_simulation_options options = {.dt = 0.01, .forces = {.cutoff = 1.4, .cell = &cell}};
    kith_simulation *simulation = NULL;
    kith_diagnostics diagnostics = {0};
    kith_bodies *bodies = NULL;
    kith_law *law = NULL;
    if (kith_context_device(call->context).kind == KITH_CPU)
        options.forces.exclusions = kith_array_matrix(excluded, KITH_I64, 2, 2);
    kith_status status = kith_law_parse("gaussian:0.5", 0, NULL, &law);
    options.forces.law = law;
    if (status == KITH_OK)
        status = kith_bodies_create(n, dimensions, KITH_VELOCITY | KITH_MASS, &bodies);
    if (status == KITH_OK) {
        memcpy(bodies->position, points, sizeof points);
        memcpy(bodies->mass, masses, sizeof masses);
        status = kith_simulation_create(call->context, &options, bodies, &simulation);
    }
    for (int k = 0; k < 3 && status == KITH_OK; k++) {
        status = kith_simulation_step(simulation, 2);
        if (status == KITH_OK)
            status = kith_simulation_diagnose(simulation, &diagnostics);
    }
    fold(call, &diagnostics.total_energy, sizeof diagnostics.total_energy);
    fold(call, diagnostics.virial, sizeof diagnostics.virial);
    kith_simulation_free(simulation);
    kith_bodies_free(bodies);
    kith_law_free(law);
    return status;
}

static kith_status updated_pairs(struct call *call)
{
    const kith_pairs_options options = {.cutoff = 1.2,
                                        .skin = 0.3,
                                        .quantities =
                                            KITH_PAIRS_I | KITH_PAIRS_J | KITH_PAIRS_DISTANCES};
    kith_pairs *found = NULL;
    kith_status status = KITH_OK;
    for (int k = 0; k < 2 && status == KITH_OK; k++)
        status = kith_pairs_update(call->context, &options, positions(), &cell, &found, NULL);
    if (status == KITH_OK)
        fold_pairs(call, found);
    kith_pairs_free(found);
    return status;
}

static kith_status nearest_pairs(struct call *call)
{
    const kith_pairs_options options = {.quantities =
                                            KITH_PAIRS_I | KITH_PAIRS_J | KITH_PAIRS_DISTANCES};
    kith_pairs *found = NULL;
    const kith_status status =
        kith_pairs_nearest(call->context, &options, positions(), &cell, 3, &found);
    if (status == KITH_OK)
        fold_pairs(call, found);
    kith_pairs_free(found);
    return status;
}

static const int32_t beads[9 * 3] = {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0,
                                     0, 0, 0, 1, 1, 0, 1, 1, 0, 0, 5, 5, 5};

static kith_array bead_array(void)
{
    return kith_array_matrix(as_data(beads), KITH_I32, 9, 3);
}

static kith_status collisions(struct call *call)
{
    int64_t methods = 0, count = 0, contacts = 0;
    kith_status status = KITH_OK;
    kith_collisions_method_list(&methods);
    for (int64_t k = 0; k < methods && status == KITH_OK; k++) {
        const kith_collisions_options options = {.method = (kith_collisions_method)k};
        status = kith_collisions_count(call->context, &options, bead_array(), &count);
        fold(call, &count, sizeof count);
    }
    if (status == KITH_OK)
        status = kith_contacts_count(call->context, bead_array(), "HPHHPPHPH", &contacts);
    fold(call, &contacts, sizeof contacts);
    return status;
}

/* On the context's device, and back. */
static kith_status updated_columns(struct call *call)
{
    static const kith_named_formula updates[] = {{"v", "v_i + dt * f"}, {"x", "x_i + dt * v_i"}};
    static const kith_named_formula lets[] = {{"f", "-x_i"}};
    static const kith_law_parameter parameters[] = {{"dt", 0.5}};
    const kith_update_options options = {
        .let_count = 1, .lets = lets, .parameter_count = 1, .parameters = parameters};
    kith_particle_column columns[] = {{"x", kith_array_none()}, {"v", kith_array_none()}};
    double back[2][n] = {{0}};
    kith_status status = KITH_OK;
    for (int k = 0; k < 2 && status == KITH_OK; k++) {
        status = kith_array_create(call->context, KITH_F64, n, 0, &columns[k].values);
        if (status == KITH_OK)
            status = kith_array_copy(call->context, doubles(masses, n), columns[k].values);
    }
    if (status == KITH_OK)
        status = kith_columns_update(call->context, &options, 2, columns, 2, updates);
    for (int k = 0; k < 2; k++) {
        if (status == KITH_OK)
            status = kith_array_copy(call->context, columns[k].values,
                                     kith_array_vector(back[k], KITH_F64, n));
        kith_array_free(call->context, &columns[k].values);
    }
    fold(call, back, sizeof back);
    return status;
}

static kith_status collision_lists(struct call *call)
{
    int64_t list[64] = {0};
    kith_collisions_groups *groups = NULL;
    kith_status status = kith_collisions_group(call->context, bead_array(), &groups);
    if (status == KITH_OK)
        status = kith_collisions_pairs(groups, list);
    kith_collisions_groups_free(groups);
    fold(call, list, sizeof list);
    return status;
}

static kith_status collision_batch(struct call *call)
{
    int64_t counts[3] = {0};
    const kith_array batch = {as_data(beads), {KITH_CPU, 0}, 3, KITH_I32, {3, 3, 3}, {9, 3, 1}};
    const kith_status status =
        kith_collisions_batch(call->context, batch, kith_array_none(), NULL,
                              kith_array_vector(counts, KITH_I64, 3), kith_array_none());
    fold(call, counts, sizeof counts);
    return status;
}

static kith_status promises(struct call *call)
{
    kith_collisions_promise *promise[2] = {NULL, NULL};
    int64_t counts[2] = {0};
    kith_status status = KITH_OK;
    for (int k = 0; k < 2 && status == KITH_OK; k++)
        status = kith_collisions_launch(call->context, NULL, bead_array(), &promise[k]);
    for (int k = 0; k < 2 && status == KITH_OK; k++)
        status = kith_collisions_fetch(promise[k], &counts[k]);
    for (int k = 0; k < 2; k++)
        kith_collisions_promise_free(promise[k]);
    fold(call, counts, sizeof counts);
    return status;
}

static const double dense[25] = {4,  -1, 0, 0, 0,  -1, 4,  -1, 0, 0, 0,  -1, 4,
                                 -1, 0,  0, 0, -1, 4,  -1, 0,  0, 0, -1, 4};

static kith_status multiply_both_ways(struct call *call, kith_sparse *sparse)
{
    static const double x[5] = {1, 2, 3, 4, 5};
    kith_status status = KITH_OK;
    for (int k = 0; k < 2 && status == KITH_OK; k++) {
        double y[5] = {0};
        kith_sparse_info info;
        const kith_sparse_operation operation = k ? KITH_SPARSE_TRANSPOSED : KITH_SPARSE_AS_IS;
        status = kith_sparse_describe(sparse, operation, &info);
        if (status == KITH_OK)
            status = kith_sparse_multiply(sparse, operation, 1, doubles(x, 5), 0,
                                          kith_array_vector(y, KITH_F64, 5));
        fold(call, y, sizeof y);
    }
    return status;
}

static kith_status sparse_formats(struct call *call)
{
    int64_t formats = 0;
    kith_status status = KITH_OK;
    kith_sparse_format_list(&formats);
    for (int64_t k = 0; k < formats && status == KITH_OK; k++) {
        const kith_sparse_options options = {.format = (kith_sparse_format)k};
        kith_sparse *sparse = NULL;
        status = kith_sparse_create_dense(
            call->context, &options, kith_array_matrix(as_data(dense), KITH_F64, 5, 5), &sparse);
        if (status == KITH_OK)
            status = multiply_both_ways(call, sparse);
        kith_sparse_free(sparse);
    }
    return status;
}

static kith_status sparse_entries(struct call *call)
{
    static const int64_t row[] = {0, 2, 2, 4, 1}, column[] = {0, 1, 1, 4, 3},
                         start[] = {0, 2, 3, 3, 4, 5};
    static const double value[] = {1, 2, 3, 4, 5};
    const kith_array rows = kith_array_vector(as_data(row), KITH_I64, 5);
    const kith_array columns = kith_array_vector(as_data(column), KITH_I64, 5);
    const kith_array starts = kith_array_vector(as_data(start), KITH_I64, 6);
    int64_t row_start[6] = {0};
    kith_sparse *coo = NULL, *csr = NULL;
    kith_status status =
        kith_sparse_create_coo(call->context, NULL, 5, 5, rows, columns, doubles(value, 5), &coo);
    if (status == KITH_OK)
        status = kith_sparse_create_csr(call->context, NULL, 5, starts, columns, doubles(value, 5),
                                        &csr);
    if (status == KITH_OK)
        status = kith_sparse_copy_csr(coo, row_start, NULL, NULL);
    kith_sparse_free(coo);
    kith_sparse_free(csr);
    fold(call, row_start, sizeof row_start);
    return status;
}

static kith_status sparse_of_pairs(struct call *call)
{
    const kith_pairs_options options = {.cutoff = 1.5, .quantities = KITH_PAIRS_J};
    const kith_sparse_graph graph = {.laplacian = true};
    kith_pairs *found = NULL;
    kith_sparse *sparse = NULL;
    int64_t row_start[n + 1] = {0};
    kith_status status = kith_pairs_compute(call->context, &options, positions(), NULL, &found);
    if (status == KITH_OK)
        status = kith_sparse_create_pairs(call->context, NULL, found, &graph, &sparse);
    if (status == KITH_OK)
        status = kith_sparse_copy_csr(sparse, row_start, NULL, NULL);
    kith_sparse_free(sparse);
    kith_pairs_free(found);
    fold(call, row_start, sizeof row_start);
    return status;
}

const struct scenario scenarios_of_computing[] = {
    {"forces", forces},
    {"forces in single precision", narrow_forces},
    {"forces by a law", forces_by_law},
    {"laws", laws},
    {"matrix", matrix},
    {"pairs", pairs},
    {"pairs updated", updated_pairs},
    {"steps within a cutoff", steps_within_a_cutoff},
    {"nearest pairs", nearest_pairs},
    {"columns updated", updated_columns},
    {"collisions", collisions},
    {"lists of collisions", collision_lists},
    {"batch of collisions", collision_batch},
    {"promises", promises},
    {"sparse formats", sparse_formats},
    {"sparse entries", sparse_entries},
    {"sparse of pairs", sparse_of_pairs},
    {NULL, NULL},
};
