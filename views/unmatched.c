/* SPDX-License-Identifier: MIT */
#include "views/unmatched.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/must.h"
#include "base/order.h"
#include "findings/findings.h"
#include "findings/units.h"
#include "job/job.h"
#include "views/json.h"
#include "views/table.h"

struct row { uint64_t count; uint32_t terminal; enum replay_reason why; };

static const char *const reasons[REPLAY_REASONS] = { "no rule says whom with", "no message is left for it",
                                                     "no receive is left for it" };

static int most_first(const void *a, const void *b)
{
    const struct row *x = a, *y = b;

    return BASE_ORDER(y->count, x->count) ?: BASE_ORDER(x->terminal, y->terminal) ?: BASE_ORDER(x->why, y->why);
}

static uint32_t rows_of(struct replay_analysis *a, struct row **row)
{
    struct replay_bind *b = replay_analysis_bind(a);
    uint32_t count = 0, room = 0;

    *row = NULL;
    for (uint32_t s = 0; s < replay_bind_sites(b); s++)
        for (int why = 0; why < REPLAY_REASONS; why++) {
            uint64_t n = replay_blame_unmatched_at(replay_analysis_blame(a), 2 * s + 1, (enum replay_reason)why);
            if (!n)
                continue;
            base_must(base_array_room(row, &room, count + 1u, sizeof **row));
            (*row)[count++] = (struct row){ n, replay_bind_site(b, s)->terminal, (enum replay_reason)why };
        }
    if (count)
        qsort(*row, count, sizeof **row, most_first);
    return count;
}

void report_print_unmatched(struct report *r, struct replay_analysis *a, uint32_t most, FILE *out)
{
    struct row *row;
    uint32_t count = rows_of(a, &row);

    for (uint32_t i = 0; i < count && i < most; i++) {
        char where[256];
        const char *function = job_text(r->job, r->job->terminals[row[i].terminal].function);
        report_site_place(r, row[i].terminal, where, sizeof where);
        report_cut(where, 79 - 16 - (int)strlen(function) - (int)strlen(reasons[row[i].why]));
        fprintf(out, "%8" PRIu64 "  %s at %s: %s\n", row[i].count, function, where, reasons[row[i].why]);
    }
    if (count > most)
        fprintf(out, "%8s  at %" PRIu32 " more\n", "", count - most);
    free(row);
}

void report_json_unmatched(struct report *r, struct replay_analysis *a, cJSON *object)
{
    cJSON *array = cJSON_AddArrayToObject(object, "unmatched_calls");
    struct row *row;
    uint32_t count = rows_of(a, &row);

    for (uint32_t i = 0; i < count; i++) {
        char where[256];
        report_site_place(r, row[i].terminal, where, sizeof where);
        ADD(array, TEXT("function", job_text(r->job, r->job->terminals[row[i].terminal].function)),
            TEXT("where", where), TEXT("reason", reasons[row[i].why]), COUNT("count", row[i].count));
    }
    free(row);
}
