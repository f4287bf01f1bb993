#include "simulation/contact.h"

#include <math.h>
#include <string.h>

enum { degree_of_slope = 5, bisections = 60 };

struct contact_path contact_path_of(const double start[3], const double start_velocity[3],
                                    const double end[3], const double end_velocity[3], double h)
{
    struct contact_path path;
    for (int k = 0; k < 3; k++) {
        const double way = end[k] - start[k];
        const double first = h * start_velocity[k], last = h * end_velocity[k];
        path.c[0][k] = start[k];
        path.c[1][k] = first;
        path.c[2][k] = 3 * way - 2 * first - last;
        path.c[3][k] = first + last - 2 * way;
    }
    return path;
}

void contact_path_at(const struct contact_path *path, double s, double p[3], double slope[3])
{
    for (int k = 0; k < 3; k++) {
        const double c1 = path->c[1][k], c2 = path->c[2][k], c3 = path->c[3][k];
        p[k] = ((c3 * s + c2) * s + c1) * s + path->c[0][k];
        slope[k] = (3 * c3 * s + 2 * c2) * s + c1;
    }
}

static double distance2(const struct contact_path *path, double s)
{
    double p[3], slope[3];
    contact_path_at(path, s, p, slope);
    return p[0] * p[0] + p[1] * p[1] + p[2] * p[2];
}

static double value(const double *polynomial, int degree, double s)
{
    double sum = 0;
    for (int k = degree; k >= 0; k--)
        sum = sum * s + polynomial[k];
    return sum;
}

/* Where a polynomial that is monotonic from a to b, and of other signs there, passes through 0. */
static double bisect(const double *polynomial, int degree, double a, double b)
{
    const bool rises = value(polynomial, degree, b) > value(polynomial, degree, a);
    for (int k = 0; k < bisections; k++) {
        const double middle = a + (b - a) / 2;
        if ((value(polynomial, degree, middle) > 0) == rises)
            b = middle;
        else
            a = middle;
    }
    return b;
}

/* The places in (0, 1), ascending, between which, and 0 and 1, a polynomial is monotonic: the roots
 * of its derivative, which are found between those of the derivative's own. */
static int find_turns(const double *polynomial, int degree, double *turn)
{
    double slope[degree_of_slope], inner[degree_of_slope] = {0};
    int found = 0;
    if (degree < 2)
        return 0;
    for (int k = 0; k < degree; k++)
        slope[k] = (k + 1) * polynomial[k + 1];
    const int pieces = find_turns(slope, degree - 1, inner) + 1;
    for (int k = 0; k < pieces; k++) {
        const double a = k == 0 ? 0 : inner[k - 1], b = k + 1 == pieces ? 1 : inner[k];
        if ((value(slope, degree - 1, a) > 0) != (value(slope, degree - 1, b) > 0))
            turn[found++] = bisect(slope, degree - 1, a, b);
    }
    return found;
}

/* The minima of |p|² in 0 < s ≤ 1, ascending: p·p' goes from below 0 to 0 or above. */
static int find_minima(const struct contact_path *path, double minimum[degree_of_slope])
{
    double product[degree_of_slope + 1] = {0}, turn[degree_of_slope];
    int found = 0;
    for (int i = 0; i < 4; i++)
        for (int j = 1; j < 4; j++)
            for (int k = 0; k < 3; k++)
                product[i + j - 1] += j * path->c[i][k] * path->c[j][k];
    const int pieces = find_turns(product, degree_of_slope, turn) + 1;
    for (int k = 0; k < pieces; k++) {
        const double a = k == 0 ? 0 : turn[k - 1], b = k + 1 == pieces ? 1 : turn[k];
        if (value(product, degree_of_slope, a) < 0 && value(product, degree_of_slope, b) >= 0)
            minimum[found++] = bisect(product, degree_of_slope, a, b);
    }
    return found;
}

/* The crossing between a place outside and one inside. */
static double find_crossing(const struct contact_path *path, double reach2, double inside)
{
    double outside = 0;
    for (int k = 0; k < bisections; k++) {
        const double middle = outside + (inside - outside) / 2;
        if (distance2(path, middle) <= reach2)
            inside = middle;
        else
            outside = middle;
    }
    return inside;
}

bool contact_begins(const struct contact_path *path, double reach, double *s)
{
    const double reach2 = reach * reach;
    double minimum[degree_of_slope + 1];
    *s = 0;
    if (distance2(path, 0) <= reach2)
        return true;
    int count = find_minima(path, minimum);
    minimum[count++] = 1;
    for (int k = 0; k < count; k++)
        if (distance2(path, minimum[k]) <= reach2) {
            *s = find_crossing(path, reach2, minimum[k]);
            return true;
        }
    return false;
}

bool contact_nearest(const struct contact_path *path, double *s)
{
    double minimum[degree_of_slope];
    const int count = find_minima(path, minimum);
    for (int k = 0; k < count; k++)
        if (k == 0 || distance2(path, minimum[k]) < distance2(path, *s))
            *s = minimum[k];
    return count > 0;
}
