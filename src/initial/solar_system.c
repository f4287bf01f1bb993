#include <stdio.h>

#include "initial/recipe.h"

/* AU, days, solar masses. */
struct named_body {
    const char *name;
    double mass;
    double position[3];
    double velocity[3];
};

static const struct named_body solar_system[] = {
#include "initial/solar_system_table.inc"
};

/* Applegate, Douglas, Gürsel, Sussman & Wisdom (1986), AJ 92, 176: the Sun has the inner planets'
 * mass, Pluto has none. */
static const struct named_body outer_solar_system[] = {
    {"Sun",
     1.00000597682,
     {-4.06428567034226e-3, -6.08813756435987e-3, -1.66162304225834e-6},
     {6.69048890636161e-6, -6.33922479583593e-6, -3.13202145590767e-9}},
    {"Jupiter",
     9.54786104043042e-4,
     {3.40546614227466, 3.62978190075864, 3.42386261766577e-2},
     {-5.59797969310664e-3, 5.51815399480116e-3, -2.66711392865591e-6}},
    {"Saturn",
     2.85583733151131e-4,
     {6.60801554403466, 6.38084674585064, -1.36145963724542e-1},
     {-4.17354020307064e-3, 3.99723751748116e-3, 1.67206320571441e-5}},
    {"Uranus",
     4.37273164545892e-5,
     {11.1636331405597, 16.0373479057256, 3.61783279369958e-1},
     {-3.25884806151064e-3, 2.06438412905916e-3, -2.17699042180559e-5}},
    {"Neptune",
     5.17759138448793e-5,
     {-30.1777243405203, 1.91155314998064, -1.53887595621042e-1},
     {-2.17471785045538e-4, -3.11361111025884e-3, 3.58344705491441e-5}},
    {"Pluto",
     0,
     {-21.3858977531573, 32.0719104739886, 2.49245689556096},
     {-1.76936577252484e-3, -2.06720938381724e-3, 6.58091931493844e-4}},
};

static void copy_named(const struct named_body *from, kith_bodies *bodies)
{
    for (int64_t i = 0; i < bodies->count; i++) {
        snprintf(bodies->name[i], sizeof bodies->name[i], "%s", from[i].name);
        bodies->mass[i] = from[i].mass;
        for (int64_t k = 0; k < 3; k++) {
            bodies->position[3 * i + k] = from[i].position[k];
            bodies->velocity[3 * i + k] = from[i].velocity[k];
        }
    }
}

void initial_solar_system(const kith_initial_options *options, kith_bodies *bodies)
{
    (void)options;
    copy_named(solar_system, bodies);
}

void initial_outer_solar_system(const kith_initial_options *options, kith_bodies *bodies)
{
    (void)options;
    copy_named(outer_solar_system, bodies);
}
