#include "core/status.h"

#include <stdarg.h>
#include <stdio.h>

enum { message_bytes = 1024 };

static _Thread_local char message[message_bytes];

/* A message may quote a damaged file, or the name of one: line breaks and terminal controls do not
 * belong in it. */
static void hide_controls(char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            *text = '?';
}

void kith_fail_message(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    hide_controls(message);
}

kith_status kith_fail_within(kith_status status, const char *format, ...)
{
    char earlier[message_bytes];
    snprintf(earlier, sizeof earlier, "%s", message);

    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    if (length >= 0 && length < message_bytes)
        snprintf(message + length, sizeof message - (size_t)length, "%s", earlier);
    hide_controls(message);
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
