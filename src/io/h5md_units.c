/* Units of bodies in H5MD: /parameters/kith/units, and the attributes that other readers know. */

#include "io/h5md_units.h"

#include <stdio.h>
#include <string.h>

#include "io/h5md_layout.h"
#include "io/hdf5_data.h"
#include "io/units.h"

#define UNITS H5MD_PARAMETERS "/units"

/* Text of variable length: MDAnalysis looks units up as h5py gives them, and text of fixed length
 * is bytes to h5py. */
static kith_status set_unit(hid_t file, const char *path, const char *unit)
{
    if (!hdf5_exists(file, path) || H5Aexists_by_name(file, path, "unit", H5P_DEFAULT) > 0)
        return KITH_OK;
    const hid_t object = H5Oopen(file, path, H5P_DEFAULT), type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, H5T_VARIABLE);
    const kith_status status =
        hdf5_set_numbers(object, "unit", type, type, (struct hdf5_shape){0}, &unit);
    H5Tclose(type);
    H5Oclose(object);
    return status;
}

/* Units as attributes of the data, but only those of length and time whose velocity MDAnalysis
 * knows, too: a reader that does not know a unit refuses the file. */
static kith_status set_known_units(hid_t file, const char *length, const char *time)
{
    static const char *const known[][2] = {
        {"Angstrom", "ps"}, {"Angstrom", "fs"}, {"nm", "ps"}, {"nm", "ns"}, {"pm", "ps"}};
    static const char *const angstrom[] = {"A", "Å", "angstrom"};
    char velocity[2 * KITH_NAME_BYTES + 4];
    for (size_t k = 0; k < sizeof angstrom / sizeof angstrom[0]; k++)
        length = strcmp(length, angstrom[k]) == 0 ? known[0][0] : length;
    for (size_t k = 0; k < sizeof known / sizeof known[0]; k++) {
        if (strcmp(length, known[k][0]) != 0 || strcmp(time, known[k][1]) != 0)
            continue;
        snprintf(velocity, sizeof velocity, "%s %s-1", length, time);
        KITH_TRY(set_unit(file, H5MD_PARTICLES "/position/value", length));
        KITH_TRY(set_unit(file, H5MD_PARTICLES "/position/time", time));
        return set_unit(file, H5MD_PARTICLES "/velocity/value", velocity);
    }
    return KITH_OK;
}

kith_status h5md_write_units(hid_t file, const kith_units *units)
{
    const struct {
        const char *quantity, *name;
    } names[] = {{"length", units->length}, {"time", units->time}, {"mass", units->mass}};
    hid_t group = H5I_INVALID_HID;
    KITH_TRY(hdf5_make_group(file, UNITS, &group));
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++)
        if (names[k].name[0])
            KITH_TRY(hdf5_write_text(group, names[k].quantity, names[k].name));
    if (units->gravitational_constant != 0)
        KITH_TRY(hdf5_write_real(group, "gravitational_constant", units->gravitational_constant));
    return units->length[0] && units->time[0] ? set_known_units(file, units->length, units->time)
                                              : KITH_OK;
}

/* A name that is invalid or too long counts as missing. */
static void read_name(hid_t file, const char *path, kith_name name)
{
    char text[KITH_NAME_BYTES + 1];
    if (hdf5_exists(file, path) && hdf5_read_text(file, path, sizeof text, text) == KITH_OK)
        units_set_name(name, text);
}

/* Runs that did not write it with the units have it among their parameters. */
kith_status h5md_read_units(hid_t file, kith_units *units)
{
    static const char *const paths[] = {UNITS "/gravitational_constant",
                                        H5MD_PARAMETERS "/gravitational_constant"};
    *units = (kith_units){0};
    read_name(file, UNITS "/length", units->length);
    read_name(file, UNITS "/time", units->time);
    read_name(file, UNITS "/mass", units->mass);
    for (int k = 0; k < 2; k++)
        if (hdf5_exists(file, paths[k]))
            return hdf5_read_real(file, paths[k], &units->gravitational_constant);
    return KITH_OK;
}
