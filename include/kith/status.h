#ifndef KITH_STATUS_H
#define KITH_STATUS_H

/* Marks the exported functions of the library. */
#define KITH_API __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

/* The result of every function that can fail. 0 is success. */
typedef enum kith_status {
    KITH_OK = 0,
    KITH_INVALID_ARGUMENT, /* an argument has an invalid value */
    KITH_OUT_OF_MEMORY,    /* memory of the host or the device ran out */
    KITH_IO_ERROR,         /* the system could not open, read or write a file */
    KITH_BAD_FORMAT,       /* a file has invalid content */
    KITH_UNSUPPORTED,      /* this build, backend or format does not support what was requested */
    KITH_NO_DEVICE,        /* the requested device does not exist */
    KITH_CANCELLED,        /* kith_context_cancel was called */
    KITH_INTERNAL_ERROR    /* a bug of kith: please report it */
} kith_status;

/* One sentence on the last failure in this thread: which argument, its value, the remedy.
 *
 * Valid until the next kith call in the same thread; never NULL; "" if nothing has failed. */
KITH_API const char *kith_error_message(void);

/* The status as a word, for example "invalid argument". Never NULL. */
KITH_API const char *kith_status_name(kith_status status);

#ifdef __cplusplus
}
#endif

#endif
