/* SPDX-License-Identifier: MIT */
/* Between the parts of findings: see findings.h. */
#ifndef PYTHIA_FINDINGS_PARTS_H
#define PYTHIA_FINDINGS_PARTS_H

#include "base/hash.h"
#include "findings/findings.h"
#include "pythia.h"

#define LEAST_SHARE 0.01 /* of the ranks' wall time */
#define LEAST_ADVICE 1e-3 /* s */
#define LEAST_PART (LEAST_SHARE / 16) /* the same of a part: a finding's line may be called from several places */

struct findings {
    struct report *report;
    struct report_findings *all;
    struct replay_analysis *analysis;
    struct replay_bind *bind;
    uint32_t ranks;
    double total; /* s, the ranks' wall time together */
    bool *in;     /* of each finding, of each rank: whose work it is */
    struct base_hash index; /* of the findings */
    double *told; /* as of struct report_findings; not its own */
};

/* Each adds what it finds. */
void findings_of_waits(struct findings *f);    /* waits.c */
void findings_of_moving(struct findings *f);   /* moving.c: after those of waits */
void findings_of_regions(struct findings *f);  /* regions.c */
void findings_of_messages(struct findings *f);

/* Adds `one`, in which the ranks r with in[r] take part. Findings of the same kind and the same lines become one: a
   line may be called from several places. */
void findings_add(struct findings *f, const struct report_finding *one, const bool *in);
/* The same of a call or region, `one.call`, and of the terminal that is the cause; fills `where` and `cause` in. `in`
   NULL: the ranks that come to `of`. */
void findings_add_at(struct findings *f, struct report_finding one, uint32_t cause, uint32_t of, const bool *in);
/* Of report `r`, to be added to `all`. */
void findings_begin(struct findings *f, struct report *r, struct report_findings *all);
/* Shares and ranks of all that was added; what is too cheap goes. */
void findings_settle(struct findings *f);
void findings_sort(struct report_findings *all);
/* Whether a place of the replay is work, not what calls take themselves: that is transfer, or chance, and nobody's
   work to be given to others. */
bool findings_is_work(const struct findings *f, uint32_t place);

#endif
