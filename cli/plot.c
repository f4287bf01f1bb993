/* kith plot: pictures of a run, drawn by gnuplot or painted here. */

#include "plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gnuplot.h"
#include "names.h"
#include "orbit_options.h"
#include "streams.h"

static const struct plot_kind kinds[] = {
    {"orbits", "paths in the x-y plane; the last frame if there are many bodies", "png svg gif",
     1200, false, false, 54, plot_draw_orbits},
    {"planes", "the same in the x-y, x-z and y-z planes, at one scale", "png svg gif", 1800, false,
     false, 95, plot_draw_planes},
    {"3d", "the same in space, with the shadow on the floor", "png svg gif", 1200, false, false, 62,
     plot_draw_space},
    {"energy",
     "relative error of the total energy against time; of an ensemble the median of its systems, "
     "and their range",
     "png svg gif", 1200, false, false, 54, plot_draw_energy},
    {"elements",
     "orbital elements about the first body against time: semi-major axis, eccentricity, "
     "inclination, and with --resonance an angle",
     "png svg gif", 1200, false, false, 54, plot_draw_elements},
    {"megno",
     "of a CSV file from kith megno: MEGNO and the Lyapunov time, time over growth, against time",
     "png svg gif", 1200, true, false, 54, plot_draw_megno},
    {"animation", "the bodies in motion; trails if there are few", "gif", 640, false, false, 45,
     plot_draw_animation},
    {"scene",
     "the bodies in motion as one self-contained page for a browser, as kith view shows it", "html",
     0, false, false, 0, plot_draw_scene},
    {"density",
     "of a run's last frame, or a file of bodies: surface density, the mass along the line of "
     "sight",
     "png", 1200, true, false, 0, plot_draw_density},
    {"film",
     "the same in motion, 30 frames of the run per second or as many --seconds as given, by ffmpeg",
     "mp4 webm gif", 1920, false, false, 0, plot_draw_film},
    {"chain", "beads of a file of bodies, bonded in their order: a fold on a lattice",
     "png svg gif", 900, true, false, 45, plot_draw_chain},
    {"distances",
     "of a file of bodies: g(r), the density of pairs up to --cutoff relative to a uniform "
     "distribution in the periodic cell; in open space neighbors per unit volume",
     "png svg gif", 1200, true, true, 54, plot_draw_distances},
    {"neighbors", "of a file of bodies: histogram of the number of neighbors within --cutoff",
     "png svg gif", 1200, true, true, 54, plot_draw_neighbors},
    {"spy", "positions of the entries of a Matrix Market file, darker where denser", "png svg gif",
     1000, true, false, 50, plot_draw_spy},
    {"row-lengths",
     "of such a file: number of rows with at least n entries; a line marks a third of the rows",
     "png svg gif", 1000, true, false, 50, plot_draw_row_lengths},
};

enum { kind_count = sizeof kinds / sizeof kinds[0] };

enum { smallest_side = 160, largest_side = 8000, longest_film = 36000 };

enum {
    key_what = 0x6000,
    key_title,
    key_width,
    key_height,
    key_dark,
    key_frames,
    key_system,
    key_cutoff,
    key_box,
    key_axis,
    key_colors,
    key_coordinates,
    key_resonance,
    key_seconds,
    key_to
};

static bool kind_row(int64_t k, const char **name, const char **description)
{
    static char line[256];
    if (k >= kind_count)
        return false;
    snprintf(line, sizeof line, "%s (%s)", kinds[k].description, kinds[k].extensions);
    *name = kinds[k].name;
    *description = line;
    return true;
}

static bool picture_row(int64_t k, const char **name, const char **description)
{
    int64_t count = 0;
    const struct picture_format *formats = picture_formats(&count);
    if (k >= count)
        return false;
    *name = *description = formats[k].extension;
    return true;
}

static bool map_row(int64_t k, const char **name, const char **description)
{
    int64_t count = 0;
    const struct color_map *list = color_maps(&count);
    if (k >= count)
        return false;
    *name = list[k].name;
    *description = list[k].description;
    return true;
}

static const struct choices plots = {"KIND", {NULL}, kind_row};
static const struct choices pictures = {"FORMAT", {NULL}, picture_row};
static const struct choices color_names = {"NAME", {NULL}, map_row};
static const struct choices axes = {"AXIS", {"x", "y", "z"}, NULL};

static const struct argp_option options[] = {
    {"what", key_what, CHOICES(plots), "what to draw: see below", 0},
    {"output", 'o', "FILE", 0, "the picture; its extension is its format; - is standard output", 0},
    {"to", key_to, CHOICES(pictures),
     "of the picture: png, svg, gif, mp4, webm or html (default: by its extension)", 0},
    {"frames", key_frames, "A:B", 0,
     "draw frames A to B only, both included, counted from 1, or all (default: all)", 0},
    {"system", key_system, "K", 0, "of an ensemble, counted from 0", 0},
    {"cutoff", key_cutoff, "R", 0, "of pairs: those at distances less than R", 0},
    {"box", key_box, "LX,LY[,LZ]", 0,
     "of pairs: a periodic cell (default: the file's own, or none)", 0},
    {"axis", key_axis, CHOICES(axes),
     "of density and film, the line of sight: x, y, z, or the direction towards the eye as X,Y,Z "
     "(default: z)",
     0},
    {"colors", key_colors, CHOICES(color_names),
     "of density and film, a color map: see below (default: inferno)", 0},
    {"coordinates", key_coordinates, CHOICES(choices_of_coordinates),
     "of elements: heliocentric, jacobi or barycentric (default: heliocentric)", 0},
    {"resonance", key_resonance, "ANGLE", 0,
     "of elements: draw a resonance angle below them, as kith orbits has it", 0},
    {"seconds", key_seconds, "S", 0,
     "of a film, its length (default: 30 frames of the run per second)", 0},
    {"title", key_title, "TEXT", 0, "a line above the picture; of density and film in ASCII", 0},
    {"width", key_width, "PIXELS", 0, "of the picture (default: by kind)", 0},
    {"height", key_height, "PIXELS", 0, "of the picture (default: as the data need)", 0},
    {"dark", key_dark, NULL, 0, "light on dark", 0},
    {"quiet", 'q', NULL, 0, "no notes", 0},
    {0}};

static const char documentation[] =
    "Draw a picture of the run in the H5MD file RUN, or of bodies or a matrix, by kind.\v"
    "Examples:\n"
    "  kith run six --dt 0.001 --until 20 --every 100 -o run.h5\n"
    "  kith plot run.h5 --what orbits -o orbits.png\n"
    "  kith plot run.h5 --what energy --title 'Leapfrog, dt = 0.001' -o energy.svg\n"
    "  kith plot run.h5 --what elements --coordinates jacobi -o elements.png\n"
    "  kith plot run.h5 --what elements --resonance 5l2-2l1-3w2 -o resonance.png\n"
    "  kith megno six --until 10 -o megno.csv\n"
    "  kith plot megno.csv --what megno -o megno.png\n"
    "  kith plot run.h5 --what animation --frames 1:30 -o run.gif\n"
    "  kith run six --ensemble 20 --dt 0.001 --until 1 -o ensemble.h5\n"
    "  kith plot ensemble.h5 --system 17 --what orbits -o orbits17.png\n"
    "  kith make galaxies -n 1e5 -o galaxies.tipsy\n"
    "  kith plot galaxies.tipsy --what density --axis 1,-2,1 -o galaxies.png\n"
    "  kith plot run.h5 --what film --seconds 20 -o run.mp4\n"
    "  kith plot run.h5 --what scene -o run.html\n"
    "  kith make self-avoiding-walk -n 48 -o fold.csv\n"
    "  kith plot fold.csv --what chain -o fold.png\n"
    "  kith make uniform-cube -n 1000 -o cube.csv\n"
    "  kith plot cube.csv --what distances --cutoff 0.2 --box 1,1,1 -o gr.png\n"
    "  kith pairs cube.csv --cutoff 0.1 -o graph.mtx\n"
    "  kith plot graph.mtx --what spy -o graph.png\n"
    "\n"
    "Of more than 24 bodies in a periodic cell, positions are drawn in the cell; paths of fewer are "
    "not cut. All kinds but density, film and scene need gnuplot; film needs ffmpeg. The environment "
    "variables KITH_GNUPLOT and KITH_FFMPEG may name these programs.";

static char *filter_help(int key, const char *text, void *input)
{
    (void)input;
    if (key == ARGP_KEY_HELP_EXTRA)
        return cli_join_help(cli_help_table("Kinds, and their file formats:", kind_row),
                             cli_help_table("Color maps:", map_row));
    return (char *)text;
}

const struct plot_kind *plot_kind_named(const char *name)
{
    for (int k = 0; k < kind_count; k++)
        if (strcmp(name, kinds[k].name) == 0)
            return &kinds[k];
    return NULL;
}

static int parse_side(const char *option, const char *text, const struct argp_state *state)
{
    const int64_t pixels = cli_parse_count(option, text, state);
    if (pixels < smallest_side || pixels > largest_side)
        cli_usage_error(state, "%s is %s; give %d to %d pixels", option, text, smallest_side,
                        largest_side);
    return (int)pixels;
}

static bool has_word(const char *words, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = words; *at; at += strcspn(at, " "), at += strspn(at, " "))
        if (strncmp(at, word, length) == 0 && (at[length] == ' ' || !at[length]))
            return true;
    return false;
}

static void check_options(struct plot *plot, const struct argp_state *state)
{
    if (plot->output && !plot->format)
        plot->format = picture_format_of(plot->output);
    if (!plot->input)
        cli_usage_error(state, "RUN is missing: an H5MD file that kith run wrote");
    else if (!plot->kind)
        cli_usage_error(state, "--what is missing; kith plot --help lists the kinds");
    else if (!plot->output)
        cli_usage_error(state, "-o is missing: the picture to write, for example run.png");
    else if (!plot->format)
        cli_usage_error(
            state,
            "-o is '%s'; give a name that ends in .png, .svg, .gif, .mp4, .webm or .html, or "
            "--to",
            plot->output);
    else if (!has_word(plot->kind->extensions, plot->format->extension))
        cli_usage_error(state, "-o is '%s', but --what %s supports only: %s", plot->output,
                        plot->kind->name, plot->kind->extensions);
    else if (plot->kind->of_pairs && !(plot->cutoff > 0))
        cli_usage_error(state, "--cutoff is missing: the maximum distance of pairs");
}

static void parse_box(const char *text, struct plot *plot, const struct argp_state *state)
{
    char *copy = cli_copy(text, state), *rest = copy;
    plot->box_sides = 0;
    for (const char *word; (word = strsep(&rest, ","));) {
        if (plot->box_sides == 3)
            cli_usage_error(state, "--box is '%s'; give 2 or 3 lengths", text);
        plot->box[plot->box_sides++] = cli_parse_positive("--box", word, state);
    }
    free(copy);
    if (plot->box_sides < 2)
        cli_usage_error(state, "--box is '%s'; give 2 or 3 lengths", text);
}

/* An axis by its letter, with the other two in their usual orientation, or the direction towards
 * the eye. */
static void parse_axis(const char *text, double eye[3], const struct argp_state *state)
{
    static const double eyes[3][3] = {{1, 0, 0}, {0, -1, 0}, {0, 0, 1}};
    if (text[0] >= 'x' && text[0] <= 'z' && !text[1]) {
        memcpy(eye, eyes[text[0] - 'x'], sizeof eyes[0]);
        return;
    }
    char *copy = cli_copy(text, state), *rest = copy;
    int count = 0;
    for (const char *word; (word = strsep(&rest, ",")); count++)
        if (count < 3)
            eye[count] = cli_parse_real("--axis", word, state);
    free(copy);
    const double longest = fmax(fabs(eye[0]), fmax(fabs(eye[1]), fabs(eye[2])));
    if (count != 3 || longest == 0)
        cli_usage_error(state, "--axis is '%s'; give x, y, z, or three numbers, not all 0", text);
    for (int k = 0; k < 3; k++)
        eye[k] /= longest;
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct plot *plot = state->input;
    int64_t first = 1, last = 0, count = 0;
    switch (key) {
    case key_what:
        plot->kind = &kinds[cli_parse_choice("--what", argument, &plots, state)];
        return 0;
    case 'o':
        plot->output = argument;
        return 0;
    case key_frames:
        cli_parse_frames(argument, &first, &last, state);
        plot->first_frame = first - 1;
        plot->frames = last > 0 ? last - first + 1 : 0;
        return 0;
    case key_system:
        plot->system = cli_parse_count("--system", argument, state);
        plot->system_given = true;
        return 0;
    case key_cutoff:
        plot->cutoff = cli_parse_positive("--cutoff", argument, state);
        return 0;
    case key_box:
        parse_box(argument, plot, state);
        return 0;
    case key_axis:
        parse_axis(argument, plot->line_of_sight, state);
        return 0;
    case key_colors:
        plot->colors =
            &color_maps(&count)[cli_parse_choice("--colors", argument, &color_names, state)];
        return 0;
    case key_coordinates:
        plot->coordinates = cli_parse_coordinates(argument, state);
        return 0;
    case key_resonance:
        plot->resonance = cli_parse_resonance(argument, state);
        return 0;
    case key_seconds:
        plot->seconds = cli_parse_positive("--seconds", argument, state);
        if (plot->seconds > longest_film)
            cli_usage_error(state, "--seconds is %s; give at most %d", argument, longest_film);
        return 0;
    case key_to:
        plot->format =
            &picture_formats(&count)[cli_parse_choice("--to", argument, &pictures, state)];
        return 0;
    case key_title:
        plot->title = argument;
        return 0;
    case key_width:
        plot->width = parse_side("--width", argument, state);
        return 0;
    case key_height:
        plot->height = parse_side("--height", argument, state);
        return 0;
    case key_dark:
        plot->dark = true;
        return 0;
    case 'q':
        plot->quiet = true;
        return 0;
    case ARGP_KEY_ARG:
        if (plot->input)
            cli_usage_error(state, "unexpected argument '%s'; give one RUN", argument);
        plot->input = argument;
        return 0;
    case ARGP_KEY_END:
        check_options(plot, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

void *plot_allocate(const struct plot *plot, int64_t count, size_t bytes)
{
    void *memory = calloc(count > 0 ? (size_t)count : 1, bytes);
    if (!memory)
        cli_fail_with(plot->command, "out of memory: %lld numbers; draw fewer --frames",
                      (long long)count);
    return memory;
}

/* Fits --frames to those that the run has. */
static bool choose_frames(struct plot *plot, const kith_trajectory *trajectory)
{
    const int64_t there = kith_trajectory_frames(trajectory);
    if (there == 0) {
        cli_fail_with(plot->command, "%s has no frames to draw", plot->input);
        return false;
    }
    if (plot->frames == 0)
        plot->frames = there - plot->first_frame;
    if (plot->frames < 1 || plot->first_frame > there - plot->frames) {
        cli_fail_with(plot->command, "%s has %lld frames; give --frames within 1:%lld", plot->input,
                      (long long)there, (long long)there);
        return false;
    }
    return true;
}

/* A picture shows one system, that of energies all of an ensemble. */
static bool choose_system(const struct plot *plot, kith_trajectory *trajectory)
{
    const int64_t systems = kith_trajectory_systems(trajectory);
    if (plot->system_given || systems == 1) {
        const bool chosen = kith_trajectory_choose_system(trajectory, plot->system) == KITH_OK;
        if (!chosen)
            cli_fail(plot->command);
        return chosen;
    }
    if (plot->kind != plot_kind_named("energy"))
        cli_fail_with(plot->command,
                      "%s is an ensemble of %lld systems; choose one with --system K, counted from "
                      "0",
                      plot->input, (long long)systems);
    return plot->kind == plot_kind_named("energy");
}

static bool make_picture(const struct plot *plot, kith_trajectory *trajectory, FILE *script,
                         FILE *picture)
{
    if (plot->kind->columns == 0)
        return plot->kind->draw(plot, trajectory, picture) == exit_ok;
    return plot->kind->draw(plot, trajectory, script) == exit_ok &&
           gnuplot_run(plot->command, script, picture);
}

static int draw(const struct plot *plot, kith_trajectory *trajectory)
{
    FILE *script = tmpfile(), *picture = tmpfile();
    int code = exit_failed;
    if (!script || !picture)
        cli_fail_with(plot->command, "cannot make a temporary file; free some space in /tmp");
    else if (make_picture(plot, trajectory, script, picture) &&
             picture_write(plot->command, plot->output, plot->format, picture))
        code = exit_ok;
    if (script)
        fclose(script);
    if (picture)
        fclose(picture);
    return code;
}

static int draw_run(struct plot *plot)
{
    kith_trajectory *trajectory = NULL;
    int code = exit_failed;
    if (kith_trajectory_open(plot->input, &trajectory) != KITH_OK)
        return cli_fail(plot->command);
    if (choose_frames(plot, trajectory) && choose_system(plot, trajectory))
        code = draw(plot, trajectory);
    kith_trajectory_close(trajectory);
    return code;
}

/* A run does not stream; files of bodies and matrices do. */
static int take_input(struct plot *plot)
{
    if (!plot->kind->not_a_run && strcmp(plot->input, "-") == 0)
        return cli_fail_with(plot->command,
                             "RUN is -, but a run is H5MD, which cannot be read from a stream; "
                             "give the file by its name");
    return cli_take_input(plot->command, &plot->input, &plot->input_format, plot->output);
}

int command_plot(int argc, char **argv)
{
    int64_t maps = 0;
    struct plot plot = {
        .command = argv[0], .line_of_sight = {0, 0, 1}, .colors = color_maps(&maps)};
    const struct argp argp = {options, parse, "RUN", documentation, NULL, filter_help, NULL};
    cli_parse(&argp, argc, argv, &plot);

    if (!picture_can_write(plot.command, plot.output))
        return exit_failed;
    int code = take_input(&plot);
    if (code == exit_ok)
        code = plot.kind->not_a_run ? draw(&plot, NULL) : draw_run(&plot);
    if (code == exit_ok && !plot.quiet && !cli_is_stdout(plot.output))
        cli_print_wrote(stderr, plot.output);
    return code;
}
