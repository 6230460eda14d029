/* SPDX-License-Identifier: MIT */
/*
 * What a process of ours starts is ours, too: where the list of libraries to preload that it is given, or its whole
 * environment, is another one (a job script's own LD_PRELOAD, env -i), our library stands behind theirs, and a cleared
 * environment gets the variables of `pythia record` again. What must come before us comes first (base/preload.h).
 * PYTHIA_MODE=off in the environment that is given leaves it alone, as do processes with which we have nothing to do:
 * linked ones, of raised rights.
 *
 * exec* may be called by a child that shares our memory (vfork) or in a signal handler: nothing here allocates or takes
 * a lock, nor takes much of the stack; what the new environment needs is in pages of its own.
 */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/preload.h"
#include "base/rights.h"
#include "pythia.h"
#include "session/end.h"
#include "session/tree.h"

enum { VARIABLES = 64, TEXT = 16384 };

/* When the library is loaded: our name in LD_PRELOAD and PYTHIA_…, for who has cleared them. Written once. */
static struct {
    char ours[PATH_MAX];
    char *variable[VARIABLES + 1];
    char text[TEXT];
    size_t used;
    /* The next ones behind ours. */
    int (*exec)(const char *, char *const *, char *const *);
    int (*search)(const char *, char *const *, char *const *);
    int (*at)(int, const char *, char *const *, char *const *, int);
    int (*file)(int, char *const *, char *const *);
    int (*spawn)(pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *, char *const *,
                 char *const *);
    int (*spawn_search)(pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *,
                        char *const *, char *const *);
} kept;

static const char *value_in(char *const *environment, const char *name)
{
    size_t length = strlen(name);
    for (; environment && *environment; environment++)
        if (!strncmp(*environment, name, length) && (*environment)[length] == '=')
            return *environment + length + 1;
    return NULL;
}

static size_t count_of(char *const *environment)
{
    size_t n = 0;
    while (environment && environment[n])
        n++;
    return n;
}

/* --- Room --- */

/* Not on the stack, which may be a signal's own of 8 KiB. A child that shares our memory leaves it behind when it has
   become another program: its parent's thread, whose it is, takes it again. */
enum room { ROOM_FILE, ROOM_REST, ROOMS };
static __thread struct { void *at; size_t size; } room[ROOMS] __attribute__((tls_model("initial-exec")));

/* NULL: there is none. */
static void *room_of(enum room which, size_t size)
{
    if (room[which].size >= size)
        return room[which].at;
    if (room[which].at)
        munmap(room[which].at, room[which].size);
    void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    room[which].at = at == MAP_FAILED ? NULL : at;
    room[which].size = at == MAP_FAILED ? 0 : size;
    return room[which].at;
}

static void rooms_give_back(void)
{
    int saved = errno;
    for (enum room i = 0; i < ROOMS; i++)
        if (room[i].at) {
            munmap(room[i].at, room[i].size);
            room[i].at = NULL;
            room[i].size = 0;
        }
    errno = saved;
}

/* The file that a search by PATH finds; "" where there is none. It is in ROOM_FILE. */
static const char *find_file(const char *name)
{
    const char *path = getenv("PATH");
    char *file = room_of(ROOM_FILE, PATH_MAX);
    if (!file || strchr(name, '/'))
        return file ? name : "";
    for (const char *at = path ? path : "/bin:/usr/bin", *end; at; at = *end ? end + 1 : NULL) {
        end = strchrnul(at, ':');
        snprintf(file, PATH_MAX, "%.*s%s%s", (int)(end - at), at, end > at ? "/" : "./", name);
        if (access(file, X_OK) == 0)
            return file;
    }
    return "";
}

/* "LD_PRELOAD=FIRST THEIRS OURS". */
static void write_list(char *list, size_t size, const char *first, const char *given)
{
    size_t length;
    const char *mark = given ? strstr(given, "::") : NULL, *theirs = mark ? mark + 2 : given ? given : "";
    bool has = base_preload_ours(theirs, &length) != NULL;
    snprintf(list, size, "LD_PRELOAD=%s%s%s%s", first, theirs, *theirs && !has ? ":" : "", has ? "" : kept.ours);
}

/* The environment that a program gets: slots for all of them, and text for the list. */
struct equipment {
    char *const *given;
    char first[BASE_PRELOAD_FIRST];
    size_t slots, text;
};

/* Whether it gets another one than it is given, and what room that takes. */
static bool equipment_of(struct equipment *e, const char *file, char *const *given)
{
    const char *list = value_in(given, "LD_PRELOAD"), *mode = value_in(given, "PYTHIA_MODE");
    size_t length;
    int saved = errno;
    e->given = given;
    e->first[0] = '\0';
    if (!kept.ours[0] || (mode && !strcmp(mode, "off")))
        return false;
    base_preload_first(file, e->first);
    e->slots = count_of(given) + VARIABLES + 2;
    e->text = sizeof kept.ours + sizeof e->first + (list ? strlen(list) : 0) + 16;
    errno = saved;
    return e->first[0] || !list || !base_preload_ours(list, &length) || (!mode && kept.used);
}

/* The given one where there is no room. */
static char *const *equip(const struct equipment *e)
{
    size_t n = 0;
    char **slot = room_of(ROOM_REST, e->slots * sizeof *slot + e->text);
    if (!slot)
        return e->given;
    char *text = (char *)(slot + e->slots);
    write_list(text, e->text, e->first, value_in(e->given, "LD_PRELOAD"));
    for (char *const *v = e->given; v && *v; v++)
        if (strncmp(*v, "LD_PRELOAD=", 11) != 0)
            slot[n++] = *v;
    if (!value_in(e->given, "PYTHIA_MODE"))
        for (char **v = kept.variable; *v; v++) {
            char name[64];
            snprintf(name, sizeof name, "%.*s", (int)strcspn(*v, "="), *v);
            if (!value_in(e->given, name))
                slot[n++] = *v;
        }
    slot[n++] = text;
    slot[n] = NULL;
    return slot;
}

/* Calls `CALL` with the environment `its`, which is the given one or one of ours. */
#define EQUIPPED(PATH, GIVEN, CALL) \
    do { \
        struct equipment e; \
        char *const *its = equipment_of(&e, PATH, GIVEN) ? equip(&e) : GIVEN; \
        int result = CALL; \
        rooms_give_back(); \
        return result; \
    } while (0)

/* --- exec --- */

/* The names are the program's to take (base/libc_wrap.c): nothing here calls another one of them. */
static int become(const char *path, char *const *arguments, char *const *environment)
{
    session_tree_becomes(path);
    session_end_becomes(path);
    EQUIPPED(path, environment,
             kept.exec ? kept.exec(path, arguments, its) : (int)syscall(SYS_execve, path, arguments, its));
}

static int search_and_become(const char *name, char *const *arguments, char *const *environment)
{
    const char *file = find_file(name);
    session_tree_becomes(file);
    session_end_becomes(file);
    EQUIPPED(file, environment, kept.search ? kept.search(name, arguments, its)
                                            : (int)syscall(SYS_execve, file, arguments, its));
}

PYTHIA_API int execve(const char *path, char *const *arguments, char *const *environment);
int execve(const char *path, char *const *arguments, char *const *environment)
{
    return become(path, arguments, environment);
}

PYTHIA_API int execv(const char *path, char *const *arguments);
int execv(const char *path, char *const *arguments)
{
    return become(path, arguments, __environ);
}

PYTHIA_API int execvpe(const char *name, char *const *arguments, char *const *environment);
int execvpe(const char *name, char *const *arguments, char *const *environment)
{
    return search_and_become(name, arguments, environment);
}

PYTHIA_API int execvp(const char *name, char *const *arguments);
int execvp(const char *name, char *const *arguments)
{
    return search_and_become(name, arguments, __environ);
}

PYTHIA_API int fexecve(int fd, char *const *arguments, char *const *environment);
int fexecve(int fd, char *const *arguments, char *const *environment)
{
    char file[64];
    snprintf(file, sizeof file, "/proc/self/fd/%d", fd);
    session_end_becomes(file);
    EQUIPPED(file, environment,
             kept.file ? kept.file(fd, arguments, its) : (int)syscall(SYS_execve, file, arguments, its));
}

PYTHIA_API int execveat(int directory, const char *path, char *const *arguments, char *const *environment, int flags);
int execveat(int directory, const char *path, char *const *arguments, char *const *environment, int flags)
{
    session_end_becomes(NULL);
    EQUIPPED(path, environment, kept.at ? kept.at(directory, path, arguments, its, flags)
                                        : (int)syscall(SYS_execveat, directory, path, arguments, its, flags));
}

/* How many words, the first one included, come before the NULL. */
static size_t words_of(const char *first, va_list words)
{
    size_t n = 1;
    if (first)
        while (va_arg(words, const char *))
            n++;
    return first ? n : 0;
}

static void take_words(char **word, size_t count, const char *first, va_list words)
{
    for (size_t i = 0; i < count; i++)
        word[i] = i ? va_arg(words, char *) : (char *)(uintptr_t)first;
    word[count] = NULL;
}

/* The words of a variable list, as an array on the stack. */
#define WORDS(FIRST, COUNT, ARRAY) \
    va_list list; \
    va_start(list, FIRST); \
    size_t COUNT = words_of(FIRST, list); \
    va_end(list); \
    char *ARRAY[COUNT + 1]; \
    va_start(list, FIRST); \
    take_words(ARRAY, COUNT, FIRST, list)

PYTHIA_API int execl(const char *path, const char *first, ...);
int execl(const char *path, const char *first, ...)
{
    WORDS(first, count, words);
    va_end(list);
    return become(path, words, __environ);
}

PYTHIA_API int execlp(const char *name, const char *first, ...);
int execlp(const char *name, const char *first, ...)
{
    WORDS(first, count, words);
    va_end(list);
    return search_and_become(name, words, __environ);
}

PYTHIA_API int execle(const char *path, const char *first, ...);
int execle(const char *path, const char *first, ...)
{
    WORDS(first, count, words);
    if (count)
        (void)va_arg(list, char *); /* the NULL */
    char *const *environment = va_arg(list, char *const *);
    va_end(list);
    return become(path, words, environment);
}

/* --- posix_spawn --- */

PYTHIA_API int posix_spawn(pid_t *child, const char *path, const posix_spawn_file_actions_t *actions,
                           const posix_spawnattr_t *attributes, char *const *arguments, char *const *environment);
int posix_spawn(pid_t *child, const char *path, const posix_spawn_file_actions_t *actions,
                const posix_spawnattr_t *attributes, char *const *arguments, char *const *environment)
{
    if (!kept.spawn)
        return ENOSYS;
    session_tree_starts(path);
    EQUIPPED(path, environment, kept.spawn(child, path, actions, attributes, arguments, its));
}

PYTHIA_API int posix_spawnp(pid_t *child, const char *name, const posix_spawn_file_actions_t *actions,
                            const posix_spawnattr_t *attributes, char *const *arguments, char *const *environment);
int posix_spawnp(pid_t *child, const char *name, const posix_spawn_file_actions_t *actions,
                 const posix_spawnattr_t *attributes, char *const *arguments, char *const *environment)
{
    if (!kept.spawn_search)
        return ENOSYS;
    const char *file = find_file(name);
    session_tree_starts(file);
    EQUIPPED(file, environment, kept.spawn_search(child, name, actions, attributes, arguments, its));
}

/* --- When the library is loaded --- */

static void keep_variables(void)
{
    size_t n = 0;
    for (char **v = __environ; v && *v && n < VARIABLES; v++) {
        size_t size = strlen(*v) + 1;
        if (strncmp(*v, "PYTHIA_", 7) != 0 || size > TEXT - kept.used)
            continue;
        kept.variable[n++] = memcpy(kept.text + kept.used, *v, size);
        kept.used += size;
    }
}

static __attribute__((constructor)) void exec_load(void)
{
    char *list = getenv("LD_PRELOAD");
    size_t length;
    session_find_next("execve", &kept.exec);
    session_find_next("execvpe", &kept.search);
    session_find_next("execveat", &kept.at);
    session_find_next("fexecve", &kept.file);
    session_find_next("posix_spawn", &kept.spawn);
    session_find_next("posix_spawnp", &kept.spawn_search);
    if (!list || base_rights_raised())
        return;
    base_preload_cut(list);
    const char *ours = base_preload_ours(list, &length);
    if (!ours || length >= sizeof kept.ours)
        return;
    snprintf(kept.ours, sizeof kept.ours, "%.*s", (int)length, ours);
    keep_variables();
}
