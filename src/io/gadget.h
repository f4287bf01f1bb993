#ifndef IO_GADGET_H
#define IO_GADGET_H

/* The types of bodies in Gadget's files, PartType0 to PartType5. */
enum { gadget_type_count = 6, gadget_default_type = 1 };

extern const char *const gadget_type_names[gadget_type_count];

#endif
