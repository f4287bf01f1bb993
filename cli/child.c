/* Child processes: how they ended, and what they printed. */

#include "child.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>

#include "cli.h"

bool child_wait(pid_t child)
{
    int status = 0;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return false;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

void child_fail_with_last_line(const char *command, const char *program, FILE *errors)
{
    char line[512], reason[512] = "it gave no reason";
    rewind(errors);
    while (fgets(line, sizeof line, errors)) {
        line[strcspn(line, "\r\n")] = 0;
        if (line[strspn(line, " \t")] != 0)
            snprintf(reason, sizeof reason, "%s", line + strspn(line, " \t"));
    }
    cli_fail_with(command, "%s failed: %s", program, reason);
}
