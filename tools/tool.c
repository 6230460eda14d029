/* SPDX-License-Identifier: MIT */
/* What the commands share; see tool.h. */
#include "file/file.h"
#include "tools/tool.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/must.h"
#include "base/replace.h"
#include "tools/interrupt.h"
#include "tools/parts.h"

void *tool_need(void *made)
{
    if (!made) {
        tool_complain("out of memory");
        exit(TOOL_MEMORY);
    }
    return made;
}

int tool_read_file(const char *path, struct job **job)
{
    char why[256] = "";

    if (file_read(path, job, why, sizeof why) == 0)
        return TOOL_OK;
    /* its reasons usually name the file already. */
    if (strstr(why, path))
        tool_complain("%s", why);
    else
        tool_complain("%s: %s", path, why[0] ? why : "not a readable job file");
    return TOOL_INPUT;
}

/* What is there instead of the file: the parts of a run that died. Says so, and which ranks are missing. */
static int read_parts(const char *path, const char *directory, struct job **job)
{
    char *missing = NULL;
    size_t size = 0;
    int rc = parts_join(directory, job);

    if (rc != TOOL_OK)
        return rc;
    FILE *text = open_memstream(&missing, &size);
    parts_print_missing(*job, text);
    fclose(text);
    tool_complain("%s is not there: read from %s, parts of a run that died%s%s", path, directory, size ? "; " : "",
                  missing);
    free(missing);
    return TOOL_OK;
}

int tool_read_job(const char *path, struct job **job)
{
    char *parts;
    struct stat st;

    base_must(asprintf(&parts, "%s.parts", path) < 0);
    bool left = stat(parts, &st) == 0 && S_ISDIR(st.st_mode), there = access(path, F_OK) == 0;
    int rc = left && !there ? read_parts(path, parts, job) : tool_read_file(path, job);
    if (rc == TOOL_OK && left && there)
        tool_complain("%s has parts of a run that came later and died, or has not ended (pythia merge joins them)",
                      parts);
    free(parts);
    return rc;
}

int tool_job_open(struct tool_job *j, const char *path)
{
    int rc = tool_read_job(path, &j->job);

    if (rc == TOOL_OK)
        j->report = report_create(j->job);
    return rc;
}

void tool_job_close(struct tool_job *j)
{
    report_destroy(j->report);
    job_destroy(j->job);
    *j = (struct tool_job){ 0 };
}

/* --- Output --- */

struct output {
    FILE *file;
    const char *path;            /* NULL: standard output */
    struct base_replace replace;
    int error;                   /* errno of the first write that failed */
};

/* A stream of our own: stdio remembers that a write failed, not why. */
static ssize_t output_write(void *cookie, const char *data, size_t size)
{
    struct output *o = cookie;

    if (!o->error && base_io_write(o->replace.fd, data, size) != 0)
        o->error = errno;
    return o->error ? 0 : (ssize_t)size;
}

static int output_failed(const char *path)
{
    tool_complain("cannot write %s: %s", path, strerror(errno));
    return TOOL_OUTPUT;
}

static int output_open(struct output *o, const char *path)
{
    *o = (struct output){ .file = stdout };
    if (!path || !strcmp(path, "-"))
        return TOOL_OK;
    o->path = path;
    base_replace_sweep(path);
    if (interrupt_replace(&o->replace, path) != 0)
        return output_failed(path);
    o->file = fopencookie(o, "w", (cookie_io_functions_t){ .write = output_write });
    if (o->file)
        return TOOL_OK;
    base_replace_abandon(&o->replace);
    interrupt_forget();
    return output_failed(path);
}

/* Everything that can fail before the new name is visible. */
static int finish(struct output *o)
{
    int whole = fclose(o->file) == 0;

    if (whole && !o->error)
        return base_replace_commit(&o->replace);
    errno = o->error;
    return -1;
}

static int output_close(struct output *o)
{
    int result = TOOL_OK;

    if (!o->path) /* standard output: main() looks after it */
        return TOOL_OK;
    if (finish(o) != 0) {
        result = output_failed(o->path);
        base_replace_abandon(&o->replace);
    }
    interrupt_forget();
    return result;
}

int tool_write(const char *path, void (*print)(void *context, FILE *out), void *context)
{
    struct output o;
    int rc = output_open(&o, path);

    if (rc != TOOL_OK)
        return rc;
    print(context, o.file);
    return output_close(&o);
}

struct packed {
    void *data;
    size_t size;
};

static void print_packed(void *context, FILE *out)
{
    const struct packed *p = context;

    fwrite(p->data, 1, p->size, out);
}

int tool_write_job(const struct job *j, const char *path)
{
    struct packed p = { 0 };

    if (file_pack_for_file(j, &p.data, &p.size) != 0) {
        tool_complain("%s: the job is too large for a file", path);
        return TOOL_OUTPUT;
    }
    int rc = tool_write(path, print_packed, &p);
    free(p.data);
    return rc;
}
