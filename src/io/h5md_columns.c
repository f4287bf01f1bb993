#include "io/h5md_columns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/numbers.h"
#include "io/bodies.h"
#include "io/species.h"

enum { most_datasets = 12, rows_at_once = 1 << 14 };

/* One column, and what is written where the bodies have none. */
struct dataset {
    const char *name;
    hid_t id, memory_type;
};

enum { reals = 6 };

struct h5md_columns {
    struct dataset real[reals], species, id, original_id, name, system;
    struct species kinds;
    bool names_are_numbers;
    int64_t bodies_of_system;
    union {
        double real[rows_at_once];
        int64_t integer[rows_at_once];
        int32_t small[rows_at_once];
    } rows; /* that are made here */
};

static const double *real_column(const kith_bodies *bodies, int k)
{
    const double *const columns[reals] = {bodies->mass,   bodies->charge,  bodies->softening,
                                          bodies->radius, bodies->epsilon, bodies->sigma};
    return columns[k];
}

static const char *const real_names[reals] = {"mass",   "charge",  "softening",
                                              "radius", "epsilon", "sigma"};

static kith_status make(hid_t group, const char *name, hid_t file_type, hid_t memory_type,
                        int64_t count, struct dataset *made)
{
    KITH_TRY(hdf5_make(group, name, file_type, (struct hdf5_shape){1, {(hsize_t)count}}));
    made->name = name;
    made->memory_type = memory_type;
    return hdf5_open_dataset(group, name, &made->id);
}

static kith_status make_names(hid_t group, int64_t count, struct dataset *made)
{
    const hid_t name = H5Tcopy(H5T_C_S1);
    H5Tset_size(name, KITH_NAME_BYTES);
    H5Tset_cset(name, H5T_CSET_UTF8);
    return make(group, "name", name, name, count, made);
}

/* VMD uses id as an index, so it counts rows; the bodies' own ids are kept separately. */
static kith_status make_all(hid_t file, const struct h5md_layout *layout, const kith_bodies *like,
                            struct h5md_columns *columns)
{
    const int64_t count = layout->count;
    hid_t group = H5I_INVALID_HID;
    KITH_TRY(hdf5_make_group(file, H5MD_PARTICLES, &group));
    for (int k = 0; k < reals; k++)
        if (real_column(like, k) || (k == 0 && layout->masses))
            KITH_TRY(make(group, real_names[k], H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, count,
                          &columns->real[k]));
    KITH_TRY(make(group, "species", H5T_STD_I32LE, H5T_NATIVE_INT32, count, &columns->species));
    KITH_TRY(make(group, "id", H5T_STD_I64LE, H5T_NATIVE_INT64, count, &columns->id));
    if (like->id)
        KITH_TRY(make(group, "original_id", H5T_STD_I64LE, H5T_NATIVE_INT64, count,
                      &columns->original_id));
    if (layout->is_ensemble)
        KITH_TRY(make(group, "system", H5T_STD_I32LE, H5T_NATIVE_INT32, count, &columns->system));
    return like->name ? make_names(group, count, &columns->name) : KITH_OK;
}

kith_status h5md_columns_make(hid_t file, const struct h5md_layout *layout, const kith_bodies *like,
                              bool names_are_numbers, struct h5md_columns **columns)
{
    struct h5md_columns *made = NULL;
    KITH_TRY(kith_allocate(1, sizeof *made, "columns", columns));
    made = *columns;
    made->names_are_numbers = names_are_numbers;
    made->bodies_of_system = layout->systems > 0 ? layout->count / layout->systems : 0;
    return make_all(file, layout, like, made);
}

static kith_status put(const struct dataset *dataset, int64_t first, int64_t count,
                       const void *rows)
{
    const hsize_t from[hdf5_max_rank] = {(hsize_t)first};
    const struct hdf5_shape box = {1, {(hsize_t)count}};
    if (!dataset->name)
        return KITH_OK;
    return hdf5_write_box(dataset->id, dataset->name, dataset->memory_type, from, box, rows);
}

static kith_status put_reals(struct h5md_columns *columns, int64_t first, const kith_bodies *rows)
{
    for (int64_t i = 0; i < rows->count; i++)
        columns->rows.real[i] = 1;
    for (int k = 0; k < reals; k++) {
        const double *values = real_column(rows, k);
        KITH_TRY(put(&columns->real[k], first, rows->count, values ? values : columns->rows.real));
    }
    return KITH_OK;
}

static bool read_number(const char *name, int32_t *species)
{
    kith_name again;
    int64_t number = 0;
    if (!parse_integer(name, &number) || number != (int32_t)number)
        return false;
    snprintf(again, sizeof again, "%lld", (long long)number);
    *species = (int32_t)number;
    return strcmp(name, again) == 0;
}

bool h5md_names_are_numbers(const kith_bodies *bodies)
{
    int32_t species;
    for (int64_t i = 0; bodies->name && i < bodies->count; i++)
        if (!read_number(bodies->name[i], &species))
            return false;
    return true;
}

static kith_status put_species(struct h5md_columns *columns, int64_t first, const kith_bodies *rows)
{
    int32_t *species = columns->rows.small;
    memset(species, 0, (size_t)rows->count * sizeof *species);
    for (int64_t i = 0; rows->name && i < rows->count; i++) {
        if (columns->names_are_numbers)
            (void)read_number(rows->name[i], &species[i]);
        else
            KITH_TRY(species_of(&columns->kinds, rows->name[i], (int32_t)(first + i), &species[i]));
    }
    return put(&columns->species, first, rows->count, species);
}

static kith_status put_numbers(struct h5md_columns *columns, int64_t first, const kith_bodies *rows)
{
    for (int64_t i = 0; i < rows->count; i++)
        columns->rows.integer[i] = first + i;
    KITH_TRY(put(&columns->id, first, rows->count, columns->rows.integer));
    for (int64_t i = 0; columns->system.name && i < rows->count; i++)
        columns->rows.small[i] = (int32_t)((first + i) / columns->bodies_of_system);
    return put(&columns->system, first, rows->count, columns->rows.small);
}

static kith_status put_some(struct h5md_columns *columns, int64_t first, const kith_bodies *rows)
{
    KITH_TRY(put_reals(columns, first, rows));
    KITH_TRY(put_species(columns, first, rows));
    KITH_TRY(put_numbers(columns, first, rows));
    KITH_TRY(put(&columns->original_id, first, rows->count, rows->id));
    return put(&columns->name, first, rows->count, rows->name);
}

kith_status h5md_columns_put(struct h5md_columns *columns, int64_t first, const kith_bodies *rows)
{
    for (int64_t done = 0; done < rows->count; done += rows_at_once) {
        const int64_t left = rows->count - done;
        const kith_bodies some = bodies_rows(rows, done, left < rows_at_once ? left : rows_at_once);
        KITH_TRY(put_some(columns, first + done, &some));
    }
    return KITH_OK;
}

static void close_dataset(const struct dataset *dataset)
{
    if (dataset->name && dataset->id >= 0)
        H5Dclose(dataset->id);
}

void h5md_columns_free(struct h5md_columns *columns)
{
    if (!columns)
        return;
    const struct dataset *const others[] = {&columns->species, &columns->id, &columns->original_id,
                                            &columns->name, &columns->system};
    for (int k = 0; k < reals; k++)
        close_dataset(&columns->real[k]);
    for (size_t k = 0; k < sizeof others / sizeof others[0]; k++)
        close_dataset(others[k]);
    if (columns->name.name)
        H5Tclose(columns->name.memory_type);
    species_free(&columns->kinds);
    free(columns);
}

kith_status h5md_write_columns(hid_t file, const struct h5md_layout *layout,
                               const kith_bodies *bodies)
{
    struct h5md_columns *columns = NULL;
    kith_status status =
        h5md_columns_make(file, layout, bodies, h5md_names_are_numbers(bodies), &columns);
    if (status == KITH_OK)
        status = h5md_columns_put(columns, 0, bodies);
    h5md_columns_free(columns);
    return status;
}
