/* SPDX-License-Identifier: MIT */
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/modules.h"
#include "pythia.h"
#include "tests/unit/unit.h"

/* Something that is not loaded at the start and can be unloaded. */
static void *open_plugin(void)
{
    static const char *const names[] = {"libresolv.so.2", "libnss_compat.so.2", "libanl.so.1", "libutil.so.1"};
    for (size_t i = 0; i < UNIT_COUNT(names); i++) {
        void *handle = dlopen(names[i], RTLD_NOW | RTLD_NOLOAD);
        if (handle)
            continue;
        handle = dlopen(names[i], RTLD_NOW);
        if (handle)
            return handle;
    }
    ck_abort_msg("there is no library to load");
    return NULL;
}

static const struct link_map *map_of(void *handle)
{
    struct link_map *map = NULL;
    ck_assert_int_eq(dlinfo(handle, RTLD_DI_LINKMAP, &map), 0);
    return map;
}

START_TEST(the_program_is_module_0)
{
    static int here = 1;
    struct base_module m;
    uint64_t offset;
    char path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    ck_assert_int_gt(n, 0);
    path[n] = '\0';
    ck_assert_uint_eq(base_modules_find(&here, &offset), 0);
    ck_assert_int_eq(base_modules_program(&m), 0);
    ck_assert_str_eq(m.path, path);
}
END_TEST

START_TEST(the_offset_is_the_symbols_value)
{
    Dl_info info;
    const ElfW(Sym) *symbol = NULL;
    uint64_t offset;
    ck_assert_int_ne(dladdr1((void *)(uintptr_t)&qsort, &info, (void **)(uintptr_t)&symbol, RTLD_DL_SYMENT), 0);
    ck_assert_ptr_nonnull(symbol);
    ck_assert_uint_ne(base_modules_find((void *)(uintptr_t)&qsort, &offset), BASE_MODULE_NONE);
    ck_assert_uint_eq(offset, symbol->st_value);
}
END_TEST

START_TEST(build_ids_are_read)
{
    struct base_module m;
    uint64_t offset;
    uint32_t libc = base_modules_find((void *)(uintptr_t)&getenv, &offset);
    ck_assert_int_eq(base_modules_get(libc, &m), 0);
    ck_assert_uint_ge(strlen(m.build_id), 16);
    ck_assert_msg(strspn(m.build_id, "0123456789abcdef") == strlen(m.build_id), "%s: %s", m.path, m.build_id);
    ck_assert_int_eq(m.path[0], '/');
}
END_TEST

START_TEST(what_is_no_module_is_none)
{
    struct base_module m;
    uint64_t offset = 1;
    void *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_uint_eq(base_modules_find(page, &offset), BASE_MODULE_NONE);
    ck_assert_uint_eq(offset, (uintptr_t)page);
    ck_assert_uint_eq(base_modules_find(NULL, &offset), BASE_MODULE_NONE);
    ck_assert_uint_eq(base_modules_find((void *)UINTPTR_MAX, &offset), BASE_MODULE_NONE);
    ck_assert_int_eq(base_modules_get(BASE_MODULE_NONE, &m), PYTHIA_EINVAL);
}
END_TEST

/* A list says of each address what it alone would, what lies nowhere among them. */
START_TEST(a_list_is_found_as_each_of_it)
{
    void *const addresses[] = { NULL, (void *)(uintptr_t)&getenv, (void *)(uintptr_t)&unit_run, (void *)UINTPTR_MAX,
                                (void *)(uintptr_t)&unsetenv };
    struct base_place place[5];
    uint64_t offset;
    base_modules_places(addresses, 5, place);
    for (int i = 0; i < 5; i++) {
        ck_assert_uint_eq(place[i].module, base_modules_find(addresses[i], &offset));
        ck_assert_uint_eq(place[i].offset, offset);
    }
    ck_assert(place[0].module == BASE_MODULE_NONE && place[3].module == BASE_MODULE_NONE &&
              place[3].offset == UINTPTR_MAX);
    ck_assert(place[2].module == 0 && place[1].module == place[4].module && place[1].offset != place[4].offset);
}
END_TEST

START_TEST(lines_of_scripts_have_addresses)
{
    struct base_module m;
    void *address[4] = { base_modules_script("/a/x.py", "python:1:f:x.py", 7),
                         base_modules_script("/a/x.py", "python:1:f:x.py", 8),
                         base_modules_script("/a/x.py", "python:1:g:x.py", 7), &address };
    struct base_place place[4];
    base_modules_places(address, 4, place);
    ck_assert_uint_eq(place[0].module, place[1].module);
    ck_assert_uint_ne(place[0].module, place[2].module);
    ck_assert(place[0].offset == 7 && place[1].offset == 8 && place[2].offset == 7);
    ck_assert_uint_eq(place[3].module, BASE_MODULE_NONE);
    ck_assert_ptr_eq(base_modules_script("/a/x.py", "python:1:f:x.py", 7), address[0]);
    ck_assert_int_eq(base_modules_get(place[2].module, &m), 0);
    ck_assert_str_eq(m.path, "/a/x.py");
    ck_assert_str_eq(m.build_id, "python:1:g:x.py");
    ck_assert(m.script);
}
END_TEST

START_TEST(libraries_come_and_go)
{
    struct base_module m;
    uint64_t offset;
    uint32_t number = 0;
    for (int turn = 0; turn < 3; turn++) {
        void *handle = open_plugin();
        const struct link_map *map = map_of(handle);
        const char *address = (const char *)map->l_ld;
        uint32_t found = base_modules_find(address, &offset);
        ck_assert_int_eq(base_modules_get(found, &m), 0);
        ck_assert_uint_eq(offset, (uintptr_t)address - map->l_addr);
        ck_assert_msg(turn == 0 || found == number, "another number when loaded again");
        number = found;
        dlclose(handle);
        ck_assert_uint_eq(base_modules_find(address, &offset), BASE_MODULE_NONE);
        ck_assert_int_eq(base_modules_get(number, &m), 0);
        ck_assert_ptr_nonnull(strstr(m.path, ".so"));
    }
}
END_TEST

/* A library of our own, made by the compiler without a build-id. */
START_TEST(without_a_build_id_there_is_a_marked_substitute)
{
    char directory[] = "/tmp/pythia-modules-XXXXXX", command[512], library[64];
    struct base_module m;
    uint64_t offset;
    const char *cc = getenv("CC");
    ck_assert_ptr_nonnull(mkdtemp(directory));
    snprintf(library, sizeof library, "%s/none.so", directory);
    snprintf(command, sizeof command,
             "echo 'int none(void) { return 1; }' | %s -shared -fPIC -Wl,--build-id=none -x c - -o %s 2>/dev/null",
             cc ? cc : "cc", library);
    ck_assert_int_eq(system(command), 0);
    void *handle = dlopen(library, RTLD_NOW);
    unlink(library);
    rmdir(directory);
    ck_assert_ptr_nonnull(handle);
    ck_assert_int_eq(base_modules_get(base_modules_find(dlsym(handle, "none"), &offset), &m), 0);
    ck_assert_str_eq(m.path, library);
    ck_assert_int_eq(m.build_id[0], 'x');
    ck_assert_uint_eq(strlen(m.build_id), 33);
}
END_TEST

static void *look_up(void *stop)
{
    uint64_t offset;
    while (!__atomic_load_n((int *)stop, __ATOMIC_RELAXED))
        if (base_modules_find((void *)(uintptr_t)&getenv, &offset) == BASE_MODULE_NONE)
            return stop;
    return NULL;
}

START_TEST(threads_look_up_while_libraries_come_and_go)
{
    enum { THREADS = 4, TURNS = 200 };
    pthread_t thread[THREADS];
    int stop = 0;
    uint64_t offset;
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&thread[i], NULL, look_up, &stop), 0);
    for (int i = 0; i < TURNS; i++) {
        void *handle = open_plugin();
        ck_assert_uint_ne(base_modules_find(map_of(handle)->l_ld, &offset), BASE_MODULE_NONE);
        dlclose(handle);
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < THREADS; i++) {
        void *failed;
        pthread_join(thread[i], &failed);
        ck_assert_ptr_null(failed);
    }
}
END_TEST

int main(void)
{
    static const struct unit_test tests[] = {
        UNIT_TEST(the_program_is_module_0),
        UNIT_TEST(the_offset_is_the_symbols_value),
        UNIT_TEST(build_ids_are_read),
        UNIT_TEST(what_is_no_module_is_none),
        UNIT_TEST(a_list_is_found_as_each_of_it),
        UNIT_TEST(lines_of_scripts_have_addresses),
        UNIT_TEST(libraries_come_and_go),
        UNIT_TEST(without_a_build_id_there_is_a_marked_substitute),
        UNIT_TEST(threads_look_up_while_libraries_come_and_go),
    };
    return unit_run("base/modules", tests, UNIT_COUNT(tests));
}
