#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "scenarios.h"

enum { path_bytes = 512 };

static const char *in_folder(const struct call *call, const char *name, char path[path_bytes])
{
    snprintf(path, path_bytes, "%s/%s", call->folder, name);
    return path;
}

static void fold_bodies(struct call *call, const kith_bodies *bodies)
{
    if (!bodies)
        return;
    fold(call, bodies->position, bodies->count * bodies->dimensions * 8);
    if (bodies->velocity)
        fold(call, bodies->velocity, bodies->count * bodies->dimensions * 8);
    if (bodies->mass)
        fold(call, bodies->mass, bodies->count * 8);
}

/* A crystal has whole unit cells. */
static int64_t few_of(const kith_initial *kind)
{
    if (kind->fixed_count || kind->default_count == 1)
        return 0;
    return strcmp(kind->name, "fcc") == 0    ? 4
           : strcmp(kind->name, "bcc") == 0  ? 2
           : strcmp(kind->name, "nacl") == 0 ? 8
                                             : 6;
}

static kith_status initial_conditions(struct call *call)
{
    int64_t kinds = 0;
    kith_status status = KITH_OK;
    const kith_initial *list = kith_initial_list(&kinds);
    for (int64_t k = 0; k < kinds && status == KITH_OK; k++) {
        const kith_initial_options options = {.count = few_of(&list[k]), .seed = 1};
        kith_bodies *bodies = NULL;
        status = kith_initial_make(list[k].name, &options, &bodies);
        fold_bodies(call, bodies);
        kith_bodies_free(bodies);
    }
    return status;
}

static kith_status bodies(struct call *call)
{
    kith_bodies *made = NULL;
    kith_status status = kith_bodies_create(5, 2, KITH_VELOCITY | KITH_NAME, &made);
    if (status == KITH_OK)
        status = kith_bodies_add_columns(made, KITH_MASS | KITH_CHARGE | KITH_SOFTENING |
                                                   KITH_RADIUS | KITH_ID);
    if (status == KITH_OK)
        status = kith_bodies_check(made);
    fold_bodies(call, made);
    kith_bodies_free(made);
    return status;
}

/* Writes six bodies in a format and reads them. */
static kith_status there_and_back(struct call *call, const char *name)
{
    char path[path_bytes];
    const kith_initial_options options = {.count = 6, .seed = 1};
    kith_bodies *made = NULL, *read = NULL;
    in_folder(call, name, path);
    kith_status status = kith_initial_make("plummer", &options, &made);
    if (status == KITH_OK)
        status = kith_bodies_write(made, path, NULL);
    if (status == KITH_OK)
        status = kith_bodies_read(path, NULL, &read);
    fold_bodies(call, read);
    kith_bodies_free(made);
    kith_bodies_free(read);
    unlink(path);
    return status;
}

static kith_status csv(struct call *call)
{
    return there_and_back(call, "a.csv");
}

static kith_status xyz(struct call *call)
{
    return there_and_back(call, "a.xyz");
}

static kith_status npy(struct call *call)
{
    return there_and_back(call, "a.npy");
}

static kith_status tipsy(struct call *call)
{
    return there_and_back(call, "a.tipsy");
}

static kith_status npy_array(struct call *call)
{
    char path[path_bytes];
    double values[6] = {1, 2, 3, 4, 5, 6};
    kith_array read = kith_array_none();
    in_folder(call, "v.npy", path);
    kith_status status = kith_npy_write(path, kith_array_matrix(values, KITH_F64, 2, 3));
    if (status == KITH_OK)
        status = kith_npy_read(path, &read);
    if (status == KITH_OK)
        fold(call, read.data, sizeof values);
    free(read.data);
    unlink(path);
    return status;
}

static kith_status integers(struct call *call)
{
    char path[path_bytes];
    const double reals[6] = {1, 2, 3, 4, 5, 6};
    kith_array made = kith_array_none(), read = kith_array_none();
    in_folder(call, "i.npy", path);
    kith_status status = kith_integers_from_reals("beads", reals, 2, 3, &made);
    if (status == KITH_OK)
        status = kith_integers_write(path, made);
    if (status == KITH_OK)
        status = kith_integers_read(path, &read);
    if (status == KITH_OK)
        fold(call, read.data, 6 * kith_dtype_bytes(read.dtype));
    kith_integers_free(&made);
    kith_integers_free(&read);
    unlink(path);
    return status;
}

static kith_status tables(struct call *call)
{
    static const char *const names[] = {"t.csv", "t.npy"};
    double x[3] = {1, 2, 3};
    int64_t k[3] = {4, 5, 6};
    const kith_table_column reals[] = {{"x", kith_array_vector(x, KITH_F64, 3)}};
    const kith_table_column both[] = {{"k", kith_array_vector(k, KITH_I64, 3)},
                                      {"x", kith_array_vector(x, KITH_F64, 3)}};
    char path[path_bytes];
    kith_status status = KITH_OK;
    for (int f = 0; f < 2 && status == KITH_OK; f++) {
        in_folder(call, names[f], path);
        status = kith_table_write(path, NULL, 1, reals);
        if (status == KITH_OK)
            status = kith_table_write_records(path, NULL, 2, both);
        unlink(path);
    }
    return status;
}

static kith_status matrix_file(struct call *call)
{
    char path[path_bytes];
    double points[6] = {0, 0, 0, 1, 2, 2}, seconds = 0;
    const kith_particles particles = {.positions = kith_array_matrix(points, KITH_F64, 2, 3)};
    kith_array read = kith_array_none();
    kith_law *law = NULL;
    in_folder(call, "m.npy", path);
    kith_status status = kith_law_parse("distance", 0, NULL, &law);
    if (status == KITH_OK)
        status = kith_matrix_write(call->context, law, NULL, &particles, NULL, 0, path, &seconds);
    if (status == KITH_OK)
        status = kith_npy_read(path, &read);
    if (status == KITH_OK)
        fold(call, read.data, 4 * 8);
    free(read.data);
    kith_law_free(law);
    unlink(path);
    return status;
}

static kith_status sparse_file(struct call *call)
{
    char path[path_bytes];
    double dense[4] = {1, 0, 2.5, -3};
    int64_t row_start[3] = {0};
    kith_sparse *made = NULL, *read = NULL;
    in_folder(call, "a.mtx", path);
    kith_status status = kith_sparse_create_dense(call->context, NULL,
                                                  kith_array_matrix(dense, KITH_F64, 2, 2), &made);
    if (status == KITH_OK)
        status = kith_sparse_write(made, path);
    if (status == KITH_OK)
        status = kith_sparse_read(call->context, NULL, path, &read);
    if (status == KITH_OK)
        status = kith_sparse_copy_csr(read, row_start, NULL, NULL);
    kith_sparse_free(made);
    kith_sparse_free(read);
    fold(call, row_start, sizeof row_start);
    unlink(path);
    return status;
}

/* Each integrator a few steps, and back to a checkpoint. */
static kith_status simulate(struct call *call, const kith_integrator *integrator,
                            kith_dtype precision)
{
    const kith_initial_options initial = {.count = 6, .seed = 1};
    const kith_simulation_options options = {.dt = 0.01,
                                             .forces.softening = integrator->central ? 0 : 0.1,
                                             .integrator = integrator->name,
                                             .precision = precision};
    kith_bodies *made = NULL;
    kith_simulation *simulation = NULL;
    kith_checkpoint checkpoint = {0};
    kith_diagnostics diagnostics = {0};
    kith_array view = kith_array_none();
    kith_status status = kith_initial_make("plummer", &initial, &made);
    if (status == KITH_OK)
        status = kith_simulation_create(call->context, &options, made, &simulation);
    if (status == KITH_OK)
        status = kith_simulation_step(simulation, 3);
    if (status == KITH_OK)
        status = kith_simulation_save(simulation, &checkpoint);
    if (status == KITH_OK)
        status = kith_simulation_run(simulation, kith_simulation_time(simulation) + 0.025);
    if (status == KITH_OK)
        status = kith_simulation_restore(simulation, &checkpoint);
    if (status == KITH_OK)
        status = kith_simulation_step_by(simulation, 0.003);
    if (status == KITH_OK)
        status = kith_simulation_get_bodies(simulation, made);
    if (status == KITH_OK)
        status = kith_simulation_set_bodies(simulation, made);
    if (status == KITH_OK)
        status = kith_simulation_view(simulation, KITH_SIMULATION_VELOCITY, &view);
    if (status == KITH_OK)
        status = kith_simulation_diagnose(simulation, &diagnostics);
    if (status == KITH_OK)
        fold_bodies(call, made);
    fold(call, &diagnostics.total_energy, sizeof diagnostics.total_energy);
    kith_checkpoint_free(&checkpoint);
    kith_simulation_free(simulation);
    kith_bodies_free(made);
    return status;
}

static kith_status simulations(struct call *call)
{
    int64_t count = 0;
    kith_status status = KITH_OK;
    const kith_integrator *list = kith_integrator_list(&count);
    for (int64_t k = 0; k < count && status == KITH_OK; k++) {
        status = simulate(call, &list[k], k % 2 && !list[k].central ? KITH_F32 : KITH_F64);
        if (status == KITH_UNSUPPORTED) /* by this device: no fault is reported so */
            status = KITH_OK;
    }
    return status;
}

static kith_status ensembles(struct call *call)
{
    const kith_initial_options initial = {.count = 3, .seed = 1};
    const kith_simulation_options options = {.dt = 0.01, .forces.softening = 0.1};
    kith_bodies *one = NULL, *all = NULL;
    kith_simulation *simulation = NULL;
    kith_diagnostics diagnostics[2];
    kith_status status = kith_initial_make("plummer", &initial, &one);
    const kith_bodies *const each[] = {one, one};
    if (status == KITH_OK)
        status = kith_ensemble_join(2, each, &all);
    if (status == KITH_OK)
        status = kith_simulation_create_ensemble(call->context, &options, 2, all, &simulation);
    if (status == KITH_OK)
        status = kith_simulation_step(simulation, 4);
    if (status == KITH_OK)
        status = kith_simulation_diagnose_systems(simulation, 0, 2, diagnostics);
    for (int s = 0; status == KITH_OK && s < 2; s++)
        fold(call, &diagnostics[s].total_energy, sizeof diagnostics[s].total_energy);
    if (status == KITH_OK)
        status = kith_simulation_get_systems(simulation, 0, 2, all);
    if (status == KITH_OK)
        fold_bodies(call, all);
    kith_simulation_free(simulation);
    kith_bodies_free(all);
    kith_bodies_free(one);
    return status;
}

static kith_status tuning(struct call *call)
{
    kith_tuning known = {0};
    const kith_status status = kith_tuning_read((kith_device){KITH_CPU, 0}, &known);
    fold(call, &known, sizeof known);
    return status;
}

#ifdef KITH_HAS_HDF5

static kith_status gadget(struct call *call)
{
    return there_and_back(call, "a.hdf5");
}

static kith_status h5md(struct call *call)
{
    return there_and_back(call, "a.h5");
}

static kith_status look_at_run(struct call *call, const char *path)
{
    int64_t components = 0;
    double *values = NULL, *times = NULL;
    kith_trajectory *trajectory = NULL;
    kith_bodies *frame = NULL;
    kith_status status = kith_trajectory_open(path, &trajectory);
    if (status == KITH_OK)
        status = kith_trajectory_read(trajectory, 1, &frame);
    if (status == KITH_OK)
        status =
            kith_trajectory_observable(trajectory, "total_energy", &components, &values, &times);
    if (status == KITH_OK)
        fold(call, values, components * kith_trajectory_frames(trajectory) * 8);
    fold_bodies(call, frame);
    free(values);
    free(times);
    kith_bodies_free(frame);
    kith_trajectory_close(trajectory);
    return status;
}

static kith_status runs(struct call *call)
{
    char path[path_bytes];
    const kith_initial_options initial = {.count = 4, .seed = 1};
    kith_run_options options = {.simulation = {.dt = 0.01, .forces.softening = 0.1},
                                .until = 0.02,
                                .every = 1,
                                .checkpoint_seconds = 1e-9,
                                .output = in_folder(call, "run.h5", path)};
    kith_bodies *made = NULL;
    kith_status status = kith_initial_make("plummer", &initial, &made);
    if (status == KITH_OK)
        status = kith_run(call->context, &options, made, NULL);
    options.until = 0.04;
    options.resume = true;
    if (status == KITH_OK)
        status = kith_run(call->context, &options, made, NULL);
    if (status == KITH_OK)
        status = look_at_run(call, path);
    kith_bodies_free(made);
    unlink(path);
    return status;
}

#endif

const struct scenario scenarios_of_files[] = {
    {"bodies", bodies},
    {"initial conditions", initial_conditions},
    {"csv", csv},
    {"xyz", xyz},
    {"npy", npy},
    {"tipsy", tipsy},
    {"npy array", npy_array},
    {"integers", integers},
    {"tables", tables},
    {"matrix file", matrix_file},
    {"sparse file", sparse_file},
    {"simulations", simulations},
    {"ensembles", ensembles},
    {"tuning", tuning},
#ifdef KITH_HAS_HDF5
    {"gadget", gadget},
    {"h5md", h5md},
    {"runs", runs},
#endif
    {NULL, NULL},
};
