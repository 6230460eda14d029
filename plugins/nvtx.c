/* SPDX-License-Identifier: MIT */
/*
 * NVTX's names: ranges that are pushed and popped, started and ended, of all domains, are regions. So are those of
 * whatever speaks NVTX 3: Python's nvtx, PyTorch, C++.
 *
 *   NVTX_INJECTION64_PATH=…/pythia/nvtx.so mpirun -n 4 pythia record ./app
 *
 * The first use of NVTX in a module of the program loads this and calls InitializeInjectionNvtx2() with a function that
 * gives tables of pointers, to be filled (https://github.com/NVIDIA/NVTX, nvtxTypes.h). Numbers and layouts below are
 * of that interface. A range that another thread ends than started it ends with what is around it.
 */
#include <stddef.h>
#include <wchar.h>

#include "plugins/names.h"

enum { TABLE_CALLBACKS = 1, MODULE_CORE = 1, MODULE_CORE2 = 5 };
enum { START_EX = 4, START_A = 5, START_W = 6, END = 7, PUSH_EX = 8, PUSH_A = 9, PUSH_W = 10, POP = 11 };
enum { DOMAIN_START_EX = 2, DOMAIN_END = 3, DOMAIN_PUSH_EX = 4, DOMAIN_POP = 5, DOMAIN_STRING_A = 10,
       DOMAIN_STRING_W = 11, DOMAIN_A = 12, DOMAIN_W = 13 };
enum { MESSAGE_ASCII = 1, MESSAGE_WIDE = 2, MESSAGE_REGISTERED = 3, LONGEST = 256 };

typedef void (*function)(void);
typedef const void *(*export_table)(uint32_t id);
struct callbacks { size_t size; int (*table)(int module, function ***table, unsigned *size); };
struct attributes {
    uint16_t version, size;
    uint32_t category;
    int32_t color_type;
    uint32_t color;
    int32_t payload_type, reserved;
    uint64_t payload;
    int32_t message_type;
    const void *message;
};

static __thread int depth;
static const char nameless[] = "nvtx";

/* Letters that ASCII has not are '?'. */
static const char *narrow(const wchar_t *wide, char text[LONGEST])
{
    size_t n = 0;
    for (; wide && wide[n] && n + 1 < LONGEST; n++)
        text[n] = wide[n] > 0 && wide[n] < 128 ? (char)wide[n] : '?';
    text[n] = '\0';
    return text;
}

/* Strings are registered as their numbers. */
static const char *message(const struct attributes *a, char text[LONGEST])
{
    const char *name = NULL;
    if (a && a->message && a->message_type == MESSAGE_ASCII)
        name = a->message;
    else if (a && a->message && a->message_type == MESSAGE_WIDE)
        name = narrow(a->message, text);
    else if (a && a->message && a->message_type == MESSAGE_REGISTERED)
        name = names_of((uint32_t)(uintptr_t)a->message);
    return name && *name ? name : nameless;
}

static int push_a(const char *name)
{
    pythia_region_begin(name && *name ? name : nameless);
    return depth++;
}

static int push_w(const wchar_t *name)
{
    char text[LONGEST];
    return push_a(narrow(name, text));
}

static int push_ex(const struct attributes *a)
{
    char text[LONGEST];
    return push_a(message(a, text));
}

static int push_in(void *domain, const struct attributes *a)
{
    (void)domain;
    return push_ex(a);
}

static int pop(void)
{
    if (!depth)
        return -1;
    pythia_region_end(NULL);
    return --depth;
}

static int pop_in(void *domain)
{
    (void)domain;
    return pop();
}

static uint64_t start_a(const char *name)
{
    return names_begin(name && *name ? name : nameless);
}

static uint64_t start_w(const wchar_t *name)
{
    char text[LONGEST];
    return start_a(narrow(name, text));
}

static uint64_t start_ex(const struct attributes *a)
{
    char text[LONGEST];
    return start_a(message(a, text));
}

static uint64_t start_in(void *domain, const struct attributes *a)
{
    (void)domain;
    return start_ex(a);
}

static void end(uint64_t id)
{
    names_end((uint32_t)id);
}

static void end_in(void *domain, uint64_t id)
{
    (void)domain;
    end(id);
}

static void *string_a(void *domain, const char *text)
{
    (void)domain;
    return (void *)(uintptr_t)(text && *text ? names_number(text) : 0);
}

static void *string_w(void *domain, const wchar_t *wide)
{
    char text[LONGEST];
    return string_a(domain, narrow(wide, text));
}

/* All are one. */
static void *domain_of(const void *name)
{
    static char domain;
    (void)name;
    return &domain;
}

static void fill(const struct callbacks *c, int module, const function *of, unsigned count)
{
    function **table = NULL;
    unsigned size = 0;
    if (!c->table(module, &table, &size))
        return;
    for (unsigned i = 0; i < count && i < size; i++)
        if (of[i] && table[i])
            *table[i] = of[i];
}

NAMES_EXPORT int InitializeInjectionNvtx2(export_table get);
NAMES_EXPORT int InitializeInjectionNvtx2(export_table get)
{
    static const function core[] = { [START_EX] = (function)start_ex, [START_A] = (function)start_a,
                                     [START_W] = (function)start_w, [END] = (function)end,
                                     [PUSH_EX] = (function)push_ex, [PUSH_A] = (function)push_a,
                                     [PUSH_W] = (function)push_w, [POP] = (function)pop };
    static const function core2[] = { [DOMAIN_START_EX] = (function)start_in, [DOMAIN_END] = (function)end_in,
                                      [DOMAIN_PUSH_EX] = (function)push_in, [DOMAIN_POP] = (function)pop_in,
                                      [DOMAIN_STRING_A] = (function)string_a, [DOMAIN_STRING_W] = (function)string_w,
                                      [DOMAIN_A] = (function)domain_of, [DOMAIN_W] = (function)domain_of };
    const struct callbacks *c = get(TABLE_CALLBACKS);
    if (!c || c->size < sizeof *c || !c->table)
        return 0;
    fill(c, MODULE_CORE, core, sizeof core / sizeof *core);
    fill(c, MODULE_CORE2, core2, sizeof core2 / sizeof *core2);
    return 1;
}
