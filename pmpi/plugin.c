/* SPDX-License-Identifier: MIT */
#include "pmpi/plugin.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "pythia.h"

enum { PLUGIN_MOST = 8, PLUGIN_NAME = 2048 };

static void (*plugin_close[PLUGIN_MOST])(void); /* NULL: has none */
static int plugin_count;
static bool plugin_say;

__attribute__((format(printf, 2, 3))) static void plugin_refuse(const char *path, const char *format, ...)
{
    char why[512];
    va_list args;
    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    if (plugin_say)
        base_log_warn("PYTHIA_PLUGIN: %s: %s; the program runs on without it", path, why);
    else
        base_log_debug("PYTHIA_PLUGIN: %s: %s", path, why);
}

/* Where a name leads: as it is with a slash, else among Pythia's own, never what happens to lie in the current
   directory. */
static void plugin_path(const char *name, char *path, size_t size)
{
    bool own = !strchr(name, '/');
    snprintf(path, size, "%s%s%s", own ? PYTHIA_PLUGINS : "", own ? "/" : "", name);
}

/* dlerror() begins with the path that is said already. */
static const char *plugin_error(const char *path)
{
    const char *text = dlerror();
    size_t length = strlen(path);
    if (!text)
        return "cannot be loaded";
    return strncmp(text, path, length) == 0 && text[length] == ':' ? text + length + 2 : text;
}

static void plugin_open(const char *name, uint32_t rank)
{
    char path[PATH_MAX];
    int (*open)(uint32_t, uint32_t);
    plugin_path(name, path, sizeof path);
    if (access(path, R_OK) != 0) {
        plugin_refuse(strchr(name, '/') ? path : name, "%m");
        return;
    }
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        plugin_refuse(path, "%s", plugin_error(path));
        return;
    }
    void *entry = dlsym(library, "pythia_plugin_open");
    if (!entry) {
        plugin_refuse(path, "no plugin: it has no pythia_plugin_open()");
        dlclose(library);
        return;
    }
    memcpy(&open, &entry, sizeof open);
    int status = open(PYTHIA_PLUGIN_VERSION, rank);
    if (status != 0) {
        plugin_refuse(path, "refuses to work (%d) with callbacks of version %d", status, PYTHIA_PLUGIN_VERSION);
        return; /* it may have registered something all the same */
    }
    entry = dlsym(library, "pythia_plugin_close");
    memcpy(&plugin_close[plugin_count], &entry, sizeof entry);
    plugin_count++;
}

void pmpi_hook_plugins_open(const char *list, uint32_t rank)
{
    char name[PLUGIN_NAME];
    plugin_say = rank == 0;
    while (*list) {
        size_t length = strcspn(list, ":");
        if (length && length < sizeof name && plugin_count < PLUGIN_MOST) {
            snprintf(name, sizeof name, "%.*s", (int)length, list);
            plugin_open(name, rank);
        } else if (length) {
            plugin_refuse(list, "more than %d plugins, or a path of more than %d bytes", PLUGIN_MOST, PLUGIN_NAME - 1);
        }
        list += length;
        list += strspn(list, ":");
    }
}

void pmpi_hook_plugins_close(void)
{
    while (plugin_count > 0)
        if (plugin_close[--plugin_count])
            plugin_close[plugin_count]();
}
