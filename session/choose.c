/* SPDX-License-Identifier: MIT */
/* Record or predict, from which file and into which: rank 0 decides, says so in one line, and tells the others. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/log.h"
#include "base/modules.h"
#include "base/name.h"
#include "base/replace.h"
#include "base/rights.h"
#include "file/file.h"
#include "file/format.h"
#include "session/internal.h"
#include "session/tree.h"

static char output_path[PATH_MAX], input_path[PATH_MAX];
static bool claimed;         /* this process has its number, and the path says it */
static char start[PATH_MAX]; /* where the program was started: it may leave that before the session begins */

static __attribute__((constructor)) void choose_load(void)
{
    if (!getcwd(start, sizeof start))
        strcpy(start, ".");
    else if (!start[1]) /* "/": the slash that follows is enough */
        start[0] = '\0';
}

/* A relative path means the start directory's. */
static void fixed_path(char *path, size_t size, const char *given)
{
    bool relative = given[0] != '/';
    if ((size_t)snprintf(path, size, "%s%s%s", relative ? start : "", relative ? "/" : "", given) >= size)
        base_log_warn("%.60s…: the path is too long", given);
}

/* <program>.pythia in the directory where the program was started. */
static void default_path(char *path, size_t size)
{
    struct base_module m;
    char name[256];
    snprintf(name, sizeof name, "%.200s.pythia", base_modules_program(&m) ? "program" : base_name(m.path));
    fixed_path(path, size, name);
}

static void resolve_paths(void)
{
    struct pythia_options *o = &session.options;
    if (output_path[0])
        return;
    base_options_load(o);
    if (o->output && o->output[0])
        fixed_path(output_path, sizeof output_path, o->output);
    else
        default_path(output_path, sizeof output_path);
    fixed_path(input_path, sizeof input_path, o->input && o->input[0] ? o->input : output_path);
}

static void add_spawned(char *path, size_t size, uint32_t number)
{
    size_t length = strlen(path);
    snprintf(path + length, size - length, ".spawn%u", number);
}

void session_spawned(uint32_t number)
{
    static uint32_t known;
    if (number == known)
        return;
    known = number;
    output_path[0] = '\0';
    claimed = false;
    resolve_paths();
    add_spawned(output_path, sizeof output_path, number);
    add_spawned(input_path, sizeof input_path, number);
}

const char *session_output_path(void)
{
    resolve_paths();
    return output_path;
}

const char *session_input_path(void)
{
    resolve_paths();
    return input_path;
}

/* What the reference has to do with this program. */
enum kinship { SAME_BUILD, REBUILT, FOREIGN };

static enum kinship kinship(const struct job *reference)
{
    struct base_module m;
    if (base_modules_program(&m))
        return REBUILT;
    if (!strcmp(m.build_id, job_text(reference, reference->info.program_id)))
        return SAME_BUILD;
    return job_is_of(reference, m.path) ? REBUILT : FOREIGN;
}

/* Whether the file that is to be written, if it is there, may be lost: a recording of this program, also of a damaged
   one. That of another number of ranks is often one that was to be kept under a name of its own. */
static bool may_replace(const char *path, uint32_t ranks)
{
    char magic[sizeof FORMAT_MAGIC - 1], why[256];
    struct stat st;
    struct job *there = NULL;
    if (session.options.force || stat(path, &st) || !S_ISREG(st.st_mode) || st.st_size == 0)
        return true;
    int fd = base_io_open(path, O_RDONLY, 0);
    bool is_job = fd >= 0 && base_io_read(fd, magic, sizeof magic) == sizeof magic &&
                  !memcmp(magic, FORMAT_MAGIC, sizeof magic);
    if (fd >= 0)
        close(fd);
    bool may = is_job && (file_open(path, &there, why, sizeof why) || kinship(there) != FOREIGN);
    if (may && there && there->info.ranks != ranks)
        base_log_info("%s was a recording with %u rank%s: this one, with %u, takes its place (-o gives it a name of "
                      "its own)", path, there->info.ranks, there->info.ranks == 1 ? "" : "s", ranks);
    job_destroy(there);
    return may;
}

bool session_make_way(const char *path, uint32_t ranks, char *why, size_t size)
{
    char kept[PATH_MAX];
    if (may_replace(path, ranks))
        return true;
    if (base_replace_keep(path, kept)) {
        snprintf(why, size, "%s: is no recording of this program, and can't be kept under another name: %s", path,
                 strerror(errno));
        return false;
    }
    base_log_warn("%s was there and no recording of this program: it is kept as %s", path, kept);
    return true;
}

static void say_predict(const struct job *reference, enum kinship kin, uint32_t ranks)
{
    char shape[96] = "";
    if (reference->info.ranks != ranks)
        snprintf(shape, sizeof shape, " (recorded on %u ranks, now %u: each finds its role by what it does)",
                 reference->info.ranks, ranks);
    base_log_info("predicting from %s%s%s", session_input_path(),
                  kin == REBUILT ? " (of another build: callsites are matched by function and order)" : "", shape);
}

/* What was found usable, until session_start takes it. */
static struct job *chosen;

struct job *session_chosen(void)
{
    struct job *job = chosen;
    chosen = NULL;
    return job;
}

const void *session_reference(void)
{
    return chosen;
}

const void *session_reference_bytes(size_t *size)
{
    *size = 0;
    return chosen ? file_bytes(chosen, size) : NULL;
}

/* Whether the input file can serve; says why not. An unusable file is never overwritten unasked: it may be
   somebody's. */
static bool usable_reference(const struct session_world *world)
{
    char why[512];
    job_destroy(session_chosen());
    if (file_open(session_input_path(), &chosen, why, sizeof why)) {
        char parts[PATH_MAX + 32];
        snprintf(parts, sizeof parts, "%s.parts", session_input_path());
        if (access(session_input_path(), F_OK) && !access(parts, F_OK))
            base_log_warn(
                "cannot predict: %s; the program runs on without predictions (pythia merge joins %s, which a run "
                "that died has left)",
                why, parts);
        else
            base_log_warn(
                "cannot predict: %s; the program runs on without predictions (PYTHIA_MODE=record makes a new file)",
                why);
        return false;
    }
    enum kinship kin = kinship(chosen);
    if (kin == FOREIGN)
        base_log_warn(
            "cannot predict: %s was recorded from another program, %s; the program runs on without predictions",
            session_input_path(), job_text(chosen, chosen->info.program));
    else
        say_predict(chosen, kin, world->ranks);
    return kin != FOREIGN;
}

uint64_t session_reference_mark(void)
{
    return chosen ? file_mark(chosen) : 0;
}

bool session_find_reference(uint64_t mark)
{
    char why[512];
    job_destroy(session_chosen());
    resolve_paths();
    if (file_open(session_input_path(), &chosen, why, sizeof why))
        return false;
    if (session_reference_mark() == mark)
        return true;
    job_destroy(session_chosen());
    return false;
}

void session_asked(char *text, size_t size)
{
    const struct pythia_options *o = &session.options;
    resolve_paths(); /* reads the options */
    bool output = o->output && o->output[0], input = o->input && o->input[0];
    snprintf(text, size, "%s%s%s%s%s%s", o->mode, output ? " -o " : "", output ? o->output : "", input ? " -i " : "",
             input ? o->input : "", o->update ? " --update" : "");
}

/* Processes that know nothing of each other would all write the same file: of those that a launcher started, the first
   records; of those that a script started, each has a file of its own. */
static bool claim_output(const struct session_world *world)
{
    if (world->ranks > 1) {
        session_tree_said();
        return true;
    }
    if (!base_log_is_first_rank())
        return false;
    unsigned before = claimed ? 0 : session_tree_claim(output_path);
    size_t length = strlen(output_path);
    if (before)
        snprintf(output_path + length, sizeof output_path - length, ".%u", before + 1);
    claimed = true;
    return true;
}

enum session_mode session_choose(const struct session_world *world)
{
    if (base_rights_raised())
        return SESSION_OFF;
    resolve_paths();
    const char *mode = session.options.mode;
    char why[256];
    uint32_t kinds;
    if (!strcmp(mode, "off"))
        return SESSION_OFF;
    if (session_kinds(&session.options, &kinds, why, sizeof why)) {
        session_tree_said();
        base_log_warn("%s; the program runs on unrecorded", why);
        return SESSION_OFF;
    }
    if (!strcmp(mode, "predict") || (!strcmp(mode, "auto") && !access(session_input_path(), F_OK))) {
        session_tree_said();
        return usable_reference(world) ? SESSION_PREDICT : SESSION_OFF;
    }
    if (!claim_output(world))
        return SESSION_OFF;
    base_log_info("recording to %s", session_output_path());
    base_replace_sweep(session_output_path());
    session_parts_put_aside();
    return SESSION_RECORD;
}
