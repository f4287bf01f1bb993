/* Any bytes are a matrix in the Matrix Market format, plain or compressed, or an error.
 *
 * Compiled with KITH_FUZZ_NAME, a.mtx or a.mtx.gz. What the rows need is left out: a matrix of a
 * million rows may be a file of one line, but takes a million numbers. */

#include <stdlib.h>

#include "device/context.h"
#include "device/threads.h"
#include "fuzz.h"
#include "io/market.h"

enum { most_rows = 1 << 16 };

static void read_entries(kith_context *context, const struct market_text *text)
{
    struct market_header header;
    struct market_entries entries = {0};
    const char *body = NULL;
    kith_status status = market_header_read(text, &header, &body);
    fuzz_check(status, status == KITH_OK);
    if (status == KITH_OK && header.rows <= most_rows && header.columns <= most_rows) {
        status = market_entries_read(context, text, &header, body, &entries);
        fuzz_check(status, status == KITH_OK);
        for (int64_t k = 0; status == KITH_OK && k < entries.count; k++)
            fuzz_require(entries.row[k] >= 0 && entries.row[k] < header.rows &&
                             entries.column[k] >= 0 && entries.column[k] < header.columns,
                         "an entry outside the matrix");
        market_entries_release(&entries);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct kith_context context = {.threads = 1, .team = kith_team_create(1)};
    struct market_text text;
    const kith_status status = market_load(&context, fuzz_file(data, size, KITH_FUZZ_NAME), &text);
    fuzz_check(status, status == KITH_OK);
    if (status == KITH_OK)
        read_entries(&context, &text);
    kith_team_free(context.team);
    free(text.bytes);
    return 0;
}
