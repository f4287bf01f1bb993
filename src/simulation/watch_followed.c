/* Pairs of bodies that an integrator follows by steps of its own. */

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "simulation/watch.h"

kith_status watch_add_followed(struct watch_followed_list *list, const struct watch_followed *pair)
{
    if (list->count == list->room) {
        const int64_t room = list->room > 0 ? 2 * list->room : 64;
        struct watch_followed *grown = NULL;
        KITH_TRY(kith_allocate(room, sizeof *grown, "close encounters", &grown));
        if (list->count > 0)
            memcpy(grown, list->pair, (size_t)list->count * sizeof *grown);
        free(list->pair);
        list->pair = grown;
        list->room = room;
    }
    list->pair[list->count++] = *pair;
    return KITH_OK;
}

struct watch_followed *watch_find_followed(const struct watch_followed_list *list, int64_t i,
                                           int64_t j)
{
    int64_t begin = 0, end = list->count;
    while (begin < end) {
        const int64_t middle = begin + (end - begin) / 2;
        struct watch_followed *pair = &list->pair[middle];
        if (pair->i == i && pair->j == j)
            return pair;
        if (pair->i < i || (pair->i == i && pair->j < j))
            begin = middle + 1;
        else
            end = middle;
    }
    return NULL;
}
