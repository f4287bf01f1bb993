/* The options of kith run. */

#include "run_options.h"

#include <stdlib.h>
#include <string.h>

#include "names.h"
#include "view.h"

enum {
    key_units = 0x6100,
    key_ensemble,
    key_dt,
    key_until,
    key_integrator,
    key_solver,
    key_thermostat,
    key_every,
    key_every_time,
    key_pressure,
    key_wrap,
    key_eta,
    key_collisions,
    key_restitution,
    key_encounter,
    key_escape,
    key_checkpoint,
    key_resume,
    key_skin,
    key_substeps,
    key_view,
    key_rate
};

static const struct choices outcomes = {"WHAT", {"merge", "bounce", "stop"}, NULL};

static const struct argp_option options[] = {
    {"dt", key_dt, "D", 0, "length of a step; of ias15 the first, of hermite-block the longest", 0},
    {"until", key_until, "T", 0, "time of the end; the last step is shortened to reach it exactly",
     0},
    {"integrator", key_integrator, CHOICES(choices_of_integrators), "see below (default: leapfrog)",
     0},
    {"solver", key_solver, CHOICES(choices_of_solvers),
     "see below (default: auto: direct, unless an accuracy is given)", 0},
    {"thermostat", key_thermostat, "KIND:T,TAU[,SEED]", 0,
     "hold the temperature at T, in units of energy, with the correlation time TAU; KIND is "
     "langevin (friction and noise on each body) or bussi (one random factor for all velocities)",
     0},
    {"every", key_every, "K", 0,
     "a frame and its observables every K steps (default: about 1000 frames in all)", 0},
    {"every-time", key_every_time, "T", 0,
     "a frame at every multiple of T after the start, which a fixed step must divide; steps of "
     "ias15 stay the same, but those of ensembles end there",
     0},
    {"pressure-every", key_pressure, "K", 0,
     "with --cutoff, ewald or pme: record temperature, pressure and virial every K steps, in "
     "parameters/kith/pressure of FILE (default: in frames only)",
     0},
    {"wrap", key_wrap, NULL, 0,
     "write positions within the periodic cell, and which image of the cell each body is in "
     "(particles/trajectory/image); kith reads them back unwrapped",
     0},
    {"skin", key_skin, "S", 0,
     "with --cutoff: the neighbor list includes pairs within the cutoff + S, and is rebuilt when "
     "a body has moved by S/2; results do not depend on S (default: adapted during the run)",
     0},
    {"substeps", key_substeps, "K", 0,
     "with leapfrog and ewald or pme: a step evaluates the mesh once and the pairs within the cutoff "
     "K times, in K shorter steps (r-RESPA; default: 1)",
     0},
    {"eta", key_eta, "ETA", 0,
     "of hermite-block: the accuracy of the steps; the square of a step is eta times the square "
     "of the time scale of a body's acceleration (default: 0.02)",
     0},
    {"collisions", key_collisions, CHOICES(outcomes),
     "merge, bounce or stop; when two bodies touch (the sum of their radii, column radius): the "
     "heavier body absorbs the other, they bounce, or the run stops (default: no collisions)",
     0},
    {"restitution", key_restitution, "E", 0,
     "of --collisions bounce: speed of separation over speed of approach, 0 to 1 (default: 1)", 0},
    {"encounter", key_encounter, "D", 0,
     "record an event when two bodies pass each other at a distance less than D", 0},
    {"escape", key_escape, "R", 0,
     "remove bodies farther than R from the center of mass, and record an event", 0},
    {"output", 'o', "FILE", 0, "write an H5MD trajectory to FILE (default: nothing is kept)", 0},
    {"checkpoint-every", key_checkpoint, "SECONDS", 0,
     "write a checkpoint to FILE about every SECONDS, between two steps; less often if "
     "checkpoints would take more than 5 % of the time (default: 10)",
     0},
    {"units", key_units, "LENGTH,TIME[,MASS]", 0,
     "names of the units, for plots and readers: --units AU,day,Msun", 0},
    {"ensemble", key_ensemble, "M", 0,
     "M independent systems of a kind of kith make, from M consecutive seeds", 0},
    {"resume", key_resume, NULL, 0,
     "continue from the checkpoint in the output file with the same bits; start from the bodies "
     "if the file does not exist",
     0},
    {"view", key_view, "PORT", OPTION_ARG_OPTIONAL,
     "show the run in a browser, at a printed address on this machine (default PORT: 0, any free "
     "port)",
     0},
    {"steps-per-second", key_rate, "R", 0, "take at most R steps per second, for --view", 0},
    {0}};

static const struct argp_child children[] = {{&accuracy_argp, 0, "Accuracy:", 1},
                                             {&planets_argp, 0, "Planets, for whfast:", 3},
                                             {&cutoff_argp, 0, "Cutoff and cell:", 4},
                                             {&ewald_argp, 0, NULL, 2},
                                             {&law_argp, 0, "Law:", 5},
                                             {&input_argp, 0, "Bodies and gravity:", 6},
                                             {&common_argp, 0, "Common options:", 7},
                                             {0}};

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

static void parse_argument(struct run_options *run, const struct argp_state *state)
{
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
    if (run->restitution_given && run->run.simulation.on_collision != KITH_ON_COLLISION_BOUNCE)
        cli_usage_error(state, "--restitution needs --collisions bounce");
    if (run->run.every > 0 && run->run.every_time > 0)
        cli_usage_error(state, "--every and --every-time are given; give one of them");
}

static int64_t parse_every(const char *option, const char *text, const struct argp_state *state)
{
    const int64_t every = cli_parse_count(option, text, state);
    if (every == 0)
        cli_usage_error(state, "%s is 0; give a number of steps of at least 1", option);
    return every;
}

static int32_t parse_substeps(const char *text, const struct argp_state *state)
{
    const int64_t count = cli_parse_count("--substeps", text, state);
    if (count < 1 || count > KITH_MOST_SUBSTEPS)
        cli_usage_error(state, "--substeps is %s; give a number from 1 to %d", text,
                        KITH_MOST_SUBSTEPS);
    return (int32_t)count;
}

static void parse_units(const char *text, struct run_options *run, const struct argp_state *state)
{
    int count = 0;
    char *rest = NULL;
    free(run->units);
    run->units = cli_copy(text, state);
    for (char *word = strtok_r(run->units, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
        if (count < 3 && strlen(word) < KITH_NAME_BYTES)
            run->run.units[count++] = word;
        else
            cli_usage_error(
                state, "--units is '%s'; give two or three short names: LENGTH,TIME[,MASS]", text);
    }
    if (count < 2)
        cli_usage_error(state, "--units is '%s'; give two or three names: LENGTH,TIME[,MASS]",
                        text);
}

static kith_on_collision parse_collisions(const char *text, const struct argp_state *state)
{
    return (kith_on_collision)(KITH_ON_COLLISION_MERGE +
                               cli_parse_choice("--collisions", text, &outcomes, state));
}

static double parse_restitution(const char *text, const struct argp_state *state)
{
    const double restitution = cli_parse_real("--restitution", text, state);
    if (!(restitution >= 0 && restitution <= 1))
        cli_usage_error(state, "--restitution is %s; give a number from 0 to 1", text);
    return restitution;
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct run_options *run = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &run->run.simulation.forces.accuracy;
        state->child_inputs[1] = &run->run.simulation;
        state->child_inputs[2] = &run->cutoff;
        state->child_inputs[3] = &run->ewald;
        state->child_inputs[4] = &run->law;
        state->child_inputs[5] = &run->input;
        state->child_inputs[6] = &run->common;
        return 0;
    case key_dt:
        run->run.simulation.dt = cli_parse_positive("--dt", argument, state);
        return 0;
    case key_until:
        run->run.until = cli_parse_real("--until", argument, state);
        run->until_given = true;
        return 0;
    case key_integrator:
        run->run.simulation.integrator =
            cli_parse_word("--integrator", argument, &choices_of_integrators, state);
        return 0;
    case key_solver:
        run->run.simulation.forces.solver = cli_parse_solver(argument, state);
        return 0;
    case key_thermostat:
        if (kith_thermostat_parse(argument, &run->run.simulation.thermostat) != KITH_OK)
            cli_usage_error(state, "--%s", kith_error_message());
        return 0;
    case key_every:
        run->run.every = parse_every("--every", argument, state);
        return 0;
    case key_every_time:
        run->run.every_time = cli_parse_positive("--every-time", argument, state);
        return 0;
    case key_pressure:
        run->run.pressure_every = parse_every("--pressure-every", argument, state);
        return 0;
    case key_wrap:
        run->run.wrap = true;
        return 0;
    case key_skin:
        run->run.simulation.skin = cli_parse_positive("--skin", argument, state);
        return 0;
    case key_substeps:
        run->run.simulation.substeps = parse_substeps(argument, state);
        return 0;
    case key_eta:
        run->run.simulation.eta = cli_parse_positive("--eta", argument, state);
        return 0;
    case key_collisions:
        run->run.simulation.on_collision = parse_collisions(argument, state);
        return 0;
    case key_restitution:
        run->run.simulation.restitution = parse_restitution(argument, state);
        run->restitution_given = true;
        return 0;
    case key_encounter:
        run->run.simulation.encounter = cli_parse_positive("--encounter", argument, state);
        return 0;
    case key_escape:
        run->run.simulation.escape = cli_parse_positive("--escape", argument, state);
        return 0;
    case 'o':
        run->run.output = argument;
        return 0;
    case key_checkpoint:
        run->run.checkpoint_seconds = cli_parse_positive("--checkpoint-every", argument, state);
        return 0;
    case key_units:
        parse_units(argument, run, state);
        return 0;
    case key_ensemble:
        run->systems = cli_parse_count("--ensemble", argument, state);
        run->ensemble_given = true;
        return 0;
    case key_resume:
        run->run.resume = true;
        return 0;
    case key_view:
        run->view_given = true;
        run->view.port = argument ? view_parse_port("--view", argument, state) : 0;
        return 0;
    case key_rate:
        run->view.steps_per_second = cli_parse_positive("--steps-per-second", argument, state);
        return 0;
    case ARGP_KEY_END:
        parse_argument(run, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static char *filter_help(int key, const char *text, void *input)
{
    if (key == ARGP_KEY_HELP_EXTRA)
        return cli_join_help(cli_help_table("Integrators:", choices_of_integrators.row),
                             cli_join_help(cli_solver_help(), law_help_table()));
    return cli_filter_help(key, text, input);
}

const struct argp run_argp = {options,       parse,    "FILE --dt D --until T\n--resume -o OUTPUT",
                              documentation, children, filter_help,
                              NULL};
