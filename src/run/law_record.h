#ifndef RUN_LAW_RECORD_H
#define RUN_LAW_RECORD_H

#include "core/status.h"
#include "io/run_file.h"
#include "kith/law.h"

/* A law as a run's file records it, with all parameters: "yukawa; L=2.5; k=1", and a sum of two as
 * "coulomb; k=1; plus lennard-jones; EPS=1; SIGMA=1". Gravity, whose G is
 * recorded by itself, and NULL are "gravity". */
enum { law_record_bytes = RUN_LAW_BYTES };

/* Errors: KITH_UNSUPPORTED (a formula that is too long). */
kith_status law_record(const kith_law *law, char text[law_record_bytes]);

/* Makes the law of a record; NULL for gravity. Free *law with kith_law_free.
 * Errors: KITH_BAD_FORMAT, KITH_OUT_OF_MEMORY. */
kith_status law_of_record(const char *text, kith_law **law);

#endif
