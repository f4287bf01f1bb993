#ifndef CLI_BENCH_CHART_H
#define CLI_BENCH_CHART_H

#include <stdio.h>

#include "bench_figures.h"

/* Writes an SVG picture of the figures of one panel, which are arranged: rates against sizes
 * as lines, both axes logarithmic; or, where they have names instead of sizes or but one size, as
 * bars. */
void bench_chart_write(FILE *stream, const struct figure *figures, int64_t count);

/* Writes text with what HTML and SVG would take for their own escaped. */
void bench_write_escaped(FILE *stream, const char *text);

#endif
