/* SPDX-License-Identifier: MIT */
/* Parts of a run that died, joined: how much is copied for that. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file/file.h"
#include "merge/merge.h"
#include "tests/unit/bytes.h"
#include "tests/unit/hand_job.h"
#include "tests/unit/unit.h"
#include "tools/parts.h"
#include "tools/progress.h"
#include "tools/tool.h"

/* --- What the command has around it --- */

static uint64_t merges, copied; /* copied: streams of both, at each merge */

int __real_merge_job(struct job *into, const struct job *from);
int __wrap_merge_job(struct job *into, const struct job *from);
int __wrap_merge_job(struct job *into, const struct job *from)
{
    merges++;
    copied += into->stream_count + from->stream_count;
    return __real_merge_job(into, from);
}

void *tool_need(void *made)
{
    ck_assert_ptr_nonnull(made);
    return made;
}

void tool_complain(const char *format, ...)
{
    ck_abort_msg("complains: %s", format);
}

void progress_begin(struct progress *p, const char *what, uint64_t total)
{
    memset(p, 0, sizeof *p);
    (void)what;
    (void)total;
}

void progress_look(struct progress *p, uint64_t done)
{
    (void)p;
    (void)done;
}

void progress_end(struct progress *p)
{
    (void)p;
}

/* --- Tests --- */

enum { RANKS = 600 /* several of a block */, LEVELS = 10 };

static struct job *rank_of(uint32_t rank)
{
    struct job *j = job_create();
    j->info.ranks = RANKS;
    struct grammar *g = grammar_create(1 << 20);
    hand_append(g, hand_word(j, "a"), 10 + rank, 2);
    for (uint32_t i = 0; i <= rank % 7; i++)
        hand_append(g, hand_word(j, i % 2 ? "b" : "c"), 1, rank);
    hand_stream(j, g, rank, 100, 10);
    return j;
}

/* They stand one after the other in a node's file. */
START_TEST(parts_are_joined_pairwise)
{
    char directory[] = "test_parts.XXXXXX", path[64];
    ck_assert_ptr_nonnull(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/node.pythia", directory);
    FILE *f = fopen(path, "wb");
    struct job *whole = job_create(), *joined = NULL;
    for (uint32_t i = 0; i < RANKS; i++) {
        struct job *j = rank_of(i * 77 % RANKS);
        struct bytes b = bytes_pack(j);
        ck_assert_uint_eq(fwrite(b.data, 1, b.size, f), b.size);
        ck_assert_int_eq(__real_merge_job(whole, j), 0);
        free(b.data);
        job_destroy(j);
    }
    ck_assert_int_eq(fclose(f), 0);
    ck_assert_int_eq(parts_join(directory, &joined), TOOL_OK);
    ck_assert_uint_eq(job_streams(joined), RANKS);
    ck_assert_uint_eq(merges, RANKS - 1);
    ck_assert_uint_le(copied, (uint64_t)RANKS * LEVELS);
    struct bytes a = bytes_pack(whole), b = bytes_pack(joined);
    ck_assert(joined->info.missing == 0 && a.size == b.size);
    free(a.data);
    free(b.data);
    job_destroy(whole);
    job_destroy(joined);
    unlink(path);
    rmdir(directory);
}
END_TEST

static const struct unit_test tests[] = { UNIT_TEST(parts_are_joined_pairwise) };

int main(void)
{
    return unit_run("tools/parts", tests, UNIT_COUNT(tests));
}
