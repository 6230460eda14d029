/* SPDX-License-Identifier: MIT */
/* Part files: <output>.parts/rank-N.pythia, one of each rank, until the job file is written. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "file/file.h"
#include "job/job.h"
#include "pythia.h"
#include "session/internal.h"

static const char *directory(void)
{
    static char path[PATH_MAX + 8]; /* the same text whenever it is written */
    snprintf(path, sizeof path, "%s.parts", session_output_path());
    return path;
}

const char *session_parts_path(void)
{
    return directory();
}

int session_part_write(const struct job *job, char *why, size_t size)
{
    char path[PATH_MAX + 40];
    if (mkdir(directory(), 0777) && errno != EEXIST) {
        snprintf(why, size, "%s: %s", directory(), strerror(errno));
        return PYTHIA_EIO;
    }
    snprintf(path, sizeof path, "%s/rank-%u.pythia", directory(), session.world.rank);
    return file_write(job, path, why, size);
}

/* Whether Pythia made it: a part, or the temporary file of one that was not finished. */
static bool is_ours(const char *name)
{
    size_t n = strlen(name);
    return (!strncmp(name, "rank-", 5) && n > 7 && !strcmp(name + n - 7, ".pythia")) ||
           (!strncmp(name, ".rank-", 6) && n > 4 && !strcmp(name + n - 4, ".tmp"));
}

/* Removes the parts in a directory, and it, unless something else is in there. */
static void clear(const char *path)
{
    DIR *d = opendir(path);
    if (!d)
        return;
    for (struct dirent *e; (e = readdir(d)) != NULL;)
        if (is_ours(e->d_name))
            unlinkat(dirfd(d), e->d_name, 0);
    closedir(d);
    rmdir(path);
}

void session_parts_remove(void)
{
    clear(directory());
}

void session_parts_put_aside(void)
{
    char old[PATH_MAX + 16];
    struct stat st;
    if (stat(directory(), &st) || !S_ISDIR(st.st_mode))
        return;
    snprintf(old, sizeof old, "%s.old", directory());
    clear(old);
    if (!rename(directory(), old))
        base_log_info("parts of an earlier run that died are now in %s (pythia merge joins them)", old);
}
