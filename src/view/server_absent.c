/* In a build without libmicrohttpd. */

#include <stddef.h>

#include "view/server.h"

kith_status server_start(struct kith_view *view, int32_t port, struct request_gate *gate,
                         struct server **server)
{
    (void)view;
    (void)port;
    (void)gate;
    *server = NULL;
    return kith_fail(KITH_UNSUPPORTED,
                     "this build has no libmicrohttpd, which the live view needs; install "
                     "libmicrohttpd-dev and build again");
}

void server_stop(struct server *server)
{
    (void)server;
}
