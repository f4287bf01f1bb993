#ifndef IO_GADGET_HEADER_H
#define IO_GADGET_HEADER_H

#include <hdf5.h>
#include <stdbool.h>

#include "core/status.h"
#include "io/gadget.h"

enum { gadget_most_types = 16 };

/* The group /Header of a file of a snapshot. */
struct gadget_header {
    int64_t count[gadget_most_types]; /* in this file */
    int64_t total[gadget_most_types]; /* in all files */
    double mass[gadget_most_types];   /* of every body of a type; 0: they have their own */
    double time, box[3];
    int64_t files;
    bool has_total;
};

/* Errors: KITH_BAD_FORMAT, KITH_UNSUPPORTED (bodies of more than gadget_type_count types). */
kith_status gadget_header_read(hid_t file, struct gadget_header *header);

/* Whether a header fits that of the first file of the same snapshot. Errors: KITH_BAD_FORMAT. */
kith_status gadget_header_check(const struct gadget_header *header,
                                const struct gadget_header *first);

#endif
