/* Chains that searches for folds in the HP model are compared by. */

#ifndef HP_CHAINS_H
#define HP_CHAINS_H

/* The best energies known. Chains of 20 to 36 beads: in 2D Unger & Moult 1993, J. Mol. Biol. 231,
 * 75-81, and the lists of later searches; in 3D the best that others report, which may not be the
 * least. The chain of 48 beads is the first of ten whose least energies Yue et al. 1995, PNAS 92,
 * 325-329, found. */
static const struct hp_chain {
    const char *sequence;
    int dimensions, energy, steps;
} chains[] = {
    {"HPHPPHHPHPPHPHHPPHPH", 2, -9, 20000},
    {"HHPPHPPHPPHPPHPPHPPHPPHH", 2, -9, 20000},
    {"PPHPPHHPPPPHHPPPPHHPPPPHH", 2, -8, 20000},
    {"PPPHHPPHHPPPPPHHHHHHHPPHHPPPPHHPPHPP", 2, -14, 60000},
    {"HPHPPHHPHPPHPHHPPHPH", 3, -11, 20000},
    {"HHPPHPPHPPHPPHPPHPPHPPHH", 3, -13, 20000},
    {"HPHHPPHHHHPHHHPPHHPPHPHHHPHPHHPPHHPPPHPPPPPPPPHH", 3, -32, 400000},
};

#endif
