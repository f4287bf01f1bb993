#ifndef CLI_GNUPLOT_H
#define CLI_GNUPLOT_H

#include <stdbool.h>
#include <stdio.h>

/* Runs gnuplot, or the program that the environment variable KITH_GNUPLOT names, with a script as
 * its input and a file as its output.
 *
 * The script must set a terminal but no output. No shell is involved. On failure prints the reason,
 * in gnuplot's words, and returns false. */
bool gnuplot_run(const char *command, FILE *script, FILE *picture);

/* Writes text as a gnuplot string, quotes included. Whatever the text, it stays text: every byte
 * but plain letters, digits and a few marks goes as an octal escape. Bytes that are not UTF-8
 * become
 * '?', control characters blanks. Use it where enhanced text is off. */
void gnuplot_write_text(FILE *script, const char *text);

/* Writes text as a part of a string of enhanced text in double quotes, which the caller writes; in
 * the same way it stays text. */
void gnuplot_write_in_enhanced(FILE *script, const char *text);

#endif
