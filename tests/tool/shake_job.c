/* SPDX-License-Identifier: MIT */
/*
 * Job files that say anything, and are sound: shake_job IN OUT SEED writes IN with some numbers replaced, each where
 * job_check() passes it. Equal seeds give equal files.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file/file.h"
#include "job/job.h"

enum { PLACES = 128, TRIES = 300, CHANGES = 24 };

/* Records without a pointer in them: any of their words may be replaced. */
static struct { unsigned char *at; size_t size; } place[PLACES];
static unsigned places;
static uint64_t state;

static void may_change(void *at, size_t count, size_t size)
{
    if (at && count && places < PLACES) {
        place[places].at = at;
        place[places++].size = count * size;
    }
}
#define LIST(array, count) may_change((array), (count), sizeof *(array))
#define WHOLE(structure) may_change(&(structure), 1, sizeof(structure))

static void collect(struct job *j)
{
    WHOLE(j->info);
    WHOLE(j->oracle);
    WHOLE(j->machine);
    WHOLE(j->clock);
    WHOLE(j->delay);
    WHOLE(j->took);
    LIST(j->named.of, j->named.count);
    LIST(j->frames, j->frame_count);
    LIST(j->comms, j->comm_count);
    LIST(j->terminals, j->terminal_count);
    LIST(j->streams, j->stream_count);
    LIST(j->sums, j->sum_count);
    LIST(j->tasks, j->task_count);
    LIST(j->regions, j->region_count);
    LIST(j->learned.regions, j->learned.region_count);
    LIST(j->learned.tasks, j->learned.task_count);
    LIST(j->groups.group, j->groups.group_count);
    LIST(j->groups.runs, j->groups.run_count);
    LIST(j->flows.row, j->flows.count);
    LIST(j->starts.list, j->starts.count);
    LIST(j->starts.runs, j->starts.run_count);
    LIST(j->series.of, j->series.count);
    LIST(j->extremes.of, j->extremes.count);
    LIST(j->places.place, j->places.place_count);
    LIST(j->places.way, j->places.way_count);
    LIST(j->own.row, j->own.count);
    LIST(j->digrams.of, j->digrams.count);
    LIST(j->threads.of, j->threads.count);
    for (uint32_t i = 0; i < j->class_count; i++) {
        struct grammar_flat *g = j->classes[i].grammar;
        LIST(g->rules, g->rule_count);
        LIST(g->nodes, g->node_count);
        LIST(g->stats, g->node_count);
        LIST(g->attrs, g->attr_count);
        LIST(j->classes[i].spread, g->node_count);
        LIST(j->classes[i].ranges, j->classes[i].range_count);
    }
}

static uint64_t draw(uint64_t below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (state * 0x2545f4914f6cdd1du >> 11) % below;
}

static uint64_t strange(uint64_t was)
{
    static const uint64_t words[] = { 0, 1, 2, 3, UINT32_MAX, INT32_MAX, UINT32_C(1) << 31, UINT64_MAX, INT64_MAX,
                                      UINT64_C(1) << 63, UINT64_C(0x7ff0000000000000) /* infinity */,
                                      UINT64_C(0x7ff8000000000000) /* no number */,
                                      UINT64_C(0xbff0000000000000) /* -1 */,
                                      UINT64_C(0x7fe0000000000000) /* 1e308 */ };
    switch (draw(4)) {
    case 0: return words[draw(sizeof words / sizeof *words)];
    case 1: return was + 1 - 2 * draw(2);
    case 2: return draw(1000);
    default: return draw(UINT64_MAX) >> draw(64);
    }
}

/* Pointers of user space are no numbers that anything here has. */
static bool is_pointer(uint64_t word)
{
    return word >> 40 >= 0x55 && word >> 40 <= 0x7f;
}

/* As a file it is read. */
static bool is_sound(const struct job *j)
{
    struct job *back;
    void *data;
    size_t size;
    char why[256];
    if (job_check(j, why, sizeof why) != 0 || file_pack_for_file(j, &data, &size) != 0)
        return false;
    bool read = file_unpack(data, size, &back, why, sizeof why) == 0;
    bool sound = read && job_check(back, why, sizeof why) == 0;
    if (read)
        job_destroy(back);
    free(data);
    return sound;
}

static bool shake(struct job *j)
{
    unsigned k = (unsigned)draw(places), wide = draw(2) ? 8 : 4;
    unsigned char before[8];
    uint64_t word, whole;
    if (place[k].size < 8)
        return false;
    unsigned char *at = place[k].at + draw(place[k].size / wide) * wide;
    memcpy(&whole, place[k].at + (size_t)(at - place[k].at) / 8 * 8, 8);
    if (is_pointer(whole) || at + wide > place[k].at + place[k].size)
        return false;
    memcpy(before, at, wide);
    memset(&word, 0, sizeof word);
    memcpy(&word, at, wide);
    word = strange(word);
    memcpy(at, &word, wide);
    if (memcmp(before, at, wide) != 0 && is_sound(j))
        return true;
    memcpy(at, before, wide);
    return false;
}

int main(int argc, char **argv)
{
    struct job *j;
    char why[256] = "";
    if (argc != 4)
        return 2;
    if (file_read(argv[1], &j, why, sizeof why) != 0) {
        fprintf(stderr, "shake_job: %s: %s\n", argv[1], why);
        return 1;
    }
    state = (strtoull(argv[3], NULL, 10) + 1) * UINT64_C(0x9e3779b97f4a7c15);
    collect(j);
    unsigned changed = 0;
    for (unsigned i = 0; i < TRIES && changed < CHANGES; i++)
        changed += shake(j);
    if (file_write(j, argv[2], why, sizeof why) != 0) {
        fprintf(stderr, "shake_job: %s: %s\n", argv[2], why);
        return 3;
    }
    job_destroy(j);
    return 0;
}
