/* SPDX-License-Identifier: MIT */
/*
 * The functions of the OpenMP API that the hooks stand in front of: all of them answer what the OpenMP library answers,
 * but for what a lowered region would change (omp_in_parallel, omp_get_active_level), and what one that is called without
 * libgomp would (levels).
 */
#include <errno.h>
#include <stdint.h>

#include "include/pythia.h"
#include "omp/ask.h"
#include "omp/hooks.h"
#include "libgomp/real.h"
#include "omp/team.h"
#include "session/unwind.h"

/* Nothing that was noted is forgotten, so each thread notes a place once: finding the functions takes ten times as long as
   looking who calls. Libraries ask before each of their calls. */
enum { NOTED = 16 };
static _Thread_local struct { uintptr_t caller, above; } noted[NOTED] __attribute__((tls_model("initial-exec")));

static void note(uintptr_t caller, uintptr_t above)
{
    uint32_t slot = (uint32_t)((caller ^ above * 3) * 0x9e3779b97f4a7c15u >> 40) % NOTED;
    if (noted[slot].caller == caller && noted[slot].above == above)
        return;
    omp_hook_ask_note(caller, above);
    noted[slot].caller = caller;
    noted[slot].above = above;
}

/* Of the frames found these matter: the program's call, and the call of that function. */
static __attribute__((noinline)) void asked(void *caller)
{
    void *frames[5];
    int kept = errno;
    omp_hook_look_back(&omp_hook_thread, base_frame_here());
    if (omp_hook_thread.region) {
        omp_hook_team_asked();
        omp_hook_keep_icv();
    }
    int depth = session_unwind(frames, 5), i = 0;
    while (i + 1 < depth && frames[i] != caller)
        i++;
    note((uintptr_t)caller, i + 1 < depth ? (uintptr_t)frames[i + 1] : 0);
    errno = kept;
}

#define OMP_HOOK_ASK(type, name, parameters, arguments) \
    PYTHIA_API type name parameters;                    \
    type name parameters                                \
    {                                                   \
        asked(__builtin_return_address(0));             \
        return libgomp_real()->name arguments;         \
    }

/* A loop with a static schedule asks for the size of its team and next for the thread's number: both are its own. */
static inline void asked_size(void)
{
    omp_hook_thread.asked_alone += omp_hook_thread.asked_size;
    omp_hook_thread.asked_size = true;
}

static inline void asked_number(void)
{
    omp_hook_thread.asked_alone += !omp_hook_thread.asked_size;
    omp_hook_thread.asked_size = false;
}

#define OMP_HOOK_COUNT(type, name, asked)  \
    PYTHIA_API type name(void);            \
    type name(void)                        \
    {                                      \
        asked();                           \
        return libgomp_real()->name();    \
    }

/* A team of one is not active; the program's own one would be. */
#define OMP_HOOK_LEVEL(type, name, active)           \
    PYTHIA_API type name(void);                      \
    type name(void)                                  \
    {                                                \
        if (omp_hook_thread.lowered)                 \
            return active;                           \
        return libgomp_real()->name();              \
    }

#define OMP_HOOK_SET(name, parameters, arguments) \
    PYTHIA_API void name parameters;              \
    void name parameters                          \
    {                                             \
        omp_hook_keep_icv();                      \
        libgomp_real()->name arguments;          \
    }

#define OMP_HOOK_NEST(name)                                            \
    PYTHIA_API int name(void);                                         \
    int name(void)                                                     \
    {                                                                  \
        return libgomp_real()->name() + (int)omp_hook_thread.direct;  \
    }

/* Only the outermost region is called without libgomp: it is level 1, and what libgomp calls 1 is 2. */
#define OMP_HOOK_DEPTH(name, plain, parameters, arguments, level, inside) \
    PYTHIA_API int name parameters;                                       \
    int name parameters                                                   \
    {                                                                     \
        int answer = !omp_hook_thread.direct || (level) < 1 ? libgomp_real()->name arguments  \
                     : (level) == 1 ? (inside) : libgomp_real()->plain((int)(level) - 1);     \
        omp_hook_thread.asked_alone += (level) > 0 && answer >= 0; /* no loop asks that */     \
        return answer;                                                    \
    }

#include "libgomp/omp_calls.def"
