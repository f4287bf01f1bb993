/* Decimal to double. Nearly all numbers in files have up to 19 digits and a power of ten within
 * 10^±27: 5^27 < 2^63, so that an exact product or quotient fits in 128 bits, and one rounding is
 * left. Other numbers are left to strtod. */
#include "io/decimal.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { most_digits = 19, most_power = 27, exact_power = 22, mantissa_bits = 53 };

__extension__ typedef unsigned __int128 wide;

static const uint64_t power_of_5[most_power + 1] = {
    1,
    5,
    25,
    125,
    625,
    3125,
    15625,
    78125,
    390625,
    1953125,
    9765625,
    48828125,
    244140625,
    1220703125,
    6103515625,
    30517578125,
    152587890625,
    762939453125,
    3814697265625,
    19073486328125,
    95367431640625,
    476837158203125,
    2384185791015625,
    11920928955078125,
    59604644775390625,
    298023223876953125,
    1490116119384765625,
    7450580596923828125,
};

static const double power_of_10[exact_power + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                    1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                    1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* n·2^exponent, and a little more if sticky, rounded to nearest, ties to even; n > 0. */
static double round_to_double(wide n, bool sticky, int exponent)
{
    const uint64_t high = (uint64_t)(n >> 64);
    const int bits = high ? 128 - __builtin_clzll(high) : 64 - __builtin_clzll((uint64_t)n);
    const int surplus = bits - mantissa_bits;
    if (surplus <= 0) /* only without sticky: quotients have more bits */
        return ldexp((double)(uint64_t)n, exponent);
    uint64_t mantissa = (uint64_t)(n >> surplus);
    const wide below = n & (((wide)1 << surplus) - 1), half = (wide)1 << (surplus - 1);
    if (below > half || (below == half && (sticky || (mantissa & 1))))
        mantissa++;
    return ldexp((double)mantissa, exponent + surplus);
}

/* digits·10^power for 0 < digits < 10^19, |power| ≤ most_power. */
static double exact_value(uint64_t digits, int power)
{
    if (digits >> mantissa_bits == 0 && power >= -exact_power && power <= exact_power)
        return power < 0 ? (double)digits / power_of_10[-power]
                         : (double)digits * power_of_10[power];
    if (power >= 0)
        return round_to_double((wide)digits * power_of_5[power], false, power);
    const int shift = __builtin_clzll(digits);
    const wide numerator = (wide)(digits << shift) << 64;
    const uint64_t divisor = power_of_5[-power];
    const wide quotient = numerator / divisor;
    return round_to_double(quotient, quotient * divisor != numerator, power - 64 - shift);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Appends the digits at text to *digits, of which *count are significant; more than fit are only
 * counted. */
static const char *read_digits(const char *text, uint64_t *digits, int64_t *count)
{
    for (; is_digit(*text); text++) {
        if (*count < most_digits)
            *digits = 10 * *digits + (uint64_t)(*text - '0');
        *count += *count > 0 || *text != '0';
    }
    return text;
}

/* The exponent after e, if it is an integer; saturated. */
static const char *read_exponent(const char *text, int64_t *power)
{
    enum { huge = 100000 };
    if (*text != 'e' && *text != 'E')
        return text;
    const char *at = text + 1;
    const bool negative = *at == '-';
    at += *at == '-' || *at == '+';
    if (!is_digit(*at))
        return text;
    int64_t exponent = 0;
    for (; is_digit(*at); at++)
        exponent = exponent < huge ? 10 * exponent + (*at - '0') : exponent;
    *power += negative ? -exponent : exponent;
    return at;
}

/* NaN or infinity, as strtod writes them but for nan(…); NULL if text is neither. */
static const char *read_word(const char *text, bool negative, locale_t locale, double *value)
{
    static const struct {
        const char *word;
        double value;
    } words[] = {{"infinity", INFINITY}, {"inf", INFINITY}, {"nan", NAN}};
    for (size_t k = 0; k < sizeof words / sizeof words[0]; k++) {
        const size_t length = strlen(words[k].word);
        if (strncasecmp_l(text, words[k].word, length, locale) != 0)
            continue;
        *value = negative ? -words[k].value : words[k].value;
        return text + length;
    }
    return NULL;
}

const char *decimal_read(const char *text, locale_t locale, double *value)
{
    const bool negative = *text == '-';
    const char *start = text + (*text == '-' || *text == '+');
    uint64_t digits = 0;
    int64_t count = 0, power = 0;
    const char *end = read_digits(start, &digits, &count);
    bool any = end > start;
    if (*end == '.') {
        const char *fraction = end + 1;
        end = read_digits(fraction, &digits, &count);
        power = fraction - end;
        any = any || end > fraction;
    }
    if (!any)
        return read_word(start, negative, locale, value);
    end = read_exponent(end, &power);
    if (digits == 0) {
        *value = negative ? -0.0 : 0.0;
        return end;
    }
    if (count > most_digits || power < -most_power || power > most_power) {
        *value = strtod_l(text, NULL, locale);
        return isfinite(*value) ? end : NULL;
    }
    const double magnitude = exact_value(digits, (int)power);
    *value = negative ? -magnitude : magnitude;
    return end;
}
