/* SPDX-License-Identifier: MIT */
/* Frames that run and frames that were left: by a jump, on other stacks, on stacks that are gone. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "base/frame.h"
#include "tests/unit/unit.h"

#if __has_attribute(noclone)
#define OUT_OF_LINE __attribute__((noinline, noclone))
#else
#define OUT_OF_LINE __attribute__((noinline))
#endif

static OUT_OF_LINE bool runs(struct base_frame frame)
{
    volatile bool answer = base_frame_runs(frame, base_frame_here());
    return answer;
}

/* From further below. */
static OUT_OF_LINE bool runs_deep(struct base_frame frame, int depth)
{
    volatile char room[64];
    room[0] = (char)depth;
    bool answer = depth ? runs_deep(frame, depth - 1) : runs(frame);
    room[1] = room[0];
    return answer;
}

static OUT_OF_LINE struct base_frame gone(void)
{
    volatile struct base_frame frame = base_frame_here();
    return (struct base_frame){frame.at, frame.word};
}

/* Before the stack is known, too. */
START_TEST(the_first_question_asks_the_kernel)
{
    struct base_frame frame = gone();
    ck_assert(runs(base_frame_here()));
    ck_assert(!runs_deep(frame, 3));
}
END_TEST

START_TEST(a_callers_frame_runs)
{
    base_frame_prepare();
    ck_assert(runs(base_frame_here()));
    ck_assert(runs_deep(base_frame_here(), 100));
    ck_assert(runs_deep(base_frame_at(base_frame_here().at), 100));
}
END_TEST

START_TEST(a_frame_that_returned_does_not)
{
    base_frame_prepare();
    struct base_frame frame = gone();
    ck_assert(!runs(frame));
    ck_assert(!runs_deep(frame, 1));
    ck_assert(!runs_deep(frame, 100));
    ck_assert(!base_frame_runs(frame, base_frame_here()));
}
END_TEST

static jmp_buf out;
static struct base_frame left;

static OUT_OF_LINE void leave(void)
{
    left = base_frame_here();
    longjmp(out, 1);
}

START_TEST(a_frame_that_was_jumped_out_of_does_not)
{
    base_frame_prepare();
    if (!setjmp(out))
        leave();
    ck_assert(!runs(left));
    ck_assert(!runs_deep(left, 10));
    ck_assert(!base_frame_runs(left, base_frame_here()));
}
END_TEST

/* --- User-level stacks --- */

static ucontext_t whole, part;
static struct base_frame inside;
static bool outer_runs;
static struct base_frame outside;

static void on_its_own_stack(void)
{
    inside = base_frame_here();
    outer_runs = runs(outside);
    swapcontext(&part, &whole);
}

START_TEST(stacks_of_user_level_threads)
{
    size_t size = 256 << 10;
    base_frame_prepare();
    char *stack = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(stack, MAP_FAILED);
    outside = base_frame_here();
    ck_assert_int_eq(getcontext(&part), 0);
    part.uc_stack.ss_sp = stack;
    part.uc_stack.ss_size = size;
    part.uc_link = &whole;
    makecontext(&part, on_its_own_stack, 0);
    swapcontext(&whole, &part);
    ck_assert(outer_runs);
    ck_assert(runs(inside)); /* it waits */
    munmap(stack, size);
    ck_assert(!runs(inside)); /* and is not read any more */
}
END_TEST

/* --- Signals on a stack of their own --- */

static bool below_runs;

static void on_signal(int signal)
{
    (void)signal;
    below_runs = runs(outside);
    inside = base_frame_here();
}

START_TEST(the_stack_of_signals)
{
    static char room[1 << 16];
    stack_t stack = {.ss_sp = room, .ss_size = sizeof room};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
    base_frame_prepare();
    ck_assert_int_eq(sigaltstack(&stack, NULL), 0);
    ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
    outside = base_frame_here();
    raise(SIGUSR1);
    ck_assert(below_runs);
}
END_TEST

static void *in_a_thread(void *unused)
{
    base_frame_prepare();
    struct base_frame frame = gone();
    (void)unused;
    return runs(base_frame_here()) && !runs_deep(frame, 3) ? &left : NULL;
}

START_TEST(threads_have_their_own)
{
    pthread_t thread;
    void *right = NULL;
    ck_assert_int_eq(pthread_create(&thread, NULL, in_a_thread, NULL), 0);
    ck_assert_int_eq(pthread_join(thread, &right), 0);
    ck_assert_ptr_nonnull(right);
}
END_TEST

int main(void)
{
    static const struct unit_test tests[] = {
        UNIT_TEST(the_first_question_asks_the_kernel),
        UNIT_TEST(a_callers_frame_runs),
        UNIT_TEST(a_frame_that_returned_does_not),
        UNIT_TEST(a_frame_that_was_jumped_out_of_does_not),
        UNIT_TEST(stacks_of_user_level_threads),
        UNIT_TEST(the_stack_of_signals),
        UNIT_TEST(threads_have_their_own),
    };
    return unit_run("base/frame", tests, UNIT_COUNT(tests));
}
