/* The options of kith run. */

#include "run_options.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "view.h"

static const struct choices outcomes = {"WHAT", {"merge", "bounce", "stop"}, NULL};

static const char documentation[] =
    "Integrate the motion of the bodies of FILE (or of a kind of kith make, or the systems of a "
    "directory) under gravity or any other law. Steps are fixed, or adaptive with ias15 and "
    "hermite-block.\v"
    "Examples:\n"
    "  kith make plummer -n 1000 -o plummer.csv\n"
    "  kith run plummer.csv --dt 0.01 --until 2 --softening 0.02 -o plummer.h5\n"
    "  kith run --resume --until 4 -o plummer.h5\n"
    "  kith run six --dt 0.001 --until 1 --steps-per-second 5000 --view\n"
    "  kith run six --ensemble 1000 --dt 0.001 --until 1 --every 100 -o many.h5\n"
    "  kith make two-body --eccentricity 0.99 -o comet.csv\n"
    "  kith run comet.csv --dt 0.01 --until 99 --integrator ias15 -o comet.h5\n"
    "  printf 'x,y,vx,vy,m,radius\\n0,0,0,0,1,0.1\\n1,0,0,0.3,0.1,0.1\\n' >two.csv\n"
    "  kith run two.csv --dt 0.001 --until 2 --collisions merge -o merged.h5\n"
    "  kith make solar-system -o planets.csv\n"
    "  kith run planets.csv --dt 5 --until 365250 --integrator whfast -o whfast.h5\n"
    "  kith run planets.csv --dt 5 --until 36525 --integrator hybrid -o hybrid.h5\n"
    "  kith make fcc -n 256 --density 0.84 --temperature 1.4 -o argon.xyz\n"
    "  kith run argon.xyz --law lennard-jones --cutoff 2.5 --dt 0.004 --until 1\n"
    "  kith make nacl -n 512 --density 1 -o salt.xyz\n"
    "  kith run salt.xyz --law coulomb --solver pme --dt 0.01 --until 0.1\n"
    "  mkdir systems\n"
    "  kith make six --seed 1 -o systems/1.csv\n"
    "  kith make six --seed 2 -o systems/2.csv\n"
    "  kith run systems/ --dt 0.001 --until 1 -o systems.h5\n\n"
    "The energy printed, total_energy in the output, is kinetic_energy, the sum of m v^2 / 2, plus "
    "potential_energy, the sum of the law's energy over all pairs. The energy of gravity is "
    "negative: -G m_i m_j / sqrt(r^2 + softening^2). The unit is mass length^2 / time^2 in the "
    "units "
    "of FILE (kith help units).\n"
    "In a build with MPI, mpirun -n 8 kith run ... divides the work of the solvers direct, "
    "tree, fmm and cutoff among 8 processes.\n"
    "An ensemble is a set of independent systems with the same number of bodies (at most 64): from "
    "--ensemble, or from the files of a directory, sorted by name. The output stores them one "
    "after "
    "the other. The printed energies are sums over the systems; the errors are those of the worst "
    "system.\n"
    "Bodies that merge or escape are removed: their coordinates are NaN in later frames, and kith "
    "convert writes the remaining bodies. Mergers and escapes change the energy; the printed error "
    "includes that change. Events are in parameters/kith/events of the output.\n"
    "--device auto chooses by the number of bodies: with fewer than about 64, a CPU takes more "
    "steps "
    "per second than a GPU.\n"
    "SIGINT (Ctrl-C), SIGTERM and SIGHUP end the run after a checkpoint of the last complete step, "
    "with exit status 130 (SIGINT) or 143; a second Ctrl-C ends it immediately. The output is locked: "
    "a "
    "second run cannot write to it at the same time.";

/* A run is always H5MD: another format's extension would promise something else. */
static bool names_h5md(const char *output)
{
    static const char *const extensions[] = {".h5", ".h5md", ".hdf5"};
    const char *dot = strrchr(output, '.');
    for (int k = 0; dot && k < 3; k++)
        if (strcasecmp(dot, extensions[k]) == 0)
            return true;
    return !dot || strchr(dot, '/');
}

static void check_output(const char *output, const struct argp_state *state)
{
    if (strcmp(output, "-") == 0)
        cli_usage_error(state, "-o is '-', but a run is written as H5MD, which cannot be streamed; "
                               "name it .h5 or .h5md");
    if (!names_h5md(output))
        cli_usage_error(state, "-o is '%s', but a run is written as H5MD; name it .h5 or .h5md",
                        output);
}

static void check(void *options, const struct argp_state *state)
{
    struct run_options *run = options;
    const bool resume = run->run.resume;
    if (resume && !run->run.output)
        cli_usage_error(state, "--resume needs -o FILE: the output to continue");
    if (!run->input.path && !resume)
        cli_usage_error(state, "FILE is missing: the bodies to start from");
    if (run->ensemble_given && !run->input.path)
        cli_usage_error(state, "--ensemble needs a kind of kith make: kith run KIND --ensemble M");
    if (!run->input.path && run->cutoff.cell.count > 0)
        cli_usage_error(state, "%s is given without FILE; a resumed run has its own cell",
                        run->cutoff.cell.is_box ? "--box" : "--cell");
    if (run->run.simulation.dt == 0 && !(resume && !run->input.path))
        cli_usage_error(state, "--dt is missing: the length of a step");
    if (run->view.steps_per_second > 0 && !run->view_given)
        cli_usage_error(state, "--steps-per-second needs --view");
    if (!run->until_given && !(resume && !run->input.path))
        cli_usage_error(state, "--until is missing: the time to run to");
    if (run->run.simulation.skin > 0 && run->cutoff.cutoff == 0 && !resume)
        cli_usage_error(state, "--skin is given without --cutoff; give both or none");
    run->cutoff.has_images = cli_has_images(run->run.simulation.forces.solver);
    if (!run->cutoff.has_images && !resume)
        ewald_check_unused(&run->ewald, run->cutoff.cutoff > 0, state);
    if (run->run.pressure_every > 0 && !run->run.output)
        cli_usage_error(state, "--pressure-every needs -o FILE, where pressures are recorded");
    if (run->run.output)
        check_output(run->run.output, state);
    if (run->restitution_given && run->run.simulation.on_collision != KITH_ON_COLLISION_BOUNCE)
        cli_usage_error(state, "--restitution needs --collisions bounce");
    if (run->run.every > 0 && run->run.every_time > 0)
        cli_usage_error(state, "--every and --every-time are given; give one of them");
}

#define AT(member)    OPTION_AT(struct run_options, member)
#define GIVEN(member) OPTION_GIVEN(struct run_options, member)

static void set_solver(void *options, const char *option, const char *text,
                       const struct argp_state *state)
{
    struct run_options *run = options;
    (void)option;
    run->run.simulation.forces.solver = cli_parse_solver(text, state);
}

static void set_thermostat(void *options, const char *option, const char *text,
                           const struct argp_state *state)
{
    struct run_options *run = options;
    (void)option;
    if (kith_thermostat_parse(text, &run->run.simulation.thermostat) != KITH_OK)
        cli_usage_error(state, "--%s", kith_error_message());
}

static void set_units(void *options, const char *option, const char *text,
                      const struct argp_state *state)
{
    struct run_options *run = options;
    int count = 0;
    char *rest = NULL;
    free(run->units);
    run->units = cli_copy(text, state);
    for (char *word = strtok_r(run->units, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
        if (count < 3 && strlen(word) < KITH_NAME_BYTES)
            run->run.units[count++] = word;
        else
            cli_usage_error(state, "%s is '%s'; give two or three short names: LENGTH,TIME[,MASS]",
                            option, text);
    }
    if (count < 2)
        cli_usage_error(state, "%s is '%s'; give two or three names: LENGTH,TIME[,MASS]", option,
                        text);
}

static void set_collisions(void *options, const char *option, const char *text,
                           const struct argp_state *state)
{
    struct run_options *run = options;
    run->run.simulation.on_collision =
        (kith_on_collision)(KITH_ON_COLLISION_MERGE +
                            cli_parse_choice(option, text, &outcomes, state));
}

static void set_restitution(void *options, const char *option, const char *text,
                            const struct argp_state *state)
{
    struct run_options *run = options;
    const double restitution = cli_parse_real(option, text, state);
    if (!(restitution >= 0 && restitution <= 1))
        cli_usage_error(state, "%s is %s; give a number from 0 to 1", option, text);
    run->run.simulation.restitution = restitution;
}

static void set_view(void *options, const char *option, const char *text,
                     const struct argp_state *state)
{
    struct run_options *run = options;
    run->view.port = text ? view_parse_port(option, text, state) : 0;
}

static const struct option_row option_rows[] = {
    {"dt", "D", "length of a step; of ias15 the first, of hermite-block the longest",
     AT(run.simulation.dt), .positive = true},
    {"until", "T", "time of the end; the last step is shortened to reach it exactly", AT(run.until),
     GIVEN(until_given)},
    {"integrator", NULL, "see below (default: leapfrog)", AT(run.simulation.integrator),
     .choices = &choices_of_integrators},
    {"solver", NULL, "see below (default: auto: direct, unless an accuracy is given)",
     .choices = &choices_of_solvers, .set = set_solver},
    {"thermostat", "KIND:T,TAU[,SEED]",
     "hold the temperature at T, in units of energy, with the correlation time TAU; KIND is "
     "langevin (friction and noise on each body) or bussi (one random factor for all velocities)",
     .set = set_thermostat},
    {"every", "K", "a frame and its observables every K steps (default: about 1000 frames in all)",
     AT(run.every), .least = 1},
    {"every-time", "T",
     "a frame at every multiple of T after the start, which a fixed step must divide; steps of "
     "ias15 stay the same, but those of ensembles end there",
     AT(run.every_time), .positive = true},
    {"pressure-every", "K",
     "with --cutoff, ewald or pme: record temperature, pressure and virial every K steps, in "
     "parameters/kith/pressure of FILE (default: in frames only)",
     AT(run.pressure_every), .least = 1},
    {"wrap", NULL,
     "write positions within the periodic cell, and which image of the cell each body is in "
     "(particles/trajectory/image); kith reads them back unwrapped",
     AT(run.wrap)},
    {"skin", "S",
     "with --cutoff: the neighbor list includes pairs within the cutoff + S, and is rebuilt when "
     "a body has moved by S/2; results do not depend on S (default: adapted during the run)",
     AT(run.simulation.skin), .positive = true},
    {"substeps", "K",
     "with leapfrog and ewald or pme: a step evaluates the mesh once and the pairs within the "
     "cutoff K times, in K shorter steps (r-RESPA; default: 1)",
     AT(run.simulation.substeps), .least = 1, .most = KITH_MOST_SUBSTEPS},
    {"eta", "ETA",
     "of hermite-block: the accuracy of the steps; the square of a step is eta times the square "
     "of the time scale of a body's acceleration (default: 0.02)",
     AT(run.simulation.eta), .positive = true},
    {"collisions", NULL,
     "merge, bounce or stop; when two bodies touch (the sum of their radii, column radius): the "
     "heavier body absorbs the other, they bounce, or the run stops (default: no collisions)",
     .choices = &outcomes, .set = set_collisions},
    {"restitution", "E",
     "of --collisions bounce: speed of separation over speed of approach, 0 to 1 (default: 1)",
     GIVEN(restitution_given), .set = set_restitution},
    {"encounter", "D", "record an event when two bodies pass each other at a distance less than D",
     AT(run.simulation.encounter), .positive = true},
    {"escape", "R", "remove bodies farther than R from the center of mass, and record an event",
     AT(run.simulation.escape), .positive = true},
    {"output", "FILE", "write an H5MD trajectory to FILE (default: nothing is kept)",
     AT(run.output), .letter = 'o'},
    {"checkpoint-every", "SECONDS",
     "write a checkpoint to FILE about every SECONDS, between two steps; less often if "
     "checkpoints would take more than 5 % of the time (default: 10)",
     AT(run.checkpoint_seconds), .positive = true},
    {"units", "LENGTH,TIME[,MASS]",
     "names of the units, for plots and readers: --units AU,day,Msun", .set = set_units},
    {"ensemble", "M", "M independent systems of a kind of kith make, from M consecutive seeds",
     AT(systems), GIVEN(ensemble_given)},
    {"resume", NULL,
     "continue from the checkpoint in the output file with the same bits; start from the bodies "
     "if the file does not exist",
     AT(run.resume)},
    {"view", "PORT",
     "show the run in a browser, at a printed address on this machine (default PORT: 0, any free "
     "port)",
     GIVEN(view_given), .set = set_view, .optional = true},
    {"steps-per-second", "R", "take at most R steps per second, for --view",
     AT(view.steps_per_second), .positive = true},
    {0}};

static const struct option_group groups[] = {
    {&accuracy_parser, "Accuracy:", 1,
     offsetof(struct run_options, run.simulation.forces.accuracy)},
    {&planets_parser, "Planets, for whfast:", 3, offsetof(struct run_options, run.simulation)},
    {&cutoff_parser, "Cutoff and cell:", 4, offsetof(struct run_options, cutoff)},
    {&ewald_parser, NULL, 2, offsetof(struct run_options, ewald)},
    {&law_parser, "Law:", 5, offsetof(struct run_options, law)},
    {&input_parser, "Bodies and gravity:", 6, offsetof(struct run_options, input)},
    {&common_parser, "Common options:", 7, offsetof(struct run_options, common)},
    {0}};

static char *tables(void)
{
    return cli_join_help(cli_help_table("Integrators:", choices_of_integrators.row),
                         cli_join_help(cli_solver_help(), law_help_table()));
}

const struct parser run_parser = {
    option_rows, groups, check, "FILE --dt D --until T\n--resume -o OUTPUT", documentation, tables};
