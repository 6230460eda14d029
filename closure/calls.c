/* SPDX-License-Identifier: MIT */
/* What a call is in the program: a template of its function, with parameters for what the job has of each event. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "closure/parts.h"

/*
 * In templates: $P peer, $p root, $B bytes, $T tag, $I index, $S source, $R bytes that came, $U their tag, $C
 * communicator, $c its number, $N its size, $s starts; $q, $L and $i: peer, bytes and index as they are.
 */
enum { STATUS = 1, MESSAGE = 2, RECEIVES = 4, ROOTED = 8 /* $p */, FAN = 16 /* a buffer of all ranks */, WHOLE = 32 };
struct row {
    const char *name, *arguments; /* WHOLE: all statements; else of the call, without request and status */
    uint32_t flags, sections;
    const char *before;
};

#define REQUESTS CLOSURE_NEEDS(CLOSURE_REQUESTS)
#define PERSISTENT (REQUESTS | CLOSURE_NEEDS(CLOSURE_PERSISTENT))
#define SIZE CLOSURE_NEEDS(CLOSURE_SIZE)
#define COUNTS CLOSURE_NEEDS(CLOSURE_COUNTS)
#define MAKE (SIZE | CLOSURE_NEEDS(CLOSURE_MAKE))
#define MESSAGES CLOSURE_NEEDS(CLOSURE_MESSAGE)
#define WINDOW CLOSURE_NEEDS(CLOSURE_WINDOW)
#define IO CLOSURE_NEEDS(CLOSURE_FILE)
#define DATA "$B, MPI_BYTE"

static const struct row rows[] = {
    { "Send", "out, " DATA ", $P, $T, $C", MESSAGE, 0, 0 },
    { "Ssend", "out, " DATA ", $P, $T, $C", MESSAGE, 0, 0 },
    { "Rsend", "out, " DATA ", $P, $T, $C", MESSAGE, 0, 0 },
    { "Recv", "in, " DATA ", $P, $T, $C", MESSAGE | RECEIVES | STATUS, 0, 0 },
    { "Sendrecv", "out, " DATA ", $P, $T, in, $R, MPI_BYTE, $S, $U, $C", MESSAGE | STATUS, 0, 0 },
    { "Sendrecv_replace", "in, " DATA ", $P, $T, $S, $U, $C", MESSAGE | STATUS, 0, 0 },
    { "Mrecv", "in, " DATA ", &message", RECEIVES | STATUS, MESSAGES, 0 },
    { "Probe", "$P, $T, $C", MESSAGE | RECEIVES | STATUS, 0, 0 },
    { "Mprobe", "$P, $T, $C, &message", MESSAGE | RECEIVES | STATUS, MESSAGES, 0 },
    { "Start", "MPI_Start(start($q, $L, $i, $c));", WHOLE | MESSAGE, PERSISTENT, 0 },
    { "Startall", "MPI_Startall($I, start_all($I, $L));", WHOLE, PERSISTENT, 0 },
    { "Iprobe", "do\n        MPI_Iprobe($P, $T, $C, &flag, &status);\n    while (!flag);", WHOLE | MESSAGE | RECEIVES,
      REQUESTS, 0 },
    { "Improbe", "do\n        MPI_Improbe($P, $T, $C, &flag, &message, &status);\n    while (!flag);",
      WHOLE | MESSAGE | RECEIVES, REQUESTS | MESSAGES, 0 },

    { "Wait", "choose($s, $q != -2, $q);\n    MPI_Wait(batch, statuses);\n    finished();", WHOLE, REQUESTS, 0 },
    { "Waitall", "choose($s, $I, -3);\n    MPI_Waitall(picks, batch, statuses);\n    finished();", WHOLE,
      REQUESTS, 0 },
    { "Waitany", "choose($s, 1, $q);\n    MPI_Waitany(picks, batch, &found, statuses);\n    finished();", WHOLE,
      REQUESTS, 0 },
    { "Waitsome", "choose($s, $I, -3);\n    settle();\n    MPI_Waitsome(picks, batch, &found, indices, statuses);\n"
      "    finished();", WHOLE, REQUESTS, 0 },
    { "Test", "choose($s, 1, $q);\n    do\n        MPI_Test(batch, &flag, statuses);\n    while (!flag);\n"
      "    finished();",
      WHOLE, REQUESTS, 0 },
    { "Testall", "choose($s, $I, -3);\n    do\n        MPI_Testall(picks, batch, &flag, statuses);\n"
      "    while (!flag);\n"
      "    finished();", WHOLE, REQUESTS, 0 },
    { "Testany", "choose($s, 1, $q);\n    do\n        MPI_Testany(picks, batch, &found, &flag, statuses);\n"
      "    while (!flag);\n    finished();", WHOLE, REQUESTS, 0 },
    { "Testsome", "choose($s, $I, -3);\n    settle();\n    MPI_Testsome(picks, batch, &found, indices, statuses);\n"
      "    finished();", WHOLE, REQUESTS, 0 },
    { "Request_free", "release($s);", WHOLE, PERSISTENT, 0 },

    { "Barrier", "$C", 0, 0, 0 },
    { "Bcast", "in, " DATA ", $p, $C", ROOTED, 0, 0 },
    { "Reduce", "out, in, " DATA ", MPI_BOR, $p, $C", ROOTED, 0, 0 },
    { "Allreduce", "out, in, " DATA ", MPI_BOR, $C", 0, 0, 0 },
    { "Scan", "out, in, " DATA ", MPI_BOR, $C", 0, 0, 0 },
    { "Exscan", "out, in, " DATA ", MPI_BOR, $C", 0, 0, 0 },
    { "Gather", "out, " DATA ", in, " DATA ", $p, $C", ROOTED | FAN, 0, 0 },
    { "Scatter", "out, " DATA ", in, " DATA ", $p, $C", ROOTED | FAN, 0, 0 },
    { "Allgather", "out, " DATA ", in, " DATA ", $C", FAN, 0, 0 },
    { "Alltoall", "out, $B / $N, MPI_BYTE, in, $B / $N, MPI_BYTE, $C", 0, SIZE, 0 },
    { "Reduce_scatter_block", "out, in, $B / $N, MPI_BYTE, MPI_BOR, $C", 0, SIZE, 0 },
    { "Reduce_scatter", "out, in, parts($C, $B), MPI_BYTE, MPI_BOR, $C", 0, COUNTS, 0 },
    { "Gatherv", "out, " DATA ", in, counts, places, MPI_BYTE, $p, $C", ROOTED | FAN, COUNTS, "sizes($C, $B);" },
    { "Scatterv", "out, counts, places, MPI_BYTE, in, own, MPI_BYTE, $p, $C", ROOTED | FAN, COUNTS,
      "int own = portion($C, $B, $p);" },
    { "Allgatherv", "out, " DATA ", in, counts, places, MPI_BYTE, $C", FAN, COUNTS, "sizes($C, $B);" },
    { "Alltoallv", "out, counts_out, places_out, MPI_BYTE, in, counts, places, MPI_BYTE, $C", FAN, COUNTS,
      "shares($C, $B);" },
    { "Alltoallw", "out, counts_out, places_out, types, in, counts, places, types, $C", FAN, COUNTS,
      "shares($C, $B);" },

    { "Neighbor_allgather", "out, " DATA ", in, " DATA ", $C", FAN, SIZE, 0 },
    { "Neighbor_alltoall", "out, to_each($C, $B), MPI_BYTE, in, to_each($C, $B), MPI_BYTE, $C", FAN, SIZE, 0 },

    { "Put", "out, " DATA ", $P, 0, " DATA ", window[$c]", 0, WINDOW, 0 },
    { "Get", "in, " DATA ", $P, 0, " DATA ", window[$c]", 0, WINDOW, 0 },
    { "Accumulate", "out, " DATA ", $P, 0, " DATA ", MPI_BOR, window[$c]", 0, WINDOW, 0 },
    { "Win_fence", "0, window[$c]", 0, WINDOW, 0 },
    { "Win_lock", "MPI_LOCK_SHARED, $P, 0, window[$c]", 0, WINDOW, 0 },
    { "Win_unlock", "$P, window[$c]", 0, WINDOW, 0 },
    { "Win_flush", "$P, window[$c]", 0, WINDOW, 0 },
    { "Win_flush_local", "$P, window[$c]", 0, WINDOW, 0 },
    { "Win_lock_all", "0, window[$c]", 0, WINDOW, 0 },
    { "Win_unlock_all", "window[$c]", 0, WINDOW, 0 },
    { "Win_flush_all", "window[$c]", 0, WINDOW, 0 },
    { "Win_flush_local_all", "window[$c]", 0, WINDOW, 0 },
    { "Win_sync", "window[$c]", 0, WINDOW, 0 },
    { "Win_create", "window_at[$c], $L, 1, MPI_INFO_NULL, $C, &window[$c]", 0, WINDOW,
      "open_window($c);\n    window_at[$c] = calloc(1, (size_t)$L + 1);" },
    { "Win_allocate", "$L, 1, MPI_INFO_NULL, $C, &window_at[$c], &window[$c]", 0, WINDOW, "open_window($c);" },
    { "Win_allocate_shared", "$L, 1, MPI_INFO_NULL, $C, &window_at[$c], &window[$c]", 0, WINDOW, "open_window($c);" },
    { "Win_free", "&window[$c]", 0, WINDOW, 0 },

    { "File_open", "$C, temporary($c), MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, "
      "&file", 0, IO, "open_file();" },
    { "File_close", "&file", 0, IO, 0 },
    { "File_delete", "spare(), MPI_INFO_NULL", 0, IO, 0 },
    { "File_set_size", "file, $L", 0, IO, 0 },
    { "File_preallocate", "file, $L", 0, IO, 0 },
    { "File_set_view", "file, 0, MPI_BYTE, MPI_BYTE, \"native\", MPI_INFO_NULL", 0, IO, 0 },
    { "File_sync", "file", 0, IO, 0 },
    { "File_seek", "file, 0, MPI_SEEK_SET", 0, IO, 0 },
    { "File_read", "file, in, " DATA, STATUS, IO, 0 },
    { "File_read_all", "file, in, " DATA, STATUS, IO, 0 },
    { "File_read_at", "file, 0, in, " DATA, STATUS, IO, 0 },
    { "File_read_at_all", "file, 0, in, " DATA, STATUS, IO, 0 },
    { "File_write", "file, out, " DATA, STATUS, IO, 0 },
    { "File_write_all", "file, out, " DATA, STATUS, IO, 0 },
    { "File_write_at", "file, 0, out, " DATA, STATUS, IO, 0 },
    { "File_write_at_all", "file, 0, out, " DATA, STATUS, IO, 0 },
    { "File_write_shared", "file, out, " DATA, STATUS, IO, 0 },
    { "File_write_ordered", "file, out, " DATA, STATUS, IO, 0 },

    { "Comm_split", "$C, $I, key($c, \"split\", $k), &child", 0, MAKE, 0 },
    { "Comm_split_type", "$C, $I, 0, MPI_INFO_NULL, &child", 0, MAKE, 0 },
    { "Comm_dup", "$C, &child", 0, MAKE, 0 },
    { "Comm_dup_with_info", "$C, MPI_INFO_NULL, &child", 0, MAKE, 0 },
    { "Comm_create", "$C, group($c, \"create\", $k), &child", 0, MAKE, 0 },
    { "Cart_create", "$C, *grid_of, grid_of + 1, periods, 0, &child", 0, MAKE,
      "const int *grid_of = grid($c, \"cart\"), periods[8] = { 0 };" },
    { "Cart_sub", "$C, grid($c, \"sub\") + 1, &child", 0, MAKE, 0 },
    { "Comm_free", "&comm[$c]", 0, MAKE, "give_back($c);" },
    { "Comm_disconnect", "&comm[$c]", 0, MAKE, "give_back($c);" },

    { "Init", "NULL, NULL", 0, 0, 0 },
    { "Init_thread", "NULL, NULL, MPI_THREAD_FUNNELED, &(int){ 0 }", 0, 0, 0 },
    { "Finalize", "", 0, 0, 0 },
    { 0 },
};

static const char *const makes[][2] = { { "Comm_split", "split" },   { "Comm_split_type", "split_type" },
                                        { "Comm_dup", "dup" },       { "Comm_dup_with_info", "dup" },
                                        { "Comm_create", "create" }, { "Cart_create", "cart" },
                                        { "Cart_sub", "sub" },                                        { 0 } };

const char *closure_makes(const char *function)
{
    for (int k = 0; makes[k][0]; k++)
        if (!strncmp(function, "MPI_", 4) && !strcmp(makes[k][0], function + 4))
            return makes[k][1];
    return NULL;
}

/* What a call takes, as it stands in a template: the names of its parameters, by channel. */
static const char *const name_of_channel[GRAMMAR_CHANNELS] = {
    [GRAMMAR_PEER] = "peer",     [GRAMMAR_BYTES] = "bytes",        [GRAMMAR_INDEX] = "index", [GRAMMAR_TEAM] = "team",
    [GRAMMAR_SOURCE] = "whence", [GRAMMAR_RECEIVED] = "came", [GRAMMAR_SOURCE_TAG] = "its_tag",
    [GRAMMAR_STARTS] = "starts" };

/* --- Which row --- */

enum form { PLAIN, IMMEDIATE, INIT };

/* MPI_Send, MPI_Isend and MPI_Send_init are one row. */
static const struct row *find(const char *function, enum form *form)
{
    char name[64];
    size_t n;

    for (*form = PLAIN; *form <= INIT; ++*form) {
        snprintf(name, sizeof name, "%s", function + (*form == IMMEDIATE ? 5 : 4));
        name[0] = (char)toupper((unsigned char)name[0]);
        n = strlen(name);
        if (*form == IMMEDIATE && (strncmp(function, "MPI_I", 5) != 0 || !islower((unsigned char)function[5])))
            continue;
        if (*form == INIT && (n < 6 || strcmp(name + n - 5, "_init") != 0))
            continue;
        if (*form == INIT)
            name[n - 5] = '\0';
        for (const struct row *r = rows; r->name; r++)
            if (!strcmp(r->name, name) && (*form == PLAIN || !(r->flags & WHOLE)))
                return r;
    }
    return NULL;
}

/* --- Its text --- */

/* Parameters by letter, and how they stand in the call. */
static const struct { char letter; uint8_t channel; const char *as; } parameters[] = {
    { 'P', GRAMMAR_PEER, "who(%s)" },         { 'p', GRAMMAR_PEER, "(int)%s" },
    { 'q', GRAMMAR_PEER, "%s" },              { 'B', GRAMMAR_BYTES, "(int)%s" },
    { 'L', GRAMMAR_BYTES, "%s" },             { 'i', GRAMMAR_INDEX, "%s" },
    { 'T', GRAMMAR_INDEX, "tagged(%s)" },     { 'I', GRAMMAR_INDEX, "(int)%s" },
    { 'S', GRAMMAR_SOURCE, "who(%s)" },       { 'R', GRAMMAR_RECEIVED, "(int)%s" },
    { 'U', GRAMMAR_SOURCE_TAG, "tagged(%s)" }, { 's', GRAMMAR_STARTS, "%s" },
};

static void parameter(struct closure_call *call, char letter, FILE *f)
{
    for (size_t i = 0; i < sizeof parameters / sizeof *parameters; i++)
        if (parameters[i].letter == letter) {
            call->channels |= 1u << parameters[i].channel;
            fprintf(f, parameters[i].as, name_of_channel[parameters[i].channel]);
        }
}

static void expand(struct closure_call *call, const struct job_terminal *t, const char *text, FILE *f)
{
    for (; *text; text++) {
        if (*text != '$')
            putc(*text, f);
        else if (*++text == 'C' || *text == 'N')
            fprintf(f, *text == 'C' ? "on(%u)" : "size_of(%u)", t->comm);
        else if (*text == 'c' || *text == 'k')
            fprintf(f, "%d", *text == 'c' ? (int)t->comm : call->child);
        else if ((*text == 'P' && call->from_anyone) || (*text == 'B' && call->any_size))
            fputs(*text == 'P' ? "MPI_ANY_SOURCE" : "LARGEST", f);
        else
            parameter(call, *text, f);
    }
}

static void request(struct closure_call *call, const struct job_terminal *t, const struct row *r, enum form form,
                    FILE *f)
{
    const char *of = call->from_anyone ? "ANYONE | RECEIVES" : r->flags & RECEIVES ? "RECEIVES" : "0";

    call->sections |= form == INIT ? PERSISTENT : REQUESTS;
    if (form == IMMEDIATE) {
        fprintf(f, ", begin(%s, %s)", of,
                call->channels & 1u << GRAMMAR_PEER && t->call_kind == JOB_P2P ? "peer" : "-3");
        return;
    }
    fprintf(f, "%s, keep(%s, %s, %s, %s, %d)", t->call_kind == JOB_COLLECTIVE ? ", MPI_INFO_NULL" : "", of,
            call->channels & 1u << GRAMMAR_PEER ? "peer" : call->from_anyone ? "-1" : "-3",
            call->channels & 1u << GRAMMAR_BYTES ? "bytes" : "0",
            call->channels & 1u << GRAMMAR_INDEX ? "index" : "0", (int)t->comm);
}

static void compose(struct closure_call *call, const struct job_terminal *t, const char *function, const struct row *r,
                    enum form form)
{
    const char *kind = closure_makes(function);
    size_t size;
    FILE *f = open_memstream(&call->text, &size);

    call->any_size = call->from_anyone && form == PLAIN;
    if (r->before) {
        expand(call, t, r->before, f);
        fputs("\n    ", f);
    }
    if (kind)
        fputs("MPI_Comm child = MPI_COMM_NULL;\n    ", f);
    if (r->flags & WHOLE) {
        expand(call, t, r->arguments, f);
    } else {
        fprintf(f, "%s(", function);
        expand(call, t, r->arguments, f);
        if (form != PLAIN)
            request(call, t, r, form, f);
        fputs(r->flags & STATUS && form == PLAIN ? ", &status);" : ");", f);
    }
    if (kind)
        fprintf(f, "\n    adopt(%u, \"%s\", child);", t->comm, kind);
    if (call->from_anyone && form == PLAIN)
        fputs("\n    source = status.MPI_SOURCE;", f);
    fclose(f);
    call->sections |= r->sections;
    call->message = (r->flags & MESSAGE) != 0;
    call->spread = (r->flags & FAN) != 0;
}

/* --- What is not made --- */

/* Whether a call of the job makes communicators in a way that is not made, whose names may be those of others. */
static bool calls(const struct closure *g, const char *function)
{
    for (uint32_t i = 0; i < g->job->terminal_count; i++)
        if (!strcmp(job_text(g->job, g->job->terminals[i].function), function))
            return true;
    return false;
}

static bool on_unmade(const struct closure *g, const struct job_terminal *t)
{
    static const char *const made[] = { "dup#", "split#", "split_type#", "create#", "cart#", "sub#" };
    const char *name = t->comm == GRAMMAR_NONE ? "world" : job_text(g->job, g->job->comms[t->comm].name);
    bool idup = calls(g, "MPI_Comm_idup");

    if (strncmp(name, "world", 5) != 0 && strncmp(name, "self", 4) != 0)
        return true;
    for (const char *at = strchr(name, '/'); at; at = strchr(at + 1, '/')) {
        bool known = false;
        for (size_t k = idup; k < sizeof made / sizeof *made; k++)
            known = known || !strncmp(at + 1, made[k], strlen(made[k]));
        if (!known || closure_no_grid(g->job, name, at + 1))
            return true;
    }
    return strchr(name, '*') != NULL;
}

static const char *why_not(const struct closure *g, const struct job_terminal *t, const struct row *r, enum form form)
{
    if (t->kind == JOB_WORD)
        return "no call of MPI";
    if (t->phase != JOB_LEAF)
        return "begin and end of what has calls inside";
    if (!r)
        return "not made by this version";
    if (!strcmp(r->name, "Comm_dup") && calls(g, "MPI_Comm_idup"))
        return "beside MPI_Comm_idup, which is not made";
    if (!strcmp(r->name, "Cart_sub") && closure_no_grid(g->job, job_text(g->job, g->job->comms[t->comm].name), "sub"))
        return "of a grid whose extents do not follow from its parts";
    if (on_unmade(g, t))
        return "on a communicator that is not made";
    if (t->comm == GRAMMAR_NONE && (strstr(r->arguments, "$C") || strstr(r->arguments, "$c")) &&
        strcmp(r->name, "Start") != 0)
        return "its communicator is not known";
    if (t->call_kind == JOB_ONESIDED && calls(g, "MPI_Win_start"))
        return "windows that are synchronised by groups, which are not recorded";
    if (t->call_kind == JOB_IO && g->how.time == 0)
        return "left out with --time none";
    if (form != PLAIN && r->before)
        return "sizes of the other ranks, which a call that does not wait cannot ask for";
    return NULL;
}

static void region(struct closure_call *call)
{
    call->channels = 1u << GRAMMAR_TEAM;
    call->text = closure_text("double end = now() + ns * TIME;\n"
                              "#pragma omp parallel num_threads((int)team)\n"
                              "    while (now() < end)\n        ;");
}

/* Its name as a string of C: letters and the like as they are, all else as octal numbers. */
static void named_region(struct closure_call *call, const struct job_terminal *t, const char *name)
{
    const char *what = t->phase == JOB_OPEN ? "begin" : "end";
    char *quoted = calloc(4 * strlen(name) + 1, 1), *end = quoted;

    for (const char *c = name; *c; c++)
        end += sprintf(end, isalnum((unsigned char)*c) || strchr(" _-+.:,()<>[]/", *c) ? "%c" : "\\%03o",
                       (unsigned char)*c);
    call->text = closure_text("if (pythia_region_%s)\n        pythia_region_%s(\"%s\");", what, what, quoted);
    call->sections |= CLOSURE_NEEDS(CLOSURE_NAMED);
    free(quoted);
}

void closure_calls(struct closure *g)
{
    for (uint32_t i = 0; i < g->job->terminal_count; i++) {
        const struct job_terminal *t = &g->job->terminals[i];
        const char *function = job_text(g->job, t->function);
        struct closure_call *call = &g->call[i];
        enum form form = PLAIN;

        if (t->kind == JOB_REGION && t->phase == JOB_LEAF && !strcmp(function, "omp parallel")) {
            region(call);
            continue;
        }
        if (t->kind == JOB_NAMED && t->phase != JOB_LEAF) {
            named_region(call, t, function);
            continue;
        }
        const struct row *r = !strncmp(function, "MPI_", 4) ? find(function, &form) : NULL;
        call->why = why_not(g, t, r, form);
        call->from_anyone = t->peer_class == JOB_PEER_ANY && r && r->flags & RECEIVES;
        if (!call->why)
            compose(call, t, function, r, form);
    }
}

/* --- A function a call --- */

char *closure_call_name(const struct closure *g, uint32_t terminal)
{
    const struct job_terminal *t = &g->job->terminals[terminal];
    const char *function = t->kind == JOB_NAMED ? "named" : job_text(g->job, t->function) + 4; /* MPI_, "omp " */
    char *name = closure_text("%s_%u", function, terminal);

    name[0] = (char)tolower((unsigned char)name[0]);
    return name;
}

void closure_print_call(struct closure *g, uint32_t terminal)
{
    const struct job_terminal *t = &g->job->terminals[terminal];
    const struct closure_call *call = &g->call[terminal];
    bool region = t->kind == JOB_REGION;
    char place[512], *name = closure_call_name(g, terminal);

    findings_callsite_text(g->places, t->callsite, region ? FINDINGS_ENTRY : FINDINGS_CALL, place, sizeof place);
    for (char *at = place; (at = strstr(at, "*/"));)
        *at = '-';
    fprintf(g->calls, "\n/* %s%s%s */\nPLACE %s(double gap", place, t->comm == GRAMMAR_NONE ? "" : " on ",
            t->comm == GRAMMAR_NONE ? "" : job_text(g->job, g->job->comms[t->comm].name), name);
    for (uint32_t c = 0; c < GRAMMAR_CHANNELS; c++)
        if (call->channels & 1u << c)
            fprintf(g->calls, ", long %s", name_of_channel[c]);
    fprintf(g->calls, "%s)\n{\n    spin(gap);\n    %s\n    event++;\n", region ? ", double ns" : "", call->text);
    if (call->nth)
        fprintf(g->calls, "    nth[%u]++;\n", terminal);
    fputs("}\n", g->calls);
    free(name);
}
