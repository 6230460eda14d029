/* SPDX-License-Identifier: MIT */
/*
 * The `pythia` command: chooses the subcommand.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        puts(PACKAGE_STRING);
        return 0;
    }
    fprintf(stderr, "usage: pythia --version\n");
    return 2;
}
