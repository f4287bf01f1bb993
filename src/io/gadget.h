#ifndef IO_GADGET_H
#define IO_GADGET_H

#include <stdint.h>

/* The types of bodies in Gadget's files, PartType0 to PartType5. */
enum { gadget_type_count = 6, gadget_default_type = 1 };

/* How many files the snapshot has that this file is of; 1 if it cannot be read, or has no number in
 * its name (io/parts.h). */
int64_t gadget_files(const char *path);

extern const char *const gadget_type_names[gadget_type_count];

#endif
