/* SPDX-License-Identifier: MIT */
/*
 * Numbers of DWARF's tables and of lean columns, within their bounds: little-endian ones of 1, 2, 4 and 8 bytes, and LEB128 (DWARF 5, 7.6).
 *
 * Threads: any.  Hook-safe: yes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct base_leb {
    const uint8_t *at, *end;
    bool bad; /* it went beyond the end: what is taken from then on is 0 */
};

static inline void base_leb_skip(struct base_leb *r, uint64_t bytes)
{
    r->bad |= bytes > (uint64_t)(r->end - r->at);
    r->at = r->bad ? r->end : r->at + bytes;
}

static inline uint64_t base_leb_take(struct base_leb *r, uint32_t bytes)
{
    const uint8_t *at = r->at;
    uint64_t value = 0;
    base_leb_skip(r, bytes);
    if (!r->bad)
        memcpy(&value, at, bytes);
    return value;
}

static inline uint64_t base_leb_of(struct base_leb *r, bool is_signed)
{
    uint64_t value = 0, byte = 0x80;
    uint32_t shift = 0;
    while (byte & 0x80 && !r->bad) {
        byte = base_leb_take(r, 1);
        value |= shift < 64 ? (byte & 0x7f) << shift : 0;
        shift += 7;
    }
    return is_signed && byte & 0x40 && shift < 64 ? value | -(uint64_t)1 << shift : value;
}

static inline uint64_t base_leb_unsigned(struct base_leb *r)
{
    return base_leb_of(r, false);
}

static inline int64_t base_leb_signed(struct base_leb *r)
{
    return (int64_t)base_leb_of(r, true);
}
