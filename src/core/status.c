#include "core/status.h"

#include <stdarg.h>
#include <stdio.h>

#include "core/printable.h"

enum { message_bytes = 1024 };

/* Made printable: the message may quote a damaged file. */
static _Thread_local char message[message_bytes];

void kith_fail_message(const char *format, ...)
{
    char text[message_bytes];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    make_printable(text, message, sizeof message);
}

kith_status kith_fail_within(kith_status status, const char *format, ...)
{
    char text[message_bytes];
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length >= 0 && length < message_bytes)
        snprintf(text + length, sizeof text - (size_t)length, "%s", message);
    make_printable(text, message, sizeof message);
    return status;
}

const char *kith_error_message(void)
{
    return message;
}

const char *kith_status_name(kith_status status)
{
    switch (status) {
    case KITH_OK:
        return "ok";
    case KITH_INVALID_ARGUMENT:
        return "invalid argument";
    case KITH_OUT_OF_MEMORY:
        return "out of memory";
    case KITH_IO_ERROR:
        return "input/output error";
    case KITH_BAD_FORMAT:
        return "bad format";
    case KITH_UNSUPPORTED:
        return "unsupported";
    case KITH_NO_DEVICE:
        return "no device";
    case KITH_CANCELLED:
        return "cancelled";
    case KITH_INTERNAL_ERROR:
        return "internal error";
    }
    return "unknown status";
}
