#include "kith/initial.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/arguments.h"
#include "core/status.h"
#include "initial/recipe.h"
#include "initial/self_avoiding.h"

_Static_assert(FLT_EVAL_METHOD == 0, "the same bits everywhere need doubles that are rounded at "
                                     "every step: on 32-bit x86 compile with -msse2 -mfpmath=sse");

enum kind {
    TWO_BODY,
    LAGRANGE,
    FIGURE_EIGHT,
    SIX,
    SOLAR_SYSTEM,
    OUTER_SOLAR_SYSTEM,
    PLANETS,
    PLUMMER,
    HERNQUIST,
    UNIFORM_CUBE,
    UNIFORM_SPHERE,
    DISK,
    GALAXIES,
    LATTICE,
    LATTICE_WALK,
    SELF_AVOIDING_WALK,
    FCC,
    BCC,
    NACL,
    KIND_COUNT
};

#define GAUSS_K2 0.00029591220828559115 /* 0.01720209895², G in AU, days and solar masses */

static const kith_initial kinds[KIND_COUNT] = {
    [TWO_BODY] =
        {"two-body",
         "Kepler orbit from pericenter: G = m1 + m2 = a = 1, period 2π; eccentricity, mass ratio",
         2,
         2,
         "--dt 0.005 --until 62.83185307179586",
         {0}},
    [LAGRANGE] = {"lagrange",
                  "rotating triangle of side 1, G = total mass = 1, period 2π; masses 1 : q : q, "
                  "q = 0.01 (stable)",
                  3,
                  3,
                  "--dt 0.01 --until 628.3185307179586",
                  {0}},
    [FIGURE_EIGHT] =
        {"figure-8",
         "three unit masses on a figure eight, G = 1, period 6.325913982926228 (Chenciner & "
         "Montgomery 2000)",
         3,
         3,
         "--dt 0.01 --until 6.325913982926228 --integrator yoshida8",
         {0}},
    [SIX] = {"six",
             "six bodies, G = 1: masses in [1,10], positions in [-5,5]³, velocities in [-1,1]³",
             6,
             6,
             "--dt 0.0005 --until 10 --softening 0.1",
             {0}},
    [SOLAR_SYSTEM] = {"solar-system",
                      "Sun, planets, Pluto at J2000.0, ecliptic; AU, days, solar masses (JPL: "
                      "Standish's elements)",
                      10,
                      10,
                      "--dt 1 --until 36525",
                      {GAUSS_K2, "AU", "day", "Msun"}},
    [OUTER_SOLAR_SYSTEM] =
        {"outer-solar-system",
         "Sun, Jupiter … Neptune, Pluto; AU, days, solar masses (Applegate et al. "
         "1986)",
         6,
         6,
         "--dt 100 --until 36525000",
         {GAUSS_K2, "AU", "day", "Msun"}},
    [PLANETS] = {"planets",
                 "a star and planets by their orbital elements; G = 1 unless given",
                 1,
                 0,
                 NULL,
                 {0}},
    [PLUMMER] =
        {"plummer",
         "cluster in equilibrium, G = M = 1, E = -1/4 (Plummer; Aarseth, Hénon & Wielen 1974)",
         1000,
         0,
         "--dt 0.005 --until 20 --softening 0.02",
         {0}},
    [HERNQUIST] = {"hernquist",
                   "galaxy bulge in equilibrium, G = M = a = 1, cut at 200 a (Hernquist 1990)",
                   1000,
                   0,
                   "--dt 0.005 --until 20 --softening 0.05",
                   {0}},
    [UNIFORM_CUBE] = {"uniform-cube",
                      "random points of the unit cube or square, at rest; G = M = 1",
                      1000,
                      0,
                      "--dt 0.002 --until 2 --softening 0.05",
                      {0}},
    [UNIFORM_SPHERE] = {"uniform-sphere",
                        "random points of the unit ball or disk, at rest: cold collapse; G = M = 1",
                        1000,
                        0,
                        "--dt 0.005 --until 5 --softening 0.05",
                        {0}},
    [DISK] = {"disk",
              "exponential disk (mass 0.7, length 1, Q 1.5), Hernquist bulge (0.3, a 0.2), G = 1 "
              "(Hernquist 1993)",
              4000,
              0,
              "--dt 0.05 --until 50 --softening 0.1",
              {0}},
    [GALAXIES] = {"galaxies",
                  "two disks with bulges, mass 1 and q, on a parabolic encounter, G = 1 (Toomre & "
                  "Toomre 1972)",
                  6000,
                  0,
                  "--dt 0.06 --until 30 --softening 0.1",
                  {0}},
    [LATTICE] = {"lattice",
                 "sites of the cubic or square lattice, row by row; no masses",
                 1000,
                 0,
                 NULL,
                 {0}},
    [LATTICE_WALK] = {"lattice-walk",
                      "random walk of beads on the cubic or square lattice, from 0; no masses",
                      1000,
                      0,
                      NULL,
                      {0}},
    [SELF_AVOIDING_WALK] = {"self-avoiding-walk",
                            "the same without collisions, in equilibrium (pivots: Madras & Sokal "
                            "1988)",
                            100,
                            0,
                            NULL,
                            {0}},
    [FCC] = {"fcc",
             "face-centered cubic crystal in its periodic cell, 4 n^3 sites; density, temperature",
             4000,
             0,
             "--law lennard-jones --cutoff 2.5 --shift force --dt 0.002 --until 1",
             {0}},
    [BCC] = {"bcc",
             "body-centered cubic crystal in its periodic cell, 2 n^3 sites; density, temperature",
             2000,
             0,
             "--law lennard-jones --cutoff 2.5 --shift force --dt 0.002 --until 1",
             {0}},
    [NACL] = {"nacl",
              "rock salt in its periodic cell, 8 n^3 sites, charges 1 and -1; density, temperature",
              4096,
              0,
              NULL,
              {0}},
};

static const struct initial_recipe recipes[KIND_COUNT] = {
    [TWO_BODY] = {initial_two_body, NULL, KITH_VELOCITY | KITH_MASS, true, true, 1, 2},
    [LAGRANGE] = {initial_lagrange, NULL, KITH_VELOCITY | KITH_MASS, true, false, 0.01, 3},
    [FIGURE_EIGHT] = {initial_figure_eight, NULL, KITH_VELOCITY | KITH_MASS, true, false, 0, 3},
    [SIX] = {initial_six, NULL, KITH_VELOCITY | KITH_MASS, false, false, 0, 6},
    [SOLAR_SYSTEM] = {initial_solar_system, NULL, KITH_VELOCITY | KITH_MASS | KITH_NAME, false,
                      false, 0, 10},
    [OUTER_SOLAR_SYSTEM] = {initial_outer_solar_system, NULL, KITH_VELOCITY | KITH_MASS | KITH_NAME,
                            false, false, 0, 6},
    [PLANETS] = {NULL, initial_planets, KITH_VELOCITY | KITH_MASS, false, false, 0, 1},
    [PLUMMER] = {NULL, initial_plummer, KITH_VELOCITY | KITH_MASS, false, false, 0, 1},
    [HERNQUIST] = {NULL, initial_hernquist, KITH_VELOCITY | KITH_MASS, false, false, 0, 1},
    [UNIFORM_CUBE] = {NULL, initial_uniform_cube, KITH_VELOCITY | KITH_MASS, true, false, 0, 1},
    [UNIFORM_SPHERE] = {NULL, initial_uniform_sphere, KITH_VELOCITY | KITH_MASS, true, false, 0, 1},
    [DISK] = {NULL, initial_disk, KITH_VELOCITY | KITH_MASS, true, false, 0, 1},
    [GALAXIES] = {NULL, initial_galaxies, KITH_VELOCITY | KITH_MASS, false, false, 1, 2},
    [LATTICE] = {NULL, initial_lattice, 0, true, false, 0, 1},
    [LATTICE_WALK] = {NULL, initial_lattice_walk, 0, true, false, 0, 1},
    [SELF_AVOIDING_WALK] = {NULL, initial_self_avoiding_walk, 0, true, false, 0, 1},
    [FCC] = {NULL, initial_fcc, KITH_VELOCITY | KITH_MASS, false, false, 0, 4},
    [BCC] = {NULL, initial_bcc, KITH_VELOCITY | KITH_MASS, false, false, 0, 2},
    [NACL] = {NULL, initial_nacl, KITH_VELOCITY | KITH_MASS | KITH_CHARGE, false, false, 0, 8},
};

const kith_initial *kith_initial_list(int64_t *count)
{
    if (count)
        *count = KIND_COUNT;
    return kinds;
}

static kith_status fail_unknown(const char *name)
{
    char known[512] = "";
    size_t length = 0;
    for (int k = 0; k < KIND_COUNT && length < sizeof known; k++)
        length += (size_t)snprintf(known + length, sizeof known - length, "%s%s",
                                   k == 0 ? "" : ", ", kinds[k].name);
    return kith_fail(KITH_INVALID_ARGUMENT, "kind is '%s'; give one of %s", name ? name : "",
                     known);
}

static kith_status find_kind(const char *name, int *kind)
{
    for (int k = 0; k < KIND_COUNT; k++)
        if (name && strcmp(name, kinds[k].name) == 0) {
            *kind = k;
            return KITH_OK;
        }
    return fail_unknown(name);
}

static kith_status check_count(int kind, int64_t count)
{
    const int64_t fixed = kinds[kind].fixed_count;
    if (fixed && count != fixed)
        return kith_fail(KITH_INVALID_ARGUMENT, "count is %lld; %s always has %lld bodies",
                         (long long)count, kinds[kind].name, (long long)fixed);
    if (count != 0 && count < recipes[kind].minimum_count)
        return kith_fail(KITH_INVALID_ARGUMENT, "count is %lld; %s needs at least %lld",
                         (long long)count, kinds[kind].name,
                         (long long)recipes[kind].minimum_count);
    return KITH_OK;
}

static kith_status check_shape(int kind, const kith_initial_options *options)
{
    const struct initial_recipe *recipe = &recipes[kind];
    if (options->dimensions != 2 && options->dimensions != 3)
        return kith_fail(KITH_INVALID_ARGUMENT, "dimensions is %d; give 2 or 3",
                         (int)options->dimensions);
    if (options->dimensions == 2 && !recipe->can_be_flat)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "dimensions is 2, but %s exists in 3 dimensions only; give 3",
                         kinds[kind].name);
    if (options->eccentricity != 0 && !recipe->takes_eccentricity)
        return kith_fail(KITH_INVALID_ARGUMENT, "eccentricity is %g, but %s has none; leave it out",
                         options->eccentricity, kinds[kind].name);
    if (!(options->eccentricity >= 0 && options->eccentricity < 1))
        return kith_fail(KITH_INVALID_ARGUMENT, "eccentricity is %g; give 0 ≤ e < 1",
                         options->eccentricity);
    if (options->mass_ratio != 0 && recipe->default_mass_ratio == 0)
        return kith_fail(KITH_INVALID_ARGUMENT, "mass ratio is %g, but %s has none; leave it out",
                         options->mass_ratio, kinds[kind].name);
    if (options->mass_ratio < 0 || !isfinite(options->mass_ratio))
        return kith_fail(KITH_INVALID_ARGUMENT, "mass ratio is %g; give a finite number > 0",
                         options->mass_ratio);
    return KITH_OK;
}

/* What planets alone take. */
static kith_status check_planets(int kind, const kith_initial_options *options)
{
    const bool given = options->planets || options->planet_count != 0 || options->star_mass != 0 ||
                       options->gravitational_constant != 0 || options->coordinates != 0;
    const double star = options->star_mass, g = options->gravitational_constant;
    if (kind != PLANETS)
        return given ? kith_fail(KITH_INVALID_ARGUMENT,
                                 "%s takes no elements, star mass, G or coordinates, which are for "
                                 "planets; leave them out",
                                 kinds[kind].name)
                     : KITH_OK;
    if (options->planet_count < 0 || (options->planet_count > 0 && !options->planets))
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "planet_count is %lld%s; give the number of elements",
                         (long long)options->planet_count, options->planets ? "" : " of NULL");
    if (!(star >= 0) || isinf(star) || !(g >= 0) || isinf(g))
        return kith_fail(KITH_INVALID_ARGUMENT, "%s is %g; give a finite number > 0",
                         star >= 0 && isfinite(star) ? "G" : "the mass of the star",
                         star >= 0 && isfinite(star) ? g : star);
    if (options->count - 1 != options->planet_count)
        return kith_fail(
            KITH_INVALID_ARGUMENT,
            "count is %lld, and planets are the star and %lld with elements; leave the "
            "count out",
            (long long)options->count, (long long)options->planet_count);
    return KITH_OK;
}

/* What crystals alone take. */
static kith_status check_crystals(int kind, const kith_initial_options *options)
{
    const double density = options->density, temperature = options->temperature;
    if (kind != FCC && kind != BCC && kind != NACL)
        return density != 0 || temperature != 0
                   ? kith_fail(KITH_INVALID_ARGUMENT,
                               "%s takes no density or temperature, which are for crystals; leave "
                               "them out",
                               kinds[kind].name)
                   : KITH_OK;
    if (!(density >= 0) || isinf(density))
        return kith_fail(KITH_INVALID_ARGUMENT, "density is %g; give a finite number > 0", density);
    if (!(temperature >= 0) || isinf(temperature))
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "temperature is %g; give a finite number of at "
                         "least 0",
                         temperature);
    return KITH_OK;
}

/* The options with the kind's defaults in place of zeros. */
static kith_initial_options with_defaults(int kind, const kith_initial_options *options)
{
    kith_initial_options chosen = options ? *options : (kith_initial_options){0};
    if (chosen.count == 0 && !chosen.count_given)
        chosen.count = kinds[kind].default_count;
    if (kind == PLANETS && chosen.planet_count > 0 && chosen.planet_count < INT64_MAX &&
        !chosen.count_given && (!options || options->count == 0))
        chosen.count = chosen.planet_count + 1;
    if (chosen.dimensions == 0)
        chosen.dimensions = 3;
    return chosen;
}

kith_status kith_initial_make(const char *name, const kith_initial_options *options,
                              kith_bodies **bodies)
{
    KITH_TRY(kith_check_pointer(bodies, "bodies"));
    *bodies = NULL;
    int kind = 0;
    KITH_TRY(find_kind(name, &kind));
    kith_initial_options chosen = with_defaults(kind, options);
    KITH_TRY(check_count(kind, chosen.count));
    KITH_TRY(check_shape(kind, &chosen));
    KITH_TRY(check_planets(kind, &chosen));
    KITH_TRY(check_crystals(kind, &chosen));
    if (chosen.mass_ratio == 0)
        chosen.mass_ratio = recipes[kind].default_mass_ratio;

    KITH_TRY(kith_bodies_create(chosen.count, chosen.dimensions, recipes[kind].columns, bodies));
    (*bodies)->units = kinds[kind].units;
    if (chosen.count == 0)
        return KITH_OK;
    if (recipes[kind].fill) {
        recipes[kind].fill(&chosen, *bodies);
        return KITH_OK;
    }
    struct poll_state poll = {.poll = chosen.poll, .user = chosen.poll_user};
    const kith_status status = recipes[kind].make(&chosen, &poll, *bodies);
    if (status != KITH_OK) {
        kith_bodies_free(*bodies);
        *bodies = NULL;
    }
    return status;
}
