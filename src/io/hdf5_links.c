#include "io/hdf5_links.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "io/hdf5_file.h"

enum { deepest = 64, most_links = 1 << 20, name_bytes = 256 };

/* Where the object of a hard link lies in the file. */
#if H5_VERSION_GE(1, 12, 0)
typedef H5O_token_t object_place;
#define PLACE_OF(link) (link)->u.token
#else
typedef haddr_t object_place;
#define PLACE_OF(link) (link)->u.address
#endif

/* A group on the way down from the root. */
struct level {
    const struct level *above; /* NULL at the root */
    int depth;
    object_place place;
    struct visit *visit;
};

/* H5Lvisit would do, but descends forever into a group that contains itself with a damaged count of
 * its links. */
struct visit {
    int64_t links;
    char outside[name_bytes]; /* the link that leads out */
};

static bool is_above(const struct level *level, const object_place *place)
{
    for (; level->above; level = level->above)
        if (memcmp(&level->place, place, sizeof *place) == 0)
            return true;
    return false;
}

/* 0: nothing is wrong, 1: a link leads out, negative: damage. */
static herr_t visit_link(hid_t group, const char *name, const H5L_info_t *link,
                         void *data) /* NOLINT */
{
    const struct level *level = data;
    if (link->type == H5L_TYPE_SOFT)
        return 0;
    if (link->type != H5L_TYPE_HARD) {
        snprintf(level->visit->outside, name_bytes, "%s", name);
        return 1;
    }
    const object_place place = PLACE_OF(link);
    if (level->visit->links++ == most_links || level->depth == deepest)
        return -1;
    if (is_above(level, &place))
        return 0;
    const hid_t member = H5Gopen2(group, name, H5P_DEFAULT);
    if (member < 0) /* no group */
        return 0;
    struct level below = {level, level->depth + 1, place, level->visit};
    const herr_t result =
        H5Literate(member, H5_INDEX_NAME, H5_ITER_NATIVE, NULL, visit_link, &below);
    H5Gclose(member);
    return result;
}

kith_status hdf5_refuse_links_out(hid_t file)
{
    struct visit visit = {0};
    struct level root = {.visit = &visit};
    const herr_t found = H5Literate(file, H5_INDEX_NAME, H5_ITER_NATIVE, NULL, visit_link, &root);
    if (found == 0)
        return KITH_OK;
    if (found < 0)
        return hdf5_fail(KITH_BAD_FORMAT, "its groups are damaged, or too many");
    return kith_fail(KITH_UNSUPPORTED,
                     "link %s leads out of the file, where kith does not follow; copy what it "
                     "leads to into the file",
                     visit.outside);
}
