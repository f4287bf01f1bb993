/* What a view sends, whom it answers, and what it costs the run. */

#include "testing.h"

#include <arpa/inet.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/clock.h"
#include "random_numbers.h"
#include "simulating.h"
#include "view/about.h"
#include "view/feed.h"
#include "view/packet.h"
#include "view/processor.h"
#include "view/request.h"

static const struct request_gate gate = {"0123456789abcdef0123456789abcdef", 8000};
#define TOKEN "/0123456789abcdef0123456789abcdef/"

static enum request_kind decided(const char *method, const char *path, const char *host,
                                 const char *origin)
{
    const struct request request = {method, path, host, origin, NULL, false};
    const char *name = NULL;
    return request_decide(&gate, &request, &name);
}

static void test_only_the_whole_token_is_let_in(void **state)
{
    (void)state;
    static const char *const wrong[] = {"",
                                        "/",
                                        "/about",
                                        "//about",
                                        "/0123456789abcdef0123456789abcde/",
                                        "/0123456789abcdef0123456789abcdef",
                                        "/0123456789abcdef0123456789abcdeg/",
                                        "/1123456789abcdef0123456789abcdef/",
                                        "/0123456789ABCDEF0123456789abcdef/",
                                        "/0123456789abcdef0123456789abcdef0/about"};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++)
        assert_int_equal(decided("GET", wrong[k], "127.0.0.1:8000", NULL), request_forbidden);
    assert_int_equal(decided("GET", TOKEN, "127.0.0.1:8000", NULL), request_file);
    assert_int_equal(decided("GET", TOKEN "about", "127.0.0.1:8000", NULL), request_about);
}

static void test_only_this_host_is_let_in(void **state)
{
    (void)state;
    static const char *const wrong[] = {"",
                                        "127.0.0.1",
                                        "127.0.0.1:80",
                                        "127.0.0.1:80000",
                                        "localhost",
                                        "localhost:8000.evil.example",
                                        "evil.example:8000",
                                        "0.0.0.0:8000",
                                        "[::1]:8000"};
    assert_int_equal(decided("GET", TOKEN, NULL, NULL), request_forbidden);
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++)
        assert_int_equal(decided("GET", TOKEN, wrong[k], NULL), request_forbidden);
    assert_int_equal(decided("GET", TOKEN, "localhost:8000", NULL), request_file);
}

static void test_pages_of_other_sites_are_not_let_in(void **state)
{
    (void)state;
    static const char *const wrong[] = {"",
                                        "null",
                                        "http://evil.example",
                                        "https://127.0.0.1:8000",
                                        "http://127.0.0.1",
                                        "http://127.0.0.1:8000.evil.example",
                                        "127.0.0.1:8000"};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++)
        assert_int_equal(decided("POST", TOKEN "pause", "127.0.0.1:8000", wrong[k]),
                         request_forbidden);
    assert_int_equal(decided("POST", TOKEN "pause", "127.0.0.1:8000", "http://127.0.0.1:8000"),
                     request_pause);
    assert_int_equal(decided("POST", TOKEN "pause", "127.0.0.1:8000", "http://localhost:8000"),
                     request_pause);
}

static void test_only_pause_continue_and_step_change_anything(void **state)
{
    (void)state;
    const char *const host = "127.0.0.1:8000";
    assert_int_equal(decided("POST", TOKEN "pause", host, NULL), request_pause);
    assert_int_equal(decided("POST", TOKEN "continue", host, NULL), request_continue);
    assert_int_equal(decided("POST", TOKEN "step", host, NULL), request_step);
    assert_int_equal(decided("GET", TOKEN "pause", host, NULL), request_not_allowed);
    assert_int_equal(decided("POST", TOKEN "frame", host, NULL), request_not_allowed);
    assert_int_equal(decided("POST", TOKEN, host, NULL), request_not_allowed);
    assert_int_equal(decided("PUT", TOKEN "about", host, NULL), request_not_allowed);
    assert_int_equal(decided("DELETE", TOKEN, host, NULL), request_not_allowed);
}

static void test_no_request_has_a_body(void **state)
{
    (void)state;
    const char *name = NULL;
    struct request request = {"POST", TOKEN "pause", "127.0.0.1:8000", NULL, "1", false};
    assert_int_equal(request_decide(&gate, &request, &name), request_too_large);
    request.content_length = "0";
    assert_int_equal(request_decide(&gate, &request, &name), request_pause);
    request.has_transfer_encoding = true;
    assert_int_equal(request_decide(&gate, &request, &name), request_too_large);
}

static void test_what_is_said_of_bodies_cannot_end_a_script(void **state)
{
    (void)state;
    kith_bodies *bodies = NULL;
    struct about about;
    assert_ok(kith_bodies_create(2, 3, KITH_NAME | KITH_MASS, &bodies));
    strcpy(bodies->name[0], "</script><b \"\\");
    strcpy(bodies->name[1], "\x1b[31m\xff");
    assert_ok(about_make(bodies, 2, "a\"b<c>&\n", 0, INFINITY, &about));
    assert_non_null(strstr(about.text, "\"title\":\"a\\u0022b\\u003cc\\u003e\\u0026\\u005cn\""));
    assert_null(strpbrk(about.text, "<>&\n\x1b\xff"));
    assert_non_null(strstr(about.text, "\"until\":null"));
    assert_non_null(about_find(&about, "mass"));
    assert_null(about_find(&about, "charge"));
    about_free(&about);
    kith_bodies_free(bodies);
}

/* Rows stay as bodies merge; the origin is the middle of those that are left. */
static void test_a_packet_counts_the_bodies_that_are_left(void **state)
{
    (void)state;
    kith_bodies *bodies = NULL;
    struct about about;
    struct packet *packet = NULL;
    atomic_int alive = 0;
    assert_ok(kith_bodies_create(3, 3, KITH_VELOCITY | KITH_MASS, &bodies));
    for (int k = 0; k < 9; k++)
        bodies->position[k] = k < 3 ? 2 : k < 6 ? NAN : 4;
    for (int i = 0; i < 3; i++)
        bodies->mass[i] = 1;
    assert_ok(about_make(bodies, 3, NULL, 0, INFINITY, &about));
    for (int c = 0; c < 3; c++)
        assert_true(about.place.origin[c] == 3);
    assert_ok(packet_make(bodies, &about.place, &alive, &packet));
    const float *position = (const float *)(packet->content + 1);
    assert_int_equal(packet->content->count, 3);
    assert_true(packet->content->left == 2);
    assert_true(position[0] == -1 && isnan(position[3]) && position[6] == 1);
    packet_release(packet);
    bodies->mass[0] = 2;
    bodies->mass[1] = 0;
    about_update(bodies, &about);
    const float *mass = about_find(&about, "mass")->values;
    assert_true(mass[0] == 2 && mass[1] == 0 && mass[2] == 1);
    about_free(&about);
    kith_bodies_free(bodies);
}

static void test_energies_that_do_not_fit_are_thinned(void **state)
{
    (void)state;
    static struct feed feed;
    static struct feed_energy energy[feed_most_energies];
    assert_ok(feed_begin(&feed));
    for (int k = 0; k < 5000; k++)
        feed_add_energy(&feed, k, 1e-9 * k);
    const int64_t count = feed_copy_energies(&feed, energy);
    assert_in_range(count, feed_most_energies / 2, feed_most_energies);
    assert_true(energy[0].time == 0 && energy[count - 1].time == 4999);
    assert_true(energy[count / 2].time > 1000);
    for (int64_t k = 1; k < count; k++)
        assert_true(energy[k].time > energy[k - 1].time);
    feed_end(&feed);
}

/* A connection over which a request was sent as it is. */
static int sent(int port, const char *request)
{
    const struct sockaddr_in address = {.sin_family = AF_INET,
                                        .sin_port = htons((uint16_t)port),
                                        .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const struct timeval patience = {.tv_sec = 180};
    const int s = socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    assert_int_equal(connect(s, (const struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(send(s, request, strlen(request), MSG_NOSIGNAL), strlen(request));
    return s;
}

static void send_and_leave(int port, const char *request)
{
    close(sent(port, request));
    usleep(1000);
}

/* The answer's first bytes to a request, sent as it is; "" if there is none. */
static const char *answer_to(int port, const char *request)
{
    static char answer[4096];
    const int s = sent(port, request);
    size_t got = 0;
    for (ssize_t n;
         got < sizeof answer - 1 && (n = recv(s, answer + got, sizeof answer - 1 - got, 0)) > 0;)
        got += (size_t)n;
    answer[got] = 0;
    close(s);
    return answer;
}

static const char *asked(int port, const char *method, const char *path, const char *more)
{
    static char request[40000];
    snprintf(request, sizeof request,
             "%s %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nConnection: close\r\n%s\r\n", method, path,
             port, more);
    return answer_to(port, request);
}

static bool has_status(const char *answer, int status)
{
    return strlen(answer) > 12 && atoi(answer + 9) == status;
}

/* NULL in a build without libmicrohttpd, which says so. */
static kith_view *opened(const kith_bodies *bodies, int *port, char path[48])
{
    kith_view *view = NULL;
    const kith_status status = kith_view_open(NULL, bodies, &view);
    if (status == KITH_UNSUPPORTED) {
        assert_true(has_fields(kith_error_message(), "libmicrohttpd-dev"));
        return NULL;
    }
    assert_int_equal(status, KITH_OK);
    assert_int_equal(sscanf(kith_view_address(view), "http://127.0.0.1:%d%47s", port, path), 2);
    assert_int_equal(strlen(path), 34);
    return view;
}

static void test_the_server_answers_its_own_page_alone(void **state)
{
    (void)state;
    kith_bodies *bodies = made("two-body", (kith_initial_options){0});
    int port = 0;
    char path[48], other[64], header[30000] = "X: ";
    kith_view *view = opened(bodies, &port, path);
    if (view) {
        const char *page = asked(port, "GET", path, "");
        assert_true(has_status(page, 200));
        assert_non_null(strstr(page, "Content-Security-Policy: default-src 'none'"));
        assert_true(has_status(asked(port, "GET", "/", ""), 403));
        snprintf(other, sizeof other, "%.33s%c/", path, path[33] == '/' ? 'x' : 'y');
        other[5] = other[5] == 'a' ? 'b' : 'a';
        assert_true(has_status(asked(port, "GET", other, ""), 403));
        assert_true(has_status(asked(port, "GET", path, "Origin: http://evil.example\r\n"), 403));
        snprintf(other, sizeof other, "%snothing", path);
        assert_true(has_status(asked(port, "GET", other, ""), 404));
        snprintf(other, sizeof other, "%spause", path);
        assert_true(has_status(asked(port, "POST", other, "Content-Length: 99999999999\r\n"), 413));
        assert_true(has_status(asked(port, "GET", other, ""), 405));
        memset(header + 3, 'x', sizeof header - 10);
        strcpy(header + sizeof header - 4, "\r\n");
        assert_false(has_status(asked(port, "GET", path, header), 200));
        assert_false(has_status(answer_to(port, "\x16\x03\x01\r\n\r\n"), 200));
    }
    kith_view_close(view);
    kith_bodies_free(bodies);
}

static uint64_t random_next(struct random_numbers *random)
{
    return (uint64_t)random_uniform(random, 0, 0x1p50);
}

/* A whole request with some bytes changed, left out or doubled. */
static void damage(char *text, size_t bytes, struct random_numbers *random)
{
    for (int edits = 1 + (int)(random_next(random) % 4); edits > 0; edits--) {
        const size_t length = strlen(text), at = random_next(random) % (length + 1);
        const uint64_t kind = random_next(random) % 4;
        if (kind == 0 && length > 0)
            text[at % length] = (char)(1 + random_next(random) % 255);
        else if (kind == 1 && length > 0)
            memmove(text + at % length, text + at % length + 1, length - at % length);
        else if (kind == 2)
            text[at] = 0;
        else if (2 * length < bytes)
            memmove(text + length, text + at, length - at + 1);
    }
}

static void test_damaged_requests_get_in_only_with_the_token(void **state)
{
    (void)state;
    struct random_numbers random = random_numbers_begin("damaged requests");
    for (int k = 0; k < 200000; k++) {
        char path[256] = TOKEN "frame", host[128] = "127.0.0.1:8000";
        damage(path, sizeof path, &random);
        if (k % 2)
            damage(host, sizeof host, &random);
        const bool has_token = strncmp(path, TOKEN, strlen(TOKEN)) == 0;
        const bool is_here =
            strcmp(host, "127.0.0.1:8000") == 0 || strcmp(host, "localhost:8000") == 0;
        assert_int_equal(decided("GET", path, host, NULL) != request_forbidden,
                         has_token && is_here);
    }
}

static void test_the_server_outlives_damaged_requests(void **state)
{
    (void)state;
    kith_bodies *bodies = made("two-body", (kith_initial_options){0});
    struct random_numbers random = random_numbers_begin("damaged requests");
    int port = 0;
    char path[48], whole[512], text[2048];
    kith_view *view = opened(bodies, &port, path);
    for (int k = 0; view && k < 200; k++) {
        snprintf(whole, sizeof whole,
                 "GET %sframe?after=-1 HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n"
                 "Content-Length: 0\r\nConnection: close\r\n\r\n",
                 path, port);
        memcpy(text, whole, sizeof whole);
        damage(text, sizeof text, &random);
        send_and_leave(port, text);
    }
    if (view)
        assert_true(has_status(asked(port, "GET", path, ""), 200));
    kith_view_close(view);
    kith_bodies_free(bodies);
}

static void test_options_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    kith_bodies *bodies = made("two-body", (kith_initial_options){0});
    kith_view *view = NULL;
    assert_fails(kith_view_open(&(kith_view_options){.port = 65536}, bodies, &view),
                 KITH_INVALID_ARGUMENT, "port 65536");
    assert_fails(kith_view_open(&(kith_view_options){.steps_per_second = -1}, bodies, &view),
                 KITH_INVALID_ARGUMENT, "steps_per_second -1");
    assert_fails(kith_view_open(NULL, NULL, &view), KITH_INVALID_ARGUMENT, "bodies");
    assert_fails(kith_view_open(NULL, bodies, NULL), KITH_INVALID_ARGUMENT, "view");
    assert_null(view);
    kith_view_close(NULL);
    kith_bodies_free(bodies);
}

/* Requests of a page as fast as it can, until the run has ended. */
struct page {
    int port;
    char frame[64];
    atomic_bool ended;
    atomic_int requests, frames;
};

static void *watch(void *user)
{
    struct page *page = user;
    while (!atomic_load(&page->ended)) {
        atomic_fetch_add(&page->frames, has_status(asked(page->port, "GET", page->frame, ""), 200));
        atomic_fetch_add(&page->requests, 1);
    }
    return NULL;
}

static void wait_for(atomic_int *count)
{
    for (const double end = kith_clock() + 180; atomic_load(count) == 0 && kith_clock() < end;)
        usleep(1000);
    assert_true(atomic_load(count) > 0);
}

/* The states and their bits are the same with a page and without. */
static void test_a_view_changes_nothing_of_a_run(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1);
    kith_bodies *bodies = made("plummer", (kith_initial_options){.count = 100});
    kith_bodies *seen = made("plummer", (kith_initial_options){.count = 100});
    kith_bodies *unseen = made("plummer", (kith_initial_options){.count = 100});
    struct page page = {0};
    char path[48];
    kith_run_options options = {.simulation = {.dt = 1e-3, .forces.softening = 0.1}, .until = 1};
    options.last = unseen;
    assert_ok(kith_run(context, &options, bodies, NULL));
    kith_view *view = opened(bodies, &page.port, path);
    if (view) {
        pthread_t thread;
        snprintf(page.frame, sizeof page.frame, "%sframe?after=-1", path);
        options.last = seen;
        options.between_steps = kith_view_between_steps;
        options.between_user = view;
        assert_int_equal(pthread_create(&thread, NULL, watch, &page), 0);
        wait_for(&page.requests); /* of a page that is slower than the whole run nothing is taken */
        assert_ok(kith_run(context, &options, bodies, NULL));
        wait_for(&page.frames); /* one of a state that was taken meanwhile */
        atomic_store(&page.ended, true);
        pthread_join(thread, NULL);
        assert_memory_equal(seen->position, unseen->position, 300 * sizeof(double));
        assert_memory_equal(seen->velocity, unseen->velocity, 300 * sizeof(double));
    }
    kith_view_close(view);
    kith_bodies_free(bodies);
    kith_bodies_free(seen);
    kith_bodies_free(unseen);
    kith_context_free(context);
}

/* A view, and the processor time of the thread that steps in it. */
struct measured_view {
    kith_view *view;
    double seconds;
};

static int64_t look_and_measure(void *user, kith_simulation *simulation)
{
    struct measured_view *measured = user;
    const double start = processor_seconds();
    const int64_t steps = kith_view_between_steps(measured->view, simulation);
    measured->seconds += processor_seconds() - start;
    return steps;
}

/* At most 1.3 % of the processor time that the run spends, besides the first energy and the last
 * snapshot, however little of a busy machine's time that is. The bound is twice that. */
static void test_a_page_costs_a_run_little_processor_time(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1);
    kith_bodies *bodies = made("plummer", (kith_initial_options){.count = 1000});
    struct page page = {0};
    char path[48];
    struct measured_view measured = {.view = opened(bodies, &page.port, path)};
    const kith_run_options options = {.simulation = {.dt = 1e-3, .forces.softening = 0.1},
                                      .until = 1,
                                      .between_steps = look_and_measure,
                                      .between_user = &measured};
    if (measured.view) {
        pthread_t thread;
        snprintf(page.frame, sizeof page.frame, "%sframe?after=-1", path);
        assert_int_equal(pthread_create(&thread, NULL, watch, &page), 0);
        wait_for(&page.requests);
        const double start = processor_seconds();
        assert_ok(kith_run(context, &options, bodies, NULL));
        const double all = processor_seconds() - start;
        atomic_store(&page.ended, true);
        pthread_join(thread, NULL);
        print_message("%.2f %% of %.2f s between steps\n", 100 * measured.seconds / all, all);
        assert_true(measured.seconds < 0.026 * all);
    }
    kith_view_close(measured.view);
    kith_bodies_free(bodies);
    kith_context_free(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_only_the_whole_token_is_let_in),
        cmocka_unit_test(test_only_this_host_is_let_in),
        cmocka_unit_test(test_pages_of_other_sites_are_not_let_in),
        cmocka_unit_test(test_only_pause_continue_and_step_change_anything),
        cmocka_unit_test(test_no_request_has_a_body),
        cmocka_unit_test(test_what_is_said_of_bodies_cannot_end_a_script),
        cmocka_unit_test(test_a_packet_counts_the_bodies_that_are_left),
        cmocka_unit_test(test_energies_that_do_not_fit_are_thinned),
        cmocka_unit_test(test_the_server_answers_its_own_page_alone),
        cmocka_unit_test(test_damaged_requests_get_in_only_with_the_token),
        cmocka_unit_test(test_the_server_outlives_damaged_requests),
        cmocka_unit_test(test_options_that_make_no_sense_are_refused),
        cmocka_unit_test(test_a_view_changes_nothing_of_a_run),
        cmocka_unit_test(test_a_page_costs_a_run_little_processor_time),
    };
    return cmocka_run_group_tests_name("view", tests, NULL, NULL);
}
