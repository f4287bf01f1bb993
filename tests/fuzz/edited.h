#ifndef FUZZ_EDITED_H
#define FUZZ_EDITED_H

#include <stddef.h>
#include <stdint.h>

/* An HDF5 file that HDF5 finds whole and kith may find odd: one that kith wrote, edited as the
 * bytes say. Links go or lead elsewhere, datasets and attributes get other types, shapes and
 * numbers. (Damaged bytes are no use: HDF5 1.10 itself falls over them, see docs/reliability.md.)
 *
 *   format  "h5md", "gadget", or "run" for a run with a checkpoint
 *
 * The path is valid until the next call. */
const char *fuzz_edited(const uint8_t *data, size_t size, const char *format);

#endif
