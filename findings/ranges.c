/* SPDX-License-Identifier: MIT */
/* Members of a class for people; see ranges.h. */
#include "findings/ranges.h"

#include "job/turns.h"

#include <stdbool.h>
#include <stdio.h>

enum { LONGEST = 400 };

uint64_t findings_members(const struct job_class *c)
{
    return job_ranges_size(c->ranges, c->member_ranges);
}

double findings_class_events(const struct job_class *c)
{
    uint64_t members = findings_members(c);

    if (!c->turn_count || !members)
        return c->grammar ? (double)c->grammar->events : 0;
    return (double)job_class_events(c) / (double)members;
}

/* One run of a range. */
static void print_run(FILE *out, const struct job_range *r, uint64_t first)
{
    uint64_t last = first + (uint64_t)(r->count - 1) * r->stride;

    fprintf(out, "%llu", (unsigned long long)first);
    if (r->count == 2 && r->stride > 1)
        fprintf(out, ",%llu", (unsigned long long)last);
    else if (r->count > 1)
        fprintf(out, "-%llu", (unsigned long long)last);
    if (r->count > 2 && r->stride > 1)
        fprintf(out, "/%u", r->stride);
}

/* All runs, until there is enough. Returns whether that was all. */
static bool print_range(FILE *out, const struct job_range *r)
{
    for (uint64_t l = 0; l <= r->planes; l++)
        for (uint64_t k = 0; k <= r->rows; k++) {
            if (k || l)
                fputc(',', out);
            if (ftell(out) > LONGEST)
                return false;
            print_run(out, r, r->first + k * r->row_stride + l * r->plane_stride);
        }
    return true;
}

char *findings_ranges_text(const struct job_range *range, uint32_t count)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    uint32_t thread = UINT32_MAX;

    for (uint32_t i = 0; i < count; i++) {
        const struct job_range *r = &range[i];
        bool several = job_range_size(r) > 1 || (i + 1 < count && r[1].thread == r->thread);
        bool new_thread = r->thread != thread;
        if (ftell(out) > LONGEST) {
            fputs(",…", out);
            break;
        }
        if (new_thread && i)
            fputs("; ", out);
        if (new_thread && r->thread)
            fprintf(out, "thread %u of ", r->thread);
        if (new_thread)
            fputs(several ? "ranks " : "rank ", out);
        else
            fputc(',', out);
        if (!print_range(out, r)) {
            fputs("…", out);
            break;
        }
        thread = r->thread;
    }
    fclose(out);
    return text;
}
