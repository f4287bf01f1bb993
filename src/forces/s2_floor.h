#ifndef FORCES_S2_FLOOR_H
#define FORCES_S2_FLOOR_H

/* The s² of a pair at the same place without softening, whose 1/s³ is finite, with room for two
 * masses of 2: d = 0 then makes the pair add 0 by itself. It is added to every s², which changes no
 * bit unless s is far below the resolution of the coordinates (10⁻⁹ in float, 10⁻⁹⁰ in double). */
#define S2_FLOOR_FLOAT  0x1.2p-84f
#define S2_FLOOR_DOUBLE 0x1p-680

#endif
