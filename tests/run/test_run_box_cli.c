/* kith run in a box as the command line has it: small systems, wide cutoffs, and mistakes. */

#include "testing.h"

#include "program.h"

static const char law[] = "--law lennard-jones --dt 0.001 --until 0.01";

static void write_bodies(void)
{
    program_write("none.csv", "x,y,z,m\n");
    program_write("one.csv", "x,y,z,m\n0,0,0,1\n");
    program_write("two.csv", "x,y,z,vx,vy,vz,m\n0,0,0,1,0,0,1\n1.1,0,0,-1,0,0,2\n");
    program_write("nan.csv", "x,y,z,m\n0,0,0,1\n1,0,0,nan\n");
}

/* The cutoff is several times the box: images of images, and of a particle itself. */
static void test_few_particles_in_a_box_smaller_than_the_cutoff(void **state)
{
    (void)state;
    static const char *const names[] = {"none", "one", "two"};
    static const char *const thermostats[] = {"", "--thermostat bussi:1,0.1",
                                              "--thermostat langevin:1,0.1,3"};
    write_bodies();
    for (int n = 0; n < 3; n++)
        for (int t = 0; t < 3; t++) {
            char command[256];
            snprintf(command, sizeof command,
                     "run @%s.csv %s --cutoff 7 --box 2.2,2.2,2.2 %s -q -o @few.h5", names[n], law,
                     thermostats[t]);
            assert_succeeded(program_run("%s", command));
        }
}

static void test_mistakes_are_told_in_one_line(void **state)
{
    (void)state;
    static const struct {
        const char *arguments, *words;
        int code;
    } wrong[] = {
        {"@two.csv --cutoff 2 --periodic xyz", "--periodic", 1},
        {"@two.csv --box 5,5,5", "--cutoff", 1},
        {"@two.csv --cutoff -2 --box 5,5,5", "--cutoff -2", 2},
        {"@two.csv --cutoff nan --box 5,5,5", "--cutoff 'nan'", 2},
        {"@two.csv --cutoff 2 --box 5,-5,5", "--box '5,-5,5'", 2},
        {"@two.csv --cutoff 2 --box 5,5,5 --skin -1", "--skin -1", 2},
        {"@two.csv --cutoff 2 --box 5,5,5 --thermostat bussi:-1,1", "--thermostat 'bussi:-1,1'", 2},
        {"@two.csv --cutoff 2 --box 5,5,5 --thermostat nose:1,1", "--thermostat 'nose:1,1'", 2},
        {"@two.csv --cutoff 2 --box 5,5,5 --thermostat bussi:1,1 --integrator rk4",
         "integrator rk4 rk4", 1},
        {"@two.csv --tail --box 5,5,5", "--tail --cutoff", 2},
        {"@nan.csv --cutoff 2 --box 5,5,5", "m line 3 'nan'", 1},
    };
    write_bodies();
    for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++) {
        char command[256];
        snprintf(command, sizeof command, "run %s %s", wrong[k].arguments, law);
        assert_refused(program_run("%s", command), wrong[k].code, wrong[k].words);
    }
    assert_refused(program_run("make fcc -n 32 --temperature -1 -o @cold.xyz"), 1,
                   "temperature -1");
    assert_refused(program_run("make fcc -n 32 --density -1 -o @thin.xyz"), 2, "--density -1");
    assert_refused(program_run("sum @two.csv --cutoff 2 --out a=k_j*r -o @s.csv"), 1, "'k_j'");
    assert_refused(program_run("sum @two.csv --cutoff 2 --periodic xyz --out a=r -o @s.csv"), 1,
                   "--periodic");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_few_particles_in_a_box_smaller_than_the_cutoff),
        cmocka_unit_test(test_mistakes_are_told_in_one_line),
    };
    return cmocka_run_group_tests_name("run_box_cli", tests, NULL, NULL);
}
