/* SPDX-License-Identifier: MIT */
/* Boards to jobs, and where addresses are in the program. */
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/array.h"
#include "base/io.h"
#include "base/modules.h"
#include "base/order.h"
#include "file/file.h"
#include "findings/resolve.h"
#include "job/define.h"
#include "tools/tool.h"
#include "tools/watch.h"
#include "watch/copy.h"

#define CLOCKS_APART UINT64_C(60000000000) /* ns, of nodes and file systems, at most */

/* --- Boards --- */

static void refuse(const char *path, const char *why)
{
    tool_complain("%s is left out: %s", path, why);
}

/* Of the file that a job writes, or is predicted from: the directory of its parts; or one itself. */
static void read_parts(struct watch_sights *list, const char *file, bool asked)
{
    char path[PATH_MAX];
    struct stat st;
    uint32_t first = list->count;
    bool directory = !stat(file, &st) && S_ISDIR(st.st_mode);
    if (snprintf(path, sizeof path, "%s%s", file, directory ? "" : ".parts") < (int)sizeof path)
        watch_copy_read(path, list);
    for (uint32_t i = first; i < list->count; i++)
        list->of[i]->asked = asked;
}

static int by_job(const void *a, const void *b)
{
    const struct watch_sight *x = *(struct watch_sight *const *)a, *y = *(struct watch_sight *const *)b;
    return BASE_ORDER(x->board.job, y->board.job) ?: BASE_ORDER(x->board.rank, y->board.rank);
}

/* Of two of a rank its own, or the newer copy. */
static void join(struct watch_sight **into, struct watch_sight *s)
{
    struct watch_sight *last = *into;
    bool better = last->copied && (!s->copied || s->changed_ns > last->changed_ns);
    struct watch_sight *kept = better ? s : last, *gone = better ? last : s;
    kept->changed_ns = gone->changed_ns > kept->changed_ns ? gone->changed_ns : kept->changed_ns; /* that clock is the
                                                                                                     copies' */
    kept->asked |= gone->asked;
    *into = kept;
    free(gone);
}

/* This node's boards, those that other nodes have copied for the same jobs, and those that are asked for; in the order
   of jobs, then ranks. */
static void find_all(struct watch_sights *list, const struct watch_wanted *w)
{
    const char *last = NULL;
    watch_read_all(0, list);
    uint32_t own = list->count;
    if (w->file)
        read_parts(list, w->file, true);
    for (uint32_t i = 0; i < own; i++) {
        const char *file = list->of[i]->board.file;
        if ((!last || strcmp(last, file) != 0) && (!w->file || strcmp(w->file, file) != 0))
            read_parts(list, file, false);
        last = file;
    }
    list->count = BASE_ARRAY_JOIN(list->of, list->count, by_job, into, from, join(into, *from));
}

/* How old copies are: against the newest of the job, which is new unless it is minutes old or was there before. */
static void set_ages(struct watch_job *j)
{
    uint64_t newest = 0, now = (uint64_t)time(NULL) * 1000000000;
    for (uint32_t i = 0; i < j->count; i++)
        newest = j->sight[i]->changed_ns > newest ? j->sight[i]->changed_ns : newest;
    if (now > newest && now - newest > CLOCKS_APART)
        newest = now;
    for (uint32_t i = 0; i < j->count; i++) {
        struct watch_sight *s = j->sight[i];
        const struct watch_sight *b = s->before;
        bool same = b && b->copied && b->changed_ns == s->changed_ns;
        uint64_t age = same ? b->age_ns + (s->seen_ns - b->seen_ns) : 0;
        s->age_ns = s->copied && newest - s->changed_ns > age ? newest - s->changed_ns : age;
    }
}

static bool is_wanted(const struct watch_job *j, const struct watch_wanted *w)
{
    bool file = !w->file, pid = !w->pid;
    for (uint32_t i = 0; i < j->count; i++) {
        const struct watch_sight *s = j->sight[i];
        file |= w->file && (s->asked || !strcmp(s->board.file, w->file));
        pid |= w->pid && !s->copied && s->board.pid == w->pid;
    }
    return file && pid;
}

static uint32_t count_nodes(const struct watch_job *j)
{
    uint32_t nodes = 0, k;
    for (uint32_t i = 0; i < j->count; nodes += k == i++)
        for (k = 0; k < i && strcmp(j->sight[k]->board.node, j->sight[i]->board.node) != 0;)
            k++;
    return nodes;
}

/* --- Places --- */

/* What was asked for: modules, and callsites, each of which is looked up once. */
static struct job *places;

static bool find_frame(const struct watch_board *b, uint64_t from, struct job_frame *frame)
{
    char path[512], build_id[BASE_MODULE_ID];
    uint64_t begin, end, bias;
    int n;
    places = places ? places : tool_need(job_create());
    for (const char *at = b->modules; sscanf(at, "%" SCNx64 " %" SCNx64 " %" SCNx64 " %159s %511[^\n]%n", &begin, &end,
                                             &bias, build_id, path, &n) == 5; at += n)
        if (from >= begin && from < end) {
            frame->module = job_module(places, path, strcmp(build_id, "-") ? build_id : "");
            frame->offset = from - bias;
            return true;
        }
    return false;
}

static const char *place_at(const struct watch_board *b, uint64_t from)
{
    struct job_frame frame;
    bool there = from && find_frame(b, from & ~WATCH_OF_REGION, &frame);
    return there ? findings_frames_text(places, &frame, 1, from & WATCH_OF_REGION ? FINDINGS_ENTRY : FINDINGS_CALL)
                 : NULL;
}

static const struct watch_sight *seen(const struct watch_row *r)
{
    return r->sight ? r->sight : r->last;
}

const char *watch_place(const struct watch_row *r)
{
    const struct watch_sight *s = seen(r);
    return s ? place_at(&s->board, s->board.from) : NULL;
}

const char *watch_thread_place(const struct watch_row *r, uint32_t thread)
{
    uint64_t since;
    bool waits = r->sight && watch_thread_waits(r->sight, thread, &since);
    return waits ? place_at(&r->sight->board, r->sight->board.thread[thread].from) : NULL;
}

const char *watch_way(const struct watch_row *r)
{
    const struct watch_sight *s = seen(r);
    const struct watch_way *way = s ? s->board.came : NULL;
    struct job_frame frame[WATCH_FRAMES];
    uint32_t count = 0;
    while (way && count < WATCH_FRAMES && way->from[count] &&
           find_frame(&s->board, way->from[count], &frame[count]))
        count++;
    return count ? findings_frames_text(places, frame, count, FINDINGS_CALL) : watch_place(r);
}

const char *watch_verdict_place(const struct watch_job *j)
{
    const struct watch_verdict *v = &j->verdict;
    if (v->kind == WATCH_SLOW)
        return place_at(&j->rows[v->slowest.rank].sight->board, v->slowest.from);
    return v->rank_count ? watch_place(&j->rows[v->rank[0]]) : NULL;
}

const char *watch_last_call(const struct watch_row *r)
{
    const struct watch_sight *s = seen(r);
    return s && s->board.is.function[0] ? s->board.is.function : NULL;
}

const char *watch_call(const struct watch_row *r)
{
    uint64_t since = r->sight ? r->sight->board.since : 0;
    return since & 1 && since != WATCH_CHANGES ? watch_last_call(r) : NULL;
}

const char *watch_region(const struct watch_row *r, uint64_t *entries)
{
    const struct watch_board *b = r->sight ? &r->sight->board : NULL;
    uint32_t region = b ? b->in_region : 0;
    *entries = region ? b->region[region].entries : 0;
    return region ? b->region[region].name : NULL;
}

/* --- What a recording knows --- */

/* That of the last path that was asked for; NULL: it cannot be read. */
static const struct job *reference(const char *path)
{
    static char last[sizeof ((struct watch_board *)0)->file], why[256];
    static struct job *job;
    if (strcmp(last, path) != 0) {
        job_destroy(job);
        strcpy(last, path);
        job = file_read(path, &job, why, sizeof why) ? NULL : job;
    }
    return job;
}

static bool is_at(const struct job *j, uint32_t terminal, const struct job_frame *frame)
{
    uint32_t number = j->terminals[terminal].callsite;
    const struct job_callsite *site = number == GRAMMAR_NONE ? NULL : &j->callsites[number];
    const struct job_frame *at = site && site->count ? &j->frames[site->first] : NULL;
    return at && at->offset == frame->offset && !strcmp(job_text(j, j->modules[at->module].build_id),
                                                        job_text(places, places->modules[frame->module].build_id));
}

static void add_usual(struct watch_row *r)
{
    struct job_frame frame;
    const struct watch_board *b = r->sight ? &r->sight->board : NULL;
    const struct job *j = b && b->predicts ? reference(b->file) : NULL;
    bool waits = r->state == WATCH_WAITS, found = j && find_frame(b, b->from, &frame);
    for (uint32_t i = 0; j && i < j->extremes.count; i++) {
        const struct job_extremes *e = &j->extremes.of[i];
        bool here = found && is_at(j, e->terminal, &frame);
        uint64_t value = e->value[waits ? JOB_DURATION_MAX : JOB_GAP_MAX];
        r->known += here ? e->count : 0;
        r->usual_ns = (here || !waits) && value > r->usual_ns ? value : r->usual_ns;
    }
}

/* --- The limit --- */

const char *watch_environment(uint32_t pid, const char *name)
{
    static char text[1 << 20];
    size_t size = base_io_text(text, sizeof text, "/proc/%u/environ", pid), length = strlen(name);
    for (const char *at = text; at < text + size; at += strlen(at) + 1)
        if (!strncmp(at, name, length) && at[length] == '=')
            return at + length + 1;
    return NULL;
}

/* The number that a variable has; 0: none. */
static double environment_of(uint32_t pid, const char *name)
{
    const char *text = watch_environment(pid, name);
    return text ? strtod(text, NULL) : 0;
}

/* Seconds from now on. */
static void set_limit(struct watch_job *j, const struct watch_wanted *w)
{
    const struct watch_sight *s = j->sight[0];
    double ran = (double)(s->now - s->board.began) * 1e-9, now = (double)time(NULL);
    bool unknown = w->limit_seconds || !s->process.state || s->copied;
    double end = unknown ? 0 : environment_of(s->board.pid, "SLURM_JOB_END_TIME");
    double walltime = unknown || end > 0 ? 0 : environment_of(s->board.pid, "PBS_WALLTIME");
    j->limited = w->limit_seconds > 0 || end > 0 || walltime > 0;
    j->limit_seconds = end > 0 ? end - now : (w->limit_seconds > 0 ? w->limit_seconds : walltime) - ran;
    j->fits = j->limited && j->numbers.eta <= j->limit_seconds;
}

/* --- Looking --- */

uint64_t watch_news(const struct watch_job *j)
{
    return j->verdict.kind == WATCH_NONE ? 0 : (uint64_t)j->verdict.kind << 32 | j->verdict.rank[0];
}

static struct watch_job *find_job(const struct watch_jobs *jobs, uint64_t id)
{
    for (uint32_t i = 0; i < jobs->count; i++)
        if (jobs->job[i].id == id)
            return &jobs->job[i];
    return NULL;
}

/* Whose boards are gone, as a signal that Pythia meets removes them, keep the places where they were seen. */
static void set_last(struct watch_job *j, const struct watch_sights *gone)
{
    for (uint32_t i = 0; i < gone->count; i++) {
        uint32_t rank = gone->of[i]->board.rank;
        if (gone->of[i]->board.job == j->id && rank < j->ranks && !j->rows[rank].sight)
            j->rows[rank].last = gone->of[i];
    }
}

static void judge(struct watch_job *j, const struct watch_job *before, const struct watch_sights *gone,
                  const struct watch_wanted *w)
{
    set_ages(j);
    j->rows = tool_need(watch_rows(j->sight, j->count, j->ranks));
    set_last(j, gone);
    j->nodes = count_nodes(j);
    for (uint32_t i = 0; i < j->ranks; i++)
        add_usual(&j->rows[i]);
    watch_judge(j->rows, j->ranks, &j->verdict);
    watch_count(&j->numbers, j->sight, j->count);
    set_limit(j, w);
    bool goes_on = before && before->told && watch_news(before) && watch_news(j); /* one that turned into another */
    j->told = goes_on ? watch_news(j) : before ? before->told : 0;
    j->dead = watch_job_state(j) != WATCH_DEAD ? 0 : before ? before->dead + 1 : 1;
}

static void free_jobs(struct watch_jobs *jobs)
{
    for (uint32_t i = 0; i < jobs->count; i++) {
        watch_rows_free(jobs->job[i].rows, jobs->job[i].ranks);
        watch_verdict_free(&jobs->job[i].verdict);
        stacks_destroy(jobs->job[i].stacks);
    }
    free(jobs->job);
    watch_sights_free(&jobs->before);
}

static bool has_rank(const struct watch_sights *list, const struct watch_sight *s)
{
    return list->count && bsearch(&s, list->of, list->count, sizeof s, by_job);
}

static bool has_job(const struct watch_sights *list, uint64_t job)
{
    uint32_t i = 0;
    while (i < list->count && list->of[i]->board.job != job)
        i++;
    return i < list->count;
}

/* Of the look before: what is there no more, of jobs of which something is. */
static void keep_gone(struct watch_jobs *jobs, struct watch_sights *gone)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < gone->count; i++)
        if (has_job(&jobs->now, gone->of[i]->board.job))
            gone->of[kept++] = gone->of[i];
        else
            free(gone->of[i]);
    gone->count = kept;
    for (uint32_t i = 0; i < jobs->before.count; i++) {
        const struct watch_sight *s = jobs->before.of[i];
        if (has_rank(&jobs->now, s) || !has_job(&jobs->now, s->board.job))
            continue;
        struct watch_sight *copy = calloc(1, sizeof *copy);
        *copy = *s;
        copy->before = NULL;
        copy->board.came = s->board.came ? copy->board.way + (s->board.came - s->board.way) : NULL;
        watch_sights_add(gone, copy);
    }
    jobs->gone = *gone;
}

void watch_jobs_free(struct watch_jobs *jobs)
{
    free_jobs(jobs);
    watch_sights_free(&jobs->gone);
    watch_sights_free(&jobs->now);
}

/* What the earlier look has of the same rank; for how long it has had no processor time, and if it wanted any. */
static void set_before(struct watch_sight *s, const struct watch_sights *before)
{
    struct watch_sight *const *b = before->count ? bsearch(&s, before->of, before->count, sizeof s, by_job) : NULL;
    s->before = b ? *b : NULL;
    watch_delayed(s);
    s->used = b ? (*b)->used : s->used;
    s->starves = b && (s->now == (*b)->now ? (*b)->starves
                                           : watch_process_starves(&s->process, &(*b)->process, s->now - (*b)->now));
    s->idle_ns = s->copied ? s->idle_ns : watch_process_idle(&s->process, &s->used, s->now);
}

void watch_look(struct watch_jobs *jobs, struct watch_jobs *earlier, const struct watch_wanted *wanted)
{
    *jobs = (struct watch_jobs){.before = earlier->now, .now.refuse = earlier->now.of ? NULL : refuse};
    find_all(&jobs->now, wanted);
    keep_gone(jobs, &earlier->gone);
    jobs->job = calloc((size_t)jobs->now.count + 1, sizeof *jobs->job);
    for (uint32_t i = 0; i < jobs->now.count; i++) {
        struct watch_sight **s = &jobs->now.of[i];
        struct watch_job *j = &jobs->job[jobs->count];
        set_before(*s, &jobs->before);
        if (!j->count++)
            *j = (struct watch_job){.id = (*s)->board.job, .ranks = (*s)->board.ranks, .sight = s, .count = 1};
        if (i + 1 < jobs->now.count && s[1]->board.job == j->id)
            continue;
        if (is_wanted(j, wanted)) {
            judge(j, find_job(earlier, j->id), &jobs->gone, wanted);
            jobs->count++;
        } else {
            j->count = 0;
        }
    }
    free_jobs(earlier);
}

/* --- States --- */

const char *const watch_job_state_text[] = {"running", "hung", "ending", "dead"};

enum watch_job_state watch_job_state(const struct watch_job *j)
{
    bool lives = false, ending = false;
    for (uint32_t i = 0; i < j->ranks; i++) {
        const struct watch_row *r = &j->rows[i];
        lives |= r->sight && r->state != WATCH_ENDED;
        ending |= r->state == WATCH_WAITS && r->sight->board.is.what.call_kind == JOB_LIFE;
    }
    if (!lives)
        return WATCH_DEAD;
    if (j->verdict.kind != WATCH_NONE && j->verdict.kind != WATCH_SLOW)
        return WATCH_HUNG;
    return ending ? WATCH_ENDING : WATCH_RUNNING;
}
