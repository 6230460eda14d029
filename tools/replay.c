/* SPDX-License-Identifier: MIT */
/* `pythia replay`: the job run as a machine: its wall time, and what would change it. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "findings/report.h"
#include "pythia.h"
#include "replay/analysis.h"
#include "tools/tool.h"
#include "views/table.h"
#include "views/views.h"

struct request {
    const char *job, *output, *balance, *speed;
    struct tool_job from;
    struct replay_analysis *analysis;
    int json, ideal;
    bool force;
    double latency, overhead, bandwidth; /* s, s, bytes/s; negative: not given */
};

enum { MOST_RANKS = 4096 };

static const char *const formats[] = { "text", "json", NULL }, *const networks[] = { "recorded", "ideal", NULL };
static const struct tool_option options[] = {
    TOOL_CHOICE(json, 'f', "format", "FORMAT", formats, "text (default) or json"),
    TOOL_OUTPUT("OUT", "write to OUT, which appears whole or not at all"),
    TOOL_CHOICE(ideal, 0, "network", "ideal", networks, "what if messages took no time"),
    TOOL_MEASURE(latency, 0, "latency", "SECONDS", "what if a message took this long (1.5e-6)"),
    TOOL_MEASURE(overhead, 0, "overhead", "SECONDS", "what if sending and receiving each took this long"),
    TOOL_MEASURE(bandwidth, 0, "bandwidth", "BYTES", "what if so many bytes a second were sent (1e9)"),
    TOOL_TEXT(balance, 0, "balance", "PLACE", "what if the work before the call at PLACE, or in the region there, were "
              "the same on all ranks: function, file:line or function@file:line; all"),
    TOOL_TEXT(speed, 0, "speed", "RANKS=X", "what if these ranks computed X times as fast: 3=1.2, or 0-3,7=2"),
    { 0 },
};

static void check(void *request, struct argp_state *state)
{
    if (((struct request *)request)->bandwidth == 0)
        argp_error(state, "--bandwidth must be more than 0");
}

static const struct tool_line usage = {
    .options = options, .arguments = "JOB", TOOL_ONLY("job file", job), .check = check,
    .doc =
        "Runs a recorded job as a machine: each rank's own computation, messages by a model that is fitted to the "
        "recording. Says how long the job takes so, and what it would take if something were otherwise."
        "\v"
        "low and high: of several draws of what the recording leaves open, and by how far the replay of the recording "
        "itself was off.\n\n"
        "Examples:\n"
        "  pythia replay app.pythia\n"
        "  pythia replay app.pythia --network ideal\n"
        "  pythia replay app.pythia --balance solve@app.c:120\n"
        "  pythia replay app.pythia --speed 3=1.2 --format json\n",
};

/* --- The changes --- */

/* "0-3,7=1.2": 0, or TOOL_USAGE after a complaint. */
static int read_speed(const char *text, double *speed, uint32_t ranks)
{
    const char *equals = strchr(text, '=');
    char *end;
    double x = equals ? strtod(equals + 1, &end) : 0;

    if (!equals || end == equals + 1 || *end || !(x > 0) || x > 1e9) {
        tool_complain("--speed is RANKS=X, as 3=1.2 or 0-3,7=2, not '%s'", text);
        return TOOL_USAGE;
    }
    for (const char *p = text; p < equals;) {
        unsigned long first = strtoul(p, &end, 10), last = first;
        if (end > p && *end == '-') {
            const char *second = end + 1;
            last = strtoul(second, &end, 10);
            last = end == second ? ranks : last;
        }
        if (end == p || (*end != ',' && end != equals) || last < first || last >= ranks) {
            tool_complain("--speed %s: the job's ranks are 0 to %u", text, ranks - 1);
            return TOOL_USAGE;
        }
        for (unsigned long r = first; r <= last; r++)
            speed[r] = x;
        p = *end == ',' ? end + 1 : end;
    }
    return TOOL_OK;
}

/* Whether PLACE means the site: its function, file:line, or both. */
static bool means(struct request *r, uint32_t site, const char *place)
{
    uint32_t terminal = r->analysis->bind->site[site].terminal;
    const struct findings_place *p = findings_place_of(r->from.report, terminal);
    char line[512];

    if (!p || !p->function)
        return false;
    snprintf(line, sizeof line, "%s@%s:%u", p->function, p->file ? p->file : "?", p->line);
    return !strcmp(place, line) || !strcmp(place, p->function) || !strcmp(place, strchr(line, '@') + 1);
}

static int read_balance(struct request *r, struct bind_change *c)
{
    c->balance = GRAMMAR_NONE;
    c->balance_all = r->balance && !strcmp(r->balance, "all");
    if (!r->balance || c->balance_all)
        return TOOL_OK;
    double most = -1;
    for (uint32_t s = 0; s < r->analysis->bind->site_count; s++) {
        const struct bind_site *site = &r->analysis->bind->site[s];
        if (means(r, s, r->balance) && site->gap_ns > most) {
            most = site->gap_ns;
            c->balance = s;
        }
    }
    if (c->balance == GRAMMAR_NONE) {
        tool_complain("--balance: no call and no region is at '%s' (see pythia report --view callsites)", r->balance);
        return TOOL_USAGE;
    }
    return TOOL_OK;
}

static bool changes(const struct request *r)
{
    return r->ideal || r->latency >= 0 || r->overhead >= 0 || r->bandwidth > 0 || r->balance || r->speed;
}

static void read_network(const struct request *r, struct bind_network *n, struct bind_change *c)
{
    *n = r->ideal ? (struct bind_network){ 0 } : r->analysis->bind->network;
    c->no_extra = r->ideal;
    if (r->latency >= 0)
        n->latency = r->latency * 1e9;
    if (r->overhead >= 0)
        n->overhead = r->overhead * 1e9;
    if (r->bandwidth > 0)
        n->byte = 1e9 / r->bandwidth;
    if (r->ideal || r->latency >= 0 || r->overhead >= 0 || r->bandwidth > 0)
        c->network = n;
}

/* --- Printing --- */

struct answer {
    double recorded, replayed;
    bool changed;
    struct replay_prediction prediction;
    struct replay_efficiency efficiency;
};

static void print_json(const struct request *r, const struct answer *a, FILE *out)
{
    const struct replay_result *result = &r->analysis->result;
    const struct bind_network *net = &r->analysis->bind->network;
    cJSON *o = cJSON_CreateObject(), *e = cJSON_AddObjectToObject(o, "efficiency"),
          *n = cJSON_AddObjectToObject(o, "model");

    ADD(o, NUMBER("recorded_seconds", a->recorded), NUMBER("replayed_seconds", a->replayed));
    if (a->changed)
        ADD(o, NUMBER("predicted_seconds", a->prediction.seconds), NUMBER("low_seconds", a->prediction.low),
            NUMBER("high_seconds", a->prediction.high), NUMBER("replays", a->prediction.draws + 1));
    ADD(o, NUMBER("events", result->events), NUMBER("steps", result->walked), NUMBER("unmatched", result->unmatched));
    views_json_unmatched(r->from.report, r->analysis, o);
    ADD(o, NUMBER("skipped_off", result->off));
    cJSON *ends = cJSON_AddArrayToObject(o, "rank_seconds");
    for (uint32_t i = 0; i < r->from.job->info.ranks && i < MOST_RANKS; i++)
        cJSON_AddItemToArray(ends, cJSON_CreateNumber((double)result->end[i] / 1e9));
    const struct replay_efficiency *f = &a->efficiency;
    ADD(e, NUMBER("work_balance", views_known(f->known, f->balance)),
        NUMBER("serialisation", views_known(f->known, f->serialisation)),
        NUMBER("transfer", views_known(f->known, f->transfer)), NUMBER("order", views_known(f->known, f->order)),
        NUMBER("moving", views_known(f->known, f->moving)), NUMBER("explained", views_known(f->known, f->explained)));
    ADD(n, TIME("latency_seconds", net->latency), TIME("overhead_seconds", net->overhead),
        TIME("byte_seconds", net->byte));
    views_json_write(o, out);
}

static void print_text(const struct request *r, const struct answer *a, FILE *out)
{
    const struct replay_result *result = &r->analysis->result;
    const struct bind_network *net = &r->analysis->bind->network;

    fprintf(out, "recorded   %10.6g s\n", a->recorded);
    fprintf(out, "replayed   %10.6g s  (%+.1f %%)\n", a->replayed,
            a->recorded > 0 ? 100 * (a->replayed / a->recorded - 1) : 0);
    if (a->changed)
        fprintf(out, "predicted  %10.6g s  (%.6g to %.6g of %u replays), %+.1f %%\n", a->prediction.seconds,
                a->prediction.low, a->prediction.high, a->prediction.draws + 1,
                a->replayed > 0 ? 100 * (a->prediction.seconds / a->replayed - 1) : 0);
    if (a->changed && !a->prediction.known)
        fprintf(out, "           do not believe it: too many operations have no peer there\n");
    if (a->efficiency.known)
        fprintf(out, "efficiency: work balance %.1f %% x serialisation %.1f %% x transfer %.1f %%\n",
                100 * a->efficiency.balance, 100 * a->efficiency.serialisation, 100 * a->efficiency.transfer);
    if (a->efficiency.known && a->efficiency.serialisation < 0.995)
        fprintf(out, "serialisation: order of dependences %.1f %% x imbalance that moves %.1f %% x no cause found %.1f %%\n",
                100 * a->efficiency.order, 100 * a->efficiency.moving, 100 * a->efficiency.explained);
    if (!a->efficiency.known)
        fprintf(out, "efficiency: not known, too many operations have no peer\n");
    fprintf(out, "model: latency %.3g us, overhead %.3g us, %.3g ns a byte, eager up to %llu bytes\n",
            net->latency / 1e3, net->overhead / 1e3, net->byte,
            (unsigned long long)replay_bind_model(r->analysis->bind).S);
    fprintf(out, "%.0f events in %llu steps", result->events, (unsigned long long)result->walked);
    if (result->unmatched)
        fprintf(out, "; %llu operations had no peer", (unsigned long long)result->unmatched);
    if (result->off > 0)
        fprintf(out, "; turns that were skipped may be off by %.2g %%", 100 * result->off);
    fprintf(out, "\n");
    views_print_unmatched(r->from.report, r->analysis, 10, out);
}

struct output { const struct request *request; struct answer answer; };

static void print(void *context, FILE *out)
{
    const struct output *o = context;

    (o->request->json ? print_json : print_text)(o->request, &o->answer, out);
}

static int exit_code(const struct request *r, int error)
{
    if (error == PYTHIA_ELIMIT)
        tool_complain("%s: cannot be replayed: it has too many ranks and calls, or its loops do not repeat soon enough",
                      r->job);
    else if (error)
        tool_complain("%s: cannot be replayed: %s", r->job, pythia_strerror(error));
    return error ? TOOL_NO : TOOL_OK;
}

static int answer(struct request *r, struct answer *a)
{
    struct bind_change c = { 0 };
    struct bind_network network;
    double *speed = NULL;
    int rc = read_balance(r, &c);

    a->recorded = r->analysis->recorded;
    a->replayed = replay_analysis_replayed(r->analysis);
    a->changed = changes(r);
    if (rc == TOOL_OK && r->speed) {
        uint32_t ranks = r->from.job->info.ranks;
        speed = malloc(ranks * sizeof *speed);
        for (uint32_t i = 0; i < ranks; i++)
            speed[i] = 1;
        rc = read_speed(r->speed, speed, ranks);
        c.speed = speed;
    }
    read_network(r, &network, &c);
    if (rc == TOOL_OK && a->changed)
        rc = exit_code(r, replay_analysis_predict(r->analysis, &c, &a->prediction));
    if (rc == TOOL_OK)
        rc = exit_code(r, replay_analysis_efficiency(r->analysis, NULL, &a->efficiency));
    free(speed);
    return rc;
}

static int analyse(struct request *r)
{
    return exit_code(r, replay_analysis_create(r->from.job, REPLAY_ANALYSIS_STEPS, &r->analysis));
}

int tool_replay(int argc, char **argv)
{
    struct request r = { .latency = -1, .overhead = -1, .bandwidth = -1 };
    struct output o = { .request = &r };

    tool_parse(&usage, argc, argv, &r);
    int rc = tool_job_open(&r.from, r.job);
    if (rc == TOOL_OK)
        rc = analyse(&r);
    if (rc == TOOL_OK)
        rc = answer(&r, &o.answer);
    if (rc == TOOL_OK)
        rc = tool_write(r.output, r.force, print, &o);
    replay_analysis_destroy(r.analysis);
    tool_job_close(&r.from);
    return rc;
}
