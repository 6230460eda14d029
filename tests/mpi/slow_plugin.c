/* SPDX-License-Identifier: MIT */
/* A plugin that takes its time, refuses (PROBE=refuse) or is of another version (PROBE=old). */
#include <pythia.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void sleep_a_while(const struct pythia_record *record, void *data)
{
    (void)record;
    (void)data;
    usleep(3000);
}

int pythia_plugin_open(uint32_t version, uint32_t rank)
{
    const char *probe = getenv("PROBE");
    (void)rank;
    if (probe && strcmp(probe, "refuse") == 0)
        return 7;
    if (probe && strcmp(probe, "old") == 0 && version != 99)
        return 1;
    return pythia_callback_register("MPI_Sendrecv", PYTHIA_PRE | PYTHIA_POST, sleep_a_while, NULL);
}

void pythia_plugin_close(void)
{
    fputs("closed\n", stderr);
}
