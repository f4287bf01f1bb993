#include "view/server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <microhttpd.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/numbers.h"
#include "view/pages.h"
#include "view/processor.h"
#include "view/view.h"

enum {
    most_connections = 48,
    connection_bytes = 16 << 10, /* its buffers: no longer request fits */
    silent_seconds = 10,
    http_too_large = 413 /* libmicrohttpd has several names for it */
};

struct server {
    struct kith_view *view;
    struct MHD_Daemon *daemon;
    double processor_seconds; /* of its thread, when the last packet was requested */
};

/* What is said of every answer: it is for this page alone, which takes nothing from elsewhere.
 * Pages that this machine serves may frame it, as notebooks do, if they know the token. */
static const char *const headers[][2] = {
    {"Cache-Control", "no-store"},
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; "
     "img-src data: blob:; base-uri 'none'; form-action 'none'; "
     "frame-ancestors http://127.0.0.1:* http://localhost:*"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Referrer-Policy", "no-referrer"},
    {"X-Content-Type-Options", "nosniff"},
};

static enum MHD_Result answer(struct MHD_Connection *connection, unsigned code, const char *type,
                              struct MHD_Response *response)
{
    if (!response)
        return MHD_NO;
    for (size_t k = 0; k < sizeof headers / sizeof *headers; k++)
        MHD_add_response_header(response, headers[k][0], headers[k][1]);
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    if (code == MHD_HTTP_FORBIDDEN || code == http_too_large)
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
    const enum MHD_Result queued = MHD_queue_response(connection, code, response);
    MHD_destroy_response(response);
    return queued;
}

/* Text or data that live as long as the view. */
static enum MHD_Result answer_lasting(struct MHD_Connection *connection, unsigned code,
                                      const char *type, const void *data, size_t bytes)
{
    return answer(connection, code, type,
                  MHD_create_response_from_buffer(bytes, (void *)data, MHD_RESPMEM_PERSISTENT));
}

static enum MHD_Result answer_text(struct MHD_Connection *connection, unsigned code,
                                   const char *text)
{
    return answer_lasting(connection, code, "text/plain; charset=utf-8", text, strlen(text));
}

static const char *const no_memory = "out of memory\n";

/* A response's content is the memory that a pointer to the packet points to. */
static ssize_t read_packet(void *user, uint64_t position, char *buffer, size_t most)
{
    const struct packet *packet = user;
    const uint64_t rest = (uint64_t)packet->bytes - position;
    const size_t count = rest < most ? (size_t)rest : most;
    memcpy(buffer, (const char *)packet->content + position, count);
    return count > 0 ? (ssize_t)count : MHD_CONTENT_READER_END_OF_STREAM;
}

static void free_packet(void *user)
{
    packet_release(user);
}

/* What it took since the packet of before was requested is what packets take. */
static void account(struct server *server)
{
    const double now = processor_seconds();
    atomic_store(&server->view->feed.serving_seconds, now - server->processor_seconds);
    server->processor_seconds = now;
}

static enum MHD_Result answer_frame(struct server *server, struct MHD_Connection *connection)
{
    enum { block_bytes = 256 << 10 };
    const char *after = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "after");
    double number = -1;
    struct packet *packet = NULL;
    if (after && !parse_real(after, &number))
        return answer_text(connection, MHD_HTTP_BAD_REQUEST, "after is invalid; give a number\n");
    if (view_frame(server->view, number, &packet) != KITH_OK)
        return answer_text(connection, MHD_HTTP_NOT_FOUND, "the frame does not exist\n");
    if (!packet)
        return answer_lasting(connection, MHD_HTTP_NO_CONTENT, "text/plain", "", 0);
    account(server);
    struct MHD_Response *response = MHD_create_response_from_callback(
        (uint64_t)packet->bytes, block_bytes, read_packet, packet, free_packet);
    if (!response)
        packet_release(packet);
    return answer(connection, MHD_HTTP_OK, "application/octet-stream", response);
}

static enum MHD_Result answer_energies(struct server *server, struct MHD_Connection *connection)
{
    int64_t count = 0;
    struct feed_energy *energies = NULL;
    if (view_energies(server->view, &count, &energies) != KITH_OK)
        return answer_text(connection, MHD_HTTP_INTERNAL_SERVER_ERROR, no_memory);
    struct MHD_Response *response = MHD_create_response_from_buffer(
        (size_t)count * sizeof *energies, energies, MHD_RESPMEM_MUST_COPY);
    free(energies);
    return answer(connection, MHD_HTTP_OK, "application/octet-stream", response);
}

static enum MHD_Result answer_column(const struct server *server, struct MHD_Connection *connection,
                                     const char *name)
{
    float *values = NULL;
    if (view_column(server->view, name, &values) != KITH_OK)
        return answer_text(connection, MHD_HTTP_INTERNAL_SERVER_ERROR, no_memory);
    if (!values)
        return answer_text(connection, MHD_HTTP_NOT_FOUND, "the column does not exist\n");
    struct MHD_Response *response = MHD_create_response_from_buffer(
        (size_t)server->view->about.shown * sizeof *values, values, MHD_RESPMEM_MUST_FREE);
    if (!response)
        free(values);
    return answer(connection, MHD_HTTP_OK, "application/octet-stream", response);
}

static enum MHD_Result answer_file(struct MHD_Connection *connection, const char *name)
{
    const struct page_file *file = page_find(name);
    if (!file)
        return answer_text(connection, MHD_HTTP_NOT_FOUND, "the page does not exist\n");
    return answer_lasting(connection, MHD_HTTP_OK, file->type, file->text, strlen(file->text));
}

static enum MHD_Result control(const struct server *server, struct MHD_Connection *connection,
                               void (*change)(struct feed *))
{
    if (server->view->trajectory)
        return answer_text(connection, MHD_HTTP_CONFLICT, "this is a file, not a simulation\n");
    change(&server->view->feed);
    return answer_text(connection, MHD_HTTP_OK, "done\n");
}

static enum MHD_Result respond(struct server *server, struct MHD_Connection *connection,
                               enum request_kind kind, const char *name)
{
    const char *about = server->view->about.text;
    switch (kind) {
    case request_forbidden:
        return answer_text(connection, MHD_HTTP_FORBIDDEN,
                           "the address is not the one that kith printed\n");
    case request_not_allowed:
        return answer_text(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "not with this method\n");
    case request_too_large:
        return answer_text(connection, http_too_large, "no request has a body\n");
    case request_file:
        return answer_file(connection, name);
    case request_about:
        return answer_lasting(connection, MHD_HTTP_OK, "application/json", about, strlen(about));
    case request_frame:
        return answer_frame(server, connection);
    case request_energy:
        return answer_energies(server, connection);
    case request_column:
        return answer_column(server, connection, name);
    case request_pause:
        return control(server, connection, feed_pause);
    case request_continue:
        return control(server, connection, feed_continue);
    case request_step:
        return control(server, connection, feed_step);
    }
    return MHD_NO;
}

static const char *header_of(struct MHD_Connection *connection, const char *name)
{
    return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

/* libmicrohttpd calls this when the headers are there, and again when the whole request is, which
 * is answered then; what is refused is answered immediately. */
static enum MHD_Result handle(void *user, struct MHD_Connection *connection, const char *path,
                              const char *method, const char *version, const char *upload,
                              size_t *upload_bytes, void **seen)
{
    static char mark;
    struct server *server = user;
    const char *name = "";
    const struct request request = {
        .method = method,
        .path = path,
        .host = header_of(connection, MHD_HTTP_HEADER_HOST),
        .origin = header_of(connection, MHD_HTTP_HEADER_ORIGIN),
        .content_length = header_of(connection, MHD_HTTP_HEADER_CONTENT_LENGTH),
        .has_transfer_encoding = header_of(connection, MHD_HTTP_HEADER_TRANSFER_ENCODING) != NULL};
    const enum request_kind kind = request_decide(&server->view->gate, &request, &name);
    const bool is_refused = kind == request_forbidden || kind == request_too_large;
    (void)version;
    (void)upload;
    (void)upload_bytes;
    if (!*seen && !is_refused) {
        *seen = &mark;
        return MHD_YES;
    }
    return respond(server, connection, kind, name);
}

/* Signals are for the thread of the run. By poll: with epoll libmicrohttpd 0.9.75 keeps half a
 * request whose sender has gone until it has been silent for too long. */
static struct MHD_Daemon *start_daemon(struct server *server, int32_t port)
{
    const struct sockaddr_in address = {.sin_family = AF_INET,
                                        .sin_port = htons((uint16_t)port),
                                        .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    errno = 0;
    struct MHD_Daemon *daemon = MHD_start_daemon(
        MHD_USE_POLL | MHD_USE_INTERNAL_POLLING_THREAD, (uint16_t)port, NULL, NULL, handle, server,
        MHD_OPTION_SOCK_ADDR, (const struct sockaddr *)&address, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)most_connections, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)connection_bytes,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)silent_seconds, MHD_OPTION_END);
    const int reason = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = reason;
    return daemon;
}

kith_status server_start(struct kith_view *view, int32_t port, struct request_gate *gate,
                         struct server **server)
{
    struct server *made = NULL;
    *server = NULL;
    KITH_TRY(kith_allocate(1, sizeof *made, "server", &made));
    made->view = view;
    gate->port = port;
    made->daemon = start_daemon(made, port);
    const union MHD_DaemonInfo *info =
        made->daemon ? MHD_get_daemon_info(made->daemon, MHD_DAEMON_INFO_BIND_PORT) : NULL;
    if (!info) {
        const int reason = errno;
        server_stop(made);
        return kith_fail(KITH_IO_ERROR, "cannot listen on port %d of 127.0.0.1: %s; %s", (int)port,
                         reason ? strerror(reason) : "libmicrohttpd gives no reason",
                         port > 0 ? "give another port, or 0 for any" : "try again");
    }
    gate->port = info->port;
    *server = made;
    return KITH_OK;
}

void server_stop(struct server *server)
{
    if (!server)
        return;
    if (server->daemon)
        MHD_stop_daemon(server->daemon);
    free(server);
}
