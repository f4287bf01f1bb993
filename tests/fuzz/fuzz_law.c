/* Any text is a law or an error; a formula has a value, a force and code. */

#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "law/formula.h"
#include "law/law.h"

static void parse(const char *text)
{
    const kith_law_parameter parameters[] = {{"a", 2}, {"b", -3}};
    const kith_law_pair pair = {{1, -2, 0.5}, 0, 2, 3, -1, 1};
    kith_law *law = NULL;
    const int64_t count = strncmp(text, "expr:", 5) == 0 ? 2 : 0;
    const kith_status status = kith_law_parse(text, count, parameters, &law);
    fuzz_check(status, law != NULL);
    if (law) {
        double value = 0, force[3];
        fuzz_require(kith_law_evaluate(law, &pair, &value, force) == KITH_OK,
                     "a law without value");
    }
    if (law && !law->info) {
        char *code = NULL;
        fuzz_require(formula_write(law->value, &code) == KITH_OK, "a formula without code");
        free(code);
    }
    kith_law_free(law);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 6);
    if (!text)
        abort();
    memcpy(text, "expr:", 5);
    memcpy(text + 5, data, size);
    text[size + 5] = 0;
    parse(text);
    parse(text + 5);
    free(text);
    return 0;
}
