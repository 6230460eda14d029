/* SPDX-License-Identifier: MIT */
#include "session/tree.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/elf.h"
#include "base/io.h"
#include "base/log.h"
#include "base/rights.h"
#include "pythia.h"

enum { NAME = 200, LINE = 4200 };

/* From PYTHIA_TREE, when the library is loaded: "PROCESS:DESCRIPTOR:DEVICE:INODE:MODE:NAME". Written once. */
static struct {
    long root;
    int descriptor;
    unsigned long long device, inode;
    char mode[16], name[NAME];
    /* The next ones behind ours. */
    void (*exit_now)(int);
    int (*exec_environment)(const char *, char *const *, char *const *);
    int (*exec)(const char *, char *const *);
    int (*exec_search)(const char *, char *const *);
} tree;

/* The file behind a path of /proc; only if it is the one that the command made, the number may be the program's by
   now. */
static int open_as(const char *process)
{
    char path[64];
    struct stat st;
    snprintf(path, sizeof path, "/proc/%s/fd/%d", process, tree.descriptor);
    int fd = base_io_open(path, O_RDWR | O_APPEND | O_NOCTTY, 0);
    if (fd >= 0 && (fstat(fd, &st) || st.st_dev != tree.device || st.st_ino != tree.inode)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

/* Inherited, or from the first process where somebody between has closed it. */
static int open_file(void)
{
    char root[24];
    if (!tree.root)
        return -1;
    snprintf(root, sizeof root, "%ld", tree.root);
    int fd = open_as("self");
    return fd >= 0 ? fd : open_as(root);
}

/* The whole of it, ended by a NUL; malloc'ed, NULL where it cannot be read. */
static char *read_file(int fd)
{
    struct stat st;
    char *text = fstat(fd, &st) ? NULL : malloc((size_t)st.st_size + 1);
    ssize_t n = text ? base_io_read_at(fd, text, (size_t)st.st_size, 0) : -1;
    if (n >= 0)
        text[n] = '\0';
    else
        free(text);
    return n >= 0 ? text : NULL;
}

/* Lines "PROCESS PATH" with this path before the first one of this process. */
static unsigned claims_before(const char *text, const char *path, long process)
{
    unsigned count = 0;
    size_t length = strlen(path);
    while (*text) {
        char *blank;
        long who = strtol(text, &blank, 10);
        const char *end = strchrnul(text, '\n');
        if (*blank == ' ' && (size_t)(end - blank) == length + 1 && !memcmp(blank + 1, path, length)) {
            if (who == process)
                return count;
            count++;
        }
        text = end + (*end != '\0');
    }
    return count;
}

unsigned session_tree_claim(const char *path)
{
    char line[LINE];
    unsigned before = 0;
    int saved = errno, fd = open_file();
    if (fd >= 0) {
        int n = snprintf(line, sizeof line, "%ld %s\n", (long)getpid(), path);
        char *text = n > 0 && (size_t)n < sizeof line && base_io_write(fd, line, (size_t)n) == 0 ? read_file(fd) : NULL;
        before = text ? claims_before(text, path, getpid()) : 0;
        free(text);
        close(fd);
    }
    errno = saved;
    return before;
}

void session_tree_said(void)
{
    session_tree_claim("-");
}

/* --- The end of the first process: safe in a signal handler, and in a child that shares our memory --- */

/* Whether this is the first process, and nobody recorded. */
static bool nobody_came(void)
{
    struct stat st;
    int fd = tree.root == getpid() ? open_as("self") : -1;
    bool empty = fd >= 0 && fstat(fd, &st) == 0 && st.st_size == 0;
    if (fd >= 0)
        close(fd);
    return empty;
}

static void say_nothing_came(void)
{
    static atomic_flag done = ATOMIC_FLAG_INIT;
    if (tree.root == getpid() && !atomic_flag_test_and_set(&done) && nobody_came())
        base_log_warn(
            "nothing was %sed: neither %s nor what it started called MPI_Init or entered a parallel region (pythia "
            "doctor -- %s says what can be seen)",
            tree.mode, tree.name, tree.name);
}

/* A program whose file names no loader; a loader itself is one, too, but preloads. */
static bool is_static(const char *path)
{
    const char *slash = strrchr(path, '/');
    char loader[PATH_MAX];
    return strncmp(slash ? slash + 1 : path, "ld", 2) != 0 && access(path, X_OK) == 0 &&
           base_elf_loader(path, loader, sizeof loader) == BASE_ELF_STATIC;
}

/* What the first process becomes may be nothing that a library could be loaded into: then nobody is there at its end to
   say that nothing came. */
static void say_unseen(const char *path)
{
    int saved = errno;
    if (path && strchr(path, '/') && nobody_came() && is_static(path)) {
        base_log_warn("nothing was %sed: %s became %s, which is statically linked: nothing of it can be seen",
                      tree.mode, tree.name, path);
        session_tree_said();
    }
    errno = saved;
}

/* After all others of the library, which may have said why. */
static __attribute__((destructor(101))) void tree_unload(void)
{
    say_nothing_came();
}

/* Shells, and programs that have had enough, end without destructors. */
PYTHIA_API void _exit(int status);
void _exit(int status)
{
    say_nothing_came();
    if (tree.exit_now)
        tree.exit_now(status);
    for (;;)
        syscall(SYS_exit_group, status);
}

PYTHIA_API void _Exit(int status);
void _Exit(int status)
{
    _exit(status);
}

PYTHIA_API int execve(const char *path, char *const *arguments, char *const *environment);
int execve(const char *path, char *const *arguments, char *const *environment)
{
    say_unseen(path);
    return tree.exec_environment ? tree.exec_environment(path, arguments, environment)
                                 : (int)syscall(SYS_execve, path, arguments, environment);
}

PYTHIA_API int execv(const char *path, char *const *arguments);
int execv(const char *path, char *const *arguments)
{
    say_unseen(path);
    return tree.exec ? tree.exec(path, arguments) : (int)syscall(SYS_execve, path, arguments, environ);
}

PYTHIA_API int execvp(const char *file, char *const *arguments);
int execvp(const char *file, char *const *arguments)
{
    say_unseen(file);
    return tree.exec_search ? tree.exec_search(file, arguments) : execvpe(file, arguments, environ);
}

/* `function` points to a pointer to a function. */
static void find_next(const char *name, void *function)
{
    void *next = dlsym(RTLD_NEXT, name);
    memcpy(function, &next, sizeof next);
}

static __attribute__((constructor)) void tree_load(void)
{
    const char *text = getenv("PYTHIA_TREE"), *verbose = getenv("PYTHIA_VERBOSE");
    find_next("_exit", &tree.exit_now);
    find_next("execve", &tree.exec_environment);
    find_next("execv", &tree.exec);
    find_next("execvp", &tree.exec_search);
    if (!text || base_rights_raised() || (verbose && !strcmp(verbose, "0")))
        return;
    int from = 0;
    long root;
    if (sscanf(text, "%ld:%d:%llu:%llu:%15[a-z]:%n", &root, &tree.descriptor, &tree.device, &tree.inode, tree.mode,
               &from) != 5 ||
        !from)
        return;
    snprintf(tree.name, sizeof tree.name, "%s", text + from);
    tree.root = root;
}
