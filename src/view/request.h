#ifndef VIEW_REQUEST_H
#define VIEW_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

/* The kind of a request, determined from its text alone. */

enum { request_token_digits = 32 };

/* Access: the token of the address, and the port in the names of this host. */
struct request_gate {
    char token[request_token_digits + 1];
    _Atomic int32_t port; /* known when the server has started */
};

struct request {
    const char *method, *path;
    const char *host, *origin;  /* headers; NULL if absent */
    const char *content_length; /* likewise */
    bool has_transfer_encoding; /* a body of unknown length */
};

enum request_kind {
    request_forbidden,   /* 403 */
    request_not_allowed, /* 405 */
    request_too_large,   /* 413: no request has a body */
    request_file,        /* a part of the page: name */
    request_about,
    request_frame,
    request_energy,
    request_column, /* name */
    request_pause,
    request_continue,
    request_step
};

/* Which of the above, and the name after the token's slash: "" is the page.
 *
 * The token is compared in a time that does not depend on where it differs. Host must be 127.0.0.1
 * or localhost with the port, and Origin, where there is one, the same with http: pages of other
 * sites cannot pass even if their name leads to this host (DNS rebinding). */
enum request_kind request_decide(const struct request_gate *gate, const struct request *request,
                                 const char **name);

#endif
