/* SPDX-License-Identifier: MIT */
/* Bytes as hexadecimal digits, as build-ids are written.  Threads: any.  Hook-safe: yes. */
#pragma once

#include <stddef.h>

/* text[2 * n + 1]; returns it. */
static inline const char *base_hex(char *text, const void *bytes, size_t n)
{
    for (size_t i = 0; i < 2 * n; i++)
        text[i] = "0123456789abcdef"[((const unsigned char *)bytes)[i / 2] >> (i % 2 ? 0 : 4) & 15];
    text[2 * n] = '\0';
    return text;
}
