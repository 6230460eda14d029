/* SPDX-License-Identifier: MIT */
#include "session/tree.h"

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
#include "base/name.h"
#include "base/rights.h"
#include "pythia.h"

enum { NAME = 200, LINE = 4200 };

/* From PYTHIA_TREE, when the library is loaded: "PROCESS:DESCRIPTOR:DEVICE:INODE:MODE:NAME". Written once. */
static struct {
    long root;
    int descriptor;
    unsigned long long device, inode;
    char mode[16], name[NAME];
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

/* Lines "PROCESS PATH" with this path before the first one of this process as the program that it is now: it was
   another one before its last "PROCESS =". */
static unsigned claims_before(const char *text, const char *path, long process)
{
    unsigned count = 0, mine = 0;
    bool found = false;
    size_t length = strlen(path);
    while (*text) {
        char *blank;
        long who = strtol(text, &blank, 10);
        const char *end = strchrnul(text, '\n');
        if (*blank == ' ' && (size_t)(end - blank) == length + 1 && !memcmp(blank + 1, path, length)) {
            mine = who == process && !found ? count : mine;
            found = found || who == process;
            count++;
        }
        found = found && !(who == process && !strncmp(blank, " =\n", 3));
        text = end + (*end != '\0');
    }
    return found ? mine : count;
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

void session_tree_another(void)
{
    session_tree_claim("=");
}

void session_tree_said(void)
{
    session_tree_claim("-");
}

/* --- The end of the first process: safe in a signal handler, and in a child that shares our memory --- */

enum { PIECE = 512 };

/* Whether the file has a line of a process that recorded, or said why not. Of the others, "0 PATH REASON", the first
   goes to note[PIECE]. */
static bool has_claim(int fd, char *note)
{
    char piece[PIECE + 1];
    ssize_t n;
    for (off_t at = 0; (n = base_io_read_at(fd, piece, PIECE, at)) > 0;) {
        piece[n] = '\0';
        if (piece[0] != '0')
            return true;
        size_t length = strcspn(piece, "\n");
        if (!note[0] && length > 2)
            snprintf(note, PIECE, "%.*s", (int)length - 2, piece + 2);
        at += (off_t)length + 1;
    }
    return false;
}

/* Whether this is the first process, and nobody recorded; who could not be seen goes to note[PIECE]. */
static bool nobody_came(char *note)
{
    int fd = tree.root == getpid() ? open_as("self") : -1;
    note[0] = '\0';
    bool nobody = fd >= 0 && !has_claim(fd, note);
    if (fd >= 0)
        close(fd);
    return nobody;
}

void session_tree_over(void)
{
    static atomic_flag done = ATOMIC_FLAG_INIT;
    char note[PIECE];
    if (tree.root != getpid() || atomic_flag_test_and_set(&done) || !nobody_came(note))
        return;
    if (note[0])
        base_log_warn("nothing was %sed: %s started %s: nothing of it can be seen", tree.mode, tree.name, note);
    else
        base_log_warn(
            "nothing was %sed: neither %s nor what it started called MPI_Init or entered a parallel region (pythia "
            "doctor -- %s says what can be seen)",
            tree.mode, tree.name, tree.name);
}

/* Why no library is loaded into a program: its file names no loader (a loader itself is one, too, but preloads). NULL:
   it is. */
static const char *unseen(const char *path)
{
    struct stat st;
    if (!strncmp(base_name(path), "ld", 2) || access(path, X_OK) || stat(path, &st))
        return NULL;
    enum base_elf elf = base_elf_loader(path, NULL, 0);
    if (elf == BASE_ELF_STATIC)
        return "is statically linked";
    if (elf == BASE_ELF_FOREIGN)
        return "is made for another word size than Pythia";
    return elf == BASE_ELF_DYNAMIC && ((st.st_mode & S_ISUID && st.st_uid != geteuid()) ||
                                       (st.st_mode & S_ISGID && st.st_gid != getegid()))
               ? "runs with raised rights" : NULL;
}

void session_tree_starts(const char *path)
{
    char line[PIECE];
    int saved = errno, fd;
    const char *why = tree.root && path ? unseen(path) : NULL;
    int n = why ? snprintf(line, sizeof line, "0 %.400s, which %s\n", path, why) : 0;
    if (why && (fd = open_file()) >= 0) {
        (void)!base_io_write(fd, line, (size_t)n);
        close(fd);
    }
    errno = saved;
}

/* What the first process becomes may be nothing that a library could be loaded into: then nobody is there at its end to
   say that nothing came. */
void session_tree_becomes(const char *path)
{
    char note[PIECE];
    int saved = errno;
    const char *why = tree.root == getpid() && path && nobody_came(note) ? unseen(path) : NULL;
    if (why) {
        base_log_warn("nothing was %sed: %s became %s, which %s: nothing of it can be seen", tree.mode, tree.name, path,
                      why);
        session_tree_said();
    } else if (tree.root != getpid()) {
        session_tree_starts(path);
    }
    errno = saved;
}

/* After all others of the library, which may have said why. */
static __attribute__((destructor(101))) void tree_unload(void)
{
    session_tree_over();
}

static __attribute__((constructor)) void tree_load(void)
{
    const char *text = getenv("PYTHIA_TREE"), *verbose = getenv("PYTHIA_VERBOSE");
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
