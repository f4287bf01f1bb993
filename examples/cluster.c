/* A star cluster that stays as it is: a Plummer sphere for ten time units.
 *
 *     cluster [N] [OUTPUT]
 *
 * Prints time, energy error and virial ratio (1 in equilibrium) once a time unit. The stars go to
 * OUTPUT in the end, in the format that its name says; cluster.gp draws them. */

#include <stdio.h>
#include <stdlib.h>

#include "kith/kith.h"

static int fail(void)
{
    fprintf(stderr, "cluster: %s\n", kith_error_message());
    return 1;
}

int main(int argc, char **argv)
{
    const kith_initial_options options = {.count = argc > 1 ? atoll(argv[1]) : 1000, .seed = 1};
    kith_context *context = NULL;
    kith_bodies *bodies = NULL;
    if (kith_context_create(NULL, &context) || kith_initial_make("plummer", &options, &bodies))
        return fail();

    const kith_simulation_options plan = {.dt = 1.0 / 256, .forces = {.softening = 0.05}};
    kith_simulation *simulation = NULL;
    kith_diagnostics start, now;
    if (kith_simulation_create(context, &plan, bodies, &simulation) ||
        kith_simulation_diagnose(simulation, &start))
        return fail();

    printf("  time  energy error  virial ratio\n");
    for (int t = 1; t <= 10; t++) {
        if (kith_simulation_run(simulation, t) || kith_simulation_diagnose(simulation, &now))
            return fail();
        printf("%6d  %12.2e  %12.4f\n", t, now.total_energy / start.total_energy - 1,
               now.virial_ratio);
    }

    if (kith_simulation_get_bodies(simulation, bodies) ||
        (argc > 2 && kith_bodies_write(bodies, argv[2], NULL)))
        return fail();
    kith_simulation_free(simulation);
    kith_bodies_free(bodies);
    kith_context_free(context);
    return 0;
}
