/* What kith run prints at its end. */

#include "run_report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "device_choice.h"
#include "job.h"
#include "json.h"
#include "progress.h"

static int print_json(const char *command, const char *device, bool is_ensemble,
                      const kith_run_summary *summary)
{
    cJSON *object = cJSON_CreateObject();
    if (is_ensemble)
        json_add_count(object, "systems", summary->systems);
    json_add_count(object, "bodies", summary->bodies);
    json_add_count(object, "steps", summary->steps);
    json_add_real(object, "dt", summary->dt);
    json_add_real(object, "dt_min", summary->dt_min);
    json_add_real(object, "dt_max", summary->dt_max);
    json_add_count(object, "body_steps", summary->body_steps);
    json_add_count(object, "collisions", summary->collisions);
    json_add_count(object, "bodies_final", summary->bodies_final);
    json_add_real(object, "time", summary->time);
    json_add_real(object, "energy_initial", summary->energy_initial);
    json_add_real(object, "energy_final", summary->energy_final);
    json_add_real(object, "relative_energy_error", summary->relative_energy_error);
    json_add_real(object, "max_relative_energy_error", summary->max_relative_energy_error);
    json_add_real(object, "momentum_error", summary->momentum_error);
    json_add_real(object, "interactions_per_second", summary->interactions_per_second);
    if (is_ensemble)
        json_add_real(object, "system_steps_per_second", summary->system_steps_per_second);
    json_add_real(object, "gflops", summary->gflops);
    json_add_real(object, "seconds", summary->seconds);
    if (job_is_divided())
        json_add_real(object, "exchange_share", job_exchange_share());
    cJSON_AddStringToObject(object, "device", device);
    cJSON_AddStringToObject(object, "precision", cli_precision_name(summary->precision));
    cJSON_AddStringToObject(object, "integrator", summary->integrator);
    cJSON_AddStringToObject(object, "solver", summary->solver);
    return json_print(command, object);
}

static void print_energies(const kith_run_summary *summary)
{
    const bool one = summary->systems == 1;
    if (summary->thermostat != KITH_THERMOSTAT_NONE) {
        printf("energy %.15g at the start, %.15g at the end\n", summary->energy_initial,
               summary->energy_final);
        return;
    }
    printf("energy %.15g at the start, %.15g at the end%s", summary->energy_initial,
           summary->energy_final, one ? "" : " in all");
    if (isnan(summary->relative_energy_error))
        printf("; relative error undefined\n");
    else
        printf(": relative error %.2g, at most %.2g%s\n", summary->relative_energy_error,
               summary->max_relative_energy_error, one ? "" : ", of the worst system");
    printf("momentum error %.2g%s\n", summary->momentum_error, one ? "" : ", of the worst system");
}

static void print_collisions(const kith_run_summary *summary)
{
    if (summary->collisions > 0 || summary->bodies_final < summary->bodies)
        printf("%lld collision%s%s, %lld bodies left\n", (long long)summary->collisions,
               summary->collisions == 1 ? "" : "s",
               summary->has_stopped ? ", at which the run stopped" : "",
               (long long)summary->bodies_final);
}

static void print_text(const char *output, const char *device, const kith_run_summary *summary)
{
    const int64_t here = summary->steps - summary->steps_resumed;
    if (summary->systems != 1)
        printf("%lld systems of ", (long long)summary->systems);
    printf("%lld bod%s, %lld step%s of %g", (long long)summary->bodies,
           summary->bodies == 1 ? "y" : "ies", (long long)summary->steps,
           summary->steps == 1 ? "" : "s", summary->dt_min);
    if (summary->dt_max > summary->dt_min)
        printf(" to %g", summary->dt_max);
    printf(" to time %.15g; %s, %s precision, %s\n", summary->time, summary->integrator,
           cli_precision_name(summary->precision), device);
    if (summary->steps_resumed > 0)
        printf("resumed after step %lld\n", (long long)summary->steps_resumed);
    print_collisions(summary);
    print_energies(summary);
    printf("%.3g s of stepping: %.3g steps/s", summary->seconds,
           summary->seconds > 0 ? (double)here / summary->seconds : 0);
    if (summary->systems != 1)
        printf(", %.3g system-steps/s", summary->system_steps_per_second);
    if (strcmp(summary->solver, "direct") == 0)
        printf(", %.3g interactions/s, %.3g Gflop/s\n", summary->interactions_per_second,
               summary->gflops);
    else
        printf(", %.3g particle-steps/s\n",
               (double)summary->bodies * summary->system_steps_per_second);
    if (output)
        cli_print_wrote(stdout, output);
}

/* An energy that has changed by more than itself is not a matter of rounding or step size, unless
 * collisions or a thermostat have changed it. */
static void warn_of_energy(const char *command, const kith_run_summary *summary)
{
    if (summary->max_relative_energy_error > 1 && summary->collisions == 0 &&
        summary->thermostat == KITH_THERMOSTAT_NONE)
        fprintf(stderr,
                "%s: warning: the relative energy error reached %.3g: the result is wrong; "
                "give a smaller --dt, a --softening, or the --g of the bodies' units\n",
                command, summary->max_relative_energy_error);
}

/* Individual steps resolve an encounter only if the body is in it at the start of one. */
static void note_encounters(const char *command, bool quiet, const kith_run_summary *summary)
{
    const double error = summary->max_relative_energy_error;
    if (strcmp(summary->integrator, "hermite-block") == 0 && error > 1e-4 && error <= 1 &&
        summary->collisions == 0)
        cli_note(quiet, command,
                 "the relative energy error reached %.2g: steps are too long for the closest "
                 "encounters; give a smaller --dt, or a --softening",
                 error);
}

int run_report(const char *command, const struct common_options *common, const char *output,
               bool is_ensemble, const kith_run_summary *summary)
{
    const char *device = cli_devices_name(&common->chosen, summary->device);
    warn_of_energy(command, summary);
    note_encounters(command, common->quiet, summary);
    if (common->json)
        return print_json(command, device, is_ensemble || summary->systems != 1, summary);
    if (!common->quiet)
        print_text(output, device, summary);
    return exit_ok;
}

int run_report_interrupted(const char *command, const char *output, const kith_run_summary *summary)
{
    const int number = progress_signal(); /* 0: it came to another rank of the job */
    const char *signal = number ? strsignal(number) : "of another rank";
    if (output && summary->interrupted)
        cli_fail_with(command,
                      "stopped at step %lld by a signal (%s); %s holds a checkpoint: "
                      "kith run --resume -o %s continues it",
                      (long long)summary->steps, signal, output, output);
    else
        cli_fail_with(command, "stopped at step %lld by a signal (%s); nothing was kept",
                      (long long)summary->steps, signal);
    return progress_exit_code();
}
