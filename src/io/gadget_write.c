#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "io/format.h"
#include "io/gadget.h"
#include "io/hdf5_data.h"
#include "io/hdf5_file.h"

/* Bodies called gas, halo, … are of those types, all others of the second. */
static int type_of(const kith_bodies *bodies, int64_t i)
{
    for (int type = 0; bodies->name && type < gadget_type_count; type++)
        if (strcmp(bodies->name[i], gadget_type_names[type]) == 0)
            return type;
    return gadget_default_type;
}

static kith_status write_zeros(hid_t header, const char *const *names, hid_t file_type,
                               struct hdf5_shape shape)
{
    const int64_t zeros[gadget_type_count] = {0};
    for (int k = 0; names[k]; k++)
        KITH_TRY(hdf5_set_numbers(header, names[k], file_type, H5T_NATIVE_INT64, shape, zeros));
    return KITH_OK;
}

/* The edge of a cell that Gadget's header has room for: a periodic cube; else 0. */
static double box_size_of(const kith_bodies *bodies)
{
    const double edge = bodies->cell[0];
    bool is_cube = bodies->has_cell && bodies->dimensions == 3 && edge > 0;
    for (int k = 0; k < 9; k++)
        is_cube = is_cube && bodies->cell[k] == (k % 4 == 0 ? edge : 0) && bodies->periodic[k / 3];
    return is_cube ? edge : 0;
}

static kith_status write_header(hid_t file, const kith_bodies *bodies, const int64_t *count)
{
    static const char *const real_zeros[] = {"Redshift", "Omega0", "OmegaLambda", "HubbleParam",
                                             NULL};
    static const char *const integer_zeros[] = {"Flag_Sfr",    "Flag_Cooling",  "Flag_StellarAge",
                                                "Flag_Metals", "Flag_Feedback", "Flag_Entropy_ICs",
                                                NULL};
    static const char *const zeros_a_type[] = {"NumPart_Total_HighWord", NULL};
    static const char *const masses_a_type[] = {"MassTable", NULL};
    const struct hdf5_shape one = {0}, types = {1, {gadget_type_count}};
    const int32_t files = 1, double_precision = 1;
    const double box_size = box_size_of(bodies);
    hid_t header = H5I_INVALID_HID;
    KITH_TRY(hdf5_make_group(file, "/Header", &header));
    KITH_TRY(hdf5_set_numbers(header, "NumPart_ThisFile", H5T_STD_U32LE, H5T_NATIVE_INT64, types,
                              count));
    KITH_TRY(
        hdf5_set_numbers(header, "NumPart_Total", H5T_STD_U32LE, H5T_NATIVE_INT64, types, count));
    KITH_TRY(
        hdf5_set_numbers(header, "Time", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, one, &bodies->time));
    KITH_TRY(hdf5_set_numbers(header, "NumFilesPerSnapshot", H5T_STD_I32LE, H5T_NATIVE_INT32, one,
                              &files));
    KITH_TRY(hdf5_set_numbers(header, "Flag_DoublePrecision", H5T_STD_I32LE, H5T_NATIVE_INT32, one,
                              &double_precision));
    KITH_TRY(
        hdf5_set_numbers(header, "BoxSize", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, one, &box_size));
    KITH_TRY(write_zeros(header, real_zeros, H5T_IEEE_F64LE, one));
    KITH_TRY(write_zeros(header, integer_zeros, H5T_STD_I32LE, one));
    KITH_TRY(write_zeros(header, zeros_a_type, H5T_STD_U32LE, types));
    return write_zeros(header, masses_a_type, H5T_IEEE_F64LE, types);
}

/* The columns of one type: three components a vector, mass 1 and the row's number from 1 where the
 * bodies have none. */
struct columns {
    double *position, *velocity, *mass;
    int64_t *id;
};

static int64_t gather(const kith_bodies *bodies, int type, struct columns *columns)
{
    int64_t rows = 0;
    for (int64_t i = 0; i < bodies->count; i++) {
        if (type_of(bodies, i) != type)
            continue;
        for (int32_t k = 0; k < bodies->dimensions; k++) {
            const int64_t from = i * bodies->dimensions + k;
            columns->position[3 * rows + k] = bodies->position[from];
            columns->velocity[3 * rows + k] = bodies->velocity ? bodies->velocity[from] : 0;
        }
        columns->mass[rows] = bodies->mass ? bodies->mass[i] : 1;
        columns->id[rows] = bodies->id ? bodies->id[i] : i + 1;
        rows++;
    }
    return rows;
}

static kith_status write_type(hid_t file, const kith_bodies *bodies, int type,
                              struct columns *columns)
{
    const hsize_t rows = (hsize_t)gather(bodies, type, columns);
    if (rows == 0)
        return KITH_OK;
    char name[16];
    hid_t group = H5I_INVALID_HID;
    snprintf(name, sizeof name, "/PartType%d", type);
    KITH_TRY(hdf5_make_group(file, name, &group));
    const struct hdf5_shape vectors = {2, {rows, 3}}, numbers = {1, {rows}};
    const hid_t in_file = H5T_IEEE_F64LE, in_memory = H5T_NATIVE_DOUBLE;
    KITH_TRY(hdf5_write(group, "Coordinates", in_file, in_memory, vectors, columns->position));
    KITH_TRY(hdf5_write(group, "Velocities", in_file, in_memory, vectors, columns->velocity));
    KITH_TRY(hdf5_write(group, "Masses", in_file, in_memory, numbers, columns->mass));
    return hdf5_write(group, "ParticleIDs", H5T_STD_I64LE, H5T_NATIVE_INT64, numbers, columns->id);
}

static kith_status count_types(const kith_bodies *bodies, int64_t *count)
{
    for (int64_t i = 0; i < bodies->count; i++) {
        count[type_of(bodies, i)]++;
        if (bodies->id && bodies->id[i] < 0)
            return kith_fail(KITH_INVALID_ARGUMENT,
                             "id of body %lld (from 0) is %lld; Gadget's are not negative",
                             (long long)i, (long long)bodies->id[i]);
    }
    for (int type = 0; type < gadget_type_count; type++)
        if (count[type] > UINT32_MAX)
            return kith_fail(KITH_UNSUPPORTED,
                             "there are %lld bodies; Gadget's header has room for 2^32 of a type",
                             (long long)bodies->count);
    return KITH_OK;
}

static kith_status write_types(hid_t file, const kith_bodies *bodies)
{
    const int64_t n = bodies->count, bytes = sizeof(double);
    struct columns columns = {0};
    kith_status status = kith_allocate(n, 3 * bytes, "positions", &columns.position);
    if (status == KITH_OK)
        status = kith_allocate(n, 3 * bytes, "velocities", &columns.velocity);
    if (status == KITH_OK)
        status = kith_allocate(n, bytes, "masses", &columns.mass);
    if (status == KITH_OK)
        status = kith_allocate(n, sizeof *columns.id, "ids", &columns.id);
    for (int type = 0; status == KITH_OK && type < gadget_type_count; type++)
        status = write_type(file, bodies, type, &columns);
    free(columns.position);
    free(columns.velocity);
    free(columns.mass);
    free(columns.id);
    return status;
}

static kith_status write_file(hid_t file, const kith_bodies *bodies)
{
    int64_t count[gadget_type_count] = {0};
    KITH_TRY(count_types(bodies, count));
    KITH_TRY(write_header(file, bodies, count));
    return write_types(file, bodies);
}

kith_status gadget_write(const kith_bodies *bodies, const char *path,
                         const kith_write_options *options)
{
    struct hdf5_session session;
    hid_t file = H5I_INVALID_HID;
    (void)options;
    hdf5_begin(&session);
    kith_status status = hdf5_create_in_memory(&file);
    if (status == KITH_OK) {
        status = write_file(file, bodies);
        status = status == KITH_OK ? hdf5_save(file, path) : kith_fail_within(status, "%s: ", path);
        H5Fclose(file);
    }
    hdf5_end(&session);
    return status;
}

/* Names are kept if they are all types. */
unsigned gadget_holds(const kith_bodies *bodies)
{
    bool all_types = true;
    for (int64_t i = 0; bodies->name && all_types && i < bodies->count; i++)
        all_types = strcmp(bodies->name[i], gadget_type_names[type_of(bodies, i)]) == 0;
    return (unsigned)KITH_VELOCITY | (unsigned)KITH_MASS | (unsigned)KITH_ID |
           (all_types ? (unsigned)KITH_NAME : 0) |
           (box_size_of(bodies) > 0 ? (unsigned)KITH_CELL : 0);
}
