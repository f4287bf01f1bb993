/* Bad calls of files, tables, contexts and the lists of what there is. */

#include "spoil.h"

void bad_files(struct property *p)
{
    kith_bodies *bodies = NULL, **to = &bodies;
    kith_read_options read = {.format = chance(p, 0.5) ? "csv" : NULL};
    kith_write_options write = {.format = read.format};
    kith_array array = roomy_array(p, any_real(p), 2, 3, 2), found = {0}, *to_array = &found;
    const char *path = chance(p, 0.5) ? "/nonexistent/a.csv" : "/nonexistent/a.npy";
    unsigned dropped = 0, *columns = &dropped;
    struct slots slots = {0};
    slot_add(&slots, TEXT, &path);
    slot_add(&slots, TEXT, &read.format);
    slot_add(&slots, TEXT, &write.format);
    slot_add(&slots, INT64, &read.frame);
    slot_add(&slots, INT64, &read.system);
    slot_add(&slots, POINTER, &to);
    slot_add(&slots, POINTER, &to_array);
    slot_add(&slots, POINTER, &columns);
    slot_add(&slots, ARRAY, &array);
    spoil(p, &slots);
    assert_told("kith_bodies_read", counted(kith_bodies_read(path, &read, to)));
    assert_told("kith_bodies_write", counted(kith_bodies_write(bodies, path, &write)));
    assert_told("kith_format_drops", counted(kith_format_drops(bodies, path, &write, columns)));
    assert_told("kith_npy_read", counted(kith_npy_read(path, to_array)));
    free(found.data);
    found = kith_array_none();
    assert_told("kith_npy_write", counted(kith_npy_write(path, array)));
    assert_told("kith_integers_read", counted(kith_integers_read(path, to_array)));
    kith_integers_free(to_array);
    assert_told("kith_integers_write", counted(kith_integers_write(path, array)));
    kith_bodies_free(bodies);
}

void bad_tables(struct property *p)
{
    static const kith_dtype dtypes[] = {KITH_F64, KITH_F32, KITH_I64, KITH_I32};
    const char *path = "/nonexistent/t.csv", *format = chance(p, 0.5) ? "npy" : NULL;
    kith_table_column columns[3];
    const kith_table_column *given = columns;
    int64_t count = 3, rows = 4, width = 3;
    double numbers[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    const double *values = numbers;
    const char *name = "numbers";
    kith_array found = {0}, *to = &found;
    struct slots slots = {0};
    for (int k = 0; k < 3; k++) {
        columns[k] = (kith_table_column){"x", roomy_array(p, dtypes[whole(p, 0, 3)], 1, 5, 1)};
        slot_add(&slots, ARRAY, &columns[k].values);
        slot_add(&slots, TEXT, &columns[k].name);
    }
    slot_add(&slots, TEXT, &path);
    slot_add(&slots, TEXT, &format);
    slot_add(&slots, POINTER, &given);
    slot_add(&slots, FEW, &count);
    slot_add(&slots, FEW, &rows);
    slot_add(&slots, FEW, &width);
    slot_add(&slots, REAL, &numbers[whole(p, 0, 11)]);
    slot_add(&slots, POINTER, &values);
    slot_add(&slots, TEXT, &name);
    slot_add(&slots, POINTER, &to);
    spoil(p, &slots);
    assert_told("kith_table_write", counted(kith_table_write(path, format, count, given)));
    assert_told("kith_table_write_records",
                counted(kith_table_write_records(path, format, count, given)));
    assert_told("kith_integers_from_reals",
                counted(kith_integers_from_reals(name, values, rows, width, to)));
    kith_integers_free(to);
}

void bad_trajectories(struct property *p)
{
    const char *path = "/nonexistent/run.h5", *name = "total_energy";
    kith_trajectory *trajectory = NULL, **to = &trajectory;
    kith_bodies *bodies = NULL;
    int64_t components = 0;
    double *values = NULL;
    kith_name unit = "";
    struct slots slots = {0};
    slot_add(&slots, TEXT, &path);
    slot_add(&slots, TEXT, &name);
    slot_add(&slots, POINTER, &to);
    spoil(p, &slots);
    assert_told("kith_trajectory_open", counted(kith_trajectory_open(path, to)));
    assert_told("kith_trajectory_read", counted(kith_trajectory_read(trajectory, 0, &bodies)));
    assert_told("kith_trajectory_choose_system",
                counted(kith_trajectory_choose_system(trajectory, 0)));
    assert_told("kith_trajectory_observable",
                counted(kith_trajectory_observable(trajectory, name, &components, &values, NULL)));
    kith_trajectory_unit(trajectory, name, unit);
    assert_int_equal(kith_trajectory_frames(trajectory), 0);
    assert_int_equal(kith_trajectory_systems(trajectory), 0);
    kith_trajectory_close(trajectory);
}

void bad_contexts(struct property *p)
{
    kith_context_options options = {.device = {KITH_CPU, 0}, .threads = 1};
    kith_context *context = NULL, **to = &context;
    kith_tuning tuning = {0}, *known = &tuning;
    struct slots slots = {0};
    slot_add(&slots, INT32, &options.threads);
    slot_add(&slots, INT32, &options.device.index);
    slot_add(&slots, INT32, &options.device.kind);
    slot_add(&slots, POINTER, &to);
    slot_add(&slots, POINTER, &known);
    slot_add(&slots, INT64, &tuning.threads);
    slot_add(&slots, INT64, &tuning.matrix_block);
    spoil(p, &slots);
    const kith_status status = counted(kith_context_create(&options, to));
    assert_told("kith_context_create", status);
    if (to)
        assert_int_equal(status == KITH_OK, context != NULL);
    assert_told("kith_context_synchronize", counted(kith_context_synchronize(context)));
    assert_true(kith_context_threads(context) >= 0);
    assert_non_null(kith_context_isa(context));
    assert_false(kith_context_is_cancelled(context));
    kith_context_cancel(context);
    kith_context_clear_cancel(context);
    kith_context_set_progress(context, NULL, NULL);
    assert_true(context || kith_context_device(context).kind == KITH_DEVICE_AUTO);
    assert_true(context || !kith_context_stream(context));
    kith_context_free(context);
    if (!known || tuning.threads < 0) /* what is good would be kept */
        assert_told("kith_tuning_write", counted(kith_tuning_write(options.device, known)));
    assert_told("kith_tuning_read", counted(kith_tuning_read(options.device, known)));
}

/* Functions without a status accept NULL too. */
void bad_lists(struct property *p)
{
    kith_backend_info backend;
    kith_device_info device;
    int64_t count = 0, *to = chance(p, 0.5) ? &count : NULL;
    double rest = 0;
    assert_non_null(counted(kith_isa_list(to)));
    assert_non_null(counted(kith_initial_list(to)));
    assert_non_null(counted(kith_format_list(to)));
    assert_non_null(counted(kith_law_list(to)));
    assert_non_null(counted(kith_integrator_list(to)));
    assert_non_null(counted(kith_sparse_format_list(to)));
    assert_non_null(counted(kith_sparse_kernel_list(to)));
    assert_non_null(counted(kith_collisions_method_list(to)));
    assert_non_null(counted(kith_status_name((kith_status)whole(p, -3, 20))));
    kith_backend_describe((int32_t)whole(p, -3, 9), chance(p, 0.5) ? &backend : NULL);
    kith_device_describe((kith_device){(kith_device_kind)whole(p, -3, 9), (int32_t)whole(p, -9, 9)},
                         chance(p, 0.5) ? &device : NULL);
    counted(kith_simulation_whole_steps(0, random_uniform(&p->random, -1, 1e300), 0.1,
                                        to ? &rest : NULL));
    assert_int_equal(kith_simulation_steps(NULL), 0);
    assert_int_equal(kith_simulation_systems(NULL), 0);
    assert_true(kith_simulation_time(NULL) == 0);
    kith_simulation_free(NULL);
    kith_sparse_free(NULL);
    kith_law_free(NULL);
    kith_pairs_free(NULL);
    kith_checkpoint_free(NULL);
}
