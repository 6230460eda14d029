/* SPDX-License-Identifier: MIT */
/*
 * `pythia record` and `pythia predict`: set the options' environment variables, put our library into LD_PRELOAD, and
 * become the program. Nothing stays between the caller and the program: process id, signals, terminal and exit code are
 * the program's own.
 *
 * Where Pythia cannot do its part (no library, a program that cannot be preloaded, a place that cannot be written) the
 * program still runs, and rank 0 says so.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/must.h"
#include "base/name.h"
#include "base/options.h"
#include "base/preload.h"
#include "base/replace.h"
#include "tools/program.h"
#include "tools/tool.h"

enum {
    MOST_OPTIONS = 32,
    TREE_DESCRIPTOR = 100 /* at least */
};

struct request {
    const char *mode;                /* "record" or "predict" */
    const char *value[MOST_OPTIONS]; /* by row of the table of options; NULL: not given */
    char **command;                  /* NULL-terminated, NULL before it was seen */
};

/* --- Options: the rows of base/options.def that name this command --- */

static size_t row_named(const char *name)
{
    size_t i = 0;

    while (base_options_row(i) && strcmp(base_options_row(i)->name, name) != 0)
        i++;
    return i;
}

/* The flag of a switch turns it on; its variable says yes or no. */
static bool is_switch(const struct base_option *row)
{
    return !strcmp(row->argument, "yes|no");
}

/* Their help texts live until the process ends. */
static struct tool_option *make_options(const char *mode)
{
    struct tool_option *options = calloc(MOST_OPTIONS + 1, sizeof *options), *o = options;
    const struct base_option *row;

    for (size_t i = 0; i < MOST_OPTIONS && (row = base_options_row(i)) != NULL; i++) {
        char *help;
        if (!*row->flag || !strstr(row->commands, mode))
            continue;
        base_must(asprintf(&help, "%s (%s)", row->help, row->env) < 0);
        *o++ = (struct tool_option){ .name = row->flag, .letter = row->letter, .help = help, .type = TOOL_IS_TEXT,
                                     .argument = is_switch(row) ? NULL : base_options_argument(row),
                                     .at = offsetof(struct request, value) + i * sizeof(char *) };
    }
    return options;
}

static void check(void *request, struct argp_state *state)
{
    const struct request *r = request;
    const struct base_option *row;
    char why[256];

    for (size_t i = 0; i < MOST_OPTIONS && (row = base_options_row(i)) != NULL; i++) {
        if (r->value[i] && !base_options_legal(row, r->value[i], why, sizeof why))
            argp_error(state, "--%s %s", row->flag, why);
        if (r->value[i] && !*r->value[i])
            argp_error(state, "--%s needs a value", row->flag);
    }
    if (!r->command)
        argp_error(state, "no program to run");
}

static const struct tool_line record_line = {
    .arguments = "[--] PROGRAM [ARGUMENT...]", TOOL_COMMAND(command), .check = check,
    .doc = "Runs PROGRAM and records its MPI calls and OpenMP regions into one job file."
           "\v"
           "The command stands inside mpirun, so that only the program is preloaded, never the launcher. A script as "
           "PROGRAM works too; its children inherit the preload. PYTHIA_LIBRARY names the library to preload instead of "
           "the one that would be chosen.\n\n"
           "The exit code is the program's own; 127 when it is not found, 126 when it cannot be executed. What is FILE and "
           "no recording of PROGRAM is kept as FILE.old-1; what cannot be written there is in TMPDIR.\n\n"
           "Examples:\n"
           "  mpirun -n 8 pythia record ./app 100\n"
           "  OMP_NUM_THREADS=4 pythia record -o run1.pythia -- ./omp-app\n",
};

static const struct tool_line predict_line = {
    .arguments = "[--] PROGRAM [ARGUMENT...]", TOOL_COMMAND(command), .check = check,
    .doc =
        "Runs PROGRAM with the oracle: predicts from a recorded job file, acts, and says how good that was."
        "\v"
        "The exit code is the program's own; 127 when it is not found, 126 when it cannot be executed. A job file that "
        "is missing or damaged is reported; the program then runs as if alone.\n\n"
        "Examples:\n"
        "  mpirun -n 8 pythia predict ./app 100\n"
        "  mpirun -n 8 pythia predict -i run1.pythia --act none -- ./app 100\n"
        "  mpirun -n 8 pythia predict --progress ./app 100\n",
};

/* Complains, but once a job. */
#define complain(...) \
    do { \
        if (base_log_is_first_rank()) \
            tool_complain(__VA_ARGS__); \
    } while (0)

/* `path`, as a string that the caller frees, so that it still leads there when the program has changed its
   directory. */
static char *absolute(const char *path)
{
    char *cwd = path[0] == '/' ? NULL : getcwd(NULL, 0), *result;

    base_must(asprintf(&result, "%s%s%s", cwd ? cwd : "", cwd ? "/" : "", path) < 0);
    free(cwd);
    return result;
}

/* Where a plugin's name leads: with a slash a file, else one of Pythia's own, of a build directory or installed; never
   what happens to lie in the current directory. A string that the caller frees. What is neither keeps its name: the
   program's process says so. */
static char *plugin_path(const char *name)
{
    char own[PATH_MAX], relative[PATH_MAX];

    if (strchr(name, '/'))
        return absolute(name);
    snprintf(relative, sizeof relative, "../plugins/.libs/%s", name);
    if (program_find_library(relative, own, sizeof own) == 0)
        return strdup(own);
    snprintf(relative, sizeof relative, "pythia/%s", name);
    return strdup(program_find_library(relative, own, sizeof own) == 0 ? own : name);
}

/* Sets `name` to the paths of a list with colons. */
static void set_plugins(const char *name, const char *list)
{
    char *paths = NULL, *names = strdup(list), *left = names, *one;
    size_t size;
    FILE *out = open_memstream(&paths, &size);

    while ((one = strsep(&left, ":")) != NULL) {
        if (!*one)
            continue;
        BASE_OWN char *path = plugin_path(one);
        fprintf(out, "%s%s", ftell(out) ? ":" : "", path);
    }
    fclose(out);
    setenv(name, paths, 1);
    free(names);
    free(paths);
}

static void set_path(const char *name, const char *path)
{
    BASE_OWN char *value = absolute(path);

    setenv(name, value, 1);
}

/* Who prints the report when the program has ended. */
static void set_command(void)
{
    char path[PATH_MAX];

    if (program_find_library("pythia-tools", path, sizeof path) == 0)
        setenv("PYTHIA_COMMAND", path, 1);
}

/* `value` NULL: not given; what the environment says is then made to mean the same wherever the program goes. */
static void set_option(const struct base_option *row, const char *value)
{
    bool plugins = !strcmp(row->argument, "FILE[:FILE]"), path = !strcmp(row->argument, "FILE");

    value = !value && (plugins || path) ? getenv(row->env) : value;
    if (!value || !*value)
        return;
    if (plugins)
        set_plugins(row->env, value);
    else if (path)
        set_path(row->env, value);
    else
        setenv(row->env, value, 1);
}

/* What the processes of the program tell each other by: session/tree.h. Best effort, and above the numbers that a
   program counts with. */
static void set_tree(const struct request *r)
{
    struct stat st;
    BASE_OWN char *text = NULL;
    int low = base_log_is_first_rank() ? memfd_create("pythia-tree", MFD_CLOEXEC) : -1;
    int fd = low >= 0 ? fcntl(low, F_DUPFD, TREE_DESCRIPTOR) : -1;

    if (low >= 0)
        close(low);
    unsetenv("PYTHIA_TREE");
    if (fd < 0 || fstat(fd, &st) != 0)
        return;
    fcntl(fd, F_SETFL, O_APPEND);
    base_must(asprintf(&text, "%ld:%d:%llu:%llu:%s:%s", (long)getpid(), fd, (unsigned long long)st.st_dev,
                       (unsigned long long)st.st_ino, r->mode, r->command[0]) < 0);
    setenv("PYTHIA_TREE", text, 1);
}

static void set_options(const struct request *r)
{
    const struct base_option *row;

    setenv("PYTHIA_MODE", r->mode, 1);
    set_command();
    set_tree(r);
    for (size_t i = 0; i < MOST_OPTIONS && (row = base_options_row(i)) != NULL; i++)
        set_option(row, r->value[i]);
}

/* Said at the start, not after hours: what will not be written there. A predicted run writes where that is possible;
   only a file that was asked for must be. */
static void check_output(const struct request *r, const char *program)
{
    const char *given = r->value[row_named("output")] ? r->value[row_named("output")] : getenv("PYTHIA_OUTPUT");
    bool asked = given && *given;
    char path[PATH_MAX];

    if (asked)
        snprintf(path, sizeof path, "%s", given);
    else
        snprintf(path, sizeof path, "%.200s.pythia", base_name(program));
    if ((asked || !strcmp(r->mode, "record")) && base_replace_possible(path) != 0)
        complain("warning: cannot write %s: %s; the job file will be in TMPDIR%s", path, strerror(errno),
                 asked ? "" : " (-o says where else)");
}

/* Puts `library` first, behind what the program's sanitizer needs: tools that the user preloads keep working behind
   it. */
static void preload(const char *library, const char *program)
{
    const char *others = getenv("LD_PRELOAD");
    char first[BASE_PRELOAD_FIRST], *list;

    base_preload_first(program, first);
    base_must(asprintf(&list, "%s%s%s%s", first, library, others && *others ? ":" : "", others ? others : "") < 0);
    setenv("LD_PRELOAD", list, 1);
    free(list);
}

static void warn_about_program(const char *program, const char *name)
{
    const char *why = program_unseen(program);

    if (why)
        complain("warning: %s %s: nothing of it can be seen; what it starts can", name, why);
}

static void prepare(const struct request *r, const char *program)
{
    char library[PATH_MAX];

    check_output(r, program);
    set_options(r);
    warn_about_program(program, r->command[0]);
    if (program_choose_library(program, r->command + 1, library, sizeof library) != 0)
        complain("warning: no libpythia_pmpi.so or libpythia_omp.so for this program (PYTHIA_LIBRARY can name one); "
                 "it runs without Pythia");
    else if (strpbrk(library, ": \t\n")) /* LD_PRELOAD has no way to quote these */
        complain("warning: %s cannot be preloaded, its path has a blank or a colon; the program runs without Pythia",
                 library);
    else
        preload(library, program);
}

static int run(struct request *r)
{
    char program[PATH_MAX];
    int rc = program_find(r->command[0], program, sizeof program);

    if (rc == 0 && program_is_launcher(program)) {
        complain("%s is a launcher: put pythia inside it, as in: %s -n 4 pythia %s ./app", r->command[0],
                 r->command[0], r->mode);
        return TOOL_USAGE;
    }
    if (rc == 0) {
        prepare(r, program);
        execvp(r->command[0], r->command);
        rc = errno;
    }
    complain("cannot run %s: %s", r->command[0],
             rc == ENOENT && !strchr(r->command[0], '/') ? "there is no such program in PATH" : strerror(rc));
    return rc == ENOENT ? TOOL_NOT_FOUND : TOOL_CANNOT_RUN;
}

static int parse_and_run(struct tool_line line, const char *mode, int argc, char **argv)
{
    struct request r = { .mode = mode };

    line.options = make_options(mode);
    tool_parse(&line, argc, argv, &r);
    return run(&r);
}

int tool_record(int argc, char **argv)
{
    return parse_and_run(record_line, "record", argc, argv);
}

int tool_predict(int argc, char **argv)
{
    return parse_and_run(predict_line, "predict", argc, argv);
}
