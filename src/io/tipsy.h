#ifndef IO_TIPSY_H
#define IO_TIPSY_H

#include <stdint.h>

enum { tipsy_gas, tipsy_dark, tipsy_star, tipsy_species_count };

/* Records are words of 4 bytes, all float: mass, position[3], velocity[3], then
 *   gas   density, temperature, smoothing length, metals, potential
 *   dark  softening, potential
 *   star  metals, time of formation, softening, potential */
struct tipsy_species {
    const char *name;
    int32_t words;     /* the last is the potential */
    int32_t softening; /* the word's number */
};

extern const struct tipsy_species tipsy_species[tipsy_species_count];

/* The header: time (float64), then the numbers of bodies, dimensions, gas, dark, star (int32), and
 * 4 bytes of padding in most files. */
enum { tipsy_max_words = 12, tipsy_header_bytes = 28, tipsy_padded_bytes = 32 };

#endif
