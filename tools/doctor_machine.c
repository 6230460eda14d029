/* SPDX-License-Identifier: MIT */
/* What doctor can tell without a program: our libraries, the clock, the options in the environment. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/options.h"
#include "inside/ring.h"
#include "tools/capture.h"
#include "tools/doctor.h"
#include "tools/program.h"

/* --- Libraries --- */

/* The dynamic loader's complaint about `library` in text, "" when there is none. */
static const char *loader_complaint(char *text)
{
    char *line = strstr(text, "ERROR: ld.so");

    if (!line)
        line = strstr(text, "error while loading");
    if (line)
        line[strcspn(line, "\n")] = '\0';
    return line ? line : "";
}

/* Preloads it into this very command, which then looks for it in its own memory. */
static void check_library(const char *name)
{
    char path[PATH_MAX], preload[PATH_MAX + 16];
    char *argv[] = { "/proc/self/exe", "doctor", "--probe", NULL }, *environment[] = { preload, "LD_BIND_NOW=1", NULL };
    struct captured c;

    if (program_find_library(name, path, sizeof path) != 0) {
        FAIL("library", "make install, or configure with it", "%s is nowhere to be found", name);
        return;
    }
    if (strpbrk(path, ": \t\n")) {
        FAIL("library", "move Pythia, or name a copy by PYTHIA_LIBRARY",
             "%s: LD_PRELOAD cannot hold a path with a blank or a colon", path);
        return;
    }
    snprintf(preload, sizeof preload, "LD_PRELOAD=%s", path);
    if (capture(argv, environment, 10, &c) != 0)
        return;
    const char *complaint = loader_complaint(c.text);
    if (*complaint || c.status != 0 || !strstr(c.text, name))
        FAIL("library", "rebuild Pythia on this machine", "%s cannot be preloaded: %s", path,
             *complaint ? complaint : "the loader ignores it");
    else
        GOOD("library", "%s", path);
    captured_free(&c);
}

static void check_libraries(const struct doctor_target *target)
{
    const char *named = getenv("PYTHIA_LIBRARY");

    if (named && *named) {
        if (access(named, R_OK) != 0)
            FAIL("library", "unset PYTHIA_LIBRARY", "PYTHIA_LIBRARY is %s: %s", named, strerror(errno));
        else
            NOTE("library", NULL, "%s, named by PYTHIA_LIBRARY", named);
        return;
    }
#ifdef HAVE_MPI
    if (!target || strstr(target->library, "pmpi") || !target->library[0])
        check_library("libpythia_pmpi.so");
#else
    NOTE("library", "install an MPI and configure again", "built without MPI");
#endif
#ifdef HAVE_OMP
    if (!target || strstr(target->library, "libpythia_omp"))
        check_library("libpythia_omp.so");
#else
    NOTE("library", "configure without --without-omp", "built without the OpenMP hooks");
#endif
}

/* --- The clock --- */

static void check_clock(void)
{
    enum { READINGS = 100000 };
    uint64_t begin, took;

    base_clock_init();
    begin = base_clock_system();
    for (int i = 0; i < READINGS; i++)
        (void)base_clock_now();
    took = (base_clock_system() - begin) / READINGS;
    if (base_hot.clock.tsc)
        GOOD("clock", "time stamp counter, invariant, %u ns a reading", (unsigned)took);
    else if (took > 200)
        NOTE("clock", "see /sys/devices/system/clocksource; a system call per reading makes events dear",
             "clock_gettime, %u ns a reading", (unsigned)took);
    else
        GOOD("clock", "clock_gettime, %u ns a reading", (unsigned)took);
}

/* --- Samples --- */

static void check_samples(void)
{
    char why[256];

    if (inside_ring_allowed(why, sizeof why))
        GOOD("samples", "perf_event_open is allowed: recordings know where threads compute");
    else
        NOTE("samples", "recordings go without: which functions stand between two calls is not known", "%s", why);
}

/* --- Options --- */

static const struct base_option *option_named(const char *name, size_t length)
{
    const struct base_option *row;

    for (size_t i = 0; (row = base_options_row(i)) != NULL; i++)
        if (strlen(row->env) == length && !strncmp(row->env, name, length))
            return row;
    return NULL;
}

static bool check_option(const char *entry)
{
    size_t length = strcspn(entry, "=");
    const struct base_option *row = option_named(entry, length);
    const char *value = entry[length] ? entry + length + 1 : "";
    char why[256];

    if (!strncmp(entry, "PYTHIA_LIBRARY=", 15) || !*value)
        return true;
    if (!row) {
        NOTE("environment", "see ENVIRONMENT in pythia(1)", "%.*s means nothing to Pythia", (int)length, entry);
        return false;
    }
    if (!base_options_legal(row, value, why, sizeof why)) {
        NOTE("environment", "the default would be used", "%s %s", row->env, why);
        return false;
    }
    return true;
}

static void check_options(void)
{
    bool good = true;
    const char *mode = getenv("PYTHIA_MODE"), *preload = getenv("LD_PRELOAD");

    for (char **entry = environ; *entry; entry++)
        if (!strncmp(*entry, "PYTHIA_", 7))
            good &= check_option(*entry);
    if (mode && !strcmp(mode, "off")) {
        NOTE("environment", "unset PYTHIA_MODE", "PYTHIA_MODE is off: linked programs run unrecorded");
        good = false;
    }
    if (preload && *preload) {
        NOTE("environment", "another MPI tool in there also wants the calls; Pythia comes first", "LD_PRELOAD is %s",
             preload);
        good = false;
    }
    if (good)
        GOOD("environment", "the options in it are legal");
}

void doctor_machine(const struct doctor_target *target)
{
    check_libraries(target);
    check_clock();
    check_samples();
    check_options();
}
