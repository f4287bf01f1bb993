#include "view/pages.h"

#include <stddef.h>
#include <string.h>

#define EACH_SCRIPT(row)                                                                           \
    row(camera) row(chart) row(colors) row(controls) row(extent) row(main) row(overlay)            \
        row(packet) row(renderer) row(shaders) row(source) row(splats) row(trails)

extern const char view_index_html[], view_style_css[];
#define DECLARE(name) extern const char view_##name##_js[];
EACH_SCRIPT(DECLARE)
#undef DECLARE

#define ROW(name) {#name ".js", "text/javascript; charset=utf-8", view_##name##_js},
const struct page_file page_files[] = {{"", "text/html; charset=utf-8", view_index_html},
                                       {"style.css", "text/css; charset=utf-8", view_style_css},
                                       EACH_SCRIPT(ROW){0}};
#undef ROW

const struct page_file *page_find(const char *name)
{
    for (const struct page_file *file = page_files; file->name; file++)
        if (strcmp(file->name, name) == 0)
            return file;
    return NULL;
}
