/* libFuzzer target: any text is a formula or an error, never a crash; a formula has a value, a
 * force and code. */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "kith/kith.h"
#include "law/formula.h"
#include "law/law.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 6);
    if (!text)
        abort();
    memcpy(text, "expr:", 5);
    memcpy(text + 5, data, size);
    text[size + 5] = 0;

    const kith_law_parameter parameters[] = {{"a", 2}, {"b", -3}};
    const kith_law_pair pair = {{1, -2, 0.5}, 0, 2, 3, -1, 1};
    kith_law *law = NULL;
    const kith_status status = kith_law_parse(text, 2, parameters, &law);
    if ((status == KITH_OK) != (law != NULL))
        abort();
    if (law) {
        double value = 0, force[3];
        char *code = NULL;
        if (kith_law_evaluate(law, &pair, &value, force) != KITH_OK ||
            formula_write(law->formula, &code) != KITH_OK)
            abort();
        free(code);
    }
    kith_law_free(law);
    free(text);
    return 0;
}
