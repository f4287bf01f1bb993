/* Letters drawn with lines.
 *
 * The Hershey Fonts were originally created by Dr. A. V. Hershey while working at the U. S.
 * National Bureau of Standards. The format of the font data below was originally created by James
 * Hurt, Cognition, Inc., 900 Technology Park Drive, Billerica, MA 01821. */

#include "lettering.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* "Simplex roman" of ' ' to '~': two letters for the left and right side, then pairs for the ends
 * of lines, each a number from 'R'; " R" lifts the pen. */
/* clang-format off */
static const char *const ascii[] = {
    "JZ",
    "MWRFRT RRYQZR[SZRY",
    "JZNFNM RVFVM",
    "H]SBLb RYBRb RLOZO RKUYU",
    "H\\PBP_ RTBT_ RYIWGTFPFMGKIKKLMMNOOUQWRXSYUYXWZT[P[MZKX",
    "F^[FI[ RNFPHPJOLMMKMIKIIJGLFNFPGSHVHYG[F RWTUUTWTYV[X[ZZ[X[VYTWT",
    "E_\\O\\N[MZMYNXPVUTXRZP[L[JZIYHWHUISJRQNRMSKSIRGPFNGMIMKNNPQUXWZY[[[\\Z\\Y",
    "MWRHQGRFSGSIRKQL",
    "KYVBTDRGPKOPOTPYR]T`Vb",
    "KYNBPDRGTKUPUTTYR]P`Nb",
    "JZRLRX RMOWU RWOMU",
    "E_RIR[ RIR[R",
    "NVSWRXQWRVSWSYQ[",
    "E_IR[R",
    "NVRVQWRXSWRV",
    "G][BIb",
    "H\\QFNGLJKOKRLWNZQ[S[VZXWYRYOXJVGSFQF",
    "H\\NJPISFS[",
    "H\\LKLJMHNGPFTFVGWHXJXLWNUQK[Y[",
    "H\\MFXFRNUNWOXPYSYUXXVZS[P[MZLYKW",
    "H\\UFKTZT RUFU[",
    "H\\WFMFLOMNPMSMVNXPYSYUXXVZS[P[MZLYKW",
    "H\\XIWGTFRFOGMJLOLTMXOZR[S[VZXXYUYTXQVOSNRNOOMQLT",
    "H\\YFO[ RKFYF",
    "H\\PFMGLILKMMONSOVPXRYTYWXYWZT[P[MZLYKWKTLRNPQOUNWMXKXIWGTFPF",
    "H\\XMWPURRSQSNRLPKMKLLINGQFRFUGWIXMXRWWUZR[P[MZLX",
    "NVROQPRQSPRO RRVQWRXSWRV",
    "NVROQPRQSPRO RSWRXQWRVSWSYQ[",
    "F^ZIJRZ[",
    "E_IO[O RIU[U",
    "F^JIZRJ[",
    "I[LKLJMHNGPFTFVGWHXJXLWNVORQRT RRYQZR[SZRY",
    "E`WNVLTKQKOLNMMPMSNUPVSVUUVS RQKOMNPNSOUPV RWKVSVUXVZV\\T]Q]O\\L[JYHWGTFQFNGLHJJILHOHRIUJWLYNZQ[T[WZYYZX RXKWSWUXV",
    "I[RFJ[ RRFZ[ RMTWT",
    "G\\KFK[ RKFTFWGXHYJYLXNWOTP RKPTPWQXRYTYWXYWZT[K[",
    "H]ZKYIWGUFQFOGMILKKNKSLVMXOZQ[U[WZYXZV",
    "G\\KFK[ RKFRFUGWIXKYNYSXVWXUZR[K[",
    "H[LFL[ RLFYF RLPTP RL[Y[",
    "HZLFL[ RLFYF RLPTP",
    "H]ZKYIWGUFQFOGMILKKNKSLVMXOZQ[U[WZYXZVZS RUSZS",
    "G]KFK[ RYFY[ RKPYP",
    "NVRFR[",
    "JZVFVVUYTZR[P[NZMYLVLT",
    "G\\KFK[ RYFKT RPOY[",
    "HYLFL[ RL[X[",
    "F^JFJ[ RJFR[ RZFR[ RZFZ[",
    "G]KFK[ RKFY[ RYFY[",
    "G]PFNGLIKKJNJSKVLXNZP[T[VZXXYVZSZNYKXIVGTFPF",
    "G\\KFK[ RKFTFWGXHYJYMXOWPTQKQ",
    "G]PFNGLIKKJNJSKVLXNZP[T[VZXXYVZSZNYKXIVGTFPF RSWY]",
    "G\\KFK[ RKFTFWGXHYJYLXNWOTPKP RRPY[",
    "H\\YIWGTFPFMGKIKKLMMNOOUQWRXSYUYXWZT[P[MZKX",
    "JZRFR[ RKFYF",
    "G]KFKULXNZQ[S[VZXXYUYF",
    "I[JFR[ RZFR[",
    "F^HFM[ RRFM[ RRFW[ R\\FW[",
    "H\\KFY[ RYFK[",
    "I[JFRPR[ RZFRP",
    "H\\YFK[ RKFYF RK[Y[",
    "KYOBOb RPBPb ROBVB RObVb",
    "KYKFY^",
    "KYTBTb RUBUb RNBUB RNbUb",
    "JZRDJR RRDZR",
    "I[Ib[b",
    "NVSKQMQORPSORNQO",
    "I\\XMX[ RXPVNTMQMONMPLSLUMXOZQ[T[VZXX",
    "H[LFL[ RLPNNPMSMUNWPXSXUWXUZS[P[NZLX",
    "I[XPVNTMQMONMPLSLUMXOZQ[T[VZXX",
    "I\\XFX[ RXPVNTMQMONMPLSLUMXOZQ[T[VZXX",
    "I[LSXSXQWOVNTMQMONMPLSLUMXOZQ[T[VZXX",
    "MYWFUFSGRJR[ ROMVM",
    "I\\XMX]W`VaTbQbOa RXPVNTMQMONMPLSLUMXOZQ[T[VZXX",
    "I\\MFM[ RMQPNRMUMWNXQX[",
    "NVQFRGSFREQF RRMR[",
    "MWRFSGTFSERF RSMS^RaPbNb",
    "IZMFM[ RWMMW RQSX[",
    "NVRFR[",
    "CaGMG[ RGQJNLMOMQNRQR[ RRQUNWMZM\\N]Q][",
    "I\\MMM[ RMQPNRMUMWNXQX[",
    "I\\QMONMPLSLUMXOZQ[T[VZXXYUYSXPVNTMQM",
    "H[LMLb RLPNNPMSMUNWPXSXUWXUZS[P[NZLX",
    "I\\XMXb RXPVNTMQMONMPLSLUMXOZQ[T[VZXX",
    "KXOMO[ ROSPPRNTMWM",
    "J[XPWNTMQMNNMPNRPSUTWUXWXXWZT[Q[NZMX",
    "MYRFRWSZU[W[ ROMVM",
    "I\\MMMWNZP[S[UZXW RXMX[",
    "JZLMR[ RXMR[",
    "G]JMN[ RRMN[ RRMV[ RZMV[",
    "J[MMX[ RXMM[",
    "JZLMR[ RXMR[P_NaLbKb",
    "J[XMM[ RMMXM RM[X[",
    "KYTBRCQDPFPHQJRKSMSOQQ RRCQEQGRISJTLTNSPORSTTVTXSZR[Q]Q_Ra RQSSUSWRYQZP\\P^Q`RaTb",
    "NVRBRb",
    "KYPBRCSDTFTHSJRKQMQOSQ RRCSESGRIQJPLPNQPURQTPVPXQZR[S]S_Ra RSSQUQWRYSZT\\T^S`RaPb",
    "F^IUISJPLONOPPTSVTXTZS[Q RISJQLPNPPQTTVUXUZT[Q[O",
};
/* clang-format on */

struct sign {
    uint32_t character;
    const char *glyph;
};

/* In the same form: the signs of units and numbers, and the box drawn for any other character. */
static const struct sign signs[] = {
    {0x2212, "E_IR[R"},                                           /* minus */
    {0xd7, "G]KKYY RYKKY"},                                       /* times */
    {0xb7, "MWRQQRRSSRRQ"},                                       /* middle dot */
    {0xb0, "KYQFOGNINKOMQNSNUMVKVIUGSFQF"},                       /* degree */
    {0xb5, "H]LMLb RLWMZO[Q[SZVW RVMVWWZY[Z["},                   /* micro */
    {0x3bc, "H]LMLb RLWMZO[Q[SZVW RVMVWWZY[Z["},                  /* mu */
    {0xc5, "I[RHJ[ RRHZ[ RMUWU RRCQDQERFSESDRC"},                 /* angstrom */
    {0x212b, "I[RHJ[ RRHZ[ RMUWU RRCQDQERFSESDRC"},               /* angstrom sign */
    {0x2609, "F^PFMGJJIMISJVMYPZTZWYZV[S[MZJWGTFPF RRPQQRRSQRP"}, /* sun */
    {0x2299, "F^PFMGJJIMISJVMYPZTZWYZV[S[MZJWGTFPF RRPQQRRSQRP"}, /* circled dot */
    {0, "I[LFL[X[XFLF"},
};

enum { base_line = 9, capital = 21 };

static const double raised_size = 0.7, raised_by = 0.55;

/* Takes a character off a text; 0 for bytes that are not UTF-8, and for control characters. */
static uint32_t next_character(const char **text)
{
    const unsigned char *byte = (const unsigned char *)*text;
    const int more = *byte < 0xc2 ? 0 : *byte < 0xe0 ? 1 : *byte < 0xf0 ? 2 : *byte < 0xf5 ? 3 : 0;
    uint32_t character = more == 0 ? *byte : *byte & (0x3fu >> more);
    for (int k = 1; k <= more; k++) {
        if ((byte[k] & 0xc0) != 0x80) {
            *text += k;
            return 0;
        }
        character = character << 6 | (byte[k] & 0x3f);
    }
    *text += 1 + more;
    return character < 0x20 || (more == 0 && character >= 0x7f) ? 0 : character;
}

static const char *glyph_of(uint32_t character)
{
    if (character >= 0x20 && character < 0x7f)
        return ascii[character - 0x20];
    const struct sign *sign = signs;
    while (sign->character && sign->character != character)
        sign++;
    return sign->glyph;
}

/* Draws one glyph, its left side at x. */
static void draw_glyph(struct raster *raster, double x, double y, double scale, double radius,
                       const char *glyph)
{
    double at[2] = {0};
    bool down = false;
    for (const char *pair = glyph + 2; pair[0] && pair[1]; pair += 2) {
        if (pair[0] == ' ') {
            down = false;
            continue;
        }
        const double to[2] = {x + scale * (pair[0] - glyph[0]),
                              y + scale * (pair[1] - 'R' - base_line)};
        if (down)
            raster_stroke(raster, at[0], at[1], to[0], to[1], radius);
        memcpy(at, to, sizeof at);
        down = true;
    }
}

/* Goes through a text, and draws it if there is a raster; returns its width. */
static double go_through(struct raster *raster, double x, double y, double size, double radius,
                         const char *text)
{
    const double left = x;
    bool raised = false;
    while (*text) {
        if (*text == lettering_raise[0] || *text == lettering_lower[0]) {
            raised = *text++ == lettering_raise[0];
            continue;
        }
        const double scale = (raised ? raised_size : 1) * size / capital;
        const char *glyph = glyph_of(next_character(&text));
        if (raster)
            draw_glyph(raster, x, raised ? y - raised_by * size : y, scale, radius, glyph);
        x += scale * (glyph[1] - glyph[0]);
    }
    return x - left;
}

double lettering_width(const char *text, double size)
{
    return go_through(NULL, 0, 0, size, 0, text);
}

void lettering_draw(struct raster *raster, double x, double y, double size, double radius,
                    const char *text)
{
    go_through(raster, x, y, size, radius, text);
}
