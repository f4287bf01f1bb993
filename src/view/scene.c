/* The page as one file, with the frames of a trajectory in it. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/arguments.h"
#include "core/numbers.h"
#include "kith/view.h"
#include "view/about.h"
#include "view/frames.h"
#include "view/packet.h"
#include "view/pages.h"

static const int64_t usual_bytes = 20000000;

/* No more bodies times frames are tried: they would not fit, or not into memory. */
static const int64_t most_numbers = 1LL << 25;

struct scene {
    kith_scene_options options;
    kith_trajectory *trajectory;
    kith_bodies *bodies; /* the frame read last */
    struct frames_range range;
    struct place place;
    int columns; /* numbers of a body that do not change */
    struct frames frames;
    struct about about;
    uint8_t *bytes; /* compressed frames */
    int64_t byte_count;
    int32_t bits;
};

static kith_status read_frame(struct scene *scene, int64_t k)
{
    return kith_trajectory_read(scene->trajectory, scene->options.first_frame + k, &scene->bodies);
}

static kith_status fit_options(struct scene *scene)
{
    kith_scene_options *options = &scene->options;
    const int64_t there = kith_trajectory_frames(scene->trajectory);
    if (options->most_bytes == 0)
        options->most_bytes = usual_bytes;
    if (options->frames == 0)
        options->frames = there - options->first_frame;
    if (options->first_frame < 0 || options->frames < 1 ||
        options->first_frame > there - options->frames)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "frames %lld to %lld do not exist; the trajectory has %lld frames",
                         (long long)options->first_frame,
                         (long long)(options->first_frame + options->frames - 1), (long long)there);
    return KITH_OK;
}

static kith_status find_range(struct scene *scene)
{
    struct about about;
    KITH_TRY(read_frame(scene, 0));
    const kith_status status = about_make(scene->bodies, 0, NULL, 1, 0, &about);
    scene->place = about.place;
    scene->columns = about.columns;
    about_free(&about);
    KITH_TRY(status);
    for (int64_t k = 0; k < scene->options.frames; k++) {
        KITH_TRY(read_frame(scene, k));
        KITH_TRY(frames_widen(scene->bodies, &scene->place, &scene->range));
    }
    return KITH_OK;
}

static kith_status take_frames(struct scene *scene, int64_t shown)
{
    frames_free(&scene->frames);
    KITH_TRY(frames_allocate(scene->options.frames, shown, &scene->range, &scene->frames));
    for (int64_t k = 0; k < scene->options.frames; k++) {
        KITH_TRY(read_frame(scene, k));
        frames_put(&scene->frames, k, scene->bodies, &scene->place);
    }
    return KITH_OK;
}

static kith_status compress(struct scene *scene, int32_t bits)
{
    free(scene->bytes);
    scene->bytes = NULL;
    frames_coarsen(&scene->frames, scene->bits - bits);
    scene->bits = bits;
    return frames_compress(&scene->frames, &scene->bytes, &scene->byte_count);
}

/* What there is for the frames: besides them there are the page, numbers of each frame, and columns
 * and names of the bodies. */
static int64_t bytes_left(const struct scene *scene)
{
    int64_t rest = scene->options.most_bytes - 16000 - 96 * scene->frames.frames;
    for (const struct page_file *file = page_files; file->name; file++)
        rest -= (int64_t)strlen(file->text);
    rest = rest / 4 * 3 - scene->frames.shown * (int64_t)sizeof(float) * scene->columns;
    return rest > 10000 ? rest : 10000;
}

/* As many bits as fit; with the fewest, as many bodies. */
static kith_status fit(struct scene *scene)
{
    static const int32_t bits[] = {16, 13, 11};
    const int64_t most = most_numbers / scene->options.frames;
    int64_t shown = scene->bodies->count < most ? scene->bodies->count : most;
    KITH_TRY(take_frames(scene, shown));
    scene->bits = 16;
    for (int k = 0; k < 3; k++) {
        KITH_TRY(compress(scene, bits[k]));
        if (scene->byte_count <= bytes_left(scene))
            return KITH_OK;
    }
    while (scene->byte_count > bytes_left(scene) && shown > 1) {
        const double part = (double)bytes_left(scene) / (double)scene->byte_count;
        shown = (int64_t)fmax(1, 0.97 * part * (double)shown);
        KITH_TRY(take_frames(scene, shown));
        scene->bits = 16;
        KITH_TRY(compress(scene, bits[2]));
    }
    return KITH_OK;
}

static void write_base64(FILE *stream, const void *data, int64_t count)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const uint8_t *byte = data;
    for (int64_t k = 0; k < count; k += 3) {
        const int64_t n = count - k < 3 ? count - k : 3;
        uint32_t bits = (uint32_t)byte[k] << 16;
        bits |= n > 1 ? (uint32_t)byte[k + 1] << 8 : 0;
        bits |= n > 2 ? byte[k + 2] : 0;
        char four[4];
        for (int d = 0; d < 4; d++)
            four[d] = d <= n ? digits[bits >> (18 - 6 * d) & 63] : '=';
        fwrite(four, 1, sizeof four, stream);
    }
}

static void write_real(FILE *stream, double value)
{
    char text[real_bytes];
    format_real(isfinite(value) ? value : 0, text);
    fputs(text, stream);
}

/* Times and relative errors in turn, of the frames of the scene. */
static void write_energies(FILE *stream, const struct scene *scene)
{
    int64_t components = 0;
    double *values = NULL;
    const bool found = kith_trajectory_observable(scene->trajectory, "total_energy", &components,
                                                  &values, NULL) == KITH_OK &&
                       components == 1;
    fputs(",\"energy\":[", stream);
    for (int64_t k = 0; found && k < scene->options.frames; k++) {
        const double energy = values[scene->options.first_frame + k];
        fputs(k > 0 ? "," : "", stream);
        write_real(stream, scene->frames.time[k]);
        fputc(',', stream);
        write_real(stream, fabs(energy - values[0]) / fabs(values[0]));
    }
    fputc(']', stream);
    free(values);
}

static void write_data(FILE *stream, const struct scene *scene)
{
    fprintf(stream, "<script id=\"scene\" type=\"application/json\">{\"about\":%s,\"scale\":",
            scene->about.text);
    write_real(stream, scene->frames.scale);
    fputs(",\"speedScale\":", stream);
    write_real(stream, scene->frames.speed_scale);
    fputs(",\"times\":[", stream);
    for (int64_t k = 0; k < scene->frames.frames; k++) {
        fputs(k > 0 ? "," : "", stream);
        write_real(stream, scene->frames.time[k]);
    }
    fputs("],\"left\":[", stream);
    for (int k = 0; k < scene->frames.frames; k++) {
        fputs(k > 0 ? "," : "", stream);
        write_real(stream, scene->frames.left[k]);
    }
    fputs("],\"columns\":{", stream);
    for (int k = 0; k < scene->about.columns; k++) {
        const struct about_column *column = &scene->about.column[k];
        fputs(k > 0 ? "," : "", stream);
        about_write_string(stream, column->name);
        fputs(":\"", stream);
        write_base64(stream, column->values, scene->about.shown * (int64_t)sizeof(float));
        fputc('"', stream);
    }
    fputc('}', stream);
    write_energies(stream, scene);
    fputs("}</script>\n<script id=\"frames\" type=\"text/plain\">", stream);
    write_base64(stream, scene->bytes, scene->byte_count);
    fputs("</script>\n", stream);
}

/* Nothing but what is in the file. */
static const char policy[] =
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src "
    "'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:\">\n";

/* A line of the page, replaced by the file that it names. */
static void write_line(FILE *stream, const char *line, int length)
{
    char name[32];
    if (sscanf(line, "<script src=\"%31[a-z.]\">", name) == 1 && page_find(name))
        fprintf(stream, "<script>\n%s</script>\n", page_find(name)->text);
    else if (sscanf(line, "<link rel=\"stylesheet\" href=\"%31[a-z.]\">", name) == 1 &&
             page_find(name))
        fprintf(stream, "%s<style>\n%s</style>\n", policy, page_find(name)->text);
    else
        fwrite(line, 1, (size_t)length, stream);
}

static void write_page(FILE *stream, const struct scene *scene)
{
    bool has_data = false;
    for (const char *line = page_find("")->text; *line;) {
        const int length = (int)(strcspn(line, "\n") + 1);
        if (!has_data && strncmp(line, "<script", 7) == 0) {
            write_data(stream, scene);
            has_data = true;
        }
        write_line(stream, line, length);
        line += length;
    }
}

static kith_status make(struct scene *scene, FILE *stream)
{
    struct c_locale locale;
    KITH_TRY(fit_options(scene));
    KITH_TRY(find_range(scene));
    KITH_TRY(fit(scene));
    KITH_TRY(read_frame(scene, 0));
    KITH_TRY(about_make(scene->bodies, scene->frames.shown, scene->options.title,
                        scene->options.frames, 0, &scene->about));
    KITH_TRY(c_locale_enter(&locale));
    write_page(stream, scene);
    c_locale_leave(&locale);
    return ferror(stream) ? kith_fail(KITH_IO_ERROR, "the scene cannot be written") : KITH_OK;
}

kith_status kith_view_write_scene(const kith_scene_options *options, kith_trajectory *trajectory,
                                  FILE *stream, kith_scene_summary *summary)
{
    if (summary)
        *summary = (kith_scene_summary){0};
    KITH_TRY(kith_check_pointer(trajectory, "trajectory"));
    KITH_TRY(kith_check_pointer(stream, "stream"));
    struct scene scene = {.options = options ? *options : (kith_scene_options){0},
                          .trajectory = trajectory};
    const kith_status status = make(&scene, stream);
    if (status == KITH_OK && summary)
        *summary = (kith_scene_summary){scene.bodies->count, scene.frames.shown,
                                        scene.options.frames, ftell(stream), scene.bits};
    kith_bodies_free(scene.bodies);
    frames_free(&scene.frames);
    about_free(&scene.about);
    free(scene.bytes);
    return status;
}
