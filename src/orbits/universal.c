#include "orbits/universal_body.h"

void universal_solve(const struct universal_orbit *orbit, double t, double g[3])
{
    universal_solve_here(orbit, t, g);
}
