#include "kith/build.h"

const char *kith_version(void)
{
    return KITH_VERSION;
}

bool kith_build_has_hdf5(void)
{
#ifdef KITH_HAS_HDF5
    return true;
#else
    return false;
#endif
}
