/* Any words are the options of a command, or wrong usage. One word a line; the first is the
 * command.
 *
 * The linker puts the functions with __wrap_ in place of the program's own (--wrap), so that a
 * command ends when its line is read, before it computes. */

#include <argp.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "options.h"

enum { most_words = 40, most_blocks = 1 << 16 };

static jmp_buf end_of_command;
static bool is_in_command;

void __real_cli_parse(const struct parser *parser, int argc, char **argv, void *options);
void __wrap_cli_parse(const struct parser *parser, int argc, char **argv, void *options);
error_t __real_argp_parse(const struct argp *argp, int argc, char **argv, unsigned flags,
                          int *index, void *input);
error_t __wrap_argp_parse(const struct argp *argp, int argc, char **argv, unsigned flags,
                          int *index, void *input);
_Noreturn void __real_exit(int code);
_Noreturn void __wrap_exit(int code);

void __wrap_cli_parse(const struct parser *parser, int argc, char **argv, void *options)
{
    __real_cli_parse(parser, argc, argv, options);
    longjmp(end_of_command, 1);
}

#ifdef FUZZ_TELLS_WHAT_ARGP_SETS
/* The memory sanitizer does not see the C library's argp set the state that it gives to parsers. */
void __msan_unpoison(const volatile void *from, size_t bytes);

static argp_parser_t real_parser;

static error_t parse_what_is_set(int key, char *argument, struct argp_state *state)
{
    if (key == ARGP_KEY_INIT)
        __msan_unpoison(state, sizeof *state);
    return real_parser(key, argument, state);
}

static struct argp prepared(const struct argp *argp)
{
    struct argp made = *argp;
    real_parser = argp->parser;
    made.parser = parse_what_is_set;
    return made;
}
#else
static struct argp prepared(const struct argp *argp)
{
    return *argp;
}
#endif

/* argp itself ends the program after --help. */
error_t __wrap_argp_parse(const struct argp *argp, int argc, char **argv, unsigned flags,
                          int *index, void *input)
{
    const struct argp made = prepared(argp);
    return __real_argp_parse(&made, argc, argv, flags | ARGP_NO_EXIT, index, input);
}

/* libFuzzer's own end comes here too. */
_Noreturn void __wrap_exit(int code)
{
    if (!is_in_command)
        __real_exit(code);
    fuzz_require(code == exit_ok || code == exit_failed || code == exit_usage,
                 "an unknown exit code");
    longjmp(end_of_command, 1);
}

#ifdef FUZZ_FREES_WHAT_IS_LEFT
/* What a command leaves when it is cut short is no leak; it goes here. */
int __sanitizer_install_malloc_and_free_hooks(void (*on_malloc)(const volatile void *, size_t),
                                              void (*on_free)(const volatile void *));

static void *blocks[most_blocks];
static int block_count;
static bool is_noting;

static void note(const volatile void *block, size_t bytes)
{
    (void)bytes;
    if (is_noting && block_count < most_blocks)
        memcpy(&blocks[block_count++], &block, sizeof block);
}

static void forget(const volatile void *block)
{
    for (int k = block_count - 1; is_noting && k >= 0; k--)
        if (blocks[k] == block) {
            blocks[k] = blocks[--block_count];
            return;
        }
}

static void begin_noting(void)
{
    static bool installed;
    static char buffer[BUFSIZ];
    if (!installed) { /* what stays: a variable that cli_parse sets, room for what is printed */
        setenv("ARGP_HELP_FMT", "no-dup-args-note", 0);
        setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    }
    if (!installed)
        installed = __sanitizer_install_malloc_and_free_hooks(note, forget) != 0;
    block_count = 0;
    is_noting = true;
}

static void end_noting(void)
{
    is_noting = false;
    while (block_count > 0)
        free(blocks[--block_count]);
}
#else
static void begin_noting(void)
{
}

static void end_noting(void)
{
}
#endif

static int split(char *text, char **words)
{
    int count = 0;
    for (char *rest = text; rest && count < most_words;)
        words[count++] = strsep(&rest, "\n");
    words[count] = NULL;
    return count;
}

static void run_until_read(const struct command *command, int count, char **words)
{
    is_in_command = true;
    if (setjmp(end_of_command) == 0)
        command->run(count, words);
    is_in_command = false;
}

static void run(char *text)
{
    char *words[most_words + 1], name[64];
    const int count = split(text, words);
    const struct command *command = command_named(program_commands, words[0]);
    if (!command)
        return;
    snprintf(name, sizeof name, "kith %s", command->name);
    words[0] = name;
    argp_program_version = "kith";
    begin_noting();
    run_until_read(command, count, words);
    end_noting();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    if (!text)
        abort();
    memcpy(text, data, size);
    text[size] = 0;
    run(text);
    free(text);
    return 0;
}
