#include "io/format.h"

kith_status tipsy_read(const char *path, const kith_read_options *options, kith_bodies **bodies)
{
    (void)path, (void)options, (void)bodies;
    return kith_fail(KITH_UNSUPPORTED, "tipsy is not written yet");
}

kith_status tipsy_write(const kith_bodies *bodies, const char *path,
                      const kith_write_options *options)
{
    (void)path, (void)options, (void)bodies;
    return kith_fail(KITH_UNSUPPORTED, "tipsy is not written yet");
}

unsigned tipsy_holds(const kith_bodies *bodies)
{
    (void)bodies;
    return 0;
}
