#ifndef VIEW_SERVER_H
#define VIEW_SERVER_H

#include "core/status.h"
#include "view/request.h"

struct kith_view;
struct server;

/* The server in a thread of its own, on 127.0.0.1. gate->token is given, gate->port filled in with
 * the one that was taken, which is the one requested unless that is 0.
 *
 * Connections, their memory and the time that they may be silent are limited; no request may have a
 * body.
 *
 * Errors: KITH_IO_ERROR, KITH_UNSUPPORTED (this build has no libmicrohttpd). */
kith_status server_start(struct kith_view *view, int32_t port, struct request_gate *gate,
                         struct server **server);
void server_stop(struct server *server); /* NULL is fine */

#endif
