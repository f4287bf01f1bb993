/* Whatever bytes reach the server of a view, it answers or closes; without the address's token it
 * refuses. In the input, byte 1 stands for the token and byte 2 for the port, which no fuzzer would
 * guess. */

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fuzz.h"
#include "view/packet.h"
#include "view/view.h"

enum { token_mark = 1, port_mark = 2, longest_mark = request_token_digits, patience_seconds = 8 };

static kith_view *view;
static kith_bodies *bodies;
static struct sockaddr_in address = {.sin_family = AF_INET};

static void stop(void)
{
    kith_view_close(view);
    kith_bodies_free(bodies);
}

/* A view of two bodies with a snapshot that pages can fetch. */
static void start(void)
{
    struct packet *packet = NULL;
    fuzz_require(kith_bodies_create(2, 3, KITH_VELOCITY | KITH_MASS, &bodies) == KITH_OK,
                 "no bodies");
    for (int k = 0; k < 6; k++)
        bodies->position[k] = bodies->velocity[k] = k;
    bodies->mass[0] = bodies->mass[1] = 1;
    fuzz_require(kith_view_open(NULL, bodies, &view) == KITH_OK, "no view");
    atexit(stop);
    address.sin_port = htons((uint16_t)view->gate.port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    fuzz_require(packet_make(bodies, &view->about.place, &view->feed.packets, &packet) == KITH_OK,
                 "no packet");
    packet->content->sequence = 1;
    feed_publish(&view->feed, packet);
}

/* libFuzzer's timer interrupts calls; a connection that it interrupts is waited for. */
static bool connects(int s)
{
    if (connect(s, (const struct sockaddr *)&address, sizeof address) == 0)
        return true;
    struct pollfd ready = {.fd = s, .events = POLLOUT};
    int made = 0;
    while (errno == EINTR)
        if ((made = poll(&ready, 1, patience_seconds * 1000)) >= 0)
            break;
    socklen_t size = sizeof errno;
    return made > 0 && getsockopt(s, SOL_SOCKET, SO_ERROR, &errno, &size) == 0 && errno == 0;
}

/* Each from another address of this host, as ports of connections that are over stay taken for a
 * while. */
static int connected(void)
{
    static uint32_t turn;
    const struct sockaddr_in here = {.sin_family = AF_INET,
                                     .sin_addr.s_addr = htonl(INADDR_LOOPBACK + turn++ % 60000)};
    const struct timeval patience = {.tv_sec = patience_seconds};
    const int later = 1, s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    fuzz_require(
        s >= 0 && setsockopt(s, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &later, sizeof later) == 0 &&
            bind(s, (const struct sockaddr *)&here, sizeof here) == 0,
        strerror(errno));
    if (!connects(s)) {
        perror("the server takes no connection");
        abort();
    }
    setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(s, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    return s;
}

/* The bytes with the marks replaced. A server that has had enough may close before the end. */
static void send_input(int s, const uint8_t *data, size_t size)
{
    char *text = malloc(size * longest_mark + 1), *end = text;
    if (!text)
        abort();
    for (size_t k = 0; k < size; k++)
        if (data[k] == token_mark)
            end = stpcpy(end, view->gate.token);
        else if (data[k] == port_mark)
            end += sprintf(end, "%d", (int)view->gate.port);
        else
            *end++ = (char)data[k];
    for (char *at = text; at < end;) {
        const ssize_t sent = send(s, at, (size_t)(end - at), MSG_NOSIGNAL);
        if (sent < 0 && errno != EINTR)
            break;
        at += sent > 0 ? sent : 0;
    }
    shutdown(s, SHUT_WR);
    free(text);
}

/* What the server says until it closes: at most size bytes of it, zero-terminated. */
static void receive(int s, char *answer, size_t most)
{
    char more[4096];
    size_t length = 0;
    ssize_t got = 0;
    while ((got = recv(s, more, sizeof more, 0)) > 0 || (got < 0 && errno == EINTR)) {
        if (got < 0)
            continue;
        const size_t rest = most - 1 - length;
        const size_t kept = (size_t)got < rest ? (size_t)got : rest;
        memcpy(answer + length, more, kept);
        length += kept;
    }
    answer[length] = 0;
    fuzz_require(got == 0 || (errno != EAGAIN && errno != EWOULDBLOCK),
                 "the server neither answers nor closes");
}

/* The statuses of what only the token opens. */
static bool is_inside(int status)
{
    return (status >= 200 && status < 400) || status == 404 || status == 405 || status == 409;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char answer[1 << 16];
    if (!view)
        start();
    const int s = connected();
    send_input(s, data, size);
    receive(s, answer, sizeof answer);
    close(s);
    fuzz_require(!answer[0] || strncmp(answer, "HTTP/1.", 7) == 0, "an answer that is not HTTP");
    const bool has_token = memchr(data, token_mark, size) != NULL;
    for (const char *at = answer; !has_token && (at = strstr(at, "HTTP/1.")); at++)
        fuzz_require(!is_inside(atoi(at + strlen("HTTP/1.1 "))), "an answer without the token");
    return 0;
}
