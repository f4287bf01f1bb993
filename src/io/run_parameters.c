#include "io/run_parameters.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "io/h5md_layout.h"
#include "io/h5md_units.h"
#include "io/hdf5_data.h"
#include "io/hdf5_file.h"
#include "io/run_images.h"
#include "kith/build.h"

static const char precision_names[][8] = {[KITH_F64] = "double", [KITH_F32] = "single"};

/* Appends an argument as for a shell: in quotes if it has anything unusual. */
static char *append_quoted(char *end, const char *argument)
{
    static const char usual[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                                "-_./:=,+@%^";
    if (*argument && argument[strspn(argument, usual)] == 0)
        return stpcpy(end, argument);
    *end++ = '\'';
    for (; *argument; argument++)
        end = *argument == '\'' ? stpcpy(end, "'\\''") : (*end = *argument, end + 1);
    return stpcpy(end, "'");
}

static kith_status join(const char *const *arguments, char **line)
{
    size_t bytes = 1;
    for (int k = 0; arguments[k]; k++)
        bytes += 4 * strlen(arguments[k]) + 3;
    KITH_TRY(kith_allocate((int64_t)bytes, 1, "command line", line));
    char *end = *line;
    for (int k = 0; arguments[k]; k++) {
        if (k > 0)
            end = stpcpy(end, " ");
        end = k > 0 ? append_quoted(end, arguments[k]) : stpcpy(end, arguments[k]);
    }
    return KITH_OK;
}

static kith_status write_command_line(hid_t group, const char *const *arguments)
{
    char *line = NULL;
    KITH_TRY(join(arguments, &line));
    const kith_status status = hdf5_write_text(group, "command_line", line);
    free(line);
    return status;
}

static kith_status write_seed(hid_t group, const uint64_t *seed)
{
    if (!seed && hdf5_exists(group, "seed"))
        return KITH_OK;
    return hdf5_write_integer(group, "seed", seed ? (int64_t)*seed : -1);
}

kith_status run_parameters_write_origin(hid_t file, const struct run_origin *origin)
{
    hid_t group = H5I_INVALID_HID;
    KITH_TRY(hdf5_make_group(file, H5MD_PARAMETERS, &group));
    KITH_TRY(hdf5_write_text(group, "version", kith_version()));
    KITH_TRY(h5md_write_units(file, &origin->units));
    KITH_TRY(write_seed(group, origin->seed));
    if (origin->input)
        KITH_TRY(hdf5_write_text(group, "input", origin->input));
    return origin->arguments ? write_command_line(group, origin->arguments) : KITH_OK;
}

static kith_status write_seeds(hid_t group, uint64_t first, int64_t systems)
{
    int64_t *seeds = NULL;
    KITH_TRY(kith_allocate(systems, sizeof *seeds, "seeds", &seeds));
    for (int64_t s = 0; s < systems; s++)
        seeds[s] = (int64_t)(first + (uint64_t)s);
    const kith_status status = hdf5_write(group, "seeds", H5T_STD_I64LE, H5T_NATIVE_INT64,
                                          (struct hdf5_shape){1, {(hsize_t)systems}}, seeds);
    free(seeds);
    return status;
}

/* File names as text of one fixed length, that of the longest. */
static kith_status write_inputs(hid_t group, const char *const *inputs, int64_t systems)
{
    size_t bytes = 1;
    for (int64_t s = 0; s < systems; s++)
        bytes = strlen(inputs[s]) + 1 > bytes ? strlen(inputs[s]) + 1 : bytes;
    char *names = NULL;
    KITH_TRY(kith_allocate(systems, (int64_t)bytes, "file names", &names));
    for (int64_t s = 0; s < systems; s++)
        memcpy(names + (size_t)s * bytes, inputs[s], strlen(inputs[s]));
    const hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, bytes);
    H5Tset_cset(type, H5T_CSET_UTF8);
    const kith_status status =
        hdf5_write(group, "inputs", type, type, (struct hdf5_shape){1, {(hsize_t)systems}}, names);
    H5Tclose(type);
    free(names);
    return status;
}

kith_status run_parameters_write_systems(hid_t file, const struct run_origin *origin,
                                         int64_t systems)
{
    hid_t group = H5I_INVALID_HID;
    KITH_TRY(hdf5_make_group(file, H5MD_PARAMETERS, &group));
    if (origin->seed)
        KITH_TRY(write_seeds(group, *origin->seed, systems));
    return origin->inputs ? write_inputs(group, origin->inputs, systems) : KITH_OK;
}

/* Of solvers that approximate; left out where it was not given. */
static kith_status write_accuracy(hid_t group, const kith_accuracy *accuracy)
{
    if (accuracy->error > 0)
        KITH_TRY(hdf5_write_real(group, "error", accuracy->error));
    if (accuracy->theta > 0)
        KITH_TRY(hdf5_write_real(group, "theta", accuracy->theta));
    return accuracy->order > 0 ? hdf5_write_integer(group, "order", accuracy->order) : KITH_OK;
}

static kith_status read_accuracy(hid_t group, kith_accuracy *accuracy)
{
    int64_t order = 0;
    if (hdf5_exists(group, "error"))
        KITH_TRY(hdf5_read_real(group, "error", &accuracy->error));
    if (hdf5_exists(group, "theta"))
        KITH_TRY(hdf5_read_real(group, "theta", &accuracy->theta));
    if (hdf5_exists(group, "order"))
        KITH_TRY(hdf5_read_integer(group, "order", &order));
    accuracy->order = (int32_t)order;
    return KITH_OK;
}

/* Of an integrator of planets. */
static kith_status write_coordinates(hid_t group, const struct run_parameters *parameters)
{
    if (!*parameters->coordinates)
        return KITH_OK;
    KITH_TRY(hdf5_write_text(group, "coordinates", parameters->coordinates));
    KITH_TRY(hdf5_write_text(group, "kernel", parameters->kernel));
    return hdf5_write_integer(group, "corrector", parameters->corrector);
}

static kith_status read_coordinates(hid_t group, struct run_parameters *parameters)
{
    int64_t corrector = 0;
    if (!hdf5_exists(group, "coordinates"))
        return KITH_OK;
    KITH_TRY(hdf5_read_text(group, "coordinates", sizeof parameters->coordinates,
                            parameters->coordinates));
    KITH_TRY(hdf5_read_text(group, "kernel", sizeof parameters->kernel, parameters->kernel));
    KITH_TRY(hdf5_read_integer(group, "corrector", &corrector));
    parameters->corrector = (int32_t)corrector;
    return KITH_OK;
}

/* Left out without a value. */
static kith_status write_cutoff(hid_t group, const struct run_parameters *parameters)
{
    if (parameters->cutoff == 0)
        return KITH_OK;
    KITH_TRY(hdf5_write_real(group, "cutoff", parameters->cutoff));
    KITH_TRY(hdf5_write_integer(group, "shift", parameters->shift));
    return hdf5_write_integer(group, "tail", parameters->tail);
}

static kith_status read_cutoff(hid_t group, struct run_parameters *parameters)
{
    int64_t shift = 0, tail = 0;
    if (!hdf5_exists(group, "cutoff"))
        return KITH_OK;
    KITH_TRY(hdf5_read_real(group, "cutoff", &parameters->cutoff));
    KITH_TRY(hdf5_read_integer(group, "shift", &shift));
    KITH_TRY(hdf5_read_integer(group, "tail", &tail));
    parameters->shift = (kith_shift)shift;
    parameters->tail = tail != 0;
    return KITH_OK;
}

static kith_status write_frames(hid_t group, const struct run_parameters *parameters)
{
    KITH_TRY(hdf5_write_integer(group, "every", parameters->every));
    if (parameters->wrap)
        KITH_TRY(hdf5_write_integer(group, "wrap", 1));
    if (parameters->every > 0)
        return KITH_OK;
    KITH_TRY(hdf5_write_real(group, "every_time", parameters->every_time));
    if (parameters->within)
        KITH_TRY(hdf5_write_integer(group, "frames_within_steps", 1));
    return hdf5_write_integer(group, "ends_steps_at_frames", parameters->lands);
}

static kith_status read_frames(hid_t group, struct run_parameters *parameters)
{
    int64_t lands = 0;
    parameters->wrap = hdf5_exists(group, "wrap");
    KITH_TRY(hdf5_read_integer(group, "every", &parameters->every));
    if (parameters->every == 0 && hdf5_exists(group, "every_time")) {
        KITH_TRY(hdf5_read_real(group, "every_time", &parameters->every_time));
        KITH_TRY(hdf5_read_integer(group, "ends_steps_at_frames", &lands));
        parameters->lands = lands != 0;
        parameters->within = hdf5_exists(group, "frames_within_steps");
    }
    if (parameters->every < 0 || (parameters->every == 0 && !(parameters->every_time > 0)))
        return kith_fail(KITH_BAD_FORMAT, "its parameter every is %lld, which no run of kith wrote",
                         (long long)parameters->every);
    return KITH_OK;
}

static const char collision_names[][8] = {[KITH_ON_COLLISION_PASS] = "pass",
                                          [KITH_ON_COLLISION_MERGE] = "merge",
                                          [KITH_ON_COLLISION_BOUNCE] = "bounce",
                                          [KITH_ON_COLLISION_STOP] = "stop"};

/* Events that a run follows; left out without any. */
static kith_status write_watch(hid_t group, const struct run_parameters *parameters)
{
    if (parameters->on_collision != KITH_ON_COLLISION_PASS)
        KITH_TRY(hdf5_write_text(group, "collisions", collision_names[parameters->on_collision]));
    if (parameters->on_collision == KITH_ON_COLLISION_BOUNCE)
        KITH_TRY(hdf5_write_real(group, "restitution", parameters->restitution));
    if (parameters->encounter > 0)
        KITH_TRY(hdf5_write_real(group, "encounter", parameters->encounter));
    return parameters->escape > 0 ? hdf5_write_real(group, "escape", parameters->escape) : KITH_OK;
}

static kith_status read_watch(hid_t group, struct run_parameters *parameters)
{
    char name[8] = "pass";
    if (hdf5_exists(group, "collisions"))
        KITH_TRY(hdf5_read_text(group, "collisions", sizeof name, name));
    for (int k = KITH_ON_COLLISION_PASS; k <= KITH_ON_COLLISION_STOP; k++)
        if (strcmp(name, collision_names[k]) == 0)
            parameters->on_collision = (kith_on_collision)k;
    if (hdf5_exists(group, "restitution"))
        KITH_TRY(hdf5_read_real(group, "restitution", &parameters->restitution));
    if (hdf5_exists(group, "encounter"))
        KITH_TRY(hdf5_read_real(group, "encounter", &parameters->encounter));
    if (hdf5_exists(group, "escape"))
        KITH_TRY(hdf5_read_real(group, "escape", &parameters->escape));
    return KITH_OK;
}

kith_status run_parameters_write(hid_t file, const struct run_parameters *parameters)
{
    hid_t group = H5I_INVALID_HID;
    KITH_TRY(hdf5_make_group(file, H5MD_PARAMETERS, &group));
    KITH_TRY(hdf5_write_text(group, "integrator", parameters->integrator));
    KITH_TRY(hdf5_write_text(group, "law", parameters->law));
    KITH_TRY(hdf5_write_text(group, "solver", parameters->solver));
    KITH_TRY(hdf5_write_text(group, "precision", precision_names[parameters->precision]));
    KITH_TRY(hdf5_write_real(group, "dt", parameters->dt));
    KITH_TRY(hdf5_write_real(group, "until", parameters->until));
    KITH_TRY(write_frames(group, parameters));
    KITH_TRY(hdf5_write_real(group, "gravitational_constant", parameters->gravitational_constant));
    KITH_TRY(hdf5_write_real(group, "softening", parameters->softening));
    KITH_TRY(write_accuracy(group, &parameters->accuracy));
    if (parameters->eta > 0)
        KITH_TRY(hdf5_write_real(group, "eta", parameters->eta));
    KITH_TRY(write_watch(group, parameters));
    KITH_TRY(write_coordinates(group, parameters));
    KITH_TRY(write_cutoff(group, parameters));
    if (parameters->pressure_every > 0)
        KITH_TRY(hdf5_write_integer(group, "pressure_every", parameters->pressure_every));
    KITH_TRY(run_exclusions_write(group, parameters->exclusions));
    KITH_TRY(run_images_write(group, &parameters->ewald));
    if (parameters->substeps > 1)
        KITH_TRY(hdf5_write_integer(group, "substeps", parameters->substeps));
    if (*parameters->thermostat)
        KITH_TRY(hdf5_write_text(group, "thermostat", parameters->thermostat));
    return hdf5_write_integer(group, "softening_of_bodies", parameters->softening_of_bodies);
}

kith_status run_parameters_read(hid_t file, struct run_parameters *parameters,
                                int64_t (**exclusions)[2])
{
    *exclusions = NULL;
    *parameters = (struct run_parameters){.systems = 1};
    if (!hdf5_is_group(file, H5MD_PARAMETERS) || !hdf5_is_group(file, RUN_CHECKPOINT))
        return kith_fail(KITH_BAD_FORMAT, "it has no checkpoint of a run of kith (" RUN_CHECKPOINT
                                          "); start again, without resume");
    const hid_t group = H5Gopen2(file, H5MD_PARAMETERS, H5P_DEFAULT);
    char precision[8];
    int64_t softening_of_bodies = 0;
    KITH_TRY(
        hdf5_read_text(group, "integrator", sizeof parameters->integrator, parameters->integrator));
    if (hdf5_exists(group, "law")) /* versions before did not write it */
        KITH_TRY(hdf5_read_text(group, "law", sizeof parameters->law, parameters->law));
    else
        snprintf(parameters->law, sizeof parameters->law, "gravity");
    if (hdf5_exists(group, "solver"))
        KITH_TRY(hdf5_read_text(group, "solver", sizeof parameters->solver, parameters->solver));
    else
        snprintf(parameters->solver, sizeof parameters->solver, "direct");
    KITH_TRY(read_accuracy(group, &parameters->accuracy));
    KITH_TRY(read_coordinates(group, parameters));
    KITH_TRY(read_cutoff(group, parameters));
    if (hdf5_exists(group, "pressure_every"))
        KITH_TRY(hdf5_read_integer(group, "pressure_every", &parameters->pressure_every));
    if (parameters->pressure_every < 0)
        return kith_fail(KITH_BAD_FORMAT,
                         "its parameter pressure_every is %lld, which no run of kith wrote",
                         (long long)parameters->pressure_every);
    KITH_TRY(run_exclusions_read(group, &parameters->exclusions, exclusions));
    KITH_TRY(run_images_read(group, &parameters->ewald));
    if (hdf5_exists(group, "substeps"))
        KITH_TRY(hdf5_read_integer(group, "substeps", &parameters->substeps));
    if (parameters->substeps < 0 || parameters->substeps > KITH_MOST_SUBSTEPS)
        return kith_fail(KITH_BAD_FORMAT,
                         "its parameter substeps is %lld, which no run of kith wrote",
                         (long long)parameters->substeps);
    if (hdf5_exists(group, "thermostat"))
        KITH_TRY(hdf5_read_text(group, "thermostat", sizeof parameters->thermostat,
                                parameters->thermostat));
    KITH_TRY(hdf5_read_text(group, "precision", sizeof precision, precision));
    KITH_TRY(hdf5_read_real(group, "dt", &parameters->dt));
    KITH_TRY(hdf5_read_real(group, "until", &parameters->until));
    KITH_TRY(read_frames(group, parameters));
    KITH_TRY(hdf5_read_real(group, "gravitational_constant", &parameters->gravitational_constant));
    KITH_TRY(hdf5_read_real(group, "softening", &parameters->softening));
    KITH_TRY(hdf5_read_integer(group, "softening_of_bodies", &softening_of_bodies));
    if (hdf5_exists(group, "eta"))
        KITH_TRY(hdf5_read_real(group, "eta", &parameters->eta));
    KITH_TRY(read_watch(group, parameters));
    parameters->is_ensemble = hdf5_exists(group, "systems");
    if (parameters->is_ensemble)
        KITH_TRY(hdf5_read_integer(group, "systems", &parameters->systems));
    parameters->softening_of_bodies = softening_of_bodies != 0;
    parameters->precision = strcmp(precision, precision_names[KITH_F32]) == 0 ? KITH_F32 : KITH_F64;
    return KITH_OK;
}
