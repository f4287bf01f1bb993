/* The frames of a run inside the page that kith view serves. */

#include "plot.h"

int plot_draw_scene(const struct plot *plot, kith_trajectory *trajectory, FILE *picture)
{
    const kith_scene_options options = {.title = plot->title ? plot->title : plot->input,
                                        .first_frame = plot->first_frame,
                                        .frames = plot->frames};
    kith_scene_summary summary;
    if (kith_view_write_scene(&options, trajectory, picture, &summary) != KITH_OK)
        return cli_fail(plot->command);
    if (summary.shown < summary.bodies)
        cli_note(plot->quiet, plot->command,
                 "%lld of %lld bodies are in the scene, which would be larger than 20 MB; fewer "
                 "--frames leave room for more",
                 (long long)summary.shown, (long long)summary.bodies);
    return exit_ok;
}
