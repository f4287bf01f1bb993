#ifndef IO_H5MD_LAYOUT_H
#define IO_H5MD_LAYOUT_H

#include <hdf5.h>

#include "core/status.h"
#include "io/hdf5_data.h"
#include "kith/bodies.h"
#include "kith/simulation.h"

/* What an H5MD file of kith holds (H5MD 1.1: de Buyl, Colberg & Höfling 2014, Comput. Phys. Commun.
 * 185, 1546). Two readers are stricter than that: MDAnalysis wants the one group under /particles
 * to be called trajectory, and observables to have the frames' cadence; VMD takes anything with
 * position/value for atoms. */
struct h5md_layout {
    int64_t count;           /* N; of an ensemble the bodies of all systems */
    bool is_ensemble;        /* has /particles/trajectory/system, and observables of each system */
    int64_t systems;         /* M; 1 unless an ensemble */
    int64_t frames_expected; /* roughly: few frames get small chunks */
    kith_dtype precision;    /* of positions and velocities; everything else is double */
    bool velocities;         /* has /particles/trajectory/velocity */
    bool observables;        /* has /observables */
    bool totals;             /* with virial and pressure among them */
    bool cell;               /* has /particles/trajectory/box/edges */
    bool wrap;               /* positions are within it; has /particles/trajectory/image */
    bool masses;             /* has /particles/trajectory/mass, ones for bodies without masses */
};

/* Makes everything but the frames and the columns (io/h5md_columns.h): /h5md, the box, and empty
 * series. A trajectory always has three components, z = 0 in 2D; /parameters/kith/dimensions has
 * the true number. Of the bodies the dimensions and the cell count. */
kith_status h5md_make_layout(hid_t file, const struct h5md_layout *layout,
                             const kith_bodies *bodies);

/* Frames that a chunk of positions holds. */
int64_t h5md_chunk_frames(const struct h5md_layout *layout);

/* A series under /observables: numbers of kith_diagnostics. */
struct h5md_observable {
    const char *name;
    size_t offset;      /* in kith_diagnostics */
    int32_t components; /* 1, 3 or 9 */
    bool of_totals;     /* of runs with a cutoff alone */
};

enum { h5md_observable_count = 10, h5md_numbers_observed = 24 };
extern const struct h5md_observable h5md_observables[h5md_observable_count];

/* Whether a file has this one. */
bool h5md_has_observable(const struct h5md_layout *layout,
                         const struct h5md_observable *observable);

/* One frame of an observable: a number, a vector or a tensor; of an ensemble M of them. */
struct hdf5_shape h5md_observable_frame(const struct h5md_observable *observable, bool is_ensemble,
                                        int64_t systems);

#define H5MD_PARTICLES  "/particles/trajectory"
#define H5MD_POSITION   H5MD_PARTICLES "/position"
#define H5MD_VELOCITY   H5MD_PARTICLES "/velocity"
#define H5MD_IMAGE      H5MD_PARTICLES "/image"
#define H5MD_BOX        H5MD_PARTICLES "/box"
#define H5MD_PARAMETERS "/parameters/kith"

#endif
