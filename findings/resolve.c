/* SPDX-License-Identifier: MIT */
/* Addresses to source with libdw; see resolve.h. */
#include "findings/resolve.h"

#include <ctype.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/hex.h"
#include "base/must.h"
#include "base/name.h"
#include "base/python.h"
#include "findings/demangle.h"
#include "findings/places.h"
#include "findings/scopes.h"
#include "findings/units.h"

struct module {
    bool tried;
    Dwfl_Module *dwfl; /* NULL: not there, or another build */
};

struct findings_resolver {
    const struct job *job;
    Dwfl *dwfl;              /* created with the first module */
    struct module *modules;
    struct findings_scopes *scopes;
    struct answer { uint32_t module; enum findings_address kind; struct findings_place *place; } *answers;
    uint32_t count;
    struct base_hash known; /* answers, by module, offset and kind */
};

/* By build-id, and by the name that a stripped file has. Only what is on this machine: nothing from debuginfod. */
static int find_debuginfo(Dwfl_Module *m, void **user, const char *name, Dwarf_Addr base, const char *file,
                          const char *link, GElf_Word check, char **found)
{
    unsetenv("DEBUGINFOD_URLS");
    return dwfl_standard_find_debuginfo(m, user, name, base, file, link, check, found);
}

static char *debuginfo_path;
static const Dwfl_Callbacks callbacks = {
    .find_elf = dwfl_build_id_find_elf,
    .find_debuginfo = find_debuginfo,
    .section_address = dwfl_offline_section_address,
    .debuginfo_path = &debuginfo_path,
};

struct findings_resolver *findings_resolver_create(const struct job *j)
{
    struct findings_resolver *r = calloc(1, sizeof *r);

    r->job = j;
    r->modules = calloc((size_t)j->module_count + 1, sizeof *r->modules);
    r->scopes = findings_scopes_create();
    return r;
}

static void place_destroy(struct findings_place *p)
{
    free((char *)p->symbol);
    free((char *)p->function);
    free((char *)p->full);
    free((char *)p->path);
    free((char *)p->inlined);
    free(p);
}

void findings_resolver_destroy(struct findings_resolver *r)
{
    if (!r)
        return;
    for (uint32_t i = 0; i < r->count; i++)
        place_destroy(r->answers[i].place);
    if (r->dwfl)
        dwfl_end(r->dwfl);
    findings_scopes_destroy(r->scopes);
    base_hash_close(&r->known);
    free(r->answers);
    free(r->modules);
    free(r);
}

/* --- Modules --- */

static bool same_build(Dwfl_Module *m, const char *expected)
{
    const unsigned char *bits;
    GElf_Addr address;
    char hex[FINDINGS_TEXT];
    int n = dwfl_module_build_id(m, &bits, &address);

    if (n <= 0 || !*expected) /* no build-id on either side: trust the path */
        return n <= 0 && !*expected;
    return 2 * (size_t)n < sizeof hex && !strcmp(base_hex(hex, bits, (size_t)n), expected);
}

static Dwfl_Module *findings_module(struct findings_resolver *r, const char *path)
{
    if (r->dwfl)
        dwfl_report_begin_add(r->dwfl);
    else if ((r->dwfl = dwfl_begin(&callbacks)))
        dwfl_report_begin(r->dwfl);
    else
        return NULL;
    Dwfl_Module *m = dwfl_report_offline(r->dwfl, path, path, -1);
    dwfl_report_end(r->dwfl, NULL, NULL);
    return m;
}

static Dwfl_Module *open_module(struct findings_resolver *r, uint32_t index)
{
    struct module *m = &r->modules[index];
    const char *path = job_text(r->job, r->job->modules[index].path);
    struct stat st;

    if (m->tried)
        return m->dwfl;
    m->tried = true;
    if (path[0] != '/' || stat(path, &st) != 0 || !S_ISREG(st.st_mode)) /* a job may name a pipe: never wait for one */
        return NULL;
    m->dwfl = findings_module(r, path);
    if (m->dwfl && !same_build(m->dwfl, job_text(r->job, r->job->modules[index].build_id)))
        m->dwfl = NULL;
    return m->dwfl;
}

/* --- Addresses --- */

/* The compilation unit. libdw finds it by the table of addresses, which Clang does not write: then by its own
   ranges. */
static Dwarf_Die *unit_at(Dwfl_Module *m, Dwarf_Addr address, Dwarf_Addr *bias)
{
    Dwarf_Die *unit = dwfl_module_addrdie(m, address, bias);

    if (unit)
        return unit;
    do
        unit = dwfl_module_nextcu(m, unit, bias);
    while (unit && dwarf_haspc(unit, address - *bias) <= 0);
    return unit;
}

/* As the linker has it where that says more (the class, the module), else as the source has it. */
static const char *die_name(Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    const char *linkage = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute));

    return linkage && *linkage ? linkage : dwarf_diename(die);
}

static bool names_main(const char *name)
{
    return name && (!strcmp(name, "main") || !strcmp(name, "MAIN__"));
}

static bool is_function(Dwarf_Die *die)
{
    return dwarf_tag(die) == DW_TAG_inlined_subroutine || dwarf_tag(die) == DW_TAG_subprogram;
}

/* The scopes around an address, innermost first. */
struct around { Dwarf_Die scope[FINDINGS_SCOPES]; int count; };

/* Innermost function, inlined ones included: the one that the line belongs to. */
static const char *function_name(struct around *a, bool *in_main)
{
    const char *name = NULL;
    bool inlined = false;

    for (int i = 0; i < a->count; i++) {
        inlined |= dwarf_tag(&a->scope[i]) == DW_TAG_inlined_subroutine;
        if (!name && is_function(&a->scope[i]))
            name = die_name(&a->scope[i]);
    }
    *in_main = inlined && names_main(die_name(&a->scope[a->count - 1]));
    return name;
}

static void set_name(struct findings_place *p, const char *symbol)
{
    p->symbol = strdup(symbol);
    p->function = findings_demangle_short(symbol);
    p->full = findings_demangle_full(symbol);
}

static void set_line(struct findings_place *p, const char *path, uint32_t line)
{
    p->path = strdup(path);
    p->file = base_name(p->path);
    p->line = line;
}

static void find_line(struct findings_place *p, Dwarf_Die *unit, Dwarf_Addr address)
{
    Dwarf_Line *line = dwarf_getsrc_die(unit, address);
    int number = 0;
    const char *path = line ? dwarf_linesrc(line, NULL, NULL) : NULL;

    if (path && dwarf_lineno(line, &number) == 0 && number > 0)
        set_line(p, path, (uint32_t)number);
}

/* The file where the function that was inlined as `inlined` is called, and the line; NULL: not known. */
static const char *call_place(Dwarf_Die *unit, Dwarf_Die *inlined, Dwarf_Word *line)
{
    Dwarf_Attribute attribute;
    Dwarf_Word file = 0;
    Dwarf_Files *files;
    size_t count;

    if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &attribute), &file) ||
        dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &attribute), line) ||
        dwarf_getsrcfiles(unit, &files, &count) || file >= count)
        return NULL;
    return dwarf_filesrc(files, file, NULL, NULL);
}

static void call_line(struct findings_place *p, Dwarf_Die *unit, Dwarf_Die *inlined)
{
    Dwarf_Word line = 0;
    const char *path = call_place(unit, inlined, &line);

    if (!path)
        return;
    free((char *)p->path);
    set_line(p, path, (uint32_t)line);
}

/* The file of the outermost function. What a compiler outlined has none: then what is inlined in it is called there. */
static const char *own_file(Dwarf_Die *unit, struct around *a)
{
    const char *own = dwarf_decl_file(&a->scope[a->count - 1]);
    Dwarf_Word line;

    for (int i = a->count - 2; i >= 0 && !own; i--)
        if (is_function(&a->scope[i]))
            return call_place(unit, &a->scope[i], &line);
    return own;
}

/* From the innermost function outwards to the first one in the outermost's file: the line is there, and the name is the
   outermost's. Returns that, or `name` where nothing was inlined. */
static const char *in_own_file(struct findings_place *p, Dwarf_Die *unit, struct around *a, const char *name)
{
    int last = a->count - 1, at = 0;

    while (at < last && !is_function(&a->scope[at]))
        at++;
    const char *own = at < last ? own_file(unit, a) : NULL;
    for (int k = at + 1; own && p->path && k <= last && strcmp(p->path, own); k++)
        if (is_function(&a->scope[k])) {
            call_line(p, unit, &a->scope[at]);
            at = k;
        }
    const char *inlined = own && at < last ? die_name(&a->scope[at]) : NULL;
    if (inlined && *inlined != '.') /* Clang's outlined functions are one in another */
        p->inlined = findings_demangle_short(inlined);
    return own ? die_name(&a->scope[last]) ?: name : name;
}

/* Where functions of a unit are: the number of their file, which libdw may not name (0), and line. */
struct before { const char *outlined, *name; Dwarf_Word file, limit, line; };

static bool declared(Dwarf_Die *function, Dwarf_Word *file, Dwarf_Word *line)
{
    Dwarf_Attribute attribute;

    return dwarf_formudata(dwarf_attr_integrate(function, DW_AT_decl_file, &attribute), file) == 0 &&
           dwarf_formudata(dwarf_attr_integrate(function, DW_AT_decl_line, &attribute), line) == 0;
}

static int look_for(Dwarf_Die *function, void *data)
{
    struct before *b = data;
    const char *name = die_name(function);

    return name && !strcmp(name, b->outlined) && declared(function, &b->file, &b->limit) ? DWARF_CB_ABORT : DWARF_CB_OK;
}

static int look_before(Dwarf_Die *function, void *data)
{
    struct before *b = data;
    const char *name = die_name(function);
    Dwarf_Word file, line;

    if (name && *name != '.' && declared(function, &file, &line) && file == b->file && line <= b->limit &&
        line > b->line) {
        b->name = name;
        b->line = line;
    }
    return DWARF_CB_OK;
}

/* Clang's name of an outlined function (".omp_outlined..3") does not say where that is: in the last one of its file
   that begins before. Other names stay. */
static const char *in_source(Dwarf_Die *unit, const char *name)
{
    struct before b = { .outlined = name };

    if (strncmp(name, ".omp_outlined", 13))
        return name;
    (void)dwarf_getfuncs(unit, look_for, &b, 0);
    (void)dwarf_getfuncs(unit, look_before, &b, 0);
    return b.name ?: name;
}

/* A symbol counts only where it really covers the address: the nearest one of a stripped file is misleading. */
static void find_symbol(struct findings_place *p, Dwfl_Module *m, Dwarf_Addr address)
{
    GElf_Off within;
    GElf_Sym symbol;
    const char *name = dwfl_module_addrinfo(m, address, &within, &symbol, NULL, NULL, NULL);

    if (!name || !*name || within >= symbol.st_size)
        return;
    set_name(p, name);
    p->within = within;
}

/* Of the module's file. */
static void find(struct findings_resolver *r, struct findings_place *p, const struct job_frame *f,
                 enum findings_address kind)
{
    Dwfl_Module *m = open_module(r, f->module);
    GElf_Addr bias = 0;

    if (!m || !dwfl_module_getelf(m, &bias))
        return;
    Dwarf_Addr address = f->offset + bias - (kind == FINDINGS_CALL);
    Dwarf_Addr unit_bias = 0;
    Dwarf_Die *unit = unit_at(m, address, &unit_bias);
    struct around a;
    a.count = unit ? findings_scopes_at(r->scopes, unit, address - unit_bias, a.scope) : 0;
    const char *name = a.count ? function_name(&a, &p->in_main) : NULL;
    if (unit)
        find_line(p, unit, address - unit_bias);
    if (a.count && kind == FINDINGS_SAMPLE)
        name = in_own_file(p, unit, &a, name);
    if (name)
        set_name(p, in_source(unit, name));
    else
        find_symbol(p, m, address);
    p->in_main |= names_main(p->full); /* no method of that name */
}

/* As the job has it. */
static void take(const struct findings_resolver *r, struct findings_place *p, const struct job_spot *kept)
{
    if (kept->function != GRAMMAR_NONE)
        set_name(p, job_text(r->job, kept->function));
    if (kept->path != GRAMMAR_NONE && kept->line)
        set_line(p, job_text(r->job, kept->path), kept->line);
    if (kept->inlined != GRAMMAR_NONE)
        p->inlined = strdup(job_text(r->job, kept->inlined));
    p->within = kept->within;
}

static void take_kept(const struct findings_resolver *r, struct findings_place *p, const struct job_frame *f,
                      enum findings_address kind)
{
    enum job_place_kind as = kind == FINDINGS_CALL ? JOB_PLACE_CALL : JOB_PLACE_ENTRY;
    const struct job_place *place = findings_places_find(&r->job->places, f->module, f->offset, as);
    const struct job_spot *spot = findings_places_spot(r->job, f->module, f->offset);

    if (kind == FINDINGS_SAMPLE && spot) {
        take(r, p, spot);
    } else if (kind != FINDINGS_SAMPLE && place) {
        take(r, p, &(struct job_spot){ 0, 0, place->function, place->path, place->line, place->within, GRAMMAR_NONE });
        p->in_main = place->in_main;
    }
}

bool findings_is_script(const struct job *j, uint32_t module)
{
    return !strncmp(job_text(j, j->modules[module].build_id), BASE_PYTHON_ID, strlen(BASE_PYTHON_ID));
}

static const char *no_brackets(char *text)
{
    for (char *c = text; *c; c++)
        *c = *c == '<' ? '(' : *c == '>' ? ')' : *c;
    return text;
}

/* Of a script's code; "<module>" and "<string>" would part frames. */
static void find_script(struct findings_resolver *r, struct findings_place *p, const struct job_frame *f)
{
    const struct job_module *m = &r->job->modules[f->module];
    char name[FINDINGS_TEXT] = "?", path[FINDINGS_TEXT];
    sscanf(job_text(r->job, m->build_id), BASE_PYTHON_ID "%*u:%255[^:]", name);
    snprintf(path, sizeof path, "%s", job_text(r->job, m->path));
    set_line(p, no_brackets(path), (uint32_t)f->offset);
    p->symbol = strdup(no_brackets(name));
    p->function = strdup(name);
    p->full = strdup(name);
    p->script = true;
}

static void fill(struct findings_resolver *r, struct findings_place *p, const struct job_frame *f,
                 enum findings_address kind)
{
    p->module = base_name(job_text(r->job, r->job->modules[f->module].path));
    p->offset = f->offset;
    const char *region = job_named_frame(r->job, f);
    if (region) { /* no file */
        set_name(p, region);
        return;
    }
    if (findings_is_script(r->job, f->module)) {
        find_script(r, p, f);
        return;
    }
    p->interpreter = findings_interpreter(p->module);
    if (p->interpreter)
        set_name(p, p->interpreter);
    else
        take_kept(r, p, f, kind);
    if (!p->symbol && !p->line)
        find(r, p, f, kind);
}

const struct findings_place *findings_resolve(struct findings_resolver *r, uint32_t callsite, uint32_t depth,
                                              enum findings_address kind)
{
    if (callsite >= r->job->callsite_count || depth >= r->job->callsites[callsite].count)
        return NULL;
    const struct job_frame *f = &r->job->frames[r->job->callsites[callsite].first + depth];
    return findings_resolve_at(r, f->module, f->offset, kind);
}

const struct findings_place *findings_resolve_call(struct findings_resolver *r, uint32_t path)
{
    const struct job_callsite c = job_named_without(r->job, path);
    for (uint32_t k = 0; k < c.count; k++)
        if (findings_is_script(r->job, r->job->frames[c.first + k].module))
            return findings_resolve(r, path, k, FINDINGS_CALL);
    return c.count ? findings_resolve(r, path, 0, FINDINGS_CALL) : NULL;
}

const struct findings_place *findings_resolve_at(struct findings_resolver *r, uint32_t module, uint64_t address,
                                                 enum findings_address kind)
{
    const struct job_frame f = { .module = module, .offset = address };
    uint64_t hash = base_hash_mix(base_hash_mix(address) ^ ((uint64_t)module << 2 | kind));
    const struct answer *a = r->answers;
    uint32_t n = BASE_HASH_FIND(&r->known, hash, i, a[i].module == module && a[i].kind == kind &&
                                a[i].place->offset == address);

    if (n != BASE_HASH_NONE)
        return a[n].place;
    struct findings_place *p = calloc(1, sizeof *p);
    base_must(base_array_more(&r->answers, r->count, sizeof *r->answers) || base_hash_reserve(&r->known, 1));
    base_hash_put(&r->known, hash, r->count);
    r->answers[r->count++] = (struct answer){ module, kind, p };
    fill(r, p, &f, kind);
    return p;
}

/* --- Text --- */

/* One word: C++ names have blanks ("operator new"), and '<' parts frames. */
static void one_word(char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text <= ' ' || *text == 0x7f)
            *text = '_';
}

const char *findings_function_at(const struct findings_place *p, bool full)
{
    if (p->function)
        return full ? p->full : p->function;
    return findings_text("%s+0x%llx", *p->module ? p->module : "?", (unsigned long long)p->offset);
}

static void frame_text(const struct findings_place *p, char *text, size_t size)
{
    if (p->function && p->line)
        snprintf(text, size, "%s@%s:%u", p->function, p->file, p->line);
    else if (p->function && !p->interpreter)
        snprintf(text, size, "%s+0x%llx@%s", p->function, (unsigned long long)p->within, p->module);
    else if (p->line)
        snprintf(text, size, "?@%s:%u", p->file, p->line);
    else
        snprintf(text, size, "%s", findings_function_at(p, false));
    one_word(text);
}

bool findings_is_start(const struct findings_place *p)
{
    static const char *const names[] = { "_start", "start_thread", "clone", "clone3", "__clone", "__clone3",
                                         "gomp_thread_start" };

    if (p->function && !strncmp(p->function, "__libc_start", 12)) /* …_main, …_main_impl, …_call_main */
        return true;
    for (size_t i = 0; p->function && i < sizeof names / sizeof names[0]; i++)
        if (!strcmp(p->function, names[i]))
            return true;
    return false;
}

bool findings_is_runtime(const char *module)
{
    static const char *const names[] = { "libgomp", "libpythia", "libomp", "libiomp" };

    return base_name_begins(module, names, sizeof names / sizeof *names);
}

const char *findings_interpreter(const char *path)
{
    static const char *const names[] = { "python", "lua", "libR.so", "perl", "julia", "libpython", "liblua", "libperl",
                                         "libjulia" };
    const char *name = base_name_begins(path, names, sizeof names / sizeof *names);
    char next = name ? base_name(path)[strlen(name)] : '\0';

    if (isalpha((unsigned char)next) || next == '_') /* "julia_set" */
        return NULL;
    return !name || strncmp(name, "lib", 3) != 0 ? name : name[3] == 'R' ? "R" : name + 3;
}

void findings_callsite_text(struct findings_resolver *r, uint32_t callsite, enum findings_address kind, char *text,
                            size_t size)
{
    const struct findings_place *p;
    size_t used = 0;
    bool script = false;

    snprintf(text, size, "-");
    for (uint32_t depth = 0; (p = findings_resolve(r, callsite, depth, kind)) != NULL && used + 2 < size; depth++) {
        if ((depth && findings_is_start(p)) || (script && !p->script))
            break;
        script = p->script;
        if (depth)
            text[used++] = '<';
        frame_text(p, text + used, size - used);
        used += strlen(text + used);
        if (p->in_main || p->interpreter)
            break;
        kind = FINDINGS_CALL; /* above a region's entry there are only calls */
    }
}

const char *findings_frames_text(struct job *places, const struct job_frame *frames, uint32_t count,
                                 enum findings_address kind)
{
    enum { SIZE = 2048 };
    static char **known;
    static uint32_t all;
    uint32_t site = job_callsite(places, frames, count);
    for (; site != GRAMMAR_NONE && all <= site; known[all++] = NULL)
        base_must(base_array_more(&known, all, sizeof *known));
    if (site != GRAMMAR_NONE && !known[site]) {
        struct findings_resolver *r = findings_resolver_create(places);
        findings_callsite_text(r, site, kind, known[site] = malloc(SIZE), SIZE);
        findings_resolver_destroy(r);
    }
    return site == GRAMMAR_NONE ? NULL : known[site];
}
