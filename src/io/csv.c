#include "io/format.h"

kith_status csv_read(const char *path, const kith_read_options *options, kith_bodies **bodies)
{
    (void)path, (void)options, (void)bodies;
    return kith_fail(KITH_UNSUPPORTED, "csv is not written yet");
}

kith_status csv_write(const kith_bodies *bodies, const char *path,
                      const kith_write_options *options)
{
    (void)path, (void)options, (void)bodies;
    return kith_fail(KITH_UNSUPPORTED, "csv is not written yet");
}

unsigned csv_holds(const kith_bodies *bodies)
{
    (void)bodies;
    return 0;
}
