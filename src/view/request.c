#include "view/request.h"

#include <stdio.h>
#include <string.h>

static bool has_token(const struct request_gate *gate, const char *path)
{
    unsigned char difference = 0;
    if (path[0] != '/' || strnlen(path + 1, request_token_digits + 1) <= request_token_digits)
        return false;
    for (int k = 0; k < request_token_digits; k++)
        difference |= (unsigned char)(path[1 + k] ^ gate->token[k]);
    return difference == 0 && path[1 + request_token_digits] == '/';
}

static bool is_this_host(const struct request_gate *gate, const char *text)
{
    static const char *const names[] = {"127.0.0.1", "localhost"};
    char expected[32];
    for (int k = 0; text && k < 2; k++) {
        snprintf(expected, sizeof expected, "%s:%d", names[k], (int)gate->port);
        if (strcmp(text, expected) == 0)
            return true;
    }
    return false;
}

static bool is_this_origin(const struct request_gate *gate, const char *origin)
{
    static const char scheme[] = "http://";
    const size_t length = sizeof scheme - 1;
    return !origin || (strncmp(origin, scheme, length) == 0 && is_this_host(gate, origin + length));
}

static enum request_kind kind_of(const char *method, const char *name)
{
    static const struct {
        const char *name;
        enum request_kind kind;
        bool is_write;
    } kinds[] = {
        {"about", request_about, false},      {"frame", request_frame, false},
        {"energy", request_energy, false},    {"pause", request_pause, true},
        {"continue", request_continue, true}, {"step", request_step, true},
    };
    const bool reads = strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
    const bool writes = strcmp(method, "POST") == 0;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (strcmp(name, kinds[k].name) == 0)
            return (kinds[k].is_write ? writes : reads) ? kinds[k].kind : request_not_allowed;
    if (!reads)
        return request_not_allowed;
    return strncmp(name, "column/", 7) == 0 ? request_column : request_file;
}

enum request_kind request_decide(const struct request_gate *gate, const struct request *request,
                                 const char **name)
{
    *name = "";
    if (!request->method || !request->path || !has_token(gate, request->path) ||
        !is_this_host(gate, request->host) || !is_this_origin(gate, request->origin))
        return request_forbidden;
    if (request->has_transfer_encoding ||
        (request->content_length && strcmp(request->content_length, "0") != 0))
        return request_too_large;
    *name = request->path + 1 + request_token_digits + 1;
    const enum request_kind kind = kind_of(request->method, *name);
    if (kind == request_column)
        *name += strlen("column/");
    return kind;
}
