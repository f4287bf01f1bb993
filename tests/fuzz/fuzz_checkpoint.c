/* An edited file is a run's file with a checkpoint to go on from, or an error. */

#include "edited.h"
#include "fuzz.h"
#include "io/run_file.h"
#include "run/law_record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct run_past past;
    kith_law *law = NULL;
    const kith_status status = run_past_read(fuzz_edited(data, size, "run"), &past);
    fuzz_check(status, status == KITH_OK);
    fuzz_require(size > 0 || status == KITH_OK, "a file that nobody edited");
    if (status == KITH_OK) {
        fuzz_require(past.start && (past.checkpoint.state || past.start->count == 0),
                     "a past without a start");
        const kith_status lawful = law_of_record(past.parameters.law, &law);
        fuzz_check(lawful, lawful == KITH_OK);
    }
    kith_law_free(law);
    run_past_free(&past);
    return 0;
}
