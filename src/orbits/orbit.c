/* One orbit: from a position and a velocity, and back. */

#include <float.h>
#include <math.h>

#include "core/arguments.h"
#include "core/vectors.h"
#include "kith/orbits.h"
#include "orbits/kepler.h"

#define PI     3.14159265358979323846
#define TWO_PI (2 * PI)

/* e and sin i below this are rounding errors of a position and a velocity. */
#define ROUNDING (4 * DBL_EPSILON)

/* |r/a| below this is that of 2 − v². */
#define ROUNDING_OF_ENERGY (32 * DBL_EPSILON)

/* Without overflow. */
static double length_of(const double a[3])
{
    return hypot(hypot(a[0], a[1]), a[2]);
}

static bool is_finite(const double a[3])
{
    return isfinite(a[0]) && isfinite(a[1]) && isfinite(a[2]);
}

/* An angle in [0, 2π). */
static double turned(double angle)
{
    const double rest = fmod(angle, TWO_PI);
    const double positive = rest < 0 ? rest + TWO_PI : rest;
    return positive < TWO_PI ? positive + 0.0 : 0;
}

static kith_status check_mu(double mu)
{
    if (mu > 0 && isfinite(mu))
        return KITH_OK;
    return kith_fail(KITH_INVALID_ARGUMENT, "mu is %g; give G times a mass greater than 0", mu);
}

/* Position and velocity in units of their distance r and of √(μ/r), and what they conserve. */
struct motion {
    double position[3], velocity[3];
    double momentum[3]; /* angular */
    double h;           /* its length */
    double radial;      /* position · velocity */
    double alpha;       /* r/a = 2 − v² */
};

static struct motion motion_of(double mu, double r, const double position[3],
                               const double velocity[3])
{
    struct motion motion;
    const double speed = sqrt(mu / r);
    for (int k = 0; k < 3; k++) {
        motion.position[k] = position[k] / r;
        motion.velocity[k] = velocity[k] / speed;
    }
    cross(motion.position, motion.velocity, motion.momentum);
    /* At right angles to the position, which rounding leaves open where the motion is nearly
     * radial: the orbit's plane goes through the body. */
    const double along = dot(motion.momentum, motion.position);
    for (int k = 0; k < 3; k++)
        motion.momentum[k] -= along * motion.position[k];
    motion.h = length_of(motion.momentum);
    motion.radial = dot(motion.position, motion.velocity);
    motion.alpha = 2 - dot(motion.velocity, motion.velocity);
    return motion;
}

/* e cos E = 1 − r/a and e sin E = x·v/√(μ a). The number next to 1 replaces an e that is 1 to
 * rounding. */
static void fill_ellipse(const struct motion *motion, double r, kith_orbit *orbit)
{
    const double cosine = 1 - motion->alpha, sine = motion->radial * sqrt(motion->alpha);
    const double e = fmin(hypot(cosine, sine), 1 - DBL_EPSILON / 2);
    const double p = motion->h * motion->h;
    orbit->a = r / motion->alpha;
    orbit->e = e > ROUNDING ? e : 0;
    orbit->q = orbit->e > 0 ? r * p / (1 + e) : orbit->a;
    if (orbit->e == 0)
        return;
    const double one_minus_e = p * motion->alpha / (1 + e), E = atan2(sine, cosine);
    orbit->M = turned(kepler_mean_of_ellipse(e, one_minus_e, E));
    orbit->true_anomaly =
        turned(2 * atan2(sqrt(1 + e) * sin(E / 2), sqrt(one_minus_e) * cos(E / 2)));
}

/* e² = 1 − p/a, without cancellation; e sinh H = x·v/√(−μ a). */
static void fill_hyperbola(const struct motion *motion, double r, kith_orbit *orbit)
{
    const double p = motion->h * motion->h;
    const double e = fmax(sqrt(1 - p * motion->alpha), 1 + DBL_EPSILON);
    const double e_minus_one = -p * motion->alpha / (1 + e);
    const double H = asinh(motion->radial * sqrt(-motion->alpha) / e);
    orbit->a = r / motion->alpha;
    orbit->e = e;
    orbit->q = r * p / (1 + e);
    orbit->M = kepler_mean_of_hyperbola(e, e_minus_one, H);
    orbit->true_anomaly = turned(2 * atan(sqrt((e + 1) / e_minus_one) * tanh(H / 2)));
}

/* D = tan(f/2) = x·v/√(2 μ q). */
static void fill_parabola(const struct motion *motion, double r, kith_orbit *orbit)
{
    const double q = motion->h * motion->h / 2;
    const double D = motion->radial / sqrt(2 * q);
    orbit->a = INFINITY;
    orbit->e = 1;
    orbit->q = r * q;
    orbit->M = D + D * D * D / 3;
    orbit->true_anomaly = turned(2 * atan(D));
}

static void fill_rectilinear(const struct motion *motion, double r, kith_orbit *orbit)
{
    orbit->a = fabs(motion->alpha) > ROUNDING_OF_ENERGY ? r / motion->alpha : INFINITY;
    orbit->e = 1;
    orbit->i = orbit->Omega = orbit->omega = orbit->M = orbit->true_anomaly = NAN;
}

/* i and Omega; omega from the angle between node and body, of which the true anomaly is the rest.
 */
static void fill_orientation(const struct motion *motion, kith_orbit *orbit)
{
    const double *h = motion->momentum;
    const double across = hypot(h[0], h[1]);
    double node[3] = {1, 0, 0}, ahead[3];
    if (across > ROUNDING * motion->h) {
        orbit->i = atan2(across, h[2]);
        orbit->Omega = turned(atan2(h[0], -h[1]));
        node[0] = -h[1] / across;
        node[1] = h[0] / across;
    } else {
        orbit->i = h[2] > 0 ? 0 : PI;
        orbit->Omega = 0;
    }
    cross(h, node, ahead);
    const double from_node =
        atan2(dot(motion->position, ahead) / motion->h, dot(motion->position, node));
    if (orbit->e == 0)
        orbit->true_anomaly = orbit->M = turned(from_node);
    else
        orbit->omega = turned(from_node - orbit->true_anomaly);
}

static void fill_motion(double mu, kith_orbit *orbit)
{
    const double length = isinf(orbit->a) ? cbrt(2) * orbit->q : fabs(orbit->a);
    orbit->mean_motion = length > 0 ? sqrt(mu / length) / length : NAN;
    orbit->period = orbit->a > 0 && isfinite(orbit->a) ? TWO_PI / orbit->mean_motion : INFINITY;
}

kith_status kith_orbit_compute(double mu, const double position[3], const double velocity[3],
                               kith_orbit *orbit)
{
    KITH_TRY(kith_check_pointer(orbit, "orbit"));
    KITH_TRY(kith_check_pointer(position, "position"));
    KITH_TRY(kith_check_pointer(velocity, "velocity"));
    KITH_TRY(check_mu(mu));
    if (!is_finite(position) || !is_finite(velocity))
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "the position or the velocity is NaN or infinite; give finite numbers");
    const double r = length_of(position);
    if (r == 0)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "the position is 0, where no orbit is defined; give a distance from the "
                         "center of attraction");
    const struct motion motion = motion_of(mu, r, position, velocity);
    *orbit = (kith_orbit){0};
    if (motion.h <= ROUNDING * length_of(motion.velocity)) {
        fill_rectilinear(&motion, r, orbit);
    } else {
        if (motion.alpha > ROUNDING_OF_ENERGY)
            fill_ellipse(&motion, r, orbit);
        else if (motion.alpha < -ROUNDING_OF_ENERGY)
            fill_hyperbola(&motion, r, orbit);
        else
            fill_parabola(&motion, r, orbit);
        fill_orientation(&motion, orbit);
    }
    fill_motion(mu, orbit);
    return KITH_OK;
}

/* q, which the rounding of e near 1 leaves open, is the orbit's if it is given. */
static kith_status check_pericenter(const kith_orbit *orbit, double *q)
{
    const double found = orbit->a * (1 - orbit->e);
    *q = orbit->q != 0 ? orbit->q : found;
    if (fabs(*q - found) <= 4 * ROUNDING * fabs(orbit->a) * (1 + orbit->e) && *q > 0)
        return KITH_OK;
    return kith_fail(KITH_INVALID_ARGUMENT,
                     "q is %g and a (1 - e) is %g; give a q of 0, or the same number", orbit->q,
                     found);
}

static kith_status check_size(const kith_orbit *orbit, double *q)
{
    const double a = orbit->a, e = orbit->e;
    if (!(e >= 0) || isinf(e))
        return kith_fail(KITH_INVALID_ARGUMENT, "e is %g; give an eccentricity of at least 0", e);
    if (e == 1) {
        *q = orbit->q;
        return isinf(a) && *q > 0 && isfinite(*q)
                   ? KITH_OK
                   : kith_fail(
                         KITH_INVALID_ARGUMENT,
                         "e is 1, a is %g and q is %g; a parabola has an infinite a and q > 0", a,
                         *q);
    }
    if (!isfinite(a) || (e < 1 ? !(a > 0) : !(a < 0)))
        return kith_fail(KITH_INVALID_ARGUMENT, "a is %g and e is %g; %s", a, e,
                         e < 1 ? "an ellipse (e < 1) has a > 0" : "a hyperbola (e > 1) has a < 0");
    return check_pericenter(orbit, q);
}

static kith_status check_angles(const kith_orbit *orbit)
{
    const struct {
        const char *name;
        double value;
    } angles[] = {
        {"i", orbit->i}, {"Omega", orbit->Omega}, {"omega", orbit->omega}, {"M", orbit->M}};
    for (int k = 0; k < 4; k++)
        if (!isfinite(angles[k].value))
            return kith_fail(KITH_INVALID_ARGUMENT, "%s is %g; give a finite angle", angles[k].name,
                             angles[k].value);
    return KITH_OK;
}

/* In the plane of the orbit, x to the pericenter. */
struct planar {
    double x, y, vx, vy;
};

static struct planar on_ellipse(double mu, const kith_orbit *orbit, double q)
{
    const double a = orbit->a, e = orbit->e, p = q * (1 + e);
    const double M = remainder(orbit->M, TWO_PI);
    const double E = copysign(kepler_ellipse(e, q / a, fabs(M)), M);
    const double versine = 2 * sin(E / 2) * sin(E / 2), r = q + a * e * versine;
    return (struct planar){q - a * versine, sqrt(a) * sqrt(p) * sin(E),
                           -sqrt(mu) * sqrt(a) / r * sin(E), sqrt(mu) * sqrt(p) / r * cos(E)};
}

static struct planar on_hyperbola(double mu, const kith_orbit *orbit, double q)
{
    const double a = -orbit->a, e = orbit->e, p = q * (1 + e);
    const double H = copysign(kepler_hyperbola(e, q / a, fabs(orbit->M)), orbit->M);
    const double versine = 2 * sinh(H / 2) * sinh(H / 2), r = q + a * e * versine;
    return (struct planar){q - a * versine, sqrt(a) * sqrt(p) * sinh(H),
                           -sqrt(mu) * sqrt(a) / r * sinh(H), sqrt(mu) * sqrt(p) / r * cosh(H)};
}

static struct planar on_parabola(double mu, const kith_orbit *orbit, double q)
{
    const double D = kepler_parabola(orbit->M), r = q * (1 + D * D);
    const double vy = sqrt(2 * mu) * sqrt(q) / r;
    return (struct planar){q * (1 - D * D), 2 * q * D, -D * vy, vy};
}

/* The columns of R_z(Omega) R_x(i) R_z(omega) that x and y belong to. */
static void axes_of(const kith_orbit *orbit, double x[3], double y[3])
{
    const double ci = cos(orbit->i), si = sin(orbit->i);
    const double cn = cos(orbit->Omega), sn = sin(orbit->Omega);
    const double cp = cos(orbit->omega), sp = sin(orbit->omega);
    x[0] = cn * cp - sn * sp * ci;
    x[1] = sn * cp + cn * sp * ci;
    x[2] = sp * si;
    y[0] = -cn * sp - sn * cp * ci;
    y[1] = -sn * sp + cn * cp * ci;
    y[2] = cp * si;
}

kith_status kith_orbit_place(double mu, const kith_orbit *orbit, double position[3],
                             double velocity[3])
{
    double q = 0, x[3], y[3];
    KITH_TRY(kith_check_pointer(orbit, "orbit"));
    KITH_TRY(kith_check_pointer(position, "position"));
    KITH_TRY(kith_check_pointer(velocity, "velocity"));
    KITH_TRY(check_mu(mu));
    KITH_TRY(check_size(orbit, &q));
    KITH_TRY(check_angles(orbit));
    const struct planar planar = orbit->e < 1   ? on_ellipse(mu, orbit, q)
                                 : orbit->e > 1 ? on_hyperbola(mu, orbit, q)
                                                : on_parabola(mu, orbit, q);
    axes_of(orbit, x, y);
    for (int k = 0; k < 3; k++) {
        position[k] = planar.x * x[k] + planar.y * y[k];
        velocity[k] = planar.vx * x[k] + planar.vy * y[k];
    }
    return KITH_OK;
}
