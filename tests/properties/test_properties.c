/* What holds of any call, with random arguments of every capability.
 *
 * The number of cases of each property is that of its row; KITH_TEST_LONG in the
 * environment makes more, millions of calls in all, and KITH_TEST_QUICK a tenth. */

#include "property.h"

#include <Random123/philox.h>

#include "laid.h"

static const struct property_row {
    const char *name;
    property_case *check;
    int64_t cases, long_cases;
} properties[] = {
    {"bad calls are refused", bad_calls_are_told, 120000, 1200000},
    {"forces", forces_are_those_of_the_reference, 1500, 60000},
    {"forces of laws", forces_of_laws_are_those_of_the_reference, 150, 6000},
    {"matrices", matrices_are_those_of_the_reference, 120, 6000},
    {"matrices of formulas", matrices_of_formulas_are_those_of_the_reference, 3, 60},
    {"pairs", pairs_are_those_of_the_definition, 700, 30000},
    {"nearest points", nearest_points_are_those_of_the_definition, 300, 12000},
    {"kept lists", lists_are_kept_as_they_would_be_made, 200, 8000},
    {"collisions", collisions_are_those_of_the_reference, 800, 30000},
    {"batches", batches_are_counted_as_each_alone, 300, 12000},
    {"groups", groups_are_the_sites, 500, 20000},
    {"products", products_are_those_of_the_entries, 600, 25000},
    {"sources of matrices", matrices_are_the_same_from_any_source, 300, 10000},
    {"steps", steps_are_the_same_however_they_are_taken, 250, 10000},
    {"ensembles", ensembles_are_their_systems, 150, 6000},
    {"files", files_give_back_what_was_written, 150, 6000},
};
enum { property_count = sizeof properties / sizeof properties[0] };

/* What is said of the case at hand if it fails; cmocka makes a failure of a crash. */
static struct {
    const char *name;
    uint64_t seed;
    int64_t number; /* −1: none */
} now = {"", 0, -1};

static uint64_t seed;

enum { most_contexts = 16, thread_counts = 3, exit_skipped = 77 };
static const int32_t threads_of[thread_counts] = {1, 2, 5};
static kith_context *contexts[most_contexts], *gpu;
static int context_count;

kith_context *plain_context(void)
{
    return contexts[0];
}

static int say_case(void **state)
{
    (void)state;
    if (now.number >= 0)
        printf("%s: repeat this case with KITH_TEST_SEED=%llu KITH_TEST_CASE=%lld\n", now.name,
               (unsigned long long)now.seed, (long long)now.number);
    now.number = -1;
    case_memory_free();
    return 0;
}

static void choose_contexts(struct property *p)
{
    const int k = (int)whole(p, 0, context_count / thread_counts - 1) * thread_counts;
    p->on_gpu = gpu != NULL;
    p->context = gpu ? gpu : contexts[k + (int)whole(p, 0, thread_counts - 1)];
    p->other = gpu ? gpu : contexts[k + (int)whole(p, 0, thread_counts - 1)];
}

static bool is_set(const char *variable)
{
    const char *value = getenv(variable);
    return value && *value;
}

static void check_case(const struct property_row *row, int64_t number)
{
    const philox4x64_ctr_t counter = {
        {(uint64_t)number, (uint64_t)(row - properties), (uint64_t)(gpu != NULL), 0}};
    const philox4x64_key_t key = {{seed, 0x6b697468}};
    if (is_set("KITH_TEST_SHOW"))
        printf("%s: KITH_TEST_SEED=%llu KITH_TEST_CASE=%lld\n", row->name, (unsigned long long)seed,
               (long long)number);
    struct property p = {.random = {philox4x64(counter, key).v[0]}};
    now.number = number;
    choose_contexts(&p);
    row->check(&p);
    now.number = -1;
    case_memory_free();
}

static void check_all_cases(void **state)
{
    const struct property_row *row = *state;
    const char *one = getenv("KITH_TEST_CASE");
    const int64_t cases = is_set("KITH_TEST_LONG")    ? row->long_cases
                          : is_set("KITH_TEST_QUICK") ? row->cases / 10 + 1
                                                      : row->cases;
    const int64_t calls = property_calls;
    now.name = row->name;
    now.seed = seed;
    if (one && *one)
        check_case(row, strtoll(one, NULL, 0));
    else
        for (int64_t number = 0; number < cases; number++)
            check_case(row, number);
    printf("%s: %lld calls\n", row->name, (long long)(property_calls - calls));
}

static kith_context *open_context(kith_device device, int32_t threads)
{
    const kith_context_options options = {.device = device, .threads = threads};
    kith_context *context = NULL;
    if (kith_context_create(&options, &context) != KITH_OK)
        fprintf(stderr, "no context: %s\n", kith_error_message());
    return context;
}

static void open_contexts(void)
{
    int64_t count = 0;
    const kith_isa *list = kith_isa_list(&count);
    for (int64_t k = 0; k < count; k++) {
        if (!list[k].supported)
            continue;
        setenv("KITH_ISA", list[k].name, 1);
        for (int t = 0; t < thread_counts; t++)
            contexts[context_count++] = open_context((kith_device){KITH_CPU, 0}, threads_of[t]);
    }
    unsetenv("KITH_ISA");
}

/* With the argument "gpu", everything is computed there and compared with the CPU's references. */
int main(int count, char **arguments)
{
    const bool on_gpu = count > 1 && strcmp(arguments[1], "gpu") == 0;
    struct CMUnitTest tests[property_count];
    kith_device_info info;
    setvbuf(stdout, NULL, _IOLBF, 0);
    open_contexts();
    if (on_gpu && !kith_device_describe((kith_device){KITH_CUDA, 0}, &info)) {
        printf("skipped: there is no GPU\n");
        return exit_skipped;
    }
    if (on_gpu)
        gpu = open_context((kith_device){KITH_CUDA, 0}, 0);
    seed = random_numbers_begin("properties").state;
    for (int k = 0; k < property_count; k++) {
        const struct property_row *property = &properties[k];
        tests[k] = (struct CMUnitTest){property->name, check_all_cases, NULL, say_case, NULL};
        memcpy(&tests[k].initial_state, &property,
               sizeof tests[k].initial_state); /* cmocka's is not const */
    }
    const int failed = cmocka_run_group_tests_name("properties", tests, NULL, NULL);
    printf("properties: %lld calls in all\n", (long long)property_calls);
    for (int k = 0; k < context_count; k++)
        kith_context_free(contexts[k]);
    kith_context_free(gpu);
    return failed;
}
