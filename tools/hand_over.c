/* SPDX-License-Identifier: MIT */
/*
 * The commands that `pythia` itself has not: pythia-tools beside it has them, and is what this process becomes.
 *
 * `pythia record` and `pythia predict` stand before every rank of a job. What reads debug information, topologies and
 * JSON is ten libraries, which took longer to load than all else that they do.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tools/program.h"
#include "tools/tool.h"

static int become(const char *name, int argc, char **argv)
{
    char path[PATH_MAX], pythia[] = "pythia", command[16];
    char *arguments[argc + 2];

    if (program_find_library("pythia-tools", path, sizeof path) != 0) {
        tool_complain("no pythia-tools beside it: the installation is not whole");
        return TOOL_CANNOT_RUN;
    }
    snprintf(command, sizeof command, "%s", name);
    arguments[0] = pythia;
    arguments[1] = command;
    for (int i = 1; i <= argc; i++) /* the NULL at the end, too */
        arguments[i + 1] = argv[i];
    execv(path, arguments);
    tool_complain("cannot run %s: %s", path, strerror(errno));
    return TOOL_CANNOT_RUN;
}

#define COMMAND_BOTH(name)
#define COMMAND_TOOLS(name) \
    int tool_##name(int argc, char **argv) \
    { \
        return become(#name, argc, argv); \
    }
#define COMMAND(name, where, help) COMMAND_##where(name)
#include "tools/commands.def"
