#include "core/status.h"
#include "kith/run.h"
#include "kith/trajectory.h"
kith_status kith_run(kith_context *c, const kith_run_options *o, const kith_bodies *b, kith_run_summary *s) { (void)c,(void)o,(void)b,(void)s; return kith_fail(KITH_UNSUPPORTED, "not yet"); }
kith_status kith_trajectory_open(const char *p, kith_trajectory **t) { (void)p; *t=0; return kith_fail(KITH_UNSUPPORTED, "not yet"); }
void kith_trajectory_close(kith_trajectory *t) { (void)t; }
int64_t kith_trajectory_frames(const kith_trajectory *t) { (void)t; return 0; }
kith_status kith_trajectory_read(kith_trajectory *t, int64_t f, kith_bodies **b) { (void)t,(void)f,(void)b; return kith_fail(KITH_UNSUPPORTED, "not yet"); }
kith_status kith_trajectory_observable(kith_trajectory *t, const char *n, int64_t *c, double **v, double **w) { (void)t,(void)n,(void)c,(void)v,(void)w; return kith_fail(KITH_UNSUPPORTED, "not yet"); }
