/* A pipe or a device may never end: what it gives is inspected while it comes. */
#include "io/market.h"
#include "io/text.h"

/* No real file has more comments than this, and empty lines could continue forever. */
static const int64_t most_empty_bytes = INT64_C(1) << 26;

static kith_status watch_line(struct market_watch *watch, const char *line, int64_t bytes)
{
    watch->lines++;
    if (watch->lines == 1)
        return market_banner_read(line, &watch->header);
    if (market_is_empty(line)) {
        watch->empty_bytes += bytes;
        return watch->empty_bytes <= most_empty_bytes
                   ? KITH_OK
                   : kith_fail(KITH_BAD_FORMAT,
                               "line %lld: the file has more than %lld bytes of comments and empty "
                               "lines; give the matrix alone",
                               (long long)watch->lines, (long long)most_empty_bytes);
    }
    if (watch->has_sizes) {
        watch->entries++;
        return KITH_OK;
    }
    watch->has_sizes = true;
    watch->header.lines = watch->lines;
    return market_sizes_read(line, &watch->header);
}

kith_status market_watch(struct market_watch *watch, const struct market_text *text, bool *enough)
{
    const char *line = text->bytes + watch->seen, *end = text->bytes + text->size, *found;
    while (!*enough && (found = memchr(line, '\n', (size_t)(end - line)))) {
        if (found - line > text_longest_line)
            return market_fail_long_line(watch->lines + 1);
        KITH_TRY(watch_line(watch, line, found + 1 - line));
        *enough = watch->has_sizes && watch->entries > watch->header.entries;
        line = found + 1;
    }
    watch->seen = line - text->bytes;
    return end - line <= text_longest_line ? KITH_OK : market_fail_long_line(watch->lines + 1);
}
