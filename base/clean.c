/* SPDX-License-Identifier: MIT */
#include "base/clean.h"

#include <stdint.h>
#include <string.h>

/* Length of the UTF-8 sequence at `s`, 0 for what is none (also surrogates, overlong forms, beyond U+10FFFF). */
static int utf8_length(const unsigned char *s)
{
    if (s[0] < 0x80)
        return 1;
    int n = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
    uint32_t code = s[0] & (0xffu >> (n + 1));
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    if (s[0] < 0xc2 || s[0] > 0xf4)
        return 0;
    for (int i = 1; i < n; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (s[i] & 0x3f);
    }
    return code < least[n] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ? 0 : n;
}

void base_clean_utf8(char *text)
{
    for (unsigned char *c = (unsigned char *)text; *c;) {
        int n = utf8_length(c);
        if (n == 0)
            *c = '?';
        c += n ? n : 1;
    }
}

void base_clean(char *text)
{
    for (unsigned char *c = (unsigned char *)text; *c; c++)
        if (*c < ' ' || *c == 0x7f)
            *c = '?';
    base_clean_utf8(text);
    for (unsigned char *c = (unsigned char *)text; *c; c++)
        if (c[0] == 0xc2 && c[1] < 0xa0) /* U+0080 to U+009F */
            c[0] = c[1] = '?';
}

void base_clean_end(char *text)
{
    size_t n = strlen(text), piece = 1;
    while (piece < 4 && piece < n && ((unsigned char)text[n - piece] & 0xc0) == 0x80)
        piece++;
    unsigned char lead = n ? (unsigned char)text[n - piece] : 0;
    size_t whole = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc2 ? 2 : 1;
    if (whole > piece)
        text[n - piece] = '\0';
}
