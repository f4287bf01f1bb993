#ifndef IO_H5MD_COLUMNS_H
#define IO_H5MD_COLUMNS_H

#include "io/h5md_layout.h"

/* The columns of an H5MD file that do not change in time, written as rows come: mass, charge,
 * softening, radius, epsilon, sigma, species, id, original_id, name, and the system of each body of
 * an ensemble.
 *
 * Bodies of one name are of one species, the number of the first row that has it; names that are
 * numbers are species as another program counted them (io/h5md_names.h). */
struct h5md_columns;

/* Makes the datasets, those of the columns that `like` has.
 *
 *   names_are_numbers  of all rows: h5md_names_are_numbers
 *   columns            [out] free with h5md_columns_free, while the file is open */
kith_status h5md_columns_make(hid_t file, const struct h5md_layout *layout, const kith_bodies *like,
                              bool names_are_numbers, struct h5md_columns **columns);

/* Writes rows; all come once, in order. */
kith_status h5md_columns_put(struct h5md_columns *columns, int64_t first, const kith_bodies *rows);
void h5md_columns_free(struct h5md_columns *columns);

/* Whether all names are whole numbers as kith writes them; true without names. */
bool h5md_names_are_numbers(const kith_bodies *bodies);

/* All of that, of bodies in memory. */
kith_status h5md_write_columns(hid_t file, const struct h5md_layout *layout,
                               const kith_bodies *bodies);

#endif
