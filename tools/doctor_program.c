/* SPDX-License-Identifier: MIT */
/*
 * What doctor can tell of a program without running it: its own loader says what it would load (`ld.so --list`), once
 * as it is and once with our library preloaded.
 */
#include "config.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/name.h"
#include "base/preload.h"
#include "file/file.h"
#include "tools/capture.h"
#include "tools/doctor.h"
#include "tools/program.h"
#include "tools/tool.h"

/* --- What it would load: the loader's list, in the order in which symbols are looked up --- */

struct list {
    struct captured captured; /* its text, with '\0' at the line ends */
    size_t size;
};

static int list_open(struct list *l, const struct doctor_target *t, const char *preload)
{
    if (program_list(t->binary.loader, t->path, preload, &l->captured) != 0)
        return -1;
    l->size = strlen(l->captured.text);
    for (char *c = l->captured.text; *c; c++)
        if (*c == '\n')
            *c = '\0';
    return 0;
}

static const char *list_next(const struct list *l, const char *line)
{
    const char *next = line ? line + strlen(line) + 1 : l->captured.text;

    return next < l->captured.text + l->size ? next + strspn(next, " \t") : NULL;
}

/* The first line that has `text`. */
static const char *list_find(const struct list *l, const char *text)
{
    for (const char *line = NULL; (line = list_next(l, line)) != NULL;)
        if (strstr(line, text))
            return line;
    return NULL;
}

/* "libmpi.so.40 => /lib/libmpi.so.40 (0x…)" or "/lib/libmpi.so.40 (0x…)": the path. */
static void path_of(const char *line, char *path, size_t size)
{
    const char *arrow = strstr(line, " => "), *begin = arrow ? arrow + 4 : line;
    const char *end = strstr(begin, " (0x");

    snprintf(path, size, "%.*s", (int)(end ? (size_t)(end - begin) : strlen(begin)), begin);
}

/* --- The file --- */

/* "#!/bin/sh -e" names /bin/sh; "" for a file without such a line, which a shell reads. */
static void read_interpreter(const char *path, char *name, size_t size)
{
    char line[PATH_MAX] = "", *at = line + 2;
    FILE *f = fopen(path, "re");

    if (f && fgets(line, sizeof line, f) && !strncmp(line, "#!", 2)) {
        at += strspn(at, " \t");
        snprintf(name, size, "%.*s", (int)strcspn(at, " \t\n"), at);
    } else {
        name[0] = '\0';
    }
    if (f)
        fclose(f);
}

static void check_file(const struct doctor_target *t)
{
    const struct binary *b = &t->binary;
    char interpreter[PATH_MAX] = "";

    if (!b->elf)
        read_interpreter(t->path, interpreter, sizeof interpreter);
    if (interpreter[0] && access(interpreter, X_OK) != 0)
        FAIL("program", "install it, or correct that line", "%s cannot start: its first line names %s, which cannot be "
             "run here", t->name, interpreter);
    else if (!b->elf)
        NOTE("program", "give the program itself to see more",
             "%s is a script: what it starts inherits the preload, but was not looked at", t->name);
    else if (b->foreign)
        FAIL("program", "build Pythia for it", "%s is for another machine or word size", t->name);
    else if (!b->dynamic)
        FAIL("program", "link it dynamically", "%s is linked statically: nothing can be preloaded", t->name);
    else if (access(b->loader, X_OK) != 0)
        FAIL("program", "install it", "%s cannot start: its loader %s is not here", t->name, b->loader);
    else
        GOOD("program", "%s is dynamically linked", t->path);
}

/* ISO C leaves these names to it. Where an MPI or OpenMP library calls them, that is so without Pythia, too. */
static void check_names(const struct doctor_target *t)
{
    if (!t->binary.taken[0])
        return;
#ifdef PYTHIA_WRAP_LIBC
    GOOD("names", "%s has functions of its own called %s: Pythia calls the C library's", t->name, t->binary.taken);
#else
    NOTE("names", "rename them", "%s has functions of its own called %s, and this build of Pythia would call them",
         t->name, t->binary.taken);
#endif
}

static void check_symbols(const struct doctor_target *t)
{
    if (t->binary.lines)
        GOOD("symbols", "reports name function, file and line");
    else if (t->binary.symbols)
        NOTE("symbols", "compile with -g", "reports name functions, but no lines");
    else
        NOTE("symbols", "compile with -g, or install its debug symbols",
             "stripped: reports name callsites as module+0xoffset");
}

/* --- MPI --- */

/* Asks the library itself, in a process of its own: MPI_Get_library_version may be called before MPI_Init. */
static void library_version(const char *path, char *version, size_t size)
{
    int ends[2];
    ssize_t n = 0;

    version[0] = '\0';
    if (pipe(ends) != 0)
        return;
    pid_t child = fork();
    if (child == 0) {
        char text[8192] = "";
        int length = 0;
        void *library = dlopen(path, RTLD_LAZY);
        int (*get)(char *, int *) = NULL;
        if (library)
            *(void **)&get = dlsym(library, "MPI_Get_library_version");
        if (get && get(text, &length) == 0)
            n = write(ends[1], text, strnlen(text, 512));
        _exit(n < 0);
    }
    close(ends[1]);
    if (child > 0 && (n = read(ends[0], version, size - 1)) >= 0)
        version[n] = '\0';
    close(ends[0]);
    if (child > 0)
        waitpid(child, NULL, 0);
}

/* The first number with dots in it: "Open MPI v4.1.4, package …" and "MPICH Version: 4.0.2" alike. */
static void number_in(const char *text, char *number, size_t size)
{
    const char *at = text;

    while (*at && !(isdigit((unsigned char)at[0]) && at[1] == '.'))
        at++;
    snprintf(number, size, "%.*s", (int)strspn(at, "0123456789."), at);
}

static const char *find_mpi(const struct list *l, enum doctor_mpi *mpi)
{
    const char *open = list_find(l, "libmpi.so."), *mpich = list_find(l, "libmpich");

    /* MPICH of other builders is libmpi.so.12. */
    if (open && !strncmp(open, "libmpi.so.12", 12)) {
        mpich = open;
        open = NULL;
    }
    *mpi = open ? DOCTOR_OPEN_MPI : mpich ? DOCTOR_MPICH : DOCTOR_NO_MPI;
    return open ? open : mpich;
}

static void check_mpi(struct doctor_target *t, const struct list *plain)
{
    char path[PATH_MAX], version[1024], number[64];
    const char *line = find_mpi(plain, &t->mpi), *built = doctor_mpi_name(doctor_built_for());

    if (t->binary.own_wrapper)
        FAIL("MPI", "build it without that, as for measuring tools",
             "%s has an MPI_Init of its own, which calls the library's: Pythia's is not called", t->name);
    if (t->mpi == DOCTOR_NO_MPI) {
        if (t->binary.own_mpi)
            FAIL("MPI", "link it dynamically, or with -lpythia_pmpi before it",
                 "linked into %s: its calls cannot be seen", t->name);
        else
            GOOD("MPI", "%s does not load MPI at its start", t->name);
        return;
    }
    path_of(line, path, sizeof path);
    library_version(path, version, sizeof version);
    number_in(version, number, sizeof number);
    if (t->mpi != doctor_built_for())
        FAIL("MPI",
             t->mpi == DOCTOR_MPICH ? "build Pythia with configure --with-mpi=mpich"
                                    : "build Pythia with configure --with-mpi=openmpi",
             "%s uses %s %s, Pythia was built for %s %s", t->name, doctor_mpi_name(t->mpi), number, built,
             MPI_BUILD_VERSION);
    else if (strcmp(number, MPI_BUILD_VERSION) != 0)
        NOTE("MPI", "build Pythia with it if anything is missing", "%s %s; Pythia was built with %s",
             doctor_mpi_name(t->mpi), number[0] ? number : "of unknown version", MPI_BUILD_VERSION);
    else
        GOOD("MPI", "%s %s, the one that Pythia was built for", built, number);
}

static void check_fortran(const struct doctor_target *t, const struct list *plain)
{
    bool used = list_find(plain, "libmpi_mpifh") || list_find(plain, "libmpi_usempi") || list_find(plain, "libmpifort");

    if (t->mpi == DOCTOR_NO_MPI)
        return;
    if (!used)
        GOOD("Fortran", "no MPI calls from Fortran");
    else if (!binary_offers(t->library, "mpi_send_"))
        FAIL("Fortran", "configure Pythia without --disable-fortran",
             "%s calls MPI from Fortran, and this build has no wrappers for that", t->name);
    else
        GOOD("Fortran", "wrappers for mpif.h, use mpi and use mpi_f08");
}

/* --- OpenMP --- */

static void check_openmp(struct doctor_target *t, const struct list *plain)
{
    const char *libomp = list_find(plain, "libomp.so");
    /* Where nothing else is seen of it, that is all there is to break. */
    enum doctor_state unseen = t->mpi == DOCTOR_NO_MPI ? DOCTOR_BROKEN : DOCTOR_NOTE;

    libomp = libomp ? libomp : list_find(plain, "libiomp5.so");
    if (libomp || t->binary.own_libomp) {
        if (libomp && binary_offers(t->library, "ompt_start_tool"))
            GOOD("OpenMP", "LLVM's libomp, with hooks");
        else
            doctor_say(unseen, "OpenMP", "compile with gcc", "LLVM's libomp%s: its parallel regions are not seen",
                       libomp ? "" : ", linked statically");
    } else if (t->binary.own_gomp) {
        doctor_say(unseen, "OpenMP", "link libgomp dynamically (without -static-libgcc or libgomp.a)",
                   "libgomp is linked into %s: its parallel regions cannot be seen", t->name);
    } else if (list_find(plain, "libgomp.so")) {
        if (binary_offers(t->library, "GOMP_parallel"))
            GOOD("OpenMP", "libgomp, with hooks");
        else
            doctor_say(unseen, "OpenMP", "configure Pythia without --without-omp",
                       "libgomp, and this build has no hooks");
    } else {
        t->no_openmp = true;
        GOOD("OpenMP", "%s does not load an OpenMP runtime at its start", t->name);
    }
}

/* --- The preload --- */

/* Linked with Pythia: the wrappers must come before what they stand in for. */
static bool check_linked(const struct list *plain)
{
    const char *ours = list_find(plain, "libpythia_pmpi.so"), *mpi = list_find(plain, "libmpi.so."),
               *gomp = list_find(plain, "libgomp.so");

    if (!ours)
        return false;
    if ((mpi && mpi < ours) || (gomp && gomp < ours))
        FAIL("preload", "link -lpythia_pmpi first, or run it by pythia record",
             "linked with Pythia, but behind %s: those calls are not seen", mpi && mpi < ours ? "MPI" : "libgomp");
    else
        GOOD("preload", "not needed: linked with -lpythia_pmpi, which comes first");
    return true;
}

static void check_preload(const struct doctor_target *t, const struct list *plain)
{
    struct list l;
    const char *bad, *ours, *raised = program_raised(t->path);
    char first[BASE_PRELOAD_FIRST], preload[BASE_PRELOAD_FIRST + PATH_MAX];

    if (check_linked(plain))
        return;
    if (raised) {
        FAIL("preload", "run a copy of it, made by cp, or link it with -lpythia_pmpi",
             "%s %s: its loader ignores LD_PRELOAD", t->name, raised);
        return;
    }
    if (!t->library[0]) {
        FAIL("preload", "see library above", "there is no library for this program");
        return;
    }
    base_preload_first(t->path, first);
    snprintf(preload, sizeof preload, "%s%s", first, t->library);
    if (list_open(&l, t, preload) != 0)
        return;
    ours = list_find(&l, t->library);
    bad = list_find(&l, "cannot be preloaded");
    bad = bad ? bad : list_find(&l, "not found");
    bad = bad ? bad : list_find(&l, "undefined symbol");
    if (bad)
        FAIL("preload", "build Pythia with the libraries of this program", "%s", bad);
    else if (!ours)
        FAIL("preload", "link it with -lpythia_pmpi", "the loader of %s ignores LD_PRELOAD", t->name);
    else
        GOOD("preload", "%s would be loaded into it%s%.*s", t->library, first[0] ? ", behind its sanitizer's " : "",
             (int)strcspn(first, ":"), first);
    captured_free(&l.captured);
}

/* --- The job file --- */

/* The build of the recorded program against the one of this file. */
static void compare_builds(const struct doctor_target *t, const struct job *j, const char *path)
{
    const char *recorded = job_text(j, j->info.program_id);

    if (!t->binary.elf)
        GOOD("job file", "%s, %u ranks, of %s", path, j->info.ranks, job_text(j, j->info.program));
    else if (!t->binary.build_id[0] && recorded[0] == 'x')
        NOTE("job file", "link with -Wl,--build-id",
             "%s: %s has no build-id, so it cannot be told whether it is the recorded build", path, t->name);
    else if (strcmp(t->binary.build_id, recorded) != 0)
        NOTE("job file", "record again", "%s is of another build of %s: its calls are matched by function and order",
             path, job_text(j, j->info.program));
    else
        GOOD("job file", "%s, %u ranks, of this very build", path, j->info.ranks);
}

static void default_job(const struct doctor_target *t, char *path, size_t size)
{
    char real[PATH_MAX];
    const char *given = getenv("PYTHIA_INPUT");

    given = given && *given ? given : getenv("PYTHIA_OUTPUT");
    if (given && *given)
        snprintf(path, size, "%s", given);
    else
        snprintf(path, size, "%s.pythia", base_name(realpath(t->path, real) ? real : t->path));
}

static void check_job(const struct doctor_target *t)
{
    char path[PATH_MAX + 16], why[512] = "", directory[PATH_MAX + 16];
    struct job *j = NULL;

    default_job(t, path, sizeof path);
    snprintf(directory, sizeof directory, "%s", path);
    char *slash = strrchr(directory, '/');
    if (slash)
        slash[slash == directory] = '\0';
    if (access(slash ? directory : ".", W_OK) != 0)
        FAIL("job file", "pythia record -o FILE, somewhere else", "%s cannot be written here", path);
    else if (access(path, F_OK) != 0)
        GOOD("job file", "none yet: record would write %s", path);
    else if (file_read(path, &j, why, sizeof why) != 0)
        FAIL("job file", "record again", "%s", why);
    else
        compare_builds(t, j, path);
    job_destroy(j);
}

void doctor_program(struct doctor_target *t)
{
    struct list plain;
    const char *missing;

    check_file(t);
    if (!t->binary.dynamic || t->binary.foreign || access(t->binary.loader, X_OK) != 0 ||
        list_open(&plain, t, "") != 0) {
        t->mpi = t->binary.elf ? DOCTOR_NO_MPI : DOCTOR_MPI_UNKNOWN;
        check_job(t);
        return;
    }
    missing = list_find(&plain, "=> not found");
    missing = missing ? missing : list_find(&plain, "error while loading");
    if (missing)
        FAIL("program", "install it, or set LD_LIBRARY_PATH", "%s", missing);
    check_mpi(t, &plain);
    if (!missing)
        check_preload(t, &plain);
    check_fortran(t, &plain);
    check_openmp(t, &plain);
    check_names(t);
    check_symbols(t);
    check_job(t);
    captured_free(&plain.captured);
}
