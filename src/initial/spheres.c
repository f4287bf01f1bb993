#include <math.h>

#include "initial/center.h"
#include "initial/portable_math.h"
#include "initial/random.h"
#include "initial/recipe.h"

static void scatter(struct random_stream *stream, double length, double *vector)
{
    random_direction(stream, 3, vector);
    for (int32_t k = 0; k < 3; k++)
        vector[k] *= length;
}

/* The mass fraction q² (1 − q²)^(7/2) of speeds q, as a part of the escape speed, has its maximum,
 * 0.0922, below the 0.1 that it is compared with. */
static double plummer_speed(struct random_stream *stream)
{
    for (;;) {
        const double q = random_uniform(stream);
        const double rest = 1 - q * q;
        if (0.1 * random_uniform(stream) < q * q * rest * rest * rest * sqrt(rest))
            return q;
    }
}

/* Aarseth, Hénon & Wielen (1974), appendix: the radius that holds a fraction X of the mass is
 * (X^(-2/3) − 1)^(-1/2) scale lengths, and the escape speed there √2 (1 + r²)^(-1/4). The scale
 * length 3π/16 makes E = −1/4 for G = M = 1. */
kith_status initial_plummer(const kith_initial_options *options, struct poll_state *poll,
                            kith_bodies *bodies)
{
    const double inner_mass = 0.999;
    const double scale = 3 * 3.14159265358979323846 / 16;
    const double speed_scale = sqrt(2 / scale);

    for (int64_t i = 0; i < bodies->count; i++) {
        KITH_TRY(kith_check_poll_at(poll, i));
        struct random_stream stream = random_begin(options->seed, RANDOM_PLUMMER, i);
        const double fraction = inner_mass * (1 - random_uniform(&stream));
        const double root = portable_cbrt(fraction);
        const double r = root / sqrt(1 - root * root);
        const double escape = speed_scale / sqrt(sqrt(1 + r * r));

        bodies->mass[i] = 1 / (double)bodies->count;
        scatter(&stream, scale * r, bodies->position + 3 * i);
        scatter(&stream, escape * plummer_speed(&stream), bodies->velocity + 3 * i);
    }
    initial_center(bodies);
    return KITH_OK;
}

/* w(s) = s (E / (1 − E))^(5/2), E = ψ − s: see hernquist_speed. */
static double hernquist_weight(double psi, double s)
{
    const double odds = (psi - s) / (1 - psi + s);
    return s * odds * odds * sqrt(odds);
}

/* Where w has its maximum: d ln w / ds = 0 is s² + (7/2 − 2ψ) s − ψ (1 − ψ) = 0. */
static double hernquist_peak(double psi)
{
    const double half = 1.75 - psi;
    const double constant = psi * (1 - psi);
    return constant / (half + sqrt(half * half + constant));
}

/* A speed at potential −ψ in units of √(GM/a), density v² f(E), E = ψ − v²/2.
 *
 * Hernquist's f (1990, eq. 17), with q = √E, is a constant times
 *     [3 asin q + q √(1 − q²) (1 − 2q²) (8q⁴ − 8q² − 3)] / (1 − q²)^(5/2),
 * and the bracket is 128 ∫_0^q t⁴ (1 − t²)^(3/2) dt, as its derivative shows. With t = q τ
 *     v² f ∝ w(v²/2) ∫_0^1 5 τ⁴ (1 − E τ²)^(3/2) dτ:
 * propose v by w and τ (the maximum of five uniform numbers), accept by the last factor. So it
 * takes no asin, and is exact. */
static double hernquist_speed(struct random_stream *stream, double psi)
{
    const double escape = sqrt(2 * psi);
    const double highest = hernquist_weight(psi, hernquist_peak(psi));
    for (;;) {
        const double v = escape * random_uniform(stream);
        const double s = 0.5 * v * v;
        if (s >= psi || highest * random_uniform(stream) >= hernquist_weight(psi, s))
            continue;
        double tau = 0;
        for (int32_t k = 0; k < 5; k++)
            tau = fmax(tau, random_uniform(stream));
        const double rest = 1 - (psi - s) * tau * tau;
        if (random_uniform(stream) < rest * sqrt(rest))
            return v;
    }
}

/* Hernquist (1990): the radius that holds a fraction X of the mass is √X / (1 − √X). The model is
 * cut at 200 scale lengths, and of such a mass that 1 is left within: nothing changes there. The
 * cusp stays at the origin: far bodies would draw the center of mass up to 10/√N from it. */
kith_status initial_hernquist(const kith_initial_options *options, struct poll_state *poll,
                              kith_bodies *bodies)
{
    const double greatest_root = 200.0 / 201.0;
    const double speed_scale = 1 / greatest_root;

    for (int64_t i = 0; i < bodies->count; i++) {
        KITH_TRY(kith_check_poll_at(poll, i));
        struct random_stream stream = random_begin(options->seed, RANDOM_HERNQUIST, i);
        const double root = greatest_root * sqrt(1 - random_uniform(&stream));
        const double r = root / (1 - root);
        const double speed = speed_scale * hernquist_speed(&stream, 1 / (1 + r));

        bodies->mass[i] = 1 / (double)bodies->count;
        scatter(&stream, r, bodies->position + 3 * i);
        scatter(&stream, speed, bodies->velocity + 3 * i);
    }
    initial_stop(bodies);
    return KITH_OK;
}
