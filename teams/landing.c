/* SPDX-License-Identifier: MIT */
#include "teams/landing.h"

#include <string.h>

#include "base/cfi.h"

/* How numbers are stored there (DW_EH_PE_…). */
enum { ULEB = 0x01, OF_4 = 0x03, OF_8 = 0x04, OMITTED = 0xff };

static uint64_t take_uleb(const uint8_t **at)
{
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        uint8_t byte = *(*at)++;
        value |= shift < 64 ? (uint64_t)(byte & 0x7f) << shift : 0;
        if (!(byte & 0x80))
            return value;
    }
}

static uint64_t take(const uint8_t **at, uint8_t as)
{
    uint64_t value = 0;
    size_t size = as == OF_4 ? 4 : 8;
    if (as == ULEB)
        return take_uleb(at);
    memcpy(&value, *at, size);
    *at += size;
    return value;
}

/* Call sites are in the order of their code, as offsets from the function's begin; so are landing pads, where nothing
   else is said. */
static bool find(const uint8_t *at, uint64_t offset, uintptr_t begin, uintptr_t *pad)
{
    if (*at++ != OMITTED)
        return false;
    if (*at++ != OMITTED) /* the types, which are behind the call sites */
        take_uleb(&at);
    uint8_t as = *at++;
    if (as != ULEB && as != OF_4 && as != OF_8)
        return false;
    const uint8_t *end = at;
    uint64_t size = take_uleb(&end);
    for (at = end, end += size; at < end;) {
        uint64_t first = take(&at, as), length = take(&at, as), to = take(&at, as);
        take_uleb(&at); /* what is caught */
        if (offset - first < length) {
            *pad = to ? begin + to : 0;
            return true;
        }
    }
    return true; /* it must not throw */
}

bool teams_landing_pad(uintptr_t address, uintptr_t *pad)
{
    const uint8_t *table;
    uintptr_t begin;
    *pad = 0;
    if (!base_cfi_function(address, &begin, &table))
        return false;
    return !table || find(table, address - begin, begin, pad); /* none: no exception passes it, or none stops there */
}
