/* SPDX-License-Identifier: MIT */
#include "base/array.h"

#include <stdlib.h>
#include <string.h>

#include "pythia.h"

enum { FIRST = 8 };

int base_array_room(void *array, uint32_t *room, uint64_t need, size_t size)
{
    void *old;
    if (need <= *room)
        return 0;
    if (need > BASE_ARRAY_LIMIT)
        return PYTHIA_ELIMIT;
    uint64_t wanted = (uint64_t)*room * 2 > need ? (uint64_t)*room * 2 : need;
    if (wanted < FIRST)
        wanted = FIRST;
    if (wanted > BASE_ARRAY_LIMIT)
        wanted = BASE_ARRAY_LIMIT;
    memcpy(&old, array, sizeof old); /* `array` is the address of a pointer to whatever the elements are */
    void *bigger = realloc(old, wanted * size);
    if (!bigger)
        return PYTHIA_ENOMEM;
    memcpy(array, &bigger, sizeof bigger);
    *room = (uint32_t)wanted;
    return 0;
}

int base_array_more(void *array, uint64_t count, size_t size)
{
    uint32_t room = (uint32_t)count;
    if (count & (count - 1))
        return 0;
    return base_array_room(array, &room, count ? 2 * count : 1, size);
}

int base_array_append(void *array, uint32_t *count, uint32_t *room, const void *elements, uint32_t more, size_t size)
{
    int error = base_array_room(array, room, (uint64_t)*count + more, size);
    char *at;
    if (error || !more)
        return error;
    memcpy(&at, array, sizeof at);
    memcpy(at + size * *count, elements, size * more);
    *count += more;
    return 0;
}

void *base_array_copy(const void *elements, uint64_t count, size_t size)
{
    void *copy = malloc((count + 1) * size);
    if (copy && count)
        memcpy(copy, elements, count * size);
    return copy;
}
