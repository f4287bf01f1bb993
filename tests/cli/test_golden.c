/* Whole messages, as people read them. They are in messages.txt. */
#include "program.h"

#include <stdio.h>
#include <stdlib.h>

enum { line_bytes = 512 };

static void make_inputs(void)
{
    program_write("two.csv", "x,y,z,m\n0,0,0,1\n0.5,0,0,2\n");
    program_write("far.csv", "x,y,z\n1e300,0,0\n-1e300,0,0\n");
    program_write("short.csv", "x,y,z\n0,0,0\n1,2\n");
    program_write("text.csv", "x,y,z\n0,a,0\n");
    program_write("bad.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 1\n");
}

/* The text with "@" for the folder of the test's files. */
static void shorten(char *text)
{
    const char *folder = program_file("");
    for (char *at = text; (at = strstr(at, folder));) {
        *at++ = '@';
        memmove(at, at + strlen(folder) - 1, strlen(at + strlen(folder) - 1) + 1);
    }
}

static bool next_line(FILE *file, char *line)
{
    while (fgets(line, line_bytes, file))
        if (line[0] != '#')
            return true;
    return false;
}

static void test_messages_are_those_of_the_file(void **state)
{
    (void)state;
    make_inputs();
    FILE *file = fopen(MESSAGES, "r");
    assert_non_null(file);
    char command[line_bytes], wanted[line_bytes],
        found[sizeof((struct program_result *)0)->err + 8];
    int wrong = 0, count = 0;
    for (; next_line(file, command); count++) {
        assert_true(next_line(file, wanted));
        command[strcspn(command, "\n")] = 0;
        assert_memory_equal(command, "$ ", 2);
        struct program_result *result = program_run("%s", command + 2);
        shorten(result->err);
        snprintf(found, sizeof found, "%d %s", result->exit_code, result->err);
        if (strcmp(found, wanted) != 0 && ++wrong)
            print_error("%s\nwrites  %s instead of  %s", command, found, wanted);
    }
    fclose(file);
    assert_true(count >= 20);
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_messages_are_those_of_the_file)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
