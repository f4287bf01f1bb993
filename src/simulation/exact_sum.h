#ifndef SIMULATION_EXACT_SUM_H
#define SIMULATION_EXACT_SUM_H

/* A sum of doubles without rounding, which depends neither on their order nor on who adds them
 * (Kulisch 2013, Computer Arithmetic and Validity, ch. 8): of at most 2^31 numbers
 *
 *     Σ_k digit[k] · 2^(32 k − 1074),
 *
 * with digits in two's complement that are not carried. Sums are added word by word, modulo 2^64.
 */

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { exact_digits = 67, exact_words = exact_digits + 1 };

struct exact_sum {
    unsigned long long digit[exact_digits];
    unsigned long long not_finite; /* numbers */
};

static inline void exact_sum_add(struct exact_sum *sum, double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    const unsigned exponent = (unsigned)(bits >> 52) & 0x7ff, normal = exponent > 0;
    const unsigned at = exponent - normal; /* of the last bit of the mantissa */
    const uint64_t mantissa = (bits & 0xfffffffffffff) | (uint64_t)normal << 52;
    const uint64_t sign = 0 - (bits >> 63); /* −x is ~x + 1 */
    const uint64_t low = mantissa << at % 32, high = mantissa >> 32 >> (32 - at % 32);
    const uint64_t part[3] = {low & 0xffffffff, low >> 32, high};
    if (exponent == 0x7ff) {
        sum->not_finite++;
        return;
    }
    for (unsigned k = 0; k < 3; k++)
        sum->digit[at / 32 + k] += (part[k] ^ sign) - sign;
}

static inline void exact_sum_unite(struct exact_sum *sum, const struct exact_sum *more)
{
    for (int k = 0; k < exact_digits; k++)
        sum->digit[k] += more->digit[k];
    sum->not_finite += more->not_finite;
}

/* Digits of 32 bits; returns what is carried out of them: 0, or −1 of a negative sum. */
static inline int64_t exact_sum_carry(const struct exact_sum *sum, uint64_t sign,
                                      uint32_t digit[exact_digits])
{
    int64_t carried = 0;
    for (int k = 0; k < exact_digits; k++) {
        carried += (int64_t)((sum->digit[k] ^ sign) - sign);
        digit[k] = (uint32_t)carried;
        carried >>= 32;
    }
    return carried;
}

/* The sum, rounded to about an ulp; NaN if one of the numbers was not finite. */
static inline double exact_sum_value(const struct exact_sum *sum)
{
    uint32_t digit[exact_digits];
    double value = 0;
    int last = exact_digits - 1;
    if (sum->not_finite)
        return (double)NAN;
    const bool is_negative = exact_sum_carry(sum, 0, digit) < 0;
    if (is_negative)
        (void)exact_sum_carry(sum, ~(uint64_t)0, digit);
    while (last > 0 && digit[last] == 0)
        last--;
    for (int k = 0; k < 4 && k <= last; k++)
        value += ldexp(digit[last - k], 32 * (last - k) - 1074);
    return is_negative ? -value : value;
}

#endif
