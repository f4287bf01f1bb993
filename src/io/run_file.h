#ifndef IO_RUN_FILE_H
#define IO_RUN_FILE_H

#include "core/status.h"
#include "io/h5md_chunk.h"
#include "kith/bodies.h"
#include "kith/simulation.h"

/* The file of a run, written so that it is always whole.
 *
 * Frames go to a hidden working file next to the output. Publishing makes a copy of it, puts the
 * frames that are in memory yet and a checkpoint into the copy, synchronizes it to the disk and
 * renames it over the output. So HDF5 never has the output itself open for writing, and the working
 * file only ever grows by whole chunks. The last publishing takes the working file itself. */
struct run_file;

enum { RUN_LAW_BYTES = 2048, RUN_THERMOSTAT_BYTES = 96 };

/* The parameters of a run, without its bodies. */
struct run_parameters {
    double dt, until;
    double gravitational_constant, softening;
    double eta;             /* of hermite-block; 0: its default */
    kith_array exclusions;  /* of a past they are run_past's */
    kith_accuracy accuracy; /* all 0: none was given */
    double cutoff;          /* 0: all pairs */
    kith_shift shift;
    bool tail;
    kith_ewald ewald; /* of a solver of periodic images */
    kith_dtype precision;
    int32_t corrector;      /* of an integrator of planets; else 0 */
    int64_t substeps;       /* of near pairs; 0: none */
    int64_t pressure_every; /* steps between pressures; 0: in frames only */
    int64_t every;          /* steps between frames; 0: */
    double every_time;      /* time between frames, of an integrator that chooses its steps */
    bool lands;  /* steps end at frames; else frames are at the next step's end, or, if: */
    bool within; /* frames are within steps, which they do not change */
    bool wrap;   /* frames are within the cell, with images */
    bool is_ensemble;
    bool softening_of_bodies;
    int64_t systems; /* M; 1 unless an ensemble */
    kith_on_collision on_collision;
    double restitution, encounter, escape;
    char integrator[KITH_NAME_BYTES];
    char coordinates[KITH_NAME_BYTES], kernel[KITH_NAME_BYTES]; /* of planets; else empty */
    char solver[KITH_NAME_BYTES];
    char thermostat[RUN_THERMOSTAT_BYTES]; /* as kith_thermostat_parse reads it; empty: none */
    char law[RUN_LAW_BYTES];               /* as run/law_record.h writes it */
};

/* Whether the solver is one of periodic images. */
bool run_parameters_have_images(const struct run_parameters *parameters);

/* Whether frames have a cell, and observables the virial: with a cutoff or periodic images. */
bool run_parameters_have_cell(const struct run_parameters *parameters);

struct run_origin {
    const char *const *arguments; /* the command line, NULL-ended, or NULL */
    const char *input;            /* the bodies' file, or NULL */
    kith_units units;             /* of the bodies, with the G of the run */
    const uint64_t *seed;         /* of the bodies' random numbers, or NULL; of an ensemble that of
                                     system 0, and one more for each next */
    const char *const *inputs;    /* of an ensemble: each system's file, or NULL */
};

/* What an interrupted or finished run left in its output. */
struct run_past {
    struct run_parameters parameters;
    int64_t all, first_row; /* bodies of the start, and the first one that is here */
    int64_t state_rows;     /* of ranks: bodies of the checkpoint's state, of all of them */
    kith_bodies *start;     /* frame 0, in the run's precision */
    kith_checkpoint checkpoint;
    int64_t (*exclusions)[2]; /* of the parameters; or NULL */
    kith_event *events;       /* up to the checkpoint's step */
    int64_t event_count;
    int64_t frames; /* those before the checkpoint's step */
    /* Of each system: */
    kith_diagnostics *first;      /* at frame 0 */
    kith_diagnostics *last;       /* at the last of those frames, or at frame 0 */
    double *largest_energy_error; /* max |E − E_0| over those frames */
};

/* Makes the working file of a new run. The bodies come by run_file_put_bodies: all rows, in order,
 * before the first frame.
 *
 *   output            not there, or a regular file, which stays until the first publishing
 *   like              has as many bodies, their dimensions and cell, and the columns that they have
 *   names_are_numbers whether all of their names are: run_names_are_numbers
 *   frames_expected   roughly
 *   file              [out] close with run_file_close
 *
 * Errors: KITH_INVALID_ARGUMENT, KITH_IO_ERROR, KITH_UNSUPPORTED (no HDF5), KITH_OUT_OF_MEMORY. */
kith_status run_file_create(const char *output, const struct run_parameters *parameters,
                            const struct run_origin *origin, const kith_bodies *like,
                            bool names_are_numbers, int64_t frames_expected,
                            struct run_file **file);
kith_status run_file_put_bodies(struct run_file *file, int64_t first, const kith_bodies *rows);
bool run_names_are_numbers(const kith_bodies *bodies);

/* Whether there is an output to resume from. */
bool run_file_exists(const char *output);

/* Reads the state to resume from. The frame at the checkpoint's own step does not count: the
 * run writes it again, if it still has one there.
 *
 *   past  [out] free with run_past_free; empty on failure */
kith_status run_past_read(const char *output, struct run_past *past);
void run_past_free(struct run_past *past);

/* The same in pieces: the past without the start and without the checkpoint's state, whose bodies
 * and bytes are those of all; then rows of the start, in order, and rows of an array of the state.
 *
 *   reader  [out] close with run_past_close; NULL on failure */
struct run_past_reader;
kith_status run_past_open(const char *output, struct run_past *past,
                          struct run_past_reader **reader);
const kith_bodies *run_past_like(const struct run_past_reader *reader); /* as bodies_stream's */
kith_status run_past_start(struct run_past_reader *reader, kith_bodies *rows);
kith_status run_past_state(struct run_past_reader *reader, int64_t array, int64_t first,
                           int64_t rows, void *numbers);
void run_past_close(struct run_past_reader *reader);

/* Makes the working file of a resumed run: output with the past's frames and no later ones. */
kith_status run_file_resume(const char *output, const struct run_parameters *parameters,
                            const struct run_origin *origin, const struct run_past *past,
                            int64_t frames_expected, struct run_file **file);

/* Adds the frame of a step, with the diagnostics of each system, in pieces: the time and the cell
 * are those of `rows`, whichever they are; then come all rows, in order. */
kith_status run_file_begin_frame(struct run_file *file, int64_t step, const kith_bodies *rows,
                                 const kith_diagnostics *diagnostics);
kith_status run_file_put_frame(struct run_file *file, int64_t first, const kith_bodies *rows);
kith_status run_file_end_frame(struct run_file *file);

/* As h5md_writer_chunk, h5md_writer_add_chunk and h5md_writer_add_images. */
struct h5md_chunk run_file_chunk(const struct run_file *file);
kith_status run_file_put_chunk(struct run_file *file, int32_t part, int64_t first, int64_t bytes,
                               const void *packed);
kith_status run_file_put_images(struct run_file *file, int64_t first, const kith_bodies *rows);

/* Values recorded at every pressure_every-th step. */
struct run_pressure {
    int64_t step;
    double time, temperature, pressure, virial[9];
};

/* Adds one, of a run with pressure_every > 0. */
kith_status run_file_add_pressure(struct run_file *file, const struct run_pressure *row);

/* Brings all frames, pressures, the checkpoint and the events to the output. After a failure the
 * output is as before, and the file may only be closed.
 *
 * run_file_begin_checkpoint takes what a checkpoint has besides its state; then comes the state in
 * pieces, some rows of one array: all rows of all arrays. last: no frame will follow.
 *
 *   events  all, `count` of them */
kith_status run_file_begin_checkpoint(struct run_file *file, const kith_checkpoint *checkpoint,
                                      bool last);
kith_status run_file_put_state(struct run_file *file, int64_t array, int64_t first, int64_t rows,
                               const void *numbers);
kith_status run_file_publish(struct run_file *file, const kith_event *events, int64_t count);

/* Removes the working file, keeps the thread's message, frees; NULL is fine. */
void run_file_close(struct run_file *file);

#endif
