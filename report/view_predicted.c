/* SPDX-License-Identifier: MIT */
/* The last predicted run: how well it was foretold, and what became of its time beside that of the recording. */
#include <time.h>

#include "base/clean.h"
#include "report/report.h"
#include "report/units.h"

static const char *date_text(uint64_t seconds)
{
    time_t start = (time_t)seconds;
    char *text = report_text("%s", "");
    struct tm tm;

    if (start > 0 && localtime_r(&start, &tm))
        strftime(text, REPORT_TEXT, "%Y-%m-%d %H:%M", &tm);
    return text;
}

/* Whether the two runs were of one size, so that their times can be compared. */
static bool is_comparable(const struct job_oracle *o)
{
    return o->start_time && o->recorded_ns && o->ranks == o->recorded_ranks;
}

/* ", 11.1 % faster than recorded". */
static void print_change(const struct job_oracle *o, FILE *out)
{
    double change = 100 * ((double)o->wall_ns / (double)o->recorded_ns - 1);

    if (change < 0.05 && change > -0.05)
        fputs(", as long as recorded", out);
    else
        fprintf(out, ", %.1f %% %s than recorded", change < 0 ? -change : change, change < 0 ? "faster" : "slower");
}

void report_print_oracle(const struct job *j, FILE *out)
{
    const struct job_oracle *o = &j->oracle;

    if (!o->present)
        return;
    fprintf(out, "\npredicted right at distance");
    for (int d = 0; d < ORACLE_DISTANCES; d++)
        if (o->score.at[d].predictions) /* a short run has no event so far ahead */
            fprintf(out, "%s %u: %.1f %%", d ? "," : "", oracle_score_distances[d],
                    report_percent((double)o->score.at[d].hits, (double)o->score.at[d].predictions));
    if (o->score.peers.asked)
        fprintf(out, "\n  and of the peers of messages %.1f %%",
                report_percent((double)o->score.peers.right, (double)o->score.peers.asked));
    fprintf(out, "\n  in the last predicted run, %s", report_time((double)o->wall_ns));
    if (o->ranks != j->info.ranks)
        fprintf(out, " on %u ranks", o->ranks);
    if (is_comparable(o))
        print_change(o, out);
    double error = oracle_time_median(o->score.time_error);
    if (error >= 0)
        fprintf(out, "; median time error %.0f %%", 100 * error);
    fprintf(out, "\n  %s actions, estimated gain %.3g s, cost of the oracle %.3g s\n", report_count(o->actions),
            o->gain_seconds, o->cost_seconds);
    if (o->actions && is_comparable(o)) /* in the unit of the estimate: sums over ranks */
        fprintf(out, "  measured gain %.3g s: what the ranks took less than when recorded\n",
                ((double)o->recorded_ns - (double)o->wall_ns) * 1e-9 * o->ranks);
}

void report_print_predicted(struct report *r, FILE *out)
{
    const struct job *j = r->job;
    const struct job_oracle *o = &j->oracle;
    const char *program = report_program_text(j, 40);

    if (!o->present) {
        fprintf(out, "%s: no run was predicted with this file\n", program);
        return;
    }
    fprintf(out, "%s, predicted: %u rank%s", program, o->ranks, o->ranks == 1 ? "" : "s");
    if (o->threads)
        fprintf(out, " x %u thread%s", o->threads, o->threads == 1 ? "" : "s");
    if (o->start_time)
        fprintf(out, ", %s", date_text(o->start_time));
    fprintf(out, "\nwall time %s", report_time((double)o->wall_ns));
    if (is_comparable(o))
        print_change(o, out);
    if (o->recorded_ns) {
        fprintf(out, "\nrecorded: %s", report_time((double)o->recorded_ns));
        fprintf(out, ", %u rank%s", o->recorded_ranks, o->recorded_ranks == 1 ? "" : "s");
        fprintf(out, ", %s", date_text(o->recorded_time));
        if (!is_comparable(o))
            fputs(" (of another size: times are not compared)", out);
    }
    fputc('\n', out);
    report_print_oracle(j, out);
}
