/* SPDX-License-Identifier: MIT */
/* The tables of a job, field by field. What is done with them is in rows.c. */
#include "job/schema.h"

#include "job/proofs.h"

/* Of `struct`: one field; several beside each other; the same one of several structures beside each other. */
#define FIELD(type, member, ...)                                                                                       \
    { .at = offsetof(struct type, member), .width = sizeof((struct type *)0)->member, .count = 1, __VA_ARGS__ }
#define ARRAY(type, member, ...)                                                                                       \
    EACH(type, member[0], sizeof *((struct type *)0)->member,                                                          \
         sizeof((struct type *)0)->member / sizeof *((struct type *)0)->member, __VA_ARGS__)
#define EACH(type, member, apart, times, ...)                                                                          \
    { .at = offsetof(struct type, member), .width = sizeof((struct type *)0)->member, .stride = apart,                 \
      .count = times, __VA_ARGS__ }
#define OF(what) .refers = JOB_OF_##what
#define KEY .joined = JOB_KEY
#define ADDED .joined = JOB_ADDED
#define GREATEST .joined = JOB_GREATEST
#define FIELDS(of, ...) static const struct job_field of[] = { __VA_ARGS__ }
/* What fields alone do not say, of a row `is`. */
#define SANE(of, is, ...)                                                                                              \
    static bool of##_sane(const struct job *j, const void *row)                                                        \
    {                                                                                                                  \
        const struct job_##of *is = row;                                                                               \
        (void)j;                                                                                                       \
        return __VA_ARGS__;                                                                                            \
    }

/* --- Definitions --- */

FIELDS(info,
       FIELD(job_info, program, OF(STRINGS), .flags = JOB_OR_NONE, .joined = JOB_EITHER),
       FIELD(job_info, program_id, OF(STRINGS), .flags = JOB_OR_NONE, .joined = JOB_EITHER),
       FIELD(job_info, arguments, OF(STRINGS), .flags = JOB_OR_NONE, .joined = JOB_EITHER),
       FIELD(job_info, mpi, OF(STRINGS), .flags = JOB_OR_NONE, .joined = JOB_EITHER),
       FIELD(job_info, ranks, GREATEST),
       FIELD(job_info, threads, GREATEST),
       FIELD(job_info, missing, ADDED),
       FIELD(job_info, runs, .flags = JOB_NOT_0, GREATEST),
       FIELD(job_info, block),
       FIELD(job_info, wall_ns, GREATEST),
       FIELD(job_info, start_time, .joined = JOB_EARLIEST));

FIELDS(module, FIELD(job_module, path, OF(STRINGS)), FIELD(job_module, build_id, OF(STRINGS)));
FIELDS(frame, FIELD(job_frame, module, OF(MODULES)), FIELD(job_frame, offset));
FIELDS(callsite, FIELD(job_callsite, first), FIELD(job_callsite, count));
FIELDS(comm, FIELD(job_comm, name, OF(STRINGS)), FIELD(job_comm, size));

FIELDS(terminal,
       FIELD(job_terminal, kind, .below = JOB_KINDS),
       FIELD(job_terminal, phase, .below = JOB_CLOSE + 1),
       FIELD(job_terminal, call_kind, .below = JOB_CALL_KINDS),
       FIELD(job_terminal, peer_class, .below = JOB_PEER_ROOT + 1),
       FIELD(job_terminal, blocking),
       FIELD(job_terminal, function, OF(STRINGS)),
       FIELD(job_terminal, callsite, OF(CALLSITES), .flags = JOB_OR_NONE),
       FIELD(job_terminal, comm, OF(COMMS), .flags = JOB_OR_NONE));

/* --- The run --- */

#define AT_DISTANCE(member, how)                                                                                       \
    EACH(job_oracle, score.at[0].member, sizeof ((struct oracle_score *)0)->at[0], ORACLE_DISTANCES, .joined = how)

FIELDS(oracle,
       FIELD(job_oracle, ranks, ADDED),
       FIELD(job_oracle, threads),
       FIELD(job_oracle, recorded_ranks),
       FIELD(job_oracle, actions, ADDED),
       FIELD(job_oracle, gain_seconds, .joined = JOB_ADDED_REAL),
       FIELD(job_oracle, cost_seconds, .joined = JOB_ADDED_REAL),
       FIELD(job_oracle, wall_ns, GREATEST),
       FIELD(job_oracle, score.events, ADDED),
       FIELD(job_oracle, score.known, ADDED),
       FIELD(job_oracle, score.cost_ns, ADDED),
       AT_DISTANCE(predictions, JOB_ADDED),
       AT_DISTANCE(hits, JOB_ADDED),
       AT_DISTANCE(unknown, JOB_ADDED),
       AT_DISTANCE(brier, JOB_ADDED_REAL),
       ARRAY(job_oracle, score.at[0].answers, ADDED),
       ARRAY(job_oracle, score.at[1].answers, ADDED),
       ARRAY(job_oracle, score.at[2].answers, ADDED),
       ARRAY(job_oracle, score.at[3].answers, ADDED),
       ARRAY(job_oracle, score.at[0].right, ADDED),
       ARRAY(job_oracle, score.at[1].right, ADDED),
       ARRAY(job_oracle, score.at[2].right, ADDED),
       ARRAY(job_oracle, score.at[3].right, ADDED),
       ARRAY(job_oracle, score.time_error, ADDED),
       FIELD(job_oracle, score.peers.asked, ADDED),
       FIELD(job_oracle, score.peers.foretold, ADDED),
       FIELD(job_oracle, score.peers.right, ADDED),
       FIELD(job_oracle, start_time),
       FIELD(job_oracle, recorded_ns),
       FIELD(job_oracle, recorded_time));
_Static_assert(ORACLE_DISTANCES == 4, "each distance has its answers here");

FIELDS(machine,
       FIELD(job_machine, joules, .joined = JOB_ADDED_REAL),
       FIELD(job_machine, nodes, ADDED),
       FIELD(job_machine, tree, OF(STRINGS), .flags = JOB_OR_NONE, .joined = JOB_EITHER),
       FIELD(job_machine, energy, OF(STRINGS), .flags = JOB_OR_NONE, .joined = JOB_EITHER));

SANE(machine, m, m->joules >= 0 && m->joules < 1e18)

/* Parts of one run agree; of several runs, what holds for each of them. */
FIELDS(clock, FIELD(job_clock, error_ns, GREATEST), FIELD(job_clock, nodes, GREATEST));

FIELDS(delay,
       FIELD(job_delay, ranks, .joined = JOB_ADDED_AT_MOST),
       FIELD(job_delay, ready_ns, .joined = JOB_ADDED_AT_MOST),
       FIELD(job_delay, wall_ns, .joined = JOB_ADDED_AT_MOST),
       FIELD(job_delay, most_ns, GREATEST));

SANE(delay, d, d->ready_ns <= d->wall_ns && d->most_ns <= d->ready_ns)

FIELDS(took,
       FIELD(job_took, ranks, .joined = JOB_ADDED_AT_MOST),
       ARRAY(job_took, sum, .joined = JOB_ADDED_AT_MOST),
       ARRAY(job_took, most, GREATEST));

static bool took_sane(const struct job *j, const void *row)
{
    const struct job_took *t = row;
    (void)j;
    for (int i = 0; i < JOB_TOOK_PARTS; i++)
        if (t->most[i] > t->sum[i])
            return false;
    return true;
}

/* --- The streams --- */

FIELDS(stream,
       FIELD(job_stream, rank, .flags = JOB_BLOCK, KEY),
       FIELD(job_stream, thread, KEY),
       FIELD(job_stream, class_index, OF(CLASSES), .flags = JOB_OR_NONE),
       FIELD(job_stream, count, .flags = JOB_NOT_0, ADDED),
       FIELD(job_stream, events, ADDED),
       FIELD(job_stream, lost, ADDED),
       FIELD(job_stream, begin_ns, ADDED),
       FIELD(job_stream, wall_ns, ADDED),
       FIELD(job_stream, mpi_ns, ADDED),
       FIELD(job_stream, omp_ns, ADDED),
       FIELD(job_stream, cost_ns, ADDED),
       FIELD(job_stream, drift_ns, ADDED));

SANE(stream, s, s->count <= j->info.block && s->lost <= s->events)

/* --- By terminal --- */

FIELDS(sum,
       FIELD(job_sum, terminal, OF(TERMINALS), KEY),
       FIELD(job_sum, name, OF(STRINGS), KEY),
       FIELD(job_sum, count.samples, .flags = JOB_NOT_0, ADDED),
       FIELD(job_sum, count.total, ADDED));

FIELDS(digram,
       FIELD(job_digram, terminal, OF(TERMINALS), KEY),
       FIELD(job_digram, before, OF(TERMINALS), .flags = JOB_OR_NONE, KEY),
       FIELD(job_digram, gap.samples, .flags = JOB_NOT_0, ADDED),
       FIELD(job_digram, gap.total, ADDED));

FIELDS(extremes,
       FIELD(job_extremes, terminal, OF(TERMINALS), KEY),
       ARRAY(job_extremes, rank),
       FIELD(job_extremes, count, .flags = JOB_NOT_0),
       ARRAY(job_extremes, value),
       ARRAY(job_extremes, turn),
       ARRAY(job_extremes, gaps),
       ARRAY(job_extremes, durations),
       ARRAY(job_extremes, usual));

FIELDS(own,
       FIELD(job_own, class_index, OF(CLASSES), KEY),
       FIELD(job_own, node, KEY),
       FIELD(job_own, rank, .flags = JOB_BLOCK, KEY),
       FIELD(job_own, thread, KEY),
       FIELD(job_own, ranks, .flags = JOB_NOT_0, ADDED),
       ARRAY(job_own, sum, ADDED));

SANE(own, o, o->node < j->classes[o->class_index].grammar->node_count && o->ranks <= j->info.block)

/* --- By callsite --- */

static bool one_frame(const struct job *j, uint32_t number)
{
    return j->callsites[number].count == 1;
}

FIELDS(region,
       FIELD(job_region, callsite, OF(CALLSITES), KEY),
       FIELD(job_region, team, GREATEST),
       FIELD(job_region, fixed, .below = 1 << JOB_FIXED_REASONS),
       FIELD(job_region, size_count, .below = JOB_REGION_SIZES + 1),
       FIELD(job_region, proof),
       FIELD(job_region, where, OF(CALLSITES), .flags = JOB_OR_NONE),
       FIELD(job_region, executions, ADDED),
       FIELD(job_region, verified, ADDED),
       FIELD(job_region, changed, ADDED),
       FIELD(job_region, trials, ADDED),
       FIELD(job_region, controls, ADDED),
       FIELD(job_region, control_ns, ADDED),
       FIELD(job_region, chosen_ns, ADDED),
       FIELD(job_region, gain_ns, ADDED),
       FIELD(job_region, proof_ns, GREATEST),
       EACH(job_region, size[0].size, sizeof(struct job_region_size), JOB_REGION_SIZES),
       EACH(job_region, size[0].count, sizeof(struct job_region_size), JOB_REGION_SIZES),
       EACH(job_region, size[0].ns, sizeof(struct job_region_size), JOB_REGION_SIZES));

static bool region_sane(const struct job *j, const void *row)
{
    const struct job_region *r = row;
    for (uint32_t k = 1; k < r->size_count; k++)
        if (r->size[k].size <= r->size[k - 1].size)
            return false;
    return one_frame(j, r->callsite) && (r->where == GRAMMAR_NONE || one_frame(j, r->where)) &&
           job_proof_reason(r->proof) < JOB_PROOFS;
}

FIELDS(task,
       FIELD(job_task, callsite, OF(CALLSITES), KEY),
       FIELD(job_task, depth, KEY),
       FIELD(job_task, created, .flags = JOB_NOT_0, ADDED),
       FIELD(job_task, at_once, ADDED),
       FIELD(job_task, undeferred, ADDED),
       FIELD(job_task, loops, ADDED),
       FIELD(job_task, timed, ADDED),
       FIELD(job_task, time_ns, ADDED),
       FIELD(job_task, min_ns),
       FIELD(job_task, max_ns, GREATEST),
       FIELD(job_task, wait_ns, ADDED),
       FIELD(job_task, subtree_ns, GREATEST),
       FIELD(job_task, cost_ns, GREATEST),
       FIELD(job_task, proof, GREATEST));

SANE(task, t, one_frame(j, t->callsite) && t->min_ns <= t->max_ns)

FIELDS(threads,
       FIELD(job_threads, rank, .flags = JOB_OR_NONE | JOB_BLOCK, KEY),
       FIELD(job_threads, callsite, OF(CALLSITES), .flags = JOB_OR_NONE, KEY),
       FIELD(job_threads, ranks, .flags = JOB_NOT_0),
       FIELD(job_threads, threads),
       FIELD(job_threads, samples),
       FIELD(job_threads, region_ns),
       FIELD(job_threads, region_mpi_ns),
       FIELD(job_threads, team_ns),
       FIELD(job_threads, timed_ns),
       ARRAY(job_threads, part));

static bool threads_sane(const struct job *j, const void *row)
{
    const struct job_threads *t = row;
    uint64_t known = 0;
    for (int i = 0; i < JOB_THREADS_PARTS; i++)
        if (__builtin_add_overflow(known, t->part[i], &known))
            return false;
    return t->timed_ns <= t->team_ns && known <= t->team_ns && t->region_mpi_ns <= t->region_ns &&
           (t->rank == GRAMMAR_NONE ? t->callsite != GRAMMAR_NONE && one_frame(j, t->callsite)
                                    : t->callsite == GRAMMAR_NONE);
}

FIELDS(named,
       FIELD(job_named, path, OF(CALLSITES), .flags = JOB_OR_NONE, KEY),
       FIELD(job_named, rank, .flags = JOB_BLOCK, KEY),
       FIELD(job_named, thread, .below = 2, KEY),
       FIELD(job_named, ranks, .flags = JOB_NOT_0, ADDED),
       FIELD(job_named, entries, ADDED),
       FIELD(job_named, unended, ADDED),
       FIELD(job_named, ns, ADDED),
       FIELD(job_named, mpi_ns, ADDED),
       FIELD(job_named, omp_ns, ADDED),
       FIELD(job_named, own_ns, ADDED),
       FIELD(job_named, most_ns, GREATEST),
       FIELD(job_named, most_useful_ns, GREATEST),
       FIELD(job_named, teams.threads, GREATEST),
       FIELD(job_named, teams.samples, ADDED),
       FIELD(job_named, teams.region_ns, ADDED),
       FIELD(job_named, teams.region_mpi_ns, ADDED),
       FIELD(job_named, teams.team_ns, ADDED),
       FIELD(job_named, teams.timed_ns, ADDED),
       ARRAY(job_named, teams.part, ADDED));

FIELDS(end,
       FIELD(job_end, rank, KEY),
       FIELD(job_end, thread, KEY),
       FIELD(job_end, function, OF(STRINGS)),
       FIELD(job_end, callsite, OF(CALLSITES), .flags = JOB_OR_NONE),
       FIELD(job_end, inside, .below = 2),
       FIELD(job_end, board, OF(STRINGS)),
       FIELD(job_end, since_ns));

SANE(end, e, e->rank < j->info.ranks && (e->callsite == GRAMMAR_NONE || one_frame(j, e->callsite)))

FIELDS(inside,
       FIELD(job_inside, terminal, OF(TERMINALS), .flags = JOB_OR_NONE, KEY),
       FIELD(job_inside, kind, .below = JOB_INSIDE_KINDS, KEY),
       FIELD(job_inside, module, OF(MODULES), .flags = JOB_OR_NONE, KEY),
       FIELD(job_inside, offset, KEY),
       FIELD(job_inside, samples, .flags = JOB_NOT_0, .joined = JOB_ADDED_AT_MOST),
       FIELD(job_inside, ranks, .flags = JOB_NOT_0));

SANE(inside, s, s->terminal == GRAMMAR_NONE ? s->kind != JOB_INSIDE_EVENT : s->kind <= JOB_INSIDE_EVENT)

static void inside_join(void *into, const void *from)
{
    ((struct job_inside *)into)->ranks |= ((const struct job_inside *)from)->ranks;
}

/* --- Who talks to whom --- */

FIELDS(range,
       FIELD(job_range, first), FIELD(job_range, count), FIELD(job_range, stride), FIELD(job_range, thread),
       FIELD(job_range, rows), FIELD(job_range, row_stride), FIELD(job_range, planes), FIELD(job_range, plane_stride));

FIELDS(group,
       FIELD(job_group, comm, OF(COMMS)),
       FIELD(job_group, remote, .below = 2),
       FIELD(job_group, size),
       FIELD(job_group, run_count),
       FIELD(job_group, range_count));
FIELDS(run, FIELD(job_run, first), FIELD(job_run, count), FIELD(job_run, stride));

FIELDS(flow,
       FIELD(job_flow, terminal, OF(TERMINALS)),
       FIELD(job_flow, receives, .below = 2),
       FIELD(job_flow, relation, .below = JOB_XOR + 1),
       FIELD(job_flow, mean, .below = 2),
       FIELD(job_flow, value),
       FIELD(job_flow, range_count, .flags = JOB_NOT_0),
       FIELD(job_flow, messages, .flags = JOB_NOT_0),
       FIELD(job_flow, bytes));

FIELDS(binding,
       FIELD(job_binding, processors, OF(STRINGS), KEY),
       FIELD(job_binding, each, OF(STRINGS), .flags = JOB_OR_NONE, KEY),
       FIELD(job_binding, threads, KEY),
       FIELD(job_binding, busy_ns, ADDED),
       FIELD(job_binding, own_ns, ADDED),
       FIELD(job_binding, wall_ns, ADDED),
       FIELD(job_binding, range_count, .flags = JOB_NOT_0));
FIELDS(host,
       FIELD(job_host, cores, OF(STRINGS), KEY),
       FIELD(job_host, memory, OF(STRINGS), KEY),
       FIELD(job_host, range_count, .flags = JOB_NOT_0));
FIELDS(hardware,
       FIELD(job_hardware, xml, OF(STRINGS), KEY),
       FIELD(job_hardware, tree, OF(STRINGS)),
       FIELD(job_hardware, cores, OF(STRINGS)),
       FIELD(job_hardware, nodes, OF(STRINGS)));

FIELDS(start, FIELD(job_start_list, name), FIELD(job_start_list, count, .flags = JOB_NOT_0));
FIELDS(start_run,
       FIELD(job_start_run, distance), FIELD(job_start_run, step),
       FIELD(job_start_run, count, .flags = JOB_NOT_0));

FIELDS(left, FIELD(job_left, table, OF(STRINGS), KEY));

FIELDS(stop,
       FIELD(job_stop, terminal, OF(TERMINALS), KEY),
       FIELD(job_stop, path, OF(CALLSITES), .flags = JOB_OR_NONE, KEY),
       FIELD(job_stop, count, .flags = JOB_NOT_0, ADDED),
       FIELD(job_stop, gap_ns, ADDED),
       FIELD(job_stop, duration_ns, ADDED));
FIELDS(hop,
       FIELD(job_hop, from, OF(STOPS), .flags = JOB_OR_NONE),
       FIELD(job_hop, to, OF(STOPS)),
       FIELD(job_hop, mean, .below = 2),
       FIELD(job_hop, range_count, .flags = JOB_NOT_0),
       FIELD(job_hop, count, .flags = JOB_NOT_0));

FIELDS(place,
       FIELD(job_place, module, OF(MODULES), KEY),
       FIELD(job_place, offset, KEY),
       FIELD(job_place, kind, KEY),
       FIELD(job_place, function, OF(STRINGS), .flags = JOB_OR_NONE),
       FIELD(job_place, path, OF(STRINGS), .flags = JOB_OR_NONE),
       FIELD(job_place, line),
       FIELD(job_place, within),
       FIELD(job_place, in_main, .below = 2),
       FIELD(job_place, code),
       FIELD(job_place, around, OF(PLACES), .flags = JOB_OR_NONE),
       FIELD(job_place, way_count));
FIELDS(way, FIELD(job_way, to, OF(PLACES)));
FIELDS(spot,
       FIELD(job_spot, module, OF(MODULES), KEY),
       FIELD(job_spot, offset, KEY),
       FIELD(job_spot, function, OF(STRINGS), .flags = JOB_OR_NONE),
       FIELD(job_spot, path, OF(STRINGS), .flags = JOB_OR_NONE),
       FIELD(job_spot, line),
       FIELD(job_spot, within),
       FIELD(job_spot, inlined, OF(STRINGS), .flags = JOB_OR_NONE));

/* --- Time --- */

FIELDS(series,
       FIELD(job_series, rank, .flags = JOB_BLOCK, KEY),
       FIELD(job_series, ranks, .flags = JOB_NOT_0),
       FIELD(job_series, steps, .below = JOB_SERIES_STEPS + 1, .flags = JOB_NOT_0),
       FIELD(job_series, reserved, .below = 1),
       FIELD(job_series, step_ns, .flags = JOB_NOT_0));

/* --- All of them --- */

#define ROWS(of, type, row_, count_, room_, ...)                                                                       \
    { .field = of, .fields = sizeof of / sizeof *of, .size = sizeof(struct type), .rows = offsetof(struct job, row_),  \
      .count = offsetof(struct job, count_), .room = offsetof(struct job, room_), __VA_ARGS__ }
#define KEYED(of, ...) ROWS(of, job_##of, __VA_ARGS__, .keyed = true)
#define LIST(of_, list, ...) KEYED(of_, list.of, list.count, list.room, __VA_ARGS__)
#define DEFINED(of, type, row_, count_) ROWS(of, type, row_, count_, info, .name = #of)
#define SINGLE(of, there, ...)                                                                                         \
    { .field = of, .fields = sizeof of / sizeof *of, .size = sizeof(struct job_##of), .single = true, .name = #of,     \
      .rows = offsetof(struct job, of), .count = offsetof(struct job, of.there), __VA_ARGS__ }
#define PART(table, type, first_, number_)                                                                             \
    .whole = JOB_TABLE_##table, .first = offsetof(struct type, first_), .number = offsetof(struct type, number_)
#define RANGES(list, table, type)                                                                                      \
    ROWS(range, job_range, list.ranges.range, list.ranges.count, list.ranges.room,                                     \
         PART(table, type, range_first, range_count), .name = "range")

const struct job_schema job_schemas[JOB_TABLES] = {
    [JOB_TABLE_INFO] = SINGLE(info, runs),
    [JOB_TABLE_MODULES] = DEFINED(module, job_module, modules, module_count),
    [JOB_TABLE_FRAMES] = DEFINED(frame, job_frame, frames, frame_count),
    [JOB_TABLE_CALLSITES] = DEFINED(callsite, job_callsite, callsites, callsite_count),
    [JOB_TABLE_COMMS] = DEFINED(comm, job_comm, comms, comm_count),
    [JOB_TABLE_TERMINALS] = DEFINED(terminal, job_terminal, terminals, terminal_count),
    [JOB_TABLE_STREAMS] = KEYED(stream, streams, stream_count, stream_room, .name = "stream", .sane = stream_sane,
                                .join = job_stream_join),
    [JOB_TABLE_ORACLE] = SINGLE(oracle, present),
    [JOB_TABLE_SUMS] = KEYED(sum, sums, sum_count, sum_room, .name = "sum"),
    [JOB_TABLE_REGIONS] = KEYED(region, regions, region_count, region_room, .name = "region", .sane = region_sane,
                                .join = job_region_join),
    [JOB_TABLE_TASKS] = KEYED(task, tasks, task_count, task_room, .name = "task", .sane = task_sane,
                              .join = job_task_join),
    [JOB_TABLE_MACHINE] = SINGLE(machine, present, .sane = machine_sane),
    [JOB_TABLE_GROUPS] = ROWS(group, job_group, groups.group, groups.group_count, groups.group_room, .name = "group",
                              .check = job_groups_check, .sets = JOB_TABLE_GROUP_RANGES),
    [JOB_TABLE_GROUP_RUNS] = ROWS(run, job_run, groups.runs, groups.run_count, groups.run_room, .name = "run",
                                  PART(GROUPS, job_group, run_first, run_count)),
    [JOB_TABLE_GROUP_RANGES] = RANGES(groups, GROUPS, job_group),
    [JOB_TABLE_FLOWS] = ROWS(flow, job_flow, flows.row, flows.count, flows.room, .name = "messages",
                             .check = job_flows_check, .sets = JOB_TABLE_FLOW_RANGES),
    [JOB_TABLE_FLOW_RANGES] = RANGES(flows, FLOWS, job_flow),
    [JOB_TABLE_STARTS] = ROWS(start, job_start_list, starts.list, starts.count, starts.room, .name = "list of starts",
                              .check = job_starts_check),
    [JOB_TABLE_START_RUNS] = ROWS(start_run, job_start_run, starts.runs, starts.run_count, starts.run_room,
                                  .name = "run of starts", PART(STARTS, job_start_list, first, count)),
    [JOB_TABLE_SERIES] = LIST(series, series, .name = "series", .join = job_series_add_up, .sane = job_series_sane),
    [JOB_TABLE_EXTREMES] = LIST(extremes, extremes, .name = "extremes", .join = job_extremes_add_up,
                                .sane = job_extremes_sane),
    [JOB_TABLE_OWN] = KEYED(own, own.row, own.count, own.room, .name = "own times", .sane = own_sane),
    [JOB_TABLE_CLOCK] = SINGLE(clock, nodes),
    [JOB_TABLE_DELAY] = SINGLE(delay, ranks, .sane = delay_sane),
    [JOB_TABLE_TOOK] = SINGLE(took, ranks, .sane = took_sane),
    [JOB_TABLE_DIGRAMS] = LIST(digram, digrams, .name = "digram"),
    [JOB_TABLE_THREADS] = LIST(threads, threads, .name = "threads", .sane = threads_sane,
                               .join = job_threads_sum, .check = job_threads_check),
    [JOB_TABLE_LEARNED_REGIONS] = KEYED(region, learned.regions, learned.region_count, learned.region_room,
                                        .name = "learned region", .sane = region_sane, .join = job_region_join),
    [JOB_TABLE_LEARNED_TASKS] = KEYED(task, learned.tasks, learned.task_count, learned.task_room,
                                      .name = "learned task", .sane = task_sane, .join = job_task_join),
    [JOB_TABLE_LEFT] = LIST(left, left, .name = "table that was left out"),
    [JOB_TABLE_ENDS] = LIST(end, ends, .name = "end", .sane = end_sane),
    [JOB_TABLE_INSIDE] = LIST(inside, inside, .name = "samples", .sane = inside_sane, .join = inside_join),
    [JOB_TABLE_NAMED] = LIST(named, named, .name = "named region", .sane = job_named_sane),
    [JOB_TABLE_BINDINGS] = KEYED(binding, bindings.row, bindings.count, bindings.room, .name = "bindings",
                                 .sets = JOB_TABLE_BINDING_RANGES),
    [JOB_TABLE_BINDING_RANGES] = RANGES(bindings, BINDINGS, job_binding),
    [JOB_TABLE_HOSTS] = KEYED(host, hosts.row, hosts.count, hosts.room, .name = "hosts",
                              .sets = JOB_TABLE_HOST_RANGES),
    [JOB_TABLE_HOST_RANGES] = RANGES(hosts, HOSTS, job_host),
    [JOB_TABLE_HARDWARE] = LIST(hardware, hardware, .name = "hardware"),
    [JOB_TABLE_STOPS] = ROWS(stop, job_stop, hops.stop, hops.stop_count, hops.stop_room, .name = "stop",
                             .keyed = true),
    [JOB_TABLE_HOPS] = ROWS(hop, job_hop, hops.hop, hops.hop_count, hops.hop_room, .name = "hop",
                            .check = job_hops_check, .sets = JOB_TABLE_HOP_RANGES),
    [JOB_TABLE_HOP_RANGES] = RANGES(hops, HOPS, job_hop),
    [JOB_TABLE_PLACES] = KEYED(place, places.place, places.place_count, places.place_room, .name = "place"),
    [JOB_TABLE_WAYS] = ROWS(way, job_way, places.way, places.way_count, places.way_room, .name = "way",
                            PART(PLACES, job_place, way_first, way_count)),
    [JOB_TABLE_SPOTS] = LIST(spot, spots, .name = "spot"),
};
