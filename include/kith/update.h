#ifndef KITH_UPDATE_H
#define KITH_UPDATE_H

#include "kith/array.h"
#include "kith/context.h"
#include "kith/law.h"
#include "kith/particles.h"
#include "kith/status.h"
#include "kith/sums.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kith_update_options {
    int64_t let_count; /* named formulas, which later ones and the updates can use */
    const kith_named_formula *lets;
    int64_t parameter_count;
    const kith_law_parameter *parameters;
} kith_update_options;

/* Updates of columns by formulas: for each particle i and each update k
 *
 *     column_k[i] = f_k(i)
 *
 * where f_k is a formula as in kith_sums_compute, in NAME_i for any of the columns, the parameters
 * and the lets above it. All f_k are evaluated before any column changes. With a sum of the forces,
 * an update is a time step:
 *
 *     {"vx", "vx_i + dt * ax_i"}, {"x", "x_i + dt * (vx_i + dt * ax_i)"}
 *
 *   context       where to compute
 *   options       NULL: no lets and no parameters
 *   column_count  1 to KITH_MAX_COLUMNS
 *   columns       n numbers each, of one dtype, on the host or on the context's device, with any
 *                 strides; those that updates name are overwritten. Coordinates are columns too
 *   update_count  1 to KITH_SUMS_MAX_OUTPUTS
 *   updates       the name of a column, and its formula
 *
 * Errors: KITH_INVALID_ARGUMENT (shapes, dtypes, devices; a column that overlaps with one that is
 *         updated; an invalid formula, one with an absent column, or with r, dx or another variable
 *         of a pair), KITH_UNSUPPORTED (arrays on a GPU and a context on the CPU, no C compiler, or
 *         on a GPU no NVRTC), KITH_OUT_OF_MEMORY, KITH_CANCELLED. NaN and infinity are no errors.
 * Cost:   O(n); reads and writes the columns once. Formulas are compiled once, as in sums.
 * Error:  a few units in the last place of the formula.
 * Bits:   the same on every run and for every number of threads. */
KITH_API kith_status kith_columns_update(kith_context *context, const kith_update_options *options,
                                         int64_t column_count, const kith_particle_column *columns,
                                         int64_t update_count, const kith_named_formula *updates);

#ifdef __cplusplus
}
#endif

#endif
