/* SPDX-License-Identifier: MIT */
#include "pmpi/children.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "pmpi/hook.h"

/* --- Their environment --- */

#ifdef OPEN_MPI

struct children_text {
    char *text; /* lines of MPI_MAX_INFO_VAL bytes at most */
    size_t length;
    bool full;
};

/* Whether a variable of this name is there already: of two the loader and the program would each take another one. */
static bool children_has(const struct children_text *t, const char *line)
{
    size_t name = strcspn(line, "=") + 1;
    for (const char *at = t->text; *at; at += strcspn(at, "\n"), at += *at != '\0')
        if (strncmp(at, line, name) == 0)
            return true;
    return false;
}

static void children_line(struct children_text *t, const char *line)
{
    size_t length = strlen(line), before = t->length ? 1 : 0;
    if (strchr(line, '\n') || children_has(t, line))
        return;
    if (t->length + before + length >= MPI_MAX_INFO_VAL) {
        t->full = true;
        return;
    }
    if (before)
        t->text[t->length++] = '\n';
    memcpy(t->text + t->length, line, length + 1);
    t->length += length;
}

/* The variables that matter there, in little room. The summary of a run is the first world's, and so is the tree of
   processes: what a spawned world records has a name of its own. */
static bool children_inherit(const char *variable)
{
    if (strncmp(variable, "LD_PRELOAD=", 11) == 0)
        return strstr(variable, "libpythia_") != NULL;
    return strncmp(variable, "PYTHIA_", 7) == 0 && strncmp(variable, "PYTHIA_COMMAND=", 15) != 0 &&
           strncmp(variable, "PYTHIA_TREE=", 12) != 0;
}

/* Where the program put its variables, else where nothing warns of it: Open MPI 5 does of "env". */
static const char *children_key(MPI_Info info)
{
    int length, given = 0;
    bool env = PMPI_Info_get_valuelen(info, "env", &length, &given) == MPI_SUCCESS && given;
    return env || OMPI_MAJOR_VERSION < 5 ? "env" : "PMIX_ENVAR";
}

/* What the program put there stays. */
static void children_environment(MPI_Info info)
{
    extern char **__environ;
    const char *key = children_key(info);
    char text[MPI_MAX_INFO_VAL + 1] = "";
    struct children_text t = {.text = text};
    int given = 0;
    if (PMPI_Info_get(info, key, MPI_MAX_INFO_VAL - 1, text, &given) == MPI_SUCCESS && given)
        t.length = strlen(text);
    for (char **variable = __environ; variable && *variable; variable++)
        if (children_inherit(*variable))
            children_line(&t, *variable);
    if (t.full)
        base_log_warn("a spawned world runs unrecorded: its variables do not fit into an info of %d bytes (shorter PYTHIA_OUTPUT?)",
                      MPI_MAX_INFO_VAL - 1);
    else if (t.length)
        PMPI_Info_set(info, key, text);
}

static MPI_Info children_copy(MPI_Info given)
{
    MPI_Info copy = MPI_INFO_NULL;
    if ((given == MPI_INFO_NULL ? PMPI_Info_create(&copy) : PMPI_Info_dup(given, &copy)) != MPI_SUCCESS)
        return MPI_INFO_NULL;
    children_environment(copy);
    return copy;
}

static bool children_is_root(const struct pmpi_hook_call *call, int root)
{
    return call->comm && call->comm->rank == root;
}

/* Whether it may be copied: MPI answers this question without calling an error handler. */
static bool children_is_info(MPI_Info info)
{
    return info == MPI_INFO_NULL || PMPI_Info_c2f(info) != -1;
}

#else

static bool children_is_info(MPI_Info info)
{
    return info == MPI_INFO_NULL;
}

static MPI_Info children_copy(MPI_Info given)
{
    (void)given;
    return MPI_INFO_NULL;
}

/* No such info: children have the environment that the launcher gives them. */
static bool children_is_root(const struct pmpi_hook_call *call, int root)
{
    (void)call;
    (void)root;
    return false;
}

#endif

/* --- Around the call --- */

void pmpi_hook_children_spawned(struct pmpi_hook_children *children)
{
    for (int i = 0; i < children->count; i++)
        PMPI_Info_free(&children->info[i]);
    free(children->info);
    free(children->fortran);
    memset(children, 0, sizeof *children);
}

static bool children_room(struct pmpi_hook_children *children, int count)
{
    memset(children, 0, sizeof *children);
    if (count < 1)
        return false;
    children->info = calloc((size_t)count, sizeof *children->info);
    children->fortran = calloc((size_t)count, sizeof *children->fortran);
    if (children->info && children->fortran)
        return true;
    pmpi_hook_children_spawned(children);
    return false;
}

/* All or none: where MPI will refuse one, it gets the program's own. */
static bool children_copies(struct pmpi_hook_children *children, int count, struct pmpi_hook_handles given)
{
    for (int i = 0; i < count; i++) {
        MPI_Info own = given.fortran ? PMPI_Info_f2c(((const MPI_Fint *)given.at)[i]) : ((const MPI_Info *)given.at)[i];
        MPI_Info copy = children_is_info(own) ? children_copy(own) : MPI_INFO_NULL;
        if (copy == MPI_INFO_NULL) {
            pmpi_hook_children_spawned(children);
            return false;
        }
        children->info[i] = copy;
        children->fortran[i] = PMPI_Info_c2f(copy);
        children->count = i + 1;
    }
    return true;
}

void *pmpi_hook_children_equip(struct pmpi_hook_children *children, const struct pmpi_hook_call *call, int root,
                               int count, struct pmpi_hook_handles given)
{
    bool mine = children_is_root(call, root);
    if (!children_room(children, mine && given.at ? count : 0) || !children_copies(children, count, given))
        return (void *)(uintptr_t)given.at;
    return given.fortran ? (void *)children->fortran : children->info;
}

/* --- Their number --- */

/* Open MPI names a world by one number, the launcher's in the upper half and the world's in the lower (4), or by a
   word, "launcher@world" (5); the first world is 1. 0: something else. */
static uint32_t children_of_namespace(const char *name)
{
    char *end;
    const char *at = name ? strrchr(name, '@') : NULL;
    unsigned long number = name ? strtoul(at ? at + 1 : name, &end, 10) : 0;
    if (!name || *end || end == (at ? at + 1 : name))
        return 0;
    number &= 0xffff;
    return number > 1 ? (uint32_t)number - 1 : 0;
}

uint32_t pmpi_hook_children_number(void)
{
    MPI_Comm parent = MPI_COMM_NULL;
    if (PMPI_Comm_get_parent(&parent) != MPI_SUCCESS || parent == MPI_COMM_NULL)
        return 0;
    uint32_t number = children_of_namespace(getenv("PMIX_NAMESPACE"));
    return number ? number : (uint32_t)getpid();
}
