#include "core/status.h"
#include "kith/io.h"
const kith_format *kith_format_list(int64_t *count) { *count = 0; return 0; }
kith_status kith_bodies_read(const char *p, const kith_read_options *o, kith_bodies **b) { (void)p,(void)o; *b=0; return kith_fail(KITH_UNSUPPORTED, "not yet"); }
kith_status kith_bodies_write(const kith_bodies *b, const char *p, const kith_write_options *o) { (void)p,(void)o,(void)b; return kith_fail(KITH_UNSUPPORTED, "not yet"); }
kith_status kith_format_drops(const kith_bodies *b, const char *p, const kith_write_options *o, unsigned *c) { (void)p,(void)o,(void)b; *c = 0; return KITH_OK; }
