/* SPDX-License-Identifier: MIT */
/*
 * Runs a command and keeps what it says. It cannot hang the caller: after its time all of it is killed, with what it
 * started. Threads: one.  Hook-safe: no.
 */
#pragma once

#include <stdbool.h>

struct captured {
    char *text;     /* standard output and error as they came, at most 1 MB, ends in '\0'; never NULL after success */
    int status;     /* exit code, 128 + signal; 127: it could not be started */
    bool timed_out;
};

/* `argv` and `environment` ("NAME=VALUE", added to our own, may be NULL) end in NULL. Returns 0, or -1 when there is no
   pipe or process. captured_free() afterwards. */
int capture(char *const *argv, char *const *environment, int seconds, struct captured *c);
void captured_free(struct captured *c);
