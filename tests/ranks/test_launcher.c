/* The program started as one of several processes, by the environment of mpirun and srun. */

#include <stdio.h>
#include <stdlib.h>

#include "program.h"

static const char *const names[] = {
    "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "PMI_SIZE",    "PMI_RANK",
    "MV2_COMM_WORLD_SIZE",  "MV2_COMM_WORLD_RANK",  "PMIX_RANK",   "SLURM_STEP_NUM_TASKS",
    "SLURM_NTASKS",         "SLURM_PROCID",         "ENVIRONMENT",
};

/* An ordinary process, and then the settings: "NAME=VALUE NAME=VALUE". */
static void set_environment(const char *settings)
{
    char text[256], *rest = NULL;
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++)
        unsetenv(names[k]);
    snprintf(text, sizeof text, "%s", settings);
    for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        char *value = strchr(word, '=');
        *value = 0;
        setenv(word, value + 1, 1);
    }
}

static void test_several_processes_are_refused_before_anything_is_written(void **state)
{
    (void)state;
    static const char *const launched[] = {
        "OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_RANK=0",
        "OMPI_COMM_WORLD_SIZE=2",
        "PMI_SIZE=3 PMI_RANK=0",
        "MV2_COMM_WORLD_SIZE=2",
        "PMIX_RANK=0",
        "SLURM_STEP_NUM_TASKS=2 SLURM_PROCID=0 ENVIRONMENT=BATCH",
        "SLURM_NTASKS=2 SLURM_PROCID=0",
    };
    static const char *const commands[] = {"make six -o @out", "convert @bodies.csv @out",
                                           "pairs @bodies.csv --cutoff 1 -o @out",
                                           "matrix @bodies.csv --law gravity -o @out", "info"};
    program_write("bodies.csv", "x,y,z,m\n0,0,0,3\n2,0,0,5\n");
    for (size_t k = 0; k < sizeof launched / sizeof launched[0]; k++) {
        set_environment(launched[k]);
        const char *command = commands[k % (sizeof commands / sizeof commands[0])];
        const struct program_result *result = program_run("%s", command);
        assert_refused(result, 1, "MPI");
        assert_string_equal(result->out, "");
        assert_false(program_exists("out"));
    }
}

/* Without MPI, or with an MPI that finds one process. */
static void test_divided_work_needs_the_mpi_of_the_launcher(void **state)
{
    (void)state;
    static const char *const launched[] = {"OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_RANK=0",
                                           "SLURM_NTASKS=2 SLURM_PROCID=0"};
    for (size_t k = 0; k < 2; k++) {
        set_environment(launched[k]);
        assert_refused(program_run("forces @bodies.csv -o @out"), 1, "MPI");
        assert_refused(program_run("run six --dt 0.1 --until 1 -o @out.h5"), 1, "MPI");
        assert_false(program_exists("out") || program_exists("out.h5"));
    }
}

static void test_only_the_first_process_prints_why(void **state)
{
    (void)state;
    set_environment("OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_RANK=2");
    const struct program_result *result = program_run("make six -o @out");
    assert_int_equal(result->exit_code, 1);
    assert_string_equal(result->err, "");
    assert_false(program_exists("out"));
}

static void test_one_process_and_batch_scripts_do_the_work(void **state)
{
    (void)state;
    static const char *const ordinary[] = {
        "",
        "OMPI_COMM_WORLD_SIZE=1 OMPI_COMM_WORLD_RANK=0 PMIX_RANK=0 SLURM_NTASKS=2 SLURM_PROCID=0",
        "SLURM_STEP_NUM_TASKS=1 SLURM_NTASKS=8 SLURM_PROCID=0",
        "SLURM_NTASKS=8 SLURM_PROCID=0 ENVIRONMENT=BATCH",
        "SLURM_NTASKS=8",
        "PMI_SIZE=none",
    };
    for (size_t k = 0; k < sizeof ordinary / sizeof ordinary[0]; k++) {
        set_environment(ordinary[k]);
        const struct program_result *result = program_run("make six -o @six%zu.csv", k);
        assert_succeeded(result);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_several_processes_are_refused_before_anything_is_written),
        cmocka_unit_test(test_divided_work_needs_the_mpi_of_the_launcher),
        cmocka_unit_test(test_only_the_first_process_prints_why),
        cmocka_unit_test(test_one_process_and_batch_scripts_do_the_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
