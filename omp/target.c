/* SPDX-License-Identifier: MIT */
/*
 * Target constructs of GNU OpenMP: what the thread does that comes to one.
 *
 *   program ── GOMP_target_ext(device, fn, …) ──> hook: begin ── the real one ── end ──> program
 *
 *   omp target                  the region, by its outlined function; where there is no device libgomp runs it on the
 *                               host, and what is inside is recorded, too. With nowait: the time to start it
 *   omp target data             the begin of such a region, and omp target end data its end: the transfer, not what is
 *                               between
 *   omp target update           by the place of the construct, like these
 *   omp target enter exit data  libgomp has one function for both
 *
 * Each is a span with two values: the bytes that are mapped (GRAMMAR_BYTES: alloc, to, from and tofrom, also those that
 * are on the device already) and the number of the device that the program asked for (GRAMMAR_INDEX).
 * Nothing is changed: no team inside of one has another size than the program's.
 *
 * Threads: any.  Hook-safe: yes.
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "include/pythia.h"
#include "libgomp/real.h"
#include "omp/hooks.h"
#include "session/site.h"

struct target {
    struct session_stream *stream; /* NULL: it passes unrecorded */
    struct session_span span;
};

/* `name` is compared by pointer, as session_key wants it. */
static void target_begin(struct target *t, const char *name, uintptr_t at, void *caller, struct base_frame frame)
{
    int kept = errno;
    uint32_t unknown = GRAMMAR_NONE;
    struct omp_hook_thread *own = &omp_hook_thread;
    omp_hook_look_back(own, frame);
    t->stream = omp_hook_enter(own, frame);
    if (t->stream) {
        session_begin_region(t->stream, &t->span, name, at, session_path_of(t->stream, caller), &unknown, own->region);
        own->kept++;
    }
    errno = kept;
}

/* Of gomp-constants.h: the low byte of a kind. What is none of ALLOC, TO, FROM and TOFROM (always
   or by force, too) is a pointer, a private copy, a release. */
enum { KIND_BITS = 0xff, KIND_PLAIN = 0x80 | 0x10 | 0x3 };

static int64_t target_bytes(size_t count, const size_t *size, const unsigned short *kind)
{
    size_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += kind[i] & KIND_BITS & ~KIND_PLAIN ? 0 : size[i];
    return (int64_t)sum;
}

/* Below 0: the default one, or the host, which comes after all others. */
static int target_device(int device)
{
    enum { DEFAULT = -1 };
    const struct libgomp_real *real = libgomp_real();
    return device >= 0 ? device : device == DEFAULT ? real->omp_get_default_device() : real->omp_get_num_devices();
}

static void target_end(struct target *t, int device, int64_t bytes)
{
    int kept = errno;
    struct grammar_event event = { .channels = 1u << GRAMMAR_BYTES | 1u << GRAMMAR_INDEX };
    if (!t->stream)
        return;
    event.value[GRAMMAR_BYTES] = bytes;
    event.value[GRAMMAR_INDEX] = target_device(device);
    omp_hook_thread.kept--;
    session_end_at(t->stream, &t->span, &event, base_clock_now(), 0);
    errno = kept;
}

/* `at`: what it is known by, an outlined function's address or that of the call. */
#define TARGET(function, shown, at, device, bytes, parameters, arguments)                   \
    PYTHIA_API void function parameters;                                                    \
    void function parameters                                                                \
    {                                                                                       \
        static const char name[] = shown;                                                   \
        struct target t;                                                                    \
        void *caller = __builtin_return_address(0);                                         \
        target_begin(&t, name, (uintptr_t)(at), caller, base_frame_here());                 \
        int64_t mapped = t.stream ? (bytes) : 0;                                            \
        libgomp_real()->function arguments;                                                 \
        target_end(&t, device, mapped);                                                     \
    }
#define CALL   (char *)caller - 1
#define MAPPED target_bytes(count, size, kind)
#define MAPS   size_t count, void **at, size_t *size, unsigned short *kind
TARGET(GOMP_target_ext, "omp target", fn, device, MAPPED,
       (int device, void (*fn)(void *), MAPS, unsigned flags, void **depend, void **arguments),
       (device, fn, count, at, size, kind, flags, depend, arguments))
TARGET(GOMP_target_data_ext, "omp target data", CALL, device, MAPPED, (int device, MAPS),
       (device, count, at, size, kind))
TARGET(GOMP_target_update_ext, "omp target update", CALL, device, MAPPED,
       (int device, MAPS, unsigned flags, void **depend), (device, count, at, size, kind, flags, depend))
TARGET(GOMP_target_enter_exit_data, "omp target enter exit data", CALL, device, MAPPED,
       (int device, MAPS, unsigned flags, void **depend), (device, count, at, size, kind, flags, depend))
TARGET(GOMP_target_end_data, "omp target end data", CALL, -1, 0, (void), ())
