/* SPDX-License-Identifier: MIT */
/*
 * `pythia doctor --omp CMD`: whether changing the teams of a program's parallel regions is safe, by trying it.
 *
 *   plain, twice    what the program says, and which numbers in it vary by themselves (times)
 *   recorded        its regions; nothing may change
 *   changed twice   every region that Pythia would dare to change: with one thread; with one, a middle and the full
 *                   size in turn, which breaks what relies on a thread's data or number from one region to the next
 *
 * Tasks are run at once as in any predicted run. A run that takes ten seconds and twenty times the plain one's time is
 * ended. Outputs are compared word by word. Words that vary between the two plain runs are left out; numbers may differ
 * by 1e-6 of their size (sums of floating-point numbers depend on how they are divided), which is then said.
 *
 * Threads: one.  Hook-safe: no.
 */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "file/file.h"
#include "findings/report.h"
#include "tools/capture.h"
#include "tools/doctor.h"
#include "tools/program.h"
#include "tools/tool.h"

enum { SECONDS = 600, LEAST_SECONDS = 10, TIMES = 20, PLACE = 200 };
static const double rounding = 1e-6;

/* --- Comparing what programs say --- */

static const char blanks[] = " \t\r\n,;()[]=";

/* The next word, or 0 length at the end. */
static size_t word(const char **text)
{
    *text += strspn(*text, blanks);
    return strcspn(*text, blanks);
}

enum verdict { SAME, ROUNDED, OTHER };

static enum verdict compare_words(const char *a, size_t n, const char *b, size_t m)
{
    char *end_a, *end_b;
    if (n == m && memcmp(a, b, n) == 0)
        return SAME;
    double x = strtod(a, &end_a), y = strtod(b, &end_b);
    if (end_a != a + n || end_b != b + m || !isfinite(x) || !isfinite(y))
        return OTHER;
    return fabs(x - y) <= rounding * fmax(fabs(x), fabs(y)) ? ROUNDED : OTHER;
}

/* `a` and `again` are of equal runs: where these differ, anything goes. The first word that differs is copied to
   `what`. */
static enum verdict compare(const char *a, const char *again, const char *b, char *what, size_t size)
{
    enum verdict all = SAME;
    for (;;) {
        size_t n = word(&a), m = word(&b), k = word(&again);
        if (n == 0 && m == 0)
            return all;
        bool varies = compare_words(a, n, again, k) != SAME;
        enum verdict here = varies && n && m ? SAME : compare_words(a, n, b, m);
        if (here > all) {
            all = here;
            snprintf(what, size, "%.*s instead of %.*s", (int)(m < 40 ? m : 40), m ? b : "nothing",
                     (int)(n < 40 ? n : 40), n ? a : "nothing");
        }
        if (here == OTHER || n == 0 || m == 0)
            return here > all ? here : all == SAME ? OTHER : all;
        a += n;
        b += m;
        again += k;
    }
}

/* --- Runs --- */

struct trial {
    char **argv;
    char preload[2 * PATH_MAX + 16], job[PATH_MAX + 32], copy[PATH_MAX + 32];
    struct captured plain, again;
    int seconds; /* that a run with Pythia may take: the plain one's time many times over */
};

static int run(struct trial *t, const char *mode, const char *sizes, struct captured *c)
{
    char mode_text[64], input[PATH_MAX + 64], output[PATH_MAX + 64], sizes_text[64];
    char verbose[] = "PYTHIA_VERBOSE=0", act[] = "PYTHIA_ACT=team,task";
    bool plain = strcmp(mode, "off") == 0;
    snprintf(mode_text, sizeof mode_text, "PYTHIA_MODE=%s", mode);
    snprintf(input, sizeof input, "PYTHIA_INPUT=%s", t->job);
    snprintf(output, sizeof output, "PYTHIA_OUTPUT=%s", strcmp(mode, "record") ? t->copy : t->job);
    snprintf(sizes_text, sizeof sizes_text, "PYTHIA_OMP_SIZES=%s", sizes);
    char *environment[] = { mode_text, input, output, sizes_text, verbose, act, plain ? NULL : t->preload, NULL };
    uint64_t begin = base_clock_system();
    int error = capture(t->argv, environment, plain ? SECONDS : t->seconds, c);
    int took = (int)((base_clock_system() - begin) / 1000000000);
    if (plain && LEAST_SECONDS + TIMES * took > t->seconds)
        t->seconds = LEAST_SECONDS + TIMES * took;
    return error;
}

/* One run with other sizes; 0 right, 1 wrong, < 0: it could not be made. */
static int try_sizes(struct trial *t, const char *mode, const char *sizes, const char *checked)
{
    struct captured c;
    char what[128] = "";
    int bad = 0;
    if (run(t, mode, sizes, &c))
        return -1;
    enum verdict verdict = compare(t->plain.text, t->again.text, c.text, what, sizeof what);
    if (c.timed_out) {
        FAIL(checked, "PYTHIA_OMP_KEEP=all leaves every region alone", "hangs: no end after %d s", t->seconds);
        bad = 1;
    } else if (c.status != t->plain.status) {
        FAIL(checked, "PYTHIA_OMP_KEEP=all leaves every region alone", "exit code %d instead of %d", c.status,
             t->plain.status);
        bad = 1;
    } else if (verdict == OTHER) {
        FAIL(checked, "find the region: PYTHIA_OMP_KEEP=NAME leaves it alone", "other output: %s", what);
        bad = 1;
    } else if (verdict == ROUNDED) {
        NOTE(checked, NULL, "same output but for rounding: %s", what);
    } else {
        GOOD(checked, "same output");
    }
    captured_free(&c);
    return bad;
}

/* --- Regions --- */

/* Of the outlined function at a callsite. */
static const char *place_of(struct report *r, uint32_t callsite)
{
    for (uint32_t i = 0; i < r->model->region_count; i++)
        if (r->model->regions[i].callsite == callsite)
            return findings_where(r, r->model->regions[i].terminal, PLACE);
    return "region";
}

static void reasons(const struct report *r, const struct job_region *g, char *text, size_t size)
{
    size_t n = 0;
    text[0] = '\0';
    for (uint32_t bit = 1; bit < 1u << JOB_FIXED_REASONS && n < size; bit <<= 1)
        if (g->fixed & bit)
            n += (size_t)snprintf(text + n, size - n, "%s%s", n ? "; " : "", job_fixed_text(bit));
    if (job_proof_reason(g->proof) != JOB_PROOF_HARMLESS && n < size) {
        char why[320];
        findings_reason(r, g, why, sizeof why);
        snprintf(text + n, size - n, "%s%s", n ? "; " : "", why);
    }
}

static int say_regions(const char *path)
{
    struct job *job = NULL;
    char why[512];
    if (file_read(path, &job, why, sizeof why))
        return -1;
    struct report *r = report_create(job);
    const struct job_learned *l = &job->learned; /* the predicted runs': the recording did not try to change any */
    uint32_t changed = 0;
    for (uint32_t i = 0; r && i < l->region_count; i++) {
        const struct job_region *g = &l->regions[i];
        const char *place = place_of(r, g->callsite);
        char text[512];
        reasons(r, g, text, sizeof text);
        changed += !*text;
        if (*text)
            NOTE("region", NULL, "%s is left alone: %s", place, text);
        else
            GOOD("region", "%s may be changed", place);
    }
    if (!l->region_count)
        NOTE("regions", NULL, "none was seen in this run");
    report_destroy(r);
    job_destroy(job);
    return (int)changed;
}

/* --- The whole --- */

static int try_all(struct trial *t)
{
    int bad = 0, rc = try_sizes(t, "record", "best", "recorded");
    if (rc < 0 || access(t->job, R_OK)) {
        NOTE("regions", NULL, "no region was seen: the program has none, or its OpenMP is none of ours");
        return rc > 0 ? TOOL_NO : TOOL_OK;
    }
    bad += rc > 0;
    bad += try_sizes(t, "predict", "one", "one thread") > 0;
    bad += try_sizes(t, "predict", "turns", "sizes in turn") > 0;
    if (say_regions(access(t->copy, R_OK) ? t->job : t->copy) < 0)
        tool_complain("cannot read what was recorded");
    puts(bad ? "\nacting here is not safe: see FAIL above; PYTHIA_ACT=none or PYTHIA_OMP_KEEP avoid it"
             : "\nacting on teams and tasks changed nothing in these runs");
    return bad ? TOOL_NO : TOOL_OK;
}

static int examine(struct trial *t)
{
    if (run(t, "off", "best", &t->plain) || run(t, "off", "best", &t->again)) {
        tool_complain("%s cannot be started: %s", t->argv[0], strerror(errno));
        captured_free(&t->plain);
        return TOOL_CANNOT_RUN;
    }
    int rc = TOOL_USAGE;
    if ((t->plain.timed_out || t->again.timed_out)) {
        tool_complain("%s does not end within %d s by itself: use a smaller input", t->argv[0], SECONDS);
    } else if (t->plain.status != t->again.status) {
        tool_complain("%s ended with %d and then with %d: nothing can be compared", t->argv[0], t->plain.status,
                      t->again.status);
    } else {
        rc = try_all(t);
    }
    captured_free(&t->plain);
    captured_free(&t->again);
    return rc;
}

int tool_doctor_omp(const char *path, char **argv)
{
    struct trial t = { .argv = argv };
    char directory[] = "/tmp/pythia-doctor-XXXXXX", library[PATH_MAX];
    const char *before = getenv("LD_PRELOAD");
    if (program_choose_library(path, argv + 1, library, sizeof library)) {
        tool_complain("no library to preload beside this command");
        return TOOL_NOT_FOUND;
    }
    if (!mkdtemp(directory)) {
        tool_complain("cannot make a directory in /tmp");
        return TOOL_OUTPUT;
    }
    snprintf(t.preload, sizeof t.preload, "LD_PRELOAD=%s%s%.*s", library, before && *before ? ":" : "", PATH_MAX - 1,
             before ? before : "");
    snprintf(t.job, sizeof t.job, "%s/job.pythia", directory);
    snprintf(t.copy, sizeof t.copy, "%s/changed.pythia", directory);
    int rc = examine(&t);
    unlink(t.job);
    unlink(t.copy);
    rmdir(directory);
    return rc;
}
