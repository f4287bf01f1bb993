#include "edited.h"

#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"
#include "io/run_file.h"

enum { most_edits = 16, most_elements = 4096, most_rank = 4, bodies = 3, largest_file = 1 << 18 };

/* What there is to edit, in all formats. */
static const char *const paths[] = {
    "/h5md",
    "/particles",
    "/particles/trajectory",
    "/particles/trajectory/position",
    "/particles/trajectory/position/value",
    "/particles/trajectory/position/step",
    "/particles/trajectory/position/time",
    "/particles/trajectory/velocity",
    "/particles/trajectory/velocity/value",
    "/particles/trajectory/mass",
    "/particles/trajectory/charge",
    "/particles/trajectory/softening",
    "/particles/trajectory/id",
    "/particles/trajectory/original_id",
    "/particles/trajectory/name",
    "/particles/trajectory/species",
    "/particles/trajectory/box",
    "/particles/trajectory/box/edges",
    "/particles/trajectory/box/edges/value",
    "/particles/other",
    "/observables",
    "/observables/total_energy",
    "/observables/total_energy/value",
    "/observables/momentum/value",
    "/observables/angular_momentum/value",
    "/parameters/kith",
    "/parameters/kith/dimensions",
    "/parameters/kith/systems",
    "/parameters/kith/dt",
    "/parameters/kith/until",
    "/parameters/kith/every",
    "/parameters/kith/integrator",
    "/parameters/kith/law",
    "/parameters/kith/precision",
    "/parameters/kith/softening",
    "/parameters/kith/softening_of_bodies",
    "/parameters/kith/gravitational_constant",
    "/parameters/kith/units/length",
    "/parameters/kith/checkpoint",
    "/parameters/kith/checkpoint/state",
    "/parameters/kith/checkpoint/format",
    "/parameters/kith/checkpoint/steps",
    "/parameters/kith/checkpoint/start_time",
    "/Header",
    "/PartType0",
    "/PartType1",
    "/PartType1/Coordinates",
    "/PartType1/Velocities",
    "/PartType1/Masses",
    "/PartType1/ParticleIDs",
    "/PartType5",
};
static const char *const attributes[] = {
    "NumPart_ThisFile",    "NumPart_Total", "MassTable", "Time",
    "NumFilesPerSnapshot", "BoxSize",       "version",   "boundary",
    "dimension",           "offset",        "unit"};

/* The bytes that are left of the edits. */
struct edits {
    const uint8_t *at;
    size_t left;
};

static unsigned take(struct edits *edits)
{
    if (edits->left == 0)
        return 0;
    edits->left--;
    return *edits->at++;
}

static const char *take_path(struct edits *edits)
{
    return paths[take(edits) % (sizeof paths / sizeof paths[0])];
}

static hid_t text_type(size_t bytes)
{
    const hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, bytes);
    return type;
}

/* A type, to be closed. */
static hid_t take_type(struct edits *edits)
{
    switch (take(edits) % 9) {
    case 0:
        return H5Tcopy(H5T_IEEE_F32BE);
    case 1:
        return H5Tcopy(H5T_STD_I64LE);
    case 2:
        return H5Tcopy(H5T_STD_U64BE);
    case 3:
        return H5Tcopy(H5T_STD_I8LE);
    case 4:
        return text_type(1 + take(edits));
    case 5:
        return text_type(H5T_VARIABLE);
    case 6:
        return H5Tenum_create(H5T_NATIVE_INT);
    case 7:
        return H5Tcreate(H5T_COMPOUND, 8);
    default:
        return H5Tcopy(H5T_IEEE_F64LE);
    }
}

/* A shape; now and then one that is far larger than what will be in it. */
static hid_t take_space(struct edits *edits, hsize_t *elements, hsize_t size[most_rank], int *rank)
{
    const unsigned kind = take(edits);
    *elements = 1;
    *rank = (int)(kind % (most_rank + 1));
    if (kind == 255)
        return H5Screate(H5S_NULL);
    for (int k = 0; k < *rank; k++) {
        const unsigned extent = take(edits);
        size[k] = extent == 255 ? (hsize_t)1 << 40 : extent % 8;
        if (__builtin_mul_overflow(*elements, size[k], elements))
            *elements = (hsize_t)1 << 62;
    }
    return H5Screate_simple(*rank, size, NULL);
}

/* Numbers for a few elements of any type but texts of variable length: bytes that come again. */
static void fill(struct edits *edits, unsigned char *values, size_t bytes)
{
    static const double hard[] = {NAN, INFINITY, 1e308, -1, 1e-320, 9007199254740993.0, 0, 1.5};
    const unsigned kind = take(edits);
    if (kind % 2) {
        const double number = hard[kind / 2 % 8];
        for (size_t k = 0; k < bytes; k++)
            values[k] = ((const unsigned char *)&number)[k % sizeof number];
        return;
    }
    const size_t period = edits->left < 8 ? edits->left : 8;
    for (size_t k = 0; k < bytes; k++)
        values[k] = period ? edits->at[k % period] : 0;
    edits->at += period;
    edits->left -= period;
}

static unsigned char values[most_elements * 256];

static bool can_be_filled(hid_t type, hsize_t elements)
{
    return elements > 0 && elements <= most_elements && H5Tis_variable_str(type) <= 0 &&
           H5Tget_class(type) != H5T_COMPOUND && H5Tget_class(type) != H5T_ENUM;
}

static void put_dataset(hid_t file, const char *path, struct edits *edits)
{
    hsize_t elements = 0, size[most_rank] = {0}, chunk[most_rank] = {1, 1, 1, 1};
    int rank = 0;
    const hid_t type = take_type(edits), space = take_space(edits, &elements, size, &rank);
    const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    if (rank > 0 && (elements > most_elements || take(edits) % 2))
        H5Pset_chunk(properties, rank, chunk);
    H5Ldelete(file, path, H5P_DEFAULT);
    const hid_t dataset = H5Dcreate2(file, path, type, space, H5P_DEFAULT, properties, H5P_DEFAULT);
    fill(edits, values, can_be_filled(type, elements) ? elements * H5Tget_size(type) : 0);
    if (dataset >= 0 && can_be_filled(type, elements))
        H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    if (dataset >= 0)
        H5Dclose(dataset);
    H5Pclose(properties);
    H5Sclose(space);
    H5Tclose(type);
}

static void put_attribute(hid_t file, const char *path, struct edits *edits)
{
    hsize_t elements = 0, size[most_rank] = {0};
    int rank = 0;
    const char *name = attributes[take(edits) % (sizeof attributes / sizeof attributes[0])];
    const hid_t type = take_type(edits), space = take_space(edits, &elements, size, &rank);
    const hid_t object = H5Oopen(file, path, H5P_DEFAULT);
    if (object >= 0) {
        H5Adelete(object, name);
        const hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
        fill(edits, values, can_be_filled(type, elements) ? elements * H5Tget_size(type) : 0);
        if (attribute >= 0 && can_be_filled(type, elements))
            H5Awrite(attribute, type, values);
        if (attribute >= 0)
            H5Aclose(attribute);
        H5Oclose(object);
    }
    H5Sclose(space);
    H5Tclose(type);
}

/* Other numbers in a dataset that stays as it is. */
static void put_numbers(hid_t file, const char *path, struct edits *edits)
{
    const hid_t dataset = H5Dopen2(file, path, H5P_DEFAULT);
    if (dataset < 0)
        return;
    const hid_t type = H5Dget_type(dataset), space = H5Dget_space(dataset);
    const hsize_t elements = (hsize_t)H5Sget_simple_extent_npoints(space);
    if (can_be_filled(type, elements) && H5Tget_size(type) <= 256) {
        fill(edits, values, elements * H5Tget_size(type));
        H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    }
    H5Sclose(space);
    H5Tclose(type);
    H5Dclose(dataset);
}

static void put_group(hid_t file, const char *path)
{
    H5Ldelete(file, path, H5P_DEFAULT);
    const hid_t group = H5Gcreate2(file, path, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (group >= 0)
        H5Gclose(group);
}

/* A dataset whose data would be in a file that has no end. */
static void put_outside(hid_t file, const char *path)
{
    const hsize_t size[2] = {bodies, 3};
    const hid_t properties = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(2, size, NULL);
    H5Pset_external(properties, "/dev/zero", 0, H5F_UNLIMITED);
    H5Ldelete(file, path, H5P_DEFAULT);
    const hid_t dataset =
        H5Dcreate2(file, path, H5T_IEEE_F64LE, space, H5P_DEFAULT, properties, H5P_DEFAULT);
    if (dataset >= 0)
        H5Dclose(dataset);
    H5Sclose(space);
    H5Pclose(properties);
}

static void edit(hid_t file, struct edits *edits)
{
    const unsigned what = take(edits) % 10;
    const char *path = take_path(edits), *other = NULL;
    switch (what) {
    case 0:
        H5Ldelete(file, path, H5P_DEFAULT);
        return;
    case 1:
    case 2:
        put_dataset(file, path, edits);
        return;
    case 3:
        put_attribute(file, path, edits);
        return;
    case 4:
        put_group(file, path);
        return;
    case 5:
        other = take_path(edits);
        H5Ldelete(file, path, H5P_DEFAULT);
        H5Lcreate_soft(other, file, path, H5P_DEFAULT, H5P_DEFAULT);
        return;
    case 6:
        other = take_path(edits);
        if (strcmp(path, other) != 0) {
            H5Ldelete(file, path, H5P_DEFAULT);
            H5Lcreate_hard(file, other, file, path, H5P_DEFAULT, H5P_DEFAULT);
        }
        return;
    case 7:
        put_numbers(file, path, edits);
        return;
    case 8:
        put_outside(file, path);
        return;
    default:
        H5Ldelete(file, path, H5P_DEFAULT);
        H5Lcreate_external("/dev/zero", path, file, path, H5P_DEFAULT, H5P_DEFAULT);
    }
}

static kith_bodies *make_bodies(void)
{
    kith_bodies *made = NULL;
    const unsigned columns = KITH_VELOCITY | KITH_MASS | KITH_CHARGE | KITH_SOFTENING |
                             KITH_RADIUS | KITH_ID | KITH_NAME;
    fuzz_require(kith_bodies_create(bodies, 3, columns, &made) == KITH_OK, "no bodies");
    for (int k = 0; k < 3 * bodies; k++)
        made->position[k] = made->velocity[k] = k;
    for (int k = 0; k < bodies; k++) {
        made->mass[k] = 1 + k;
        made->id[k] = k;
        snprintf(made->name[k], KITH_NAME_BYTES, "b%d", k);
        made->cell[4 * k] = 10;
    }
    made->has_cell = true;
    return made;
}

/* A run of two frames and a checkpoint. */
static void write_run(const kith_bodies *start, const char *path)
{
    const struct run_parameters parameters = {.dt = 0.01,
                                              .until = 1,
                                              .every = 1,
                                              .systems = 1,
                                              .integrator = "leapfrog",
                                              .law = "gravity"};
    const struct run_origin origin = {.units = {.length = "AU", .time = "day"}};
    const kith_diagnostics diagnostics = {.total_energy = -1};
    const double state[2 * 3 * bodies] = {1, 2, 3};
    kith_checkpoint checkpoint = {.steps = 1, .arrays = 2, .bytes = sizeof state};
    memcpy(&checkpoint.state, &(const double *){state}, sizeof checkpoint.state);
    struct run_file *file = NULL;
    fuzz_require(run_file_create(path, &parameters, &origin, start, false, 2, &file) == KITH_OK &&
                     run_file_put_bodies(file, 0, start) == KITH_OK,
                 "no run can be begun");
    for (int k = 0; k < 2; k++)
        fuzz_require(run_file_begin_frame(file, k, start, &diagnostics) == KITH_OK &&
                         run_file_put_frame(file, 0, start) == KITH_OK &&
                         run_file_end_frame(file) == KITH_OK,
                     "no frame can be written");
    fuzz_require(run_file_begin_checkpoint(file, &checkpoint, true) == KITH_OK &&
                     run_file_put_state(file, 0, 0, bodies, state) == KITH_OK &&
                     run_file_put_state(file, 1, 0, bodies, state + 3 * bodies) == KITH_OK &&
                     run_file_publish(file, NULL, 0) == KITH_OK,
                 "no run can be written");
    run_file_close(file);
}

/* What is edited: the bytes of a good file. */
static size_t make_base(const char *format, unsigned char base[largest_file])
{
    char folder[64], path[80];
    kith_bodies *made = make_bodies();
    const kith_write_options options = {.format = format};
    fuzz_folder(folder, sizeof folder);
    snprintf(path, sizeof path, "%s/base", folder);
    if (strcmp(format, "run") == 0)
        write_run(made, path);
    else
        fuzz_require(kith_bodies_write(made, path, &options) == KITH_OK, "no base can be written");
    kith_bodies_free(made);
    FILE *file = fopen(path, "rb");
    fuzz_require(file != NULL, "no base");
    const size_t bytes = file ? fread(base, 1, largest_file, file) : 0;
    if (file)
        fclose(file);
    unlink(path);
    rmdir(folder);
    fuzz_require(bytes > 0 && bytes < largest_file, "the base is too large");
    return bytes;
}

const char *fuzz_edited(const uint8_t *data, size_t size, const char *format)
{
    static unsigned char base[largest_file];
    static size_t base_bytes;
    if (base_bytes == 0)
        base_bytes = make_base(format, base);
    const char *path = fuzz_file(base, base_bytes, "edited.h5");
    struct edits edits = {data, size};
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
    const hid_t file = H5Fopen(path, H5F_ACC_RDWR, access);
    fuzz_require(file >= 0, "the base does not open");
    for (int k = 0; k < most_edits && edits.left > 0; k++)
        edit(file, &edits);
    H5Fclose(file);
    H5Pclose(access);
    return path;
}
