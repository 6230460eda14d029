/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "inside/walk.h"

#include <errno.h>

#if defined(HAVE_UNWIND_PTRACE) && (defined(__x86_64__) || defined(__aarch64__))
#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <libunwind-ptrace.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/order.h"

enum { THREADS = 4096, STACK = 1 << 20 /* bytes copied of each */, PAGE = 4096, PAGES = 256,
       TURNS = 200 /* of 1 ms */ };

struct thread {
    pid_t id;
    bool stopped;
    int signal; /* that it got instead, and gets when it is let go */
    struct user_regs_struct registers;
    uint64_t from; /* of `stack` */
    size_t size;
    unsigned char *stack;
};

/* What is being walked: libunwind's own search for tables hands its own context to our functions. */
static struct {
    int memory; /* /proc/PID/mem */
    void *tables;
    const struct thread *thread;
    struct { uint64_t at; unsigned char bytes[PAGE]; } page[PAGES]; /* of what is no stack */
} walk;

#ifdef __x86_64__
static uint64_t stack_of(const struct user_regs_struct *r)
{
    return r->rsp;
}

static bool register_of(const struct user_regs_struct *r, unw_regnum_t number, unw_word_t *value)
{
    const unsigned long long all[] = {
        [UNW_X86_64_RAX] = r->rax, [UNW_X86_64_RDX] = r->rdx, [UNW_X86_64_RCX] = r->rcx, [UNW_X86_64_RBX] = r->rbx,
        [UNW_X86_64_RSI] = r->rsi, [UNW_X86_64_RDI] = r->rdi, [UNW_X86_64_RBP] = r->rbp, [UNW_X86_64_RSP] = r->rsp,
        [UNW_X86_64_R8] = r->r8,   [UNW_X86_64_R9] = r->r9,   [UNW_X86_64_R10] = r->r10, [UNW_X86_64_R11] = r->r11,
        [UNW_X86_64_R12] = r->r12, [UNW_X86_64_R13] = r->r13, [UNW_X86_64_R14] = r->r14, [UNW_X86_64_R15] = r->r15,
        [UNW_X86_64_RIP] = r->rip };
    if (number < 0 || (size_t)number >= sizeof all / sizeof *all)
        return false;
    *value = all[number];
    return true;
}
#else
static uint64_t stack_of(const struct user_regs_struct *r)
{
    return r->sp;
}

static bool register_of(const struct user_regs_struct *r, unw_regnum_t number, unw_word_t *value)
{
    if (number < 0 || number > UNW_AARCH64_PC)
        return false;
    *value = number < 31 ? r->regs[number] : number == UNW_AARCH64_SP ? r->sp : r->pc;
    return true;
}
#endif

/* --- The copies, as libunwind asks for them --- */

static bool read_page(uint64_t address, uint64_t *value)
{
    uint64_t at = address & ~(uint64_t)(PAGE - 1);
    size_t slot = at / PAGE % PAGES;
    if (walk.page[slot].at != at) {
        walk.page[slot].at = 0;
        if (pread(walk.memory, walk.page[slot].bytes, PAGE, (off_t)at) != PAGE)
            return false;
        walk.page[slot].at = at;
    }
    if (address % PAGE > PAGE - sizeof *value)
        return pread(walk.memory, value, sizeof *value, (off_t)address) == sizeof *value;
    memcpy(value, walk.page[slot].bytes + address % PAGE, sizeof *value);
    return true;
}

static int access_mem(unw_addr_space_t as, unw_word_t address, unw_word_t *value, int write, void *context)
{
    const struct thread *t = walk.thread;
    (void)as, (void)context;
    if (write)
        return -UNW_EINVAL;
    if (address >= t->from && address - t->from + sizeof *value <= t->size) {
        memcpy(value, t->stack + (address - t->from), sizeof *value);
        return 0;
    }
    uint64_t word;
    if (!read_page(address, &word))
        return -UNW_EINVAL;
    *value = word;
    return 0;
}

static int access_reg(unw_addr_space_t as, unw_regnum_t number, unw_word_t *value, int write, void *context)
{
    (void)as, (void)context;
    return !write && register_of(&walk.thread->registers, number, value) ? 0 : -UNW_EBADREG;
}

static int access_fpreg(unw_addr_space_t as, unw_regnum_t number, unw_fpreg_t *value, int write, void *context)
{
    (void)as, (void)number, (void)value, (void)write, (void)context;
    return -UNW_EBADREG;
}

static int find_proc_info(unw_addr_space_t as, unw_word_t ip, unw_proc_info_t *info, int need, void *context)
{
    (void)context;
    return _UPT_find_proc_info(as, ip, info, need, walk.tables);
}

static void put_unwind_info(unw_addr_space_t as, unw_proc_info_t *info, void *context)
{
    (void)context;
    _UPT_put_unwind_info(as, info, walk.tables);
}

static int no_list(unw_addr_space_t as, unw_word_t *list, void *context)
{
    (void)as, (void)list, (void)context;
    return -UNW_ENOINFO;
}

static int no_resume(unw_addr_space_t as, unw_cursor_t *cursor, void *context)
{
    (void)as, (void)cursor, (void)context;
    return -UNW_EINVAL;
}

static int no_name(unw_addr_space_t as, unw_word_t at, char *name, size_t size, unw_word_t *offset, void *context)
{
    (void)as, (void)at, (void)name, (void)size, (void)offset, (void)context;
    return -UNW_ENOINFO;
}

static unw_accessors_t accessors = { find_proc_info, put_unwind_info, no_list, access_mem, access_reg, access_fpreg,
                                     no_resume, no_name };

static void walk_one(unw_addr_space_t space, struct inside_stack *s)
{
    unw_cursor_t cursor;
    unw_word_t at;
    if (unw_init_remote(&cursor, space, NULL))
        return;
    do {
        if (unw_get_reg(&cursor, UNW_REG_IP, &at) || !at)
            break;
        s->at[s->count++] = at;
    } while (s->count < INSIDE_FRAMES && unw_step(&cursor) > 0);
}

/* --- Stopping --- */

static bool wait_stopped(struct thread *t)
{
    int status;
    for (int turn = 0; turn < TURNS; turn++) {
        pid_t got = waitpid(t->id, &status, __WALL | WNOHANG);
        if (got < 0 || (got > 0 && !WIFSTOPPED(status)))
            return false;
        if (got > 0) {
            t->signal = status >> 16 == PTRACE_EVENT_STOP ? 0 : WSTOPSIG(status);
            return t->stopped = true;
        }
        usleep(turn ? 1000 : 100);
    }
    return false;
}

BASE_COMPARISON(by_id, struct thread, BASE_UP(id))

static bool is_known(const struct thread *t, uint32_t count, pid_t id)
{
    uint32_t i = 0;
    while (i < count && t[i].id != id)
        i++;
    return i < count;
}

/* Seizes those that are not yet; how many threads there are then. *error: of the first one that could not be. */
static uint32_t seize(pid_t process, struct thread *t, uint32_t count, int *error)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", process);
    DIR *d = opendir(path);
    const struct dirent *e;
    if (!d)
        *error = -ESRCH;
    while (d && count < THREADS && (e = readdir(d))) {
        pid_t id = atoi(e->d_name);
        if (id <= 0 || is_known(t, count, id))
            continue;
        if (ptrace(PTRACE_SEIZE, id, NULL, NULL) == 0 && ptrace(PTRACE_INTERRUPT, id, NULL, NULL) == 0)
            t[count++] = (struct thread){ .id = id };
        else if (errno != ESRCH)
            *error = -errno;
    }
    if (d)
        closedir(d);
    return count;
}

static void copy(struct thread *t)
{
    struct iovec all = { &t->registers, sizeof t->registers };
    t->stopped = t->stopped && ptrace(PTRACE_GETREGSET, t->id, (void *)NT_PRSTATUS, &all) == 0;
    t->stack = t->stopped ? malloc(STACK) : NULL;
    if (!t->stack)
        return;
    t->from = stack_of(&t->registers) - 256; /* the red zone */
    ssize_t got = pread(walk.memory, t->stack, STACK, (off_t)t->from);
    t->size = got > 0 ? (size_t)got : 0;
}

/* In the process that does it: to the other one how long they stood, then the stacks. */
static int walk_all(pid_t process, int to)
{
    static struct thread t[THREADS];
    char path[64];
    int error = 0;
    snprintf(path, sizeof path, "/proc/%d/mem", process);
    uint64_t begin = base_clock_system();
    uint32_t count = seize(process, t, 0, &error), had;
    do { /* those that began meanwhile, too */
        had = count;
        count = error ? count : seize(process, t, count, &error);
    } while (count > had);
    for (uint32_t i = 0; i < count; i++)
        (void)wait_stopped(&t[i]);
    walk.memory = open(path, O_RDONLY | O_CLOEXEC);
    for (uint32_t i = 0; i < count; i++)
        copy(&t[i]);
    for (uint32_t i = 0; i < count; i++)
        ptrace(PTRACE_DETACH, t[i].id, NULL, (void *)(intptr_t)t[i].signal);
    uint64_t stopped = base_clock_system() - begin;
    if (!count)
        return error ? error : -ESRCH;
    qsort(t, count, sizeof *t, by_id);
    unw_addr_space_t space = unw_create_addr_space(&accessors, 0);
    walk.tables = _UPT_create(process);
    if (!space || !walk.tables || base_io_write(to, &stopped, sizeof stopped))
        return -ENOMEM;
    unw_set_caching_policy(space, UNW_CACHE_GLOBAL);
    for (uint32_t i = 0; i < count; i++) {
        struct inside_stack s = { .thread = t[i].id };
        walk.thread = &t[i];
        if (t[i].stack)
            walk_one(space, &s);
        if (base_io_write(to, &s, sizeof s))
            return -EIO;
    }
    return 0;
}

static int walk_read_all(int from, struct inside_stacks *s)
{
    struct inside_stack one;
    if (base_io_read(from, &s->stopped_ns, sizeof s->stopped_ns) != sizeof s->stopped_ns)
        return 0;
    while (base_io_read(from, &one, sizeof one) == sizeof one) {
        struct inside_stack *more = realloc(s->of, (s->count + 1) * sizeof *more);
        if (!more)
            return -ENOMEM;
        s->of = more;
        s->of[s->count++] = one;
    }
    return 0;
}

int inside_walk(pid_t process, struct inside_stacks *s)
{
    int ends[2], status;
    *s = (struct inside_stacks){ .of = NULL };
    if (pipe2(ends, O_CLOEXEC))
        return -errno;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        _exit(-walk_all(process, ends[1]));
    }
    close(ends[1]);
    int error = child < 0 ? -errno : walk_read_all(ends[0], s);
    close(ends[0]);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return error ? error : WIFEXITED(status) ? -WEXITSTATUS(status) : -EIO;
}
#else
int inside_walk(pid_t process, struct inside_stacks *s)
{
    (void)process;
    *s = (struct inside_stacks){ .of = NULL };
    return -ENOTSUP;
}
#endif
