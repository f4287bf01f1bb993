#ifndef IO_H5MD_NAMES_H
#define IO_H5MD_NAMES_H

#include "io/h5md_reader.h"

/* Names of the bodies: the dataset `name` of kith's files, or else H5MD's species, of an
 * enumeration the words, otherwise the numbers in decimal. In kith's own files species only numbers
 * the names. */
bool h5md_has_names(const struct h5md_reader *reader);
kith_status h5md_read_names(const struct h5md_reader *reader, int64_t frame, kith_name *names);

#endif
