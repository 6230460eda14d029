/* SPDX-License-Identifier: MIT */
/* Programs, launchers and libraries; see program.h. */
#include "tools/program.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/elf.h"
#include "base/launcher.h"
#include "base/name.h"
#include "base/preload.h"
#include "tools/capture.h"

/* --- The program --- */

static int executable(const char *path)
{
    struct stat st;

    if (stat(path, &st) != 0)
        return errno;
    if (S_ISDIR(st.st_mode))
        return EACCES;
    return access(path, X_OK) == 0 ? 0 : errno;
}

int program_find(const char *command, char *path, size_t size)
{
    const char *dirs = getenv("PATH");
    int result = ENOENT;

    if (!*command)
        return ENOENT;
    if (strchr(command, '/')) {
        if ((size_t)snprintf(path, size, "%s", command) >= size)
            return ENAMETOOLONG;
        return executable(path);
    }
    for (const char *dir = dirs ? dirs : "/bin:/usr/bin", *end; dir; dir = *end ? end + 1 : NULL) {
        end = strchrnul(dir, ':');
        /* An empty entry is the current directory. */
        int n = snprintf(path, size, "%.*s%s%s", (int)(end - dir), dir, end > dir ? "/" : "./", command);
        int rc = (size_t)n < size ? executable(path) : ENAMETOOLONG;
        if (rc == 0)
            return 0;
        if (rc == EACCES && access(path, F_OK) == 0) /* as the shell does: look further, but remember a file that is
                                                        there */
            result = EACCES;
    }
    return result;
}

const char *program_raised(const char *path)
{
    struct stat st;

    if (stat(path, &st) != 0)
        return NULL;
    return st.st_mode & S_ISUID && st.st_uid != getuid() ? "is set-user-ID"
           : st.st_mode & S_ISGID && st.st_gid != getgid() ? "is set-group-ID"
           : getuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0 ? "has file capabilities" : NULL;
}

const char *program_unseen(const char *path)
{
    char loader[PATH_MAX];

    switch (base_elf_loader(path, loader, sizeof loader)) {
    case BASE_ELF_NOT:
        return NULL;
    case BASE_ELF_FOREIGN:
        return "is made for another word size than Pythia";
    case BASE_ELF_STATIC:
        return "is statically linked";
    default:
        return program_raised(path);
    }
}

/* Whether the file, links followed (python3 -> python3.11), has one of the names; a version may follow. */
static bool is_named(const char *path, const char *const *names, size_t count)
{
    char real[PATH_MAX];
    const char *base = base_name(realpath(path, real) ? real : path);

    for (size_t i = 0; i < count; i++) {
        size_t n = strlen(names[i]);
        if (!strncmp(base, names[i], n) && strspn(base + n, "0123456789.") == strlen(base + n))
            return true;
    }
    return false;
}

/* Interpreters load extension modules, MPI among them, or start programs, when the script says so. */
static bool is_interpreter(const char *path)
{
    static const char *const names[] = { "python", "pypy", "perl", "ruby", "julia", "lua", "octave", "Rscript", "R",
                                         "sh", "bash", "dash", "zsh", "ksh", "tclsh", "busybox" };

    return is_named(path, names, sizeof names / sizeof names[0]);
}

/* Commands that start the program which follows among their arguments. */
static bool is_wrapper(const char *path)
{
    static const char *const names[] = { "env", "time", "timeout", "nice", "nohup", "setsid", "stdbuf", "taskset",
                                         "numactl", "chrt", "ionice", "strace", "ltrace", "perf", "gdb", "valgrind" };

    return is_named(path, names, sizeof names / sizeof names[0]);
}

static bool names_mpi(const char *line)
{
    static const char *const libraries[] = { "libmpi.so", "libmpi_", "libmpich", "libmpifort", "libmpicxx", "libpmpi" };

    line += strspn(line, " \t");
    for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; i++)
        if (!strncmp(line, libraries[i], strlen(libraries[i])))
            return true;
    return false;
}

int program_list(const char *loader, const char *path, const char *preload, struct captured *c)
{
    enum { SECONDS = 20 };
    char variable[BASE_PRELOAD_FIRST + PATH_MAX + 16];
    char *argv[] = { (char *)loader, "--list", (char *)path, NULL };
    char *environment[] = { variable, "LD_WARN=1", "LD_BIND_NOW=1", NULL };

    snprintf(variable, sizeof variable, "LD_PRELOAD=%s", preload ? preload : "");
    return capture(argv, preload ? environment : NULL, SECONDS, c);
}

static bool needs_mpi(const char *loader, const char *path)
{
    struct captured c;
    bool found = false;

    if (program_list(loader, path, NULL, &c) != 0)
        return false;
    for (char *left = c.text, *line; !found && (line = strsep(&left, "\n")) != NULL;)
        found = names_mpi(line);
    captured_free(&c);
    return found;
}

enum program_kind {
    PROGRAM_MPI,     /* needs an MPI library, directly or through others */
    PROGRAM_PLAIN,   /* an executable without MPI */
    PROGRAM_UNKNOWN  /* a script or an interpreter: what it will load cannot be told */
};

static enum program_kind kind_of_file(const char *path)
{
    char loader[PATH_MAX];
    enum base_elf elf = base_elf_loader(path, loader, sizeof loader);

    if (elf == BASE_ELF_NOT || is_interpreter(path))
        return PROGRAM_UNKNOWN;
    return elf == BASE_ELF_DYNAMIC && strstr(loader, "/ld") && needs_mpi(loader, path) ? PROGRAM_MPI : PROGRAM_PLAIN;
}

/* The program at `path`, or, where that is env, timeout and the like, the one that it starts (NULL-terminated
   arguments); NULL: none is found. `next` has room for its path. */
static const char *started_by(const char *path, char *const *arguments, char next[PATH_MAX])
{
    while (is_wrapper(path)) {
        bool found = false;
        for (; *arguments && !found; arguments++) /* of "timeout 10 nice -n 5 ./app", "10", "-n" and "5" cannot be
                                                     run */
            found = program_find(*arguments, next, PATH_MAX) == 0;
        if (!found)
            return NULL;
        path = next;
    }
    return path;
}

static enum program_kind kind_of(const char *path, char *const *arguments)
{
    char next[PATH_MAX];
    const char *program = started_by(path, arguments, next);

    return program ? kind_of_file(program) : PROGRAM_UNKNOWN;
}

/* --- The launcher --- */

bool program_is_launcher(const char *command)
{
    static const char *const names[] = { "mpirun", "mpiexec", "orterun", "oshrun", "prterun", "prun", "srun", "aprun",
                                         "jsrun", "mpiexec.hydra", "mpirun.openmpi", "mpiexec.openmpi", "mpirun.mpich",
                                         "mpiexec.mpich" };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (!strcmp(base_name(command), names[i]))
            return true;
    return false;
}

/* --- A command line --- */

/* Arguments of launchers whose values may be names of programs (--map-by node): how many follow. */
static int values_of(const char *option)
{
    static const struct { const char *name; int values; } known[] = {
        { "map-by", 1 }, { "rank-by", 1 }, { "bind-to", 1 }, { "x", 1 },     { "wdir", 1 }, { "wd", 1 }, { "host", 1 },
        { "mca", 2 },    { "gmca", 2 },    { "env", 2 },     { "genv", 2 } };

    if (*option != '-')
        return 0;
    option += strspn(option, "-");
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (!strcmp(option, known[i].name))
            return known[i].values;
    return 0;
}

/* How many words of argv at least come before what it starts, 0 when it starts nothing. */
static size_t prefix_of(char *const *argv)
{
    char path[PATH_MAX];

    if (program_is_launcher(argv[0]))
        return 1;
    if (!strcmp(base_name(argv[0]), "pythia"))
        return argv[1] && (!strcmp(argv[1], "record") || !strcmp(argv[1], "predict")) ? 2 : 0;
    return program_find(argv[0], path, sizeof path) == 0 && is_wrapper(path) ? 1 : 0;
}

static size_t walk(char *const *argv, bool launchers_only)
{
    char path[PATH_MAX];
    size_t at = 0, skip;

    while (argv[at] && (skip = prefix_of(argv + at)) != 0 && (!launchers_only || program_is_launcher(argv[at])))
        for (at += skip; argv[at] && program_find(argv[at], path, sizeof path) != 0; at++)
            for (int values = values_of(argv[at]); values && argv[at + 1]; values--)
                at++;
    return at;
}

size_t program_index(char *const *argv)
{
    return walk(argv, false);
}

size_t program_behind_launchers(char *const *argv)
{
    return walk(argv, true);
}

/* --- Our libraries --- */

/* Cuts the last component off. */
static void to_parent(char *path)
{
    char *slash = strrchr(path, '/');

    if (slash)
        *slash = '\0';
}

static bool try_library(const char *dir, const char *below, const char *name, char *path, size_t size)
{
    char candidate[PATH_MAX];

    if ((size_t)snprintf(candidate, sizeof candidate, "%s%s/%s", dir, below, name) >= sizeof candidate)
        return false;
    char *real = access(candidate, R_OK) == 0 ? realpath(candidate, NULL) : NULL;
    bool found = real && (size_t)snprintf(path, size, "%s", real) < size;
    free(real);
    return found;
}

/* The configured libdir as seen from the prefix, "/lib/x86_64-linux-gnu": finds the libraries of a moved
   installation. */
static const char *libdir_below_prefix(void)
{
    size_t n = strlen(PYTHIA_PREFIX);

    return !strncmp(PYTHIA_LIBDIR, PYTHIA_PREFIX, n) ? &PYTHIA_LIBDIR[n] : "/lib";
}

int program_find_library(const char *name, char *path, size_t size)
{
    char dir[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", dir, sizeof dir - 1);

    if (n > 0) {
        dir[n] = '\0';
        to_parent(dir);
        if (try_library(dir, "/.libs", name, path, size) || try_library(dir, "", name, path, size))
            return 0;
        to_parent(dir);
        if (try_library(dir, libdir_below_prefix(), name, path, size) ||
            try_library(dir, "/lib", name, path, size) || try_library(dir, "/lib64", name, path, size))
            return 0;
    }
    return try_library(PYTHIA_LIBDIR, "", name, path, size) ? 0 : -1;
}

int program_choose_library(const char *program, char *const *arguments, char *path, size_t size)
{
    const char *given = getenv("PYTHIA_LIBRARY");
    enum program_kind kind = base_launcher_rank() >= 0 ? PROGRAM_MPI : kind_of(program, arguments);

    if (given && *given)
        return access(given, R_OK) == 0 && (size_t)snprintf(path, size, "%s", given) < size ? 0 : -1;
    if (kind != PROGRAM_PLAIN && program_find_library("libpythia_pmpi.so", path, size) == 0)
        return 0;
    if (kind == PROGRAM_MPI)
        return -1;
    return program_find_library("libpythia_omp.so", path, size);
}
