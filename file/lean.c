/* SPDX-License-Identifier: MIT */
#include "file/lean.h"

#include "base/leb.h"
#include "file/format.h"

static uint64_t load(const unsigned char *at, uint32_t width)
{
    uint64_t v = 0;
    for (uint32_t i = 0; i < width; i++)
        v |= (uint64_t)at[i] << (8 * i);
    uint64_t sign = (uint64_t)1 << (8 * width - 1);
    return width == 8 ? v : (v ^ sign) - sign;
}

static uint64_t fold(uint64_t v)
{
    return v >> 63 ? ~(v << 1) : v << 1;
}

static uint64_t unfold(uint64_t v)
{
    return v & 1 ? ~(v >> 1) : v >> 1;
}

static size_t put_number(unsigned char *to, uint64_t v)
{
    size_t n = 0;
    for (; v >= 0x80; v >>= 7)
        to[n++] = (unsigned char)(v | 0x80);
    to[n++] = (unsigned char)v;
    return n;
}

static size_t put(unsigned char *to, const unsigned char *column, struct file_lean_column c, uint64_t differences)
{
    uint64_t before = 0, mask = 0 - differences;
    size_t n = 0;
    to[n++] = (unsigned char)differences;
    for (uint32_t i = 0; i < c.count; i++) {
        uint64_t v = load(column + i * c.stride, c.width);
        n += put_number(to + n, fold(v - (before & mask)));
        before = v;
    }
    return n;
}

static size_t length_of(uint64_t folded)
{
    return folded ? (70 - (size_t)__builtin_clzll(folded)) / 7 : 1;
}

size_t file_lean_put(unsigned char *to, const unsigned char *column, struct file_lean_column c)
{
    uint64_t before = 0;
    size_t whole = 0, differences = 0;
    for (uint32_t i = 0; i < c.count; i++) {
        uint64_t v = load(column + i * c.stride, c.width);
        whole += length_of(fold(v));
        differences += length_of(fold(v - before));
        before = v;
    }
    return put(to, column, c, differences < whole);
}

const unsigned char *file_lean_get(const unsigned char *at, const unsigned char *end, unsigned char *column,
                                   struct file_lean_column c)
{
    uint64_t before = 0, mask;
    if (at == end || *at > 1)
        return NULL;
    mask = 0 - (uint64_t)*at++;
    struct base_leb r = { at, end, false };
    for (uint32_t i = 0; i < c.count; i++) {
        const uint8_t *from = r.at;
        before = unfold(base_leb_unsigned(&r)) + (before & mask);
        if (r.bad || r.at - from > FILE_LEAN_LONGEST)
            return NULL;
        file_put(column + i * c.stride, c.width, before);
    }
    return r.at;
}
