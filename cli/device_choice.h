#ifndef CLI_DEVICE_CHOICE_H
#define CLI_DEVICE_CHOICE_H

#include "cli.h"
#include "kith/kith.h"

/* The first GPU of this machine, or the CPU. */
kith_device cli_first_device(void);

/* The context with which a command starts: with --device auto on the CPU, to read its input; of
 * several GPUs on the first, or, in a job of several processes, on one for each rank of a machine.
 */
kith_context_options cli_context_to_begin(const struct common_options *common);

/* The first of the GPUs chosen, or, in a job of several processes, one for each rank of a machine.
 */
kith_device cli_device_of_rank(const struct chosen_device *chosen);

/* The further GPUs of --device cuda:0,1 or cuda:all, of one process. Returns an exit code. */
int cli_add_peers(const char *command, const struct chosen_device *chosen, kith_context *context);

/* "cuda:0,1": a device and the peers that it has in one process. The string is static. */
const char *cli_devices_name(const struct chosen_device *chosen, kith_device device);

/* Brings a context of cli_context_to_begin to the device that suits the work, and keeps for
 * cli_print_choice which, where there is a choice. Does nothing without --device auto, and in a job
 * of several processes. Returns an exit code. */
int cli_choose_device(const char *command, const struct common_options *common, kith_work work,
                      kith_context **context);

/* Takes the CPU where the GPU that --device auto chose does not support a request, as the status of
 * the call says: keeps its message as the reason, and brings the context there. Else false: the
 * error stands.
 */
bool cli_fall_back(const char *command, const struct common_options *common, kith_status status,
                   kith_context **context);

/* The same for a run of these bodies, or without bodies for a resumed run, with those in its
 * file. */
int cli_choose_device_of_run(const char *command, const struct common_options *common,
                             const kith_run_options *run, const kith_bodies *bodies,
                             kith_context **context);

/* Prints once what was chosen and why, if there was a choice: at the first progress of a run, or at
 * the end of a command that succeeded. */
void cli_print_choice(void);

/* The pairs that take as long as a solver, NULL for auto, with this accuracy, on either device. */
double cli_pairs_of_solver(const kith_solver *solver, const kith_accuracy *accuracy,
                           int64_t targets, int64_t sources);

#endif
