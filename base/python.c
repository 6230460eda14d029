/* SPDX-License-Identifier: MIT */
#include "base/python.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/log.h"
#include "base/modules.h"
#include "base/name.h"

/* Where things lie, bytes from the begin of what they are in. */
struct layout {
    uint32_t finalizing;                         /* of the runtime: set while it ends */
    uint32_t state_id, state_frame, frame_in;    /* of a thread's state; state_frame points to what has the frame */
    uint32_t code, instruction, previous, owner; /* of a frame */
    uint32_t first, file, name, table, bytecode; /* of a code object */
    uint32_t ascii, wide;                        /* of a text: where characters begin */
};
enum { DIRECT = UINT32_MAX /* frame_in: state_frame is the frame */,
       TYPE = 8, SIZE = 16, BYTES = 32, LENGTH = 16, TEXT_STATE = 32, /* of objects, the same in all of them */
       OWNER_NONE = 3 /* this, and above: of a frame that is no code's */ };

#define IMPORTS "<frozen importlib"

static const struct layout layout_3_11 = {24, 152, 56, 8, 32, 56, 48, 69, 72, 112, 128, 136, 184, 48, 72};
static const struct layout layout_3_12 = {24, 136, 56, 0, 0, 56, 8, 70, 68, 112, 128, 136, 192, 40, 56};

static struct layout at;
static const char *runtime;            /* _PyRuntime */
static const char *code_type;
static const char *key;                /* Py_tss_t: whether it is there, the key */
static uintptr_t code_begin, code_end; /* of the interpreter's module */

static inline const char *pointer(const char *from, uint32_t offset)
{
    const char *to;
    memcpy(&to, from + offset, sizeof to);
    return to;
}

static inline uint32_t word(const char *from, uint32_t offset)
{
    uint32_t value;
    memcpy(&value, from + offset, sizeof value);
    return value;
}

static inline uint64_t wide(const char *from, uint32_t offset)
{
    uint64_t value;
    memcpy(&value, from + offset, sizeof value);
    return value;
}

/* --- Finding it --- */

/* The numbers are places in _Py_DebugOffsets of 3.13, of 64-bit words. */
static bool layout_told(struct layout *l)
{
    enum { FREE_THREADED = 2, FINALIZING = 4, CURRENT_FRAME = 23, THREAD_ID = 24, PREVIOUS = 29, EXECUTABLE = 30,
           INSTRUCTION = 31, OWNER = 33, FILE_NAME = 35, QUALIFIED = 37, TABLE = 38, FIRST = 39, BYTECODE = 43,
           OB_TYPE = 45, OB_SIZE = 65, OB_VALUE = 66, STATE = 68, TEXT_LENGTH = 69, ASCII = 70, ALL = 71 };
    uint64_t told[ALL];
    memcpy(told, runtime, sizeof told);
    for (int i = FINALIZING; i < ALL; i++)
        if (told[i] > 1u << 20 && i != FINALIZING)
            return false;
    *l = (struct layout){
        .finalizing = (uint32_t)told[FINALIZING], .state_id = (uint32_t)told[THREAD_ID],
        .state_frame = (uint32_t)told[CURRENT_FRAME], .frame_in = DIRECT, .code = (uint32_t)told[EXECUTABLE],
        .instruction = (uint32_t)told[INSTRUCTION], .previous = (uint32_t)told[PREVIOUS],
        .owner = (uint32_t)told[OWNER], .first = (uint32_t)told[FIRST], .file = (uint32_t)told[FILE_NAME],
        .name = (uint32_t)told[QUALIFIED], .table = (uint32_t)told[TABLE], .bytecode = (uint32_t)told[BYTECODE],
        .ascii = (uint32_t)told[ASCII], .wide = (uint32_t)told[ASCII] + 16 };
    return !memcmp(runtime, "xdebugpy", 8) && !told[FREE_THREADED] && told[OB_TYPE] == TYPE && told[OB_SIZE] == SIZE &&
           told[OB_VALUE] == BYTES && told[STATE] == TEXT_STATE && told[TEXT_LENGTH] == LENGTH;
}

static bool layout_of(unsigned long version, struct layout *l)
{
    if (sizeof(void *) != 8)
        return false;
    if (version >> 16 == 0x30d)
        return layout_told(l);
    *l = version >> 16 == 0x30b ? layout_3_11 : layout_3_12;
    return version >> 16 == 0x30b || version >> 16 == 0x30c;
}

static void python_find_module(void *context, uintptr_t begin, uintptr_t end, uint64_t bias, const char *id,
                               const char *path)
{
    uintptr_t address = (uintptr_t)context;
    (void)bias, (void)id, (void)path;
    if (address >= begin && address < end) {
        code_begin = begin;
        code_end = end;
    }
}

void base_python_start(void)
{
    if (base_hot.python != BASE_PYTHON_NOT || !(runtime = dlsym(RTLD_DEFAULT, "_PyRuntime")))
        return;
    const unsigned long *version = dlsym(RTLD_DEFAULT, "Py_Version"); /* since 3.11 */
    code_type = dlsym(RTLD_DEFAULT, "PyCode_Type");
    base_modules_each(python_find_module, (void *)(uintptr_t)runtime);
    base_hot.python = version && code_type && code_end && layout_of(*version, &at) ? BASE_PYTHON_SOUGHT
                                                                                   : BASE_PYTHON_STRANGE;
    if (base_hot.python == BASE_PYTHON_STRANGE && base_log_is_first_rank())
        base_log_warn("this Python is not 3.11, 3.12 or 3.13: calls are shown by frames of the interpreter, without lines");
}

bool base_python_runs(uintptr_t pc)
{
    return pc >= code_begin && pc < code_end;
}

/* Whether it is the state of this thread, as that says. It may be anything. */
static bool is_own_state(const char *state)
{
    unsigned long id = 0;
    struct iovec to = {&id, sizeof id}, from = {(void *)(uintptr_t)(state + at.state_id), sizeof id};
    return state && process_vm_readv(getpid(), &to, 1, &from, 1, 0) == sizeof id && id == (unsigned long)pthread_self();
}

/* Where the key lies differs even between patches of a version; what it leads to tells it. */
void base_python_seek(void)
{
    enum { NEAR = 16384 /* bytes of the runtime, which has ten times as many */, TRIES = 1000 };
    static _Atomic int tries;
    if (++tries > TRIES) /* no thread of Python's calls, or its memory is not to be looked at */
        base_hot.python = BASE_PYTHON_STRANGE;
    for (uint32_t i = 0; i < NEAR; i += 4) {
        uint32_t number = word(runtime, i + 4);
        if (word(runtime, i) != 1 || number >= PTHREAD_KEYS_MAX || !is_own_state(pthread_getspecific(number)))
            continue;
        key = runtime + i;
        base_hot.python = BASE_PYTHON_KNOWN;
        return;
    }
}

/* --- Frames --- */

static inline const char *innermost(void)
{
    if (!word(key, 0) || pointer(runtime, at.finalizing))
        return NULL;
    const char *state = pthread_getspecific(word(key, 4));
    const char *in = state ? pointer(state, at.state_frame) : NULL;
    return at.frame_in == DIRECT || !in ? in : pointer(in, at.frame_in);
}

static inline bool is_code(const char *frame, const char *code)
{
    return code && (uint8_t)frame[at.owner] < OWNER_NONE && pointer(code, TYPE) == code_type;
}

/* The first and the last lines of the table stand for all of it. */
static inline uint64_t hash_of(const char *frame, const char *code)
{
    const char *table = pointer(code, at.table);
    uint64_t size = wide(table, SIZE), h = (uint64_t)(uintptr_t)code * UINT64_C(0x9e3779b97f4a7c15);
    h = (h ^ wide(frame, at.instruction)) * UINT64_C(0xc2b2ae3d27d4eb4f);
    h ^= (uint64_t)(uintptr_t)table + size * 0x10001 + ((uint64_t)word(code, at.first) << 40);
    if (size >= 8)
        h = (h ^ wide(table, BYTES) ^ wide(table, BYTES + (uint32_t)size - 8) << 1) * UINT64_C(0x9e3779b97f4a7c15);
    h += wide(code, at.file) ^ wide(code, at.name) << 16;
    return h ^ h >> 29;
}

uint64_t base_python_hash(void)
{
    uint64_t h = 0;
    const char *frame = innermost();
    for (int i = 0; frame && i < BASE_PYTHON_FRAMES; i++, frame = pointer(frame, at.previous)) {
        const char *code = pointer(frame, at.code);
        if (is_code(frame, code))
            h = (h ^ hash_of(frame, code)) * UINT64_C(0xff51afd7ed558ccd);
    }
    return h;
}

uint32_t base_python_frames(struct base_python_frame frames[BASE_PYTHON_FRAMES])
{
    uint32_t n = 0;
    const char *frame = base_hot.python == BASE_PYTHON_KNOWN ? innermost() : NULL;
    for (int i = 0; frame && i < BASE_PYTHON_FRAMES; i++, frame = pointer(frame, at.previous)) {
        const char *code = pointer(frame, at.code);
        if (is_code(frame, code))
            frames[n++] = (struct base_python_frame){code, pointer(frame, at.instruction), hash_of(frame, code)};
    }
    return n;
}

/* --- Lines --- */

/* A number of the table, six bits a byte, the lowest first. */
static uint32_t read_number(const uint8_t **p, const uint8_t *end)
{
    uint32_t value = 0, shift = 0;
    while (*p < end && shift < 30) {
        uint8_t byte = *(*p)++;
        value |= (byte & 63u) << shift;
        shift += 6;
        if (!(byte & 64))
            break;
    }
    return value;
}

static int signed_of(uint32_t value)
{
    return value & 1 ? -(int)(value >> 1) : (int)(value >> 1);
}

/* PEP 626 as 3.11 has it (Objects/locations.md): each entry is of 1 to 8 instructions; its first byte says how its
   places are written, what follows is below 128. */
static uint32_t line_of(const char *code, const char *instruction)
{
    enum { LONG = 14, NO_COLUMN = 13, ONE_LINE = 10, NONE = 15 };
    const char *table = pointer(code, at.table);
    const uint8_t *p = (const uint8_t *)table + BYTES, *end = p + wide(table, SIZE);
    int64_t left = (instruction - (code + at.bytecode)) / 2;
    int line = (int)word(code, at.first);
    while (p < end && left >= 0) {
        uint8_t first = *p++;
        uint32_t how = first >> 3 & 15;
        if (how == LONG || how == NO_COLUMN)
            line += signed_of(read_number(&p, end));
        else if (how >= ONE_LINE && how < NO_COLUMN)
            line += (int)how - ONE_LINE;
        while (p < end && !(*p & 0x80))
            p++;
        left -= (first & 7) + 1;
    }
    return line > 0 ? (uint32_t)line : 0;
}

/* One of Unicode's as UTF-8. */
static char *put(char *to, uint32_t c)
{
    if (c < ' ' || (c >= 0xd800 && c < 0xe000))
        c = '?';
    if (c < 0x80) {
        *to++ = (char)c;
        return to;
    }
    int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    *to++ = (char)(0xff00u >> (more + 1) | c >> 6 * more);
    while (more--)
        *to++ = (char)(0x80 | (c >> 6 * more & 63));
    return to;
}

/* False: it is none. What does not go into to[size] is left out. */
static bool text_of(const char *text, char *to, size_t size)
{
    uint32_t state = text ? word(text, TEXT_STATE) : 0, kind = state >> 2 & 7;
    bool compact = state >> 5 & 1, ascii = state >> 6 & 1;
    uint64_t length = text ? wide(text, LENGTH) : 0;
    const char *from = text + (ascii ? at.ascii : at.wide), *end = to + size - 4;
    if (!compact || (kind != 1 && kind != 2 && kind != 4))
        return false;
    for (uint64_t i = 0; i < length && to < end; i++) {
        uint32_t c = 0;
        memcpy(&c, from + i * kind, kind);
        to = put(to, c);
    }
    *to = '\0';
    return true;
}

void *base_python_line(const struct base_python_frame *f)
{
    char file[PATH_MAX], name[BASE_MODULE_ID], id[2 * BASE_MODULE_ID];
    if (!text_of(pointer(f->code, at.file), file, sizeof file) ||
        !text_of(pointer(f->code, at.name), name, sizeof name) ||
        !strncmp(file, IMPORTS, strlen(IMPORTS))) /* as tracebacks have it: what imports is no caller */
        return NULL;
    snprintf(id, sizeof id, BASE_PYTHON_ID "%u:%s:%.64s", word(f->code, at.first), name, base_name(file));
    for (char *c = id; *c; c++)
        *c = *c == ' ' ? '_' : *c;
    return base_modules_script(file, id, line_of(f->code, f->at));
}
