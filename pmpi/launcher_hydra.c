/* SPDX-License-Identifier: MIT */
/*
 * Marks as keys of hydra, the process manager of MPICH, in its PMI-1 line protocol:
 *
 *   cmd=put kvsname=K key=pythia-3 value=1      -->   cmd=put_result rc=0 ...
 *   cmd=get kvsname=K key=pythia-3              -->   cmd=get_result rc=0 value=1 ...     rc=-1: not there
 *
 * MPICH speaks the same on the same descriptor, each question with its answer: before MPI_Init it has not begun, and
 * while MPI_Init's wrapper runs it asks nothing. Launched otherwise (no HYDI_CONTROL_FD) nothing is said.
 */
#include "pmpi/present.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"

enum { HYDRA_LINE = 1024, HYDRA_TIMEOUT_MS = 10000 };

static int hydra_fd = -1;
static char hydra_kvs[256];

/* One byte of an answer. A signal of the program's must not end a question: its answer would be MPI's next one. */
static int hydra_read(char *byte)
{
    struct pollfd wait = {.fd = hydra_fd, .events = POLLIN};
    int n;
    do
        n = poll(&wait, 1, HYDRA_TIMEOUT_MS);
    while (n < 0 && errno == EINTR);
    if (n != 1)
        return -1;
    do
        n = (int)read(hydra_fd, byte, 1);
    while (n < 0 && errno == EINTR);
    return n == 1 ? 0 : -1;
}

/* One question and its answer, a line each without its end; 0 or -1. */
static int hydra_ask(const char *question, char answer[HYDRA_LINE])
{
    size_t length = strlen(question), n = 0;
    if (base_io_write(hydra_fd, question, length))
        return -1;
    while (n < HYDRA_LINE - 1) {
        if (hydra_read(&answer[n]))
            return -1;
        if (answer[n] == '\n') {
            answer[n] = '\0';
            return 0;
        }
        n++;
    }
    return -1;
}

/* The word after "name=", cut off; NULL without. */
static char *hydra_value(char *answer, const char *name)
{
    char *at = strstr(answer, name);
    if (!at)
        return NULL;
    at += strlen(name);
    at[strcspn(at, " ")] = '\0';
    return at;
}

static int hydra_announce(uint64_t *shared)
{
    (void)shared;
    char line[HYDRA_LINE], answer[HYDRA_LINE];
    const char *fd = getenv("PMI_FD"), *rank = getenv("PMI_RANK");
    if (!fd || !rank || !getenv("HYDI_CONTROL_FD"))
        return -1;
    hydra_fd = atoi(fd);
    if (hydra_ask("cmd=init pmi_version=1 pmi_subversion=1\n", answer) || !strstr(answer, "rc=0") ||
        hydra_ask("cmd=get_my_kvsname\n", answer))
        return -1;
    const char *kvs = hydra_value(answer, "kvsname=");
    if (!kvs || strlen(kvs) >= sizeof hydra_kvs)
        return -1;
    strcpy(hydra_kvs, kvs);
    snprintf(line, sizeof line, "cmd=put kvsname=%s key=pythia-%d value=1\n", hydra_kvs, atoi(rank));
    return hydra_ask(line, answer) || !strstr(answer, "rc=0") ? -1 : 0;
}

static int hydra_present(int rank)
{
    char line[HYDRA_LINE], answer[HYDRA_LINE];
    snprintf(line, sizeof line, "cmd=get kvsname=%s key=pythia-%d\n", hydra_kvs, rank);
    if (hydra_ask(line, answer) || !strstr(answer, "cmd=get_result"))
        return -1;
    return strstr(answer, "rc=0") != NULL;
}

static void hydra_close(void)
{
}

const struct pmpi_hook_launcher pmpi_hook_launcher = {hydra_announce, hydra_present, hydra_close, NULL};
