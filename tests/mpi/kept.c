/* SPDX-License-Identifier: MIT */
/* Calls each wrapper and says what it did not keep of errno and of the floating-point state: one line a call. One rank,
   under Pythia (alone the calls are real ones). */
#pragma GCC visibility push(default) /* what takes the place of a library's */
#include "tests/mpi/kept.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { BEFORE = 77, AFTER = 4242 };

/* All traps on, rounding upwards, nothing raised; and what a call may leave behind. */
enum { VECTOR_BEFORE = 0x4000, VECTOR_AFTER = 0x4011, WORD = 0x0b40 };

long kept_bytes[1024];
MPI_Comm kept_MPI_Comm[KEPT_ROOM];
MPI_Datatype kept_MPI_Datatype[KEPT_ROOM];
MPI_Info kept_MPI_Info[KEPT_ROOM];
MPI_Win kept_MPI_Win[KEPT_ROOM];
MPI_File kept_MPI_File[KEPT_ROOM];
MPI_Request kept_MPI_Request[KEPT_ROOM];
MPI_Message kept_MPI_Message[KEPT_ROOM];
MPI_Group kept_MPI_Group[KEPT_ROOM];
MPI_Op kept_MPI_Op[KEPT_ROOM];
MPI_Errhandler kept_MPI_Errhandler[KEPT_ROOM];
MPI_Fint kept_f_MPI_Comm[KEPT_ROOM], kept_f_MPI_Datatype[KEPT_ROOM], kept_f_MPI_Info[KEPT_ROOM],
    kept_f_MPI_Win[KEPT_ROOM], kept_f_MPI_File[KEPT_ROOM], kept_f_MPI_Request[KEPT_ROOM], kept_f_MPI_Message[KEPT_ROOM],
    kept_f_MPI_Group[KEPT_ROOM], kept_f_MPI_Op[KEPT_ROOM], kept_f_MPI_Errhandler[KEPT_ROOM], kept_f_one[1] = { 1 };

/* What a thread has. */
struct state { int error; uint32_t vector; uint16_t word; };

static const char *looked_at; /* NULL: none */
static int result;
static bool reached;
static struct state inside;
static volatile bool hostile; /* every function of libc leaves an error */

#if defined(__x86_64__)
static void state_get(struct state *s)
{
    s->error = errno;
    __asm__ volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(s->vector), "=m"(s->word));
}

static void state_set(const struct state *s)
{
    __asm__ volatile("ldmxcsr %0\n\tfldcw %1" ::"m"(s->vector), "m"(s->word));
    errno = s->error;
}
#else
static void state_get(struct state *s)
{
    *s = (struct state){errno, 0, WORD};
}

static void state_set(const struct state *s)
{
    errno = s->error;
}
#endif

/* --- A libc whose functions leave errno behind, as they may --- */

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void __libc_free(void *);

static void spoil(void)
{
    if (hostile)
        errno = ENOTTY;
}

void *malloc(size_t size)
{
    void *p = __libc_malloc(size);
    spoil();
    return p;
}

void *calloc(size_t n, size_t size)
{
    void *p = __libc_calloc(n, size);
    spoil();
    return p;
}

void *realloc(void *old, size_t size)
{
    void *p = __libc_realloc(old, size);
    spoil();
    return p;
}

void free(void *p)
{
    __libc_free(p);
    spoil();
}

int madvise(void *address, size_t length, int advice)
{
    int error = (int)syscall(SYS_madvise, address, length, advice);
    spoil();
    return error;
}

/* --- The stand-ins' side --- */

bool kept_is(const char *name)
{
    return looked_at && !strcmp(looked_at, name);
}

int kept_inside(void)
{
    static const struct state after = {AFTER, VECTOR_AFTER, WORD};
    state_get(&inside);
    reached = true;
    state_set(&after);
    return result;
}

void *kept_real(const char *name)
{
    int error = errno;
    void *real = dlsym(RTLD_NEXT, name);
    errno = error;
    return real;
}

void *kept_wrapper(const char *name)
{
    return dlsym(RTLD_DEFAULT, name);
}

/* --- Looking --- */

static void arguments(void)
{
    for (int i = 0; i < KEPT_ROOM; i++) {
        kept_f_MPI_Comm[i] = MPI_Comm_c2f(kept_MPI_Comm[i] = MPI_COMM_SELF);
        kept_f_MPI_Datatype[i] = MPI_Type_c2f(kept_MPI_Datatype[i] = MPI_INT);
        kept_f_MPI_Info[i] = MPI_Info_c2f(kept_MPI_Info[i] = MPI_INFO_NULL);
        kept_f_MPI_Win[i] = MPI_Win_c2f(kept_MPI_Win[i] = MPI_WIN_NULL);
        kept_f_MPI_File[i] = MPI_File_c2f(kept_MPI_File[i] = MPI_FILE_NULL);
        kept_f_MPI_Request[i] = MPI_Request_c2f(kept_MPI_Request[i] = MPI_REQUEST_NULL);
        kept_f_MPI_Message[i] = MPI_Message_c2f(kept_MPI_Message[i] = MPI_MESSAGE_NO_PROC);
        kept_f_MPI_Group[i] = MPI_Group_c2f(kept_MPI_Group[i] = MPI_GROUP_EMPTY);
        kept_f_MPI_Op[i] = MPI_Op_c2f(kept_MPI_Op[i] = MPI_SUM);
        kept_f_MPI_Errhandler[i] = MPI_Errhandler_c2f(kept_MPI_Errhandler[i] = MPI_ERRORS_RETURN);
    }
    memset(kept_bytes, 0, sizeof kept_bytes);
}

static bool differs(const struct state *a, const struct state *b)
{
    return a->error != b->error || a->vector != b->vector || a->word != b->word;
}

static void complain(const char *name, const char *where, const struct state *s)
{
    printf("%s: %s errno %d, mxcsr %x, control word %x\n", name, where, s->error, s->vector, s->word);
}

/* Returns whether the stand-in was reached. */
static bool look(const struct kept_call *call)
{
    static const struct state before = {BEFORE, VECTOR_BEFORE, WORD}, after = {AFTER, VECTOR_AFTER, WORD};
    struct state own, found;
    arguments();
    state_get(&own);
    looked_at = call->name;
    reached = false;
    hostile = true;
    state_set(&before);
    call->drive();
    state_get(&found);
    hostile = false;
    looked_at = NULL;
    state_set(&own);
    if (!reached)
        return false;
#if !defined(__x86_64__)
    found.vector = VECTOR_AFTER;
    inside.vector = VECTOR_BEFORE;
#endif
    if (differs(&inside, &before))
        complain(call->name, "MPI finds", &inside);
    if (differs(&found, &after))
        complain(call->name, "the program finds", &found);
    return true;
}

int main(int argc, char **argv)
{
    int looks = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int turn = 0; turn < 3; turn++) {
        result = turn < 2 ? MPI_SUCCESS : MPI_ERR_OTHER;
        for (const struct kept_call *call = kept_calls; call->name; call++)
            looks += look(call);
    }
    printf("%d calls\n", looks);
    return MPI_Finalize();
}
