/* Whether two arrays have a byte in common, of any strides.
 *
 * Bytes x of one array and y of the other have one address if
 *
 *     Σ_k a_k i_k = b,    0 ≤ i_k ≤ u_k,    a_k > 0
 *
 * with a term for each dimension of either array, negative strides reflected, b the distance of the
 * arrays and a byte within their elements: a bounded linear Diophantine equation (as NumPy's
 * shares_memory has it). Terms of one step, and those that follow each other without a gap, are
 * merged; of what is left two terms are solved in closed form, and the others, those of fewest
 * elements, are enumerated. */

#include "device/memory_overlap.h"

#include "core/arguments.h"
#include "device/arrays.h"

__extension__ typedef __int128 wide;

/* Enumerated values after which arrays count as overlapping: four dimensions of different strides,
 * two of them long. */
enum { most_steps = 1 << 16 };

enum { most_terms = 2 * KITH_MAX_DIMENSIONS };

struct equation {
    int32_t count;
    struct term {
        int64_t step, most; /* bytes, and the largest index */
    } term[most_terms];
    int64_t steps; /* enumerated so far */
};

static int64_t magnitude(int64_t x)
{
    return x < 0 ? -x : x;
}

/* The dimensions of an array as terms; returns the offset of its lowest byte. */
static int64_t add_terms(const kith_array *array, struct equation *equation)
{
    const int64_t each = kith_dtype_bytes(array->dtype);
    int64_t low = 0;
    for (int32_t k = 0; k < array->ndim; k++) {
        const int64_t step = array->strides[k] * each, most = array->shape[k] - 1;
        low += step < 0 ? step * most : 0;
        if (step != 0 && most > 0)
            equation->term[equation->count++] = (struct term){magnitude(step), most};
    }
    return low;
}

/* From the first byte of the lowest element to that of the highest, by the terms from `at` on. */
static int64_t length_from(const struct equation *equation, int32_t at)
{
    int64_t length = 0;
    for (int32_t k = at; k < equation->count; k++)
        length += equation->term[k].step * equation->term[k].most;
    return length;
}

/* Makes one term of two whose sums are all multiples of the first step. */
static bool merge(struct term *first, const struct term *second)
{
    if (first->step == second->step)
        first->most += second->most;
    else if (second->step % first->step == 0 && second->step / first->step <= first->most + 1)
        first->most += second->step / first->step * second->most;
    else
        return false;
    return true;
}

static void merge_terms(struct equation *equation)
{
    for (int32_t k = 0; k < equation->count; k++)
        for (int32_t other = 0; other < equation->count; other++)
            if (other != k && merge(&equation->term[k], &equation->term[other])) {
                equation->term[other] = equation->term[--equation->count];
                k = -1; /* from the beginning */
                break;
            }
}

/* Those of fewest elements first. */
static void sort_terms(struct equation *equation)
{
    for (int32_t k = 1; k < equation->count; k++)
        for (int32_t at = k; at > 0 && equation->term[at].most < equation->term[at - 1].most;
             at--) {
            const struct term term = equation->term[at];
            equation->term[at] = equation->term[at - 1];
            equation->term[at - 1] = term;
        }
}

/* Extended Euclid: gcd(a, b), and x with a x ≡ gcd(a, b) (mod b). */
static int64_t divisor(int64_t a, int64_t b, int64_t *x)
{
    int64_t last = 1, next = 0;
    while (b != 0) {
        const int64_t quotient = a / b, rest = a % b, before = last - quotient * next;
        a = b;
        b = rest;
        last = next;
        next = before;
    }
    *x = last;
    return a;
}

static int64_t divided_up(int64_t a, int64_t b)
{
    return a > 0 ? (a - 1) / b + 1 : 0;
}

/* Two terms: i = i_0 + k (a_1 / g) where a_0 i_0 ≡ b (mod a_1), in the range that leaves i_1 its
 * own. */
static bool solve_two(struct term first, struct term second, int64_t b)
{
    int64_t inverse = 0;
    const int64_t common = divisor(first.step, second.step, &inverse);
    if (b < 0 || b % common != 0)
        return false;
    const int64_t period = second.step / common;
    const int64_t low = divided_up(b - second.step * second.most, first.step);
    const int64_t high = b / first.step < first.most ? b / first.step : first.most;
    int64_t i = (int64_t)((wide)(b / common % period) * (inverse % period) % period);
    i += i < 0 ? period : 0;
    if (i < low)
        i += divided_up(low - i, period) * period;
    return i <= high;
}

/* Of the terms from `at` on. */
static bool solve(struct equation *equation, int32_t at, int64_t b)
{
    static const struct term nothing = {1, 0};
    const struct term *term = &equation->term[at];
    const int32_t left = equation->count - at;
    if (left <= 2)
        return solve_two(left > 0 ? term[0] : nothing, left > 1 ? term[1] : nothing, b);
    for (int64_t i = 0; i <= term->most && i <= b / term->step; i++)
        if (++equation->steps > most_steps || solve(equation, at + 1, b - i * term->step))
            return true;
    return false;
}

static bool is_empty(const kith_array *array)
{
    return array->ndim == 0 || array->shape[0] == 0 || (array->ndim == 2 && array->shape[1] == 0);
}

bool kith_arrays_overlap(const kith_array *a, const kith_array *b)
{
    struct equation equation = {0};
    if (is_empty(a) || is_empty(b))
        return false;
    const int64_t low_a = add_terms(a, &equation), length_a = length_from(&equation, 0);
    const int32_t count_a = equation.count;
    const int64_t low_b = add_terms(b, &equation), length_b = length_from(&equation, count_a);
    const int64_t each_a = kith_dtype_bytes(a->dtype), each_b = kith_dtype_bytes(b->dtype);
    const intptr_t first_a = (intptr_t)a->data + low_a, first_b = (intptr_t)b->data + low_b;
    if (first_a + length_a + each_a <= first_b || first_b + length_b + each_b <= first_a)
        return false;
    merge_terms(&equation);
    sort_terms(&equation);
    const int64_t distance = first_b + length_b - first_a; /* b's indices from its end */
    for (int64_t byte = 1 - each_a; byte < each_b; byte++)
        if (distance + byte >= 0 && solve(&equation, 0, distance + byte))
            return true;
    return false;
}

kith_status kith_check_overlap(const struct named_array *output, const kith_array *other,
                               const char *other_name)
{
    if (kith_arrays_overlap(output->array, other))
        return kith_fail(KITH_INVALID_ARGUMENT, "%s overlaps %s; give it memory of its own",
                         output->name, other_name);
    return KITH_OK;
}
