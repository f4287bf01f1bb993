/* kith orbits: the orbital elements of a run or of bodies. */

#include "cli.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/memory.h"
#include "io/frames.h"
#include "json.h"
#include "load.h"
#include "options.h"
#include "orbit_options.h"
#include "progress.h"
#include "resonance.h"
#include "streams.h"

struct orbits_options {
    struct common_options common; /* --json and --quiet alone */
    kith_read_options read;
    kith_orbits_options about;
    struct resonance resonance; /* instead of elements */
    const char *path, *output, *to;
    int64_t first, last; /* frames; last 0: to the end */
};

static const char documentation[] =
    "Compute the orbital elements of all frames of RUN, an H5MD file that kith run wrote or a "
    "file of "
    "bodies, about its first body, the star.\v"
    "The output has one row per frame and body, without the star. Angles are in radians; bodies "
    "are "
    "counted from 0, the star. a is negative for hyperbolas. Removed bodies are nan.\n\n"
    "Examples:\n"
    "  kith run outer-solar-system --dt 100 --until 36525 -q -o planets.h5\n"
    "  kith orbits planets.h5 --coordinates jacobi -o elements.csv\n"
    "  kith orbits planets.h5 --frames 1:10 -o elements.npy --json\n"
    "  kith orbits planets.h5 --resonance 3l5-2l4-w5 -o angle.csv\n"
    "  kith make solar-system | kith orbits -";

static void check(void *options, const struct argp_state *state)
{
    const struct orbits_options *orbits = options;
    if (!orbits->path)
        cli_usage_error(state, "RUN is missing: an H5MD file, or a file of bodies");
    cli_check_extension("-o", orbits->output, orbits->to, extensions_of_records, state);
    cli_check_stdout("-o", orbits->output, &orbits->common, state);
}

static void set_frames(void *options, const char *option, const char *text,
                       const struct argp_state *state)
{
    struct orbits_options *orbits = options;
    (void)option;
    cli_parse_frames(text, &orbits->first, &orbits->last, state);
}

static void set_resonance(void *options, const char *option, const char *text,
                          const struct argp_state *state)
{
    (void)option;
    ((struct orbits_options *)options)->resonance = cli_parse_resonance(text, state);
}

#define AT(member) OPTION_AT(struct orbits_options, member)
static const struct option_row option_rows[] = {
    {NULL, "RUN", NULL, AT(path)},
    {"coordinates", NULL,
     "center of the orbits: heliocentric, jacobi or barycentric (default: heliocentric)",
     AT(about.coordinates), .choices = &choices_of_coordinates},
    {"g", "G", "gravitational constant (default: the one of RUN, else 1)",
     AT(about.gravitational_constant), .positive = true},
    {"frames", "A:B", "frames A to B only, both included, counted from 1, or all (default: all)",
     .set = set_frames},
    {"resonance", "ANGLE",
     "write time,angle instead: a sum of multiples of mean longitudes l, longitudes of pericenter w "
     "and of the node O of bodies, such as 3l5-2l4-w5",
     .set = set_resonance},
    {"system", "K", "of an ensemble, counted from 0", AT(read.system),
     OPTION_GIVEN(struct orbits_options, read.system_given)},
    {"from", NULL, "of RUN (default: by its extension; of -, standard input, by its content)",
     AT(read.format), .choices = &choices_of_formats},
    {"output", "FILE",
     "write time,body,a,e,i,Omega,omega,M to FILE: .csv, .npy or .h5 (default: -, standard output, "
     "as CSV)",
     AT(output), .letter = 'o'},
    {"to", NULL, "of the output: csv, npy or h5 (default: by its extension)", AT(to),
     .choices = &choices_of_records},
    {"json", NULL, "print one JSON object on standard output, nothing else there", AT(common.json)},
    {"quiet", NULL, "no notes", AT(common.quiet), .letter = 'q'},
    {0}};

/* A row of the output; all members have 8 bytes. */
struct row {
    double time;
    int64_t body;
    double a, e, i, Omega, omega, M;
};

/* The rows of the frames up to now. */
struct elements {
    const kith_orbits_options *options;
    const struct resonance *resonance;
    struct row *rows;
    kith_orbit *orbits; /* of a frame */
    int64_t count, room, bodies, frames, frames_expected;
    double g, seconds;
    bool lacks_g; /* no orbit of the first frame fits the default G */
};

/* Whether all orbits are unbound or nearly radial, as those of a file in AU and days, in m and s,
 * or in AU and years under G = 1. */
static bool are_all_unlikely(const kith_orbit *orbits, int64_t count)
{
    int64_t seen = 0;
    for (int64_t k = 0; k < count; k++) {
        if (!isnan(orbits[k].e) && orbits[k].e < 0.999)
            return false;
        seen += !isnan(orbits[k].e);
    }
    return seen > 0;
}

/* Room for count rows more; at first for all frames. */
static kith_status make_room(struct elements *elements, int64_t count)
{
    const int64_t wanted = elements->count + count;
    if (wanted <= elements->room)
        return KITH_OK;
    struct row *rows = NULL;
    const int64_t room = elements->room == 0 ? elements->frames_expected * count : 2 * wanted;
    KITH_TRY(kith_allocate(room, sizeof *rows, "orbital elements", &rows));
    if (elements->count > 0)
        memcpy(rows, elements->rows, (size_t)elements->count * sizeof *rows);
    free(elements->rows);
    elements->rows = rows;
    elements->room = room;
    return KITH_OK;
}

/* The array for the orbits of a frame. */
static kith_status take_bodies(struct elements *elements, int64_t bodies)
{
    if (elements->orbits && bodies == elements->bodies)
        return KITH_OK;
    free(elements->orbits);
    elements->orbits = NULL;
    elements->bodies = bodies;
    return kith_allocate(bodies, sizeof *elements->orbits, "orbits", &elements->orbits);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static kith_status add_rows(struct elements *elements, double time, int64_t count)
{
    for (int64_t k = 0; k < count; k++) {
        const kith_orbit *orbit = &elements->orbits[k];
        elements->rows[elements->count++] = (struct row){
            time, k + 1, orbit->a, orbit->e, orbit->i, orbit->Omega, orbit->omega, orbit->M};
    }
    return KITH_OK;
}

/* A row with the angle instead of a. */
static kith_status add_angle(struct elements *elements, double time, int64_t bodies)
{
    double angle = 0;
    KITH_TRY(resonance_angle(elements->resonance, elements->orbits, bodies, &angle));
    elements->rows[elements->count++] = (struct row){.time = time, .a = angle};
    return KITH_OK;
}

static kith_status add_frame(void *state, int64_t step, const kith_bodies *bodies)
{
    struct elements *elements = state;
    const int64_t count = bodies->count > 0 ? bodies->count - 1 : 0;
    (void)step;
    if (progress_signal() != 0)
        return kith_fail(KITH_CANCELLED, "stopped; nothing is written");
    if (bodies->count > 0 && !bodies->velocity)
        return kith_fail(KITH_INVALID_ARGUMENT, "the file has no velocities, which orbits need");
    KITH_TRY(make_room(elements, count > 0 ? count : 1));
    KITH_TRY(take_bodies(elements, bodies->count));
    const double start = now(), own = bodies->units.gravitational_constant;
    const kith_status status = kith_orbits_compute(elements->options, bodies, elements->orbits);
    if (status != KITH_OK)
        return kith_fail_within(status, "frame %lld: ", (long long)elements->frames + 1);
    elements->seconds += now() - start;
    elements->g = elements->options->gravitational_constant != 0
                      ? elements->options->gravitational_constant
                  : own != 0 ? own
                             : 1;
    if (elements->frames == 0)
        elements->lacks_g = elements->options->gravitational_constant == 0 && own == 0 &&
                            are_all_unlikely(elements->orbits, count);
    KITH_TRY(elements->resonance->count > 0 ? add_angle(elements, bodies->time, bodies->count)
                                            : add_rows(elements, bodies->time, count));
    elements->frames++;
    return KITH_OK;
}

static kith_array column(const struct row *rows, int64_t count, size_t offset, kith_dtype dtype)
{
    kith_array array = kith_array_vector((char *)rows + offset, dtype, count);
    array.strides[0] = sizeof *rows / 8;
    return array;
}

static kith_status write_rows(const struct orbits_options *orbits, const struct elements *elements)
{
    static const struct {
        const char *name;
        size_t offset;
        kith_dtype dtype;
    } each[] = {{"time", offsetof(struct row, time), KITH_F64},
                {"body", offsetof(struct row, body), KITH_I64},
                {"a", offsetof(struct row, a), KITH_F64},
                {"e", offsetof(struct row, e), KITH_F64},
                {"i", offsetof(struct row, i), KITH_F64},
                {"Omega", offsetof(struct row, Omega), KITH_F64},
                {"omega", offsetof(struct row, omega), KITH_F64},
                {"M", offsetof(struct row, M), KITH_F64}};
    enum { columns = sizeof each / sizeof each[0] };
    kith_table_column table[columns];
    for (int k = 0; k < columns; k++)
        table[k] = (kith_table_column){
            each[k].name, column(elements->rows, elements->count, each[k].offset, each[k].dtype)};
    const char *path = cli_output_path(orbits->output ? orbits->output : "-");
    if (orbits->resonance.count > 0) {
        table[1] = table[2];
        table[1].name = "angle";
    }
    return kith_table_write_records(path, cli_output_format(path, orbits->to),
                                    orbits->resonance.count > 0 ? 2 : columns, table);
}

static int print_json(const char *command, const struct orbits_options *orbits,
                      const struct elements *elements)
{
    int64_t bound = 0, removed = 0;
    for (int64_t k = 0; k < elements->count; k++) {
        removed += isnan(elements->rows[k].a);
        bound += elements->rows[k].a > 0 && isfinite(elements->rows[k].a);
    }
    cJSON *object = cJSON_CreateObject();
    json_add_count(object, "bodies", elements->bodies);
    json_add_count(object, "frames", elements->frames);
    if (orbits->resonance.count > 0) {
        json_add_count(object, "angles", elements->count);
    } else {
        json_add_count(object, "orbits", elements->count);
        json_add_count(object, "bound", bound);
        json_add_count(object, "unbound", elements->count - bound - removed);
        json_add_count(object, "removed", removed);
    }
    cJSON_AddStringToObject(object, "coordinates",
                            cli_name_of_coordinates(orbits->about.coordinates));
    json_add_real(object, "g", elements->g);
    json_add_real(object, "seconds", elements->seconds);
    return json_print(command, object);
}

static kith_status read_frames(const struct orbits_options *orbits, struct elements *elements)
{
    int64_t there = 0;
    KITH_TRY(frames_count(orbits->path, &orbits->read, &there));
    elements->frames_expected = (orbits->last > 0 ? orbits->last : there) - orbits->first + 1;
    return frames_read(orbits->path, &orbits->read, orbits->first, orbits->last, add_frame,
                       elements);
}

static int run_orbits(const char *command, const struct orbits_options *orbits)
{
    struct elements elements = {.options = &orbits->about, .resonance = &orbits->resonance};
    progress_begin(NULL, true); /* for its signals alone */
    kith_status status = read_frames(orbits, &elements);
    progress_end(NULL);
    if (status == KITH_OK && elements.lacks_g)
        cli_note(orbits->common.quiet || orbits->common.json, command,
                 "with G = 1, the default, no body has a bound orbit of eccentricity below 0.999 "
                 "about the first body; give --g, the gravitational constant in the units of the "
                 "file, and list the star first");
    if (status == KITH_OK && (orbits->output || !orbits->common.json))
        status = write_rows(orbits, &elements);
    const int code = status != KITH_OK     ? cli_fail(command)
                     : orbits->common.json ? print_json(command, orbits, &elements)
                                           : exit_ok;
    free(elements.rows);
    free(elements.orbits);
    return code;
}

static const struct parser parser = {.rows = option_rows,
                                     .check = check,
                                     .arguments = "RUN",
                                     .documentation = documentation,
                                     .tables = cli_coordinates_help};

int command_orbits(int argc, char **argv)
{
    struct orbits_options orbits = {.first = 1};
    cli_parse(&parser, argc, argv, &orbits);
    const int code = load_take_file(argv[0], &orbits.path, &orbits.read.format, orbits.output);
    return code == exit_ok ? run_orbits(argv[0], &orbits) : code;
}
