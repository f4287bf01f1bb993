/* Every option of every command: what it does not take, with the words that say so, and what it
 * does. */

#include "testing.h"

#include <stdlib.h>

#include "program.h"

static int write_inputs(void **state)
{
    (void)state;
    program_write("s.csv", "x,y,z,m,q,softening\n0,0,0,3,1,0.1\n2,0,0,5,-1,0.2\n");
    program_write("flat.csv", "x,y\n0,0\n1,0\n");
    program_write("half.csv", "x,y,z\n0,0.5,0\n");
    program_write("beads.csv", "x,y,z\n0,0,0\n1,0,0\n0,0,0\n");
    program_write("a.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 2.5\n"
                           "2 1 -1\n2 2 4\n");
    program_write("empty.mtx", "%%MatrixMarket matrix coordinate real general\n0 0 0\n");
    assert_succeeded(program_run("matrix @s.csv --law distance -q -o @v.npy"));
    return 0;
}

static void test_values_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    static const char *const refused[][2] = {
        {"collisions a.npy --batch --frame 2", "--from --frame"},
        {"collisions a.npy --batch --from csv", "--from --frame"},
        {"collisions a.npy --batch --method hash", "--method"},
        {"collisions a.npy --batch --list l.csv", "--batch"},
        {"collisions a.npy --sequence HPH", "--contacts"},
        {"collisions a.csv b.csv", "'b.csv'"},
        {"collisions", "FILE"},
        {"convert a b c", "'c'"},
        {"collisions a --list l.png", "--list 'l.png' .csv"},
        {"convert a.csv b.png", "B 'b.png' .xyz .txt"},
        {"forces", "FILE"},
        {"forces a -o b", "-o 'b' .npy"},
        {"forces a -o ./b.d/c", "-o './b.d/c' .npy"},
        {"forces a -o b.png", "-o 'b.png' .csv .txt .npy"},
        {"make plummer -o b.png", "-o 'b.png' .csv .tipsy"},
        {"matrix a --law sum --reduce sum -o b.png", "-o 'b.png' .npy"},
        {"megno a --until 1 -o b.png", "-o 'b.png' .h5"},
        {"orbits a -o b.png", "-o 'b.png' .h5"},
        {"pairs a --cutoff 1 -o b.png", "-o 'b.png' .mtx"},
        {"run a --dt 1 --until 1 -o b.csv", "-o 'b.csv' H5MD .h5"},
        {"run a --dt 1 --until 1 -o -", "-o '-' H5MD"},
        {"sum a --out s=r -o b.png", "-o 'b.png' .csv"},
        {"forces a b", "'b'"},
        {"forces a --block 0", "--block 0 1 1024"},
        {"forces a --block 1025", "--block 1025 1 1024"},
        {"forces a --unroll 64", "--unroll 64 1 32"},
        {"forces a --sum twice", "--sum 'twice'"},
        {"matrix a --law sum --law product -o m.npy", "--law"},
        {"matrix a --law sum --potential r -o m.npy", "--law --potential"},
        {"matrix a --potential r --law sum -o m.npy", "--potential --law"},
        {"forces a --law sum --potential r", "coulomb"},
        {"run a --law coulomb --law coulomb", "coulomb"},
        {"forces a --law sum --law coulomb --law r", "coulomb"},
        {"forces a --potential r+", "--potential"},
        {"forces a --param k", "--param 'k' NAME=VALUE"},
        {"forces a --param k=", "k --param ''"},
        {"forces a --device cuda:x", "--device 'cuda:x'"},
        {"forces a --device cuda:-1", "--device 'cuda:-1'"},
        {"forces a --device cuda:", "--device 'cuda:'"},
        {"forces a --device cuda:1234567", "--device 'cuda:1234567'"},
        {"matrix a --law sum -o v.npy --block 0", "--block 0"},
        {"matrix a --law sum -o v.npy --block 4294967297", "--block 4294967297"},
        {"pairs a --nearest 0", "--nearest 0"},
        {"pairs a --nearest -1", "--nearest is -1"},
        {"pairs a --nearest 2.5", "--nearest '2.5'"},
        {"forces a --frame 1.5", "--frame '1.5'"},
        {"forces a --frame 99999999999999999999", "--frame '99999999999999999999'"},
        {"forces a --softening 1e999", "--softening '1e999'"},
        {"info more", "'more'"},
        {"make plummer disk", "'disk'"},
        {"make plummer --dimensions 4", "--dimensions 4 2 3"},
        {"make lattice-walk --batch 0", "--batch 0"},
        {"make galaxies --mass-ratio 0", "--mass-ratio 0"},
        {"matrix", "FILE"},
        {"matrix a", "--law"},
        {"matrix a --law sum --softening file", "matrix"},
        {"matrix a --law sum --symmetric --columns b", "--symmetric --columns"},
        {"matrix a --law sum --reduce sum --times b", "--reduce --histogram --times"},
        {"matrix a --histogram 0,1,2", "--histogram bin"},
        {"matrix a --histogram 5,2,1", "LO HI"},
        {"matrix a --histogram 5,2", "three numbers"},
        {"matrix a --histogram 5,1,2,3", "three numbers"},
        {"matrix a --memory 1000000000000000000000000000000000000000000000000000000000000000000G",
         "2000000 2G"},
        {"matrix a --memory -1", "--memory '-1'"},
        {"matrix a --memory xG", "--memory 'xG'"},
        {"matrix a --memory 2GG", "--memory '2GG'"},
        {"matrix a --memory infG", "--memory 'infG'"},
        {"matrix a --block 4294967297", "--block 4294967297 1 1024"},
        {"matrix a --block 0", "--block 0 1 1024"},
        {"matrix a --histogram x,0,1", "BINS --histogram 'x'"},
        {"matrix a --histogram 3,x,1", "LO --histogram 'x'"},
        {"matrix a --histogram 3,0,x", "HI --histogram 'x'"},
        {"multiply a b", "'b'"},
        {"multiply a --block 5", "--block 5 2 3 4"},
        {"multiply a --block 1", "--block 1 2 3 4"},
        {"multiply a --alpha x", "--alpha 'x'"},
        {"pairs", "FILE"},
        {"pairs a", "--cutoff"},
        {"pairs a --cutoff 1 --box 1,1 --box 1,1", "--box"},
        {"pairs a --cutoff 1 --cell 1,0,0,0,1,0,0,0,1,0", "9"},
        {"pairs a --cutoff 1 --box 1,0", "0"},
        {"pairs a --cutoff 1 --box 1,2,3,4", "2 3"},
        {"pairs a --cutoff 1 --periodic q", "--periodic 'q'"},
        {"pairs a --nearest 3 --half", "--half --nearest"},
        {"pairs a --cutoff 1 --count-only -o b", "--count-only"},
        {"plot a --what distances --box 1,2,3,4 -o b.png", "2 3"},
        {"run a --dt 1 --until 1 --units pc", "--units"},
        {"run a --dt 1 --until 1 --units pc,Myr,kg,A", "--units"},
        {"run --ensemble 3 --resume -o a.h5", "--ensemble"},
        {"tune --json -o -", "-o"},
    };
    for (size_t k = 0; k < sizeof refused / sizeof refused[0]; k++)
        assert_refused(program_run("%s", refused[k][0]), 2, refused[k][1]);
    char many[64 * 12] = "";
    for (int k = 0; k < 40; k++)
        strcat(many, "--param k=1 ");
    assert_refused(program_run("forces a %s", many), 2, "--param");
    assert_int_equal(program_run("%s", "")->exit_code, 2);
}

/* Every option with an integer: as digits, with a point or an exponent, and none other. */
static void test_whole_numbers_may_have_an_exponent(void **state)
{
    (void)state;
    static const char *const commands[][2] = {
        {"make plummer -o @n.csv -n ", ""},
        {"make plummer -n 5 -o @n.csv --seed ", ""},
        {"make lattice-walk -n 5 -o @n.npy --batch ", ""},
        {"forces @s.csv -o @f.csv --threads ", ""},
        {"forces @s.csv -o @f.csv --frame ", ""},
        {"forces plummer -o @f.csv -n ", ""},
        {"pairs @s.csv -o @p.csv --nearest ", ""},
        {"multiply @a.mtx --json --repeat ", ""},
        {"matrix @s.csv --law distance -o @h.csv --histogram ", ",0,3"},
        {"run six --dt 0.1 --until 0.1 --every ", ""},
        {"run six --dt 0.1 --until 0.1 --ensemble ", ""},
    };
    static const char *const whole[] = {"1", "1e0", "10e-1", "1.0", "+1", "0.1e+01", "1E0"};
    static const char *const none[] = {"1.5",  "1e99", "1e",      "e1",   "15e-1", "0x1", "1e0x",
                                       "1e19", "nan",  "1e99999", "1..0", "inf",   "1e-1"};
    for (size_t c = 0; c < sizeof commands / sizeof commands[0]; c++) {
        char command[256];
        for (size_t k = 0; k < sizeof whole / sizeof whole[0]; k++) {
            snprintf(command, sizeof command, "%s%s%s", commands[c][0], whole[k], commands[c][1]);
            const struct program_result *result = program_run("%s", command);
            if (result->exit_code != 0)
                fail_msg("%s: exit code %d, %s", command, result->exit_code, result->err);
        }
        for (size_t k = 0; k < sizeof none / sizeof none[0]; k++) {
            snprintf(command, sizeof command, "%s%s%s", commands[c][0], none[k], commands[c][1]);
            assert_refused(program_run("%s", command), 2, "");
        }
    }
}

static void assert_bodies(const char *number, double count)
{
    const struct program_result *result =
        program_run("forces plummer -n %s --device cpu --json", number);
    assert_succeeded(result);
    assert_true(program_json_number(result->out, "bodies") == count);
}

static void test_a_number_with_an_exponent_is_exact(void **state)
{
    (void)state;
    assert_bodies("1e3", 1000);
    assert_bodies("1e+03", 1000);
    assert_bodies("2.5e3", 2500);
    assert_bodies("0.0125e5", 1250);
    assert_bodies("12340e-1", 1234);
    assert_succeeded(program_run("make plummer -n 5 --seed 9007199254740993 -o @one.csv"));
    assert_succeeded(program_run("make plummer -n 5 --seed 9007199254740993e0 -o @two.csv"));
    char *one = program_read("one.csv"), *two = program_read("two.csv");
    assert_string_equal(one, two);
    free(one);
    free(two);
    assert_refused(program_run("make plummer -n 5 --seed 9223372036854775808e0"), 2, "--seed");
    assert_refused(program_run("plot a --frames 1.5:2 --what orbits -o a.svg"), 2, "--frames");
    assert_refused(program_run("plot a --frames 3:2 --what orbits -o a.svg"), 2, "--frames");
    assert_refused(program_run("plot a --frames 5 --what orbits -o a.svg"), 2, "--frames");
    assert_refused(program_run("plot @no.h5 --frames 1e0:2e1 --what orbits -o a.svg"), 1, "no.h5");
    assert_refused(program_run("plot @no.h5 --frames all --what orbits -o a.svg"), 1, "no.h5");
    assert_succeeded(program_run("bench forces -n 1e2 --seconds 0.001"));
}

static void test_input_that_does_not_fit_the_options_is_told(void **state)
{
    (void)state;
    static const char *const told[][2] = {
        {"forces @s.csv -q --device cpu --block 64 --method tile-p", "tile-p"},
        {"forces @s.csv --seed 3", "--number --seed"},
        {"forces six --system 2", "--system"},
        {"matrix @s.csv -q --law distance --times @v.npy", "2"},
        {"matrix @s.csv -q --law sum --g 2 -o @x.npy", "--g sum"},
        {"matrix @s.csv -q --law sum --columns @flat.csv -o @x.npy", "3 2"},
        {"matrix @s.csv -q --law sum --times @none.npy", "none.npy"},
        {"multiply @a.mtx -x @none.npy --json", "none.npy"},
        {"multiply @none.mtx --json", "none.mtx"},
        {"pairs @flat.csv --cutoff 1 --box 2,2 --periodic z", "--periodic z"},
        {"pairs @s.csv -q --cutoff 1 --box 2,2", "3"},
        {"pairs @flat.csv --cutoff 1 --cell 1,0,0,0,1,0,0,0,1", "4"},
        {"plot @none.csv --what chain -o @p.png", "none.csv"},
        {"plot @none.csv --what distances --cutoff 1 -o @p.png", "none.csv"},
        {"run six --dt 0.1 --until 0.1 -o @nowhere/a.h5", "nowhere"},
        {"collisions @half.csv", "0.5"},
    };
    for (size_t k = 0; k < sizeof told / sizeof told[0]; k++) {
        const struct program_result *result = program_run("%s", told[k][0]);
        if (result->exit_code != 1 || !has_fields(result->err, told[k][1]))
            fail_msg("kith %s: exit code %d, '%s', not '%s'", told[k][0], result->exit_code,
                     result->err, told[k][1]);
    }
}

/* What is printed, to the letter. */
static void test_options_do_what_they_say(void **state)
{
    (void)state;
    static const char *const printed[][2] = {
        {"collisions @beads.csv --from csv --frame 1", "1\n"},
        {"forces @s.csv -q --device auto --law coulomb --method reference",
         "ax,ay,az,potential\n0.083333333333333329,0,0,-0.5\n-0.050000000000000003,0,0,-0.5\n"},
        {"forces @s.csv -q --potential k*r --param k=3 --sum force",
         "ax,ay,az,potential\n1,0,0,6\n-0.59999999999999998,0,0,6\n"},
        {"forces @s.csv -q --frame 1 --method reference",
         "ax,ay,az,potential\n1.25,0,0,-2.5\n-0.75,0,0,-1.5\n"},
        {"matrix @s.csv -q --law distance --reduce argmin", "argmin\n1\n0\n"},
        {"matrix @s.csv -q --law distance --diagonal zero --reduce max", "max\n2\n2\n"},
        {"matrix @s.csv -q --law sum --histogram 2,0,8", "low,high,count\n0,4,0\n4,8,1\n"},
        {"pairs @s.csv -q --cutoff 3 --precision single --unsorted --half",
         "i,j,distance\n0,1,2\n"},
        {"pairs @s.csv -q --nearest 1 --cutoff 3", "i,j,distance\n0,1,2\n1,0,2\n"},
        {"pairs @s.csv -q --cutoff 3 --periodic none", "i,j,distance\n0,1,2\n1,0,2\n"},
        {"pairs @s.csv -q --cutoff 3 --box 5,5,5 --periodic none --count-only", "2\n"},
    };
    for (size_t k = 0; k < sizeof printed / sizeof printed[0]; k++) {
        const struct program_result *result = program_run("%s", printed[k][0]);
        if (result->exit_code != 0 || strcmp(result->out, printed[k][1]) != 0)
            fail_msg("kith %s: exit code %d, '%s%s', not '%s'", printed[k][0], result->exit_code,
                     result->out, result->err, printed[k][1]);
    }
}

static void test_more_options_are_taken(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "forces @s.csv --softening file --law coulomb --json",
        "forces @s.csv --softening file --solver tree --error 1e-3 --json",
        "make galaxies -n 20 --mass-ratio 0.5 --dimensions 3 -o @g.csv",
        "make lattice-walk -n 0 --batch 2 -o @w.npy",
        "matrix @s.csv -q --law distance --times @v.npy -o @w.npy",
        "matrix @s.csv -q --law distance --reduce argmin -o @w.npy",
        "matrix @s.csv -q --law sum --memory 1K -o @w.npy",
        "matrix @s.csv -q --law sum --memory 2000000000G --precision single -o @w.npy",
        "matrix @s.csv -q --law sum --columns @s.csv --json",
        "matrix @s.csv -q --potential m_i*r --reduce sum --json",
        "multiply @a.mtx -x @v.npy --alpha 2 -o @y.npy",
        "multiply @a.mtx --storage bsr --block 2 --json",
        "multiply @a.mtx --tune --json",
        "multiply @a.mtx --transpose --precision single -o @y.npy",
        "multiply @empty.mtx -o @y.npy",
        "pairs @s.csv -q --nearest 1 --json",
        "pairs @s.csv -q --cutoff 3 -o @p.mtx",
        "pairs @flat.csv --cutoff 3 --vectors --precision single -o @p.npy",
        "pairs @flat.csv --cutoff 1 --cell 2,0,0,2 --json",
        "run six --dt 0.1 --until 0.1 --units pc,Myr,Msun --quiet --json",
    };
    for (size_t k = 0; k < sizeof lines / sizeof lines[0]; k++) {
        const struct program_result *result = program_run("%s", lines[k]);
        if (result->exit_code != 0)
            fail_msg("kith %s: exit code %d, '%s'", lines[k], result->exit_code, result->err);
    }
    assert_non_null(
        strstr(program_run("pairs @s.csv -q --nearest 1 --json")->out, "\"cutoff\":\tnull"));
}

static void test_softening_lengths_that_nobody_asked_for_are_told(void **state)
{
    (void)state;
    const struct program_result *result = program_run("forces @s.csv -o @acc.csv");
    assert_succeeded(result);
    assert_non_null(strstr(result->err, "--softening file"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_that_make_no_sense_are_refused),
        cmocka_unit_test(test_whole_numbers_may_have_an_exponent),
        cmocka_unit_test(test_a_number_with_an_exponent_is_exact),
        cmocka_unit_test(test_input_that_does_not_fit_the_options_is_told),
        cmocka_unit_test(test_options_do_what_they_say),
        cmocka_unit_test(test_more_options_are_taken),
        cmocka_unit_test(test_softening_lengths_that_nobody_asked_for_are_told),
    };
    return cmocka_run_group_tests_name("options", tests, write_inputs, NULL);
}
