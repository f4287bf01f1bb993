#include <string.h>
#include "core/status.h"
#include "kith/simulation.h"
#define NOT_YET return kith_fail(KITH_UNSUPPORTED, "not yet")
const kith_integrator *kith_integrator_list(int64_t *count) { *count = 0; return 0; }
kith_status kith_simulation_create(kith_context *c, const kith_simulation_options *o, const kith_bodies *b, kith_simulation **s) { (void)c,(void)o,(void)b; *s = 0; NOT_YET; }
void kith_simulation_free(kith_simulation *s) { (void)s; }
kith_status kith_simulation_step(kith_simulation *s, int64_t n) { (void)s,(void)n; NOT_YET; }
kith_status kith_simulation_step_by(kith_simulation *s, double h) { (void)s,(void)h; NOT_YET; }
kith_status kith_simulation_run(kith_simulation *s, double h) { (void)s,(void)h; NOT_YET; }
int64_t kith_simulation_whole_steps(double start, double until, double dt, double *rest) { (void)start,(void)until,(void)dt,*rest=0; return 0; }
double kith_simulation_time(const kith_simulation *s) { (void)s; return 0; }
int64_t kith_simulation_steps(const kith_simulation *s) { (void)s; return 0; }
kith_status kith_simulation_get_bodies(kith_simulation *s, kith_bodies *b) { (void)s,(void)b; NOT_YET; }
kith_status kith_simulation_diagnose(kith_simulation *s, kith_diagnostics *d) { (void)s,(void)d; NOT_YET; }
kith_status kith_simulation_save(kith_simulation *s, kith_checkpoint *c) { (void)s,(void)c; NOT_YET; }
kith_status kith_simulation_restore(kith_simulation *s, const kith_checkpoint *c) { (void)s,(void)c; NOT_YET; }
void kith_checkpoint_free(kith_checkpoint *c) { (void)c; }
