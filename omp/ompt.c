/* SPDX-License-Identifier: MIT */
/*
 * Programs on LLVM's OpenMP library: their regions, by OMPT (OpenMP 5.0, chapter 4).
 *
 * libomp looks for ompt_start_tool when it starts and finds it here, preloaded or linked. A region is known by the
 * place that enters it, not by its outlined function, and is a span of the thread that entered it as in hooks.h, with
 * the size of its team; those that workers enter pass unrecorded. A predicted run follows them.
 *
 * OMPT only watches: team sizes and tasks cannot be changed through it, so nothing is acted on, and nothing is
 * interposed. Programs of gcc that run on libomp come through the GOMP_ hooks; what these see is not recorded twice.
 *
 * The few types of omp-tools.h that are used are declared here: the interface is an ABI, and the header is part of a
 * compiler that nobody needs otherwise.
 *
 * Threads: any.  Hook-safe: yes, but for the first region.
 */
#include <errno.h>
#include <string.h>

#include "include/pythia.h"
#include "omp/hooks.h"
#include "session/life.h"

typedef union { uint64_t value; void *ptr; } tool_data;
typedef void (*tool_function)(void);
typedef tool_function (*tool_lookup)(const char *name);
struct ompt_start_tool_result {
    int (*initialize)(tool_lookup lookup, int device, tool_data *data);
    void (*finalize)(tool_data *data);
    tool_data data;
};
enum { PARALLEL_BEGIN = 3, PARALLEL_END = 4, IMPLICIT_TASK = 7 }; /* ompt_callbacks_t */
enum { SCOPE_BEGIN = 1 };                                         /* ompt_scope_endpoint_t */
enum { TASK_INITIAL = 1 };                                        /* ompt_task_flag_t */

static const char region_name[] = "omp parallel";

/* The open regions of a thread; what is nested deeper passes through. */
enum { OPEN = 8 };
static _Thread_local struct {
    struct { struct session_stream *stream; struct session_span span; uint32_t team; } region[OPEN];
    uint32_t depth;  /* regions entered and not left, those that did not fit included */
    uint32_t worker; /* teams of others that this thread works in */
} own;

/* The runtime's functions between the program and this callback go; the frame from which the region was entered
   stays. */
static struct session_stream *enter(const void *const *entered)
{
    const void *frame = entered && entered[1] ? entered[1] : (const void *)UINTPTR_MAX;
    if (own.worker || omp_hook_thread.region ||
        (session_mode() == SESSION_OFF && !session_start_alone()))
        return NULL;
    return session_enter_from(base_frame_at(frame));
}

static void parallel_begin(tool_data *task, const void *frame, tool_data *parallel, unsigned asked, int flags,
                           const void *caller)
{
    struct session_key key;
    (void)task, (void)parallel, (void)asked, (void)flags;
    uint32_t depth = own.depth++;
    if (depth >= OPEN)
        return;
    int kept = errno;
    own.region[depth].team = 0;
    own.region[depth].stream = enter(frame); /* an ompt_frame_t: exit_frame, enter_frame */
    errno = kept;
    if (!own.region[depth].stream)
        return;
    memset(&key, 0, sizeof key);
    key.function = region_name;
    key.region = (uint64_t)(uintptr_t)caller - 1; /* the call, not what follows it */
    key.callsite = GRAMMAR_NONE;
    key.comm = GRAMMAR_NONE;
    key.kind = JOB_REGION;
    session_begin(own.region[depth].stream, &own.region[depth].span, &key);
    errno = kept;
}

static void parallel_end(tool_data *parallel, tool_data *task, int flags, const void *caller)
{
    struct grammar_event event;
    (void)parallel, (void)task, (void)flags, (void)caller;
    uint32_t depth = own.depth > 0 ? --own.depth : OPEN;
    if (depth >= OPEN || !own.region[depth].stream)
        return;
    int kept = errno;
    event.channels = own.region[depth].team ? 1u << GRAMMAR_TEAM : 0;
    event.value[GRAMMAR_TEAM] = own.region[depth].team;
    session_end(own.region[depth].stream, &own.region[depth].span, &event);
    errno = kept;
}

/* Thread 0 of a team is the one that entered the region. */
static void implicit_task(int scope, tool_data *parallel, tool_data *task, unsigned threads, unsigned number, int flags)
{
    (void)parallel, (void)task;
    if (flags & TASK_INITIAL)
        return;
    if (number > 0 && scope == SCOPE_BEGIN)
        own.worker++;
    else if (number > 0)
        own.worker -= own.worker > 0;
    else if (scope == SCOPE_BEGIN && own.depth > 0 && own.depth <= OPEN)
        own.region[own.depth - 1].team = threads;
}

static int initialize(tool_lookup lookup, int device, tool_data *data)
{
    tool_function found = lookup("ompt_set_callback");
    int (*set)(int event, tool_function callback);
    (void)device, (void)data;
    if (!found)
        return 0;
    memcpy(&set, &found, sizeof set);
    set(PARALLEL_BEGIN, (tool_function)parallel_begin);
    set(PARALLEL_END, (tool_function)parallel_end);
    set(IMPLICIT_TASK, (tool_function)implicit_task);
    return 1;
}

static void finalize(tool_data *data)
{
    (void)data;
}

PYTHIA_API struct ompt_start_tool_result *ompt_start_tool(unsigned version, const char *runtime);
struct ompt_start_tool_result *ompt_start_tool(unsigned version, const char *runtime)
{
    static struct ompt_start_tool_result tool = { initialize, finalize, { 0 } };
    (void)version, (void)runtime;
    return &tool;
}
