/* SPDX-License-Identifier: MIT */
#include "teams/landing.h"

#include "base/cfi.h"
#include "base/leb.h"

/* How numbers are stored there (DW_EH_PE_…). */
enum { ULEB = 0x01, OF_4 = 0x03, OF_8 = 0x04, OMITTED = 0xff, HEAD = 32 /* bytes that its head has at most */ };

static uint64_t landing_take(struct base_leb *r, uint8_t as)
{
    return as == ULEB ? base_leb_unsigned(r) : base_leb_take(r, as == OF_4 ? 4 : 8);
}

/* Call sites are in the order of their code, as offsets from the function's begin; so are landing pads, where nothing
   else is said. */
static bool find(const uint8_t *table, uint64_t offset, uintptr_t begin, uintptr_t *pad)
{
    struct base_leb r = {table, table + HEAD, false};
    if (base_leb_take(&r, 1) != OMITTED)
        return false;
    if (base_leb_take(&r, 1) != OMITTED) /* the types, which are behind the call sites */
        base_leb_unsigned(&r);
    uint8_t as = (uint8_t)base_leb_take(&r, 1);
    uint64_t size = base_leb_unsigned(&r);
    if (r.bad || (as != ULEB && as != OF_4 && as != OF_8))
        return false;
    r.end = r.at + size;
    while (r.at < r.end) {
        uint64_t first = landing_take(&r, as), length = landing_take(&r, as), to = landing_take(&r, as);
        base_leb_unsigned(&r); /* what is caught */
        if (r.bad)
            return false;
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
