#include "core/status.h"
#include "kith/initial.h"
const kith_initial *kith_initial_list(int64_t *count) { *count = 0; return 0; }
kith_status kith_initial_make(const char *k, const kith_initial_options *o, kith_bodies **b) { (void)k,(void)o; *b=0; return kith_fail(KITH_UNSUPPORTED, "not yet"); }
