/* kith plot: pictures of a run, drawn by gnuplot or painted here. */

#include "plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gnuplot.h"
#include "load.h"
#include "options.h"
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

static char *tables(void)
{
    return cli_join_help(cli_help_table("Kinds, and their file formats:", kind_row),
                         cli_help_table("Color maps:", map_row));
}

const struct plot_kind *plot_kind_named(const char *name)
{
    for (int k = 0; k < kind_count; k++)
        if (strcmp(name, kinds[k].name) == 0)
            return &kinds[k];
    return NULL;
}

static bool has_word(const char *words, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = words; *at; at += strcspn(at, " "), at += strspn(at, " "))
        if (strncmp(at, word, length) == 0 && (at[length] == ' ' || !at[length]))
            return true;
    return false;
}

static void check(void *options, const struct argp_state *state)
{
    struct plot *plot = options;
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

static void set_box(void *options, const char *option, const char *text,
                    const struct argp_state *state)
{
    struct plot *plot = options;
    char *copy = cli_copy(text, state), *rest = copy;
    plot->box_sides = 0;
    for (const char *word; (word = strsep(&rest, ","));) {
        if (plot->box_sides == 3)
            cli_usage_error(state, "%s is '%s'; give 2 or 3 lengths", option, text);
        plot->box[plot->box_sides++] = cli_parse_positive(option, word, state);
    }
    free(copy);
    if (plot->box_sides < 2)
        cli_usage_error(state, "%s is '%s'; give 2 or 3 lengths", option, text);
}

/* An axis by its letter, with the other two in their usual orientation, or the direction towards
 * the eye. */
static void set_axis(void *options, const char *option, const char *text,
                     const struct argp_state *state)
{
    double *eye = ((struct plot *)options)->line_of_sight;
    static const double eyes[3][3] = {{1, 0, 0}, {0, -1, 0}, {0, 0, 1}};
    if (text[0] >= 'x' && text[0] <= 'z' && !text[1]) {
        memcpy(eye, eyes[text[0] - 'x'], sizeof eyes[0]);
        return;
    }
    char *copy = cli_copy(text, state), *rest = copy;
    int count = 0, numbers = 0;
    for (const char *word; (word = strsep(&rest, ",")); count++)
        numbers += count < 3 && cli_read_real(word, &eye[count]);
    free(copy);
    const double longest = fmax(fabs(eye[0]), fmax(fabs(eye[1]), fabs(eye[2])));
    if (count != 3 || numbers != 3 || longest == 0)
        cli_usage_error(state, "%s is '%s'; give x, y, z, or three numbers, not all 0", option,
                        text);
    for (int k = 0; k < 3; k++)
        eye[k] /= longest;
}

static void set_kind(void *options, const char *option, const char *text,
                     const struct argp_state *state)
{
    ((struct plot *)options)->kind = &kinds[cli_parse_choice(option, text, &plots, state)];
}

static void set_format(void *options, const char *option, const char *text,
                       const struct argp_state *state)
{
    int64_t count = 0;
    const struct picture_format *formats = picture_formats(&count);
    ((struct plot *)options)->format = &formats[cli_parse_choice(option, text, &pictures, state)];
}

static void set_colors(void *options, const char *option, const char *text,
                       const struct argp_state *state)
{
    int64_t count = 0;
    const struct color_map *maps = color_maps(&count);
    ((struct plot *)options)->colors = &maps[cli_parse_choice(option, text, &color_names, state)];
}

static void set_frames(void *options, const char *option, const char *text,
                       const struct argp_state *state)
{
    struct plot *plot = options;
    int64_t first = 1, last = 0;
    (void)option;
    cli_parse_frames(text, &first, &last, state);
    plot->first_frame = first - 1;
    plot->frames = last > 0 ? last - first + 1 : 0;
}

static void set_resonance(void *options, const char *option, const char *text,
                          const struct argp_state *state)
{
    (void)option;
    ((struct plot *)options)->resonance = cli_parse_resonance(text, state);
}

static void set_seconds(void *options, const char *option, const char *text,
                        const struct argp_state *state)
{
    struct plot *plot = options;
    plot->seconds = cli_parse_positive(option, text, state);
    if (plot->seconds > longest_film)
        cli_usage_error(state, "%s is %s; give at most %d", option, text, longest_film);
}

#define AT(member) OPTION_AT(struct plot, member)
static const struct option_row option_rows[] = {
    {NULL, "RUN", NULL, AT(input)},
    {"what", NULL, "what to draw: see below", .choices = &plots, .set = set_kind},
    {"output", "FILE", "the picture; its extension is its format; - is standard output", AT(output),
     .letter = 'o'},
    {"to", NULL, "of the picture: png, svg, gif, mp4, webm or html (default: by its extension)",
     .choices = &pictures, .set = set_format},
    {"frames", "A:B",
     "draw frames A to B only, both included, counted from 1, or all (default: all)",
     .set = set_frames},
    {"system", "K", "of an ensemble, counted from 0", AT(system),
     OPTION_GIVEN(struct plot, system_given)},
    {"cutoff", "R", "of pairs: those at distances less than R", AT(cutoff), .positive = true},
    {"box", "LX,LY[,LZ]", "of pairs: a periodic cell (default: the file's own, or none)",
     .set = set_box},
    {"axis", NULL,
     "of density and film, the line of sight: x, y, z, or the direction towards the eye as X,Y,Z "
     "(default: z)",
     .choices = &axes, .set = set_axis},
    {"colors", NULL, "of density and film, a color map: see below (default: inferno)",
     .choices = &color_names, .set = set_colors},
    {"coordinates", NULL,
     "of elements: heliocentric, jacobi or barycentric (default: heliocentric)", AT(coordinates),
     .choices = &choices_of_coordinates},
    {"resonance", "ANGLE", "of elements: draw a resonance angle below them, as kith orbits has it",
     .set = set_resonance},
    {"seconds", "S", "of a film, its length (default: 30 frames of the run per second)",
     .set = set_seconds},
    {"title", "TEXT", "a line above the picture; of density and film in ASCII", AT(title)},
    {"width", "PIXELS", "of the picture (default: by kind)", AT(width), .least = smallest_side,
     .most = largest_side},
    {"height", "PIXELS", "of the picture (default: as the data need)", AT(height),
     .least = smallest_side, .most = largest_side},
    {"dark", NULL, "light on dark", AT(dark)},
    {"quiet", NULL, "no notes", AT(quiet), .letter = 'q'},
    {0}};

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
    return load_take_file(plot->command, &plot->input, &plot->input_format, plot->output);
}

static const struct parser parser = {option_rows, NULL, check, "RUN", documentation, tables};

int command_plot(int argc, char **argv)
{
    int64_t maps = 0;
    struct plot plot = {
        .command = argv[0], .line_of_sight = {0, 0, 1}, .colors = color_maps(&maps)};
    cli_parse(&parser, argc, argv, &plot);

    if (!picture_can_write(plot.command, plot.output))
        return exit_failed;
    int code = take_input(&plot);
    if (code == exit_ok)
        code = plot.kind->not_a_run ? draw(&plot, NULL) : draw_run(&plot);
    if (code == exit_ok && !plot.quiet && !cli_is_stdout(plot.output))
        cli_print_wrote(stderr, plot.output);
    return code;
}
