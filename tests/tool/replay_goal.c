/* SPDX-License-Identifier: MIT */
/* replay_goal SEED RANKS DEPTH TURNS FILE [free]: a random program as GOAL in FILE, and what the replay says of each
   rank. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "replay/engine.h"
#include "replay/goal.h"
#include "tests/unit/replay_programs.h"

int main(int argc, char **argv)
{
    static const struct replay_model usual = { .L = 2500, .o = 1500, .g = 1000, .G = 6000, .O = 0, .S = 65535 };
    static const struct replay_model no_contention = { .L = 2500, .S = 65535 };
    const struct replay_model *model = argc == 7 ? &no_contention : &usual;
    struct replay_how how = { .walk = false };
    struct replay_result r;

    if (argc != 6 && argc != 7)
        return 2;
    struct program *p = program_random(strtoull(argv[1], NULL, 10), (uint32_t)atoi(argv[2]), (uint32_t)atoi(argv[3]),
                                       (uint32_t)atoi(argv[4]));
    FILE *out = fopen(argv[5], "w");
    if (!out)
        return 1;
    replay_goal_write(&p->source, model, out);
    if (fclose(out) != 0 || replay_run(&p->source, model, &how, &r) != 0)
        return 1;
    for (uint32_t i = 0; i < p->source.ranks; i++)
        printf("Host %" PRIu32 ": %" PRId64 "\n", i, r.end[i]);
    free(r.end);
    program_destroy(p);
    return 0;
}
